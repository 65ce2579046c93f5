/**
 * bench/results/latest.json as a Markdown table; with a file, between its marks.
 *
 *   node bench/table.mjs [FILE]           the marks are <!-- bench --> and <!-- /bench -->, each on a line of its own
 *
 * BENCH_RESULTS names another latest.json.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { markdownTable } from './measure/report.mjs';

const [BEGIN, END] = ['<!-- bench -->', '<!-- /bench -->'];
const results = process.env['BENCH_RESULTS'] ?? fileURLToPath(new URL('./results/latest.json', import.meta.url));
const table = markdownTable(JSON.parse(readFileSync(results, 'utf8')));
const [file] = process.argv.slice(2);
if (file === undefined) console.info(table);
else {
  const text = readFileSync(file, 'utf8');
  const [from, to] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`${file} lacks the lines ${BEGIN} and ${END}`);
  writeFileSync(file, `${text.slice(0, from + BEGIN.length)}\n\n${table}\n\n${text.slice(to)}`);
}
