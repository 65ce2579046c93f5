import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { escapeFormula, unescapeFormula } from '../../src/files/formula.js';

describe('formula protection', () => {
  test.each([
    '=1+1',
    '+cmd',
    '-2+3',
    '-A1',
    '@SUM(1)',
    '|calc',
    '%x',
    '\t=1',
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
    'fine\n=1',
    'fine\r\n  @x',
    'fine\r=1',
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
    'fine\n-\u2028a',
  ])('%j is escaped by one apostrophe and read back', (text) => {
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
    '- 5 %',
    '-5%',
    '+44 20 7946 0000',
    '+1 (555) 010-9999',
    '+49 (0)30 / 123-45',
    '-2024-01-31',
    '+31/12/2024',
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
  ])('%j is left alone both ways', (text) => {
    expect(escapeFormula(text)).toBe(text);
    expect(unescapeFormula(text)).toBe(text);
  });

  const nasty = fc.string({
    unit: fc.constantFrom(...'=+-@\'"|% \t\r\n\u00a0\u200b＝－a1.,()/Ee\ufeff\u2028−'),
    maxLength: 12,
  });

  test('reading back what was written gives the text, for every text', () => {
    const holds = (text: string) => unescapeFormula(escapeFormula(text)) === text;
    fc.assert(fc.property(nasty, holds), { numRuns: 20_000 });
    fc.assert(fc.property(fc.string({ unit: 'binary' }), holds), { numRuns: 2_000 });
  });

  test('what is written never begins, in any line, with a character that starts a formula', () => {
    fc.assert(
      fc.property(nasty, (text) => {
        const written = escapeFormula(text);
        return !/^[=@\t\r]/.test(written) && (!/^[+-]/.test(written) || !/[a-df-z]/i.test(written.split(/[\r\n]/)[0]!));
      }),
      { numRuns: 10_000 },
    );
  });

  test('a megabyte of triggers is settled in linear time', () => {
    for (const piece of ['-1 ', '=', "'", ' ', '\n-', '-1(', '+1.']) {
      const text = piece.repeat(350_000);
      expect(unescapeFormula(escapeFormula(text))).toBe(text);
    }
    const blanks = `-1${' '.repeat(300_000)}x`;
    expect(escapeFormula(blanks)).toBe(`'${blanks}`);
  }, 15_000);
});
