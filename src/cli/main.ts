#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8';
import { EXIT } from '../model/error.js';
import { makePrivate } from '../runs/run/layout.js';
import { presentFailure } from './failure.js';
import { processIo } from './io.js';
import { openCli, runCli } from './program.js';

makePrivate();

// Where a machine has much memory, V8 lets garbage lie: twice what is in use and more. At this growth a run needs a third less
// memory for at most a tenth more of its own time (bench/cases/memory.mjs, import-0ms.mjs).
setFlagsFromString('--heap-growing-percent=70');

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

const code = await runCli(process.argv.slice(2), cli);
// What was printed reaches a slow reader before the process ends; idle connections do not keep it alive.
await new Promise<void>((done) => {
  process.stdout.write('', () => process.stderr.write('', () => done()));
});
process.exit(code);
