import type { Token } from './date-format.js';

/*
 * Fractions as spreadsheet programs show them: `# ?/?` of 2.25 is `2 1/4`. The denominator is either stated (`# ??/16`)
 * or the best one with as many digits as the format has places.
 */

const MOST_DIGITS = 7;

const isPlace = (token: Token | undefined) => token?.kind === 'code' && /^[0#?]$/.test(token.text);
const isDigit = (token: Token | undefined) =>
  token !== undefined && token.kind !== 'elapsed' && /^\d$/.test(token.text);

/** `decimal`: a number in plain decimal notation; blanks that only align columns stand at its sides. */
export function showFraction(tokens: readonly Token[], decimal: string): string {
  const slash = tokens.findIndex((token) => token.kind === 'code' && token.text === '/');
  let top = slash;
  while (top > 0 && tokens[top - 1]!.kind === 'literal' && tokens[top - 1]!.text.trim() === '') top--;
  const topEnd = top;
  while (top > 0 && isPlace(tokens[top - 1])) top--;
  let bottom = slash + 1;
  while (tokens[bottom]?.kind === 'literal' && tokens[bottom]!.text.trim() === '') bottom++;
  let end = bottom;
  const stated = isDigit(tokens[bottom]) && tokens[bottom]!.text !== '0';
  while (stated ? isDigit(tokens[end]) : isPlace(tokens[end])) end++;
  if (top === topEnd || end === bottom) return decimal;

  const texts = (from: number, to: number) =>
    tokens
      .slice(from, to)
      .map((token) => (token.kind === 'literal' ? token.text : ''))
      .join('');
  const wholeAt = tokens.findIndex((token, i) => i < top && isPlace(token));
  const mixed = wholeAt >= 0;
  const value = Math.abs(Number(decimal));
  const places = Math.min(MOST_DIGITS, Math.max(mixed ? topEnd - top : 0, end - bottom));
  const denominatorText = stated
    ? tokens
        .slice(bottom, end)
        .map((token) => token.text)
        .join('')
    : '';
  let [numerator, denominator] = stated
    ? ([Math.round(value * Number(denominatorText)), Number(denominatorText)] as const)
    : nearest(value, 10 ** places - 1);
  let whole = 0;
  if (mixed) {
    whole = Math.floor(numerator / denominator);
    numerator -= whole * denominator;
  }
  const sign = decimal.startsWith('-') && (whole > 0 || numerator > 0) ? '-' : '';
  const before = sign + texts(0, mixed ? wholeAt : top);
  if (mixed && numerator === 0) return `${before}${whole}${texts(end, tokens.length)}`.trim();
  const pad = (text: string, from: number, to: number) =>
    tokens[from]!.text === '?'
      ? text.padStart(to - from, ' ')
      : tokens[from]!.text === '0'
        ? text.padStart(to - from, '0')
        : text;
  let firstGap = wholeAt;
  while (mixed && isPlace(tokens[firstGap])) firstGap++;
  const zero = mixed && tokens.slice(wholeAt, firstGap).some((token) => token.text === '0');
  const wholeText = mixed ? `${whole > 0 || zero ? whole : ''}${texts(firstGap, top)}` : '';
  const bottomText = stated ? denominatorText : String(denominator).padEnd(end - bottom, ' ');
  const text = `${before}${wholeText}${pad(String(numerator), top, topEnd)}${texts(topEnd, slash)}/${texts(slash + 1, bottom)}${bottomText}`;
  return `${text}${texts(end, tokens.length)}`.trim();
}

/** The last convergent of the continued fraction whose denominator is at most `limit`. */
function nearest(value: number, limit: number): readonly [number, number] {
  let [numerator, denominator] = [Math.floor(value), 1];
  let [before, beforeDenominator] = [1, 0];
  let rest = value - Math.floor(value);
  while (rest >= 5e-8) {
    const inverse = 1 / rest;
    const step = Math.floor(inverse);
    const next = step * numerator + before;
    const nextDenominator = step * denominator + beforeDenominator;
    if (nextDenominator > limit) break;
    [before, beforeDenominator] = [numerator, denominator];
    [numerator, denominator] = [next, nextDenominator];
    rest = inverse - step;
  }
  return [numerator, denominator];
}
