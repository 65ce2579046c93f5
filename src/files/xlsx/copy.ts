import { StringDecoder } from 'node:string_decoder';
import type { SheetRow } from '../../model/row.js';
import type { OpenSource } from '../../model/source.js';
import { DEFAULT_LIMITS } from '../limits.js';
import { workbookArchive } from '../package/zip.js';
import { writeSafely } from '../safe-write.js';
import { columnAt, columnName } from '../table/cell-range.js';
import { textElement } from '../workbook/xml.js';
import { zipPack } from '../workbook/zip.js';
import { readWorkbook } from './read.js';

/** The workbook has a form in which single cells cannot be changed: nothing was written. */
export class NotCopied extends Error {}

/**
 * Copies the workbook of an opened sheet with its corrected cells (`SheetRow.corrected`), in file order: every other cell, sheet, width, note and
 * format is the original's, and rows keep their numbers. A corrected cell keeps its look and holds text, which the same job
 * reads as the run did; a whole number stays one. Formulas are worked out anew when the file is opened.
 * Throws `NotCopied`, and `RunError` as `openSource` and `writeSafely` do.
 */
export async function copyWorkbook(from: string, to: string, { meta, rows }: OpenSource): Promise<void> {
  const archive = await workbookArchive(from, meta.gzip, DEFAULT_LIMITS);
  const { names } = archive;
  const { sheets } = await readWorkbook(from, archive);
  const part = sheets.find(({ name }) => name === meta.sheet)?.part;
  if (part === undefined || names.some((name) => /[^ -~]/.test(name))) throw new NotCopied();
  await writeSafely(to, async (write) => {
    const zip = zipPack({ write });
    for (const name of names) {
      // Where each formula stands, in the order of their working out: programs make it anew.
      if (/(?:^|\/)calcChain\.xml$/i.test(name)) continue;
      await zip.part(name, async (put) => {
        if (name === part) for await (const piece of withCells(archive.stream(name), rows())) await put(piece);
        else if (/(?:^|\/)(?:\[Content_Types\]\.xml|workbook\.xml(?:\.rels)?)$/i.test(name))
          await put(withoutChain((await archive.whole(name)).toString()));
        else for await (const bytes of archive.stream(name)) await put(bytes);
      });
    }
    await zip.end();
  });
}

function withoutChain(xml: string): string {
  return xml
    .replace(/<(?:[\w.-]+:)?(?:Override|Relationship)\b[^>]*calcChain[^>]*\/>/gi, '')
    .replace(/<((?:[\w.-]+:)?calcPr)\b([^>]*?)\s*(?:fullCalcOnLoad="[^"]*")?\s*\/>/, '<$1$2 fullCalcOnLoad="1"/>');
}

const ROW = /<((?:[\w.-]+:)?)row\b([^>]*?)(?:\/>|>([\s\S]*?)<\/\1row>)/g;
const ROW_END = /<\/(?:[\w.-]+:)?row>/g;
const CELL = /<((?:[\w.-]+:)?)c\b([^>]*?)(?:\/>|>([\s\S]*?)<\/\1c>)/g;

async function* withCells(sheet: AsyncIterable<Buffer>, rows: AsyncIterable<readonly SheetRow[]>) {
  const corrected = correctedOf(rows);
  let next = await corrected.next();
  let number = 0;
  const rewritten = async (xml: string): Promise<string> => {
    if (next.done) return xml;
    let [out, at] = ['', 0];
    for (const row of xml.matchAll(ROW)) {
      const [all, prefix = '', attributes = '', cells = ''] = row;
      number = Number(/\sr="(\d+)"/.exec(attributes)?.[1] ?? number + 1);
      if (next.done || next.value.row !== number) continue;
      const changed = withCorrected(cells, next.value, prefix);
      out += `${xml.slice(at, row.index)}<${prefix}row${attributes}>${changed}</${prefix}row>`;
      at = row.index + all.length;
      next = await corrected.next();
    }
    return out + xml.slice(at);
  };
  const decoder = new StringDecoder('utf8');
  let held = '';
  for await (const bytes of sheet) {
    held += decoder.write(bytes);
    const end = [...held.matchAll(ROW_END)].at(-1);
    if (!end) continue;
    const whole = end.index + end[0].length;
    yield await rewritten(held.slice(0, whole));
    held = held.slice(whole);
  }
  yield await rewritten(held + decoder.end());
  if (!next.done) throw new NotCopied();
}

async function* correctedOf(rows: AsyncIterable<readonly SheetRow[]>): AsyncGenerator<SheetRow> {
  for await (const batch of rows) for (const row of batch) if (row.corrected) yield row;
}

/** The cells of a row, with the corrected ones. */
function withCorrected(xml: string, { row, cells, corrected = new Map() }: SheetRow, prefix: string): string {
  const left = [...corrected.keys()].sort((a, b) => a - b);
  const element = (column: number, style: string, wasNumber: boolean): string => {
    const value = cells[column];
    const text = typeof value === 'string' ? value : '';
    const start = `<${prefix}c r="${columnName(column)}${row}"${style}`;
    if (text === '') return `${start}/>`;
    if (wasNumber && /^-?[1-9]\d{0,14}$/.test(text)) return `${start}><${prefix}v>${text}</${prefix}v></${prefix}c>`;
    return start + textElement(text).replace(/<(\/?)/g, `<$1${prefix}`);
  };
  let [out, at, column] = ['', 0, -1];
  for (const cell of xml.matchAll(CELL)) {
    const [all, , attributes = '', inner = ''] = cell;
    const letters = /\sr="([A-Z]+)\d+"/i.exec(attributes)?.[1];
    column = letters === undefined ? column + 1 : columnAt(letters.toUpperCase());
    out += xml.slice(at, cell.index);
    at = cell.index + all.length;
    while (left[0] !== undefined && left[0] < column) out += element(left.shift()!, '', false);
    if (left[0] !== column) {
      out += all;
      continue;
    }
    // Other cells take their formula from this one.
    if (/<(?:[\w.-]+:)?f\b[^>]*\sref=/.test(inner)) throw new NotCopied();
    const was = corrected.get(left.shift()!);
    const style = /\ss="\d+"/.exec(attributes)?.[0] ?? '';
    out += element(column, style, typeof was === 'object' && was.t === 'n' && !inner.includes(`<${prefix}f`));
  }
  return out + left.map((one) => element(one, '', false)).join('') + xml.slice(at);
}
