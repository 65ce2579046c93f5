import { beforeEach, describe, expect, it } from 'vitest';
import { type Desk, type ImportOptions, openDesk } from '../support/desk.js';
import { importOf, PLAIN_CONTRACT } from '../support/jobs.js';

let desk: Desk;
let asked: string[];
beforeEach(async () => {
  asked = [];
  desk = await openDesk({
    seed: 'demo',
    onRequest: ({ method, path, query }) => {
      asked.push(`${method} ${path}?${query}`);
    },
  });
});

/** Imports new assets with one column more; cells by row. */
async function assets(field: string | Record<string, string>, rows: readonly (string | string[])[], more: object = {}) {
  const columns: Record<string, string> = typeof field === 'string' ? { [field]: field } : field;
  const lines = rows.map((cells, n) => [`New ${n}`, `NEW-${n}`, ...[cells].flat()]);
  const file = await desk.file('assets.csv', [['Name', 'Serial', ...Object.keys(columns)], ...lines]);
  return desk.import(
    file,
    importOf('asset', 'serial_number', { Name: 'name', Serial: 'serial_number', ...columns }, more),
  );
}

/** A field of what was written for each row, in row order. */
function written(run: Awaited<ReturnType<typeof assets>>, field: string, resource: 'asset' | 'contract' = 'asset') {
  return run.results.map(({ id }) => (id ? desk.sandbox.record(resource, Number(id))?.[field] : undefined));
}

/** `row code column` of each fault. */
const faults = (run: Awaited<ReturnType<typeof assets>>) =>
  run.faults.map((fault) => `${fault['row']} ${fault['code']} ${fault['column']}`);

const asksOf = (path: string) => asked.filter((one) => one.startsWith(`GET ${path}?`));

const CONTRACT = {
  No: 'number',
  Title: 'name',
  Parent: 'parent_contract',
  Total: 'total_contract_spend_value',
  Client: 'customer',
  Unit: 'business_unit',
};

interface ContractRow {
  readonly no: string;
  readonly parent?: string;
  readonly total?: string;
  readonly client?: string;
  readonly unit?: string;
}

/** Imports contracts; buy-side from supplier 1 unless clients are named. */
async function contracts(rows: readonly ContractRow[], more: object = {}, options: ImportOptions = {}) {
  const sell = rows.some((row) => row.client);
  const lines = rows.map(({ no, parent = '', total = '100', client = '', unit = '' }) => [
    no,
    `Contract ${no}`,
    parent,
    total,
    client,
    unit,
  ]);
  const file = await desk.file('contracts.csv', [Object.keys(CONTRACT), ...lines]);
  return desk.import(
    file,
    importOf('contract', 'number', CONTRACT, {
      constants: {
        contract_type: sell ? 'sell_side' : 'buy_side',
        ...(sell ? {} : { supplier: 1 }),
        country: 'US',
        status: 'active',
        'category.name': 'Services',
        contract_start_date: '2025-01-01',
        contract_end_date: '2026-12-31',
        notice_period: 30,
        end_of_term_clause: 'auto_expires',
      },
      ...more,
    }),
    options,
  );
}

const parentOf = (no: string) => {
  const found = desk.sandbox.records('contract').filter((one) => one['number'] === no);
  expect(found).toHaveLength(1);
  return (found[0]?.['parent_contract'] as { number: string } | null)?.number;
};

