import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isoToSerial, serialToIso } from '../../src/files/number/cell-value.js';
import { builtInCode, numberFormat } from '../../src/files/number/number-format.js';

const show = (code: string, decimal: string) => numberFormat(code).toText(decimal, false);

describe('numbers as a person sees them', () => {
  test.each([
    ['General', '1234567890123', '1234567890123'],
    ['[$-407]General', '1234567890123', '1234567890123'],
    ['[$-409]@', '12345.678901234', '12345.678901234'],
    ['0', '1234.5', '1235'],
    ['0', '-0.4', '0'],
    ['0.00', '1234.5', '1234.50'],
    ['0.00', '1.005', '1.01'],
    ['0.0#', '1.5', '1.5'],
    ['0.0#', '1.25', '1.25'],
    ['#,##0', '1234567', '1,234,567'],
    ['#,##0', '0', '0'],
    ['#,###', '0', ''],
    ['#,##0.00', '-1234567.891', '-1,234,567.89'],
    ['#,##0.00', '12', '12.00'],
    ['"$"#,##0.00', '1200.5', '$1,200.50'],
    ['[$€-407]#,##0.00', '1200.5', '€1,200.50'],
    ['#,##0.00\\ [$€-407]', '1200.5', '1,200.50 €'],
    ['#,##0.00\\ [$CHF-807]', '5', '5.00 CHF'],
    ['_-[$£-809]* #,##0.00_-;\\-[$£-809]* #,##0.00_-', '-5.5', '-£5.50'],
    ['0%', '0.256', '26%'],
    ['0.00%', '-0.2567', '-25.67%'],
    ['00000', '123', '00123'],
    ['00000', '1234567', '1234567'],
    ['000-00-0000', '123456789', '123-45-6789'],
    ['(000) 000-0000', '5550109999', '(555) 010-9999'],
    ['"SN-"0000', '42', 'SN-0042'],
    ['0.00E+00', '1234567890123', '1.23E+12'],
    ['0.00E+00', '0.00012', '1.20E-04'],
    ['0.00E+00', '9.999', '1.00E+01'],
    ['##0.0E+0', '12345', '12.3E+3'],
    ['0.00E+00', '0', '0.00E+00'],
    ['#,##0,', '1234567', '1,235'],
    ['0.0,,"M"', '1234567', '1.2M'],
    ['#,##0_);[Red](#,##0)', '-1234', '(1,234)'],
    ['#,##0.00;[Red]-#,##0.00;"-"', '0', '-'],
    ['0;-0;;@', '0', ''],
    ['[>=100]"high";[<10]"low";0', '150', 'high'],
    ['[>=100]"high";[<10]"low";0', '5', 'low'],
    ['[>=100]"high";[<10]"low";0', '50', '50'],
    ['@', '12.5', '12.5'],
    ['"on";;"off"', '1', 'on'],
    // As a number it is of use to whoever reads it on.
    ['# ?/?', '2.25', '2.25'],
    [';;;', '12', ''],
    ['[Red][<0]0.0;[Blue]0', '3', '3'],
    ['[$-F400]h:mm:ss AM/PM', '0.5', '12:00:00 PM'],
    ['[ss].00', '1.5', '129600.00'],
    ['mm:ss.0', '0.00001', '00:00.9'],
    ['_-* #,##0.00\\ [$€-407]_-;\\-* #,##0.00\\ [$€-407]_-', '-5', '-5.00 €'],
    ['[$$-409]#,##0.00', '5', '$5.00'],
    ['[$USD] #,##0.00', '5', 'USD 5.00'],
    ['_-[$£-en-GB]* #,##0.00_-;-[$£-en-GB]* #,##0.00_-', '-5.5', '-£5.50'],
    ['#,##0.00\\ [$€-x-euro2]', '5', '5.00 €'],
    ['[$B/.-280A]#,##0', '5', 'B/.5'],
    ['[$-en-US]h:mm AM/PM;@', '0.5', '12:00 PM'],
    ['[$-x-systime]h:mm:ss AM/PM', '0.5', '12:00:00 PM'],
    ['[$-en-US]mmmm d, yyyy;@', '45352', 'March 1, 2024'],
    ['[$-ja-JP-x-gannen]yyyy-mm-dd', '45352', '2024-03-01'],
    ['[$-x-sysdate]dddd, mmmm dd, yyyy', '45352', 'Friday, March 01, 2024'],
    ['#,##0.00_);[Red]\\(#,##0.00\\)', '-1234.5', '(1,234.50)'],
    ['General" pcs"', '12', '12 pcs'],
    ['[Red]0.0', '-1.25', '-1.3'],
    ['[h]:mm', '1.5', '36:00'],
    ['[h]:mm', '-0.4', '-9:36'],
    ['[h]:mm:ss;-[h]:mm:ss', '-1.5', '-36:00:00'],
    ['[h]:mm:ss', '0.0417', '1:00:03'],
    ['[mm]:ss', '0.5', '720:00'],
    ['h:mm AM/PM', '0.75', '6:00 PM'],
  ])('%s of %s is %j', (code, decimal, shown) => {
    expect(show(code, decimal)).toBe(shown);
  });

  test.each([
    ['mm-dd-yy', '2024-02-29'],
    ['d/m/yyyy', '29/2/2024'],
    ['dd\\.mm\\.yyyy', '29.02.2024'],
    ['d\\-mmm\\-yy', '29-Feb-24'],
    ['[$-409]mmmm\\ d\\,\\ yyyy;@', 'February 29, 2024'],
    ['[$-F800]dddd\\,\\ mmmm\\ dd\\,\\ yyyy', 'Thursday, February 29, 2024'],
    ['yyyy-mm-dd"T"hh:mm:ss', '2024-02-29T18:05:09'],
    ['m/d/yy h:mm AM/PM', '2/29/24 6:05 PM'],
    ['ddd mmm d', 'Thu Feb 29'],
    ['yyyy"年"m"月"d"日"', '2024年2月29日'],
    ['hh:mm:ss.00 d', '18:05:09.00 29'],
    ['[$-407]d. mmmm yyyy;@', '29. February 2024'],
    ['[$-1070000]d/mm/yyyy;@', '29/02/2024'],
    ['[$-107041E]d mmm bbbb', '29 Feb 2567'],
    ['B1d/mm/yyyy', '29/02/2024'],
    ['[$-804]yyyy"年"m"月"d"日";@', '2024年2月29日'],
    ['[$-411]ggge"年"', '2024年'],
    ['[ENG][$-409]dd\\-mmm\\-yy', '29-Feb-24'],
    ['[Black]dd/mm/yyyy', '29/02/2024'],
    ['YYYY-MM-DD', '2024-02-29'],
    ['[>=40000]yyyy;0', '2024'],
  ])('the date format %s', (code, shown) => {
    expect(numberFormat(code).isDate).toBe(true);
    expect(show(code, '45351.7535763889')).toBe(shown);
  });

  test.each([
    '0',
    '0.00',
    '[h]:mm',
    '[Red]0',
    '"d"0',
    '\\d0',
    '0.00E+00',
    '#,##0" days"',
    '_d0',
    'mm:ss',
    '[$-409]h:mm',
    '@',
  ])('%s is no date format', (code) => {
    expect(numberFormat(code).isDate).toBe(false);
  });

  test('built-in codes: which of them are dates', () => {
    const dates = Array.from({ length: 60 }, (_, id) => id).filter((id) => numberFormat(builtInCode(id) ?? '').isDate);
    expect(dates).toEqual([14, 15, 16, 17, 22, 27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58]);
  });

  test('no format code, however odd, throws or hangs', () => {
    const piece = fc.constantFrom(
      ...'0#?.,%;@"\\[]$-/:ymdhsEe+*_ AMP()€',
      '[h]',
      '[>1]',
      'General',
      '[$-409]',
      'AM/PM',
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 20 }),
        fc.double({ noNaN: true, min: -1e12, max: 1e12 }),
        (code, value) => {
          const decimal = value.toFixed(3);
          expect(typeof show(code.join(''), decimal)).toBe('string');
        },
      ),
      { numRuns: 3_000 },
    );
  });
});

describe('serial dates', () => {
  test('every day from 1900 to 9999 goes there and back', () => {
    let wrong = 0;
    for (let serial = 1; serial <= 2_958_465; serial += serial < 800 ? 1 : 97) {
      if (serial === 60) continue;
      const date = serialToIso(serial, false)!;
      // Spreadsheet programs count a 29 February 1900 that never was.
      const days = serial < 60 ? serial : serial - 1;
      const utc = new Date(Date.UTC(1899, 11, 31 + days));
      if (isoToSerial(date) !== serial || utc.toISOString().slice(0, 10) !== date) wrong++;
    }
    expect(wrong).toBe(0);
  });

  test('seconds survive', () => {
    for (let second = 0; second < 86_400; second += 61) {
      const text = serialToIso(45_351 + second / 86_400, false)!;
      expect(serialToIso(isoToSerial(text)!, false)).toBe(text);
    }
  });

  test('text that is no date has no serial number', () => {
    for (const text of ['2023-02-29', '2024-13-01', 'x', '2024-1-1']) expect(isoToSerial(text)).toBeUndefined();
  });
});
