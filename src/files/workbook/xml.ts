/** Texts as the XML of a workbook has them. Read back by `unescapeSheetText` and `xmlText` (`xml-scan.ts`). */

export const XML_HEADER = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
export const MAIN_NAMESPACE = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
export const RELATIONS_NAMESPACE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

/** Anything that may not stand as it is: markup, what XML cannot hold, and what looks like its spelling. */
const SPECIAL = /[&<>\p{Cc}\ufffe\uffff\p{Surrogate}]|_x/u;

/** What XML cannot hold, and the few control characters that it can: see `escapeCharacter`. */
const CONTROL = /[\p{Cc}\ufffe\uffff\p{Surrogate}]/gu;

/** Whether XML holds a control character. It reads a carriage return as a line feed, which is another character. */
function isValidInXml(character: string): boolean {
  return character === '\n' || character === '\t' || /[\u007f-\u009f]/.test(character);
}

function escapeCharacter(character: string): string {
  if (isValidInXml(character)) return character;
  return `_x${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`;
}

const escapeMarkup = (text: string) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');

/** The text of a cell: what XML cannot hold is spelt `_x0001_`, and `_` before text that looks like that `_x005F_`. */
function escapeCellText(text: string): string {
  if (!SPECIAL.test(text)) return text;
  return escapeMarkup(text.replace(/_(?=x[0-9A-Fa-f]{4}_)/g, '_x005F_')).replace(CONTROL, escapeCharacter);
}

/** Whether `xml:space` is needed: blanks at an end, or characters that some programs fold into one blank. */
const NEEDS_PRESERVE = /^\s|\s$|[\n\t]|\s\s/;

/** What follows the style of a text cell: its type, its text, and its end. */
export function textElement(text: string): string {
  return ` t="inlineStr"><is><t${NEEDS_PRESERVE.test(text) ? ' xml:space="preserve"' : ''}>${escapeCellText(text)}</t></is></c>`;
}

/** Text for attributes, formulas and notes, where nothing is spelt out: what XML cannot hold becomes a blank. */
export function escapeXml(text: string): string {
  return escapeMarkup(text.replace(CONTROL, (character) => (isValidInXml(character) ? character : ' ')))
    .replace(/"/g, '&quot;')
    .replace(/\n/g, '&#10;')
    .replace(/\t/g, '&#9;');
}

/** An element that counts those it holds; nothing where there are none. */
export function listElement(name: string, items: readonly string[]): string {
  return items.length === 0 ? '' : `<${name} count="${items.length}">${items.join('')}</${name}>`;
}

/** UTF-16 units of a cell; the limit of spreadsheet programs. */
export const CELL_CHARACTERS = 32_767;
