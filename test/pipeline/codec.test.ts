import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Decimal } from '../../src/model/decimal.js';
import { fault } from '../../src/model/issue.js';
import { decodeFields, encodeFields, rowCodec, type StagedValue, type StoredRow } from '../../src/pipeline/rows.js';

const FIELDS = ['name', 'cost', 'template.4.2', 'supplier', 'tags', 'form.1.__proto__'];

const value: fc.Arbitrary<StagedValue> = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.tuple(fc.bigInt(), fc.integer({ min: -9, max: 9 })).map(([digits, power]) => Decimal.of(`${digits}e${power}`)),
  fc.array(fc.string(), { maxLength: 3 }),
  fc.record({ id: fc.nat(), name: fc.string() }, { requiredKeys: ['id'] }),
  fc.record({ named: fc.constant('supplier' as const), name: fc.string(), column: fc.string() }),
);

const texts = fc.dictionary(fc.constantFrom(...FIELDS), fc.string(), { minKeys: 1 });

const row: fc.Arbitrary<StoredRow> = fc
  .record(
    {
      row: fc.integer({ min: 1 }),
      sheet: fc.option(fc.string(), { nil: undefined }),
      key: fc.string(),
      values: fc.array(fc.option(value, { nil: undefined }), { minLength: FIELDS.length, maxLength: FIELDS.length }),
      issues: fc.array(
        fc.string().map((text) => fault('too_long', text, { column: text })),
        { maxLength: 2 },
      ),
      cells: texts,
      escaped: texts,
      unread: fc.string(),
      duplicateOf: fc.nat(),
      after: fc.record({ field: fc.string(), row: fc.nat() }),
    },
    { requiredKeys: ['row', 'key', 'values', 'issues'] },
  )
  .map(({ row: number, sheet, values, ...more }) => ({
    ref: sheet === undefined ? { row: number } : { sheet, row: number },
    set: Object.fromEntries(FIELDS.flatMap((field, i) => (values[i] === undefined ? [] : [[field, values[i]!]]))),
    ...more,
  }));

describe('a row on its way between two stages', () => {
  test.each([
    ['of a file that names its fields', FIELDS],
    ['of a file whose rows have fields of their own', []],
  ])('comes back as it was: %s', (_, fields) => {
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 4 }), (rows) => {
        const writer = rowCodec(fields);
        const lines = rows.map((one) => writer.encode(one));
        const reader = rowCodec(fields);
        for (const [at, line] of lines.entries()) {
          expect(line.indexOf('\n')).toBe(line.length - 1);
          const back = reader.decode(JSON.parse(line) as unknown[]);
          expect(back).toEqual(rows[at]);
          // Reports list fields in this order.
          expect(Object.keys(back.set)).toEqual(Object.keys(rows[at]!.set));
        }
      }),
    );
  });

  test('its text tells rows apart that set other values, and no others', () => {
    const { textOf } = rowCodec(FIELDS);
    fc.assert(
      fc.property(row, row, ({ set: a }, { set: b }) => {
        const same = JSON.stringify(encodeFields(a)) === JSON.stringify(encodeFields(b));
        expect(textOf({ ...a }) === textOf({ ...b })).toBe(same);
        expect(textOf({ ...a })).toBe(textOf(a));
      }),
    );
  });

  test('fields as plain JSON come back', () => {
    const fields = { cost: Decimal.of('12.50'), name: 'x', none: null };
    expect(decodeFields(JSON.parse(JSON.stringify(encodeFields(fields))) as Record<string, unknown>)).toEqual(fields);
  });
});
