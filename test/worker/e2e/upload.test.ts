import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterEach, expect, it } from 'vitest';
import type { Table, Uploaded } from '../../../src/api/schema.js';
import { socketAddress } from '../../../src/api/socket.js';
import { availableStores } from '../../support/servers.js';
import { type Crew, openCrew } from '../../support/worker.js';

let crew: Crew;
afterEach(() => crew?.close());

const ROWS = 1_000_000;

/** 1,000,000 rows of some 200 bytes. */
function* sheet(): Generator<string> {
  const note = 'what somebody wrote down about it, '.repeat(5);
  yield 'Serial number,Item Name,Purchase Cost,Notes\n';
  for (let at = 0; at < ROWS; at += 1_000) {
    const lines = Array.from(
      { length: 1_000 },
      (_, i) => `SN-${at + i},"ThinkPad T14, ${(at + i) % 97}",${i}.50,${note}${i}\n`,
    );
    yield lines.join('');
  }
}

/** Peak of the memory of a process since `forget`, in MB. */
const memory = (pid: number) => ({
  forget: () => writeFile(`/proc/${pid}/clear_refs`, '5'),
  peak: async () => Number(/^VmHWM:\s+(\d+)/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024,
});

it.runIf(existsSync('/proc/self/clear_refs'))(
  'a file of 200 MB with a million rows is taken, and looked at, within the memory that the worker has anyway',
  async () => {
    const [embedded] = await availableStores();
    crew = await openCrew({ server: await embedded!.start(), env: { ROWFERRY_MAX_UPLOAD: '300 MB' } });
    const worker = await crew.worker('one');
    const socketPath = await socketAddress(crew.home('one'));
    const ask = async <T>(method: string, path: string, body: Readable | string = ''): Promise<T> => {
      const headers = typeof body === 'string' && body !== '' ? { 'content-type': 'application/json' } : {};
      const sent = request({ socketPath, method, path: `/api/v1${path}`, headers });
      const answer = new Promise<T>((resolve, reject) => {
        sent.on('error', reject);
        sent.on('response', async (response) =>
          resolve(JSON.parse((await response.setEncoding('utf8').toArray()).join('')) as T),
        );
      });
      await pipeline(typeof body === 'string' ? Readable.from([body]) : body, sent);
      return answer;
    };
    const { forget, peak } = memory(worker.child.pid ?? 0);
    await forget();
    const before = await peak();
    const file = await ask<Uploaded>('POST', '/files?name=many.csv', Readable.from(sheet()));
    const taken = await peak();
    expect(file.bytes).toBeGreaterThan(180_000_000);
    const table = await ask<Table>('POST', '/tables', JSON.stringify({ file: file.id }));
    expect([table.first.length, table.headings]).toEqual([
      50,
      ['Serial number', 'Item Name', 'Purchase Cost', 'Notes'],
    ]);
    const shown = await peak();
    expect(taken - before).toBeLessThan(100);
    expect(shown - before).toBeLessThan(150);
  },
  400_000,
);
