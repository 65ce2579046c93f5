import { mkdir, rename } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';

/**
 * Makes the data folder of a queue, some 4 s of work. It is done in a thread, which gives its several hundred MB back,
 * and under another name: the folder is there complete or not at all.
 */
export async function initialise(folder: string): Promise<void> {
  const fresh = `${folder}.new`;
  // It holds the rows of queued jobs: nobody else's to read.
  await mkdir(fresh, { mode: 0o700 });
  // A text, because the sources are run uncompiled under test, and a thread could not load them.
  const work = `
    const { parentPort, workerData } = require('node:worker_threads');
    const { PGlite } = require(workerData.module);
    PGlite.create(workerData.folder, { onStdout: () => true, onStderr: () => true })
      .then((pg) => pg.close())
      .then(() => parentPort.postMessage({}), (error) => parentPort.postMessage({ error: String(error?.message ?? error) }));
  `;
  const module = createRequire(import.meta.url).resolve('@electric-sql/pglite');
  const thread = new Worker(work, { eval: true, execArgv: [], workerData: { module, folder: fresh } });
  try {
    await new Promise<void>((resolve, reject) => {
      thread.on('message', (answer: { error?: string }) => {
        if (answer.error === undefined) resolve();
        else reject(new Error(answer.error));
      });
      thread.on('error', reject);
      thread.on('exit', (code) => reject(new Error(`the thread that makes it ended with ${code}`)));
    });
  } finally {
    await thread.terminate();
  }
  await rename(fresh, folder);
}
