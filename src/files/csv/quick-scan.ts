import { isAscii } from 'node:buffer';
import { asciiText } from '../encoding/byte-text.js';

/**
 * The quick way through well-formed records: native searches for the next delimiter, quote and line end instead of a
 * look at every byte. It gives up (`NOT_QUICK`) at whatever needs judgement: stray quotes, NUL, a lone CR, a record that
 * the bytes do not hold whole. Then the exact reader of scan.ts reads the record from its start.
 *
 * Most of what is left of its time makes the strings: some 10 ns for a short cell, 45 ns for a longer one. To recognise a
 * text that was there before (`startsWith`) takes as long as to make it anew.
 */

export const NOT_QUICK = -2;

/** The window ends before the record does. */
const CUT = -3;

const NO_QUADS = new Uint32Array(0);

const NONE = Number.MAX_SAFE_INTEGER;

/** Bytes looked at as one text: small enough to stay in the processor's cache and in the young part of the heap. */
const WINDOW = 32 * 1024;

/**
 * V8 copies substrings shorter than this; longer ones keep the text they are cut from alive, which here is the whole
 * window. Those are decoded from the bytes, so that a cell that somebody keeps is only itself.
 */
const COPIED = 13;

export interface QuickRecord {
  cells: string[];
  count: number;
  blank: boolean;
  apostrophe: boolean;
  lines: boolean;
}

/** Adds a cell that needs more than a copy: bytes beyond ASCII, or longer than a cell may be. */
type KeepExactly = (bytes: Buffer, from: number, to: number, high: boolean, nul: boolean, doubled: boolean) => void;

/**
 * Scans the record at `from` into `record`; returns the position after it, or `NOT_QUICK`. `collect`: whether cells are
 * wanted, `counted`: whether their number is. Within the same bytes, `from` must ascend.
 */
export type QuickScan = (bytes: Buffer, from: number, end: number, collect: boolean, counted: boolean) => number;

