import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runFolder } from '../../src/runs/run/layout.js';
import { RunStore } from '../../src/store/run-store.js';
import { csv, type Desk, openDesk } from '../support/desk.js';
import { importOf } from '../support/jobs.js';
import { start } from '../support/process.js';
import { type Between, hangBetween } from '../support/veil.js';

/** That it answers a create with the id and the name of the record alone. */
const IN_BRIEF = {
  answered(method: string, answer: string) {
    const { id, name } = method === 'POST' ? (JSON.parse(answer) as { id?: number; name?: string }) : {};
    return method === 'POST' ? JSON.stringify({ id, name }) : answer;
  },
};

let desk: Desk;

const CREATE = importOf(
  'asset',
  { key: 'serial_number', unique_field: 'serial_number' },
  { Serial: 'serial_number', Name: 'name', City: 'city' },
  { constants: { 'category.name': 'id:3' } },
);

const CREATE_HEADINGS = ['Serial', 'Name', 'City'];

const rowsOf = (n: number) => [
  CREATE_HEADINGS,
  ...Array.from({ length: n }, (_, i) => [`NEW-${i}`, 'A long name of a thing', 'Bonn']),
];

const codes = (results: readonly Record<string, string>[]) => results.map((row) => `${row['outcome']} ${row['codes']}`);

describe('a record that was created with less than was sent (34)', () => {
  it.each([
    ['full', 2],
    ['bare', 2],
    ['bare', 40],
  ] as const)('without a field: told with its row and by the summary; answers %s, %i rows', async (responses, n) => {
    desk = await openDesk({ responses });
    desk.sandbox.setFaults(['POST /asset drop_field=city']);
    const result = await desk.import(await desk.file('a.csv', rowsOf(n)), CREATE);
    expect(codes(result.results)).toEqual(Array(n).fill('created would_lose_value'));
    expect(result.results.map((row) => Number(row['id']) > 0)).toEqual(Array(n).fill(true));
    expect(result.results[0]?.['message']).toContain('created the record without city: "Bonn" was sent');
    expect(result.summary.warnings).toContainEqual(
      expect.stringContaining(`created ${n} records without values that were sent: city. `),
    );
    expect([result.exitCode, result.summary.losses]).toEqual([0, { destroyed: 0, missing: n, other_form: 0 }]);
    const page = await readFile(join(result.reportDir, 'report.html'), 'utf8');
    expect(page).toContain('Values were lost');
    expect(page).not.toMatch(/Everything is in order|Every row ended well/);
  });

  it.each([
    ['full', 2],
    ['bare', 2],
    ['bare', 40],
  ] as const)('cut: counted by the summary; answers %s, %i rows', async (responses, n) => {
    desk = await openDesk({ responses, switches: { cutsText: 10 } });
    const result = await desk.import(await desk.file('a.csv', rowsOf(n)), CREATE);
    expect(codes(result.results)).toEqual(Array(n).fill('created value_normalised'));
    expect(result.summary.warnings).toContainEqual(
      expect.stringMatching(
        new RegExp(
          `^The service stored values of ${n} rows in another form than was sent, such as row 2: .*"A long nam"`,
        ),
      ),
    );
    const page = await readFile(join(result.reportDir, 'report.html'), 'utf8');
    expect(page).not.toContain('Every row ended well');
  });

  it('an answer in brief takes nothing from the record: one read tells', async () => {
    desk = await openDesk({ responses: 'full' });
    let reads = 0;
    const brief = await hangBetween(desk.sandbox.url, {
      answered(method, answer, path) {
        if (method === 'GET' && /\/asset\/\d+/.test(path)) reads++;
        return IN_BRIEF.answered(method, answer);
      },
    });
    const file = await desk.file('a.csv', rowsOf(30));
    const result = await desk.import(file, CREATE, { env: { ROWFERRY_API_URL: brief.url } });
    expect(codes(result.results)).toEqual(Array(30).fill('created '));
    expect([result.summary.losses, reads]).toEqual([undefined, 1]);
  });
});

