/**
 * Rows of 25 texts to the bytes of a CSV file: ours against csv-stringify, both with the check for formulas.
 *
 *   npm run build && node bench/write-csv.mjs [ROUNDS]
 *
 * Both take turns in one process; prints rows a second of processor time, and the median of the ratios.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { stringify } from 'csv-stringify/sync';
import { DIST } from './measure/lab.mjs';
import { cellsOf } from './measure/sheet.mjs';

const { csvEncoder } = await import(pathToFileURL(join(DIST, 'files/csv/write.js')).href);
const [SET, TIMES] = [2_000, 25];
const rows = Array.from({ length: SET }, (_, row) => cellsOf(row));

function rate(write) {
  const began = process.cpuUsage();
  for (let i = 0; i < TIMES; i++) write();
  const { user, system } = process.cpuUsage(began);
  return (SET * TIMES * 1e6) / (user + system);
}

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

const encode = csvEncoder();
const contestants = [() => encode(rows), () => Buffer.from(stringify(rows, { escape_formulas: true }))];
contestants.forEach(rate);
const rounds = Array.from({ length: Number(process.argv[2] ?? 5) }, () => contestants.map(rate));
const [ours, theirs] = [0, 1].map((who) => Math.round(median(rounds.map((round) => round[who]))));
const ratio = median(rounds.map(([a, b]) => a / b)).toFixed(1);
console.info(`${ours} rows/s, csv-stringify ${theirs} rows/s, ${ratio} times`);
