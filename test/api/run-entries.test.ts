import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { RunEntries, runOf } from '../../src/api/runs/entries.js';
import { noOutcomes } from '../../src/model/outcome.js';
import { until } from '../support/until.js';

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'rowferry-entries-'));
});
afterAll(() => rm(home, { recursive: true, force: true }));

const RUN = (hour: string) => `20261121T${hour}1502123Z-3f9a`;
const folder = (hour: string) => join(home, 'runs', RUN(hour));

async function begun(hour: string): Promise<void> {
  await mkdir(folder(hour), { recursive: true });
  await writeFile(
    join(folder(hour), 'run.json'),
    JSON.stringify({ kind: 'import', job: { name: 'assets' }, file: '/srv/in/assets.csv', reportDir: folder(hour) }),
  );
}
const ended = (hour: string, status: string) =>
  writeFile(
    join(folder(hour), 'summary.json'),
    JSON.stringify({
      run: RUN(hour),
      kind: 'import',
      job: 'assets',
      status,
      dry_run: false,
      source: { path: '/srv/in/assets.csv' },
      started_at: '2026-11-21T08:15:02.123Z',
      rows: { ...noOutcomes(), created: 3, invalid: 1, total: 4 },
    }),
  );

it('reads the runs of a data folder again only where something came or went', async () => {
  const entries = new RunEntries(home);
  expect(await entries.list()).toEqual([]);
  await begun('08');
  await begun('09');
  await ended('08', 'partial');
  await until(async () => (await entries.list()).length === 2);
  const [newest, oldest] = (await entries.list()).map(runOf);
  expect([newest, oldest]).toEqual([
    {
      id: RUN('09'),
      status: 'unfinished',
      kind: 'import',
      job: 'assets',
      file: 'assets.csv',
      dry_run: false,
      started_at: '2026-11-21T09:15:02.123Z',
      rows: null,
      needs_person: null,
      outcomes: null,
    },
    {
      id: RUN('08'),
      status: 'partial',
      kind: 'import',
      job: 'assets',
      file: 'assets.csv',
      dry_run: false,
      started_at: '2026-11-21T08:15:02.123Z',
      rows: 4,
      needs_person: 1,
      outcomes: { ...noOutcomes(), created: 3, invalid: 1 },
    },
  ]);
  // Written in place, which no run does: it is not read again.
  await ended('08', 'failed');
  await ended('09', 'succeeded');
  await until(async () => (await entries.list())[0]?.status === 'succeeded');
  expect((await entries.list())[1]?.status).toBe('partial');
  // A run that cannot be read keeps no other from being seen.
  await rm(folder('09'), { recursive: true });
  await begun('10');
  await writeFile(join(folder('10'), 'run.json'), 'no JSON');
  await until(async () => (await entries.list()).length === 1);
});
