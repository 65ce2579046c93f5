import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { isRef, type Value, valueText } from '../../src/model/value.js';
import { type Desk, openDesk } from '../support/desk.js';
import { importOf, PLAIN_CONTRACT } from '../support/jobs.js';
import { stored, storedOne } from '../support/records.js';
import { hangVeil } from '../support/veil.js';
import { type Exported, exportForEditing, FORMATS, type Format, place } from './round-trip-bench.js';
import { filled, furnish, insert, TEXTS } from './round-trip-records.js';

let desk: Desk;

/** The service shows its records with these texts of their JSON exchanged. */
async function veiled(exchange: Readonly<Record<string, string>>): Promise<{ env: Record<string, string> }> {
  const veil = await hangVeil(desk.sandbox.url, (answer) =>
    Object.entries(exchange).reduce((text, [from, to]) => text.replaceAll(from, to), answer),
  );
  return { env: { ROWFERRY_API_URL: veil.url } };
}

async function run(exported: Exported, format: Format, options: { env?: Record<string, string> } = {}) {
  const { file, job } = await place(desk, exported, format);
  const result = await desk.import(file, job, options);
  const codes = result.faults.map(({ row, column, code }) => `${row} ${column} ${code}`);
  return { ...result, codes };
}

/** Values that nobody could import today, by the column they stand in. */
const ODD: Readonly<Record<string, readonly [put: unknown, json: string]>> = {
  product_description: ['odd-1', `"${'x'.repeat(60)}"`],
  warranty_contact_email: ['odd2@b.example', '"no address"'],
  asset_notes: ['odd-3', JSON.stringify('a\u0001control')],
  financial_notes: ['odd-4', JSON.stringify('a\0NUL')],
  room: ['odd-5', JSON.stringify('bro\ufffdken')],
  city: ['odd-6', '"half \\ud83d"'],
  serial_number: ['odd-7', '12345678901234567890'],
  country: [392, '"Atlantis"'],
  end_of_life_date: ['2031-01-02', '"03/04/2031"'],
  warranty_type: ['gold_level_support', '"platinum"'],
  support_notes: ['odd-8', JSON.stringify(' \t ')],
};
const AMOUNTS: Readonly<Record<string, readonly [put: string, json: string]>> = {
  original_cost: ['777.77', '-5.5'],
  estimated_salvage_value: ['888.88', '1000000000000000.5'],
  contract_service_per_item: ['"555.55"', '"1,200"'],
};

async function oddDesk(only?: readonly string[]): Promise<{ env: Record<string, string> }> {
  desk = await openDesk();
  const wanted = ([field]: readonly [string, unknown]) => only === undefined || only.includes(field);
  const odd = Object.entries(ODD).filter(wanted);
  const amounts = Object.entries(AMOUNTS).filter(wanted);
  desk.sandbox.insert('asset', [
    {
      name: 'Odd',
      category: { id: 1 },
      floor: '1',
      ...Object.fromEntries(odd.map(([field, [put]]) => [field, put])),
      ...Object.fromEntries(amounts.map(([field, [put]]) => [field, Number(put.replaceAll('"', ''))])),
    },
  ]);
  const shown = (put: unknown) => JSON.stringify(put === 392 ? 'Japan' : put);
  return veiled({
    ...Object.fromEntries(odd.map(([, [put, json]]) => [shown(put), json])),
    ...Object.fromEntries(amounts.map(([, [put, json]]) => [put, json])),
  });
}

