import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ReceivedRequest } from '../../src/sandbox/server.js';
import { csv, type Desk, type ImportOptions, openDesk } from '../support/desk.js';
import { importOf } from '../support/jobs.js';
import { probed, stored, storedOne } from '../support/records.js';
import { hangVeil } from '../support/veil.js';

let desk: Desk;
afterEach(async () => {
  vi.restoreAllMocks();
});

const ASSET = { category: { id: 3, subcategory: 'Rack' }, city: 'Ulm', room: 'R1', country: 276, original_cost: 12.5 };
const assets = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    ...ASSET,
    name: `Box ${index + 1}`,
    serial_number: `S-${index + 1}`,
  }));
const job = (field: string, more: object = {}) =>
  importOf('asset', 'serial_number', { Serial: 'serial_number', New: field }, more);

/**
 * Two assets are to be moved to Bonn. While the first is written, more than a minute passes: the second is read again
 * before its PUT, and `meanwhile` happens just before that.
 */
async function slowRun(meanwhile: () => void, more: object = {}) {
  let late = 0;
  const now = Date.now;
  vi.spyOn(Date, 'now').mockImplementation(() => now() + late);
  let again = 0;
  desk = await openDesk({
    onRequest(request: ReceivedRequest) {
      if (request.method === 'PUT' && request.path === '/asset/1') late = 61_000;
      if (request.method === 'GET' && request.path === '/asset/2/' && ++again === 1) meanwhile();
    },
  });
  desk.sandbox.insert('asset', assets(2));
  const file = await desk.file('a.csv', 'Serial,New\r\nS-1,Bonn\r\nS-2,Bonn');
  const result = await desk.import(file, job('city', more));
  return { result, again };
}

