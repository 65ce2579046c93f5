#!/usr/bin/env node
import nodeModule from 'node:module';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';

// Where a machine has much memory, V8 lets garbage lie: twice what is in use and more. At this growth a run needs a third less
// memory for at most a tenth more of its own time (bench/cases/memory.mjs, import-0ms.mjs).
setFlagsFromString('--heap-growing-percent=70');
// Several threads that collect young garbage together cost more processor time than one, and a run ends no sooner for them.
setFlagsFromString('--no-parallel-scavenge');
// HTTP answers are parsed by WebAssembly. V8 would compile it anew with its optimiser after two answers: that costs a fifth of
// the processor time of a small import and 20 MB, and 20,000 answers are parsed no faster for it.
setFlagsFromString('--no-wasm-tier-up');
setFlagsFromString('--no-wasm-dynamic-tiering');

// From Node.js 22.1 on: compiled code is kept beside the bundle where that may be written, and is no fault where not.
const { enableCompileCache } = nodeModule as { enableCompileCache?: (folder: string) => unknown };
enableCompileCache?.(fileURLToPath(new URL('../cache', import.meta.url)));

// After that, so that it is kept as well.
const [{ EXIT }, { makePrivate }, { presentFailure, processIo, reportInterrupted }, { openCli, runCli, wantsJson }] =
  await Promise.all([
    import('../model/error.js'),
    import('../runs/run/layout.js'),
    import('./io.js'),
    import('./program.js'),
  ]);

makePrivate();

// A reader that has seen enough (`rowferry runs list | head -1`) closes the pipe: no fault of ours.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

const cli = openCli(processIo());
process.on('uncaughtException', (error) => {
  presentFailure(error, cli, { json: false });
  process.exit(EXIT.failed);
});

const words = process.argv.slice(2);
// Being told to end is how a worker ends, also while it starts.
const isWorker = words[0] === 'worker';
for (const [signal, code] of [
  ['SIGINT', isWorker ? EXIT.ok : EXIT.sigint],
  ['SIGTERM', isWorker ? EXIT.ok : EXIT.sigterm],
] as const) {
  process.on(signal, () => {
    // Commands that have something to bring to an end listen, too.
    if (process.listenerCount(signal) === 1)
      process.exit(reportInterrupted(cli, 'Interrupted.', code, wantsJson(words)));
  });
}

const code = await runCli(words, cli);
// What was printed reaches a slow reader before the process ends; idle connections do not keep it alive.
await new Promise<void>((done) => {
  process.stdout.write('', () => process.stderr.write('', () => done()));
});
process.exit(code);
