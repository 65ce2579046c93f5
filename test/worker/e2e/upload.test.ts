import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterEach, expect, it } from 'vitest';
import type { Rows, Run, Table, Uploaded } from '../../../src/api/schema.js';
import { socketAddress } from '../../../src/api/socket.js';
import { availableStores } from '../../support/servers.js';
import { until } from '../../support/until.js';
import { type Crew, openCrew } from '../../support/worker.js';

let crew: Crew;
afterEach(() => crew?.close());

const ROWS = 1_000_000;

/** 1,000,000 rows of some 200 bytes. One in a hundred has a cell too many. */
function* sheet(): Generator<string> {
  const note = 'what somebody wrote down about it; '.repeat(5);
  yield 'Serial number,Item Name,Purchase Cost,Notes\n';
  for (let at = 0; at < ROWS; at += 1_000) {
    const lines = Array.from(
      { length: 1_000 },
      (_, i) => `SN-${at + i},"ThinkPad T14, ${(at + i) % 97}",${i}.50,${note}${i}${i % 100 === 0 ? ',more' : ''}\n`,
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
  'a file of 200 MB with a million rows is taken, looked at, and scrolled through as a run has it, within the memory that the worker has anyway',
  async () => {
    const [embedded] = await availableStores();
    crew = await openCrew({ server: await embedded!.start(), env: { ROWFERRY_MAX_UPLOAD: '300 MB' } });
    const worker = await crew.worker('one');
    const socketPath = await socketAddress(crew.home('one'));
    const ask = async <T>(method: string, path: string, body: Readable | string = ''): Promise<T> => {
      const headers = typeof body === 'string' && body !== '' ? { 'content-type': 'application/json' } : {};
      // Each on a connection of its own: one that was kept may be closed by the other end just as it is used again.
      const sent = request({ socketPath, method, path: `/api/v1${path}`, headers, agent: false });
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

    // Its plan is stopped, so that it is over once every row has been read and checked.
    const job = {
      ...{ kind: 'import', resource: 'asset', match: { key: 'serial_number' }, brakes: { min_rows: 2 * ROWS } },
      columns: { 'Serial number': 'serial_number', 'Item Name': 'name', 'Purchase Cost': 'original_cost', Notes: null },
    };
    const order = { kind: 'import', job, file: file.id, options: { dry_run: true } };
    const { id } = await ask<Run>('POST', '/runs', JSON.stringify(order));
    const rows = (offset: number) => ask<Rows>('GET', `/runs/${id}/rows?offset=${offset}&limit=100&cells=true`);
    // Scrolled through while it is at work.
    await until(
      async () => {
        const { total = 0 } = await rows(0);
        await rows(Math.max(0, total - 100));
        return (await ask<Run>('GET', `/runs/${id}`)).status === 'braked';
      },
      { withinMs: 600_000, what: 'the end of the run', restMs: 3_000 },
    );
    await forget();
    const ended = await peak();
    // A page ends before the first row whose cells were not read yet.
    await until(async () => (await rows(ROWS - 1)).rows.length === 1, {
      withinMs: 60_000,
      what: 'the last row',
      restMs: 500,
    });
    for (const offset of [0, 123_456, 999_900]) {
      const { rows: found, total } = await rows(offset);
      expect([total, found.length]).toEqual([ROWS, 100]);
      expect(found.map(({ row, cells }) => `${row} ${cells?.[0]}`)[0]).toBe(`${offset + 2} SN-${offset}`);
    }
    expect((await peak()) - ended).toBeLessThan(100);
  },
  800_000,
);
