/**
 * Texts of a file as YAML: whatever a heading or a cell holds, it stays one scalar or one comment and can neither end a
 * line nor begin a key.
 */

/** Plain where no reader could take it for anything but this text; otherwise in double quotes. */
export function scalar(text: string): string {
  return PLAIN.test(text) && !WORDS.test(text) && !/^\d+$/.test(text) ? text : quotedScalar(text);
}

/** Letters first; inside no mark that means something in a block or in a flow. */
const PLAIN = /^\p{L}(?:[\p{L}\p{N}._/()'+-]|\p{M}| (?=[\p{L}\p{N}(/+-]))*$/u;
const WORDS = /^(?:true|false|null|yes|no|on|off|y|n)$/i;
/** What must not stand in a YAML document as it is, beside the controls that JSON escapes. */
const UNPRINTABLE = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff\p{Surrogate}\p{Cf}]/gu;

function quotedScalar(text: string): string {
  return JSON.stringify(text).replace(UNPRINTABLE, (char) =>
    Array.from({ length: char.length }, (_, i) => `\\u${char.charCodeAt(i).toString(16).padStart(4, '0')}`).join(''),
  );
}

/** A date format in a flow list. */
export function scalarInFlow(text: string): string {
  return /^[A-Za-z](?:[A-Za-z0-9/.:-]| (?=[A-Za-z0-9]))*$/.test(text) && !/: |:$/.test(text)
    ? text
    : JSON.stringify(text);
}

/** Longer keys must be announced with `?`. */
const LONGEST_KEY = 1_000;

/** A key of a block map, with its colon. */
export function key(text: string, indent: string): string {
  const written = scalar(text);
  return written.length > LONGEST_KEY ? `? ${written}\n${indent}:` : `${written}:`;
}

/** One line, without anything that ends a comment or that a terminal would obey; cut where it is very long. */
export function commentText(text: string, longest = 400): string {
  const line = text
    .replace(/[\s\u0085\u2028\u2029]+/gu, ' ')
    .replace(/[\p{Cc}\p{Cf}\p{Surrogate}]/gu, '')
    .trim();
  return line.length > longest
    ? `${Array.from(line)
        .slice(0, longest - 1)
        .join('')}…`
    : line;
}

/** A comment wrapped at about 110 characters. */
export function commentLines(text: string, indent = ''): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of commentText(text, 2_000).split(' ')) {
    if (line !== '' && line.length + word.length + 1 > 108) {
      lines.push(`${indent}# ${line}`);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  if (line !== '') lines.push(`${indent}# ${line}`);
  return lines;
}
