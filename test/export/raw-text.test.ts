import fc from 'fast-check';
import { expect, test } from 'vitest';
import { rawText } from '../../src/export/raw-text.js';
import { Decimal } from '../../src/model/decimal.js';

test('a number stands in a cell as the decimal that it is', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.integer(),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.float({ noNaN: true, noDefaultInfinity: true }),
      ),
      (value) => {
        expect(rawText(value)).toBe(Decimal.of(value).text);
      },
    ),
    { numRuns: 2_000, examples: [[-0], [1e21], [1e-7], [0.1], [123456789.25], [Number.MAX_SAFE_INTEGER], [5e-324]] },
  );
});
