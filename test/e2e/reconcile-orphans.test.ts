import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { NEW_CONTRACT } from '../support/jobs.js';
import { csvText, type Desk, type Line, type Night, openNights, worldText } from './reconcile-night.js';

/** Records that the file does not hold: when they are touched, and above all when they are not. */

let desk: Desk;
afterEach(() => desk.close());

const COUNT = 120;
const serial = (i: number) => `SN-${1000 + i}`;
const RETIRE = { action: { set: { lifecycle_stage: 'Retired' } } };

const JOB = {
  kind: 'reconcile',
  resource: 'asset',
  match: { key: 'serial_number' },
  columns: { Serial: { field: 'serial_number', required: true }, Name: 'name' },
  orphans: RETIRE,
};

/** A file without the rows given; `mark` makes its bytes another file's. */
let marks = 0;
const file = (without: readonly number[], same = false) => {
  const mark = same ? '' : String(++marks);
  return csvText([
    ['Serial', 'Name', 'Remark'],
    ...Array.from({ length: COUNT }, (_, i) => [serial(i), `Asset ${i}`, mark]).filter((_, i) => !without.includes(i)),
  ]);
};

async function open(): Promise<void> {
  desk = await openNights();
  desk.sandbox.insert(
    'asset',
    Array.from({ length: COUNT }, (_, i) => ({
      serial_number: serial(i),
      name: `Asset ${i}`,
      lifecycle_stage: 'Deployed',
      // Ten are not the file's business by the scope that some jobs have.
      category: i < 10 ? { id: 4, subcategory: 'Switch' } : { id: 1, subcategory: 'Business' },
      asset_notes: `note ${i}`,
    })),
  );
}

const contract = (number: string, status = 'active') => ({
  ...NEW_CONTRACT,
  supplier: 1,
  country: 276,
  name: `Title ${number}`,
  number,
  status,
  description: number.startsWith('F') ? 'filler' : 'of the file',
});

let files = 0;
/** One night with the file that lacks these rows. */
async function night(
  without: readonly number[] | string | Buffer,
  job: string,
  options: { apply?: boolean; force?: boolean } = { apply: true },
): Promise<Night> {
  const text = Array.isArray(without) ? file(without) : (without as string | Buffer);
  return desk.night(await desk.file(`night-${++files}.csv`, text), job, options);
}

const orphan = (of: Night, i: number): Line | undefined =>
  of.report('orphans.csv').find((line) => line['key'] === serial(i));
const states = (of: Night) =>
  of.report('orphans.csv').map((line) => `${line['key']} ${line['state']} ${line['absences']}`);
const stage = (i: number) => desk.sandbox.record('asset', i + 1)!['lifecycle_stage'];
const brief = ({ code, writes, summary }: Night) => [code, writes, summary.status];

