/**
 * Rows a second and peak memory of our workbook reader against exceljs, streaming.
 *
 *   npm run build && node bench/read-xlsx.mjs [--quick] [--json]
 *
 * A sheet of 25 columns as asset lists have them, its parts in the order in which Excel writes them: once with shared
 * strings and once with inline strings. Every figure is a process of its own; the readers take turns; medians. The goals
 * are 6.7 times the rows with shared strings, 6.3 times inline, 250 MB at most beside the strings. Then ours alone over ten
 * times the rows: its memory must not grow. Ours unpacks in a second thread; the ratio by CPU time counts both threads.
 * BENCH_DIST names another build, BENCH_ROWS and BENCH_ROUNDS other sizes than 100,000 and 5.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { crc32, createDeflateRaw } from 'node:zlib';

const self = fileURLToPath(import.meta.url);
const quick = process.argv.includes('--quick');
const ROWS = Number(process.env['BENCH_ROWS'] ?? (quick ? 5_000 : 100_000));
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? (quick ? 1 : 5));
const MANY = 10;

const CATEGORIES = ['Laptop', 'Monitor', 'Drucker & Plotter', 'Téléphone', 'Server 19" rack', 'Möbel'];
const CITIES = ['Zürich', 'Genève', 'San José', 'Köln', 'Malmö', 'Boston', 'Kraków', '東京'];
const PEOPLE = ['Zoë Müller', "Seán O'Brien", 'Renée Lefèvre', 'Łukasz Nowak', 'Ana Peña', 'John Smith'];
const date = (row, every) => ({ date: 40_000 + ((row * every) % 6_000) });
const money = (row) => ((row * 37) % 900_000) / 100 + 0.25;

/** An asset: texts with quotes, line breaks and accents, dates, amounts. A text is what Excel would share. */
const COLUMN_VALUES = [
  (row) => `${CATEGORIES[row % 6]} no. ${row}`,
  (row) => `SN-${1_000_000 + row}-X`,
  (row) => `TAG${row}`,
  (row) => CATEGORIES[row % 6],
  (row) => `Subcategory ${row % 40}`,
  (row) => `Hersteller ${row % 90} GmbH & Co. KG`,
  (row) => `Model "${row % 400}" rev. ${row % 7}`,
  (row) => ['Deployed', 'In stock', 'Retired', 'In repair'][row % 4],
  (row) => PEOPLE[row % 6],
  (row) => `user${row % 5_000}@example.com`,
  (row) => CITIES[row % 8],
  (row) => `Gebäude ${row % 60}, Raum ${row % 700}`,
  (row) => `${row % 999} Rue de l'Été, 3ème étage`,
  (row) => 10_000 + (row % 90_000),
  (row) => ['Switzerland', 'Germany', 'France', 'Sweden'][row % 4],
  (row) => date(row, 1),
  (row) => date(row, 7),
  (row) => date(row, 13),
  money,
  (row) => money(row + 5),
  (row) => row % 12,
  (row) => `CC-${row % 300}`,
  (row) => `PO ${row % 20_000}/2024`,
  (row) => `Bought for team ${row % 90}\nsee "contract ${row % 3_000}" <signed>`,
  (row) => `Été comme hiver: gerät läuft, note ${row}`,
];
const cellOf = (row, column) => COLUMN_VALUES[column](row);

const escaped = (text) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
const COLUMNS = COLUMN_VALUES.length;
const LETTERS = Array.from({ length: COLUMNS }, (_, i) => String.fromCharCode(65 + i));

/** XML of the sheet in pieces; `shared` takes a text and returns its number. */
function* sheetXml(rows, shared) {
  yield '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>';
  const text = (reference, value) =>
    shared
      ? `<c r="${reference}" t="s"><v>${shared(value)}</v></c>`
      : `<c r="${reference}" t="inlineStr"><is><t>${escaped(value)}</t></is></c>`;
  let piece = `<row r="1">${LETTERS.map((letter, i) => text(`${letter}1`, `Column ${i + 1}`)).join('')}</row>`;
  for (let row = 2; row <= rows + 1; row++) {
    piece += `<row r="${row}" spans="1:${COLUMNS}">`;
    for (let i = 0; i < COLUMNS; i++) {
      const value = cellOf(row, i);
      if (typeof value === 'string') piece += text(LETTERS[i] + row, value);
      else if (typeof value === 'number') piece += `<c r="${LETTERS[i]}${row}"><v>${value}</v></c>`;
      else piece += `<c r="${LETTERS[i]}${row}" s="1"><v>${value.date}</v></c>`;
    }
    piece += '</row>';
    if (piece.length > 1 << 20) {
      yield piece;
      piece = '';
    }
  }
  yield `${piece}</sheetData></worksheet>`;
}

