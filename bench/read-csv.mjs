/**
 * Rows a second and peak memory of our CSV reader against csv-parse with objects, on two tables of 25 columns: an asset
 * sheet with quotes, line breaks, accents, addresses and notes, and one of short codes.
 *
 *   npm run build && node bench/read-csv.mjs [--quick] [--json]
 *
 * `openSource` is the whole path of users: what the file is, the look through it to its end, and all rows. `scanner` is
 * the record feed alone. csv-parse stands in three forms: `for await` over the stream, its `data` events, and `read()`
 * on `readable`; the goal counts against the fastest. Each figure is a process of its own; all take turns; medians.
 * CPU time, of all threads, is what a busy machine distorts least.
 * The goal is 3.7 times the rows, 100 MB at most, and no growth from 100,000 to 1,000,000 rows.
 * BENCH_DIST names another build, BENCH_ROWS (a list with commas) and BENCH_ROUNDS other sizes.
 */
import { spawnSync } from 'node:child_process';
import { createReadStream, createWriteStream, mkdtempSync, rmSync, statSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { finished } from 'node:stream/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';

const self = fileURLToPath(import.meta.url);
const quick = process.argv.includes('--quick');
const SIZES = (process.env['BENCH_ROWS'] ?? (quick ? '20000' : '100000,1000000')).split(',').map(Number);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? (quick ? 1 : 5));
const LARGE = 500_000;

const two = (n) => String(n).padStart(2, '0');
const STAGES = ['Deployed', 'Stock', 'Retired'];
const PLACES = ['Zürich', 'Köln', 'São Paulo', 'Austin', 'Wien'];

const NOTES =
  'Returned by the previous owner with charger and docking station; display was replaced under warranty last spring';
const ADDRESSES = ['Hauptstraße 12, 80331 München', '45 Rue de la Paix, 75002 Paris', '1200 Market Street, Austin TX'];

/** Lines as a spreadsheet program writes them: quotes only where they are needed. */
const TABLES = {
  // 25 columns of an asset sheet: codes, names, dates, money, an address, notes.
  assets(row) {
    const day = (shift) => `20${10 + ((row + shift) % 15)}-${two(1 + ((row + shift) % 12))}-${two(1 + (row % 28))}`;
    return [
      `SN-${100_000 + row}`,
      row % 10 === 0 ? `"Latitude ${row}, 14"" screen, café"` : `Latitude ${5_000 + (row % 900)} laptop`,
      `owner.${row % 5_000}@example.com`,
      STAGES[row % 3],
      day(0),
      day(3),
      `${row % 5_000}.${two(row % 100)}`,
      'USD',
      PLACES[row % 5],
      `"${ADDRESSES[row % 3]}"`,
      row % 20 === 0 ? `"${NOTES};\r\nsee ticket ${row}"` : `${NOTES} (${row})`,
      'Laptop',
      'Workplace computers',
      `PO-${20_000 + (row % 700)}`,
      'Dell Technologies Ireland',
      'Three years on site',
      day(7),
      row % 4 === 0 ? '' : 'yes',
      `10.${row % 250}.${row % 199}.17`,
      `Building ${row % 40} floor ${row % 9}`,
      'Cost centre 4711',
      `${row % 100}`,
      'Information technology operations',
      `https://assets.example.com/items/${row}`,
      '',
    ];
  },
  // 25 short cells and hardly a quote: the most cells for the fewest bytes.
  codes(row) {
    return Array.from({ length: 25 }, (_, i) =>
      i % 5 === 0
        ? `SN-${100_000 + row}-${i}-0012345`
        : i % 5 === 3
          ? `2024-01-${two(1 + (row % 28))}`
          : `${row % 5_000}.${i}`,
    );
  },
};

function line(table, row) {
  return `${TABLES[table](row).join(',')}\r\n`;
}

async function writeTable(path, table, rows) {
  const out = createWriteStream(path);
  out.write(`${Array.from({ length: 25 }, (_, i) => `Column ${i + 1}`).join(',')}\r\n`);
  for (let from = 0; from < rows; from += 2_000) {
    let text = '';
    for (let row = from; row < Math.min(from + 2_000, rows); row++) text += line(table, row);
    if (!out.write(text)) await new Promise((done) => out.once('drain', done));
  }
  out.end();
  await finished(out);
}

async function ours(name) {
  const dist = resolve(process.env['BENCH_DIST'] ?? fileURLToPath(new URL('../dist', import.meta.url)));
  return import(pathToFileURL(join(dist, 'files', name)).href);
}