describe('categories', () => {
  it('are found by name, with their subcategory, or by id', async () => {
    const run = await assets({ Cat: 'category.name', Sub: 'category.subcategory' }, [
      ['Laptop', 'Rugged'],
      [' Server ', 'Rack'],
      ['Facilities', ''],
      ['4', 'Router'],
    ]);
    expect(run.summary.rows.created).toBe(4);
    expect(written(run, 'category')).toEqual([
      { id: 1, name: 'Laptop', subcategory: 'Rugged' },
      { id: 3, name: 'Server', subcategory: 'Rack' },
      expect.objectContaining({ id: 10, name: 'Facilities' }),
      { id: 4, name: 'Network', subcategory: 'Router' },
    ]);
    expect(asksOf('/category/')).toHaveLength(1);
  });

  it('of the same name are told apart by their subcategory', async () => {
    desk.sandbox.putLookup('category', 1, { id: 20, category: 'Laptop', subcategories: ['Gaming', 'Rugged'] });
    const run = await assets({ Cat: 'category.name', Sub: 'category.subcategory' }, [
      ['Laptop', 'Gaming'],
      ['Laptop', 'Business'],
      ['Laptop', 'Rugged'],
      ['Laptop', ''],
      ['Laptop', 'Pink'],
    ]);
    expect(written(run, 'category').slice(0, 2)).toEqual([
      { id: 20, name: 'Laptop', subcategory: 'Gaming' },
      { id: 1, name: 'Laptop', subcategory: 'Business' },
    ]);
    expect(faults(run)).toEqual([
      '4 reference_ambiguous Cat',
      '5 reference_ambiguous Cat',
      '6 reference_ambiguous Cat',
    ]);
    for (const fault of run.faults) expect(fault['message']).toContain('ids 1, 20');
  });

  it('are never guessed: another case or a typing error is refused and the right name suggested', async () => {
    const run = await assets({ Cat: 'category.name', Sub: 'category.subcategory' }, [
      ['laptop', ''],
      ['Labtop', ''],
      ['Zeppelin', ''],
      ['Laptop', 'Businness'],
      ['Facilities', 'Roof'],
    ]);
    expect(run.commits).toBe(0);
    expect(faults(run)).toEqual([
      '2 reference_not_found Cat',
      '3 reference_not_found Cat',
      '4 reference_not_found Cat',
      '5 reference_not_found Sub',
      '6 reference_not_found Sub',
    ]);
    const [wrongCase, typo, unknown, sub, none] = run.faults.map((fault) => fault['message'] ?? '');
    expect(wrongCase).toContain('"Laptop"');
    expect(typo).toContain('"Laptop"');
    expect(unknown).not.toContain('Did you mean');
    expect(sub).toMatch(/"Business", "Engineering", "Rugged"/);
    expect(none).toMatch(/none/);
    expect(run.faults.map((fault) => fault['value'])).toEqual(['laptop', 'Labtop', 'Zeppelin', 'Businness', 'Roof']);
  });
});

describe('a category and the subcategory beside it', () => {
  const held = (serial: string) => desk.sandbox.records('asset').find((one) => one['serial_number'] === serial);
  const put = (serial: string, category: object | null) =>
    desk.sandbox.insert('asset', [{ name: 'Held', serial_number: serial, ...(category ? { category } : {}) }]);

  async function update(columns: Record<string, string>, rows: readonly string[][], options: ImportOptions = {}) {
    const file = await desk.file('u.csv', [['Serial', ...Object.keys(columns)], ...rows]);
    const job = { kind: 'import', resource: 'asset', match: { key: 'serial_number', missing: 'fail' } };
    return desk.import(file, { ...job, columns: { Serial: 'serial_number', ...columns } }, options);
  }

  it.each([true, false])('have to fit where one of them is changed; dry run: %s (99)', async (dryRun) => {
    for (const n of [1, 2, 3, 4, 5]) put(`P-${n}`, { id: 3, subcategory: 'Rack' });
    const run = await update(
      { Cat: 'category.name', Sub: 'category.subcategory' },
      [
        ['P-1', 'Laptop', ''],
        ['P-2', 'id:1', ''],
        ['P-3', 'Laptop', 'Business'],
        ['P-4', '', 'Business'],
        ['P-5', 'Server', ''],
      ],
      { dryRun },
    );
    expect(run.outcomes).toEqual(['2 invalid', '3 invalid', '4 updated', '5 invalid', '6 unchanged']);
    expect(faults(run)).toEqual(['2 pair_incomplete Sub', '3 pair_incomplete Sub', '5 pair_incomplete Sub']);
    for (const fault of run.faults)
      expect(fault['message']).toMatch(/"(Rack|Business)", which that category does not have/);
    expect(run.faults[0]?.['message']).toContain('It has "Business", "Engineering", "Rugged".');
    expect(held('P-1')?.['category']).toMatchObject({ name: 'Server', subcategory: 'Rack' });
  });

  it('are not asked for where a record has none, and are left as they are where a row changes neither (99)', async () => {
    put('N-1', null);
    put('N-2', { id: 3, subcategory: 'Rack' });
    desk.sandbox.putLookup('category', 1, { id: 3, category: 'Server', subcategories: ['Tower'] });
    const run = await update({ Notes: 'asset_notes' }, [
      ['N-1', 'seen'],
      ['N-2', 'seen'],
    ]);
    expect([held('N-1')?.['asset_notes'], held('N-1')?.['category']]).toEqual(['seen', null]);
    expect(run.outcomes[0]).toBe('2 updated');
    // What the service says of the pair that it holds is its own word.
    expect(run.outcomes[1]).toBe('3 rejected');
    expect(asked.filter((one) => /^(PUT|POST)/.test(one))).toHaveLength(2);
  });
});

