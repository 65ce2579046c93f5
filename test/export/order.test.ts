import { expect, test } from 'vitest';
import type { Exportable } from '../../src/export/column.js';
import { exportRecord } from '../../src/export/column.js';
import { createSorter, exportOrder } from '../../src/export/order.js';
import type { TableKind } from '../../src/model/table.js';
import { valueAt } from '../../src/resources/path.js';
import type { Readable } from '../../src/service/port.js';
import { type Bench, openBench } from './bench.js';

async function ordered(bench: Bench, resource: Readable, order: string): Promise<number[]> {
  const naming = await bench.naming(resource as Exportable);
  const { column, descending } = exportOrder(order, naming).by!;
  const keys = createSorter(column.kind, descending);
  for (const json of await bench.read(resource))
    keys.add(Number(json['id']), column.text(exportRecord(resource, json, naming)));
  return [...keys.sorted()];
}

const sorted = (kind: TableKind, texts: readonly string[], descending = false): string[] => {
  const keys = createSorter(kind, descending);
  for (const [id, text] of texts.entries()) keys.add(id, text);
  return [...keys.sorted()].map((id) => texts[id] ?? '');
};

test('numbers, amounts and dates by value, blank cells last in both directions', () => {
  const amounts = ['10', '', '9.5', '-3', '999999999999999999.01', '0.10', '999999999999999999.02', 'n/a'];
  expect(sorted('money', amounts)).toEqual([
    '-3',
    '0.10',
    '9.5',
    '10',
    '999999999999999999.01',
    '999999999999999999.02',
    'n/a',
    '',
  ]);
  expect(sorted('money', amounts, true)).toEqual([
    '999999999999999999.02',
    '999999999999999999.01',
    '10',
    '9.5',
    '0.10',
    '-3',
    'n/a',
    '',
  ]);
  expect(sorted('id', ['10', '9', '100'])).toEqual(['9', '10', '100']);
  const dates = ['2024-01-10', '', '2023-12-31', '03/04/2024', '2024-01-09', '01/02/2024'];
  expect(sorted('date', dates)).toEqual(['2023-12-31', '2024-01-09', '2024-01-10', '01/02/2024', '03/04/2024', '']);
  expect(sorted('boolean', ['true', '', 'false', 'true'])).toEqual(['false', 'true', 'true', '']);
});

test('text without regard to case and Unicode form, in the order of its characters; equal texts by id', () => {
  expect(sorted('text', ['beta', 'Alpha', '', 'alpha', 'Beta2', 'Beta10', 'Ärger', 'zoo', '日本', '😀', 'é'])).toEqual([
    'Alpha',
    'alpha',
    'beta',
    'Beta10',
    'Beta2',
    'zoo',
    'Ärger',
    'é',
    '日本',
    '😀',
    '',
  ]);
  expect(sorted('text', ['b', 'a', 'B', 'A'], true)).toEqual(['b', 'B', 'a', 'A']);
  expect(sorted('text', ['abcdefgh2', 'abcdefgh1', 'abcdef', 'abcdefg'])).toEqual([
    'abcdef',
    'abcdefg',
    'abcdefgh1',
    'abcdefgh2',
  ]);
});

test('as many records as there are, in the order that comparing whole values gives', () => {
  let seed = 7;
  const next = () => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648);
  const texts = Array.from({ length: 20_000 }, () => (next() % 10 === 0 ? '' : `Name ${(next() % 500).toString(36)}é`));
  const expected = texts
    .map((text, id) => ({ text: text.toLowerCase(), id }))
    .sort(
      (a, b) =>
        Number(a.text === '') - Number(b.text === '') || (a.text < b.text ? -1 : a.text > b.text ? 1 : a.id - b.id),
    )
    .map(({ id }) => id);
  const keys = createSorter('text', false);
  for (const [id, text] of texts.entries()) keys.add(id, text);
  expect([...keys.sorted()]).toEqual(expected);
});

const rackOf = (one: Record<string, unknown>) => {
  const [row] = one['custom_form'] as object[];
  return String(valueAt(row, 'custom_form_data.Rack') ?? '');
};

test('any column or field; a reference by its name', async () => {
  const bench = await openBench();
  const assets = bench.sandbox.records('asset', 1);
  const by = (path: string, keyOf: (value: unknown) => string | number = String) =>
    [...assets]
      .map((one) => ({ id: Number(one['id']), key: keyOf(valueAt(one, path)) }))
      .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : a.id - b.id))
      .map(({ id }) => id);
  expect(await ordered(bench, 'asset', 'name')).toEqual(by('name'));
  expect(await ordered(bench, 'asset', 'cost')).toEqual(by('original_cost', Number));
  expect(await ordered(bench, 'asset', 'category')).toEqual(by('category.name'));
  expect(await ordered(bench, 'asset', 'supplier.id')).toEqual(by('attached_supplier.id', Number));
  expect(await ordered(bench, 'asset', '-id')).toEqual(assets.map(({ id }) => id).reverse());
  const racked = assets.filter((one) => rackOf(one) !== '').sort((a, b) => (rackOf(a) < rackOf(b) ? -1 : 1));
  expect((await ordered(bench, 'asset', 'form.Data centre.Rack'))[0]).toBe(racked[0]!['id']);
});

test('by id where nothing is said; unknown names are refused', async () => {
  const bench = await openBench();
  const asset = await bench.naming('asset');
  expect(exportOrder(undefined, asset)).toEqual({ described: 'id' });
  expect(exportOrder('-modified_date', await bench.naming('contract')).described).toBe('modified_date, descending');
  expect(() => exportOrder('serial_numbr', asset)).toThrow(/Did you mean "serial_number"/);
  expect(() => exportOrder('-', asset)).toThrow(/--order/);
});
