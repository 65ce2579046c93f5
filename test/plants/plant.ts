import { link, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { cliPath } from '../support/build.js';

/** One place of the compiled program that is made wrong. `find` must stand there exactly once. */
export interface Patch {
  /** Below `dist`, e.g. `pipeline/apply/apply.js`. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

/** A bug that somebody could have made, put into a private copy of the compiled program. */
export interface Plant {
  readonly name: string;
  readonly patches: readonly [Patch, ...Patch[]];
  /** What would become of it. */
  readonly why: string;
  /** The scenario that shows it best. */
  readonly scenario: string;
}

/** A compiled copy of its own. */
export interface Copy {
  /** Its `dist`. */
  readonly dist: string;
  /** Path of its command. */
  readonly cli: string;
  remove(): Promise<void>;
}

/** Puts the bug into a text of the program; throws where the place is not there, or not once. */
export function patched(source: string, { file, find, replace }: Patch): string {
  const [before, after, ...more] = source.split(find);
  if (before === undefined || after === undefined || more.length > 0) {
    const times = after === undefined ? 'not' : `${more.length + 1} times`;
    throw new Error(`"${find}" stands ${times} in dist/${file}: the plant has to be put elsewhere.`);
  }
  return `${before}${replace}${after}`;
}

/** The compiled program with the bug in it. What is not patched is linked, so that a copy costs next to nothing. */
export async function plantedCopy({ patches }: Pick<Plant, 'patches'>): Promise<Copy> {
  const cli = await cliPath();
  const root = dirname(dirname(dirname(cli)));
  const copy = await mkdtemp(join(dirname(root), 'plant-'));
  const dist = join(copy, 'dist');
  const texts = new Map<string, string>();
  for (const patch of patches) {
    const text = texts.get(patch.file) ?? (await readFile(join(root, 'dist', patch.file), 'utf8'));
    texts.set(patch.file, patched(text, patch));
  }
  for (const entry of await readdir(join(root, 'dist'), { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    const below = path.slice(join(root, 'dist').length + 1);
    if (entry.isDirectory()) await mkdir(join(dist, below), { recursive: true });
    else {
      await mkdir(dirname(join(dist, below)), { recursive: true });
      const text = texts.get(below);
      if (text === undefined) await link(path, join(dist, below));
      else await writeFile(join(dist, below), text);
    }
  }
  await link(join(root, 'package.json'), join(copy, 'package.json'));
  return {
    dist,
    cli: join(dist, 'cli', 'main.js'),
    remove: () => rm(copy, { recursive: true, force: true }),
  };
}
