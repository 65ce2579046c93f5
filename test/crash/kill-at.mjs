import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

/**
 * Loaded before a process (`NODE_OPTIONS=--import`). `KILL_AT=<milestone>:<n>` ends it without a word at the n-th time it
 * comes there; `MILESTONES_TO=<file>` notes every milestone it reaches, one a line. Milestones: src/trace/milestones.ts.
 */
const [name, nth] = (process.env['KILL_AT'] ?? '').split(':');
const noted = process.env['MILESTONES_TO'];
let left = Number(nth ?? 0);

if (isMainThread && (noted !== undefined || left > 0)) {
  subscribe('rowferry:milestone', (message) => {
    if (noted !== undefined) appendFileSync(noted, `${message.name}\n`);
    if (message.name !== name || --left !== 0) return;
    process.kill(process.pid, 'SIGKILL');
    // The signal ends the process at once; should it take an instant, nothing else is done in it.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });
}
