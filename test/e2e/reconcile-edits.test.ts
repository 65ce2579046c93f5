import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { PLAIN_CONTRACT } from '../support/jobs.js';
import { csvText, type Desk, type Line, type Night, openNights } from './reconcile-night.js';

/** What people do to records between the plan of a reconciliation and its writes, and between a plan and its approval. */

let desk: Desk;
afterEach(() => desk.close());

type Resource = 'asset' | 'contract';

const COUNT = 150;
const PLANNED = 60;

/** Without `unique_field`: nothing but the worker's own look keeps a key from being created twice. */
const JOBS: Readonly<Record<Resource, object>> = {
  asset: {
    kind: 'reconcile',
    resource: 'asset',
    match: { key: 'serial_number' },
    columns: { No: 'serial_number', Name: 'name', Notes: 'asset_notes', Money: 'original_cost' },
    brakes: { max_updates: '100%' },
  },
  contract: {
    kind: 'reconcile',
    resource: 'contract',
    match: { key: 'number' },
    columns: {
      No: 'number',
      Name: 'name',
      Notes: 'description',
      Money: 'mrc',
      Total: 'total_contract_spend_value',
      Vendor: 'supplier',
    },
    constants: {
      contract_type: 'buy_side',
      country: 'DE',
      contract_start_date: '2024-01-01',
      contract_end_date: '2027-01-01',
      status: 'active',
    },
    brakes: { max_updates: '100%' },
  },
};
/** Name of the field that the column `Notes` sets, and of one that no column sets. */
const FIELD: Readonly<Record<Resource, { notes: string; other: string }>> = {
  asset: { notes: 'asset_notes', other: 'financial_notes' },
  contract: { notes: 'description', other: 'timeline_notes' },
};

const no = (i: number) => `N-${1000 + i}`;
const row = (resource: Resource, i: number, notes = `old ${i}`) => [
  no(i),
  `Thing ${i}`,
  notes,
  '5.00',
  ...(resource === 'contract' ? ['100.00', 'Acme'] : []),
];
const headings = (resource: Resource) => [
  'No',
  'Name',
  'Notes',
  'Money',
  ...(resource === 'contract' ? ['Total', 'Vendor'] : []),
];
const body = (resource: Resource, i: number): object =>
  resource === 'asset'
    ? { serial_number: no(i), name: `Thing ${i}`, asset_notes: `old ${i}`, original_cost: 5, category: { id: 1 } }
    : {
        ...PLAIN_CONTRACT,
        number: no(i),
        name: `Thing ${i}`,
        description: `old ${i}`,
        mrc: 5,
        contract_end_date: '2027-01-01',
      };

/** The file sets new notes in the first `PLANNED` records, and has three more rows than the service has records. */
const file = (resource: Resource, notes = (i: number) => `new ${i}`) =>
  csvText([
    headings(resource),
    ...Array.from({ length: COUNT + 3 }, (_, i) => row(resource, i, i < PLANNED || i >= COUNT ? notes(i) : undefined)),
  ]);

async function open(resource: Resource): Promise<void> {
  desk = await openNights();
  desk.sandbox.insert('supplier', [{ name: 'Acme' }]);
  desk.sandbox.insert(
    resource,
    Array.from({ length: COUNT }, (_, i) => body(resource, i)),
  );
}

const idOf = (resource: Resource, i: number): number => {
  const field = resource === 'asset' ? 'serial_number' : 'number';
  return desk.sandbox.records(resource).find((one) => one[field] === no(i))!['id'] as number;
};

/** Does something as soon as the latest run has made its plan, before the first request after that takes effect. */
function whenPlanned(edit: () => void): () => boolean {
  const runs = join(desk.home, 'runs');
  const earlier = new Set(existsSync(runs) ? readdirSync(runs) : []);
  let done = false;
  desk.onRequest = () => {
    if (done || !existsSync(runs)) return;
    const run = readdirSync(runs).find((name) => !earlier.has(name));
    if (run === undefined || !existsSync(join(runs, run, 'work', 'plan.ndjson'))) return;
    done = true;
    edit();
  };
  return () => done;
}

