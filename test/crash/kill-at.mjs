import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

/**
 * Loaded before a process (`NODE_OPTIONS=--import`). `KILL_AT=<milestone>:<n>` ends it without a word at the n-th time it
 * comes there; `KILL_AT_FROM=<file>` does so from when there is a file that says as much; `MILESTONES_TO=<file>` notes every
 * milestone it reaches, one a line. Milestones: src/trace/milestones.ts.
 */
const { KILL_AT, KILL_AT_FROM, MILESTONES_TO: noted } = process.env;
let [name, left] = momentOf(KILL_AT ?? '');

function momentOf(text) {
  const [milestone, nth] = text.split(':');
  return [milestone, Number(nth ?? 0)];
}

if (isMainThread && (noted !== undefined || left > 0 || KILL_AT_FROM !== undefined)) {
  subscribe('rowferry:milestone', (message) => {
    if (noted !== undefined) appendFileSync(noted, `${message.name}\n`);
    if (left === 0 && KILL_AT_FROM !== undefined && existsSync(KILL_AT_FROM))
      [name, left] = momentOf(readFileSync(KILL_AT_FROM, 'utf8'));
    if (message.name !== name || --left !== 0) return;
    process.kill(process.pid, 'SIGKILL');
    // The signal ends the process at once; should it take an instant, nothing else is done in it.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });
}
