/**
 * The process in which inputs are read; `supervise.ts` watches it.
 *
 *   node worker.mjs OPEN.js FOLDER SEED PORT
 *
 * OPEN.js is the compiled `files/open.js`. Messages in: `{ from, to, lanes }` reads inputs by number, so many at a time;
 * `{ file }` reads one file. Messages out: progress, faults, `{ done }`. Of inputs read one by one, the number of the one begun
 * last stands in FOLDER/current, because a process that hangs or dies sends nothing any more.
 */
import { openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { runnerImport } from 'vite';

const [openPath, folder, seed, port] = process.argv.slice(2);
const { openSource } = await import(pathToFileURL(openPath).href);
const load = async (name) => (await runnerImport(fileURLToPath(new URL(name, import.meta.url)))).module;
const { createMutator } = await load('./mutate.ts');
const { judge } = await load('./judge.ts');
const files = (await load('./memory-files.ts')).installMemoryFiles();
const inputOf = createMutator(Number(seed), Number(port));
const current = openSync(join(folder, 'current'), 'w');
const number = Buffer.alloc(8);
const BATCH = 100;
/** Of so many inputs one is a true file; the others are in memory. */
const TRUE_FILE = 25;
/** Milliseconds of processor time (on a busy machine the clock says nothing; what waits for ever, the watcher ends) and peak MB. */
const usage = () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  return { busy: (userCPUTime + systemCPUTime) / 1_000, peak: Math.round(maxRSS / 1024) };
};

/** Reads a batch, `lanes` files at a time: opening and closing them is mostly waiting. */
async function readBatch(from, to, lanes) {
  const counts = { read: 0, refused: 0, faults: 0 };
  const words = {};
  let slowest = { ms: 0, index: from };
  let largest = { mb: 0, index: from };
  let next = from;
  const lane = async (name) => {
    let before = usage();
    while (next < to) {
      const index = next++;
      number.writeDoubleLE(index);
      // Of several at a time nobody could say which was the cause: the watcher has them read one by one then.
      if (lanes === 1) writeSync(current, number, 0, 8, 0);
      const { bytes, from: source } = inputOf(index);
      const inMemory = index % TRUE_FILE !== 0;
      const path = join(folder, inMemory ? `${name}-in-memory` : name);
      if (inMemory) files.put(path, bytes);
      else writeFileSync(path, bytes);
      let verdict = await judge(openSource, path);
      if (inMemory && files.left(path) > 0) verdict = await leftOpen(path, verdict);
      const after = usage();
      const ms = after.busy - before.busy;
      if (ms > slowest.ms) slowest = { ms, index };
      const grown = after.peak - before.peak;
      if (grown > largest.mb) largest = { mb: grown, index };
      before = after;
      if (verdict.outcome === 'fault') {
        counts.faults++;
        process.send({ fault: { index, source, words: verdict.words } });
      } else {
        counts[verdict.outcome]++;
        words[verdict.words] = (words[verdict.words] ?? 0) + 1;
      }
    }
  };
  await Promise.all(Array.from({ length: lanes }, (_, i) => lane(`input${i}`)));
  process.send({ progress: { at: to, counts, words, slowest, largest, peakMb: usage().peak } });
}

/** What is closed in the same turn is closed. */
async function leftOpen(path, verdict) {
  await new Promise((resolve) => setImmediate(resolve));
  const left = files.left(path);
  return left > 0 ? { outcome: 'fault', words: `left its file open ${left} times: ${verdict.words}` } : verdict;
}

async function run(from, to, lanes) {
  for (let at = from; at < to; at += BATCH) await readBatch(at, Math.min(to, at + BATCH), lanes);
  process.send({ done: true });
}

process.on('message', async ({ from, to, lanes, file }) => {
  if (file !== undefined) process.send({ verdict: await judge(openSource, file) });
  else await run(from, to, lanes);
});
process.on('disconnect', () => process.exit(0));
process.on('uncaughtException', (error) => {
  process.send({ fault: { index: number.readDoubleLE(), source: '', words: `uncaught: ${error.stack}` } });
});
process.on('unhandledRejection', (error) => {
  process.send({ fault: { index: number.readDoubleLE(), source: '', words: `unhandled: ${error?.stack ?? error}` } });
});
process.send({ ready: true });
