import { mkdir, rename } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import type { NodeFS } from '@electric-sql/pglite/nodefs';

/**
 * The folder as PGlite sees it. It sets the rights of every file that it makes, past the umask; here they end at this user.
 * Uses nothing but what it is given: its text also runs in a thread.
 */
export const privateFs = (Nodefs: typeof NodeFS, folder: string): NodeFS => {
  const fs = new Nodefs(folder);
  const init = fs.init.bind(fs);
  fs.init = async (pg, options) => {
    const { emscriptenOpts } = await init(pg, options);
    const close = ({
      NODEFS,
    }: {
      NODEFS?: { node_ops: { setattr(node: unknown, attr: { mode?: number }): void } };
    }) => {
      const operations = NODEFS?.node_ops;
      if (!operations) return;
      const { setattr } = operations;
      operations.setattr = (node, attr) =>
        setattr(node, attr.mode == null ? attr : { ...attr, mode: attr.mode & ~0o077 });
    };
    const before = [emscriptenOpts.preRun ?? []].flat();
    return { emscriptenOpts: { ...emscriptenOpts, preRun: [...before, close as (typeof before)[number]] } };
  };
  return fs;
};

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
    const { NodeFS } = require(workerData.nodefs);
    PGlite.create({ fs: (${privateFs})(NodeFS, workerData.folder), onStdout: () => true, onStderr: () => true })
      .then((pg) => pg.close())
      .then(() => parentPort.postMessage({}), (error) => parentPort.postMessage({ error: String(error?.message ?? error) }));
  `;
  const { resolve: path } = createRequire(import.meta.url);
  const workerData = {
    module: path('@electric-sql/pglite'),
    nodefs: path('@electric-sql/pglite/nodefs'),
    folder: fresh,
  };
  const thread = new Worker(work, { eval: true, execArgv: [], workerData });
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
