import { encodable } from '../files/encoding/encoding.js';

const PLAIN: ReadonlyMap<string, string> = new Map(
  [
    ['‘’‚', "'"],
    ['“”„«»', '"'],
    ['–—−·•', '-'],
    ['…', '...'],
    ['→', '->'],
    ['←', '<-'],
    ['≤', '<='],
    ['≥', '>='],
    ['≠', '<>'],
    ['×', 'x'],
    ['€', 'EUR'],
    ['ß', 'ss'],
    ['Ł', 'L'],
    ['ł', 'l'],
    ['Đ', 'D'],
    ['đ', 'd'],
    ['ı', 'i'],
  ].flatMap(([chars = '', plain = '']) => [...chars].map((char) => [char, plain] as const)),
);

/** The text in characters the encoding has: accents are dropped where they must be, the rest becomes `?`. */
export function plainer(text: string, encoding: string): string {
  if (encodable(text, encoding)) return text;
  return [...text]
    .map((char) => {
      if (encodable(char, encoding)) return char;
      const plain = PLAIN.get(char) ?? char.normalize('NFKD').replace(/\p{M}/gu, '');
      return plain !== '' && encodable(plain, encoding) ? plain : plain === '' ? '' : '?';
    })
    .join('');
}
