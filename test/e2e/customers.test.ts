import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { csv, type Desk, openDesk } from '../support/desk.js';
import { importOf } from '../support/jobs.js';
import { stored, storedOne, strangerHome } from '../support/records.js';

let desk: Desk;

const COLUMNS = {
  Customer: 'name',
  Category: 'category.name',
  Contact: 'contact_person.name',
  Mail: 'contact_person.email',
  Role: 'contact_person.type',
  City: 'city',
  Country: 'country',
  Phone: 'phone',
  NDA: 'nda_signed',
  'NDA date': 'nda_signed_date',
  Risk: 'template.Compliance.Risk Class',
  Audit: 'template.Compliance.Audit Date',
};
const ROW = {
  Customer: 'Alpine Sports',
  Category: 'Services',
  Contact: 'Heidi',
  Mail: 'h@alpine.example',
  Role: 'billing',
  City: 'Zürich',
  Country: 'CH',
  Phone: '+41 1',
  NDA: 'yes',
  'NDA date': '2024-02-29',
  Risk: 'Low',
  Audit: '2025-01-31',
};
const JOB = { kind: 'import', resource: 'customer', match: { key: 'name' }, columns: COLUMNS } as const;

const sheet = (rows: readonly Partial<typeof ROW>[]) =>
  csv([
    Object.keys(COLUMNS),
    ...rows.map((row) => Object.keys(COLUMNS).map((key) => ({ ...ROW, ...row })[key as keyof typeof ROW])),
  ]);