describe('a key that the service stores in another form', () => {
  const change = (form: (serial: string) => string): NonNullable<Between['sent']> => {
    return (method, body) =>
      method === 'POST'
        ? body.replace(/"serial_number":"([^"]*)"/, (_, key) => `"serial_number":"${form(key)}"`)
        : body;
  };
  const idAlone: Between['answered'] = (method, answer) =>
    method === 'POST' ? JSON.stringify({ id: JSON.parse(answer).id }) : answer;
  const short = { ROWFERRY_SETTLE_WINDOW: '0.01' };

  it.each([
    ['in capitals', (key: string) => key.toUpperCase(), 'full', short],
    ['without dashes', (key: string) => key.replaceAll('-', ''), 'full', short],
    ['in capitals, and told the id alone', (key: string) => key.toUpperCase(), 'id', short],
    ['in capitals, and seen within the settle window', (key: string) => key.toUpperCase(), 'id', {}],
  ] as const)('%s: the first import says so, and none creates it again', async (_, form, answers, window) => {
    desk = await openDesk({ responses: 'full' });
    const between = await hangBetween(desk.sandbox.url, {
      sent: change(form),
      ...(answers === 'id' ? { answered: idAlone } : {}),
    });
    const env = { ROWFERRY_API_URL: between.url, ...window };
    const rows = [CREATE_HEADINGS, ['new-1', 'A', 'Bonn'], ['new-2', 'B', 'Bonn']];
    const file = await desk.file('a.csv', rows);
    const first = await desk.import(file, CREATE, { env });
    expect([first.exitCode, first.summary.status, first.summary.rows.created]).toEqual([3, 'partial', 2]);
    expect(first.summary.warnings.join()).toContain(`Write "${form('new-1')}" in the file`);
    expect(first.results.map(({ id }) => Number(id) > 0)).toEqual([true, true]);
    for (const dryRun of [true, false]) {
      const again = await desk.import(file, CREATE, { env, dryRun });
      expect(codes(again.results)).toEqual(['ambiguous near_match', 'ambiguous near_match']);
      expect(again.results[1]?.['message']).toContain(`the service keeps it as "${form('new-2')}"`);
    }
    const { resource, match, columns } = CREATE;
    const night = { resource, match: { key: match.key }, columns, orphans: { action: 'report' } };
    const compared = await desk.reconcile(file, night, { env });
    expect(compared.summary.reconcile?.orphans.total).toBe(0);
    const stored = csv([CREATE_HEADINGS, [form('new-1'), 'A', 'Bonn']]);
    expect((await desk.import(await desk.file('b.csv', stored), CREATE, { env })).outcomes).toEqual(['2 unchanged']);
    expect(desk.sandbox.records('asset')).toHaveLength(2);
  });

  it('that tells nothing: the rows that are not found by their keys are named, and held back from then on', async () => {
    desk = await openDesk();
    const between = await hangBetween(desk.sandbox.url, { sent: change((key) => key.toUpperCase()) });
    const file = await desk.file('a.csv', [CREATE_HEADINGS, ['new-1', 'A', 'Bonn'], ['NEW-2', 'B', 'Bonn']]);
    const env = { ROWFERRY_API_URL: between.url, ...short };
    const { summary } = await desk.import(file, CREATE, { env });
    const [text] = summary.warnings;
    expect(text).toMatch(/^1 record that this run created cannot be found by the key of the row: row 2\..*held back/);
    for (const dryRun of [true, false]) {
      const again = await desk.import(file, CREATE, { env, dryRun });
      expect(again.outcomes).toEqual(['2 ambiguous', '3 unchanged']);
      expect(again.results[0]?.['message']).toContain('an import with --force creates it anew');
    }
    expect(desk.sandbox.records('asset')).toHaveLength(2);
    // Shown late, and removed later.
    desk.sandbox.insert('asset', [{ name: 'A', serial_number: 'new-1', category: { id: 3 } }]);
    const more = await desk.file('b.csv', [CREATE_HEADINGS, ['new-1', 'A', 'Cologne'], ['new-3', 'C', 'Bonn']]);
    expect((await desk.import(more, CREATE, { env })).outcomes).toEqual(['2 updated', '3 created']);
    for (const { id } of desk.sandbox.records('asset')) desk.sandbox.remove('asset', Number(id));
    expect((await desk.import(file, CREATE, { env })).outcomes).toEqual(['2 created', '3 created']);
    expect((await desk.import(file, CREATE, { env })).outcomes).toEqual(['2 ambiguous', '3 unchanged']);
    expect((await desk.import(file, CREATE, { env, force: true })).outcomes).toEqual(['2 rejected', '3 unchanged']);
  });

  it('that tells nothing: nor is created again what an import had created that was stopped midway, nor is that an orphan', async () => {
    desk = await openDesk();
    const stop = new AbortController();
    const between = await hangBetween(desk.sandbox.url, {
      sent: change((key) => key.toUpperCase()),
      answered(method, answer) {
        if (method === 'POST') stop.abort();
        return answer;
      },
    });
    const env = { ROWFERRY_API_URL: between.url, ROWFERRY_CONCURRENCY: '1', ...short };
    const file = await desk.file('a.csv', [CREATE_HEADINGS, ['new-1', 'A', 'Bonn'], ['new-2', 'B', 'Bonn']]);
    const first = await desk.import(file, CREATE, { env, signal: stop.signal });
    expect(first.outcomes).toEqual(['2 created', '3 not_attempted']);
    expect((await desk.import(file, CREATE, { env })).outcomes).toEqual(['2 ambiguous', '3 created']);
    const { resource, match, columns } = CREATE;
    const orphans = { after: 1, set: { lifecycle_stage: 'Retired' } };
    const night = { resource, match: { key: match.key }, columns, orphans };
    const { summary, commits } = await desk.reconcile(file, night, { env, apply: true });
    expect(summary.reconcile?.orphans).toMatchObject({ total: 2, acted: 0 });
    expect(summary.reconcile?.orphans.held_reason).toMatch(/^2 records that earlier runs created .*cannot be found/);
    expect(commits).toBe(0);
  });

  it('that tells nothing: nor is created again what an import had created that was killed', async () => {
    desk = await openDesk({ faults: ['POST /asset nth=3 timeout_before'] });
    const between = await hangBetween(desk.sandbox.url, { sent: change((key) => key.toUpperCase()) });
    const env = { ROWFERRY_API_URL: between.url, ROWFERRY_CONCURRENCY: '1', ...short };
    const serials = ['new-1', 'new-2', 'new-3'];
    const file = await desk.file('a.csv', [CREATE_HEADINGS, ...serials.map((serial) => [serial, 'A', 'Bonn'])]);
    const job = await desk.file('job.yaml', JSON.stringify(CREATE));
    const home = join(desk.dir, 'home');
    const killed = await start(['import', file, '--job', job], {
      cwd: desk.dir,
      env: { ...env, ROWFERRY_API_TOKEN: 'test-token', ROWFERRY_HOME: home },
    });
    const created = () => {
      const [run = ''] = readdirSync(join(home, 'runs'));
      const count = ({ rows }: RunStore) => rows.count(`kind = 'created'`);
      return RunStore.query(runFolder(home, run).store, count, RunStore.openReadOnly);
    };
    await expect.poll(created).toBe(2);
    killed.child.kill('SIGKILL');
    await killed.ended;
    for (const _ of ['right after it', 'again'])
      expect((await desk.import(file, CREATE, { env })).outcomes.slice(0, 2)).toEqual(['2 ambiguous', '3 ambiguous']);
    expect(desk.sandbox.records('asset').map((one) => one['serial_number'])).toEqual(
      serials.map((one) => one.toUpperCase()),
    );
  });
});

