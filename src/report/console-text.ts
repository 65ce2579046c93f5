/** Warnings that a terminal shows; all of them are in summary.json. */
export const MAX_WARNINGS = 5;

/** On one line, without anything a terminal would obey. */
export function clean(text: string): string {
  const plain = text.replace(/\s+/gu, ' ').replace(/[\p{Cc}\p{Cf}]/gu, '');
  return plain.length > 200 ? `${plain.slice(0, 199)}…` : plain;
}