describe('owners', () => {
  it('are found by name, by e-mail in any case, or by id', async () => {
    desk.sandbox.putLookup('asset-owner', 1, {
      id: 30,
      name: 'Mixed Case',
      email: 'Mixed.Case@Northwind.example',
      phone: '',
    });
    const run = await assets('asset_owner', [
      'Ada Park',
      'BEN.OSEI@northwind.example',
      'chloe.martin@northwind.example',
      'mixed.case@northwind.example',
      '7',
      'sam.lee2@northwind.example',
    ]);
    expect(run.summary.rows.created).toBe(6);
    expect(written(run, 'asset_owner').map((owner) => (owner as { id: number }).id)).toEqual([1, 2, 3, 30, 7, 10]);
    expect(asksOf('/asset-owner/')).toHaveLength(1);
  });

  it('that share a name are refused with their ids; unknown ones get suggestions', async () => {
    const run = await assets('asset_owner', ['Sam Lee', 'Ada Parks', 'grace.kin@northwind.example']);
    expect(faults(run)).toEqual([
      '2 reference_ambiguous asset_owner',
      '3 reference_not_found asset_owner',
      '4 reference_not_found asset_owner',
    ]);
    const [ambiguous, name, email] = run.faults.map((fault) => fault['message'] ?? '');
    expect(ambiguous).toContain('ids 9, 10');
    expect(name).toContain('"Ada Park"');
    expect(email).toContain('grace.kim@northwind.example');
  });
});

describe('usage statuses and suppliers', () => {
  it('are found by name or id, each list read once', async () => {
    const run = await assets({ Usage: 'usage_status', Vendor: 'attached_supplier' }, [
      ['Production', 'Acme Computers'],
      ['In repair', 'Café Réseau SARL'],
      ['2', '山本電機株式会社'],
      ['', 'Cafe\u0301 Re\u0301seau  SARL'],
      ['', '3'],
    ]);
    expect(run.summary.rows.created).toBe(5);
    expect(written(run, 'usage_status').map((one) => (one as { id: number } | null)?.id)).toEqual([
      1,
      5,
      2,
      undefined,
      undefined,
    ]);
    expect(written(run, 'attached_supplier').map((one) => (one as { id: number }).id)).toEqual([1, 7, 19, 7, 3]);
    expect(asksOf('/usage-status/')).toHaveLength(1);
    expect(asksOf('/supplier/').map((one) => /page=(\d+)/.exec(one)?.[1])).toEqual(['1', '2']);
  });

  it('that are unknown are refused with the nearest names', async () => {
    const run = await assets({ Usage: 'usage_status', Vendor: 'attached_supplier' }, [['Productoin', 'Acme Computer']]);
    expect(faults(run)).toEqual(['2 reference_not_found Usage', '2 reference_not_found Vendor']);
    expect(run.faults[0]?.['message']).toContain('"Production"');
    expect(run.faults[1]?.['message']).toContain('"Acme Computers"');
  });

  it('a list whose ids are marked as such is not read', async () => {
    const run = await assets('attached_supplier', ['id:1', 'ID: 2']);
    expect(run.summary.rows.created).toBe(2);
    expect(asksOf('/supplier/')).toEqual([]);
  });
});