describe('a country that the service spells in its own way', () => {
  it.each(['full', 'bare'] as const)(
    'is learned from what was written, and unchanged afterwards; answers %s',
    async (responses) => {
      desk = await openDesk({ responses });
      desk.sandbox.insert('supplier', [{ name: 'A', country: 56 }]);
      const between = await hangBetween(desk.sandbox.url, {
        answered: (_, answer) => answer.replaceAll('"Germany"', '"Germany (DE)"').replaceAll('"Norway"', '"Norwegia"'),
      });
      const env = { ROWFERRY_API_URL: between.url };
      const job = importOf('supplier', 'name', { N: 'name', C: 'country' });
      const file = await desk.file('a.csv', 'N,C\r\nA,DE\r\nNew,Germany\r\nOther,Norway');
      const run = () => desk.import(file, job, { env });
      expect((await run()).outcomes).toEqual(['2 updated', '3 created', '4 created']);
      expect((await run()).outcomes).toEqual(['2 unchanged', '3 unchanged', '4 unchanged']);
      const cities = await desk.file('b.csv', 'N,City\r\nOther,Oslo\r\nNew,Bonn');
      const other = await desk.import(cities, { ...job, columns: { N: 'name', City: 'city' } }, { env });
      expect(other.outcomes).toEqual(['2 updated', '3 updated']);
      expect(desk.sandbox.raw('supplier').map(({ country }) => country)).toEqual([276, 276, 578]);
    },
  );
});

