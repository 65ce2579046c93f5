import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { escapeFormula, escapeFormulaFor, unescapeFormula } from '../../src/files/formula.js';

const DELIMITERS = [',', ';', '\t', '|'];

describe('formula protection', () => {
  test.each([
    '=1+1',
    '+cmd',
    '-2+3',
    '-A1',
    '@SUM(1)',
    '|calc',
    '%x',
    '\tplain',
    '\rplain',
    '  =1',
    '\u00a0=1',
    '\u200b=1',
    '\ufeff@x',
    '"=1',
    '“=1',
    "'=1",
    "''=1",
    '＝1+1',
    '＋A1',
    '－A1',
    '＠x',
    "+cmd|' /C calc'!A0",
    '-1+cmd()',
    '+44 20 CALL',
    '-5*2',
    '-(A1)',
    '=',
    '- item one',
    '−1+2',
    '-\ncmd()',
    '-5\r\ncmd()',
    '-\u2028a',
    '-2024-01-31',
    '+31/12/2024',
    '+44 20 7946 0000',
    '+44 207 946 000',
    '+1 (555) 010-9999',
    '+49 (0)30 / 123-45',
    '+49-89-1',
    '-5-3',
    '+1/2',
    '+(12)-3',
    '-(5)',
    '-5:3',
    '+49.891.234',
    '+4930123456',
    '-1,2,3',
    '-5%%',
    '- 5 - 3 %',
    '-1E+5-2',
    '－5',
  ])('%j is escaped by one apostrophe and read back (77, 105)', (text) => {
    expect(escapeFormula(text)).toBe(`'${text}`);
    expect(unescapeFormula(`'${text}`)).toBe(text);
  });

  test.each([
    '',
    'plain',
    '-5',
    '+5',
    '-12.50',
    '-1,234.50',
    '-1.5E+10',
    '-.5',
    '-5.',
    '+0,5',
    '+1,234,567.89',
    '-1.234,50',
    '-1 234,50',
    "-1'234.50",
    '−5',
    '- 5 %',
    '-5%',
    '-',
    '+',
    "O'Brien",
    "'quoted'",
    "'90s",
    "'-5",
    'a=b',
    'a@b.example',
    'a+b\nc-d',
    'line\n-5',
    '50%',
    "type in ('-','+')",
    "['a','-b';'=c']",
    "'90s, - retro",
    "'a','-b'",
    'a, - b',
    'Berlin; 3rd floor\n+4930\n-5%',
  ])('%j is left alone both ways (77, 105)', (text) => {
    expect(escapeFormula(text)).toBe(text);
    expect(unescapeFormula(text)).toBe(text);
  });

  test.each([
    ['fine\n=1', "'fine\n''=1"],
    ['fine\r\n  @x', "'fine\r\n''  @x"],
    ['fine\r=1', "'fine\r''=1"],
    ['\t=1', "'\t''=1"],
    ['- a\n- b', "'- a\n''- b"],
    ['fine\n-\u2028a', "'fine\n''-\u2028a"],
    ['Berlin; 3rd floor\n+49 30 1234\n-5%', "'Berlin; 3rd floor\n''+49 30 1234\n-5%"],
    ["x;=cmd|' /C calc'!A0;", "'x;''=cmd|' /C calc'!A0;"],
    ['x\t＝1+1', "'x\t''＝1+1"],
    ['x|+A1', "'x|''+A1"],
    ['x;"=1', "'x;''\"=1"],
    ["x;''=1", "'x;''''=1"],
    ["'x;=1", "''x;''=1"],
    ["=a;'=b", "'=a;'=b"],
    ["'=a;'''@b", "''=a;'''''@b"],
  ])('%j: what would be a cell of its own with another delimiter is escaped where it begins (77)', (text, written) => {
    expect(escapeFormula(text)).toBe(written);
    expect(unescapeFormula(written)).toBe(text);
  });

  test.each([
    [';', 'x,=1', "'x,''=1"],
    [';', 'x;=1', 'x;=1'],
    ['\t', 'x\t=1;@a', "'x\t=1;''@a"],
    ['|', 'x|-a,-b', "'x|-a,''-b"],
  ])('in a file with the delimiter %j the others count: %j (77)', (delimiter, text, written) => {
    expect(escapeFormulaFor(delimiter)(text)).toBe(written);
    expect(unescapeFormula(written)).toBe(text);
  });

  test.each([
    ['="00123"', '00123'],
    ['="12"" rack"', '12" rack'],
    ['=""', ''],
    ['="a"&"b"', '="a"&"b"'],
    ['="a', '="a'],
  ])('%j: a formula that is nothing but a text is read as that text: %j', (cell, text) => {
    expect(unescapeFormula(cell)).toBe(text);
    expect(unescapeFormula(escapeFormula(cell))).toBe(cell);
  });

  const nasty = fc.string({
    unit: fc.constantFrom(...'=+-@\'"|%;, \t\r\n\u00a0\u200b＝－a1.,()/Ee\ufeff\u2028−'),
    maxLength: 12,
  });

  test('reading back what was written gives the text, for every text and delimiter (77)', () => {
    const holds = (text: string) =>
      DELIMITERS.every((delimiter) => unescapeFormula(escapeFormulaFor(delimiter)(text)) === text);
    fc.assert(fc.property(nasty, holds), { numRuns: 20_000 });
    fc.assert(fc.property(fc.string({ unit: 'binary' }), holds), { numRuns: 2_000 });
  });

  test('no cell begins with what starts a formula, with whatever delimiter the file is opened (77, 105)', () => {
    const harmful = (cell: string) => {
      const bare = cell.replace(/^[ \u00a0\u200b\ufeff]+/u, '');
      const head = bare.split(/[,;\t|]/)[0] ?? '';
      // Nothing can be called or read where a sign and a number come before a delimiter, with an exponent or without one.
      const number = /^[+\-−][\d\s.]*\de[+-]?\d+\s*$/iu.test(head);
      // What is worked out needs no letter: a telephone number is a difference.
      if (/^[+\-−]\s*[\d.]+\s*[+\-/()]/u.test(head)) return true;
      return /^[=@＝]/u.test(bare) || (/^[+\-－−]/u.test(bare) && !number && /[a-z|'"=@]/iu.test(head));
    };
    fc.assert(
      fc.property(nasty, fc.constantFrom(...DELIMITERS), fc.constantFrom(...DELIMITERS), (text, own, opened) => {
        const written = escapeFormulaFor(own)(text);
        const cells = own === opened ? [written] : written.split(opened).flatMap((cell) => cell.split(/[\r\n]/));
        return !cells.some(harmful);
      }),
      { numRuns: 20_000 },
    );
  });

  test('a megabyte of triggers is settled in linear time (77, 89)', () => {
    for (const piece of ['-1 ', '=', "'", ' ', '\n-', '-1(', '+1.', ";''=", ';-1 ', ",'", '\n"', ';', '\u00a0;']) {
      const text = piece.repeat(350_000);
      expect(unescapeFormula(escapeFormula(text))).toBe(text);
    }
    const blanks = `-1${' '.repeat(300_000)}x`;
    expect(escapeFormula(blanks)).toBe(`'${blanks}`);
  });
});