describe('numbers', () => {
  /** A name of digits that is also an id, one that is not, and one that several records bear. */
  const put = () => {
    desk.sandbox.insert('supplier', [{ name: '2' }, { name: '4711' }]);
    for (const [id, name] of [
      [20, '2'],
      [21, '4711'],
      [22, '88'],
      [23, '88'],
    ] as const) {
      desk.sandbox.putLookup('asset-owner', 1, { id, name, email: `o${id}@x.example`, phone: '' });
      desk.sandbox.putLookup('category', 1, { id, category: name, subcategories: ['Rack'] });
    }
  };

  it.each([
    ['attached_supplier', '3', '3116895', ['2 created', '3 created', '4 invalid', '5 created', '6 invalid']],
    ['asset_owner', '3', '999', ['2 created', '3 created', '4 invalid', '5 created', '6 invalid', '7 invalid']],
    ['category.name', '3', '999', ['2 created', '3 created', '4 invalid', '5 created', '6 invalid', '7 invalid']],
  ] as const)('are ids of a %s unless a record bears them as its name (100)', async (field, id, neither, outcomes) => {
    put();
    const cells = [id, '4711', '2', 'id:2', neither, ...(field === 'attached_supplier' ? [] : ['88'])];
    const run = await assets(field, cells);
    expect(run.outcomes).toEqual(outcomes);
    const member = field.split('.')[0] as string;
    const [first, byName, , marked] = written(run, member) as ({ id: number; name: string } | undefined)[];
    expect([first?.id, byName?.name, marked?.id]).toEqual([3, '4711', 2]);
    expect(faults(run).slice(0, 2)).toEqual([`4 reference_ambiguous ${field}`, `6 reference_not_found ${field}`]);
    expect(run.faults[0]?.['message']).toMatch(/"2" is the id of one record and the .* of another: ids 2, \d+\./);
    expect(run.faults[1]?.['message']).toContain('nor a record with this id');
    expect(desk.sandbox.requests.writes).toBe(3);
  });

  it('after `id:` are looked up where the list is read anyway (100)', async () => {
    const rows = ['id:999999', 'ID: 2', 'Aperture Optics'];
    const run = await assets('attached_supplier', rows, { constants: { asset_owner: 'id:1' } });
    expect(run.outcomes).toEqual(['2 invalid', '3 created', '4 created']);
    expect(faults(run)).toEqual(['2 reference_not_found attached_supplier']);
    expect(run.faults[0]?.['message']).toContain('There is no supplier "id:999999".');
    expect(asksOf('/asset-owner/')).toEqual([]);
    // Where no list is read for it, the service says so.
    asked = [];
    const alone = await assets('attached_supplier', ['id:999999']);
    expect([alone.outcomes, asksOf('/supplier/')]).toEqual([['2 rejected'], []]);
  });

  it.each(['the list', 'the filter'])('are numbers or ids of contracts, found by %s (100)', async (way) => {
    const contract = (number: string) => ({
      ...PLAIN_CONTRACT,
      name: `Bulk ${number}`,
      number,
      country: 840,
      category: { id: 1 },
      contract_start_date: '2025-01-01',
      notice_period: 10,
      end_of_term_clause: 'auto_expires',
      total_contract_spend_value: 1,
    });
    const bulk = way === 'the list' ? 0 : 600;
    desk.sandbox.insert('contract', ['2', '4711', ...Array.from({ length: bulk }, (_, n) => `B-${n}`)].map(contract));
    const run = await assets('contract', ['3', '4711', '2', 'id:2', '99999']);
    expect(run.outcomes).toEqual(['2 created', '3 created', '4 invalid', '5 created', '6 invalid']);
    expect(faults(run)).toEqual(['4 reference_ambiguous contract', '6 reference_not_found contract']);
    const [first, byNumber, , marked] = written(run, 'contract') as { id: number; number: string }[];
    expect([first?.id, byNumber?.number, marked?.id]).toEqual([3, '4711', 2]);
  });

  it('are ids of customers that nobody has seen, and names of those that are known (100)', async () => {
    const dry = await contracts([{ no: 'S-1', client: 'id:9917' }], {}, { dryRun: true });
    expect(dry.outcomes).toEqual(['2 created']);
    const run = await contracts([{ no: 'S-1', client: '3' }]);
    expect(run.outcomes).toEqual(['2 created']);
    const file = await desk.file('k.csv', [['Name'], ['5550']]);
    await desk.import(file, importOf('customer', 'name', { Name: 'name' }));
    const known = await contracts([{ no: 'S-2', client: '5550' }]);
    expect(known.outcomes).toEqual(['2 created']);
    expect(desk.sandbox.records('contract').at(-1)?.['customer']).toMatchObject({ name: '5550' });
  });

  it('name the contract of the same file only where they are the id of no other (100)', async () => {
    const run = await contracts([
      { no: '77001' },
      { no: 'P-1', parent: '77001' },
      { no: '1' },
      { no: 'P-2', parent: '1' },
    ]);
    expect(run.outcomes).toEqual(['2 created', '3 created', '4 created', '5 invalid']);
    expect(parentOf('P-1')).toBe('77001');
    expect(run.faults.map(({ code }) => code)).toEqual(['reference_ambiguous']);
  });
});

