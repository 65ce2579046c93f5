import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadReferenceTexts, ReferenceCollector } from '../../src/export/editable.js';
import { normaliseKey } from '../../src/model/value.js';
import { trimText } from '../../src/pipeline/map/cell-text.js';
import { makeConverter } from '../../src/pipeline/map/convert.js';
import type { ReadAll } from '../../src/pipeline/match/match.js';
import { type Directory, loadDirectory } from '../../src/pipeline/resolve/directory.js';
import { isNamedRef } from '../../src/pipeline/rows.js';
import { resourceSpec } from '../../src/resources/registry.js';
import type { ReferenceTarget } from '../../src/resources/spec.js';
import type { Json, KnownIds, Service } from '../../src/service/port.js';

/** A service whose lists are these, and a home that knows these customers. */
function world(
  lists: Readonly<Record<string, readonly Json[]>>,
  customers: readonly (readonly [number, string])[] = [],
) {
  const readAll: ReadAll = Object.assign(
    async (resource: string, visit: (records: readonly Json[], at: number) => void | Promise<void>) => {
      await visit(lists[resource] ?? [], 0);
      return { certified: true, unshown: 0, confirm: async () => true };
    },
    {
      first: async (resource: string) => ({ count: lists[resource]?.length ?? 0, results: lists[resource] ?? [] }),
      has: () => true,
    },
  );
  const known = {
    ids: (_: string, name: string) =>
      customers.filter(([, one]) => normaliseKey(one) === normaliseKey(name)).map(([id]) => id),
    nameOf: (_: string, id: number) => customers.find(([one]) => one === id)?.[1],
    names: () => customers.map(([, name]) => name),
  } as unknown as KnownIds;
  return { service: {} as Service, readAll, known };
}

/** What an import makes of a cell. */
function readBack(target: ReferenceTarget, cell: string, directory: Directory): number | undefined {
  const spec = { name: 'x', label: 'x', type: { kind: 'reference', to: target } } as const;
  const value = makeConverter(spec, { decimal: { sign: '.', why: '' }, format: 'csv' })(trimText(cell));
  if (isNamedRef(value as never)) {
    const found = directory.lookup(target, (value as { name: string }).name);
    return found.kind === 'found' ? found.ref.id : undefined;
  }
  return (value as { id: number }).id;
}

const named = (target: ReferenceTarget, names: readonly string[]) =>
  new Map([[target, new Set(names.map(normaliseKey))]]);

describe('the text of a reference', () => {
  const suppliers = ['Acme', '17', 'id:5', 'Twin', 'Twin ', ' Blank  s ', '1.23457E+11', 'A. B. Co', '0042'];
  const lists = { supplier: suppliers.map((name, at) => ({ id: at + 1, name })) };

  test.each([
    ['a name that one record has', 'Acme', 1, 'Acme'],
    ['digits, which would be an id', '17', 2, 'id:2'],
    ['what looks like the explicit form', 'id:5', 3, 'id:3'],
    ['a name that two records have', 'Twin', 4, 'id:4'],
    ['a name that two records have but for blanks', 'Twin ', 5, 'id:5'],
    ['blanks, which do not count', ' Blank  s ', 6, ' Blank  s '],
    ['what a spreadsheet has shortened', '1.23457E+11', 7, 'id:7'],
    ['dots', 'A. B. Co', 8, 'A. B. Co'],
    ['leading zeros, which no id has', '0042', 9, '0042'],
    ['a name of another record', 'Acme', 8, 'id:8'],
    ['a name that the list does not have', 'Nobody', 77, 'id:77'],
  ])('%s', async (_, name, id, expected) => {
    const texts = await loadReferenceTexts(named('supplier', suppliers), world(lists));
    expect(texts('supplier', { id, name })).toBe(expected);
    expect(texts('supplier', { id })).toBe(`id:${id}`);
  });

  test('contracts: digits are a number, and a number that two have is none', async () => {
    const contracts = [
      { id: 1, number: '1001' },
      { id: 2, number: 'C-7' },
      { id: 3, number: 'C-7' },
    ];
    const texts = await loadReferenceTexts(named('contract', ['1001', 'C-7']), world({ contract: contracts }));
    expect(contracts.map(({ id, number }) => texts('contract', { id, name: number }))).toEqual([
      '1001',
      'id:2',
      'id:3',
    ]);
  });

  test('categories of one name are told apart by the subcategory', async () => {
    const category = [
      { id: 1, category: 'Twin', subcategories: ['Here'] },
      { id: 2, category: 'Twin', subcategories: ['There'] },
    ];
    const texts = await loadReferenceTexts(named('category', ['Twin']), world({ category }));
    expect(texts('category', { id: 2, name: 'Twin' }, 'There')).toBe('Twin');
    expect(texts('category', { id: 2, name: 'Twin' }, 'Here')).toBe('id:2');
    expect(texts('category', { id: 2, name: 'Twin' })).toBe('id:2');
  });

  test('customers are known by what was learned', async () => {
    const options = world({}, [
      [1, 'Globex'],
      [2, 'Twin'],
      [3, 'Twin'],
    ]);
    const texts = await loadReferenceTexts(named('customer', ['Globex', 'Twin']), options);
    expect([1, 2, 3].map((id) => texts('customer', { id, name: id === 1 ? 'Globex' : 'Twin' }))).toEqual([
      'Globex',
      'id:2',
      'id:3',
    ]);
  });

  test('whatever the names are, an import reads back the same record', async () => {
    const name = fc.oneof(
      fc.constantFrom(
        'a',
        'A',
        ' a',
        'a ',
        '1',
        '2',
        'id:1',
        'ID: 2',
        '1e5',
        '\u00a0a',
        'Å',
        'A\u030a',
        '9999999999999999',
      ),
      fc.string({ minLength: 1, maxLength: 4, unit: 'grapheme' }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(name, { minLength: 1, maxLength: 8 }), async (names) => {
        for (const [target, title, list] of [
          ['supplier', 'name', 'supplier'],
          ['contract', 'number', 'contract'],
        ] as const) {
          const records = names.map((one, at) => ({ id: at + 1, [title]: one }));
          const options = world({ [list]: records });
          const collected = named(target, names);
          const texts = await loadReferenceTexts(collected, options);
          const directory = await loadDirectory(collected, options);
          for (const [at, one] of names.entries()) {
            expect(readBack(target, texts(target, { id: at + 1, name: one }), directory)).toBe(at + 1);
          }
        }
      }),
      { numRuns: 100 },
    );
  });
});

test('names are collected once, by what they refer to; names that no import would look up are not', () => {
  const names = new ReferenceCollector(resourceSpec('asset'));
  for (const name of ['Acme', ' Acme', '17', 'id:3']) {
    names.add({
      id: 1,
      fields: { attached_supplier: { id: 1, name }, support_provider: { id: 2 }, contract: { id: 1, name: '17' } },
      losses: [],
      unknown: [],
    });
  }
  expect([...names.names].map(([target, all]) => [target, ...all])).toEqual(
    [
      ['contract', '17'],
      ['supplier', 'Acme'],
    ].sort(),
  );
});
