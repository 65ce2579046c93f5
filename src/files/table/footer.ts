import { type Cell, displayText, isBlank, type NoRecord, type SheetRow } from '../../model/row.js';
import type { OpenSource, SourceOptions } from '../../model/source.js';

/** How people mark totals and notes, in the languages whose spreadsheets are most common. */
const TOTAL =
  /^[=*#-]*\s*(?:totals?|grand ?totals?|overall totals?|sub-? ?totals?|net total|gross total|sums?|total (?:amount|costs?|value|price|spend|sum|result)|summen?|gesamt|gesamt(?:ergebnis|summe|betrag|kosten|wert)|zwischensumme|endsumme|insgesamt|total netto|total brutto|total g[eé]n[eé]ral|sous-? ?total|somme|montant total|total ht|total ttc|suma|suma total|importe total|soma|total geral|subtotal geral|totale|totale generale|totale complessivo|subtotale|somma|totaal|totaal generaal|eindtotaal|subtotaal|som|totalt|summa|delsumma|i alt|yhteens[aä]|razem|suma końcowa|og[oó]łem|celkem|sp[oó]łem|итого|всего|сума|toplam|genel toplam|合计|总计|小计|合計|総計|小計|합계|총계)\s*(?:\([^()]{1,20}\)|in \p{L}{3}|\p{Sc}|(?:19|20)\d\d)?\s*[:=.*-]*$/iu;
/** Which one it is, where the amounts are sums: `Sous-total 1`, `Total au 31/12/2024`. */
const TOTAL_SUFFIX = /\s(?:#?\d{1,3}|(?:(?:as )?\p{L}{2,3} )?\d{1,4}[./-]\d{1,2}[./-]\d{1,4})\s*:?$/u;
const GROUP_TOTAL =
  /^(?:(?:total|totale|totaal|suma|soma|somme) (.+)|(.+) (?:totals?|subtotal|summe|gesamt|ergebnis|result|sum|totaal))$/i;
const NOTE_WORDS = `notes?|notas?|remarks?|comments?|sources?|legend|footnotes?|disclaimer|confidential|(?:prepared|approved|checked|signed) by|erstellt von|geprüft von|freigegeben von|signed|signature|date of issue|anmerkung(?:en)?|hinweise?|bemerkung(?:en)?|quelle|legende|stand|unterschrift|remarques?|légende|fuente|firma|observaciones|fonte|bron|opmerking(?:en)?|handtekening|källa|prepared on|run date|report date|print date|number of (?:rows|records|items|assets|contracts)|(?:row|record|item) ?count|total (?:rows|records|items|number)|anzahl(?: \\p{L}+)?`;
/** What no record is called by. */
const NOTE = new RegExp(
  `^[*†(]*(?:${NOTE_WORDS})\\s*:|^\\(?(?:generated|exported|printed|created|produced|extracted|downloaded|last updated|report (?:generated|created|run))\\s+(?:on|by|at|from)\\b|^\\(?(?:erstellt|exportiert|gedruckt|generiert)\\s+(?:am|von|mit|aus)\\b|^(?:généré|imprimé|exporté)\\s+(?:le|par)\\b|^(?:generado|exportado|impreso)\\s+(?:el|por)\\b|^(?:page|seite|pagina|página|blad)\\s+\\d+\\s*(?:\\/|of|von|de|di|van|sur)\\s*\\d+|^\\d+\\s+(?:rows?|records?|items?|entries|zeilen|datensätze|einträge)(?:\\s+(?:selected|exported|affected|total|in set|found))?\\.?$|^\\(\\d+ rows?(?: affected)?\\)$|^[-*=\\s]*end of (?:report|file|list|table|data)\\b|^©|^copyright\\s*(?:©|\\(c\\)|(?:19|20)\\d\\d)`,
  'iu',
);
/** What may be said in a line of its own below a table: `* without VAT`, a sentence, a long text. */
const MAYBE_NOTE = /^[*†]|\p{Ll}{5}[.!]$|^.{60}/su;
/** An amount, with the sign or name of its currency and marks between its digits. */
const AMOUNT = /^\s*(?:[A-Z]{3}\s)?[-+−(]{0,2}\s?\p{Sc}?\s?[-+−]?\d[\d.,\s'’]*-?\s?(?:\p{Sc}|%|[A-Z]{3})?\)?\s*$/u;

/** Rows at the end of a table among which totals and notes are looked for. */
const FOOTER_ROWS = 20;

/**
 * The same table; rows that are the heading again, totals or notes are marked (`SheetRow.noRecord`), none is left out.
 *
 * - A total has a word of totals, or `Rome Total` below `Rome`, beside it nothing but amounts, and each of them is the sum or number of
 *   those above. At the end, below a blank row or a total, any amounts do; else, or without a word, it is doubtful.
 * - A note has nothing beside it, at the end, below a blank row, a total or a note. Elsewhere at the end it is doubtful, and
 *   so is what only has the form of one, or does not begin in the first column, or stands below a doubtful note.
 *
 * NDJSON is as it is, and so are rejected rows that come back, but for those that no run has reached.
 */
export function markNoRecords(source: OpenSource, footer: SourceOptions['footer'] = 'auto'): OpenSource {
  const { headings, format } = source.meta;
  const own = headings.join('\0').includes('_row\0_outcome\0_codes\0_message') ? headings.lastIndexOf('_row') : -1;
  const texts = headings.slice(0, own < 0 ? headings.length : own).map(textOf);
  if (footer === 'keep' || format === 'ndjson' || texts.length < 2) return source;
  /** The cells that the file had; none of a row that a run has reached. */
  const cellsOf = ({ cells }: SheetRow) =>
    own < 0 ? cells : cells[own + 1] === 'not_attempted' ? cells.slice(0, own) : [];
  async function* rows() {
    let above: PrecedingRows | undefined;
    let last: SheetRow[] = [];
    for await (const batch of source.rows()) {
      const preceding = above ?? new PrecedingRows(batch.map(cellsOf));
      above = preceding;
      const all = [...last, ...batch.map((row) => withMark(row, preceding.markOf(cellsOf(row), texts)))];
      last = all.splice(-FOOTER_ROWS);
      if (all.length > 0) yield all;
    }
    if (last.length > 0) yield markFooter(last, cellsOf);
  }
  return { ...source, rows };
}

/** The beginning of a cell, which is all that is looked at. */
const textOf = (cell: Cell | undefined) => displayText(cell).slice(0, 200).trim();

const withMark = (row: SheetRow, noRecord: NoRecord | undefined): SheetRow => (noRecord ? { ...row, noRecord } : row);

/** What stands above a row: texts of groups, the sums of amounts by column, and those since the last total. */
class PrecedingRows {
  #before: readonly Cell[] = [];
  readonly #labels: Cell[] = [];
  readonly #all: number[] = [];
  #group: number[] = [];
  /** Records since the last total, and all. */
  readonly #counts: [sinceTotal: number, all: number] = [0, 0];

  /** `sample`: the first rows, which tell the columns that are summed. */
  constructor(sample: readonly (readonly Cell[])[]) {
    for (const cells of sample)
      for (const [at, cell] of cells.entries()) if (amountOf(cell) !== undefined) this.#all[at] = 0;
  }

  /** What a row is wherever it stands. */
  markOf(cells: readonly Cell[], headings: readonly string[]): NoRecord | undefined {
    const at = cells.findIndex((cell) => !isBlank(cell));
    if (at < 0) return undefined;
    const label = textOf(cells[at]);
    if (label === headings[at] && headings.every((text, column) => textOf(cells[column]) === text))
      return { like: 'the heading again', doubtful: false };
    const amounts = this.#all.map((_, column) => amountOf(cells[column]));
    const isSum = (column: number) => {
      const amount = amounts[column] ?? 0;
      const isNear = (sum = 0) => amount !== 0 && Math.abs(sum - amount) < 0.00501;
      return isNear(this.#group[column]) || isNear(this.#all[column]);
    };
    // What no sum is in is no total, whatever it is called.
    if (amounts.some((_, column) => isSum(column))) {
      const group = GROUP_TOTAL.exec(label);
      const [name, above] = [group?.[1] ?? group?.[2], textOf(this.#before[at]) || textOf(this.#labels[at])];
      const isCount = (amount = 0) => amount > 1 && this.#counts.includes(amount);
      // One sum among other amounts may be a record's: the year of the one above, the third of a numbered list.
      const areSums = () => cells.every((cell, column) => !amountOf(cell) || isSum(column) || isCount(amountOf(cell)));
      if ((name === above || TOTAL.test(label.replace(TOTAL_SUFFIX, ''))) && isTotal(cells) && areSums()) {
        this.#group = [];
        this.#counts[0] = 0;
        return { like: 'a total', doubtful: false };
      }
      if (at > 0 && cells.every((cell, column) => isBlank(cell) || isSum(column)))
        return { like: 'a total', doubtful: true };
    }
    this.#before = cells;
    this.#counts[0]++;
    this.#counts[1]++;
    this.#labels[at] = cells[at]!;
    // Only columns that are summed are in it.
    this.#all.forEach((sum, column) => {
      const amount = amounts[column];
      if (amount === undefined) return;
      this.#all[column] = sum + amount;
      this.#group[column] = (this.#group[column] ?? 0) + amount;
    });
    return undefined;
  }
}

/** Marks totals and notes below the last record. */
function markFooter(rows: readonly SheetRow[], cellsOf: (row: SheetRow) => readonly Cell[]): SheetRow[] {
  let [from, isBelow, isNoted, isCertain] = [0, false, false, false];
  const marks = rows.map((row, at) => {
    isBelow ||= at > 0 && row.row - rows[at - 1]!.row > 1;
    const cells = cellsOf(row);
    const texts = cells.filter((cell) => !isBlank(cell)).map(textOf);
    const [label = ''] = texts;
    const mayBeNote = isBelow ? isNoted || MAYBE_NOTE.test(label) : isBlank(cells[0]) && amountOf(label) === undefined;
    let mark = row.noRecord;
    if (!mark && TOTAL.test(label) && isTotal(cells)) mark = { like: 'a total', doubtful: !isBelow };
    else if (!mark && label !== '' && texts.every((text) => NOTE.test(text)))
      mark = { like: 'a note', doubtful: !isBelow };
    else if (!mark && texts.length === 1 && mayBeNote) mark = { like: 'a note', doubtful: !isCertain };
    if (!mark) from = at + 1;
    if (!mark?.doubtful) isBelow = mark !== undefined;
    isNoted = isBelow && (isNoted || mark?.like === 'a note');
    isCertain = isNoted && (isCertain || (mark?.like === 'a note' && !mark.doubtful));
    return mark;
  });
  return rows.map((row, at) => (at < from ? row : withMark(row, marks[at])));
}

/** Beside the label amounts or counts (`120 records`), at least one; the label again, another one, or a dash for none. */
function isTotal(cells: readonly Cell[]): boolean {
  const [label, ...others] = cells.filter((cell) => !isBlank(cell)).map((cell) => amountOf(cell) ?? textOf(cell));
  const counts = (one: string | number) => typeof one === 'number' || NOTE.test(one);
  const isAmong = (one: string | number) =>
    counts(one) || one === label || /^[-–—]+$/.test(`${one}`) || TOTAL.test(`${one}`);
  return others.some(counts) && others.every(isAmong);
}

/** What the digits of a cell come to, for a sum that is only compared. */
function amountOf(cell: Cell = ''): number | undefined {
  if (isBlank(cell)) return undefined;
  if (typeof cell === 'object') return cell.t === 'n' ? Number(cell.value) : undefined;
  const plain = Number(cell);
  if (!Number.isNaN(plain) && cell.at(-4) !== '.') return plain;
  if (cell.length > 40 || !AMOUNT.test(cell)) return undefined;
  const digits = cell.replace(/[^\d.,]/g, '');
  const mark = Math.max(digits.lastIndexOf('.'), digits.lastIndexOf(','));
  // Three digits behind the only kind of mark are thousands.
  const isWhole = mark < 0 || (digits.length - mark === 4 && !(digits.includes('.') && digits.includes(',')));
  const at = isWhole ? digits.length : mark;
  const value = Number(`${digits.slice(0, at).replace(/\D/g, '')}.${digits.slice(at + 1)}`);
  return /[-−(]/.test(cell) ? -value : value;
}
