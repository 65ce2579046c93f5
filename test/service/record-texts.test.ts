import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseJson } from '../../src/service/json.js';
import { recordTexts as recordBytes } from '../../src/service/lists/record-texts.js';

const recordTexts = (page: string) => recordBytes(Buffer.from(page))?.map(String);

const value = fc.jsonValue();
const record = fc.dictionary(fc.string(), value);
const blanks = fc.constantFrom('', ' ', '\t', '\r', '  ');

/** Pages as services write them: more members before and after, blanks anywhere. */
const page = fc
  .record({ before: fc.dictionary(fc.string(), value), after: fc.dictionary(fc.string(), value), blank: blanks })
  .chain(({ before, after, blank }) =>
    fc.array(record).map((results) => {
      const member = (of: object): string[] =>
        Object.entries(of).map(([name, held]) => `${JSON.stringify(name)}${blank}:${blank}${JSON.stringify(held)}`);
      const list = `[${blank}${results.map((one) => JSON.stringify(one)).join(`${blank},${blank}`)}${blank}]`;
      const members = [...member(before), `"results"${blank}:${blank}${list}`, ...member(after)];
      return `${blank}{${blank}${members.join(`${blank},${blank}`)}${blank}}\n`;
    }),
  );

test('the texts of the records are what the page says, or none are given', () => {
  let given = 0;
  fc.assert(
    fc.property(page, (text) => {
      const texts = recordTexts(text);
      if (!texts) return;
      given++;
      const { results } = parseJson(text) as { results: unknown[] };
      expect(texts.map(parseJson)).toEqual(results);
    }),
    { numRuns: 600 },
  );
  expect(given).toBeGreaterThan(400);
});

test('each text stands on one line and keeps the digits of its numbers', () => {
  const text = '{"count": 2, "next": null, "results": [{"a": 99999999999999.99, "b": "]}\\n"}, {"a":1.50}]}\n';
  expect(recordTexts(text)).toEqual(['{"a": 99999999999999.99, "b": "]}\\n"}', '{"a":1.50}']);
});

test.each([
  ['a line break between the values', '{"results":[{"a":1},\n{"a":2}]}'],
  ['results named twice', '{"results":[{"a":1}],"results":[]}'],
  ['results named in another spelling behind', '{"results":[{"a":1}],"r\\u0065sults":[]}'],
  ['a bare list', '[{"a":1}]'],
  ['something that is no record', '{"results":[{"a":1},3]}'],
  ['no results', '{"count":3}'],
])('%s: not settled', (_what, text) => expect(recordTexts(text)).toBeUndefined());
