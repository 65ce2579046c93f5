import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Carrier } from '../../src/runs/run/context.js';
import { runFolder } from '../../src/runs/run/layout.js';
import { type Past, readPast } from '../../src/runs/run/run.js';
import { RunStore } from '../../src/store/run-store.js';
import { type Desk, openDesk } from '../support/desk.js';
import { importOf } from '../support/jobs.js';

let desk: Desk;

const JOB = importOf(
  'asset',
  { key: 'serial_number', unique_field: 'serial_number' },
  { Serial: 'serial_number', Name: 'name' },
  { constants: { 'category.name': 'id:3' } },
);

function past(path: string): Past {
  const store = new RunStore(path);
  try {
    return readPast(store, store.rows);
  } finally {
    store.close();
  }
}

/** The store as a process leaves it that is killed behind all its outcomes. */
function killedAtEnd(path: string): void {
  const store = new RunStore(path);
  store.prepare('update process set ended = 0').run();
  store.prepare(`delete from kept where name = 'finished'`).run();
  store.close();
}

describe('requests of a process that was killed', () => {
  it('are counted with the outcomes, and the resumed run says that they are at least so many', async () => {
    desk = await openDesk({ responses: 'full' });
    const rows = Array.from({ length: 60 }, (_, i) => [`N-${i}`, 'Box']);
    const first = await desk.import(await desk.file('a.csv', [['Serial', 'Name'], ...rows]), JOB);
    const folder = runFolder(desk.home, first.summary.run);
    killedAtEnd(folder.store);
    const left = past(folder.store);
    expect([left.killed, left.requests.writes, left.outcomes.size]).toEqual([true, 60, 60]);
    await rm(join(first.reportDir, 'summary.json'));
    const resumed = await desk.resume();
    expect(resumed.summary.requests.writes).toBe(60);
    expect(resumed.commits).toBe(0);
    expect(resumed.summary.warnings.join()).toContain('the counts of requests are at least what was sent');
  });

  it('are at least so many, too, where another worker was lost that had some of them', async () => {
    desk = await openDesk();
    const carrier: Carrier = {
      ...{ parts: 0, lost: true, sent: { reads: 0, writes: 0, retries: 0 } },
      ...{ carry: () => [], cancel: () => undefined, quiesce: async () => undefined, close: async () => undefined },
    };
    const { summary } = await desk.import(await desk.file('a.csv', 'Serial,Name\nN-1,Box\n'), JOB, {
      worker: { carrier: async () => carrier, exclusive: async () => undefined },
    });
    expect(summary.warnings.join()).toContain('of this run was cut off: the counts of requests are at least');
  });

  it('are on record with the outcomes that they brought, whenever the process is killed', async () => {
    desk = await openDesk({ responses: 'full' });
    // More than are about to be sent at once.
    const ROWS = 1100;
    const rows = Array.from({ length: ROWS }, (_, i) => [`N-${i}`, 'Box']);
    const file = await desk.file('a.csv', [['Serial', 'Name'], ...rows]);
    const seen: (readonly [writes: number, outcomes: number])[] = [];
    const look = (message: unknown) => {
      if ((message as { name: string }).name !== 'lines-durable' || !folder) return;
      const { requests, outcomes } = past(folder.store);
      seen.push([requests.writes, outcomes.size]);
    };
    let folder: ReturnType<typeof runFolder> | undefined;
    subscribe('rowferry:milestone', look);
    try {
      await desk.import(file, JOB, {
        onProgress({ run }) {
          folder ??= runFolder(desk.home, run);
        },
      });
    } finally {
      unsubscribe('rowferry:milestone', look);
    }
    expect(seen.filter(([writes, outcomes]) => writes < outcomes)).toEqual([]);
    expect(seen.filter(([, outcomes]) => outcomes > 0 && outcomes < ROWS)).not.toEqual([]);
  });

  it('a run that ended in order is told from it', async () => {
    desk = await openDesk({ responses: 'full' });
    const file = await desk.file('a.csv', 'Serial,Name\r\nN-1,Box');
    const first = await desk.import(file, JOB);
    const folder = runFolder(desk.home, first.summary.run);
    expect(first.summary.warnings.join()).not.toContain('at least');
    const left = past(folder.store);
    expect([left.killed, left.requests.writes]).toEqual([false, 1]);
    expect(left.finished).toBeDefined();
  });
});
