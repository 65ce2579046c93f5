import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SheetRow } from '../../src/model/row.js';
import { amountText, type DecimalRule, surveyDecimals } from '../../src/pipeline/map/amounts.js';

const POINT: DecimalRule = { sign: '.', why: 'the test says so' };
const COMMA: DecimalRule = { sign: ',', why: 'the test says so' };
const EACH: DecimalRule = { sign: 'each', why: 'the file writes both' };

const code = (text: string, rule: DecimalRule) => {
  const read = amountText(text, rule);
  return typeof read === 'string' ? read : read.refused;
};

describe('amounts with a point as the decimal sign', () => {
  test.each([
    ['499', '499'],
    ['-1.5', '-1.5'],
    ['+7', '7'],
    ['.5', '0.5'],
    ['12.', '12'],
    ['1,200.50', '1200.50'],
    ['$1,200.50', '1200.50'],
    ['$ 1,200.50', '1200.50'],
    ['-$1,200.50', '-1200.50'],
    ['$-1,200.50', '-1200.50'],
    ['($1,200.50)', '-1200.50'],
    ['$ (12.00)', '-12.00'],
    ['1200.50-', '-1200.50'],
    ['−12.25', '-12.25'],
    ['US$ 12.25', '12.25'],
    ['USD 12.25', '12.25'],
    ['12.25usd', '12.25'],
    ['£27,275.25', '27275.25'],
    ['¥1,234,567', '1234567'],
    ['CHF 1’200.50', '1200.50'],
    ["1'234'567.05", '1234567.05'],
    ['Rs. 12,34,567.00', '1234567.00'],
    ['EUR.5', '0.5'],
    ['kr. 5', '5'],
    ['1 234 567.5', '1234567.5'],
    ['1\u00a0234.5', '1234.5'],
    ['1\u202f234', '1234'],
    ['$6,279,429', '6279429'],
    ['EUR 5', '5'],
    ['₹12,34,567.00', '1234567.00'],
    ['(1,200.00)', '-1200.00'],
    ['1,200.00-', '-1200.00'],
    ['5.-', '5.00'],
    ['Fr. 1’200.—', '1200.00'],
    ['1,234', '1234'],
    ['1.234', '1.234'],
    ['１２．５', '12.5'],
    ['999999999999999.00', '999999999999999.00'],
  ])('%s is %s', (text, expected) => {
    expect(code(text, POINT)).toBe(expected);
  });

  test.each([
    'abc',
    '12 apples',
    '1,23',
    '1,2345',
    '0,123',
    '12345,678',
    '1.200,50',
    '1.2.3',
    '1,23,45',
    '1 2 3',
    '--5',
    '(-5)',
    '5--',
    '12%',
    '12K',
    '$1.5M',
    '1 234,56',
    '5 DR',
    '-',
    '$ -',
    '.',
    '',
    '1½',
    '12²',
    'USD',
    '$ € ¥ 5',
    '0x10',
    'NaN',
    'Infinity',
    '1'.repeat(200),
    `1${' '.repeat(50_000)}x`,
  ])('%# refuses what is no number', (text) => {
    expect(code(text, POINT)).toBe('not_a_number');
  });

  test('scientific notation is refused: its digits are shortened', () => {
    expect(code('1.23457E+11', POINT)).toBe('number_precision_lost');
  });
});

