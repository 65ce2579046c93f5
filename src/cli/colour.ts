import { styleText } from 'node:util';

/** What is wrong or asks for something is found at a glance. Lines are painted by how they begin. */
const PAINTS = [
  [/^error:/gm, 'red'],
  [/^warning:/gm, 'yellow'],
  [/^! .*$/gm, 'yellow'],
  [/^Next:/gm, 'bold'],
] as const;

/** Text for a stream, with colours where a person watches: not in a pipe, not where `NO_COLOR` is set (no-color.org). */
export function painted(
  text: string,
  stream: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): string {
  if (stream.isTTY !== true || env['NO_COLOR'] || env['TERM'] === 'dumb') return text;
  return PAINTS.reduce((all, [begin, style]) => all.replace(begin, (words) => styleText(style, words)), text);
}