describe('a record that somebody else changes between the plan and its PUT', () => {
  it('in another field: read again, both changes survive (31)', async () => {
    const { result, again } = await slowRun(() => desk.sandbox.edit('asset', 2, { room: 'R2', original_cost: 99 }));
    expect([result.outcomes, again]).toEqual([['2 updated', '3 updated'], 1]);
    expect(storedOne(desk.sandbox, 'asset', 2)).toMatchObject({ city: 'Bonn', room: 'R2', original_cost: '99.00' });
    const before = await beforeLines(result.reportDir);
    expect(before.map(({ row, record }) => [row, record['room']])).toEqual([
      [2, 'R1'],
      [3, 'R2'],
    ]);
  });

  it('in a field that the row sets: conflict, nothing sent, both values named (32)', async () => {
    const { result } = await slowRun(() => desk.sandbox.edit('asset', 2, { city: 'Trier' }));
    expect([result.outcomes, result.commits, result.exitCode]).toEqual([['2 updated', '3 conflict'], 1, 3]);
    const [fault] = result.faults;
    expect([fault!['row'], fault!['code']]).toEqual(['3', 'changed_meanwhile']);
    for (const word of ['city', 'Trier', 'Ulm']) expect(fault!['message']).toContain(word);
    expect(storedOne(desk.sandbox, 'asset', 2)).toMatchObject({ city: 'Trier' });
  });

  it('to the very value of the row: unchanged, nothing sent (32)', async () => {
    const { result } = await slowRun(() => desk.sandbox.edit('asset', 2, { city: 'Bonn' }));
    expect([result.outcomes, result.commits, result.exitCode]).toEqual([['2 updated', '3 unchanged'], 1, 0]);
  });

  it('by deleting it: conflict, nothing sent', async () => {
    const { result } = await slowRun(() => desk.sandbox.remove('asset', 2));
    expect([result.outcomes, result.commits]).toEqual([['2 updated', '3 conflict'], 1]);
    expect(result.faults.map((one) => one['code'])).toEqual(['changed_meanwhile']);
    expect(result.faults[0]!['message']).toContain('no longer exists');
  });

  it('by adding what an update would destroy: held back; `warn` says what it destroyed (30, 31)', async () => {
    const { result } = await slowRun(() => desk.sandbox.edit('asset', 2, { area: 'North' }));
    expect([result.outcomes, result.commits]).toEqual([['2 updated', '3 at_risk'], 1]);
    expect(storedOne(desk.sandbox, 'asset', 2)).toMatchObject({ city: 'Ulm', area: 'North' });
    await desk.close();
    vi.restoreAllMocks();
    const warned = await slowRun(() => desk.sandbox.edit('asset', 2, { area: 'North' }), {
      write: { at_risk: 'warn' },
    });
    expect(warned.result.outcomes).toEqual(['2 updated', '3 updated']);
    expect(warned.result.results[1]!['codes']).toContain('would_lose_value');
    expect(warned.result.plan.map((one) => `${one['row']} ${one['field']} ${one['kind']}`)).toContain('3 area at_risk');
  });

  const rows = 'Serial,New\r\nS-1,Bonn\r\nS-2,Bonn';

  it.each([
    ['overwritten', 'R1', 0, {}],
    ['kept where the job says `reread: always`', 'R2', 2, { write: { reread: 'always' } }],
  ])('within the minute, in another field: %s (31)', async (_, room, reads, more) => {
    const read: string[] = [];
    desk = await openDesk({
      onRequest({ method, path }) {
        if (path === '/asset/1/' || path === '/asset/2/') read.push(path);
        if (method === 'PUT') read.push('PUT');
      },
      onAnswer({ method, path }) {
        if (method === 'GET' && path === '/asset/') desk.sandbox.edit('asset', 2, { room: 'R2' });
      },
    });
    desk.sandbox.insert('asset', assets(2));
    const result = await desk.import(await desk.file('a.csv', rows), job('city', more));
    expect(result.outcomes).toEqual(['2 updated', '3 updated']);
    expect(storedOne(desk.sandbox, 'asset', 2)).toMatchObject({ city: 'Bonn', room });
    // The first update is read back besides.
    expect(read.filter((path) => path !== 'PUT').length).toBe(reads + 1);
    expect((await beforeLines(result.reportDir)).at(-1)!.record['room']).toBe(room);
  });

  it('by deleting it right before the PUT: its row has the words of the service', async () => {
    desk = await openDesk({
      onRequest({ method, path }) {
        if (method === 'PUT' && path === '/asset/2') desk.sandbox.remove('asset', 2);
      },
    });
    desk.sandbox.insert('asset', assets(2));
    const result = await desk.import(await desk.file('a.csv', rows), job('city'));
    expect(result.outcomes).toEqual(['2 updated', '3 rejected']);
    expect(result.faults.map((one) => one['code'])).toEqual(['service_rejected']);
    expect(result.faults[0]!['message']).toMatch(/^The service refused the record: /);
  });

  it('is not read again within a minute', async () => {
    let reads = 0;
    desk = await openDesk({
      onRequest: ({ method, path }) => void (method === 'GET' && path === '/asset/2/' && reads++),
    });
    desk.sandbox.insert('asset', assets(2));
    const file = await desk.file('a.csv', 'Serial,New\r\nS-1,Bonn\r\nS-2,Bonn');
    expect((await desk.import(file, job('city'))).outcomes).toEqual(['2 updated', '3 updated']);
    expect(reads).toBe(0);
  });
});

