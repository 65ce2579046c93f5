import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Decimal } from '../../src/model/decimal.js';
import type { Value } from '../../src/model/value.js';
import { isNormalisedForm } from '../../src/pipeline/apply/compare.js';
import type { FieldType } from '../../src/resources/spec.js';

const TEXT: FieldType = { kind: 'text' };
const AMOUNT: FieldType = { kind: 'decimal' };
const CHOICE: FieldType = { kind: 'enum', values: ['oem', 'oem_extended'] };
const d = Decimal.of;

describe('isStoredForm', () => {
  it.each<[string, Value, Value, FieldType | undefined, boolean]>([
    ['cut', 'Bad Homburg', 'Bad Ho', TEXT, true],
    ['cut behind a blank', 'Bad Homburg', 'Bad', TEXT, true],
    ['cut between a letter and its accent', 'Cafe\u0301', 'Cafe', TEXT, true],
    ['trimmed', '  Ulm ', 'Ulm', TEXT, true],
    ['trimmed to nothing', '   ', null, TEXT, true],
    ['blanks folded', 'a  b', 'a b', TEXT, true],
    ['upper case', 'Straße', 'STRASSE', TEXT, true],
    ['lower case', 'Ann@Example.com', 'ann@example.com', { kind: 'email', max: 254 }, true],
    ['NFKC', 'ﬁ １２', 'fi 12', TEXT, true],
    ['NFC', 'e\u0301', 'é', undefined, true],
    ['gone', 'Ulm', null, TEXT, false],
    ['another text', 'Bonn', 'Ulm', TEXT, false],
    ['longer', 'Ulm', 'Ulm-Söflingen', TEXT, false],
    ['a choice that begins alike', 'oem_extended', 'oem', CHOICE, false],
    ['rounded up', d('12.345'), d('12.35'), AMOUNT, true],
    ['cut off', d('-12.349'), d('-12.34'), AMOUNT, true],
    ['a whole number', d('12.005'), 12, undefined, true],
    ['a hundredth apart', d('12.34'), d('12.35'), AMOUNT, false],
    ['gone', d('12.34'), null, AMOUNT, false],
    ['gone, and near nothing', d('0.001'), null, AMOUNT, false],
    ['a flag', true, false, { kind: 'boolean' }, false],
    ['a reference', { id: 1, name: 'Ann' }, { id: 2, name: 'Ann' }, undefined, false],
    ['a date', '2024-01-31', '2024-01-30', { kind: 'date' }, false],
  ])('%s: %s → %s', (_, sent, got, type, expected) => {
    expect(isNormalisedForm(sent, got, type)).toBe(expected);
  });

  it('every cut, trimmed or not, is a stored form while something is left', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), fc.nat(20), (text, length) => {
        const cut = [...text].slice(0, length).join('').trim();
        fc.pre(cut.normalize('NFKC').trim() !== '');
        expect(isNormalisedForm(text, cut, TEXT)).toBe(true);
      }),
    );
  });
});