describe('a record that the file does not hold', () => {
  it.each([{}, { scope: { 'category.name': 'Laptop' } }])(
    'is no orphan while its key looks like that of a row: %j (98)',
    async (more) => {
      await open();
      const job = await desk.job('job', { ...JOB, ...more });
      // The row of asset 21 has an exact twin besides: what only looks like it is an orphan as any other record.
      const twin = { name: 'Twin', lifecycle_stage: 'Deployed', category: { id: 1 } };
      desk.sandbox.insert('asset', [{ ...twin, serial_number: 'SN\u200b-1021' }]);
      for (let n = 0; n < 2; n++) {
        const one = await night(file([]).replace(serial(20), 'SN\u200b-1020'), job);
        expect(one.summary.rows).toMatchObject({ ambiguous: 1, unchanged: COUNT - 1 });
        expect(one.report('orphans.csv').map((line) => line['key'])).toEqual(['SN\u200b-1021']);
      }
      expect(stage(20)).toBe('Deployed');
      expect(stage(COUNT)).toBe('Retired');
    },
  );

  it('is set on its second night, not on its first, and then left alone', async () => {
    await open();
    const job = await desk.job('job', JOB);
    const before = desk.sandbox.raw('asset');
    const one = await night([20, 21], job);
    expect(brief(one), one.err).toEqual([0, 0, 'succeeded']);
    expect(states(one)).toEqual([`${serial(20)} wait 1`, `${serial(21)} wait 1`]);
    const two = await night([20, 21], job);
    expect(brief(two), two.err).toEqual([0, 2, 'succeeded']);
    expect(two.commits.map(({ method, id }) => `${method} ${id}`).sort()).toEqual(['PUT 21', 'PUT 22']);
    expect(two.report('orphans.csv')).toMatchObject([
      { id: '21', key: serial(20), name: 'Asset 20', absences: '2', outcome: 'updated' },
      { id: '22', key: serial(21), name: 'Asset 21', absences: '2', outcome: 'updated' },
    ]);
    expect(desk.sandbox.raw('asset')).toEqual(
      before.map((raw) => ([21, 22].includes(raw['id'] as number) ? { ...raw, lifecycle_stage: 'Retired' } : raw)),
    );
    const kept = (await readFile(join(two.dir, 'before.ndjson'), 'utf8'))
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text));
    expect(kept).toMatchObject([
      { row: null, record: { id: 21, lifecycle_stage: 'Deployed' } },
      { row: null, record: { id: 22, lifecycle_stage: 'Deployed' } },
    ]);
    // Orphans are no rows.
    expect(two.summary.rows).toMatchObject({ total: COUNT - 2, unchanged: COUNT - 2, updated: 0 });
    const three = await night([20, 21], job);
    expect(brief(three), three.err).toEqual([0, 0, 'succeeded']);
    expect(three.report('orphans.csv').map((line) => line['state'])).toEqual(['done', 'done']);
  });

  it('the same file again is no second absence', async () => {
    await open();
    const job = await desk.job('job', JOB);
    const text = file([20]);
    for (let i = 0; i < 3; i++) {
      const one = await night(text, job);
      expect(brief(one), one.err).toEqual([0, 0, 'succeeded']);
      expect(states(one)).toEqual([`${serial(20)} wait 1`]);
    }
    const next = await night([20], job);
    expect([brief(next), stage(20)], next.err).toEqual([[0, 1, 'succeeded'], 'Retired']);
  });

  it('that comes back begins anew', async () => {
    await open();
    const job = await desk.job('job', JOB);
    const writes: number[] = [];
    for (const without of [[20], [], [20], [20]]) writes.push((await night(without, job)).writes);
    expect(writes).toEqual([0, 0, 0, 1]);
    const warned = async (job: string) =>
      (await night([], job)).summary.warnings.filter((text) => /in the file again/.test(text));
    expect(await warned(job)).toEqual([expect.stringContaining('(lifecycle_stage "Retired"): ids 21.')]);
    expect([await warned(job), stage(20)]).toEqual([[], 'Retired']);
  });

  it('report-only says what would be set, and a braked night is no night', async () => {
    await open();
    const job = await desk.job('job', { ...JOB, orphans: { ...RETIRE, after: 3 } });
    await night([20], job, {});
    await night([20], job);
    // 40 of 120 rows missing: braked, report-only too.
    const lost = Array.from({ length: 40 }, (_, i) => i + 40);
    for (const apply of [true, false]) {
      const broken = await night([20, ...lost], job, { apply });
      expect(brief(broken)).toEqual([4, 0, 'braked']);
      expect(broken.summary.reason).toMatch(/max_orphans/);
    }
    const would = await night([20], job, {});
    expect(brief(would), would.err).toEqual([0, 0, 'succeeded']);
    expect(states(would)).toEqual([`${serial(20)} act 3`]);
    const done = await night([20], job);
    expect([brief(done), stage(20)], done.err).toEqual([[0, 1, 'succeeded'], 'Retired']);
  });

  it('action report never touches any', async () => {
    await open();
    const job = await desk.job('job', { ...JOB, orphans: { action: 'report' } });
    for (let i = 0; i < 3; i++) {
      const one = await night([20], job);
      expect(brief(one), one.err).toEqual([0, 0, 'succeeded']);
      expect(states(one)).toEqual([`${serial(20)} report ${i + 1}`]);
    }
  });

  it('outside the scope it is none', async () => {
    await open();
    const job = await desk.job('job', {
      ...JOB,
      scope: { 'category.name': 'Laptop' },
      orphans: { ...RETIRE, after: 1 },
    });
    const one = await night([3, 4, 20], job);
    expect(brief(one), one.err).toEqual([0, 1, 'succeeded']);
    expect(one.report('orphans.csv').map((line) => line['key'])).toEqual([serial(20)]);
    expect([stage(3), stage(4), stage(20)]).toEqual(['Deployed', 'Deployed', 'Retired']);
    expect(one.summary.reconcile.scope).toMatchObject({ records: COUNT - 10, outside: 10 });
  });

  it('without a key it is none, and is counted', async () => {
    await open();
    desk.sandbox.insert('asset', [
      { name: 'No serial', category: { id: 1 } },
      { name: 'Blank', serial_number: '', category: { id: 1 } },
    ]);
    const job = await desk.job('job', { ...JOB, orphans: { ...RETIRE, after: 1 } });
    const one = await night([], job);
    expect(brief(one), one.err).toEqual([0, 0, 'succeeded']);
    expect(one.summary.reconcile.scope).toMatchObject({ records: COUNT + 2, without_key: 2 });
    expect(one.report('orphans.csv')).toEqual([]);
  });
});