describe('contracts by number', () => {
  it('are found; a number that two contracts have is refused with their ids', async () => {
    const run = await assets('contract', ['C-1002', 'C-1050', 'C-9999', 'C-1005']);
    expect(written(run, 'contract').map((one) => (one as { number: string } | undefined)?.number)).toEqual([
      'C-1002',
      undefined,
      undefined,
      'C-1005',
    ]);
    expect(faults(run)).toEqual(['3 reference_ambiguous contract', '4 reference_not_found contract']);
    const ids = desk.sandbox
      .records('contract')
      .filter((one) => one['number'] === 'C-1050')
      .map((one) => one['id']);
    expect(run.faults[0]?.['message']).toContain(`ids ${ids.join(', ')}`);
  });

  /** 400 contracts; some have another number. */
  const bulk = (numbers: Readonly<Record<number, string>>) =>
    Array.from({ length: 400 }, (_, n) => ({
      ...PLAIN_CONTRACT,
      name: `Bulk ${n}`,
      number: numbers[n] ?? `B-${n}`,
      country: 840,
      category: { id: 1 },
      contract_start_date: '2025-01-01',
      notice_period: 10,
      end_of_term_clause: 'auto_expires',
      total_contract_spend_value: 1,
    }));

  it('are found by the filter in the forms in which the service may keep them (98)', async () => {
    desk.sandbox.insert('contract', bulk({ 5: 'C 5\u00a0', 6: 'C\u00a06' }));
    const run = await assets('contract', ['C 5', 'C 6']);
    expect(run.outcomes).toEqual(['2 created', '3 created']);
    expect(written(run, 'contract').map((one) => (one as { number: string }).number)).toEqual([
      'C 5\u00a0',
      'C\u00a06',
    ]);
    expect(asksOf('/contract/').length).toBeLessThanOrEqual(2 + 4 + 6);
  });

  it.each(['exact', 'contains', 'ignore_case', 'ignored'] as const)(
    'are filtered by a service whose filters are %s',
    async (filters) => {
      desk.sandbox.setSwitches({ filters });
      const base = desk.sandbox.raw('contract')[0];
      expect(base).toBeDefined();
      desk.sandbox.insert('contract', bulk({ 7: 'c-1002' }));
      const run = await assets('contract', ['C-1002', 'B-3', 'C-100']);
      expect(run.outcomes).toEqual(['2 created', '3 created', '4 invalid']);
      expect(written(run, 'contract').slice(0, 2)).toEqual([
        { id: 2, number: 'C-1002' },
        expect.objectContaining({ number: 'B-3' }),
      ]);
      if (filters === 'exact' || filters === 'ignore_case')
        // What is not found is asked for in five other forms, too: blanks at either end, full width.
        expect(asksOf('/contract/').length).toBeLessThanOrEqual(2 + 3 + 5);
    },
  );
});

