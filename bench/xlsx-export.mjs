/**
 * Rows a second and peak memory of our workbook writer against exceljs, streaming, with date and money formats.
 *
 *   npm run build && node bench/xlsx-export.mjs [--quick]
 *
 * Each figure is a process of its own; the two take turns; medians. The goal is 7 times the rows (9.4 times with 90 columns), 120 MB at most.
 * BENCH_DIST names another build, BENCH_ROWS and BENCH_ROUNDS other sizes than 100,000 rows and 5 rounds.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const self = fileURLToPath(import.meta.url);
const quick = process.argv.includes('--quick');
const ROWS = Number(process.env['BENCH_ROWS'] ?? (quick ? 5_000 : 100_000));
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? (quick ? 1 : 5));
const TABLES = [
  { columns: 25, blank: 0 },
  { columns: 90, blank: 50 },
];

const KINDS = ['id', 'text', 'text', 'date', 'money', 'decimal', 'integer', 'boolean', 'text', 'text'];
const STAGES = ['Deployed', 'Stock', 'Retired'];
const two = (n) => String(n).padStart(2, '0');

function cellOf(kind, row, column) {
  switch (kind) {
    case 'id':
      return String(100_000 + row);
    case 'date':
      return `20${10 + (row % 15)}-${two(1 + (row % 12))}-${two(1 + (row % 28))}`;
    case 'money':
      return `${row % 5_000}.${two(row % 100)}`;
    case 'decimal':
      return `${row % 97}.5`;
    case 'integer':
      return String(row % 1_000);
    case 'boolean':
      return row % 2 === 0 ? 'true' : 'false';
  }
  if (column % 10 === 2) return STAGES[row % 3];
  return column % 10 === 9 ? `Latitude ${row} & "quoted" café` : `SN-${row}-${column}-0012345`;
}

const columnsOf = (count) =>
  Array.from({ length: count }, (_, i) => ({
    heading: `Column ${i + 1}`,
    kind: KINDS[i % KINDS.length],
    ...(i % 10 === 2 ? { choices: STAGES } : {}),
  }));

function* batches(columns, rows, blank) {
  for (let from = 0; from < rows; from += 500) {
    const batch = [];
    for (let row = from; row < Math.min(from + 500, rows); row++) {
      batch.push(columns.map(({ kind }, i) => ((row * 7 + i * 13) % 100 < blank ? '' : cellOf(kind, row, i))));
    }
    yield batch;
  }
}

async function* stream(columns, rows, blank) {
  yield* batches(columns, rows, blank);
}

async function ours(path, columns, rows, blank) {
  const dist = resolve(process.env['BENCH_DIST'] ?? fileURLToPath(new URL('../dist', import.meta.url)));
  const { writeTable } = await import(pathToFileURL(join(dist, 'files/table-write.js')).href);
  const facts = [['Records', String(rows)]];
  return () => writeTable(path, columns, stream(columns, rows, blank), { title: 'Assets', facts });
}

async function exceljs(path, columns, rows, blank) {
  const { default: ExcelJS } = await import('exceljs');
  const formats = columns.map(({ kind }) =>
    kind === 'date' ? 'yyyy-mm-dd' : kind === 'money' ? '#,##0.00' : kind === 'id' || kind === 'text' ? '@' : undefined,
  );
  const typed = (kind, text) => {
    if (kind === 'id' || kind === 'text') return text;
    if (kind === 'boolean') return text === 'true';
    return kind === 'date' ? new Date(`${text}T00:00:00Z`) : Number(text);
  };
  return async () => {
    const book = new ExcelJS.stream.xlsx.WorkbookWriter({ filename: path, useStyles: true, useSharedStrings: false });
    const sheet = book.addWorksheet('Assets', { views: [{ state: 'frozen', ySplit: 1 }] });
    sheet.columns = columns.map(({ heading }, i) => ({
      header: heading,
      width: 20,
      ...(formats[i] ? { style: { numFmt: formats[i] } } : {}),
    }));
    for (const batch of batches(columns, rows, blank)) {
      for (const row of batch) {
        sheet.addRow(row.map((text, i) => (text === '' ? null : typed(columns[i].kind, text)))).commit();
      }
      // The writer has no back-pressure of its own; without a pause it holds the whole table.
      await new Promise((done) => setImmediate(done));
    }
    await book.commit();
  };
}

/** One figure, in this process: what it prints is one line of JSON. */
async function measure([name, columnCount, blank, path]) {
  const columns = columnsOf(Number(columnCount));
  const write = await (name === 'ours' ? ours : exceljs)(path, columns, ROWS, Number(blank));
  const from = performance.now();
  await write();
  const seconds = (performance.now() - from) / 1000;
  const peak = process.resourceUsage().maxRSS / 1024;
  console.info(JSON.stringify({ rate: ROWS / seconds, peak, size: statSync(path).size / 1024 / 1024 }));
}

function figure(name, { columns, blank }, folder) {
  const argv = [self, '--measure', name, String(columns), String(blank), join(folder, `${name}.xlsx`)];
  const env = { ...process.env, BENCH_ROWS: String(ROWS) };
  const { status, stdout, stderr } = spawnSync(process.execPath, argv, { encoding: 'utf8', env });
  if (status !== 0) throw new Error(`${name} ended with ${status}: ${stderr}`);
  return JSON.parse(stdout);
}

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

function compare() {
  const folder = mkdtempSync(join(tmpdir(), 'rowferry-bench-'));
  const results = [];
  try {
    for (const table of TABLES) {
      const taken = { ours: [], exceljs: [] };
      for (let round = 0; round < ROUNDS; round++) {
        for (const name of Object.keys(taken)) taken[name].push(figure(name, table, folder));
      }
      const of = (name) =>
        Object.fromEntries(
          ['rate', 'peak', 'size'].map((key) => [key, Math.round(median(taken[name].map((one) => one[key])))]),
        );
      const [a, b] = [of('ours'), of('exceljs')];
      results.push({ ...table, ours: a, exceljs: b, ratio: Number((a.rate / b.rate).toFixed(1)) });
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const load = loadavg().map((value) => Number(value.toFixed(1)));
  console.info(JSON.stringify({ rows: ROWS, rounds: ROUNDS, cores: availableParallelism(), load, results }));
  console.table(
    results.map(({ columns, blank, ours: a, exceljs: b, ratio }) => ({
      table: `${columns} columns, ${blank}% blank`,
      'ours rows/s': a.rate,
      'exceljs rows/s': b.rate,
      ratio,
      'ours MB': a.peak,
      'exceljs MB': b.peak,
      'ours file MB': a.size,
      'exceljs file MB': b.size,
    })),
  );
}

const at = process.argv.indexOf('--measure');
if (at < 0) compare();
else await measure(process.argv.slice(at + 1));
