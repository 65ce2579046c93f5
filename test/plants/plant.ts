import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
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

/**
 * The compiled program with the bug in it. Modules that the bug cannot reach are those of the program itself: within one process
 * they are loaded once for all plants.
 */
export async function plantedCopy({ patches }: Pick<Plant, 'patches'>): Promise<Copy> {
  const { root, modules } = await program();
  const texts = new Map<string, string>();
  for (const patch of patches) {
    const text = texts.get(patch.file) ?? modules.get(patch.file)?.text;
    if (text === undefined) throw new Error(`There is no dist/${patch.file}: the plant has to be put elsewhere.`);
    texts.set(patch.file, patched(text, patch));
  }
  const own = reachedBy([...texts.keys()], modules);
  const copy = await mkdtemp(join(dirname(root), 'plant-'));
  const dist = join(copy, 'dist');
  for (const folder of new Set([...modules.keys()].map((file) => dirname(file)))) {
    mkdirSync(join(dist, folder), { recursive: true });
  }
  for (const [file, { text }] of modules) {
    const to = join(dist, file);
    if (own.has(file)) writeFileSync(to, texts.get(file) ?? text);
    else symlinkSync(join(root, 'dist', file), to);
  }
  symlinkSync(join(root, 'package.json'), join(copy, 'package.json'));
  return {
    dist,
    remove: () => rm(copy, { recursive: true, force: true }),
  };
}

interface Module {
  readonly text: string;
  /** What it imports of the program, by paths below `dist`. */
  readonly imports: ReadonlySet<string>;
}

interface Program {
  readonly root: string;
  /** By their paths below `dist`; the bundle is none of them. */
  readonly modules: ReadonlyMap<string, Module>;
}

let compiled: Promise<Program> | undefined;

function program(): Promise<Program> {
  compiled ??= read();
  return compiled;
}

async function read(): Promise<Program> {
  const root = dirname(dirname(dirname(await cliPath())));
  const dist = join(root, 'dist');
  const modules = new Map<string, Module>();
  for (const entry of await readdir(dist, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    const file = relative(dist, path);
    if (!entry.isFile() || file.startsWith('bin/')) continue;
    const text = await readFile(path, 'utf8');
    const imports = [...text.matchAll(IMPORT)].map(([, to = '']) => join(dirname(file), to));
    modules.set(file, { text, imports: new Set(imports) });
  }
  return { root, modules };
}

const IMPORT = /(?:from|import)\s*\(?\s*['"](\.[^'"]+)['"]/g;

/** These modules and all that import one of them, by others too: they see another module than the program does. */
function reachedBy(files: readonly string[], modules: Program['modules']): ReadonlySet<string> {
  const reached = new Set(files);
  for (const one of reached) {
    for (const [file, { imports }] of modules) if (imports.has(one)) reached.add(file);
  }
  return reached;
}
