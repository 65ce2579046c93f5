import { expect, test } from 'vitest';
import { readMoment } from '../../src/service/lists/delta.js';

const noon = Date.UTC(2026, 1, 3, 12, 0, 0) * 1000;

test.each([
  ['2026-02-03', 'date', noon - 12 * 3600e6],
  ['2026-02-03T12:00:00Z', 'zoned', noon],
  ['2026-02-03T12:00Z', 'zoned', noon],
  ['2026-02-03T12:00:00.000001z', 'zoned', noon + 1],
  ['2026-02-03T12:00:00.123456789Z', 'zoned', noon + 123_456],
  ['2026-02-03 14:00:00+02:00', 'zoned', noon],
  ['2026-02-03T06:30:00.5-0530', 'zoned', noon + 500_000],
  ['2026-02-03T13:00:00+01', 'zoned', noon],
  ['2026-02-03T12:00:00', 'local', noon],
  ['2026-02-03 12:00:00,25', 'local', noon + 250_000],
])('%s is a moment', (text, form, micros) => {
  expect(readMoment(text)).toEqual({ form, micros });
});

test.each([
  [null],
  [undefined],
  [''],
  [1_770_120_000],
  ['03/02/2026'],
  ['February 3, 2026'],
  ['2026-13-03'],
  ['2026-00-03'],
  ['2026-02-30'],
  ['2026-02-03T24:00:00Z'],
  ['2026-02-03T12:60:00Z'],
  ['2026-02-03T12:00:00 Europe/Berlin'],
  ['2026-02-03T12:00:00Z '],
  ['20260203T120000Z'],
])('%j is none', (value) => {
  expect(readMoment(value)).toBeUndefined();
});
