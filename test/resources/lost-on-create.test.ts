import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Decimal } from '../../src/model/decimal.js';
import type { Fields, Value } from '../../src/model/value.js';
import { resourceSpec } from '../../src/resources/registry.js';
import { WRITABLE } from '../../src/resources/spec.js';
import { createBody, lostOnCreate } from '../../src/resources/write.js';
import { lexicon } from './lexicon.js';

const value: fc.Arbitrary<Value> = fc.oneof(
  fc.constantFrom('', 'x', true, 17, null, Decimal.of('12.5')),
  fc.constantFrom<Value>({ id: 3 }, { id: 3, name: 'Name' }, [], ['a', 'b']),
);

describe.each(WRITABLE)('what a create of a %s loses', (name) => {
  const spec = resourceSpec(name);
  const fields = fc.constantFrom(
    ...spec.fields.map((field) => field.name),
    'template.5.51',
    'form.3.Rack',
    'form.3.Photo',
    'no such field',
  );

  test('is told as by its body', () => {
    fc.assert(
      fc.property(fc.dictionary(fields, value, { maxKeys: 6 }), (set: Fields) => {
        expect(lostOnCreate(spec, 1, set, lexicon)).toEqual(createBody(spec, 1, set, lexicon).lost);
      }),
      { numRuns: 500 },
    );
  });
});