export function createQuickScan(
  record: QuickRecord,
  delimiter: number,
  limits: { readonly maxCells: number; readonly maxCharacters: number },
  keepExactly: KeepExactly,
): QuickScan {
  const separator = String.fromCharCode(delimiter);
  const { maxCells, maxCharacters } = limits;
  let held: Buffer | undefined;
  /** The window as Latin-1: every byte is one character. All places below count from `base`, where it begins. */
  let text = '';
  let base = 0;
  // The next of each at or after the place last asked about; NONE where none follows.
  let lf = -1;
  let cr = -1;
  let nul = -1;
  let quote = -1;
  let apostrophe = -1;
  let cut = -1;
  let high = -1;
  /** The bytes of the window four by four, from the first place in memory that allows it. */
  let quads: Uint32Array = NO_QUADS;
  let quadsFrom = 0;

  function find(what: string, from: number): number {
    const at = text.indexOf(what, from);
    return at < 0 ? NONE : at;
  }

  function load(bytes: Buffer, from: number, end: number): void {
    held = bytes;
    base = from;
    const to = Math.min(end, from + WINDOW);
    text = asciiText(bytes, from, to);
    lf = cr = nul = quote = apostrophe = cut = -1;
    high = isAscii(bytes.subarray(from, to)) ? NONE : -1;
    if (high === NONE) return;
    quadsFrom = from + (-(bytes.byteOffset + from) & 3);
    const words = (to - quadsFrom) >> 2;
    quads = words > 0 ? new Uint32Array(bytes.buffer, bytes.byteOffset + quadsFrom, words) : NO_QUADS;
  }

  /** Looks at four bytes at once, where they are aligned. */
  function nextHigh(bytes: Buffer, from: number): number {
    const end = base + text.length;
    let i = base + from;
    while (i < end && (i - quadsFrom) % 4 !== 0) if (bytes[i++]! >= 0x80) return i - 1 - base;
    let at = (i - quadsFrom) >> 2;
    while (at < quads.length && (quads[at]! & 0x80808080) === 0) at++;
    for (i = Math.max(i, quadsFrom + at * 4); i < end; i++) if (bytes[i]! >= 0x80) return i - base;
    return NONE;
  }

  /** The line end at or after `from` is `lf`; returns where the record's last cell stops, or why it is not known. */
  function stopAt(from: number): number {
    if (lf < from) lf = find('\n', from);
    if (lf === NONE) return CUT;
    if (cr < from) cr = find('\r', from);
    if (nul < lf || cr < lf - 1) return NOT_QUICK;
    return Math.min(cr, lf);
  }

  /** Cells of the record before: as many are made room for. */
  let lastCount = 0;

  /** The place of the quote that closes the cell opened at `open`, or why it is not known. */
  let doubled = false;
  function closeOf(open: number): number {
    doubled = false;
    for (let at = open; ; at++) {
      at = text.indexOf('"', at + 1);
      if (at < 0 || at + 1 >= text.length) return CUT;
      if (text.charCodeAt(at + 1) !== 0x22) return at;
      doubled = true;
    }
  }

  /** From quote to quote to the end of the record, without a look at the cells between them. */
  function skip(from: number, firstStop: number): number {
    let stop = firstStop;
    let begin = from;
    while (quote < stop) {
      if (quote !== begin && text.charCodeAt(quote - 1) !== delimiter) return NOT_QUICK;
      const close = closeOf(quote);
      if (close < 0) return close;
      begin = close + 1;
      if (begin > stop) {
        record.lines = true;
        stop = stopAt(begin);
        if (stop < 0) return stop;
      }
      if (begin !== stop && text.charCodeAt(begin) !== delimiter) return NOT_QUICK;
      quote = find('"', begin);
    }
    return lf + 1;
  }

  function read(bytes: Buffer, from: number, collect: boolean, counted: boolean): number {
    if (nul < from) nul = find('\0', from);
    let stop = stopAt(from);
    if (stop < 0) return stop;
    record.lines = false;
    if (quote < from) quote = find('"', from);
    if (!counted) return skip(from, stop);
    const cells = new Array<string>(collect ? lastCount : 0);
    record.cells = cells;
    let count = 0;
    let blank = true;
    let i = from;
    for (;;) {
      if (count > maxCells) return NOT_QUICK;
      if (quote < i) quote = find('"', i);
      let start = i;
      let to: number;
      let escaped = false;
      if (quote === i) {
        to = closeOf(i);
        if (to < 0) return to;
        escaped = doubled;
        start++;
        i = to + 1;
        if (i > stop) {
          record.lines = true;
          stop = stopAt(i);
          if (stop < 0) return stop;
        }
        if (i !== stop && text.charCodeAt(i) !== delimiter) return NOT_QUICK;
      } else {
        if (cut < i) cut = find(separator, i);
        to = i = Math.min(cut, stop);
        if (quote < to) return NOT_QUICK;
      }
      if (collect) {
        const length = to - start;
        if (high < start) high = nextHigh(bytes, start);
        if (length === 0) cells[count] = '';
        else if (high < to || length > maxCharacters) {
          record.count = count;
          record.blank = blank;
          keepExactly(bytes, base + start, base + to, high < to, false, escaped);
          blank = record.blank;
        } else {
          const cell = length < COPIED ? text.substring(start, to) : asciiText(bytes, base + start, base + to);
          if (blank) {
            const first = cell.charCodeAt(0);
            if ((first > 0x20 && first < 0x7f) || cell.trim() !== '') blank = false;
          }
          cells[count] = escaped ? cell.replaceAll('""', '"') : cell;
        }
      }
      count++;
      if (i >= stop) break;
      i++;
    }
    if (collect && cells.length > count) cells.length = count;
    lastCount = count;
    if (apostrophe < from) apostrophe = find("'", from);
    record.count = count;
    record.blank = blank;
    record.apostrophe = apostrophe < lf;
    return lf + 1;
  }

  return (bytes, from, end, collect, counted) => {
    if (bytes !== held || from < base) load(bytes, from, end);
    let next = read(bytes, from - base, collect, counted);
    if (next === CUT && base + text.length < end && from > base) {
      load(bytes, from, end);
      next = read(bytes, 0, collect, counted);
    }
    return next < 0 ? NOT_QUICK : base + next;
  };
}
