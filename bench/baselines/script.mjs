/**
 * What a competent engineer writes in an afternoon: csv-parse, zod, undici `request`, and a limit of requests in flight.
 *
 *   node bench/baselines/script.mjs post FILE URL IN_FLIGHT       every valid row becomes a POST; prints {"posted": n, "bad": n}
 *   node bench/baselines/script.mjs plain FILE URL IN_FLIGHT      the same without zod: every row as it stands
 *   node bench/baselines/script.mjs check FILE                    validates only; prints {"good": n, "bad": n}
 *
 * Bad rows go to FILE.rejected.csv with all their faults. Nothing is looked up first, nothing is retried, nothing resumed.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { parse } from 'csv-parse';
import { Agent, request } from 'undici';
import { COLUMNS } from '../measure/sheet.mjs';

const [mode, file, url, inFlight = '32'] = process.argv.slice(2);
const most = Number(inFlight);
const fields = Object.fromEntries(COLUMNS.map(({ heading, field }) => [heading, field]));
// Loaded where it is used, as zod takes a while.
const { assetSchema } = mode === 'plain' ? {} : await import('./schema.mjs');
const agent = mode !== 'check' ? new Agent({ connections: most, pipelining: 1 }) : undefined;
const rejected = createWriteStream(`${file}.rejected.csv`);
let good = 0;
let bad = 0;

async function post(asset) {
  const response = await request(`${url}/api/v2/asset?company=1`, {
    method: 'POST',
    dispatcher: agent,
    headers: { 'content-type': 'application/json', authorization: 'Bearer bench' },
    body: JSON.stringify({ company: 1, ...asset }),
  });
  if (response.statusCode >= 300) throw new Error(`${response.statusCode} ${await response.body.text()}`);
  const text = await response.body.text();
  if (text !== '') JSON.parse(text);
}

const running = new Set();
for await (const record of createReadStream(file).pipe(parse({ columns: true, bom: true }))) {
  const row = {};
  for (const heading in record) if (record[heading] !== '') row[fields[heading]] = record[heading].trim();
  const checked = assetSchema?.safeParse(row) ?? { success: true, data: row };
  if (!checked.success) {
    bad++;
    const faults = checked.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
    rejected.write(`${row.serial_number},"${faults.replaceAll('"', '""')}"\n`);
    continue;
  }
  good++;
  if (mode === 'check') continue;
  // As p-limit does it: a promise a row, and no more than so many that are not settled.
  const sent = post(checked.data).then(() => running.delete(sent));
  running.add(sent);
  if (running.size >= most) await Promise.race(running);
}
await Promise.all(running);
rejected.end();
await finished(rejected);
await agent?.close();
console.info(JSON.stringify({ good, bad }));
