/** Warnings that a terminal shows; all of them are in summary.json. */
export const MAX_WARNINGS = 5;

/** On one line, without anything a terminal would obey. */
export function clean(text: string, most = 200): string {
  const plain = text.replace(/\s+/gu, ' ').replace(/[\p{Cc}\p{Cf}]/gu, '');
  return plain.length > most ? `${plain.slice(0, most - 1)}…` : plain;
}
