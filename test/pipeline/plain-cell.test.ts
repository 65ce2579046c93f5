import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { trimText } from '../../src/pipeline/map/cell-text.js';
import { type ConvertOptions, makeConverter, plainCell } from '../../src/pipeline/map/convert.js';
import { compileDateFormat, type DateFormat } from '../../src/pipeline/map/dates.js';
import { setMaker } from '../../src/pipeline/rows.js';
import { resourceSpec } from '../../src/resources/registry.js';
import { WRITABLE } from '../../src/resources/spec.js';
import { checkValue } from '../../src/resources/value-check.js';

const NAMES = [
  'Deployed',
  'none',
  'oem',
  'Germany',
  'DE',
  'yes',
  'no',
  'active',
  'Supplier 1',
  'id:17',
  '17',
  '3 years',
];
const ODD = '\u00a0\u00ad\u200b\u2060\ufeff\ufffd\ud800\u0007\u0085\u2028\t\n\r \0éÉßﬁ½²１€日😀';

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({ unit: fc.constantFrom(...'09.,-+E% eabc@:/', ...ODD), maxLength: 12 }),
  fc.string({ unit: fc.constantFrom(...'0123456789.-'), maxLength: 18 }),
  fc.tuple(fc.nat(2e15), fc.nat(999)).map(([whole, places]) => `${whole}.${places}`),
  fc.tuple(fc.nat(11_000), fc.nat(14), fc.nat(33)).map(([year, month, day]) => {
    const two = (number: number) => String(number).padStart(2, '0');
    return `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`;
  }),
  fc.emailAddress(),
  fc.constantFrom(...NAMES),
  fc.string({ unit: 'grapheme-ascii', minLength: 45, maxLength: 60 }),
);

const german = compileDateFormat('dd.MM.yyyy') as DateFormat;
const iso = compileDateFormat('yyyy-MM-dd') as DateFormat;
const RULES: [string, ConvertOptions][] = [
  ['a decimal point', { decimal: { sign: '.', why: '' }, format: 'csv', column: 'The column' }],
  ['a decimal comma', { decimal: { sign: ',', why: '' }, format: 'xlsx' }],
  ['both signs', { decimal: { sign: 'each', why: '' }, format: 'ndjson' }],
  ['stated dates', { decimal: { sign: '.', why: '' }, format: 'csv', dates: [german, iso] }],
];

describe.each(WRITABLE)('plain cells of a %s', (name) => {
  test.each(RULES)('are read as by the full look: %s', (_, options) => {
    const columns = resourceSpec(name).fields.flatMap((field) => {
      const plain = plainCell(field, makeConverter(field, options), options);
      return plain ? [{ field, plain, convert: makeConverter(field, options) }] : [];
    });
    fc.assert(
      fc.property(text, (cell) => {
        for (const { field, plain, convert } of columns) {
          const value = plain(cell);
          if (value === undefined) continue;
          expect(trimText(cell)).toBe(cell);
          expect(cell).not.toBe('');
          expect(value).toEqual(convert(cell));
          if (typeof value !== 'object' || value === null || !('named' in value))
            expect(checkValue(field, value)).toBeUndefined();
          // What the record may show otherwise is kept beside the value: that is left to the full look.
          if (['text', 'email', 'date'].includes(field.type.kind)) expect(value).toBe(cell);
          if (field.type.kind === 'decimal') expect(cell).toMatch(/^-?\d+(?:\.\d+)?$/);
        }
      }),
      { numRuns: 400 },
    );
  });
});

test.each([
  ['name', 'Zürich, no. 7'],
  ['asset_notes', 'one\r\ntwo\tthree'],
  ['warranty_contact_email', 'owner.7@example.com'],
  ['original_cost', '1200.50'],
  ['original_cost', '0'],
  ['warranty_end_date', '2024-02-29'],
  ['warranty_type', 'oem'],
  ['country', 'Germany'],
  ['attached_supplier', 'Acme'],
])('%s: %s is plain', (name, cell) => {
  const options = RULES[0]![1];
  const field = resourceSpec('asset').fields.find((one) => one.name === name)!;
  expect(plainCell(field, makeConverter(field, options), options)!(cell)).toBeDefined();
});

test('what a row sets is made of its values, in the order of the fields', () => {
  const fields = ['b', 'a', 'template.4.2', '__proto', 'c'];
  const make = setMaker<number | null>(fields);
  const value = fc.option(fc.option(fc.nat(), { nil: null }), { nil: undefined });
  fc.assert(
    fc.property(fc.array(value, { minLength: 5, maxLength: 5 }), (values) => {
      const expected = fields.flatMap((field, i) => (values[i] === undefined ? [] : [[field, values[i]]]));
      expect(Object.entries(make(values))).toEqual(expected);
    }),
  );
});