describe('values that nobody could import today', () => {
  it.each(FORMATS)('are unchanged where nothing is changed (%s)', async (format) => {
    const { env } = await oddDesk();
    const exported = await exportForEditing(desk, 'asset', { env });
    for (const field of [...Object.keys(ODD), ...Object.keys(AMOUNTS)]) {
      if (field !== 'support_notes') expect([field, exported.cell(1, field).trim()]).not.toEqual([field, '']);
    }
    const result = await run(exported, format, { env });
    expect([result.codes, result.outcomes]).toEqual([[], [`${format === 'ndjson' ? 1 : 2} unchanged`]]);
    expect(desk.sandbox.commits).toEqual([]);
  });

  it('count again where the row changes something else and the interface says that the PUT is refused', async () => {
    const { env } = await oddDesk(['product_description', 'original_cost', 'asset_notes', 'warranty_contact_email']);
    const exported = await exportForEditing(desk, 'asset', { env });
    exported.put(1, 'floor', '2');
    const result = await run(exported, 'csv', { env });
    expect(result.codes).toEqual(['2 product_description too_long', '2 original_cost out_of_range']);
    expect(result.outcomes).toEqual(['2 invalid']);
    expect(desk.sandbox.commits).toEqual([]);
  });

  it('that no stated limit forbids are carried over by a row that changes something else', async () => {
    const { env } = await oddDesk(['asset_notes', 'room', 'serial_number']);
    const exported = await exportForEditing(desk, 'asset', { env });
    exported.put(1, 'floor', '2');
    const result = await run(exported, 'csv', { env });
    expect([result.codes, result.outcomes]).toEqual([[], ['2 updated']]);
    expect(storedOne(desk.sandbox, 'asset', 1)).toMatchObject({
      floor: '2',
      asset_notes: 'a\u0001control',
      room: 'bro\ufffdken',
      serial_number: '12345678901234567890',
    });
  });

  it('that cannot be read hold the row back where it changes something else', async () => {
    const { env } = await oddDesk(['country', 'end_of_life_date']);
    const exported = await exportForEditing(desk, 'asset', { env });
    exported.put(1, 'floor', '2');
    const result = await run(exported, 'csv', { env });
    expect(result.outcomes).toEqual(['2 at_risk']);
    expect(result.codes.sort()).toEqual(['2 country would_lose_value', '2 end_of_life_date would_lose_value']);
  });

  it('are faults as before where the cell says something else', async () => {
    const { env } = await oddDesk(['product_description', 'country']);
    const exported = await exportForEditing(desk, 'asset', { env });
    exported.put(1, 'product_description', 'y'.repeat(60));
    exported.put(1, 'country', 'Lemuria');
    const result = await run(exported, 'csv', { env });
    expect(result.outcomes).toEqual(['2 invalid']);
    expect(result.codes.sort()).toEqual(['2 country reference_not_found', '2 product_description too_long']);
  });

  const broken = {
    '"contract_start_date":"2024-01-01"': '"contract_start_date":"2026-01-01"',
    '"nrc":1': '"nrc":99999',
    '"supplier":{"id":1,"name":"Acme"}': '"supplier":null',
    '"notice_period":3': '"notice_period":9999',
  };
  it('a contract that breaks the rules is unchanged, and checked where the row changes something', async () => {
    desk = await openDesk();
    desk.sandbox.insert('supplier', [{ name: 'Acme' }]);
    const contract = {
      ...PLAIN_CONTRACT,
      name: 'Frame',
      number: 'C-1',
      contract_end_date: '2025-01-01',
      notice_period: 3,
      total_contract_spend_value: 10,
      nrc: 1,
    };
    desk.sandbox.insert('contract', [contract]);
    const { env } = await veiled(broken);
    const exported = await exportForEditing(desk, 'contract', { env });
    expect((await run(exported, 'xlsx', { env })).outcomes).toEqual(['2 unchanged']);
    exported.put(1, 'name', 'Framework');
    const result = await run(exported, 'xlsx', { env });
    expect(result.outcomes).toEqual(['2 invalid']);
    expect(result.faults.map(({ code }) => code).sort()).toEqual([
      'rule_nrc_total',
      'rule_start_before_end',
      'rule_supplier_required',
    ]);
    expect(desk.sandbox.commits).toEqual([]);
  });
});

