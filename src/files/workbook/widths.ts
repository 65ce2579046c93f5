import type { TableColumn } from '../../model/table.js';

const LEAST = 8;
const MOST = 60;

/** Room for the button of the filter beside a heading. */
const BUTTON = 4;

/** Columns are as wide as their headings and the first rows want, in characters, from 8 to 60. */
export function columnWidths(columns: readonly TableColumn[], sample: readonly (readonly string[])[]): number[] {
  return columns.map(({ heading, kind }, i) => {
    // Headings are bold.
    let width = Math.ceil(shownWidth(heading) * 1.1) + BUTTON;
    for (const row of sample) {
      const text = row[i] ?? '';
      if (text.length === 0) continue;
      const wanted = kind === 'money' ? text.length + Math.ceil(text.length / 3) + 3 : shownWidth(text) + 2;
      if (wanted > width) width = wanted;
      if (width >= MOST) break;
    }
    return Math.min(Math.max(width, LEAST), MOST);
  });
}

/** The longest line of a text in characters as wide as digits: those of East Asia and pictures count twice. */
function shownWidth(text: string): number {
  let [width, longest] = [0, 0];
  for (let i = 0; i < text.length && longest <= MOST; i++) {
    const code = text.charCodeAt(i);
    if (code >= 0xdc00 && code <= 0xdfff) continue;
    if (code === 0x0a) width = 0;
    else width += code >= 0x1100 && !(code >= 0x2000 && code <= 0x206f) ? 2 : 1;
    if (width > longest) longest = width;
  }
  return longest;
}

/** Pixels of a column of this width at the usual size of a character. */
export function pixels(width: number): number {
  return Math.trunc(width * 7) + 5;
}
