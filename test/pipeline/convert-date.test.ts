import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileDateFormat, type DateFormat, dateInFormats, unambiguousDate } from '../../src/pipeline/map/dates.js';

const read = (result: ReturnType<typeof unambiguousDate>) => (typeof result === 'string' ? result : result.refused);

function formats(...sources: string[]): DateFormat[] {
  return sources.map((source) => {
    const format = compileDateFormat(source);
    if (typeof format === 'string') throw new Error(format);
    return format;
  });
}

describe('dates of which the job states no format', () => {
  test.each([
    ['2024-02-29', '2024-02-29'],
    ['2023-02-29', 'not_a_date'],
    ['2024-2-9', '2024-02-09'],
    ['2024-02-29T23:59:59Z', '2024-02-29'],
    ['2024-02-29 08:00', '2024-02-29'],
    ['2024-02-29T08:00:00.000+05:30', '2024-02-29'],
    ['2024/02/29', '2024-02-29'],
    ['2024.02.29', '2024-02-29'],
    ['2024-02/29', 'not_a_date'],
    ['20240229', '2024-02-29'],
    ['29022024', 'not_a_date'],
    ['December 1, 2016', '2016-12-01'],
    ['Dec 1, 2016', '2016-12-01'],
    ['Dec. 1st, 2016', '2016-12-01'],
    ['june 9 2016', '2016-06-09'],
    ['1 Dec 2016', '2016-12-01'],
    ['1 December 2016', '2016-12-01'],
    ['23-Sep-11', '2011-09-23'],
    ['23-Sept-2011', '2011-09-23'],
    ['3rd May 1999', '1999-05-03'],
    ['31-Dec-68', '2068-12-31'],
    ['31-Dec-69', '1969-12-31'],
    ['1. März 2024', '2024-03-01'],
    ['31. Dezember 2024', '2024-12-31'],
    ['3. Mai 2024', '2024-05-03'],
    ['12 Jän. 2024', '2024-01-12'],
    ['1er janvier 2024', '2024-01-01'],
    ['14 juillet 2024', '2024-07-14'],
    ['2 ao\u0075\u0302t 2024', '2024-08-02'],
    ['5 févr. 2024', '2024-02-05'],
    ['1º de enero de 2024', '2024-01-01'],
    ['15 de septiembre de 2024', '2024-09-15'],
    ['9 dicembre 2024', '2024-12-09'],
    ['28 maart 2024', '2024-03-28'],
    ['25 de dezembro de 2024', '2024-12-25'],
    ['7 out. 2024', '2024-10-07'],
    ['Thursday, December 1, 2016', '2016-12-01'],
    ['Do, 1. Dezember 2016', '2016-12-01'],
    ['lundi 1 février 2021', '2021-02-01'],
    ['mar 5, 2024', '2024-03-05'],
    ['Someday, December 1, 2016', 'not_a_date'],
    ['2024-Jan-31', '2024-01-31'],
    ['Sept 5, 2024', '2024-09-05'],
    ['22nd August 2024', '2024-08-22'],
    ['30 Feb 2020', 'not_a_date'],
    ['Foo 1, 2016', 'not_a_date'],
    ['Dec 2016', 'not_a_date'],
    ['5/19/2006 0:00:00', '2006-05-19'],
    ['19/5/2006', '2006-05-19'],
    ['6/24/15', '2015-06-24'],
    ['31.12.2024', '2024-12-31'],
    ['05/05/2024', '2024-05-05'],
    ['05/05/24', '2024-05-05'],
    ['01/02/2024', 'ambiguous_date'],
    ['1.2.2024', 'ambiguous_date'],
    ['24-06-15', 'ambiguous_date'],
    ['31.02.2024', 'not_a_date'],
    ['13/13/2024', 'not_a_date'],
    ['0999-01-01', 'not_a_date'],
    ['tomorrow', 'not_a_date'],
    ['12:30', 'not_a_date'],
    ['45000', 'not_a_date'],
    [`1${' '.repeat(50_000)}`, 'not_a_date'],
  ])('%s is %s', (text, expected) => {
    expect(read(unambiguousDate(text))).toBe(expected);
  });

  test('the message of an ambiguous date shows both readings and how to state the format', () => {
    const result = unambiguousDate('01/02/2024');
    expect(typeof result === 'string' ? '' : result.why).toMatch(
      /1 February 2024 \(`d\/M\/yyyy`\) or 2 January 2024 \(`M\/d\/yyyy`\).*dates: \[/,
    );
  });
});

test('the serial number of a date is not guessed, and the fault says what it may be', () => {
  const refused = unambiguousDate('45292');
  expect(refused).toMatchObject({ refused: 'not_a_date', why: expect.stringContaining('serial number of a date') });
  expect(unambiguousDate('12345678')).toMatchObject({ why: expect.not.stringContaining('serial') });
});

describe('stated formats', () => {
  test.each([
    ['dd/MM/yyyy', '01/02/2024', '2024-02-01'],
    ['MM/dd/yyyy', '01/02/2024', '2024-01-02'],
    ['dd/MM/yyyy', '1/2/2024', 'not_a_date'],
    ['d/M/yyyy', '1/2/2024', '2024-02-01'],
    ['d/M/yyyy', '01/02/2024', '2024-02-01'],
    ['dd.MM.yy', '01.02.68', '2068-02-01'],
    ['dd.MM.yy', '01.02.69', '1969-02-01'],
    ['d MMM yyyy', '1 feb. 2024', '2024-02-01'],
    ['d. MMMM yyyy', '1. März 2024', '2024-03-01'],
    ['d MMMM yyyy', '15 septiembre 2024', '2024-09-15'],
    ['d MMMM yyyy', '1 FEBRUARY 2024', '2024-02-01'],
    ['MMMM d, yyyy', 'September 9, 2024', '2024-09-09'],
    ['yyyyMMdd', '20240229', '2024-02-29'],
    ['yyyyMMdd', '20230229', 'not_a_date'],
    ['M/d/yyyy H:mm:ss', '5/19/2006 13:05:09', '2006-05-19'],
    ['M/d/yyyy h:mm a', '5/19/2006 1:05 pm', '2006-05-19'],
    ['M/d/yyyy h:mm a', '5/19/2006 13:05 pm', 'not_a_date'],
    ['M/d/yyyy', '5/19/2006 0:00:00', '2006-05-19'],
    ['M/d/yyyy', '5/19/2006 12:00:00 AM', '2006-05-19'],
    ['M/d/yyyy', '5/19/2006 8:15', 'not_a_date'],
    ["yyyy-MM-dd'T'HH:mm:ss'Z'", '2024-01-31T10:00:00Z', '2024-01-31'],
    ['yyyy-MM-ddTHH:mm', '2024-01-31T24:00', 'not_a_date'],
    ['dd-MM-yyyy', '01/02/2024', 'not_a_date'],
    ['dd/MM/yyyy', '01/02/2024x', 'not_a_date'],
    ['dd/MM/yyyy', '30/02/2024', 'not_a_date'],
    ['(dd.MM.yyyy)', '(01.02.2024)', '2024-02-01'],
    ['d MMM yyyy', '1\u00a0Feb 2024', '2024-02-01'],
  ])('%s reads %s as %s', (format, text, expected) => {
    expect(read(dateInFormats(text, formats(format)))).toBe(expected);
  });

  test('the first format that fits wins, and ISO is not read where it is not stated', () => {
    const both = formats('dd/MM/yyyy', 'MM/dd/yyyy');
    expect(dateInFormats('01/02/2024', both)).toBe('2024-02-01');
    expect(dateInFormats('12/31/2024', both)).toBe('2024-12-31');
    expect(read(dateInFormats('2024-12-31', both))).toBe('not_a_date');
  });

  test('the refusal names the stated formats and a day that does not exist', () => {
    const [unfit, noDay] = [
      dateInFormats('soon', formats('dd/MM/yyyy')),
      dateInFormats('31/04/2024', formats('dd/MM/yyyy')),
    ];
    expect(typeof unfit === 'string' ? '' : unfit.why).toContain('`dd/MM/yyyy`');
    expect(typeof noDay === 'string' ? '' : noDay.why).toContain('calendar does not have');
  });

  test.each([
    ['DD/MM/YYYY', '`D`'],
    ['dd/mm/yyyy', 'months? '],
    ['dd/MM', 'lacks the year'],
    ['yyyy', 'lacks the month'],
    ['dd/MM/yyyy dd', 'repeats the day'],
    ['MMM MM yyyy dd', 'repeats the month'],
  ])('%s is no format', (source, reason) => {
    expect(compileDateFormat(source)).toMatch(new RegExp(reason.replace('months? ', 'mm are minutes')));
  });
});

test('a date written in any format reads back', () => {
  const MONTHS = 'January February March April May June July August September October November December'.split(' ');
  const write = (format: string, [year, month, day]: [number, number, number]) =>
    format.replace(/yyyy|yy|MMMM|MMM|MM|M|dd|d/g, (token) => {
      const two = (n: number) => String(n).padStart(2, '0');
      const name = MONTHS[month - 1] ?? '';
      const parts: Record<string, string> = {
        yyyy: String(year),
        yy: two(year % 100),
        MMMM: name,
        MMM: name.slice(0, 3),
        MM: two(month),
        M: String(month),
        dd: two(day),
        d: String(day),
      };
      return parts[token] ?? token;
    });
  const dates = fc
    .date({ min: new Date('1970-01-01T00:00:00Z'), max: new Date('2068-12-31T00:00:00Z'), noInvalidDate: true })
    .map((date) => date.toISOString().slice(0, 10));
  const sources = fc.constantFrom(
    'yyyy-MM-dd',
    'dd/MM/yyyy',
    'MM/dd/yyyy',
    'd.M.yyyy',
    'M-d-yy',
    'dd.MM.yy',
    'd MMM yyyy',
    'dd-MMM-yy',
    'MMMM d, yyyy',
    'yyyyMMdd',
    'd. MMMM yyyy',
    'yyyy/M/d',
  );
  fc.assert(
    fc.property(dates, sources, (iso, source) => {
      const text = write(source, iso.split('-').map(Number) as [number, number, number]);
      expect(dateInFormats(text, formats(source))).toBe(iso);
      const alone = unambiguousDate(text);
      // Without a format it is the same day or none: never another.
      expect([iso, 'ambiguous_date', 'not_a_date']).toContain(read(alone));
    }),
    { numRuns: 2000 },
  );
});