describe('the first update of a run is read back', () => {
  const rows = (count: number) =>
    csv([['Serial', 'New'], ...Array.from({ length: count }, (_, i) => [`S-${i + 1}`, 'Bonn'])]);

  it.each([
    ['a field that was carried over', 'room'],
    ['the field that was set', 'city'],
  ])('a PUT that drops %s stops the run after one (29)', async (_, field) => {
    desk = await openDesk();
    desk.sandbox.insert('asset', assets(30));
    desk.sandbox.setFaults([`PUT /asset drop_field=${field}`]);
    const result = await desk.import(await desk.file('a.csv', rows(30)), job('city'));
    expect([result.commits, result.exitCode, result.summary.status]).toEqual([1, 1, 'failed']);
    expect(result.summary.rows).toMatchObject({ updated: 1, not_attempted: 29, total: 30 });
    expect(result.summary.reason).toContain(field);
    const [written] = result.results.filter((row) => row['outcome'] === 'updated');
    expect(written!['codes']).toContain('would_lose_value');
    // The record as it was is kept, so that a person can put it right.
    const before = await beforeLines(result.reportDir);
    expect(before.find((one) => one.id === Number(written!['id']))!.record).toMatchObject({ room: 'R1', city: 'Ulm' });
    // An undo puts it right, too: nobody else has changed what is gone.
    desk.sandbox.setFaults([]);
    const undone = await desk.undo(result.summary.run);
    expect(undone.results.map((row) => row['outcome'])).toEqual(['updated']);
    const record = desk.sandbox.records('asset').find(({ id }) => id === Number(written!['id']));
    expect(record).toMatchObject({ room: 'R1', city: 'Ulm' });
  });

  it('in the answer of the PUT where it holds the record (29)', async () => {
    desk = await openDesk({ responses: 'full' });
    desk.sandbox.insert('asset', assets(3));
    desk.sandbox.setFaults(['PUT /asset drop_field=room']);
    const result = await desk.import(await desk.file('a.csv', rows(3)), job('city'));
    expect([result.commits, result.exitCode]).toEqual([1, 1]);
  });

  it('and costs one request', async () => {
    desk = await openDesk();
    desk.sandbox.insert('asset', assets(30));
    const result = await desk.import(await desk.file('a.csv', rows(30)), job('city'));
    expect(result.summary.rows.updated).toBe(30);
    expect(desk.sandbox.requests.kinds['GET /asset/{id}/']).toBe(1);
  });

  it('a value that the service keeps in another form is a warning with both (34)', async () => {
    desk = await openDesk({ switches: { cutsText: 6 } });
    desk.sandbox.insert('asset', assets(1));
    const file = await desk.file('a.csv', 'Serial,New\r\nS-1,Bad Homburg');
    const result = await desk.import(file, job('city'));
    expect([result.outcomes, result.exitCode]).toEqual([['2 updated'], 0]);
    expect(result.results[0]!['codes']).toContain('value_normalised');
    const message = [result.results[0]!['message'], ...result.faults.map((one) => one['message'])].join(' ');
    expect(message).toContain('"Bad Ho"');
    expect(message).toContain('"Bad Homburg"');
  });

  describe('a value whose stored form equals the old value is a warning, and the other rows are written', () => {
    const two = (value: string | number, field: string, more: object = {}) => ({
      rows: csv([
        ['Serial', 'New', 'Room'],
        ['S-1', value, 'R1'],
        ['S-2', value, 'R9'],
      ]),
      job: job(field, { columns: { Serial: 'serial_number', New: field, Room: 'room' }, ...more }),
    });

    async function expectWarning(
      { rows, job }: ReturnType<typeof two>,
      [sent, kept]: [string, string],
      options: ImportOptions = {},
    ) {
      const file = await desk.file('a.csv', rows);
      for (const time of ['first', 'second']) {
        const result = await desk.import(file, job, options);
        expect([result.exitCode, result.summary.status], time).toEqual([0, 'succeeded']);
        const [first] = result.results;
        expect([first!['outcome'], first!['codes']], time).toEqual(['updated', 'value_normalised']);
        for (const words of [`"${sent}"`, `"${kept}"`, 'written again at every import'])
          expect(first!['message'], time).toContain(words);
        expect(result.results[1]!['outcome'], time).toBe('updated');
        expect(storedOne(desk.sandbox, 'asset', 2)).toMatchObject({ room: 'R9' });
      }
    }

    it('cut (34)', async () => {
      desk = await openDesk({ switches: { cutsText: 6 } });
      desk.sandbox.insert(
        'asset',
        assets(2).map((asset) => ({ ...asset, city: 'Bad Ho' })),
      );
      await expectWarning(two('Bad Homburg', 'city'), ['Bad Homburg', 'Bad Ho']);
    });

    it.each<[string, string, string | number, string, (text: string) => string]>([
      [
        'folded',
        'city',
        'Köln',
        'KÖLN',
        (text) => text.replace(/"city":"[^"]*"/g, (city) => city.replace(/:.*/, ':"KÖLN"')),
      ],
      [
        'rounded',
        'original_cost',
        '12.3446',
        '12.34',
        (text) => text.replace(/"original_cost":[\d.]+/g, '"original_cost":12.34'),
      ],
    ])('%s (34)', async (_, field, sent, kept, change) => {
      desk = await openDesk();
      desk.sandbox.insert('asset', assets(2));
      const veil = await hangVeil(desk.sandbox.url, change);
      await expectWarning(two(sent, field), [String(sent), kept], { env: { ROWFERRY_API_URL: veil.url } });
    });
  });

  it('a value that the service leaves out of an update it carries out is a warning; one that is nowhere stops (29, 34)', async () => {
    desk = await openDesk();
    desk.sandbox.insert('asset', assets(3));
    const columns = { Serial: 'serial_number', City: 'city', Room: 'room', Floor: 'floor' };
    const rows = (floor: string) =>
      csv([['Serial', 'City', 'Room', 'Floor'], ...[1, 2, 3].map((n) => [`S-${n}`, 'Bonn', `R2${floor}`, floor])]);
    let veil = await hangVeil(desk.sandbox.url, (text) => text.replaceAll('"city":"Bonn"', '"city":"Ulm"'));
    const kept = await desk.import(await desk.file('a.csv', rows('')), job('city', { columns }), {
      env: { ROWFERRY_API_URL: veil.url },
    });
    expect([kept.exitCode, kept.summary.rows.updated]).toEqual([0, 3]);
    expect(kept.results.map((row) => row['codes']).filter(Boolean)).toEqual(['value_normalised']);
    expect(kept.results[0]!['message']).toContain('kept "Ulm" in city where "Bonn" was sent');
    veil = await hangVeil(desk.sandbox.url, (text) => text.replaceAll('"floor":"7"', '"floor":null'));
    const gone = await desk.import(await desk.file('b.csv', rows('7')), job('city', { columns }), {
      env: { ROWFERRY_API_URL: veil.url },
    });
    expect([gone.exitCode, gone.commits, gone.summary.status]).toEqual([1, 1, 'failed']);
    expect(gone.summary.reason).toContain('floor');
  });

  it('a value that was to be cleared and stays is a fault of its row, however many have one', async () => {
    desk = await openDesk({ switches: { omittedOnPut: 'kept' } });
    desk.sandbox.insert('asset', assets(8));
    const columns = { Serial: 'serial_number', City: 'city', Room: 'room' };
    const rows = Array.from({ length: 8 }, (_, at) => [`S-${at + 1}`, 'Bonn', '']);
    const file = await desk.file('a.csv', [['Serial', 'City', 'Room'], ...rows]);
    const clearing = job('city', { columns, blank: 'clear' });
    const { exitCode, results, plan } = await desk.import(file, clearing);
    expect([exitCode, results.length]).toEqual([3, 8]);
    for (const row of results) {
      expect([row['outcome'], row['changed_fields'], row['codes']]).toEqual(['updated', 'city', 'not_cleared']);
      expect(row['message']).toMatch(/^The record still holds the old value "R1" of room: it could not be cleared\./);
    }
    expect(plan.filter(({ field }) => field === 'room')).toEqual([]);
    const { results: again, summary } = await desk.import(file, clearing);
    expect(summary.reason).toContain('it still holds the old value of room, which was to be cleared');
    expect([again[0]?.['outcome'], again[0]?.['codes']]).toEqual(['unknown', 'not_cleared']);
  });

  it('and so is one in a field that no row before it was to clear', async () => {
    desk = await openDesk({ switches: { omittedOnPut: 'kept' } });
    desk.sandbox.insert('asset', assets(8));
    for (const id of [1, 2]) desk.sandbox.edit('asset', id, { room: null });
    for (const id of [5, 6, 7, 8]) desk.sandbox.edit('asset', id, { room: null, floor: '1' });
    const columns = { Serial: 'serial_number', City: 'city', Room: 'room', Floor: 'floor' };
    const rows = Array.from({ length: 8 }, (_, at) => [`S-${at + 1}`, 'Bonn', '', '']);
    const file = await desk.file('a.csv', [Object.keys(columns), ...rows]);
    const { results } = await desk.import(file, job('city', { columns, blank: 'clear' }));
    expect(results.map((row) => row['codes'])).toEqual(['', '', ...Array(6).fill('not_cleared')]);
  });

  it('a value that the service trims is no fault, and unchanged the next time (34)', async () => {
    desk = await openDesk({ switches: { trimsText: 'on' } });
    desk.sandbox.insert('asset', assets(1));
    const file = await desk.file('a.csv', 'Serial,New\r\nS-1,  Bad Homburg ');
    expect((await desk.import(file, job('city'))).outcomes).toEqual(['2 updated']);
    expect((await desk.import(file, job('city'))).outcomes).toEqual(['2 unchanged']);
  });

  it('a PUT that is answered and not carried out: unknown, the run stops, and the next run writes all of it', async () => {
    desk = await openDesk();
    desk.sandbox.insert('asset', assets(2));
    const columns = { Serial: 'serial_number', City: 'city', Mac: 'mac_address' };
    const file = await desk.file('a.csv', 'Serial,City,Mac\r\nS-1,Bonn,aa\r\nS-2,Bonn,bb');
    desk.sandbox.setFaults(['PUT /asset nth=1 status=200 body="{}"']);
    const first = await desk.import(file, job('city', { columns }));
    expect([first.exitCode, first.commits]).toEqual([1, 0]);
    expect(first.outcomes.map((one) => one.split(' ')[1]).sort()).toEqual(['not_attempted', 'unknown']);
    const second = await desk.import(file, job('city', { columns }));
    expect(second.outcomes).toEqual(['2 updated', '3 updated']);
    expect(storedOne(desk.sandbox, 'asset', 1)).toMatchObject({ city: 'Bonn', mac_address: 'aa' });
    expect(storedOne(desk.sandbox, 'asset', 2)).toMatchObject({ city: 'Bonn', mac_address: 'bb' });
  });

  it('of a PATCH as well (29)', async () => {
    desk = await openDesk();
    desk.sandbox.insert('asset', assets(5));
    await probed(desk, { patch: true });
    desk.sandbox.setFaults(['PATCH /asset drop_field=city']);
    const result = await desk.import(await desk.file('a.csv', rows(5)), job('city', { write: { method: 'patch' } }));
    // The old value still stands: the update did not happen, and whether it will is not known.
    expect([result.exitCode, result.summary.rows.unknown, result.summary.rows.not_attempted]).toEqual([1, 1, 4]);
    const faults = result.faults.filter((one) => one['code'] !== 'run_stopped');
    expect(faults.map((one) => `${one['code']} ${one['field']}`)).toEqual(['outcome_unknown city']);
  });
});