describe('a value that was carried over and cut (29)', () => {
  it.each(['full', 'bare'] as const)('stops the run after the first update; answers %s', async (responses) => {
    desk = await openDesk({ responses });
    desk.sandbox.insert(
      'asset',
      Array.from({ length: 5 }, (_, i) => ({
        name: 'Box',
        serial_number: `S-${i}`,
        category: { id: 3 },
        room: 'Room 12 on the third floor',
      })),
    );
    desk.sandbox.setSwitches({ cutsText: 10 });
    const file = await desk.file('a.csv', [
      ['Serial', 'City'],
      ...Array.from({ length: 5 }, (_, i) => [`S-${i}`, 'Bonn']),
    ]);
    const job = { ...CREATE, columns: { Serial: 'serial_number', City: 'city' }, constants: {} };
    const result = await desk.import(file, job);
    expect([result.exitCode, result.summary.status, result.commits]).toEqual([1, 'failed', 1]);
    expect(result.summary.reason).toContain('did not keep room (it holds "Room 12 on" now). The run stops here');
    expect(result.summary.reason).toContain('state `write: { at_risk: warn }`');
    expect(codes(result.results)[0]).toBe('updated would_lose_value');
    expect(result.results[0]?.['message']).toContain('"Room 12 on the third floor" was carried over');
    expect(result.plan.filter((line) => line['kind'] === 'at_risk')).toEqual([
      expect.objectContaining({ field: 'room', old: 'Room 12 on the third floor', new: 'Room 12 on' }),
    ]);
    expect(result.summary.losses?.destroyed).toBe(1);
    // As it does where the job allows that; what the answers show of the others is told, without looking again.
    const warned = await desk.import(file, { ...job, write: { at_risk: 'warn' } });
    expect([warned.exitCode, warned.outcomes]).toEqual([
      0,
      ['2 unchanged', '3 updated', '4 updated', '5 updated', '6 updated'],
    ]);
    expect(warned.summary.losses?.destroyed).toBe(responses === 'full' ? 4 : 1);
  });

  it('case and blanks are another form alone: the run goes on', async () => {
    desk = await openDesk({ switches: { trimsText: 'on' } });
    desk.sandbox.insert('asset', [{ name: 'Box', serial_number: 'S-1', category: { id: 3 }, room: ' Room' }]);
    const file = await desk.file('a.csv', 'Serial,City\r\nS-1,Bonn');
    const job = { ...CREATE, columns: { Serial: 'serial_number', City: 'city' }, constants: {} };
    const result = await desk.import(file, job);
    expect(result.outcomes).toEqual(['2 updated']);
  });
});

describe('faults.csv names column and value where both are known', () => {
  it('of duplicates and refusals', async () => {
    desk = await openDesk();
    const rows = [
      ['Serial', 'Name', 'City'],
      ['A', 'One', 'Bonn'],
      ['a ', 'Two', 'Bonn'],
      ['A', 'Two', 'Bonn'],
      ['A', 'One', 'Bonn'],
    ];
    const result = await desk.import(await desk.file('a.csv', rows), CREATE);
    const duplicates = result.faults.filter((line) => line['code']?.startsWith('duplicate'));
    expect(duplicates.length).toBeGreaterThan(1);
    for (const line of duplicates) expect([line['column'], line['value']]).toEqual(['Serial', 'A']);
    expect(duplicates.map((line) => line['message']).join()).toContain('would overwrite that record');
  });

  it('of what the service refused', async () => {
    desk = await openDesk();
    desk.sandbox.insert('asset', [{ name: 'Other', serial_number: 'S-1', category: { id: 3 } }]);
    const match = { key: 'name', unique_field: 'serial_number' };
    const rows = [
      ['Serial', 'Name', 'City'],
      ['S-1', 'One', 'Bonn'],
    ];
    const result = await desk.import(await desk.file('a.csv', rows), { ...CREATE, match });
    expect(result.faults).toEqual([
      expect.objectContaining({
        column: 'Serial',
        field: 'serial_number',
        value: 'S-1',
        code: 'service_rejected',
        origin: 'service',
      }),
    ]);
  });
});

