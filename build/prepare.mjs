/** Builds where the sources are newer than what was built last: `npm` and `npx` in a checkout prepare it again and again. */
import { execFileSync } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const timeOf = async (path) => (await stat(join(root, path)).catch(() => undefined))?.mtimeMs ?? 0;

// Folders count, too: their time is that of the last file that went.
const below = async (folder) => [
  folder,
  ...(await readdir(join(root, folder), { recursive: true })).map((name) => join(folder, name)),
];
const sources = [
  ...(await below('src')),
  ...(await below('build')),
  'package.json',
  'tsconfig.json',
  'tsconfig.build.json',
];
const newest = Math.max(...(await Promise.all(sources.map(timeOf))));
const made = ['dist/bin/rowferry.js', 'dist/console/index.html', 'dist/types/library/index.d.ts'];
const built = Math.min(...(await Promise.all(made.map(timeOf))));
if (built <= newest)
  execFileSync('npm', ['run', 'build'], { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' });