describe('parents in the same file', () => {
  it('are written first, in whatever order the rows stand, four deep', async () => {
    const run = await contracts([
      { no: 'P-4', parent: 'P-3' },
      { no: 'P-2', parent: 'P-1' },
      { no: 'P-5', parent: 'P-4' },
      { no: 'P-1' },
      { no: 'P-3', parent: 'P-2' },
      { no: 'Q-1', parent: 'C-1001' },
    ]);
    expect(run.summary.rows.created).toBe(6);
    expect(['P-1', 'P-2', 'P-3', 'P-4', 'P-5', 'Q-1'].map(parentOf)).toEqual([
      undefined,
      'P-1',
      'P-2',
      'P-3',
      'P-4',
      'C-1001',
    ]);
    expect(run.results.map((row) => row['row'])).toEqual(['2', '3', '4', '5', '6', '7']);
    for (const row of run.results)
      expect(desk.sandbox.record('contract', Number(row['id']))?.['number']).toBe(row['key']);
    const again = await contracts([{ no: 'P-4', parent: 'P-3' }, { no: 'P-2', parent: 'P-1' }, { no: 'P-1' }]);
    expect(again.summary.rows.unchanged).toBe(3);
    expect(again.commits).toBe(0);
  });

  it('are found again where look-ups lag behind writes', async () => {
    desk.sandbox.setSwitches({ lag: 120 });
    const run = await contracts([{ no: 'L-3', parent: 'L-2' }, { no: 'L-2', parent: 'L-1' }, { no: 'L-1' }]);
    expect(run.summary.rows.created).toBe(3);
    expect(parentOf('L-3')).toBe('L-2');
    expect(parentOf('L-2')).toBe('L-1');
  });

  it('in a circle, or named by themselves, are refused; what stands under them too', async () => {
    const rows = [
      { no: 'A', parent: 'B' },
      { no: 'B', parent: 'A' },
      { no: 'S', parent: 'S' },
      { no: 'U', parent: 'A' },
      { no: 'V' },
    ];
    const run = await contracts(rows);
    expect(run.outcomes).toEqual(['2 invalid', '3 invalid', '4 invalid', '5 invalid', '6 created']);
    expect(faults(run)).toEqual([
      '2 reference_cycle Parent',
      '3 reference_cycle Parent',
      '4 reference_cycle Parent',
      '5 parent_not_written Parent',
    ]);
    const dry = await contracts(rows.slice(0, 4), {}, { dryRun: true });
    expect(dry.faults).toEqual(run.faults);
  });

  it('stand in the plan of an update', async () => {
    await contracts([{ no: 'K-1', parent: 'C-1001' }]);
    const dry = await contracts([{ no: 'K-1', parent: 'K-2' }, { no: 'K-2' }], {}, { dryRun: true });
    expect(dry.results[0]).toMatchObject({ outcome: 'updated', changed_fields: 'parent_contract' });
    const line = { field: 'parent_contract', old: 'C-1001 (1)', new: 'the record of row 3', kind: 'set' };
    expect(dry.plan[0]).toMatchObject(line);
  });

  it('tell rows of one key apart', async () => {
    const rows = [{ no: 'K-1' }, { no: 'K-2' }, { no: 'K-3', parent: 'K-1' }, { no: 'K-3', parent: 'K-2' }];
    for (const key of ['number', 'none']) {
      const run = await contracts(rows, { match: { key, duplicates: 'first' } }, { dryRun: true });
      expect(run.outcomes[3]).toBe(key === 'none' ? '5 created' : '5 duplicate');
    }
  });

  it('are not guessed where two contracts of the file have the number', async () => {
    const rows = [{ no: 'K-1' }, { no: 'K-1', total: '200' }, { no: 'K-3', parent: 'K-1' }];
    const run = await contracts(rows, { match: { key: ['number', 'total_contract_spend_value'] } });
    expect(run.outcomes).toEqual(['2 created', '3 created', '4 invalid']);
    expect(faults(run)).toEqual(['4 reference_ambiguous Parent']);
    expect(run.faults[0]?.['message']).toMatch(/^Rows 2 and 3 .* "K-1"/);
  });

  it('with a key of which a part cannot be read are no duplicates', async () => {
    const rows = [{ no: 'K-1', total: 'x' }, { no: 'K-1', total: 'y' }, { no: 'K-1' }];
    const run = await contracts(rows, { match: { key: ['number', 'total_contract_spend_value'] } });
    expect(run.outcomes).toEqual(['2 invalid', '3 invalid', '4 created']);
    expect(faults(run)).toEqual(['2 not_a_number Total', '3 not_a_number Total']);
  });

  it('that exist already cannot become their own parents', async () => {
    const file = await desk.file('c.csv', 'No,Parent\r\nC-1001,C-1001');
    const columns = { No: 'number', Parent: 'parent_contract' };
    const run = await desk.import(file, { kind: 'import', resource: 'contract', match: { key: 'number' }, columns });
    expect(run.commits).toBe(0);
    expect(faults(run)).toEqual(['2 reference_cycle Parent']);
  });

  it('that are invalid leave their children unwritten, in the rehearsal as in the run', async () => {
    const rows = [
      { no: 'K-3', parent: 'K-2' },
      { no: 'K-2', parent: 'K-1' },
      { no: 'K-1', total: 'lots' },
      { no: 'K-9' },
    ];
    const dry = await contracts(rows, {}, { dryRun: true });
    const run = await contracts(rows);
    expect(run.outcomes).toEqual(['2 invalid', '3 invalid', '4 invalid', '5 created']);
    expect(faults(run)).toEqual(['2 parent_not_written Parent', '3 parent_not_written Parent', '4 not_a_number Total']);
    expect(dry.outcomes).toEqual(run.outcomes);
    expect(dry.faults).toEqual(run.faults);
    expect(run.faults[0]?.['message']).toMatch(/row 3\b/i);
  });

  it('count as invalid for the brakes', async () => {
    const rows = [{ no: 'K-2', parent: 'K-1' }, { no: 'K-1', total: 'lots' }, { no: 'K-9' }];
    const run = await contracts(rows, { brakes: { max_invalid: 1 } });
    expect(run.exitCode).toBe(4);
    expect(run.commits).toBe(0);
    expect(run.outcomes).toEqual(['2 invalid', '3 invalid', '4 not_attempted']);
  });

  it('that stand in the service and in the file are taken from the service at once', async () => {
    const run = await contracts([
      { no: 'N-1', parent: 'C-1001' },
      { no: 'C-1001', total: 'lots' },
    ]);
    expect(run.outcomes).toEqual(['2 created', '3 invalid']);
    expect(parentOf('N-1')).toBe('C-1001');
  });

  it('that the service refuses leave their children unwritten', async () => {
    desk.sandbox.setFaults([
      { match: { method: 'POST', nth: 1 }, action: { kind: 'status', status: 400, body: '{"name":["No."]}' } },
    ]);
    const run = await contracts([{ no: 'K-2', parent: 'K-1' }, { no: 'K-1' }]);
    expect(run.outcomes).toEqual(['2 invalid', '3 rejected']);
    expect(faults(run)[0]).toBe('2 parent_not_written Parent');
  });
});