describe('amounts with a comma as the decimal sign', () => {
  test.each([
    ['1.200,50', '1200.50'],
    ['1.200,50 €', '1200.50'],
    ['1\u00a0234,56', '1234.56'],
    ['1\u202f234,56 €', '1234.56'],
    ['(1.200,00)', '-1200.00'],
    ['1.200,00-', '-1200.00'],
    ['-0,5', '-0.5'],
    ['0,123', '0.123'],
    ['1.234', '1234'],
    ['1,234', '1.234'],
    ['1.234.567', '1234567'],
    ['1 234 567,891', '1234567.891'],
    ['1.200,-', '1200.00'],
    ['1.200,-- kr.', '1200.00'],
    ['500', '500'],
  ])('%s is %s', (text, expected) => {
    expect(code(text, COMMA)).toBe(expected);
  });

  test.each([
    [POINT, '1234.50'],
    [COMMA, '1234,50'],
  ])('what is no amount is answered in the sign of the column', (rule, such) => {
    expect(amountText('about 9', rule)).toMatchObject({
      why: expect.stringContaining(`Write digits such as ${such}.`),
    });
  });

  test('a cell that contradicts the sign is refused, names the sign and says how to state the other', () => {
    const read = amountText('1,200.50', COMMA);
    expect(read).toMatchObject({ refused: 'not_a_number' });
    expect(typeof read === 'string' ? '' : read.why).toMatch(/decimal sign ",".*the test says so.*decimal: "\."/);
  });
});

describe('contradicting evidence', () => {
  test.each([
    ['1.5', '1.5'],
    ['1,5', '1.5'],
    ['1.234,5', '1234.5'],
    ['1,234.5', '1234.5'],
    ['1234', '1234'],
    ['1,234', 'not_a_number'],
    ['1.234', 'not_a_number'],
  ])('%s is %s', (text, expected) => {
    expect(code(text, EACH)).toBe(expected);
  });
});