const line = (night: Night, i: number): Line => night.report('results.csv')[i]!;
const bodiesOf = (night: Night, id: number) =>
  night.commits.filter((one) => one.method === 'PUT' && one.id === id).map((one) => JSON.parse(one.body ?? '{}'));

const CASES: readonly (readonly [what: string, resource: Resource, nightBefore: boolean])[] = [
  ['assets, read whole', 'asset', false],
  ['assets, read by what changed', 'asset', true],
  ['contracts', 'contract', false],
];

describe('between the plan and the writes', () => {
  it.each(CASES)('%s: a conflict where the same field was changed, both values where another was', async (...given) => {
    const [, resource, nightBefore] = given;
    const { notes, other } = FIELD[resource];
    await open(resource);
    const job = await desk.job('job', JOBS[resource]);
    if (nightBefore) {
      const agreeing = await desk.file(
        'before.csv',
        file(resource, (i) => `old ${i}`)
          .split('\r\n')
          .slice(0, COUNT + 1)
          .join('\r\n'),
      );
      const quiet = await desk.night(agreeing, job, { apply: true });
      expect([quiet.code, quiet.writes], quiet.err).toEqual([0, 0]);
    }
    const [same, another, both, alike, gone] = [3, 4, 5, 6, 7].map((i) => idOf(resource, i)) as [
      number,
      number,
      number,
      number,
      number,
    ];
    const fired = whenPlanned(() => {
      desk.sandbox.edit(resource, same, { [notes]: 'a person’s word' });
      desk.sandbox.edit(resource, another, { [other]: 'kept by a person' });
      desk.sandbox.edit(resource, both, { [notes]: 'mine', [other]: 'mine, too' });
      desk.sandbox.edit(resource, alike, { [notes]: 'new 6' });
      desk.sandbox.remove(resource, gone);
      // One of the records that the plan creates.
      desk.sandbox.insert(resource, [{ ...body(resource, COUNT + 1), name: 'Typed in by hand' }]);
    });
    const night = await desk.night(await desk.file('new.csv', file(resource)), job, { apply: true });
    expect(fired()).toBe(true);
    expect(night.code, night.err).toBe(3);
    const shown = (i: number) => ({ outcome: line(night, i)['outcome'], codes: line(night, i)['codes'] });

    expect(shown(3)).toEqual({ outcome: 'conflict', codes: 'changed_meanwhile' });
    expect(desk.sandbox.record(resource, same)).toMatchObject({ [notes]: 'a person’s word' });
    expect(bodiesOf(night, same)).toEqual([]);

    expect(shown(4)).toMatchObject({ outcome: 'updated' });
    expect(desk.sandbox.record(resource, another)).toMatchObject({ [notes]: 'new 4', [other]: 'kept by a person' });
    expect(bodiesOf(night, another)).toHaveLength(1);

    expect(shown(5)).toEqual({ outcome: 'conflict', codes: 'changed_meanwhile' });
    expect(desk.sandbox.record(resource, both)).toMatchObject({ [notes]: 'mine', [other]: 'mine, too' });
    expect(bodiesOf(night, both)).toEqual([]);

    expect(shown(6)).toMatchObject({ outcome: 'unchanged' });
    expect(bodiesOf(night, alike)).toEqual([]);

    // Taken away: not brought back, and told.
    expect(['conflict', 'rejected']).toContain(shown(7).outcome);
    expect(desk.sandbox.record(resource, gone)).toBeUndefined();

    // Created by somebody else: not a second time, and not changed by a row that was to create it.
    expect(shown(COUNT + 1)).toEqual({ outcome: 'conflict', codes: 'changed_meanwhile' });
    const field = resource === 'asset' ? 'serial_number' : 'number';
    const typed = desk.sandbox.records(resource).filter((one) => one[field] === no(COUNT + 1));
    expect(typed.map((one) => one['name'])).toEqual(['Typed in by hand']);

    expect(night.summary.rows).toMatchObject({
      updated: PLANNED - 4,
      created: 2,
      conflict: 4,
      unchanged: COUNT - PLANNED + 1,
    });
    expect(night.commits).toHaveLength(PLANNED - 4 + 2);

    // The night after settles what was left, on what is there now.
    desk.onRequest = undefined;
    const next = await desk.night(await desk.file('next.csv', file(resource).replace('Thing 0', 'Thing zero')), job, {
      apply: true,
    });
    expect(next.code, next.err).toBe(0);
    expect(desk.sandbox.record(resource, both)).toMatchObject({ [notes]: 'new 5', [other]: 'mine, too' });
    expect(desk.sandbox.record(resource, same)).toMatchObject({ [notes]: 'new 3' });
  });

  // Of many assets what changed since the reading is read at once before the first is written; from then on a record is
  // believed for a minute (contract, section 7). All others are read right before they are written, as here.
  it('rows that are still to be sent when the first one goes out', async () => {
    const { notes, other } = FIELD.contract;
    await open('contract');
    const job = await desk.job('job', JOBS.contract);
    const last = idOf('contract', PLANNED - 1);
    const next = idOf('contract', PLANNED - 2);
    let done = false;
    desk.onRequest = ({ method }) => {
      if (done || method === 'GET') return;
      done = true;
      desk.sandbox.edit('contract', last, { [notes]: 'a person’s word' });
      desk.sandbox.edit('contract', next, { [other]: 'kept by a person' });
    };
    const night = await desk.night(await desk.file('new.csv', file('contract')), job, {
      apply: true,
      args: ['--concurrency', '1'],
    });
    expect(done).toBe(true);
    expect({
      outcome: line(night, PLANNED - 1)['outcome'],
      notes: desk.sandbox.record('contract', last)![notes],
      other: desk.sandbox.record('contract', next)![other],
    }).toEqual({ outcome: 'conflict', notes: 'a person’s word', other: 'kept by a person' });
  });
});

