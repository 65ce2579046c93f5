import { type Cell, isBlank, type NoRecord, type SheetRow, shownText } from '../../model/row.js';
import type { OpenSource, SourceOptions } from '../../model/source.js';
import { type ColumnHabit, columnHabit, contrastOf, filledCells, foldedText, lookOf } from './sample-table.js';

/** How people mark totals and notes, in the languages whose spreadsheets are most common. */
const TOTAL =
  /^[=*#-]*\s*(?:totals?|grand ?totals?|overall totals?|sub-? ?totals?|net total|gross total|sums?|total (?:amount|costs?|value|price|spend|sum|result)|summen?|gesamt|gesamt(?:ergebnis|summe|betrag|kosten|wert)|zwischensumme|endsumme|insgesamt|total netto|total brutto|total g[eé]n[eé]ral|sous-? ?total|somme|montant total|total ht|total ttc|suma|suma total|importe total|soma|total geral|subtotal geral|totale|totale generale|totale complessivo|subtotale|somma|totaal|totaal generaal|eindtotaal|subtotaal|som|totalt|summa|delsumma|i alt|yhteens[aä]|razem|suma końcowa|og[oó]łem|celkem|sp[oó]łem|итого|всего|сума|toplam|genel toplam|合计|总计|小计|合計|総計|小計|합계|총계)\s*(?:\([^()]{1,20}\)|in \p{L}{3}|\p{Sc}|(?:19|20)\d\d)?\s*[:=.*-]*$/iu;
/** A record may be named `Total`; none is named so, nor by these words and the name of the group of rows above it. */
const SUBTOTAL = /^(?:sub[-\s]?tot|zwischensumme|sous[-\s]total|subtotaal|parcial|parziale)/i;
const GROUP_TOTAL =
  /^(?:(?:total|totale|totaal|suma|soma|somme) (.+)|(.+) (?:totals?|subtotal|summe|gesamt|ergebnis|result|sum|totaal))$/i;
const BY = '(?:prepared|approved|checked|signed) by|erstellt von|geprüft von|freigegeben von';
const NOTE_WORDS = `notes?|notas?|remarks?|comments?|sources?|legend|footnotes?|disclaimer|confidential|${BY}|signed|signature|date of issue|anmerkung(?:en)?|hinweise?|bemerkung(?:en)?|quelle|legende|stand|unterschrift|remarques?|légende|fuente|firma|observaciones|fonte|bron|opmerking(?:en)?|handtekening|källa|prepared on|run date|report date|print date|number of (?:rows|records|items|assets|contracts)|(?:row|record|item) ?count|total (?:rows|records|items|number)|anzahl(?: \\p{L}+)?`;
/** Sentences that no record is called by, and words that a colon makes a note. */
const NOTE = new RegExp(
  `^[*†(]*(?:${NOTE_WORDS})\\s*:|^\\(?(?:generated|exported|printed|created|produced|extracted|downloaded|last updated|report (?:generated|created|run))\\s+(?:on|by|at|from)\\b|^\\(?(?:erstellt|exportiert|gedruckt|generiert)\\s+(?:am|von|mit|aus)\\b|^(?:généré|imprimé|exporté)\\s+(?:le|par)\\b|^(?:generado|exportado|impreso)\\s+(?:el|por)\\b|^(?:page|seite|pagina|página|blad)\\s+\\d+\\s*(?:\\/|of|von|de|di|van|sur)\\s*\\d+|^\\d+\\s+(?:rows?|records?|items?|entries|zeilen|datensätze|einträge)(?:\\s+(?:selected|exported|affected|total|in set|found))?\\.?$|^\\(\\d+ rows?(?: affected)?\\)$|^[-*=\\s]*end of (?:report|file|list|table|data)\\b|^©|^copyright\\s*(?:©|\\(c\\)|(?:19|20)\\d\\d)`,
  'iu',
);
/** The words alone, with a date or a person: `Source One` and `Legend Group` are names. Or `* without VAT`. */
const MAYBE_NOTE = new RegExp(
  `^[*†(]*(?:(?:${NOTE_WORDS})[\\s_.)]*(?:\\d[\\d\\s.,/:-]*)?$|(?:${BY})\\b)|^\\*{1,3}\\s?\\p{L}`,
  'iu',
);
/** Firms whose names end with a full stop, as sentences do. */
const FIRM =
  /(?:^|[\s,])(?:inc|ltd|co|corp|llc|l\.l\.c|plc|cie|bros|jr|sr|int(?:er)?nat?l?|intl|mfg|pty|pvt|lda|ltda|cia|spa|srl|kft|zrt|rt|etc|u\.?a|e\.?\s?[vkg]|m\.?b\.?h|(?:\p{L}\.\s?){1,3}\p{L}|z\s?o\.\s?o)\.$/iu;

/** Rows at the end that are looked at; fewer rows than the other say little of what a column holds. */
const [LONGEST, ENOUGH] = [20, 8];

/**
 * The same table; rows that look like totals, notes or the heading again are marked (`SheetRow.noRecord`), none is left out.
 * NDJSON is as it is, and so are rejected rows that come back, but for those that no run has reached. Holds two batches.
 */
export function markNoRecords(source: OpenSource, footer: SourceOptions['footer'] = 'auto'): OpenSource {
  const { headings, format } = source.meta;
  if (footer === 'keep' || format === 'ndjson') return source;
  const own = headings.join('\0').includes('_row\0_outcome\0_codes\0_message') ? headings.lastIndexOf('_row') : -1;
  return { ...source, rows: () => (own < 0 ? marked(source) : markedUnreached(source, own)) };
}

/** `own`: where the columns begin that a run has added. */
async function* markedUnreached(source: OpenSource, own: number): AsyncGenerator<readonly SheetRow[]> {
  const given: (readonly SheetRow[])[] = [];
  async function* input() {
    for await (const batch of source.rows()) {
      given.push(batch);
      yield batch.map((row) => ({ ...row, cells: row.cells.slice(0, own) }));
    }
  }
  const meta = { ...source.meta, headings: source.meta.headings.slice(0, own) };
  for await (const batch of marked({ meta, rows: input })) {
    const rows = given.shift() ?? [];
    yield rows.map((row, at): SheetRow => {
      const noRecord = row.cells[own + 1] === 'not_attempted' ? batch[at]?.noRecord : undefined;
      return noRecord === undefined ? row : { ...row, noRecord };
    });
  }
}

async function* marked(source: OpenSource): AsyncGenerator<readonly SheetRow[]> {
  const folded = source.meta.headings.map(foldedText);
  let [before, last, batches]: [readonly SheetRow[], readonly SheetRow[], number] = [[], [], 0];
  let typical: number | undefined;
  for await (const rows of source.rows()) {
    if (before.length > 0) yield before;
    typical ??= typicalFill(rows);
    [before, last] = [last, markAmong(rows, last, folded, typical)];
    batches++;
  }
  const end = markEnd([...before, ...last], folded.length, batches <= 2);
  if (before.length > 0) yield end.slice(0, before.length);
  if (last.length > 0) yield end.slice(before.length);
}

/** Marks the heading where it stands again, and the totals of groups. */
function markAmong(rows: readonly SheetRow[], before: readonly SheetRow[], folded: readonly string[], typical: number) {
  const several = folded.filter((text) => text !== '').length >= 2;
  return rows.map((row, at): SheetRow => {
    const { cells } = row;
    if (several && folded.every((text, i) => foldedText(cells[i]) === text))
      return { ...row, noRecord: 'the heading again' };
    const label = labelOf(cells);
    const group = label === undefined || label.length > 80 ? null : GROUP_TOTAL.exec(label);
    const named = label !== undefined && SUBTOTAL.test(label) && TOTAL.test(label);
    if (label === undefined || !(group || named) || typical < 4 || filledCells(cells) * 2 > typical) return row;
    const column = cells.findIndex((cell) => !isBlank(cell));
    const above = [...before, ...rows.slice(0, at)].findLast((one) => !isBlank(one.cells[column]));
    const ofGroup = above !== undefined && (group?.[1] ?? group?.[2]) === shownText(above.cells[column]).trim();
    return (named || ofGroup) && isTotals(cells, label) ? { ...row, noRecord: 'a total' } : row;
  });
}

/**
 * Marks rows at the end that fill at most half of what a row usually fills: totals whose numbers stand where the rows above
 * have numbers, or that are their sum; what begins like a note; rows, more than one, with text where numbers or dates belong;
 * and what stands among such notes. Any other sparse row is data.
 */
function markEnd(rows: readonly SheetRow[], width: number, whole: boolean): readonly SheetRow[] {
  const typical = typicalFill(rows);
  const from = Math.max(Math.min(2, rows.length), rows.length - LONGEST);
  const body = from >= 5 ? rows.slice(Math.max(0, from - 200), from) : rows.slice(0, -1);
  let known: readonly ColumnHabit[] | undefined;
  const habits = () => (known ??= Array.from({ length: width }, (_, index) => columnHabit(body, index)));
  const isGap = (at: number) => rows[at]!.row - rows[at - 1]!.row > 1;
  // In a table of two columns half of a row is a single cell, which a record may have, too.
  const isSparse = (at: number) => filledCells(rows[at]!.cells) * 2 <= typical && (typical >= 3 || isGap(at));
  const kindOf = (at: number): NoRecord | 'odd' | undefined => {
    const { cells, noRecord } = rows[at]!;
    const label = labelOf(cells);
    if (noRecord !== undefined) return noRecord;
    if (label !== undefined && TOTAL.test(label) && isTotals(cells, label)) {
      const inPlace = () => cells.every((cell, i) => !isNumber(cell) || habits()[i]?.typed === true);
      return (isSparse(at) && inPlace()) || (whole && sums(rows[at]!, rows) > 0) ? 'a total' : undefined;
    }
    if (!isSparse(at)) return undefined;
    if (label !== undefined && (NOTE.test(label) || (isGap(at) && mayBeNote(label)))) return 'a note';
    const first = habits().find(({ filled }) => filled > 0);
    if (!first || first.filled < 5 || !isBlank(cells[habits().indexOf(first)])) return undefined;
    if (cells.every((cell) => lookOf(cell) !== 'text'))
      return whole && sums(rows[at]!, rows) === filledCells(cells) ? 'a total' : undefined;
    const { unlike, alike } = contrastOf(cells.slice(0, width), habits());
    return rows.length >= ENOUGH + 2 && unlike >= 1 && alike === 0 ? 'odd' : undefined;
  };
  const kinds: (NoRecord | 'odd' | undefined)[] = [];
  let start = rows.length;
  for (; start > from; start--) {
    const kind = kindOf(start - 1);
    if (kind === undefined && !isSparse(start - 1)) break;
    kinds.unshift(kind);
  }
  // One row that is odd is refused for what is odd in it; several are notes.
  const odd = kinds.filter((kind) => kind === 'odd').length >= 2;
  const notes = kinds.map((kind) => kind === 'a note' || (odd && kind === 'odd'));
  const [first, last] = [notes.indexOf(true), notes.lastIndexOf(true)];
  const gap = kinds.findIndex((_, i) => isGap(start + i));
  const full = rows.slice(0, start).every(({ cells }) => filledCells(cells) * 2 > typical);
  const isAmong = (i: number, filled: number) => {
    // Rows between a blank row and a total may be a group of records; a note may begin with words alone.
    if (gap >= 0 && i >= gap && i <= last && i > kinds.lastIndexOf('a total')) return true;
    return first >= 0 && (i > first ? filled <= 2 : full && start >= ENOUGH && filled === 1 && first < last);
  };
  return rows.map((row, at): SheetRow => {
    const i = at - start;
    if (i < 0 || row.noRecord) return row;
    if (kinds[i] === 'a total') return { ...row, noRecord: 'a total' };
    return notes[i] || isAmong(i, filledCells(row.cells)) ? { ...row, noRecord: 'a note' } : row;
  });
}

/** Cells that most rows fill. */
function typicalFill(rows: readonly SheetRow[]): number {
  const counts = rows.map(({ cells }) => filledCells(cells)).sort((a, b) => a - b);
  return counts[Math.floor(counts.length / 2)] ?? 0;
}

const isNumber = (cell: Cell) => lookOf(cell) === 'value' || lookOf(cell) === 'year';

/** The first filled cell of a row; undefined where it is no text. */
function labelOf(cells: readonly Cell[]): string | undefined {
  const first = cells.find((cell) => !isBlank(cell));
  return typeof first === 'string' ? first.trim() : undefined;
}

/** A label of totals and numbers, nothing else. It may stand before each of several amounts, and a dash for none. */
function isTotals(cells: readonly Cell[], label: string): boolean {
  const texts = cells.filter((cell) => lookOf(cell) === 'text').map((cell) => shownText(cell).trim());
  return cells.some(isNumber) && texts.every((text) => text === label || /^[-–—]+$/.test(text) || TOTAL.test(text));
}

/** Also a sentence: some words of which not all begin with a capital, as in `Figures are not audited.` */
function mayBeNote(text: string): boolean {
  const ends = /[.!]$/.test(text) && !FIRM.test(text) && text.split(/\s+/).length >= 3 && /\s\p{Ll}/u.test(text);
  return MAYBE_NOTE.test(text) || text.length > 60 || ends;
}

/** How many cells of a row are the sum of the amounts above them, to half of the last digit shown. */
function sums(total: SheetRow, rows: readonly SheetRow[]): number {
  const parts = rows.filter(({ row, cells }) => row < total.row && !TOTAL.test(labelOf(cells) ?? ''));
  return total.cells.filter((cell, index) => {
    const [stated, amounts] = [amountOf(cell), parts.flatMap(({ cells }) => amountOf(cells[index]) ?? [])];
    const digits = /[.,](\d{1,2})\D*$/.exec(shownText(cell))?.[1]?.length ?? 0;
    const off = Math.abs(amounts.reduce((a, b) => a + b, 0) - (stated ?? 0));
    return stated && amounts.length >= 2 && off <= 0.5 / 10 ** digits + 1e-6;
  }).length;
}

/** What the digits of a cell come to, for a sum that is only compared. */
function amountOf(cell: Cell | undefined): number | undefined {
  const text = (typeof cell === 'object' && cell.t === 'n' ? cell.value : shownText(cell)).replace(
    /[\s'’\p{Sc}]|\b[A-Z]{3}\b/gu,
    '',
  );
  if (!/^\(?[-+−]?[\d.,]*\d[.,]?-?\)?$/.test(text)) return undefined;
  const digits = text.replace(/[^\d.,]/g, '');
  const mark = Math.max(digits.lastIndexOf('.'), digits.lastIndexOf(','));
  // Three digits behind the only kind of mark are thousands.
  const whole = mark < 0 || (digits.length - mark === 4 && !(digits.includes('.') && digits.includes(',')));
  const at = whole && typeof cell === 'string' ? digits.length : mark < 0 ? digits.length : mark;
  const value = Number(`${digits.slice(0, at).replace(/\D/g, '')}.${digits.slice(at + 1)}`);
  return /[-−(]/.test(text) ? -value : value;
}
