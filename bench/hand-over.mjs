/**
 * What it costs to hand rows over from a second thread, without any reading: rows of 25 cells as lists of texts, and as one
 * text with the lengths of its cells. What is left of a core is what a reader in another thread would gain.
 *
 *   node bench/hand-over.mjs
 *
 * Prints for each form the rows a second, and the microseconds a row of the thread that takes them and of both.
 */
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

const ROWS = 400_000;
const BATCH = 500;
const CELLS = 25;

if (isMainThread) for (const form of ['lists', 'one text']) console.log(await measured(form));
else await send(workerData);

async function measured(form) {
  const began = performance.now();
  const cpu = process.cpuUsage();
  const loop = performance.eventLoopUtilization();
  let rows = 0;
  await new Promise((done, fail) => {
    const thread = new Worker(new URL(import.meta.url), { workerData: form });
    thread.on('error', fail);
    thread.on('message', (batch) => {
      if (batch === null) return done(thread.terminate());
      for (const row of form === 'lists' ? batch : rowsOf(batch)) rows += row.length / CELLS;
    });
  });
  const { user, system } = process.cpuUsage(cpu);
  const { active } = performance.eventLoopUtilization(loop);
  if (rows !== ROWS) throw new Error(`${rows} rows came instead of ${ROWS}`);
  const perSecond = Math.round((rows / (performance.now() - began)) * 1_000);
  return `${form}: ${perSecond} rows/s, ${((active * 1_000) / rows).toFixed(2)} µs a row here, ${((user + system) / rows).toFixed(2)} in both`;
}

function* rowsOf({ text, lengths }) {
  let at = 0;
  for (let first = 0; first < lengths.length; first += CELLS) {
    const row = new Array(CELLS);
    for (let cell = 0; cell < CELLS; cell++) {
      const end = at + lengths[first + cell];
      row[cell] = text.slice(at, end);
      at = end;
    }
    yield row;
  }
}

async function send(form) {
  const kinds = (n) => [`Notebook ${n}`, `SN-${100_000 + n}`, `2026-01-0${n % 9}`, `${n * 13.5}`, `Müller & Co ${n}`];
  const cells = Array.from({ length: 977 }, (_, n) => kinds(n)[n % 5]);
  let next = 0;
  for (let batch = 0; batch < ROWS / BATCH; batch++) {
    const rows = Array.from({ length: BATCH }, () => Array.from({ length: CELLS }, () => cells[next++ % cells.length]));
    if (form === 'lists') parentPort.postMessage(rows);
    else {
      const lengths = Uint16Array.from(rows.flat(), (cell) => cell.length);
      parentPort.postMessage({ text: rows.map((row) => row.join('')).join(''), lengths }, [lengths.buffer]);
    }
    // Not farther ahead than the other side can follow.
    if (batch % 20 === 0) await new Promise((go) => setImmediate(go));
  }
  parentPort.postMessage(null);
}
