import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Decimal } from '../../src/model/decimal.js';
import type { Fields } from '../../src/model/value.js';
import { heldByReading, heldOfCreate, showsAllAsSent } from '../../src/pipeline/apply/stored.js';
import { resourceSpec } from '../../src/resources/registry.js';
import { createBody } from '../../src/resources/write.js';
import { lexicon } from '../resources/lexicon.js';
import { records } from '../resources/records.js';
import { shownAfter } from '../resources/service-model.js';

const asset = { spec: resourceSpec('asset'), lexicon };
const contract = { spec: resourceSpec('contract'), lexicon };

const SENT: Fields = {
  serial_number: 'SN-1',
  name: 'Köln 1',
  mac_address: '00:11',
  original_cost: Decimal.of('12.5'),
  warranty_start_date: '2024-02-29',
  'template.5.51': 'CC 1',
};

/** What a service may make of a value, and what it never would. */
const odd = fc.oneof(
  fc.constantFrom<unknown>(null, '', 0, -0, true, [], {}, { id: 3 }, '2024-02-30', '29/02/2024', 1e21, Number.NaN),
  fc.jsonValue(),
  fc.double(),
  fc.bigInt({ min: 0n, max: 10n ** 20n }).map((digits) => Decimal.of(`${digits}.5`)),
);

describe('a created record held against what was sent', () => {
  for (const context of [asset, contract]) {
    const { name } = context.spec;

    it(`${name}: where all is shown as sent, reading the record says nothing either`, () => {
      fc.assert(
        fc.property(records(context.spec), fc.dictionary(fc.nat(40).map(String), odd), (fields, changes) => {
          const shown = shownAfter(name, 7, createBody(context.spec, 1, fields, lexicon).body);
          expect(heldOfCreate(fields, shown, context)).toEqual(heldByReading(fields, shown, context));
          const keys = Object.keys(shown).filter((key) => key !== 'id');
          for (const [at, value] of Object.entries(changes)) {
            const key = keys[Number(at) % keys.length];
            if (key !== undefined) shown[key] = value;
          }
          expect(heldOfCreate(fields, shown, context)).toEqual(heldByReading(fields, shown, context));
        }),
        { numRuns: 300 },
      );
    });
  }

  it('what reads do not show is not missed', () => {
    const shown = { id: 7, ...shownAfter('asset', 7, createBody(asset.spec, 1, SENT, lexicon).body) };
    expect(showsAllAsSent(SENT, shown, asset)).toBe(true);
    expect(heldOfCreate(SENT, shown, asset)).toEqual({ differing: [], tidied: [], unkept: [] });
  });

  it('tells what is gone and what has another form', () => {
    const shown = { ...shownAfter('asset', 7, createBody(asset.spec, 1, SENT, lexicon).body), original_cost: null };
    const held = heldOfCreate(SENT, { ...shown, name: 'Köln' }, asset);
    expect(held.differing).toEqual(['original_cost']);
    expect(held.tidied.map(({ code, field }) => [code, field])).toEqual([['value_normalised', 'name']]);
    expect(held.unkept.map(({ code, field }) => [code, field])).toEqual([
      ['would_lose_value', 'original_cost'],
      ['value_normalised', 'name'],
    ]);
  });

  it('an answer without an id is no record', () => {
    expect(heldOfCreate(SENT, { message: 'created' }, asset).unkept).toEqual([]);
  });
});
