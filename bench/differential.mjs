/**
 * Our readers against the others, in numbers that a test has no time for: csv-parse, SheetJS, exceljs, and LibreOffice where
 * it is installed.
 *
 *   node bench/differential.mjs [--files 300] [--seed 1]
 *
 * Files are generated (test/corpus). LibreOffice opens all workbooks and tables in a few calls and saves them as it shows
 * them; csv-parse reads what it saved. Prints files, cells and differences as JSON; what explains a difference stands in
 * test/files/differences.md, and anything else is printed and ends the script with 1.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { parse } from 'csv-parse/sync';
import { createServer } from 'vite';

const { values } = parseArgs({
  options: { files: { type: 'string', default: '300' }, seed: { type: 'string', default: '1' } },
});
const files = Number(values.files);
const seed = Number(values.seed);
// Stays until the end: the readers load the part that a file needs only when they see it.
const vite = await createServer({
  configFile: false,
  logLevel: 'error',
  appType: 'custom',
  server: { middlewareMode: true, hmr: false, ws: false, watch: null },
  optimizeDeps: { noDiscovery: true },
});
const load = (name) => vite.ssrLoadModule(fileURLToPath(new URL(`../test/corpus/${name}.ts`, import.meta.url)));
const [csv, readers, formats, office] = await Promise.all(
  ['against-csv-parse', 'against-readers', 'against-formats', 'against-libreoffice'].map(load),
);

const folder = mkdtempSync(join(tmpdir(), 'rowferry-differential-'));
const results = {};
const started = performance.now();
const note = (name, { files, cells, explained, unexplained }) => {
  results[name] = { files, cells, explained, unexplained: unexplained.length };
  for (const words of unexplained) console.error(`${name}: ${words}`);
};
try {
  note('csv-parse, tables', csv.compareTables(seed, files * 40));
  note('csv-parse, mutated tables', csv.compareMutated(seed, files * 40));
  note('SheetJS, number formats', formats.compareFormats());
  note('SheetJS, formats made up', formats.compareRandomFormats(seed, files * 20));
  note('SheetJS, workbooks', await readers.compareWithSheetJs(seed, files * 4, folder));
  note('exceljs, workbooks', await readers.compareWithExcelJs(seed, files * 4, folder));
  if (installed()) {
    const convert = (paths, to, target, filter) => {
      mkdirSync(to, { recursive: true });
      const profile = `-env:UserInstallation=file://${join(folder, 'profile')}`;
      for (let at = 0; at < paths.length; at += 200) {
        execFileSync(
          'soffice',
          [
            profile,
            '--headless',
            ...(filter ? [`--infilter=${filter}`] : []),
            '--convert-to',
            target,
            '--outdir',
            to,
            ...paths.slice(at, at + 200),
          ],
          { stdio: 'pipe' },
        );
      }
    };
    const read = (path) =>
      existsSync(path) ? parse(readFileSync(path), { bom: true, relax_column_count: true }) : undefined;
    note(
      'LibreOffice, workbooks',
      await office.compareWorkbooks(seed, files, folder, { convert, read, write: writeFileSync }),
    );
    note('LibreOffice, CSV', await office.compareCsv(seed, files, folder, { convert, read, write: writeFileSync }));
  } else console.error('LibreOffice is not installed (soffice); its part is left out.');
} finally {
  rmSync(folder, { recursive: true, force: true });
  await vite.close();
}
const sum = (what) => Object.values(results).reduce((total, result) => total + result[what], 0);
console.log(
  JSON.stringify(
    {
      seed,
      files: sum('files'),
      cells: sum('cells'),
      unexplained: sum('unexplained'),
      seconds: Math.round((performance.now() - started) / 1_000),
      results,
    },
    null,
    2,
  ),
);
process.exit(sum('unexplained') === 0 ? 0 : 1);

function installed() {
  try {
    execFileSync('soffice', ['--version'], { stdio: 'pipe' });
    return true;
  } catch {
    return false;
  }
}