describe.each(['bare', 'full'] as const)('customers, which cannot be read (%s answers)', (responses) => {
  it('are created; the second import is unchanged, without any request about them', async () => {
    desk = await openDesk({ responses });
    const file = await desk.file('c.csv', sheet([{}, { Customer: 'Baltic Foods', Country: 'Latvia' }]));
    const first = await desk.import(file, JOB);
    expect([first.outcomes, first.results.map((row) => row['id'])]).toEqual([
      ['2 created', '3 created'],
      ['1', '2'],
    ]);
    const after = stored(desk.sandbox, 'customer');
    desk.sandbox.resetRequests();
    const again = await desk.import(file, JOB);
    expect([again.outcomes, again.results.map((row) => row['id'])]).toEqual([
      ['2 unchanged', '3 unchanged'],
      ['1', '2'],
    ]);
    expect(Object.keys(desk.sandbox.requests.kinds).filter((kind) => kind.includes('/customer'))).toEqual([]);
    expect(desk.sandbox.requests.writes).toBe(0);
    expect(stored(desk.sandbox, 'customer')).toEqual(after);
  });

  it('are updated with the whole record that our own last write left, again and again', async () => {
    desk = await openDesk({ responses });
    await desk.import(await desk.file('c.csv', sheet([{}])), JOB);
    const wanted = storedOne(desk.sandbox, 'customer', 1);
    const narrow = (cell: string) =>
      csv([
        ['Customer', 'New'],
        ['Alpine Sports', cell],
      ]);
    for (const [field, cell, name, value] of [
      ['phone', '+41 2', 'phone', '+41 2'],
      ['country', 'Austria', 'country', 40],
      ['contact_person.type', 'sales', 'contact_person', { name: 'Heidi', email: 'h@alpine.example', type: 'sales' }],
      ['nda_signed', 'no', 'nda_signed', false],
    ] as const) {
      const job = { ...JOB, columns: { Customer: 'name', New: field } };
      const result = await desk.import(await desk.file('n.csv', narrow(cell)), job);
      expect([result.outcomes, result.plan.map((one) => `${one['field']} ${one['kind']}`)]).toEqual([
        ['2 updated'],
        [`${field} set`],
      ]);
      wanted[name] = value;
      expect(storedOne(desk.sandbox, 'customer', 1)).toEqual(wanted);
    }
    const cleared = await desk.import(await desk.file('n.csv', narrow('')), {
      ...JOB,
      blank: 'clear',
      columns: { Customer: 'name', New: 'city' },
    });
    expect(cleared.plan.map((one) => `${one['field']} ${one['kind']} ${one['old']}`)).toEqual(['city clear Zürich']);
    delete wanted['city'];
    expect(storedOne(desk.sandbox, 'customer', 1)).toEqual(wanted);
    expect(cleared.summary.requests.writes).toBe(1);
  });

  it('of a home that does not know them: the service refuses the second creation, and nothing is changed', async () => {
    desk = await openDesk({ responses });
    const file = await desk.file('c.csv', sheet([{ Phone: '+41 9' }]));
    await desk.import(await desk.file('first.csv', sheet([{}])), JOB);
    const before = stored(desk.sandbox, 'customer');
    const result = await desk.import(file, JOB, strangerHome(desk));
    expect([result.outcomes, result.exitCode, result.commits]).toEqual([['2 rejected'], 3, 0]);
    expect(result.faults.map((one) => `${one['code']} ${one['origin']}`)).toEqual(['service_rejected service']);
    expect(result.results[0]!['message']).toContain('already exists');
    expect(stored(desk.sandbox, 'customer')).toEqual(before);
  });

  it('whose id is known from a contract, but not what they hold: at risk, by name and by id', async () => {
    desk = await openDesk({ seed: 'demo', responses });
    // A look at the contracts teaches the customers' names.
    const contracts = importOf('contract', { key: 'number', missing: 'skip' }, { No: 'number', Client: 'customer' });
    await desk.import(await desk.file('k.csv', 'No,Client\r\nC-1004,1'), contracts);
    const before = stored(desk.sandbox, 'customer');
    const byName = await desk.import(await desk.file('c.csv', sheet([{ Customer: 'Contoso Retail' }])), JOB);
    expect([byName.outcomes, byName.commits]).toEqual([['2 at_risk'], 0]);
    expect(byName.faults.map((one) => one['code'])).toEqual(['would_lose_value']);
    expect(byName.results[0]!['id']).toBe('1');
    const byId = await desk.import(await desk.file('i.csv', 'Id,Phone\r\n1,5\r\n999,5'), {
      ...JOB,
      match: { key: 'id' },
      columns: { Id: 'id', Phone: 'phone' },
    });
    expect([byId.outcomes, byId.commits]).toEqual([['2 at_risk', '3 at_risk'], 0]);
    // Nobody knows whether it exists, and no probe could tell.
    expect(byId.faults[1]?.['message']).not.toMatch(/exists|--probe/);
    const warned = await desk.import(await desk.file('c.csv', sheet([{ Customer: 'Contoso Retail' }])), {
      ...JOB,
      write: { at_risk: 'warn' },
    });
    expect([warned.outcomes, warned.commits]).toEqual([['2 at_risk'], 0]);
    expect(stored(desk.sandbox, 'customer')).toEqual(before);
  });

  it('are renamed by id, and found by the new name afterwards, not by the old one', async () => {
    desk = await openDesk({ responses });
    await desk.import(await desk.file('c.csv', sheet([{}])), JOB);
    const wanted = storedOne(desk.sandbox, 'customer', 1);
    const byId = { ...JOB, match: { key: 'id' }, columns: { Id: 'id', Name: 'name' } };
    expect((await desk.import(await desk.file('r.csv', 'Id,Name\r\n1,Alpine AG'), byId)).outcomes).toEqual([
      '2 updated',
    ]);
    expect(storedOne(desk.sandbox, 'customer', 1)).toEqual({ ...wanted, name: 'Alpine AG' });
    const file = await desk.file('c.csv', sheet([{ Customer: 'Alpine AG' }, { Customer: 'Alpine Sports' }]));
    expect((await desk.import(file, JOB)).outcomes).toEqual(['2 unchanged', '3 created']);
  });

  it('a refused update leaves what we know as it was', async () => {
    desk = await openDesk({ responses });
    await desk.import(await desk.file('c.csv', sheet([{}])), JOB);
    desk.sandbox.setFaults(['PUT /customer nth=1 status=400 body="no" content_type=text/plain']);
    const changed = await desk.file('d.csv', sheet([{ Phone: '+41 7' }]));
    expect((await desk.import(changed, JOB)).outcomes).toEqual(['2 rejected']);
    const again = await desk.import(changed, JOB);
    expect([again.outcomes, again.plan.map((one) => `${one['field']} ${one['old']}`)]).toEqual([
      ['2 updated'],
      ["phone '+41 1"],
    ]);
    expect(storedOne(desk.sandbox, 'customer', 1)).toMatchObject({ phone: '+41 7', city: 'Zürich' });
  });
});

