import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

type Typescript = typeof import('typescript');

const root = fileURLToPath(new URL('../../', import.meta.url));
const cache = join(root, 'node_modules', '.cache', 'rowferry-test');

let built: Promise<string> | undefined;
let drawn: Promise<string> | undefined;

/**
 * Path of the bundled command, `dist/bin/rowferry.js`, for tests that start real processes:
 * `spawn(process.execPath, [await cliPath(), …])`. Beside `bin` lie all modules by themselves, for tests that load or patch one.
 * The sources are compiled once for each state they are in, whichever suite asks first; types are checked elsewhere.
 */
export function cliPath(): Promise<string> {
  built ??= build();
  return built;
}

/** Folder of the pages as they are served, made once for each state of their sources. */
export function consolePath(): Promise<string> {
  drawn ??= draw();
  return drawn;
}

async function draw(): Promise<string> {
  const rooms = await Promise.all(['console', 'model', 'report'].map((room) => filesBelow(join(root, 'src', room))));
  const script = join(root, 'build', 'console.mjs');
  const hash = createHash('sha256');
  for (const path of [script, ...rooms.flat()].sort()) {
    hash
      .update(`${path}\0`)
      .update(await readFile(path))
      .update('\0');
  }
  const target = join(cache, `console-${hash.digest('hex').slice(0, 16)}`);
  if (await exists(target)) return target;
  await mkdir(cache, { recursive: true });
  const fresh = await mkdtemp(join(cache, 'new-'));
  await promisify(execFile)(process.execPath, [script, fresh]);
  // Another suite may have been first; its pages are the same.
  await rename(fresh, target).catch(() => rm(fresh, { recursive: true, force: true }));
  return target;
}

async function build(): Promise<string> {
  const pages = join(root, 'src', 'console');
  const sources = (await filesBelow(join(root, 'src'))).filter((path) => !path.startsWith(pages)).sort();
  const contents = await Promise.all(sources.map((path) => readFile(path)));
  const hash = createHash('sha256')
    .update(await readFile(join(root, 'node_modules', 'typescript', 'package.json')))
    .update(await readFile(join(root, 'build', 'bundle.mjs')));
  for (const [i, path] of sources.entries()) hash.update(`${path}\0`).update(contents[i]!).update('\0');
  const target = join(cache, hash.digest('hex').slice(0, 16));
  const main = join(target, 'dist', 'bin', 'rowferry.js');
  await mkdir(cache, { recursive: true });
  const turn = `${target}.turn`;
  if (await madeByAnother(turn, main)) return main;
  try {
    await make(target, main, sources, contents);
  } finally {
    await rm(turn, { recursive: true, force: true });
  }
  await removeOldBuilds(target);
  return main;
}

async function make(
  target: string,
  main: string,
  sources: readonly string[],
  contents: readonly Buffer[],
): Promise<void> {
  // Few processes compile, and both take long to load.
  const [{ default: ts }, { bundle }] = await Promise.all([import('typescript'), import('../../build/bundle.mjs')]);
  const fresh = await mkdtemp(join(cache, 'new-'));
  for (const [i, path] of sources.entries()) {
    const to = join(fresh, 'dist', path.slice(join(root, 'src').length));
    await mkdir(dirname(to), { recursive: true });
    if (path.endsWith('.ts'))
      await writeFile(to.replace(/\.ts$/, '.js'), compile(ts, path, contents[i]!.toString('utf8')));
    else await cp(path, to);
  }
  await bundle(join(root, 'src'), join(fresh, 'dist', 'bin'));
  await cp(join(root, 'package.json'), join(fresh, 'package.json'));
  for (const folder of ['jobs', 'fixtures', 'schemas']) {
    if (await exists(join(root, folder))) await symlink(join(root, folder), join(fresh, folder), 'dir');
  }
  try {
    await rename(fresh, target);
  } catch (error) {
    // Another suite was first; its build is the same.
    await rm(fresh, { recursive: true, force: true });
    if (!(await exists(main))) throw error;
  }
}

/** Compiling takes a processor some seconds: of the processes that come at once, one does it, and the others wait for it. */
async function madeByAnother(turn: string, main: string): Promise<boolean> {
  const GIVEN_UP_MS = 120_000;
  const end = Date.now() + GIVEN_UP_MS;
  while (!(await exists(main))) {
    const mine = await mkdir(turn).then(
      () => true,
      () => false,
    );
    if (mine || Date.now() > end) return false;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return true;
}

function compile(ts: Typescript, path: string, source: string): string {
  return ts.transpileModule(source, {
    fileName: path,
    compilerOptions: {
      target: ts.ScriptTarget.ES2023,
      module: ts.ModuleKind.ESNext,
      verbatimModuleSyntax: true,
    },
  }).outputText;
}

/** Builds of states that are gone; those of the last hour may be in use by a suite that runs beside this one. */
async function removeOldBuilds(keep: string): Promise<void> {
  for (const name of await readdir(cache)) {
    const path = join(cache, name);
    const info = await stat(path).catch(() => undefined);
    if (path !== keep && info && Date.now() - info.mtimeMs > 3_600_000) {
      await rm(path, { recursive: true, force: true });
    }
  }
}

async function filesBelow(dir: string): Promise<string[]> {
  const entries = await readdir(dir, { withFileTypes: true, recursive: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