const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const PARTS = {
  '[Content_Types].xml':
    `${HEAD}<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
    '<Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>',
  '_rels/.rels': `${HEAD}<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  'xl/workbook.xml': `${HEAD}<workbook xmlns="${MAIN}" xmlns:r="${RELATIONS}"><sheets><sheet name="Assets" sheetId="1" r:id="rId1"/></sheets></workbook>`,
  'xl/_rels/workbook.xml.rels':
    `${HEAD}<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${RELATIONS}/worksheet" Target="worksheets/sheet1.xml"/>` +
    `<Relationship Id="rId2" Type="${RELATIONS}/styles" Target="styles.xml"/><Relationship Id="rId3" Type="${RELATIONS}/sharedStrings" Target="sharedStrings.xml"/></Relationships>`,
  'xl/styles.xml': `${HEAD}<styleSheet xmlns="${MAIN}"><cellXfs><xf numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"/></cellXfs></styleSheet>`,
};

/** Writes a workbook; strings in the order of their first use, each text once, as spreadsheet programs do. */
async function writeBook(path, rows, inline) {
  const fd = openSync(path, 'w');
  const central = [];
  let at = 0;
  async function part(name, pieces) {
    const offset = at;
    const head = Buffer.alloc(30);
    const nameBytes = Buffer.from(name);
    at += 30 + nameBytes.length;
    let [size, packed, checksum] = [0, 0, 0];
    const deflate = createDeflateRaw({ level: 1 });
    deflate.on('data', (chunk) => {
      writeSync(fd, chunk, 0, chunk.length, at);
      at += chunk.length;
      packed += chunk.length;
    });
    for (const piece of pieces) {
      const bytes = Buffer.from(piece);
      size += bytes.length;
      checksum = crc32(bytes, checksum);
      if (!deflate.write(bytes)) await new Promise((done) => deflate.once('drain', done));
    }
    await new Promise((done) => {
      deflate.once('end', done);
      deflate.end();
    });
    head.write('PK\x03\x04\x14\0\0\x08\x08\0\0\0\x21\0', 'latin1');
    head.writeUInt32LE(checksum, 14);
    head.writeUInt32LE(packed, 18);
    head.writeUInt32LE(size, 22);
    head.writeUInt16LE(nameBytes.length, 26);
    writeSync(fd, head, 0, 30, offset);
    writeSync(fd, nameBytes, 0, nameBytes.length, offset + 30);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset, 10);
    central.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\0', 'latin1'), head.subarray(4), tail, nameBytes]));
  }
  const numbers = new Map();
  const shared = (text) => {
    if (!numbers.has(text)) numbers.set(text, numbers.size);
    return numbers.get(text);
  };
  function* stringsXml() {
    yield `${HEAD}<sst xmlns="${MAIN}" uniqueCount="${numbers.size}">`;
    let piece = '';
    for (const text of numbers.keys()) {
      piece += `<si><t>${escaped(text)}</t></si>`;
      if (piece.length < 1 << 20) continue;
      yield piece;
      piece = '';
    }
    yield `${piece}</sst>`;
  }
  // The order in which Excel writes the parts.
  const { 'xl/styles.xml': styles, ...first } = PARTS;
  for (const [name, xml] of Object.entries(first)) await part(name, [xml]);
  await part('xl/worksheets/sheet1.xml', sheetXml(rows, inline ? undefined : shared));
  await part('xl/styles.xml', [styles]);
  await part('xl/sharedStrings.xml', stringsXml());
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(central.length, 8);
  end.writeUInt16LE(central.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(at, 16);
  writeSync(fd, Buffer.concat([directory, end]), 0, directory.length + 22, at);
  closeSync(fd);
}