describe('customers and business units, which the service cannot list', () => {
  it('are found by names that contracts show, read once', async () => {
    const shows = { contract_type: 'sell_side', customer: 2, name: 'Shows Fabrikam', number: 'F-1', country: 840 };
    const rest = { category: { id: 1 }, status: 'active', notice_period: 1, end_of_term_clause: 'auto_expires' };
    const term = { contract_start_date: '2025-01-01', contract_end_date: '2026-01-01', total_contract_spend_value: 1 };
    desk.sandbox.insert('contract', [{ ...shows, ...rest, ...term }]);
    const run = await contracts([
      { no: 'S-1', client: 'Contoso Retail', unit: 'IT Operations' },
      { no: 'S-2', client: 'Fabrikam Health', parent: 'S-1' },
      { no: 'S-3', client: '3' },
    ]);
    expect(run.faults).toEqual([]);
    expect(written(run, 'customer', 'contract').map((one) => (one as { id: number }).id)).toEqual([1, 2, 3]);
    // Three pages hold the contracts: swept for names, looked through for parents and matched, read once; then ids are learned.
    const firstWrite = asked.findIndex((one) => one.startsWith('POST'));
    const before = asked.slice(0, firstWrite);
    expect(before.filter((one) => one.startsWith('GET /contract/'))).toHaveLength(3);
    expect(before.filter((one) => one.startsWith('GET /asset/'))).toEqual([]);
    expect(new Set(before).size).toBe(before.length);

    asked.length = 0;
    const again = await contracts([{ no: 'S-4', client: 'Contoso Retail' }]);
    expect(again.summary.rows.created).toBe(1);
    expect(asksOf('/asset/')).toEqual([]);
  });

  it('are found by names that only assets show; sweeps stop when all are known', async () => {
    desk.sandbox.insert('customer', [{ name: 'Asset Only Ltd' }]);
    const id = desk.sandbox.records('customer').find((one) => one['name'] === 'Asset Only Ltd')?.['id'];
    desk.sandbox.insert('asset', [{ name: 'Shows it', customer: id }]);
    const run = await assets('customer', ['Asset Only Ltd', 'Nobody & Sons', 'Contoso Retial']);
    expect(run.outcomes).toEqual(['2 created', '3 invalid', '4 invalid']);
    expect((written(run, 'customer')[0] as { id: number }).id).toBe(id);
    expect(run.faults[1]?.['message']).toContain('"Contoso Retail"');
    const before = asked.slice(
      0,
      asked.findIndex((one) => one.startsWith('POST')),
    );
    expect(new Set(before).size).toBe(before.length);
  });

  it.each([403, 404])('cost only the rows that name them where assets may not be read (%d)', async (status) => {
    desk.sandbox.setFaults([`GET /asset status=${status}`]);
    const rows = [
      { no: 'S-1', client: 'Contoso Retail' },
      { no: 'S-2', client: 'Nobody & Sons' },
    ];
    const run = await contracts(rows, { references: { missing: 'create' } });
    expect([run.outcomes, run.commits]).toEqual([['2 created', '3 invalid'], 1]);
    expect(faults(run)).toEqual(['3 reference_not_found Client']);
    const told = run.summary.warnings.filter((text) => text.includes(`(${status})`));
    expect(told).toEqual([expect.stringMatching(/^Names of customers could not be looked for in assets, /)]);
  });

  it('are not swept for when earlier runs know them', async () => {
    await assets('customer', ['Contoso Retail']);
    asked.length = 0;
    const run = await assets('customer', ['Contoso Retail', 'Contoso Retail']);
    expect(run.summary.rows.unchanged + run.summary.rows.created).toBe(2);
    expect(asksOf('/contract/')).toEqual([]);
  });

  it('are known after they were created here', async () => {
    const file = await desk.file('c.csv', [['Name'], ['Brand New GmbH']]);
    await desk.import(file, importOf('customer', 'name', { Name: 'name' }));
    asked.length = 0;
    const run = await assets('customer', ['Brand New GmbH']);
    expect(run.summary.rows.created).toBe(1);
    expect((written(run, 'customer')[0] as { name: string }).name).toBe('Brand New GmbH');
    expect(asksOf('/contract/')).toEqual([]);
  });
});

