import fc from 'fast-check';
import { expect, test } from 'vitest';
import { normaliseKey } from '../../src/model/value.js';

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
    'é',
    'ﬁ',
    'Å',
    '\ud800',
  );
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit, maxLength: 8 }), fc.string({ unit: 'binary' })), (text) => {
      expect(normaliseKey(text)).toBe(text.normalize('NFKC').replace(/\s+/gu, ' ').trim());
    }),
    { numRuns: 5_000 },
  );
});
