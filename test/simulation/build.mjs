import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('../../', import.meta.url));
const cache = join(root, 'node_modules', '.cache', 'rowferry-simulation');
const TESTS = ['test/simulation', 'test/invariants'];

/**
 * Path of the compiled simulation: compiled once for each state of the sources. `dist`: a compiled program to simulate in the
 * place of the sources, e.g. one with a fault planted in it.
 */
export async function simulationPath(dist) {
  const folders = dist === undefined ? ['src', ...TESTS] : TESTS;
  const sources = (await Promise.all(folders.map((folder) => filesBelow(join(root, folder))))).flat().sort();
  const contents = await Promise.all(sources.map((path) => readFile(path)));
  const hash = createHash('sha256')
    .update(ts.version)
    .update(dist === undefined ? '' : resolve(dist));
  for (const [i, path] of sources.entries()) hash.update(`${path}\0`).update(contents[i]).update('\0');
  const target = join(cache, hash.digest('hex').slice(0, 16));
  const main = join(target, 'test', 'simulation', 'run.js');
  if (await exists(main)) return main;

  await mkdir(cache, { recursive: true });
  const fresh = await mkdtemp(join(cache, 'new-'));
  for (const [i, path] of sources.entries()) {
    const to = join(fresh, relative(root, path));
    await mkdir(dirname(to), { recursive: true });
    if (path.endsWith('.ts')) await writeFile(to.replace(/\.ts$/, '.js'), compile(path, contents[i].toString('utf8')));
    else await cp(path, to);
  }
  if (dist !== undefined) await symlink(resolve(dist), join(fresh, 'src'), 'dir');
  await cp(join(root, 'package.json'), join(fresh, 'package.json'));
  await rename(fresh, target).catch(async (error) => {
    // Somebody else was first; his build is the same.
    await rm(fresh, { recursive: true, force: true });
    if (!(await exists(main))) throw error;
  });
  await removeOld(target);
  return main;
}

function compile(path, source) {
  return ts.transpileModule(source, {
    fileName: path,
    compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true },
  }).outputText;
}

/** Builds of states that are gone; those of the last hours may be in use. */
async function removeOld(keep) {
  for (const name of await readdir(cache)) {
    const path = join(cache, name);
    const info = await stat(path).catch(() => undefined);
    if (path !== keep && info && Date.now() - info.mtimeMs > 6 * 3_600_000)
      await rm(path, { recursive: true, force: true });
  }
}

async function filesBelow(dir) {
  const entries = await readdir(dir, { withFileTypes: true, recursive: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

const exists = (path) =>
  stat(path).then(
    () => true,
    () => false,
  );
