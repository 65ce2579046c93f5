/**
 * The command and the library as few files: dist/bin/rowferry.js and index.js, and what they load on demand. A process reads and links five hundred files
 * otherwise, which takes it longer than importing a thousand rows. By hand, and in tests: node build/bundle.mjs [SRC [OUT]]
 */
import { chmod, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('../', import.meta.url));

/** Stay packages: they find files of their own beside them (programs, WebAssembly, pages), start threads, or are optional. */
const APART = ['@electric-sql/pglite', 'msgpackr-extract', 'pg-native', 'pino', 'pino-pretty'];

export async function bundle(src, out) {
  const made = await rolldown({
    input: { rowferry: `${src}/cli/main.ts`, index: `${src}/library/index.ts` },
    cwd: root,
    platform: 'node',
    external: APART,
    // Packages that try what may not be there, and read their own `eval`: theirs to know.
    logLevel: 'silent',
  });
  await rm(out, { recursive: true, force: true });
  await made.write({ dir: out, format: 'esm', chunkFileNames: '[name]-[hash].js' });
  await made.close();
  await chmod(`${out}/rowferry.js`, 0o755);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [src = `${root}src`, out = `${root}dist/bin`] = process.argv.slice(2);
  await bundle(src, out);
}
