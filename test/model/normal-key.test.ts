import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lookalikeForm, normaliseKey, normaliseName } from '../../src/model/value.js';

test('keys that are in normal form already come out as all others do', () => {
  const unit = fc.constantFrom(
    'A',
    'z',
    '0',
    '~',
    '!',
    ' ',
    '  ',
    '\t',
    '\n',
    '\u007f',
    '\u00a0',
    '\u200b',
    'é',
    'ﬁ',
    'Å',
    '\ud800',
  );
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit, maxLength: 8 }), fc.string({ unit: 'binary' })), (text) => {
      const key = text.normalize('NFKC').trim();
      expect(normaliseKey(text)).toBe(key);
      expect(normaliseName(text)).toBe(key.replace(/\s+/gu, ' '));
      const seen = text.replace(/\p{Default_Ignorable_Code_Point}/gu, '');
      expect(lookalikeForm(text)).toBe(seen.normalize('NFKC').trim().replace(/\s+/gu, ' '));
    }),
    { numRuns: 5_000 },
  );
});
