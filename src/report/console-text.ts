import { visible } from '../model/visible.js';

/** Warnings that a terminal shows; all of them are in summary.json. */
export const MAX_WARNINGS = 5;

/** Our sentences are told whole, because their end says what to do; the words of others in them may be endless. */
const MOST_TOLD = 1_000;
/** Enough of a value or a heading to know it by. */
const MOST_QUOTED = 80;

/** Something of the file, as it is quoted in a line. */
export function quoted(text: string): string {
  return clean(text, MOST_QUOTED);
}

/** On one line, without anything a terminal would obey. */
export function clean(text: string, most = MOST_TOLD): string {
  const plain = visible(text.replace(/\s+/gu, ' ')).replace(/\p{Cf}/gu, '');
  return plain.length > most ? `${plain.slice(0, most - 1)}…` : plain;
}
