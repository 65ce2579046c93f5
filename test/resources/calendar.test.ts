import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isCalendarDate } from '../../src/resources/calendar.js';

/** By the machine's own calendar. */
function isDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || text.startsWith('0000')) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().slice(0, 10) === text;
}

const digits = (length: number) =>
  fc.integer({ min: 0, max: 10 ** length - 1 }).map((n) => `${n}`.padStart(length, '0'));
const near = (max: number) => fc.integer({ min: 0, max }).map((n) => `${n}`.padStart(2, '0'));

test('a date is one that the calendar has, in its one form', () => {
  const dates = fc.tuple(digits(4), near(14), near(33)).map((parts) => parts.join('-'));
  const others = fc.string({
    unit: fc.constantFrom('0', '1', '2', '9', '-', '/', ':', ' ', '２', '\n'),
    maxLength: 11,
  });
  fc.assert(
    fc.property(
      fc.oneof(
        dates,
        others,
        dates.map((text) => `${text}\n`),
      ),
      (text) => {
        expect(isCalendarDate(text)).toBe(isDate(text));
      },
    ),
    { numRuns: 5_000 },
  );
});