describe('what an update cannot carry', () => {
  it('a row is unchanged, also where every column is mapped, and at risk where it changes something else', async () => {
    desk = await openDesk();
    furnish(desk.sandbox);
    insert(desk.sandbox, 'asset', [filled(desk.sandbox, 'asset', 1)]);
    const exported = await exportForEditing(desk, 'asset');
    const { file } = await place(desk, exported, 'csv');
    const columns = Object.fromEntries(
      exported.columns.flatMap(({ heading, field }) => (field === undefined ? [] : [[heading, field]])),
    );
    expect(Object.values(columns)).toEqual(expect.arrayContaining(['area', 'state_province', 'business_entity_type']));
    const job = { kind: 'import', resource: 'asset', match: { key: 'id' }, columns };
    expect((await desk.import(file, job)).outcomes).toEqual(['2 unchanged']);
    exported.put(1, 'room', 'elsewhere');
    expect((await run(exported, 'csv')).outcomes).toEqual(['2 at_risk']);
    expect(desk.sandbox.commits).toEqual([]);
  });

  it.each(['draft', 'expired', 'terminated'])(
    'the status %s is unchanged, and is not lost by another change',
    async (status) => {
      desk = await openDesk();
      furnish(desk.sandbox);
      insert(desk.sandbox, 'contract', [{ ...filled(desk.sandbox, 'contract', 0), status }]);
      const exported = await exportForEditing(desk, 'contract');
      expect((await run(exported, 'csv')).outcomes.every((one) => one.endsWith('unchanged'))).toBe(true);
      exported.put(6, 'description', 'changed');
      expect((await run(exported, 'csv')).outcomes.filter((one) => !one.endsWith('unchanged'))).toEqual(['7 at_risk']);
      expect(desk.sandbox.commits).toEqual([]);
    },
  );
});

it.each(FORMATS)('a warranty that reads show as none is exported as we wrote it, and kept (%s)', async (format) => {
  desk = await openDesk();
  const { env } = await veiled({ '"gold_level_support"': '"none"' });
  const job = importOf('asset', 'serial_number', {
    S: 'serial_number',
    N: 'name',
    W: 'warranty_type',
    C: 'category.name',
  });
  const file = await desk.file('a.csv', 'S,N,W,C\r\nS-1,Box,gold_level_support,1');
  expect((await desk.import(file, job, { env })).outcomes).toEqual(['2 created']);
  const exported = await exportForEditing(desk, 'asset', { env });
  expect(exported.cell(1, 'warranty_type')).toBe('gold_level_support');
  expect((await run(exported, format, { env })).summary.rows).toMatchObject({ unchanged: 1 });
  exported.put(1, 'room', 'R 1');
  expect((await run(exported, format, { env })).summary.rows).toMatchObject({ updated: 1 });
  expect(storedOne(desk.sandbox, 'asset', 1)).toMatchObject({ room: 'R 1', warranty_type: 'gold_level_support' });
});

