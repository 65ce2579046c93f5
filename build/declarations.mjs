/**
 * Of all declarations that the compiler made, those that the library needs: what `library/index.d.ts` imports, and what these
 * import in turn. By hand: node build/declarations.mjs [FOLDER]
 */
import { readdir, readFile, rm } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = resolve(process.argv[2] ?? fileURLToPath(new URL('../dist/types', import.meta.url)));
const needed = new Set([join(folder, 'library', 'index.d.ts')]);
for (const path of needed) {
  for (const [, from = ''] of (await readFile(path, 'utf8')).matchAll(/(?:from |import\()["'](\.[^"']+)\.js["']/g)) {
    needed.add(resolve(dirname(path), `${from}.d.ts`));
  }
}
for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
  const path = join(entry.parentPath, entry.name);
  if (entry.isDirectory() ? ![...needed].some((one) => one.startsWith(path + sep)) : !needed.has(path)) {
    await rm(path, { recursive: true, force: true });
  }
}
