import { describe, expect, it } from 'vitest';
import { DEFAULT_SWITCHES, parseSwitches, SWITCH_NAMES, SWITCH_VALUES } from '../../src/sandbox/index.js';

describe('switches as text', () => {
  it('are read, every one and every value of it', () => {
    expect([...SWITCH_NAMES].sort()).toEqual(Object.keys(DEFAULT_SWITCHES).sort());
    for (const name of SWITCH_NAMES) {
      const values = SWITCH_VALUES[name];
      for (const value of values === 'number' ? [0, 250] : values) {
        expect(parseSwitches([`${name}=${value}`])).toEqual({ [name]: value });
      }
      expect(values === 'number' ? [0] : values).toContain(DEFAULT_SWITCHES[name]);
    }
  });

  it('may be spelled as flags are', () => {
    expect(parseSwitches(['unique-field=upserts', 'omitted_on_put=kept', 'past-end=not-found', 'Patch=OFF'])).toEqual({
      uniqueField: 'upserts',
      omittedOnPut: 'kept',
      pastEnd: 'not_found',
      patch: 'off',
    });
  });

  it.each([
    ['filter=exact', /no switch "filter"\. The switches are responses, filters/],
    ['nonsense=1', /no switch "nonsense"\. The switches are responses, filters/],
    ['filters', /needs a value/],
    ['filters=contain', /must be exact, contains, ignore_case or ignored\./],
    ['lag=-1', /whole number from 0/],
    ['lag=soon', /whole number from 0/],
    ['writeStatus=202', /must be default, 200, 201 or 204/],
  ])('that are wrong are refused in words: %s', (text, words) => {
    expect(() => parseSwitches([text])).toThrow(words);
  });

  it('are not set twice', () => {
    expect(() => parseSwitches(['lag=1', 'lag=2'])).toThrow(/set twice/);
  });
});