describe('custom field templates', () => {
  it('fields of one name, inactive ones and an inactive template are unchanged', async () => {
    desk = await openDesk();
    const field = (id: number, name: string) => ({ id, name, data_type: 'text' as const, is_active: true, order: id });
    const template = { id: 500, name: 'Same', is_active: true, type: 'asset' as const };
    desk.sandbox.putLookup('custom-field-template', 1, {
      ...template,
      fields: [field(501, 'A'), field(502, 'A'), field(503, 'B')],
    });
    const form = {
      id: 500,
      name: 'Same',
      form_title: 'Same',
      type: 'asset' as const,
      form_desc: '',
      is_active: true,
      is_default: false,
    };
    desk.sandbox.putLookup('custom-form-template', 1, {
      ...form,
      fields: [field(501, 'A'), field(502, 'A'), field(503, 'B')],
    });
    const old = { id: 600, name: 'Old', is_active: true, type: 'asset' as const, fields: [field(601, 'A')] };
    desk.sandbox.putLookup('custom-field-template', 1, old);
    const values = [501, 502, 503].map((id) => ({ id, value: `v${id}` }));
    desk.sandbox.insert('asset', [
      {
        name: 'Same',
        templates: [{ id: 500, fields: values }],
        form_template: [{ id: 500, custom_form_data: { A: 'x', B: 'y' } }],
      },
      { name: 'Old', templates: [{ id: 600, fields: [{ id: 601, value: 'z' }] }] },
    ]);
    desk.sandbox.putLookup('custom-field-template', 1, { ...old, is_active: false });
    const exported = await exportForEditing(desk, 'asset');
    for (const value of ['v502', 'v503', 'x', 'y', 'z']) expect(exported.rows.flat().join()).toContain(value);
    for (const format of FORMATS) expect((await run(exported, format)).summary.rows).toMatchObject({ unchanged: 2 });
    expect(desk.sandbox.commits).toEqual([]);
  });

  async function twoTemplates(): Promise<Exported> {
    desk = await openDesk();
    desk.sandbox.insert('asset', [
      { name: 'A', category: { id: 1 }, templates: [{ id: 1, fields: [{ id: 1, value: 'CC-1' }] }] },
      { name: 'B', category: { id: 1 }, templates: [{ id: 4, fields: [{ id: 31, value: 'secret' }] }] },
      { name: 'C', category: { id: 1 } },
    ]);
    return exportForEditing(desk, 'asset');
  }

  it('a file may hold those of several; each row changes those of its own', async () => {
    const exported = await twoTemplates();
    exported.put(1, 'template.1.1', 'CC-2');
    exported.put(2, 'template.4.31', 'open');
    exported.put(3, 'template.4.32', 'yes');
    const result = await run(exported, 'xlsx');
    expect([result.codes, result.outcomes]).toEqual([[], ['2 updated', '3 updated', '4 updated']]);
    const held = [1, 2, 3].map((id) => storedOne(desk.sandbox, 'asset', id)['template']);
    expect(held).toEqual([
      [{ template: 1, values: [[1, 'CC-2']] }],
      [{ template: 4, values: [[31, 'open']] }],
      [{ template: 4, values: [[32, 'yes']] }],
    ]);
  });

  it('a row that fills cells of two is refused, on create too', async () => {
    const exported = await twoTemplates();
    exported.put(3, 'template.1.1', 'CC-3');
    exported.put(3, 'template.4.31', 'open');
    exported.put(1, 'template.4.31', 'open');
    const result = await run(exported, 'csv');
    expect(result.outcomes).toEqual(['2 at_risk', '3 unchanged', '4 invalid']);
    expect(result.codes.map((one) => one.split(' ').at(-1))).toEqual(['template_conflict', 'template_conflict']);
    const columns = { Name: 'name', One: 'template.1.1', Two: 'template.4.31' };
    const file = await desk.file('new.csv', 'Name,One,Two\r\nNew,a,b');
    const created = await desk.import(file, { kind: 'import', resource: 'asset', match: { key: 'name' }, columns });
    expect([created.outcomes, created.faults.map(({ code }) => code)]).toEqual([['2 invalid'], ['template_conflict']]);
    expect(desk.sandbox.commits).toEqual([]);
  });

  it('a row may change from one to another by clearing the first', async () => {
    const exported = await twoTemplates();
    exported.put(1, 'template.1.1', '');
    exported.put(1, 'template.4.31', 'open');
    const { file, job } = await place(desk, exported, 'csv');
    await writeFile(job, (await readFile(job, 'utf8')).replace('blank: keep', 'blank: clear'));
    const result = await desk.import(file, job);
    expect([result.faults, result.outcomes]).toEqual([[], ['2 updated', '3 unchanged', '4 unchanged']]);
    expect(storedOne(desk.sandbox, 'asset', 1)['template']).toEqual([{ template: 4, values: [[31, 'open']] }]);
  });
});