describe('orphans are not touched where it is not certain that they are any', () => {
  it('while the count does not agree with the pages', async () => {
    await open();
    const job = await desk.job('job', { ...JOB, orphans: { ...RETIRE, after: 1 } });
    desk.sandbox.setFaults(['GET /asset/ every=3 wrong_count=1']);
    const one = await night([20], job);
    expect(one.summary.reconcile.read.certified, one.err).toBe(false);
    expect(one.summary.reconcile.orphans['held_reason']).toBeTruthy();
    expect([one.writes, stage(20)]).toEqual([0, 'Deployed']);
    expect(orphan(one, 20)?.['absences'] ?? '0').toBe('0');
    expect(one.report('orphans.csv').map((line) => line['state'])).not.toContain('act');
    desk.sandbox.setFaults([]);
    const two = await night([20], job);
    expect(two.summary.reconcile.read.certified).toBe(true);
    expect([two.writes, stage(20)], two.err).toEqual([1, 'Retired']);
    expect(orphan(two, 20)?.['absences']).toBe('1');
  });

  it.each(['asset', 'contract'] as const)('while %s records come and go under every page', async (resource) => {
    desk = await openNights();
    desk.sandbox.insert('supplier', [{ name: 'Acme' }]);
    // The first in the list, so that every one that goes moves all that follow into other pages.
    const filler = (n: number) => (resource === 'asset' ? { name: `Filler ${n}` } : contract(`F-${n}`));
    const gone = desk.sandbox.insert(
      resource,
      Array.from({ length: 100 }, (_, n) => filler(n)),
    );
    const body = (i: number) =>
      resource === 'asset'
        ? { name: `Asset ${i}`, serial_number: serial(i), category: { id: 1 } }
        : contract(serial(i));
    const ids = desk.sandbox.insert(
      resource,
      Array.from({ length: COUNT }, (_, i) => body(i)),
    );
    const job = await desk.job('job', {
      kind: 'reconcile',
      resource,
      match: { key: resource === 'asset' ? 'serial_number' : 'number' },
      columns: { Serial: resource === 'asset' ? 'serial_number' : 'number', Name: 'name' },
      orphans: { action: resource === 'asset' ? RETIRE.action : 'archive', after: 1 },
      ...(resource === 'contract' ? { scope: { description: 'of the file' }, constants: NEW_CONTRACT } : {}),
      brakes: { max_creates: '100%' },
    });
    let moved = 0;
    desk.onRequest = ({ method, path, query }) => {
      if (method !== 'GET' || path.replaceAll('/', '') !== resource || query.get('page') === null) return;
      if (moved === gone.length) return;
      desk.sandbox.remove(resource, gone[moved]!);
      desk.sandbox.insert(resource, [filler(1000 + moved++)]);
    };
    const text = csvText(
      [
        ['Serial', 'Name'],
        ...Array.from({ length: COUNT }, (_, i) => [
          serial(i),
          resource === 'asset' ? `Asset ${i}` : `Title ${serial(i)}`,
        ]),
      ].filter((_, line) => line !== 21),
    );
    const one = await desk.night(await desk.file('moving.csv', text), job, { apply: true });
    expect(moved).toBeGreaterThan(5);
    // Whatever was missed in a page that moved: no key gets a second record, and nothing but the true orphan is touched.
    expect(one.commits.filter(({ id }) => id !== ids[20])).toEqual([]);
    expect(one.report('results.csv').filter((line) => line['outcome'] === 'created')).toEqual([]);
    if (!one.summary.reconcile.read.certified) expect(one.writes).toBe(0);
  });

  it('while a row has no key that can be read', async () => {
    await open();
    const job = await desk.job('job', { ...JOB, orphans: { ...RETIRE, after: 1 } });
    const keyless = file([20]).replace(serial(30), '  ');
    const one = await night(keyless, job);
    expect([one.code, one.writes, stage(20)], one.err).toEqual([3, 0, 'Deployed']);
    expect(one.summary.reconcile.orphans['held_reason']).toMatch(/key/);
    expect(one.report('orphans.csv').map((line) => line['state'])).not.toContain('act');
    const two = await night([20], job);
    expect([two.code, two.writes, stage(20)], two.err).toEqual([0, 1, 'Retired']);
    expect(orphan(two, 20)?.['absences']).toBe('1');
  });

  it.each([
    [
      'a quotation mark has swallowed the rows',
      (text: string) => text.replace('Asset 50,', '"Asset 50,').replace('Asset 53,', 'Asset 53",'),
    ],
    ['a row lacks its first cell', (text: string) => text.replace(`${serial(51)},`, '')],
    ['the file was cut within a key', (text: string) => text.slice(0, text.indexOf(serial(118)) + 4)],
    ['a key is an error of the spreadsheet', (text: string) => text.replace(serial(51), '#N/A')],
    ['a key was read in a wrong encoding', (text: string) => text.replace(serial(51), 'SÃ©rie 51')],
    [
      'a key was read by a guess at the encoding',
      (text: string) => Buffer.from(text.replace(serial(51), 'M\x9fller'), 'latin1'),
    ],
  ])('while %s', async (_, damage) => {
    await open();
    const brakes = { max_orphans: '50%', max_change: '50%' };
    const job = await desk.job('job', { ...JOB, orphans: { ...RETIRE, after: 2 }, brakes });
    await night(damage(file([])), job);
    const two = await night(damage(file([])), job);
    expect(two.summary.reconcile.orphans['held_reason'], two.err).toMatch(/no key that can be read for certain/);
    for (let i = 0; i < COUNT; i++) expect(stage(i), serial(i)).toBe('Deployed');
  });

  it('where its row is there and invalid, ambiguous or twice', async () => {
    await open();
    desk.sandbox.insert('asset', [{ serial_number: serial(31), name: 'A copy', category: { id: 1 } }]);
    const job = await desk.job('job', { ...JOB, orphans: { ...RETIRE, after: 1 } });
    const text = file([])
      .replace('Asset 30', 'x'.repeat(60))
      .concat(`${serial(32)},Again,\r\n`);
    const one = await night(text, job);
    expect([one.code, one.writes], one.err).toEqual([3, 0]);
    expect(one.summary.rows).toMatchObject({ invalid: 1, ambiguous: 1, duplicate: 1 });
    expect(one.report('orphans.csv')).toEqual([]);
  });

  it('each is read once more before it is set: what somebody did meanwhile stands', async () => {
    await open();
    const job = await desk.job('job', { ...JOB, orphans: { ...RETIRE, after: 1 }, brakes: { max_orphans: '50%' } });
    let asked = false;
    desk.onRequest = ({ method, path }) => {
      // The first reading by id is that of an orphan: nothing else is written tonight.
      if (asked || method !== 'GET' || !/^\/asset\/\d+/.test(path)) return;
      asked = true;
      desk.sandbox.edit('asset', 21, { serial_number: serial(25) });
      desk.sandbox.edit('asset', 22, { lifecycle_stage: 'Sold' });
      desk.sandbox.edit('asset', 23, { asset_notes: 'kept by a person' });
      desk.sandbox.remove('asset', 24);
    };
    const one = await night([20, 21, 22, 23, 24], job);
    expect(asked).toBe(true);
    expect(desk.sandbox.record('asset', 21)).toMatchObject({ serial_number: serial(25), lifecycle_stage: 'Deployed' });
    expect(desk.sandbox.record('asset', 22)).toMatchObject({ lifecycle_stage: 'Sold' });
    expect(desk.sandbox.record('asset', 23)).toMatchObject({
      asset_notes: 'kept by a person',
      lifecycle_stage: 'Retired',
    });
    expect(desk.sandbox.record('asset', 24)).toBeUndefined();
    expect(desk.sandbox.record('asset', 25)).toMatchObject({ lifecycle_stage: 'Retired' });
    expect(one.code, one.err).toBe(3);
    expect(one.report('orphans.csv').map((line) => `${line['id']} ${line['outcome']}`)).toEqual([
      expect.stringMatching(/^21 (conflict|skipped|unchanged)/),
      expect.stringMatching(/^22 conflict/),
      '23 updated',
      expect.stringMatching(/^24 (conflict|unchanged)/),
      '25 updated',
    ]);
  });
});

