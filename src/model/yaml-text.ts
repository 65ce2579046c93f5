/**
 * Texts of a file as YAML: whatever a heading or a cell holds, it stays one scalar or one comment and can neither end a
 * line nor begin a key.
 */

/** Plain where no reader could take it for anything but this text; otherwise in double quotes. */
export function scalar(text: string): string {
  if (PLAIN.test(text) && !WORDS.test(text)) return text;
  return JSON.stringify(text).replace(UNPRINTABLE, (char) =>
    char.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}

/** Letters first; inside no mark that means something in a block or in a flow. */
const PLAIN = /^\p{L}(?:[\p{L}\p{N}._/()'+-]|\p{M}| (?=[\p{L}\p{N}(/+-]))*$/u;
const WORDS = /^(?:true|false|null|yes|no|on|off|y|n)$/i;
/** What must not stand in a YAML document as it is, beside the controls that JSON escapes. */
const UNPRINTABLE = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff\p{Surrogate}\p{Cf}]/gu;

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
  const signs = Array.from(line);
  return signs.length > longest ? `${signs.slice(0, longest - 1).join('')}…` : line;
}

/** A path as a shell takes it, for the commands in comments. */
export function shellWord(path: string): string {
  const text = commentText(path);
  if (/^[\p{L}\p{N}_./@%+:,-]+$/u.test(text)) return text;
  return /["$`\\!]/.test(text) ? `'${text.replaceAll("'", "'\\''")}'` : `"${text}"`;
}
