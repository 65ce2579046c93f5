/**
 * zod's safeParse against our compiled columns, on the same rows in memory, in one process; both take turns.
 *
 *   node bench/baselines/validate.mjs OURS|ZOD BAD(0|1) ROWS DIST
 *
 * Ours takes cells to checked values (conversion of dates and amounts included); zod takes records of strings to its output.
 * Prints {"rate": rows a second, "faults": n}.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { COLUMNS, cellsOf, jobText } from '../measure/sheet.mjs';
import { assetSchema } from './schema.mjs';

const [who, bad, rows, dist] = process.argv.slice(2);
const SET = 2_000;
const cells = Array.from({ length: SET }, (_, row) => cellsOf(row, { bad: bad === '1' }));

async function ours() {
  const load = (name) => import(pathToFileURL(join(dist, name)).href);
  const [{ compileMapping }, { resourceSpec }, { inlineJob }] = await Promise.all(
    ['pipeline/map/map.js', 'resources/registry.js', 'runs/job-file.js'].map(load),
  );
  const sheet = cells.map((row, i) => ({ row: i + 2, cells: row }));
  const meta = {
    format: 'csv',
    gzip: false,
    headings: COLUMNS.map(({ heading }) => heading),
    evidence: [],
    warnings: [],
  };
  const { job } = inlineJob('import', JSON.parse(jobText()));
  const catalogue = { templates: [], forms: [] };
  const mapping = compileMapping({
    job,
    meta,
    spec: resourceSpec('asset'),
    catalogue,
    samples: [{ rows: sheet, delimiter: null }],
  });
  return (i) => mapping.mapRow(sheet[i]).issues.length;
}

function zod() {
  const records = cells.map((row) => Object.fromEntries(COLUMNS.map(({ field }, i) => [field, row[i]])));
  return (i) => {
    const checked = assetSchema.safeParse(records[i]);
    return checked.success ? 0 : checked.error.issues.length;
  };
}

const check = who === 'ours' ? await ours() : zod();
for (let i = 0; i < 10_000; i++) check(i % SET);
let faults = 0;
const from = performance.now();
for (let i = 0; i < Number(rows); i++) faults += check(i % SET);
const rate = Number(rows) / ((performance.now() - from) / 1000);
if (faults !== (bad === '1' ? 3 * Number(rows) : 0)) throw new Error(`${who} found ${faults} faults`);
console.info(JSON.stringify({ rate: Math.round(rate), faults }));