describe('an answer is no proof (29)', () => {
  const UPDATE = { ...CREATE, columns: { Serial: 'serial_number', Name: 'name' } };
  const five = Array.from({ length: 5 }, (_, i) => [`NEW-${i}`, 'Another name']);
  const begin = async (notes: string) => {
    desk = await openDesk({ responses: 'full' });
    const records = five.map(([serial]) => ({ name: 'n', serial_number: serial, asset_notes: notes }));
    desk.sandbox.insert('asset', records);
    return desk.file('a.csv', [['Serial', 'Name'], ...five]);
  };
  const kept = () => desk.sandbox.records('asset').map((one) => one['asset_notes']);

  it.each([
    [
      'that only repeats what was sent, while a value is dropped',
      {
        answered: (method: string, answer: string, body: string) => (method === 'PUT' ? echoOf(answer, body) : answer),
      },
      ['PUT /asset drop_field=asset_notes'],
      null,
    ],
    [
      'of a record in which a value that the row does not set is another one',
      { sent: (method: string, body: string) => (method === 'PUT' ? body.replace('a & b', 'a &amp; b') : body) },
      [],
      'a &amp; b',
    ],
  ] as const)('%s: the run stops after the first update', async (_, between, faults, left) => {
    const file = await begin('a & b');
    desk.sandbox.setFaults([...faults]);
    const service = await hangBetween(desk.sandbox.url, between);
    const { summary, commits } = await desk.import(file, UPDATE, { env: { ROWFERRY_API_URL: service.url } });
    expect(summary).toMatchObject({ status: 'failed', rows: { updated: 1, not_attempted: 4 } });
    expect(summary.reason).toContain('did not keep asset_notes');
    expect([commits, kept()]).toEqual([1, [left, ...Array(4).fill('a & b')]]);
  });

  it('amounts of the row that the service rounds are warned of, and do not stop it, however often it comes', async () => {
    desk = await openDesk({ responses: 'full' });
    const round = (method: string, body: string) =>
      method === 'GET'
        ? body
        : body.replace(/"original_cost":(\d+)\.5\b/, (_, whole) => `"original_cost":${Number(whole) + 1}`);
    const service = await hangBetween(desk.sandbox.url, { sent: round });
    const job = { ...CREATE, columns: { Serial: 'serial_number', Name: 'name', Cost: 'original_cost' } };
    const rows = [1, 2, 3].map((n) => [`R-${n}`, 'n', `${n}.5`]);
    const file = await desk.file('a.csv', [['Serial', 'Name', 'Cost'], ...rows]);
    for (const outcome of ['created', 'updated', 'updated']) {
      const { results } = await desk.import(file, job, { env: { ROWFERRY_API_URL: service.url } });
      expect(codes(results)).toEqual(Array(3).fill(`${outcome} value_normalised`));
    }
  });

  it('that names another record tells no id: it is looked up', async () => {
    desk = await openDesk({ responses: 'full' });
    desk.sandbox.insert('asset', [{ name: 'stranger', serial_number: 'OLD' }]);
    const service = await hangBetween(desk.sandbox.url, {
      answered: (method, answer) => (method === 'POST' ? answer.replace(/"id":\d+/, '"id":1') : answer),
    });
    const file = await desk.file('a.csv', rowsOf(6));
    const { results } = await desk.import(file, CREATE, { env: { ROWFERRY_API_URL: service.url } });
    const ids = desk.sandbox.records('asset').map(({ id, serial_number: serial }) => [serial, String(id)]);
    const told = results.slice(1).map(({ key, id }) => [key, id]);
    expect(ids).toEqual(expect.arrayContaining(told));
  });
});

function echoOf(answer: string, body: string): string {
  const { id } = JSON.parse(answer) as { id: number };
  return JSON.stringify({ ...JSON.parse(body), id });
}
