import { describe, expect, it } from 'vitest';
import { Decimal } from '../../src/model/decimal.js';
import type { Fields } from '../../src/model/value.js';
import { compareWithStored } from '../../src/pipeline/apply/compare.js';
import { resourceSpec } from '../../src/resources/registry.js';
import { createBody } from '../../src/resources/write.js';
import { lexicon } from '../resources/lexicon.js';
import { shownAfter } from '../resources/service-model.js';

const asset = { spec: resourceSpec('asset'), lexicon };

const SENT: Fields = {
  serial_number: 'SN-1',
  name: 'Köln 1',
  mac_address: '00:11',
  original_cost: Decimal.of('12.5'),
  warranty_start_date: '2024-02-29',
  'template.5.51': 'CC 1',
};

describe('a created record held against what was sent', () => {
  it('what reads do not show is not missed', () => {
    const shown = { id: 7, ...shownAfter('asset', 7, createBody(asset.spec, 1, SENT, lexicon).body) };
    expect(compareWithStored(SENT, shown, asset)).toEqual({ differing: [], normalised: [], unstored: [] });
  });

  it('tells what is gone and what has another form', () => {
    const shown = { ...shownAfter('asset', 7, createBody(asset.spec, 1, SENT, lexicon).body), original_cost: null };
    const held = compareWithStored(SENT, { ...shown, name: 'Köln' }, asset);
    expect(held.differing).toEqual(['original_cost']);
    expect(held.normalised.map(({ code, field }) => [code, field])).toEqual([['value_normalised', 'name']]);
    expect(held.unstored.map(({ code, field }) => [code, field])).toEqual([
      ['would_lose_value', 'original_cost'],
      ['value_normalised', 'name'],
    ]);
  });

  it('an answer without an id is no record', () => {
    expect(compareWithStored(SENT, { message: 'created' }, asset).unstored).toEqual([]);
  });
});