async function ours(path) {
  const dist = resolve(process.env['BENCH_DIST'] ?? fileURLToPath(new URL('../dist', import.meta.url)));
  const { openSource } = await import(pathToFileURL(join(dist, 'files/open.js')).href);
  return async () => {
    let cells = 0;
    for await (const batch of (await openSource(path)).rows()) for (const row of batch) cells += row.cells.length;
    return cells / COLUMNS;
  };
}

async function exceljs(path) {
  const { default: ExcelJS } = await import('exceljs');
  return async () => {
    let rows = -1;
    const book = new ExcelJS.stream.xlsx.WorkbookReader(path, {
      sharedStrings: 'cache',
      styles: 'cache',
      hyperlinks: 'ignore',
      worksheets: 'emit',
      entries: 'emit',
    });
    for await (const sheet of book) {
      for await (const row of sheet) {
        // The values are made when they are asked for.
        if (row.values.length > COLUMNS) rows++;
      }
    }
    return rows;
  };
}

/** One figure, in this process: what it prints is one line of JSON. */
async function measure([name, path, rows]) {
  const read = await (name === 'ours' ? ours : exceljs)(path);
  const before = process.cpuUsage();
  const from = performance.now();
  const found = await read();
  const seconds = (performance.now() - from) / 1000;
  if (found !== Number(rows)) throw new Error(`${name} read ${found} rows of ${rows}`);
  const { user, system } = process.cpuUsage(before);
  const peak = process.resourceUsage().maxRSS / 1024;
  console.info(JSON.stringify({ rate: found / seconds, perCpu: (found * 1e6) / (user + system), peak }));
}

function figure(name, path, rows) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [self, '--measure', name, path, String(rows)], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${name} ended with ${status}: ${stderr}`);
  return JSON.parse(stdout);
}

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const of = (figures) =>
  Object.fromEntries(
    ['rate', 'perCpu', 'peak'].map((key) => [key, Math.round(median(figures.map((one) => one[key])))]),
  );

async function compare() {
  const folder = mkdtempSync(join(tmpdir(), 'rowferry-bench-'));
  const results = [];
  try {
    for (const strings of ['shared', 'inline']) {
      const path = join(folder, `${strings}.xlsx`);
      await writeBook(path, ROWS, strings === 'inline');
      const taken = { ours: [], exceljs: [] };
      for (let round = 0; round < ROUNDS; round++) {
        for (const name of Object.keys(taken)) taken[name].push(figure(name, path, ROWS));
      }
      const [a, b] = [of(taken.ours), of(taken.exceljs)];
      const mb = Math.round(statSync(path).size / 1024 / 1024);
      rmSync(path);
      const many = join(folder, `${strings}-many.xlsx`);
      // A process of its own writes the large one, so that its texts are gone afterwards.
      const written = spawnSync(process.execPath, [self, '--write', many, String(ROWS * MANY), strings]);
      if (written.status !== 0) throw new Error(`the large workbook was not written: ${written.stderr}`);
      const large = figure('ours', many, ROWS * MANY);
      rmSync(many);
      results.push({
        strings,
        mb,
        ours: a,
        exceljs: b,
        ratio: Number((a.rate / b.rate).toFixed(1)),
        cpuRatio: Number((a.perCpu / b.perCpu).toFixed(1)),
        many: { rows: ROWS * MANY, rate: Math.round(large.rate), peak: Math.round(large.peak) },
      });
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const load = loadavg().map((value) => Number(value.toFixed(1)));
  console.info(JSON.stringify({ rows: ROWS, rounds: ROUNDS, cores: availableParallelism(), load, results }));
  if (process.argv.includes('--json')) return;
  console.table(
    results.map(({ strings, mb, ours: a, exceljs: b, ratio, cpuRatio, many }) => ({
      strings,
      'file MB': mb,
      'ours rows/s': a.rate,
      'exceljs rows/s': b.rate,
      ratio,
      'ratio by CPU time': cpuRatio,
      'ours MB': a.peak,
      'exceljs MB': b.peak,
      [`ours MB, ${many.rows.toLocaleString('en-US')} rows`]: many.peak,
    })),
  );
}

const [command, ...rest] = process.argv.slice(2);
if (command === '--measure') await measure(rest);
else if (command === '--write') await writeBook(rest[0], Number(rest[1]), rest[2] === 'inline');
else await compare();