/** Each loads what it needs, then gives what reads a file to its end, looks at a cell of every row and counts the rows. */
const READERS = {
  openSource: async () => {
    const { openSource } = await ours('open.js');
    return async (path) => {
      let rows = 0;
      const source = await openSource(path);
      for await (const batch of source.rows()) for (const { cells } of batch) if (cells[0].length > 0) rows++;
      return rows;
    };
  },
  scanner: async () => {
    const [{ createRecordFeed }, { withLimits }, { fileBytes }] = await Promise.all(
      ['csv/scan.js', 'limits.js', 'bytes.js'].map(ours),
    );
    return async (path) => {
      const limits = withLimits();
      const feed = createRecordFeed({ path, delimiter: ',', limits, collect: true, whole: true });
      let rows = -1;
      const drain = () => {
        while (feed.next()) if (feed.record.cells[0].length > 0) rows++;
      };
      for await (const chunk of fileBytes(path, false, limits)) {
        feed.push(chunk);
        drain();
      }
      feed.finish();
      drain();
      return rows;
    };
  },
  'csv-parse, for await': csvParse(async (parser, see) => {
    for await (const record of parser) see(record);
  }),
  'csv-parse, data': csvParse((parser, see) => {
    parser.on('data', see);
    return finished(parser);
  }),
  'csv-parse, readable': csvParse((parser, see) => {
    parser.on('readable', () => {
      for (let record = parser.read(); record !== null; record = parser.read()) see(record);
    });
    return finished(parser);
  }),
};

function csvParse(drain) {
  return async () => {
    const { parse } = await import('csv-parse');
    return async (path) => {
      let rows = 0;
      await drain(createReadStream(path).pipe(parse({ columns: true, bom: true })), (record) => {
        if (record['Column 1'].length > 0) rows++;
      });
      return rows;
    };
  };
}

/** One figure, in this process: what it prints is one line of JSON. */
async function measure([name, path, expected]) {
  const read = await READERS[name]();
  const from = performance.now();
  const before = process.cpuUsage();
  const rows = await read(path);
  const { user, system } = process.cpuUsage(before);
  const seconds = (performance.now() - from) / 1000;
  if (rows !== Number(expected)) throw new Error(`${name} read ${rows} rows of ${expected}`);
  console.info(
    JSON.stringify({ rate: rows / seconds, cpu: (user + system) / rows, peak: process.resourceUsage().maxRSS / 1024 }),
  );
}

function figure(name, path, rows) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [self, '--measure', name, path, String(rows)], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${name} ended with ${status}: ${stderr}`);
  return JSON.parse(stdout);
}

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

async function compare() {
  const folder = mkdtempSync(join(tmpdir(), 'rowferry-bench-'));
  const results = [];
  try {
    for (const [table, rows] of Object.keys(TABLES).flatMap((name) => SIZES.map((size) => [name, size]))) {
      const path = join(folder, `${table}-${rows}.csv`);
      await writeTable(path, table, rows);
      const taken = Object.fromEntries(Object.keys(READERS).map((name) => [name, []]));
      // A million rows take csv-parse the better part of a minute: there it has one round, ours three.
      const rounds = rows > LARGE ? Math.min(3, ROUNDS) : ROUNDS;
      for (let round = 0; round < rounds; round++) {
        for (const name of Object.keys(taken)) {
          if (rows > LARGE && name.startsWith('csv-parse') && (round > 0 || name !== 'csv-parse, data')) continue;
          taken[name].push(figure(name, path, rows));
        }
      }
      const readers = Object.entries(taken).flatMap(([name, all]) =>
        all.length === 0
          ? []
          : [
              {
                name,
                rate: Math.round(median(all.map((one) => one.rate))),
                cpu: Number(median(all.map((one) => one.cpu)).toFixed(2)),
                peak: Math.round(median(all.map((one) => one.peak))),
                rounds: all.length,
              },
            ],
      );
      const theirs = readers.filter(({ name }) => name.startsWith('csv-parse'));
      const baseline = Math.max(...theirs.map(({ rate }) => rate));
      const cheapest = Math.min(...theirs.map(({ cpu }) => cpu));
      const megabytes = Math.round(statSync(path).size / 1024 / 1024);
      results.push({
        table,
        rows,
        megabytes,
        readers: readers.map((reader) => ({
          ...reader,
          ratio: Number((reader.rate / baseline).toFixed(1)),
          cpuRatio: Number((cheapest / reader.cpu).toFixed(1)),
        })),
      });
      rmSync(path);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const load = loadavg().map((value) => Number(value.toFixed(1)));
  console.info(JSON.stringify({ rounds: ROUNDS, cores: availableParallelism(), load, results }));
  if (process.argv.includes('--json')) return;
  for (const { table, rows, megabytes, readers } of results) {
    console.info(`${table}: ${rows.toLocaleString('en-US')} rows, ${megabytes} MB`);
    console.table(
      readers.map(({ name, rate, cpu, ratio, cpuRatio, peak, rounds }) => ({
        reader: name,
        'rows/s': rate,
        'times the fastest csv-parse': ratio,
        'CPU µs a row': cpu,
        'by CPU': cpuRatio,
        'peak MB': peak,
        rounds,
      })),
    );
  }
}

const at = process.argv.indexOf('--measure');
if (at < 0) await compare();
else await measure(process.argv.slice(at + 1));
