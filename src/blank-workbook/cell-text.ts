/** Most characters of a cell. */
const LONGEST = 32_767;

/** Text for a cell; what looks like the workbook's own spelling of a character (`_x0041_`) is told apart from it. */
export function cellText(text: string): string {
  return text.replace(/_(?=x[0-9A-Fa-f]{4}_)/g, '_x005F_').slice(0, LONGEST);
}
