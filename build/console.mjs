/**
 * The pages: dist/console/index.html and what it loads, each file with its packed form beside it, so that nobody packs while
 * somebody waits. By hand, and in tests: node build/console.mjs [OUT]
 */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { build } from 'vite';

const root = fileURLToPath(new URL('../', import.meta.url));
const [out = join(root, 'dist/console')] = process.argv.slice(2);

// Whoever builds may be a test: the pages are the same.
process.env.NODE_ENV = 'production';
await build({
  configFile: false,
  root: join(root, 'src/console'),
  publicDir: false,
  plugins: [react()],
  logLevel: 'error',
  build: {
    outDir: out,
    emptyOutDir: true,
    target: 'es2022',
    // A polyfill would be a script of its own, for browsers that are too old for the rest.
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
for (const entry of await readdir(out, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile()) continue;
  const path = join(entry.parentPath, entry.name);
  await writeFile(`${path}.gz`, gzipSync(await readFile(path), { level: 9 }));
}
