/**
 * Not a test, because LibreOffice is not on every machine: workbooks of ours, opened and saved by it, cell by cell.
 *
 *   node -e "import('vite').then((vite) => vite.runnerImport('./test/files/workbook/libreoffice.ts'))"
 *
 * Prints what differs and ends with 1 where something does. The file stays in the folder that it names, to be looked at.
 */
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSource } from '../../../src/files/open.js';
import { writeTable } from '../../../src/files/table-write.js';
import { type Cell, displayText, type SheetRow } from '../../../src/model/row.js';
import type { SourceOptions } from '../../../src/model/source.js';
import type { TableColumn } from '../../../src/model/table.js';
import { batches, everything } from './tables.js';

const folder = await mkdtemp(join(tmpdir(), 'rowferry-libreoffice-'));

/** Its output in another form, in a folder of its own. `form`: `xlsx`, or a filter with options. */
async function converted(path: string, form: string, name: string): Promise<string> {
  const to = join(folder, name);
  await mkdir(to);
  const profile = `-env:UserInstallation=file://${join(folder, 'profile')}`;
  execFileSync('soffice', [profile, '--headless', '--convert-to', form, '--outdir', to, path], { stdio: 'pipe' });
  return join(to, `table.${form.split(':')[0]}`);
}

async function cellsOf(path: string, options: SourceOptions): Promise<readonly (readonly Cell[])[]> {
  const rows: SheetRow[] = [];
  for await (const batch of (await openSource(path, options)).rows()) rows.push(...batch);
  return rows.map(({ cells }) => cells);
}

const told = (cell: Cell | undefined) => (typeof cell === 'object' ? JSON.stringify(cell) : JSON.stringify(cell ?? ''));
/**
 * What LibreOffice does to texts, whoever wrote the workbook: a line end of two characters becomes one, and the spelling
 * of a spelling is resolved twice. Of `'=1` in its CSV our reader takes away an apostrophe that it did not escape with.
 */
const byIts = (text: string) => text.replaceAll('\\r\\n', '\\n').replaceAll('_x005F_', '_').replace(/^"'=/, '"=');
const clip = (text: string) => (text.length > 90 ? `${text.slice(0, 90)}…` : text);

let differences = 0;
function compare(
  what: string,
  columns: readonly TableColumn[],
  ours: readonly (readonly Cell[])[],
  theirs: typeof ours,
  as: (cell: Cell | undefined) => string,
) {
  if (ours.length !== theirs.length) {
    console.info(`${what}: ${theirs.length} rows instead of ${ours.length}`);
    differences++;
  }
  for (const [r, row] of ours.entries()) {
    for (const [c, { heading }] of columns.entries()) {
      const [a, b] = [byIts(as(row[c])), byIts(as(theirs[r]?.[c]))];
      if (a === b) continue;
      console.info(`${what}: row ${r + 2}, ${heading}: ${clip(a)} became ${clip(b)}`);
      differences++;
    }
  }
}

const { columns, rows } = everything();
const decorated = columns.map((column, i) => ({
  ...column,
  note: `What ${column.heading} holds.`,
  readOnly: i === 1,
  ...(i === 0 ? { choices: ['plain', 'with, comma'] } : {}),
}));
const path = join(folder, 'table.xlsx');
await writeTable(path, decorated, batches(rows), { title: 'Assets', facts: [['Records', String(rows.length)]] });
const ours = await cellsOf(path, { header_row: 1 });
console.info(`${path}: ${ours.length} rows, ${columns.length} columns`);

const saved = await converted(path, 'xlsx', 'saved');
compare('saved as .xlsx', columns, ours, await cellsOf(saved, { header_row: 1 }), (cell) => {
  // It keeps a boolean as a number shown as TRUE or FALSE, and writes other format codes for the same formats.
  if (typeof cell === 'object' && cell.t === 'b')
    return told({ t: 'n', value: cell.value ? '1' : '0', shown: displayText(cell) });
  if (typeof cell === 'object' && (cell.t === 'n' || cell.t === 'd'))
    return told({ t: cell.t, value: cell.value, shown: cell.shown });
  return told(cell);
});

// Comma, quotation marks, UTF-8, from line 1, cells as they are shown, first sheet.
const filter = 'csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,true,false,false,1';
const shown = await converted(path, filter, 'shown').then((name) => name.replace(/\.csv$/, '-Assets.csv'));
compare(
  'as it shows it (.csv)',
  columns,
  ours,
  await cellsOf(shown, { header_row: 1, encoding: 'utf-8', delimiter: ',' }),
  (cell) => JSON.stringify(displayText(cell)),
);
console.info(`${differences} differences`);
process.exitCode = differences === 0 ? 0 : 1;