describe('a braked run that a person approves', () => {
  const braked = { ...JOBS.asset, brakes: { max_updates: '20%' } };

  async function brake(): Promise<{ night: Night; job: string }> {
    await open('asset');
    const job = await desk.job('job', braked);
    const night = await desk.night(await desk.file('new.csv', file('asset')), job, { apply: true });
    expect([night.code, night.writes, night.summary.status], night.err).toEqual([4, 0, 'braked']);
    expect(night.err + night.summary.reason).toMatch(/runs approve/);
    return { night, job };
  }
  const approve = (run: string, by = 'Ada Park') =>
    desk.command(['runs', 'approve', run, ...(by ? ['--by', by] : []), '--json']);

  it('is carried out exactly, by name, and once', async () => {
    const { night } = await brake();
    const before = desk.sandbox.raw('asset');
    const approved = await approve(night.summary.run);
    expect([approved.code, approved.summary.status], approved.err).toEqual([0, 'succeeded']);
    expect(approved.summary).toMatchObject({ kind: 'reconcile', dry_run: false, of_run: night.summary.run });
    expect(approved.summary.run).not.toBe(night.summary.run);
    expect(JSON.stringify(approved.summary)).toContain('Ada Park');
    // What a person looks at before approving: every planned change, old and new.
    const shown = night.report('differences.csv');
    expect(shown.map((one) => `${one['row']} ${one['service']} ${one['file']} ${one['action']}`)).toEqual(
      Array.from({ length: PLANNED }, (_, i) => `${i + 2} old ${i} new ${i} set`),
    );
    const lines = night.report('plan.csv');
    const planned = lines
      .filter((one) => one['id'] !== '')
      .map((one) => `${one['row']} ${one['id']} ${one['field']} ${one['new']}`);
    expect(new Set(lines.flatMap((one) => (one['id'] === '' ? [one['row']] : []))).size).toBe(3);
    const written = approved
      .report('plan.csv')
      .map((one) => `${one['row']} ${one['id']} ${one['field']} ${one['new']}`);
    expect(written).toEqual(planned);
    expect(approved.commits.filter((one) => one.method === 'PUT')).toHaveLength(PLANNED);
    expect(approved.commits.filter((one) => one.method === 'POST')).toHaveLength(3);
    expect(approved.writes).toBe(PLANNED + 3);
    for (const raw of before) {
      const i = Number(String(raw['serial_number']).slice(2)) - 1000;
      expect(desk.sandbox.raw('asset').find((one) => one['id'] === raw['id'])).toEqual(
        i < PLANNED ? { ...raw, asset_notes: `new ${i}` } : raw,
      );
    }
    const again = await approve(night.summary.run);
    expect(again.writes).toBe(0);
    expect(again.code).not.toBe(143);
  });

  it.each([
    ['the field that it sets', { asset_notes: 'a person’s word' }, 'conflict', 3],
    ['the record, so that it agrees already', { asset_notes: 'new 7' }, 'unchanged', 0],
  ])('leaves the record of which somebody changed %s, and writes the others', async (_, change, outcome, code) => {
    const { night } = await brake();
    const id = idOf('asset', 7);
    desk.sandbox.edit('asset', id, change);
    const approved = await approve(night.summary.run);
    expect([approved.code, approved.writes], approved.err).toEqual([code, PLANNED - 1 + 3]);
    expect(line(approved, 7)['outcome']).toBe(outcome);
    expect(approved.report('results.csv').filter((one) => one['outcome'] === 'conflict').length).toBe(
      code === 3 ? 1 : 0,
    );
    expect(desk.sandbox.record('asset', id)).toMatchObject(change);
    expect(approved.commits.some((one) => one.id === id)).toBe(false);
  });

  it('does not write over what somebody created that it was to create', async () => {
    const { night } = await brake();
    const [id = 0] = desk.sandbox.insert('asset', [{ ...body('asset', COUNT + 2), asset_notes: 'a person’s word' }]);
    const approved = await approve(night.summary.run);
    expect([approved.code, approved.writes], approved.err).toEqual([3, PLANNED + 2]);
    expect(line(approved, COUNT + 2)['outcome']).toBe('conflict');
    expect(desk.sandbox.record('asset', id)).toMatchObject({ asset_notes: 'a person’s word' });
  });

  it('carries over what somebody changed in other fields meanwhile', async () => {
    const { night } = await brake();
    const id = idOf('asset', 7);
    desk.sandbox.edit('asset', id, { financial_notes: 'kept by a person' });
    const approved = await approve(night.summary.run);
    expect([approved.code, approved.writes], approved.err).toEqual([0, PLANNED + 3]);
    expect(desk.sandbox.record('asset', id)).toMatchObject({
      asset_notes: 'new 7',
      financial_notes: 'kept by a person',
    });
  });

  it('needs a name, a run that was braked, and no changed source', async () => {
    const { night, job } = await brake();
    const nameless = await approve(night.summary.run, '');
    expect([nameless.code, nameless.writes]).toEqual([2, 0]);
    // The file may be gone by now: the run has its own copy.
    await desk.file('new.csv', 'overwritten by the next night');
    const quiet = csvText([headings('asset'), ...Array.from({ length: COUNT }, (_, i) => row('asset', i))]);
    const fine = await desk.night(await desk.file('small.csv', quiet), job, { apply: true });
    expect([fine.code, fine.writes], fine.err).toEqual([0, 0]);
    // Carried out already.
    const wrong = await approve(fine.summary.run);
    expect([wrong.code, wrong.writes], wrong.err).toEqual([2, 0]);
    const approved = await approve(night.summary.run);
    expect([approved.code, approved.writes], approved.err).toEqual([0, PLANNED + 3]);
  });
});
