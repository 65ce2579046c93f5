/**
 * Texts of a file as YAML: whatever a heading or a cell holds, it stays one scalar or one comment and can neither end a
 * line nor begin a key.
 */

/** Plain where no reader could take it for anything but this text; otherwise in double quotes. */
export function yamlScalar(text: string): string {
  if (PLAIN_SCALAR.test(text) && !RESERVED_WORDS.test(text)) return text;
  return JSON.stringify(text).replace(UNPRINTABLE, (char) =>
    char.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}

/** Letters first; inside no mark that means something in a block or in a flow. */
const PLAIN_SCALAR = /^\p{L}(?:[\p{L}\p{N}._/()'+-]|\p{M}| (?=[\p{L}\p{N}(/+-]))*$/u;
const RESERVED_WORDS = /^(?:true|false|null|yes|no|on|off|y|n)$/i;
/** What must not stand in a YAML document as it is, beside the controls that JSON escapes. */
const UNPRINTABLE = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff\p{Surrogate}\p{Cf}]/gu;

/** Longer keys must be announced with `?`. */
const MAX_KEY_LENGTH = 1_000;

/** A key of a block map, with its colon. */
export function yamlKey(text: string, indent: string): string {
  const scalarText = yamlScalar(text);
  return scalarText.length > MAX_KEY_LENGTH ? `? ${scalarText}\n${indent}:` : `${scalarText}:`;
}

/** One line, without anything that ends a comment or that a terminal would obey; cut where it is very long. */
export function commentText(text: string, maxLength = 400): string {
  const line = text
    .replace(/[\s\u0085\u2028\u2029]+/gu, ' ')
    .replace(/[\p{Cc}\p{Cf}\p{Surrogate}]/gu, '')
    .trim();
  const signs = Array.from(line);
  return signs.length > maxLength ? `${signs.slice(0, maxLength - 1).join('')}…` : line;
}

/** A path as a shell takes it, for the commands in comments. */
export function shellWord(path: string): string {
  const text = commentText(path);
  if (/^[\p{L}\p{N}_./@%+:,-]+$/u.test(text)) return text;
  return /["$`\\!]/.test(text) ? `'${text.replaceAll("'", "'\\''")}'` : `"${text}"`;
}
