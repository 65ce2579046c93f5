// A program that writes a file slowly: `node writer-process.mjs <options as JSON>`. Says when it begins and when it has ended.
import { appendFileSync, closeSync, openSync, writeSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const { path, chunks, pauseMs, keepOpen } = JSON.parse(process.argv[2]);
const handle = keepOpen ? openSync(path, 'w') : undefined;
for (let i = 0; i < chunks; i++) {
  if (i > 0) await pause(pauseMs);
  if (handle === undefined) appendFileSync(path, `line ${i}\n`);
  else writeSync(handle, `line ${i}\n`);
  process.stdout.write(`${i}\n`);
}
if (handle !== undefined) closeSync(handle);
process.stdout.write('end\n');