it('`blank: clear` leaves a file that was not changed unchanged', async () => {
  desk = await openDesk();
  furnish(desk.sandbox);
  insert(
    desk.sandbox,
    'supplier',
    TEXTS.map((_, n) => filled(desk.sandbox, 'supplier', n)),
  );
  desk.sandbox.insert('supplier', [{ name: 'Blank', city: '   ', phone: '\u200b' }]);
  const exported = await exportForEditing(desk, 'supplier');
  for (const format of FORMATS) {
    const { file, job } = await place(desk, exported, format);
    await writeFile(job, (await readFile(job, 'utf8')).replace('blank: keep', 'blank: clear'));
    const result = await desk.import(file, job);
    expect([format, result.results.filter(({ outcome }) => outcome !== 'unchanged')]).toEqual([format, []]);
  }
  expect(desk.sandbox.commits).toEqual([]);
});

/** As a person would type a value; what no import accepts is replaced. */
function typed(field: string, value: Value | undefined): string {
  if (isRef(value)) return field === 'country' ? String(value.id) : `id:${value.id}`;
  const text = valueText(value);
  return /E\+|\v/.test(text) ? text.replace(/\W/g, '') : text;
}

describe('customers', () => {
  async function withCustomers(): Promise<void> {
    desk = await openDesk();
    furnish(desk.sandbox);
    const records = TEXTS.map((_, n) => filled(desk.sandbox, 'customer', n));
    const inactive = ['template.400.405', 'template.450.455'];
    const fields = [...new Set(records.flatMap((record) => Object.keys(record)))].filter(
      (one) => !inactive.includes(one),
    );
    const rows = records.map((record) => fields.map((field) => typed(field, record[field])));
    const quoted = (cell: string) => `"${cell.replaceAll('"', '""')}"`;
    const text = [fields, ...rows].map((cells) => cells.map(quoted).join(',')).join('\r\n');
    const columns = Object.fromEntries(fields.map((field) => [field, field]));
    const job = { kind: 'import', resource: 'customer', match: { key: 'name' }, columns };
    const created = await desk.import(await desk.file('customers.csv', text), job);
    expect(created.faults).toEqual([]);
    expect(created.outcomes.every((one) => one.endsWith('created'))).toBe(true);
    desk.sandbox.resetRequests();
  }

  it.each(FORMATS)('that are known whole are unchanged, and so are those known by name alone (%s)', async (format) => {
    await withCustomers();
    const [first = 0] = desk.sandbox.insert('customer', [{ name: 'Only named', city: 'Berlin' }]);
    desk.sandbox.insert('contract', [
      {
        contract_type: 'sell_side',
        name: 'Frame',
        number: 'S-1',
        customer: first,
        country: 276,
        status: 'active',
        contract_start_date: '2024-01-01',
        contract_end_date: '2025-01-01',
        total_contract_spend_value: 1,
      },
    ]);
    const before = stored(desk.sandbox, 'customer');
    const exported = await exportForEditing(desk, 'customer');
    const result = await run(exported, format);
    expect(result.results.filter(({ outcome }) => outcome !== 'unchanged')).toEqual([]);
    expect([result.results.length, result.commits]).toEqual([TEXTS.length + 1, 0]);
    const { file } = await desk.export('customer', `real.${format}`, { editable: true });
    const real = await desk.import(file, file.replace(/\w+$/, 'yaml'));
    expect([real.outcomes.filter((one) => !one.endsWith('unchanged')), real.commits]).toEqual([[], 0]);
    exported.put(first, 'city', 'Hamburg');
    exported.put(5, 'city', 'Hamburg');
    exported.put(6, 'name', 'Renamed');
    const changed = await run(exported, format);
    expect(
      changed.results.filter(({ outcome }) => outcome !== 'unchanged').map(({ id, outcome }) => `${id} ${outcome}`),
    ).toEqual(['5 updated', '6 updated', `${first} at_risk`]);
    const city = { ...before.get(5), city: 'Hamburg' };
    const name = { ...before.get(6), name: 'Renamed' };
    expect(stored(desk.sandbox, 'customer')).toEqual(new Map([...before, [5, city], [6, name]]));
    expect((await run(exported, format)).commits).toBe(0);
  });
});