describe('countries', () => {
  it('are read in every ISO form, and names in any case', async () => {
    const run = await assets('country', [
      'Germany',
      'germany',
      'DE',
      'de',
      'DEU',
      '276',
      'United States',
      'USA',
      'US',
      '840',
      '8',
      '008',
      'Côte d’Ivoire',
      'Türkiye',
    ]);
    expect(run.summary.rows.created).toBe(14);
    const codes = desk.sandbox
      .raw('asset')
      .filter((one) => String(one['serial_number']).startsWith('NEW-'))
      .sort((a, b) => Number(String(a['serial_number']).slice(4)) - Number(String(b['serial_number']).slice(4)));
    expect(codes.map((one) => one['country'])).toEqual([
      276, 276, 276, 276, 276, 276, 840, 840, 840, 840, 8, 8, 384, 792,
    ]);
  });

  it('that do not exist are refused with the nearest names', async () => {
    const run = await assets('country', ['Germny', 'XX', '999', 'Atlantis']);
    expect(run.summary.rows.invalid).toBe(4);
    expect(run.faults[0]?.['message']).toContain('Germany');
    expect(run.faults.map((fault) => fault['value'])).toEqual(['Germny', 'XX', '999', 'Atlantis']);
  });
});

describe('a row with several unknown names', () => {
  it('gets all its faults at once', async () => {
    const run = await assets(
      {
        Cat: 'category.name',
        Owner: 'asset_owner',
        Vendor: 'attached_supplier',
        Usage: 'usage_status',
        No: 'contract',
        Land: 'country',
      },
      [['X', 'X', 'X', 'X', 'X', 'X1']],
    );
    expect(run.faults.map((fault) => fault['column']).sort()).toEqual([
      'Cat',
      'Land',
      'No',
      'Owner',
      'Usage',
      'Vendor',
    ]);
    expect(run.commits).toBe(0);
  });
});
