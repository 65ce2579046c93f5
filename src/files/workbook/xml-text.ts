/** Texts as the XML of a workbook has them. Read back by `unescapeSheetText` and `xmlText` (`xml-scan.ts`). */

export const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
export const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
export const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

/** Stands first in a sheet that is printed as wide as a page; `PAGE` then follows its rows. */
export const FIT_TO_PAGE = '<sheetPr><pageSetUpPr fitToPage="1"/></sheetPr>';
export const PAGE =
  '<pageMargins left="0.5" right="0.5" top="0.5" bottom="0.5" header="0.3" footer="0.3"/>' +
  '<pageSetup orientation="landscape" fitToHeight="0"/>';

/** Anything that may not stand as it is: markup, what XML cannot hold, and what looks like its spelling. */
const SPECIAL = /[&<>\p{Cc}\ufffe\uffff\p{Surrogate}]|_x/u;

/** What XML cannot hold, and the few control characters that it can: see `spelt`. */
const CONTROL = /[\p{Cc}\ufffe\uffff\p{Surrogate}]/gu;

/** Whether XML holds a control character. It reads a carriage return as a line feed, which is another character. */
function isHeld(character: string): boolean {
  return character === '\n' || character === '\t' || /[\u007f-\u009f]/.test(character);
}

function spelt(character: string): string {
  if (isHeld(character)) return character;
  return `_x${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`;
}

/** Whether `xml:space` is needed: blanks at an end, or characters that some programs fold into one blank. */
const SPACED = /^\s|\s$|[\n\t]|\s\s/;

/** The text of a cell: what XML cannot hold is spelt `_x0001_`, and `_` before text that looks like that `_x005F_`. */
export function cellText(text: string): string {
  if (!SPECIAL.test(text)) return text;
  return text
    .replace(/_(?=x[0-9A-Fa-f]{4}_)/g, '_x005F_')
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(CONTROL, spelt);
}

/** The element of a text: `<t>…</t>`. */
export function textElement(text: string): string {
  return SPACED.test(text) ? `<t xml:space="preserve">${cellText(text)}</t>` : `<t>${cellText(text)}</t>`;
}

/** A text cell of a part that is not written by the million. */
export function textCell(reference: string, text: string, style: number): string {
  if (text === '') return `<c r="${reference}" s="${style}"/>`;
  return `<c r="${reference}" s="${style}" t="inlineStr"><is>${textElement(text)}</is></c>`;
}

/** Text for attributes and notes, where nothing is spelt out: what XML cannot hold becomes a blank. */
export function plainText(text: string): string {
  return text
    .replace(CONTROL, (character) => (isHeld(character) ? character : ' '))
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/"/g, '&quot;')
    .replace(/\n/g, '&#10;')
    .replace(/\t/g, '&#9;');
}

/** At most `length` UTF-16 units, ending with `…` where something was cut; never half of a character. */
export function clipped(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 2);
  return `${text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 2 : length - 1)}…`;
}
