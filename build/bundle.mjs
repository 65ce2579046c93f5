/**
 * The command and the library as few files: dist/bin/rowferry.js and index.js, and what they load on demand. A process reads and links five hundred files
 * otherwise, which takes it longer than importing a thousand rows. By hand, and in tests: node build/bundle.mjs [SRC [OUT]]
 */
import { chmod, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('../', import.meta.url));

/** Stay packages: they find files of their own beside them, start threads, or are optional. */
const APART = ['msgpackr-extract', 'pg-native', 'pino-pretty'];

/**
 * Files of the bundle, each with the modules it begins at: these and all that they import, where no earlier one holds it.
 * To find, read and link a file takes a process about a millisecond, and an import would read seventy.
 */
const FILES = [
  ['command', ['cli/program.ts']],
  ['look', ['runs/settings.ts', 'runs/run/list.ts', 'runs/run/present.ts']],
  ['run', ['runs/import.ts', 'runs/job-file.ts', 'files/csv/read.ts']],
];

/** The description of the API uses all of zod: the bundler tells apart what else does. */
const ZOD = /node_modules[\\/]zod[\\/]/;

function fileOf(src) {
  const from = FILES.map(([name, entries]) => [name, entries.map((entry) => `${src}/${entry}`)]);
  let held;
  return (id, context) => {
    if (held === undefined) {
      held = new Map();
      for (const [name, ids] of from) {
        for (const one of ids) {
          if (held.has(one)) continue;
          held.set(one, name);
          ids.push(...(context.getModuleInfo(one)?.importedIds ?? []).filter((id) => !ZOD.test(id)));
        }
      }
    }
    return held.get(id) ?? null;
  };
}

/** undici speaks HTTP/2 as well. Nothing here asks it to, and Node.js takes twenty milliseconds to load that. */
const WITHOUT_HTTP2 = {
  name: 'without-http2',
  resolveId: { filter: { id: /client-h2/ }, handler: () => ({ id: '\0http2' }) },
  load: { filter: { id: /^\0http2$/ }, handler: () => 'module.exports = undefined;' },
};

/** zod has its messages in fifty languages. Nothing here asks for another one than English. */
const ENGLISH_ALONE = {
  name: 'english-alone',
  resolveId: { filter: { id: /locales\/index/ }, handler: () => ({ id: '\0locales' }) },
  load: { filter: { id: /^\0locales$/ }, handler: () => 'export {};' },
};

/** What this module requires comes along; it still runs where it is first asked for. */
const REQUIRED = {
  name: 'required',
  transform: {
    filter: { id: /service[\\/]transport[\\/]http\.ts$/ },
    handler: (code) => code.replace('const require = createRequire(import.meta.url);', ''),
  },
};

export async function bundle(src, out) {
  const made = await rolldown({
    input: { rowferry: `${src}/cli/main.ts`, index: `${src}/library/index.ts` },
    cwd: root,
    platform: 'node',
    external: APART,
    plugins: [WITHOUT_HTTP2, ENGLISH_ALONE, REQUIRED],
    // Packages that try what may not be there, and read their own `eval`: theirs to know.
    logLevel: 'silent',
  });
  await rm(out, { recursive: true, force: true });
  await made.write({
    dir: out,
    format: 'esm',
    chunkFileNames: '[name]-[hash].js',
    codeSplitting: { includeDependenciesRecursively: false, groups: [{ name: fileOf(src) }] },
  });
  await made.close();
  await chmod(`${out}/rowferry.js`, 0o755);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [src = `${root}src`, out = `${root}dist/bin`] = process.argv.slice(2);
  await bundle(src, out);
}