describe('customers and the rules of the job', () => {
  it('existing: skip leaves known ones alone, missing: skip creates none', async () => {
    desk = await openDesk();
    await desk.import(await desk.file('c.csv', sheet([{}])), JOB);
    const file = await desk.file('d.csv', sheet([{ Phone: '9' }, { Customer: 'Other' }]));
    const skip = await desk.import(file, { ...JOB, match: { key: 'name', existing: 'skip', missing: 'skip' } });
    expect([skip.outcomes, skip.commits]).toEqual([['2 skipped', '3 skipped'], 0]);
    const fail = await desk.import(file, { ...JOB, match: { key: 'name', existing: 'fail', missing: 'fail' } });
    expect([fail.outcomes, fail.commits]).toEqual([['2 invalid', '3 invalid'], 0]);
    expect(fail.faults.map((one) => one['code'])).toEqual(['record_exists', 'record_not_found']);
  });

  it('their names match without regard to outer blanks and Unicode form; one that only looks the same is held back (98)', async () => {
    desk = await openDesk();
    await desk.import(await desk.file('c.csv', sheet([{ Customer: 'Café Ａ' }])), JOB);
    const file = await desk.file('d.csv', [
      ['Customer', 'Phone'],
      [' Cafe\u0301 A ', '9'],
      ['Café  A', '9'],
    ]);
    const result = await desk.import(file, { ...JOB, columns: { Customer: 'name', Phone: 'phone' } });
    expect(result.outcomes).toEqual(['2 updated', '3 ambiguous']);
    expect(result.faults.map((one) => one['code'])).toEqual(['near_match', 'near_match']);
    expect(stored(desk.sandbox, 'customer').size).toBe(1);
  });

  it('a dry run tells what would happen and leaves no trace in what is known', async () => {
    desk = await openDesk();
    const file = await desk.file('c.csv', sheet([{}]));
    expect((await desk.import(file, JOB, { dryRun: true })).outcomes).toEqual(['2 created']);
    expect((await desk.import(file, JOB)).outcomes).toEqual(['2 created']);
    const changed = await desk.file('d.csv', sheet([{ Phone: '+41 7' }]));
    expect((await desk.import(changed, JOB, { dryRun: true })).outcomes).toEqual(['2 updated']);
    expect((await desk.import(file, JOB)).outcomes).toEqual(['2 unchanged']);
  });

  it('two runs at once on one home: each customer once, both known afterwards', async () => {
    desk = await openDesk();
    const one = await desk.file('one.csv', sheet([{ Customer: 'Shared' }, { Customer: 'Only one' }]));
    const two = await desk.file('two.csv', sheet([{ Customer: 'Shared' }, { Customer: 'Only two' }]));
    const runs = await Promise.all([desk.import(one, JOB), desk.import(two, JOB)]);
    const outcomes = runs.flatMap((run) => run.results.map((row) => `${row['key']} ${row['outcome']}`)).sort();
    expect(outcomes.slice(0, 2)).toEqual(['Only one created', 'Only two created']);
    expect(outcomes.slice(2)).toEqual(['Shared created', 'Shared unchanged']);
    const names = [...stored(desk.sandbox, 'customer').values()].map((record) => record['name']);
    expect(names.sort()).toEqual(['Only one', 'Only two', 'Shared']);
    for (const file of [one, two]) {
      const again = await desk.import(file, JOB);
      expect([again.outcomes, again.commits]).toEqual([['2 unchanged', '3 unchanged'], 0]);
    }
  });
});

it('customers whose updates are answered with less than the record are not asked for', async () => {
  desk = await openDesk();
  await desk.import(await desk.file('c.csv', sheet([{}])), JOB);
  desk.sandbox.setFaults(['PUT /customer/1 status=200 execute body="{\\"id\\":1}"']);
  desk.sandbox.resetRequests();
  const result = await desk.import(await desk.file('d.csv', sheet([{ Phone: '+41 7' }])), JOB);
  expect([result.outcomes, storedOne(desk.sandbox, 'customer', 1)['phone']]).toEqual([['2 updated'], '+41 7']);
  expect(Object.keys(desk.sandbox.requests.kinds).filter((kind) => kind.startsWith('GET /customer'))).toEqual([]);
});

describe('before the update of a customer', () => {
  it('the record as our last write left it is kept, in write form', async () => {
    desk = await openDesk();
    const file = await desk.file('c.csv', sheet([{}]));
    await desk.import(file, JOB);
    const changed = await desk.import(await desk.file('d.csv', sheet([{ City: 'Basel' }])), JOB);
    expect(changed.outcomes).toEqual(['2 updated']);
    const lines = (await readFile(join(changed.reportDir, 'before.ndjson'), 'utf8')).trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { row: 2, id: 1, record: { id: 1, name: 'Alpine Sports', city: 'Zürich', country: 756 } },
    ]);
  });
});
