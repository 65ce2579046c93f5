import type { TableColumn } from '../../model/table.js';
import { columnName } from '../table/header.js';
import { pixels } from './widths.js';
import { MAIN, plainText, XML } from './xml-text.js';

/** A note on the heading of a column: what it holds, shown when the pointer rests on it. */
export interface HeadingNote {
  readonly index: number;
  readonly text: string;
}

const READ_ONLY = 'For information: a change in this column is ignored.';
const NOTE_CHARACTERS = 2_000;

/** The notes of the headings; every column for information has one. */
export function headingNotes(columns: readonly TableColumn[]): HeadingNote[] {
  return columns.flatMap(({ note = '', readOnly }, index) => {
    const text = [note, ...(readOnly ? [READ_ONLY] : [])].filter((line) => line !== '').join('\n');
    return text === '' ? [] : [{ index, text: text.slice(0, NOTE_CHARACTERS) }];
  });
}

/** The part `xl/commentsN.xml`. */
export function commentsPart(notes: readonly HeadingNote[]): string {
  const comments = notes.map(
    ({ index, text }) =>
      `<comment ref="${columnName(index)}1" authorId="0"><text><r><rPr><sz val="9"/><rFont val="Calibri"/></rPr>` +
      `<t xml:space="preserve">${plainText(text)}</t></r></text></comment>`,
  );
  return `${XML}<comments xmlns="${MAIN}"><authors><author>rowferry</author></authors><commentList>${comments.join('')}</commentList></comments>`;
}

/** Pixels of a note, of a row, and of a column beyond the table. */
const NOTE_WIDTH = 240;
const ROW_HEIGHT = 20;
const OTHER_COLUMN = 64;

/** Characters of a line of a note of that width. */
const LINE_CHARACTERS = 38;

/** The drawing that says where the notes appear, in the only form that spreadsheet programs take it in. */
export function notesDrawingPart(notes: readonly HeadingNote[], widths: readonly number[]): string {
  const shapes = notes.map(
    ({ index, text }, i) =>
      `<v:shape id="_x0000_s${1025 + i}" type="#_x0000_t202" style="position:absolute;visibility:hidden" ` +
      'fillcolor="#ffffe1" o:insetmode="auto"><v:fill color2="#ffffe1"/><v:shadow on="t" color="black" obscured="t"/>' +
      '<v:path o:connecttype="none"/><v:textbox style="mso-direction-alt:auto"><div style="text-align:left"></div></v:textbox>' +
      `<x:ClientData ObjectType="Note"><x:MoveWithCells/><x:SizeWithCells/><x:Anchor>${anchor(index, text, widths)}</x:Anchor>` +
      `<x:AutoFill>False</x:AutoFill><x:Row>0</x:Row><x:Column>${index}</x:Column></x:ClientData></v:shape>`,
  );
  return (
    '<xml xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office" ' +
    'xmlns:x="urn:schemas-microsoft-com:office:excel">' +
    '<o:shapelayout v:ext="edit"><o:idmap v:ext="edit" data="1"/></o:shapelayout>' +
    '<v:shapetype id="_x0000_t202" coordsize="21600,21600" o:spt="202" path="m,l,21600r21600,l21600,xe">' +
    '<v:stroke joinstyle="miter"/><v:path gradientshapeok="t" o:connecttype="rect"/></v:shapetype>' +
    `${shapes.join('')}</xml>`
  );
}

/** Column and pixel of the left edge, row and pixel of the top, the same of right and bottom. */
function anchor(index: number, text: string, widths: readonly number[]): string {
  let column = index + 1;
  let left = NOTE_WIDTH;
  for (;;) {
    const width = widths[column];
    const room = width === undefined ? OTHER_COLUMN : pixels(width);
    if (left <= room) break;
    left -= room;
    column++;
  }
  const lines = text.split('\n').reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / LINE_CHARACTERS)), 0);
  return `${index + 1}, 8, 0, 6, ${column}, ${left}, ${Math.min(Math.ceil((lines * 15 + 14) / ROW_HEIGHT), 20)}, 6`;
}