describe('the look at the first rows', () => {
  const survey = (...cells: string[]) =>
    surveyDecimals(
      [{ heading: 'Cost', index: 1 }],
      cells.map((cell, at): SheetRow => ({ row: at + 2, cells: ['x', cell] })),
      ',',
    );

  test.each([
    [['1,234', '12.50'], '.'],
    [['1.234', '12,50'], ','],
    [['1.234.567'], ','],
    [['1,234,567'], '.'],
    [['0,123'], ','],
    [['1 234,500'], ','],
    [['1,234.5', '1,234'], '.'],
    [['5,-'], ','],
    [['1,5', '1.5'], 'each'],
    [['12', 'abc', ''], '.'],
    [['1.234'], 'each'],
    [['1.234', '1,234'], 'each'],
    [['1.234', '12,34,567.00'], '.'],
  ])('%j → %s', (cells, sign) => {
    expect(survey(...cells).rule.sign).toBe(sign);
  });

  test('of a file parted by semicolons a comma that shows nothing is no thousands sign', () => {
    const parted = (...cells: string[]) => {
      const sample = cells.map((cell, at): SheetRow => ({ row: at + 2, cells: [cell] }));
      return surveyDecimals([{ heading: 'Cost', index: 0 }], sample, ';').rule.sign;
    };
    expect([parted('1,250'), parted('1,250', '0,5'), parted('1,250', '12.50')]).toEqual(['each', ',', '.']);
  });

  test('a mistyped cell among many that may be thousands does not turn all of them into decimals', () => {
    const { rule, warning, evidence } = survey('1,100', '2,200', '12,000', '12,5');
    expect(rule.sign).toBe('each');
    expect(evidence).toBeUndefined();
    expect(warning).toContain('only 1 cell of the first');
    expect(code('1,100', rule)).toBe('not_a_number');
    expect(code('12,5', rule)).toBe('12.5');
    expect(survey('1.100', '2.200', '12.5').rule.sign).toBe('each');
    // Two marks in one cell are no slip, and as many cells that show the sign as others decide.
    expect(survey('1,100', '2,200', '12,000', '1.234,5').rule.sign).toBe(',');
    expect(survey('1,100', '2,250', '12,5', '0,25').rule.sign).toBe(',');
  });

  test('evidence names a cell and its row', () => {
    expect(survey('7', '1.234,56').evidence).toContain('"1.234,56" (row 3, Cost)');
  });

  test('evidence counts the cells that show the sign and those that say nothing', () => {
    expect(survey('1,234.56', '1,234', '$7', 'n/a', '2.5').evidence).toBe(
      'The decimal sign is ".": "1,234.56" (row 2, Cost); 2 cells of the first 5 rows show it, 2 say nothing.',
    );
    expect(survey('0,5').evidence).toMatch(/; 1 cell of the first 1 rows shows it\.$/);
  });

  test('a point before three digits is refused where no cell tells what it means', () => {
    const { rule, warning } = survey('1.234', '500');
    expect(warning).toMatch(/could not be told: .*"1\.234" \(row 2, Cost\) may be a whole or a decimal number/);
    expect(code('1.234', rule)).toBe('not_a_number');
    expect(code('500', rule)).toBe('500');
    expect(code('1.234', survey('1.234', '0,5').rule)).toBe('1234');
    expect(code('1.234', survey('1.234', '0.5').rule)).toBe('1.234');
  });

  test('without evidence a warning names a cell that has two readings', () => {
    const { warning, evidence } = survey('7', '1,234');
    expect(evidence).toBeUndefined();
    expect(warning).toContain('"1,234" (row 3, Cost)');
    expect(survey('7', '8').warning).toBeUndefined();
  });

  test('contradiction is a warning that cites both cells', () => {
    expect(survey('1,5', '2.5').warning).toMatch(/"2.5" \(row 3.*"1,5" \(row 2/);
    const refused = amountText('1,234', survey('1,5', '2.5').rule);
    expect(typeof refused === 'string' ? refused : refused.why).toMatch(/, Cost\)\. State it in the job: /);
  });
});

test('an amount written in any of many ways reads back exactly', () => {
  const amounts = fc.record({
    whole: fc.bigInt({ min: 0n, max: 999_999_999_999_999n }),
    cents: fc.integer({ min: 0, max: 99 }),
    negative: fc.boolean(),
    sign: fc.constantFrom('.' as const, ',' as const),
    group: fc.constantFrom('', 'other', ' ', '\u00a0', "'", '’'),
    currency: fc.constantFrom('', '$', '€', 'CHF', 'kr', 'USD', '£', 'R$'),
    behind: fc.boolean(),
    minus: fc.constantFrom('-x', 'x-', '(x)', '−x'),
  });
  fc.assert(
    fc.property(amounts, ({ whole, cents, negative, sign, group, currency, behind, minus }) => {
      const mark = group === 'other' ? (sign === '.' ? ',' : '.') : group;
      const digits = whole.toString().replace(/\B(?=(\d{3})+$)/g, mark);
      const body = `${digits}${sign}${String(cents).padStart(2, '0')}`;
      const signed = negative ? minus.replace('x', body) : body;
      const text = behind ? `${signed} ${currency}`.trim() : `${currency} ${signed}`.trim();
      // Brackets stand around the currency, as spreadsheet programs write them.
      const shown = negative && minus === '(x)' ? `(${behind ? `${body} ${currency}` : `${currency}${body}`})` : text;
      const expected = `${negative ? '-' : ''}${whole}.${String(cents).padStart(2, '0')}`;
      expect(amountText(shown, sign === '.' ? POINT : COMMA)).toBe(expected);
      expect(amountText(shown, EACH)).toBe(expected);
    }),
    { numRuns: 2000 },
  );
});

test('no text is read as two different numbers under the two signs unless it is open', () => {
  const texts = fc.string({
    unit: fc.constantFrom('0', '1', '2', '3', '.', ',', ' ', "'", '-', '(', ')', '$'),
    maxLength: 12,
  });
  fc.assert(
    fc.property(texts, (text) => {
      const [a, b, each] = [code(text, POINT), code(text, COMMA), code(text, EACH)];
      const numeric = [a, b].filter((one) => /^-?\d/.test(one));
      if (numeric.length === 2 && a !== b) expect(each).toBe('not_a_number');
      if (/^-?\d/.test(each)) expect(numeric).toContain(each);
    }),
    { numRuns: 5000 },
  );
});