describe('the record as it was before each update', () => {
  it('is kept whole, digit by digit', async () => {
    desk = await openDesk();
    desk.sandbox.insert('asset', [
      `{"name":"Box","serial_number":"S-1","category":{"id":3},"original_cost":99999999999999.99,"estimated_salvage_value":0.10,"city":"Ulm"}`,
      `{"name":"Box 2","serial_number":"S-2","category":{"id":3},"city":"Bonn"}`,
    ]);
    const shown = desk.sandbox.record('asset', 1);
    const file = await desk.file('a.csv', 'Serial,New\r\nS-1,Bonn\r\nS-2,Bonn\r\nS-3,Bonn');
    const result = await desk.import(file, job('city', { match: { key: 'serial_number', missing: 'skip' } }));
    expect(result.outcomes).toEqual(['2 updated', '3 unchanged', '4 skipped']);
    const text = await readFile(join(result.reportDir, 'before.ndjson'), 'utf8');
    expect(text.trim().split('\n')).toHaveLength(1);
    expect(text).toContain('"original_cost":99999999999999.99');
    const [entry] = await beforeLines(result.reportDir);
    expect([entry!.row, entry!.id, entry!.record['city']]).toEqual([2, 1, 'Ulm']);
    expect(Object.keys(entry!.record)).toEqual(Object.keys(shown!));
    expect(storedOne(desk.sandbox, 'asset', 1)).toMatchObject({ original_cost: '99999999999999.99', city: 'Bonn' });
  });

  it('is not written by a dry run, which sends nothing and tells the same', async () => {
    desk = await openDesk();
    desk.sandbox.insert('asset', assets(2));
    const before = stored(desk.sandbox, 'asset');
    const file = await desk.file('a.csv', 'Serial,New\r\nS-1,Bonn\r\nS-2,Ulm');
    const dry = await desk.import(file, job('city'), { dryRun: true });
    expect([dry.outcomes, dry.commits, dry.summary.requests.writes]).toEqual([['2 updated', '3 unchanged'], 0, 0]);
    expect(stored(desk.sandbox, 'asset')).toEqual(before);
    await expect(readFile(join(dry.reportDir, 'before.ndjson'))).rejects.toThrow();
    const real = await desk.import(file, job('city'));
    expect([real.outcomes, real.plan]).toEqual([dry.outcomes, dry.plan]);
  });
});

async function beforeLines(dir: string) {
  const text = await readFile(join(dir, 'before.ndjson'), 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { row: number; id: number; record: Record<string, unknown> });
}
