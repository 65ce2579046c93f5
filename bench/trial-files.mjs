/**
 * What rowferry finds in every spreadsheet of a folder, as a Markdown table: format, encoding, delimiter, sheet, heading, rows
 * left out, rows, rows with faults of their form, and the refusal where a file is refused. Where LibreOffice is present its
 * view of the same file is compared cell by cell: the texts it would save as CSV, for rows from the heading to the last one.
 *
 *   npm run build && node bench/trial-files.mjs FOLDER [--soffice PATH]
 *
 * Files that neither program can read are listed, too. BENCH_DIST names another build.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, parse, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { parse as parseCsv } from 'csv-parse/sync';

const run = promisify(execFile);
const { values, positionals } = parseArgs({
  options: { soffice: { type: 'string', default: 'soffice' } },
  allowPositionals: true,
});
const folder = positionals[0];
if (folder === undefined) {
  console.error('Name a folder: node bench/trial-files.mjs FOLDER');
  process.exit(2);
}
const dist = resolve(process.env['BENCH_DIST'] ?? fileURLToPath(new URL('../dist', import.meta.url)));
const { openSource } = await import(pathToFileURL(join(dist, 'files/open.js')).href);
const { displayText } = await import(pathToFileURL(join(dist, 'model/row.js')).href);

const TABLES = /\.(?:csv|tsv|tab|txt|xlsx|xlsm|xltx|ods|fods|xls|xlsb|ndjson|jsonl)(?:\.gz)?$/i;
const files = (await readdir(folder)).filter((name) => TABLES.test(name)).sort();
const scratch = await mkdtemp(join(tmpdir(), 'rowferry-trial-'));
const office = await run(values.soffice, ['--version'], { timeout: 60_000 }).then(
  ({ stdout }) => stdout.trim(),
  () => undefined,
);
try {
  console.log('| file | detected | rows | left out, and other remarks | LibreOffice |\n|---|---|---|---|---|');
  for (const name of files) {
    const seen = await look(join(folder, name));
    const other = office && !/\.gz$|json/.test(name) ? await compared(join(folder, name), seen) : 'not compared';
    const cells = [name, seen.detected, seen.counted, seen.remarks.join(' ') || '–', other];
    console.log(`| ${cells.map((text) => text.replaceAll('|', '\\|').replace(/\s+/g, ' ')).join(' | ')} |`);
  }
  console.log(
    office ? `\nCompared with ${office.slice(0, 40)}.` : '\nLibreOffice is not here, so nothing was compared.',
  );
} finally {
  await rm(scratch, { recursive: true, force: true });
}

/** What rowferry sees: rows by number, each as texts. */
async function look(path) {
  const rows = new Map();
  const faults = new Map();
  try {
    const source = await openSource(path);
    for await (const batch of source.rows()) {
      for (const { row, cells, faults: found } of batch) {
        rows.set(row, cells.map(displayText));
        for (const { code } of found ?? []) faults.set(code, (faults.get(code) ?? 0) + 1);
      }
    }
    const { meta } = source;
    const parts = [
      meta.format,
      meta.encoding,
      meta.delimiter && named(meta.delimiter),
      meta.sheet && `sheet "${meta.sheet}"`,
    ];
    const detected = [...parts.filter(Boolean), `heading in row ${meta.header_row}, ${meta.headings.length} columns`];
    const bad = [...faults].map(([code, count]) => `${count} ${code}`);
    const counted = `${rows.size}${bad.length > 0 ? `, of them ${bad.join(', ')}` : ''}`;
    return { rows, meta, detected: detected.join(', '), counted, remarks: meta.warnings };
  } catch (error) {
    return {
      rows,
      refused: true,
      detected: '–',
      counted: '0',
      remarks: [`Refused: ${error.message.replaceAll(path, 'the file')}`],
    };
  }
}

function named(delimiter) {
  return { ',': 'comma', ';': 'semicolon', '\t': 'tab', '|': 'pipe' }[delimiter] ?? delimiter;
}

/** The same file as LibreOffice saves it: every row counts, so its line numbers are those of the rows. */
async function compared(path, seen) {
  const text = await asOfficeSees(path, seen.meta).catch(() => undefined);
  if (text === undefined || text.trim() === '') return seen.refused ? 'reads nothing either' : 'could not convert it';
  const lines = parseCsv(text, { relax_column_count: true, skip_empty_lines: false });
  if (seen.refused) return `reads ${lines.length} rows`;
  let cells = 0;
  let missing = 0;
  let first;
  const differences = [];
  const from = seen.meta.header_row;
  const all = new Map([[from, seen.meta.headings], ...seen.rows]);
  const width = seen.meta.headings.length;
  for (const [at, line] of lines.entries()) {
    const row = at + 1;
    if (row < from || line.every((cell) => cell.trim() === '')) continue;
    const ours = all.get(row);
    if (!ours) {
      missing++;
      first ??= row;
      continue;
    }
    all.delete(row);
    for (let i = 0; i < Math.max(width, line.length, ours.length); i++) {
      cells++;
      if (!alike(ours[i] ?? '', line[i] ?? ''))
        differences.push(`row ${row} "${(ours[i] ?? '').slice(0, 30)}" / "${(line[i] ?? '').slice(0, 30)}"`);
    }
  }
  const said = [`${cells.toLocaleString('en-US')} cells`];
  said.push(
    differences.length === 0 ? 'all equal' : `${differences.length} shown otherwise, such as ${differences[0]}`,
  );
  if (missing > 0) said.push(`${missing} rows of it are not read here (the first is row ${first})`);
  if (all.size > 0) said.push(`${all.size} rows are read here alone`);
  return said.join('; ');
}

/** Whether two texts are the same but for outer blanks, line ends and the way a truth value is written. */
function alike(a, b) {
  const plain = (text) => text.normalize('NFC').replace(/\r\n?/g, '\n').trim();
  return plain(a) === plain(b) || (/^(true|false)$/i.test(a) && a.toLowerCase() === b.toLowerCase());
}

async function asOfficeSees(path, meta) {
  const charsets = { 'utf-16le': 65535, 'utf-16be': 65535, 'windows-1252': 1, 'iso-8859-1': 12 };
  const args = [`-env:UserInstallation=file://${scratch}/profile`, '--headless', '--convert-to'];
  // Field separator, quotation mark, character set; for text files also how they are read, all columns as text.
  args.push('csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false', '--outdir', join(scratch, 'out'));
  if (meta?.format === 'csv') {
    const columns = Array.from({ length: meta.headings.length + 20 }, (_, i) => `${i + 1}/2`).join('/');
    args.push(
      `--infilter=Text - txt - csv (StarCalc):${meta.delimiter.charCodeAt(0)},34,${charsets[meta.encoding] ?? 76},1,${columns}`,
    );
  }
  await run(values.soffice, [...args, resolve(path)], { timeout: 120_000 });
  return readFile(join(scratch, 'out', `${parse(path).name}.csv`), 'utf8');
}