describe('contracts', () => {
  const CONTRACTS = {
    kind: 'reconcile',
    resource: 'contract',
    match: { key: 'number' },
    columns: { No: 'number', Title: 'name' },
    orphans: { action: 'archive', after: 1 },
    brakes: { max_orphans: '50%' },
  };
  it('are archived, keep everything else, and those that are archived already are left alone', async () => {
    desk = await openNights();
    desk.sandbox.insert('supplier', [{ name: 'Acme' }]);
    desk.sandbox.insert(
      'contract',
      Array.from({ length: 40 }, (_, i) => contract(`C-${i}`, i === 6 ? 'archived' : i === 7 ? 'expired' : 'active')),
    );
    const before = desk.sandbox.raw('contract');
    const job = await desk.job('contracts', CONTRACTS);
    const rows = Array.from({ length: 40 }, (_, i) => [`C-${i}`, `Title C-${i}`]).filter(
      (_, i) => ![5, 6, 7].includes(i),
    );
    const one = await desk.night(await desk.file('c.csv', csvText([['No', 'Title'], ...rows])), job, { apply: true });
    expect([0, 3], one.err).toContain(one.code);
    const touched = one.commits.map(({ method, id }) => `${method} ${id}`).sort();
    expect(touched).toEqual(['PUT 6', 'PUT 8']);
    expect(desk.sandbox.raw('contract')).toEqual(
      before.map((raw) => ([6, 8].includes(raw['id'] as number) ? { ...raw, status: 'archived' } : raw)),
    );
    expect(one.report('orphans.csv').map((line) => `${line['id']} ${line['state']}`)).toEqual([
      '6 act',
      '7 done',
      '8 act',
    ]);
  });

  it('only they can be archived', async () => {
    await open();
    const before = worldText(desk);
    const job = await desk.job('job', { ...JOB, orphans: { action: 'archive', after: 1 } });
    const one = await night([20], job);
    expect([one.code, one.writes], one.err).toEqual([2, 0]);
    expect(one.err).toMatch(/archive/);
    expect(worldText(desk)).toBe(before);
  });
});
