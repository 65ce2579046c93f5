import { type Cell, isBlank, shownText } from '../../model/row.js';
import { lookOf } from './sample-table.js';

/** The words by which people mark totals and notes below a table, in the languages whose spreadsheets are most common. */

const TOTALS = [
  'totals?|grand ?totals?|overall totals?|sub-? ?totals?|net total|gross total|sums?|total (?:amount|cost|costs|value|price|spend|sum|result)',
  'summe|summen|gesamt|gesamtergebnis|gesamtsumme|gesamtbetrag|gesamtkosten|gesamtwert|zwischensumme|endsumme|insgesamt|total netto|total brutto',
  'total g[eé]n[eé]ral|sous-? ?total|somme|montant total|total ht|total ttc',
  'suma|suma total|total general|importe total|soma|total geral|subtotal geral',
  'totale|totale generale|totale complessivo|subtotale|somma|totaal|totaal generaal|eindtotaal|subtotaal|som',
  'totalt|summa|delsumma|i alt|yhteens[aä]|razem|suma końcowa|og[oó]łem|celkem|sp[oó]łem|итого|всего|сума|toplam|genel toplam',
  '合计|总计|小计|合計|総計|小計|합계|총계',
].join('|');
/** `Total`, `Grand total:`, `Total (EUR)`, `Total in EUR`, `Total 2024`, `Summe netto =`. */
const TOTAL = new RegExp(
  `^[=*#-]*\\s*(?:${TOTALS})\\s*(?:\\([^()]{1,20}\\)|in \\p{L}{3}|\\p{Sc}|(?:19|20)\\d\\d)?\\s*[:=.*-]*$`,
  'iu',
);

/** These words are followed by a colon where they introduce a note; alone they may be a name. */
const NOTE_WORDS =
  'notes?|nota|notas|remarks?|comments?|sources?|legend|footnotes?|disclaimer|confidential|prepared by|approved by|checked by|signed(?: by)?|signature|date of issue' +
  '|anmerkung(?:en)?|hinweise?|bemerkung(?:en)?|quelle|legende|stand|unterschrift|erstellt von|geprüft von|freigegeben von' +
  '|remarques?|légende|signature|fuente|firma|observaciones|fonte|bron|opmerking(?:en)?|handtekening|källa|prepared on|run date|report date|print date' +
  '|number of (?:rows|records|items|assets|contracts)|(?:row|record|item) ?count|total (?:rows|records|items|number)|anzahl(?: \\p{L}+)?';
const NOTE = new RegExp(`^[*†(]*(?:${NOTE_WORDS})\\s*:`, 'iu');
/** Without the colon, only the words themselves, with a date or a person: `Source One` and `Legend Group` are names. */
const NOTE_WORD = new RegExp(
  `^[*†(]*(?:(?:${NOTE_WORDS})[\\s_.)]*(?:\\d[\\d\\s.,/:-]*)?$|(?:(?:prepared|approved|checked|signed) by|erstellt von|geprüft von|freigegeben von)\\b)`,
  'iu',
);
/** Firms whose names end with a full stop. */
const FIRM =
  /(?:^|[\s,])(?:inc|ltd|co|corp|llc|l\.l\.c|plc|cie|bros|jr|sr|int(?:er)?nat?l?|intl|mfg|pty|pvt|lda|ltda|cia|spa|srl|kft|zrt|rt|etc|u\.?a|e\.?\s?[vkg]|m\.?b\.?h|(?:\p{L}\.\s?){1,3}\p{L}|z\s?o\.\s?o)\.$/iu;

/** `Figures are not audited.`: some words, of which not all begin with a capital. */
function isSentence(text: string): boolean {
  if (text.length > 60) return true;
  return /[.!]$/.test(text) && !FIRM.test(text) && text.split(/\s+/).length >= 3 && /\s\p{Ll}/u.test(text);
}

/** Sentences that no record is called by. */
const SENTENCE =
  /^\(?(?:generated|exported|printed|created|produced|extracted|downloaded|last updated|report (?:generated|created|run))\s+(?:on|by|at|from)\b|^\(?(?:erstellt|exportiert|gedruckt|generiert)\s+(?:am|von|mit|aus)\b|^(?:généré|imprimé|exporté)\s+(?:le|par)\b|^(?:generado|exportado|impreso)\s+(?:el|por)\b|^(?:page|seite|pagina|página|blad)\s+\d+\s*(?:\/|of|von|de|di|van|sur)\s*\d+|^\d+\s+(?:rows?|records?|items?|entries|zeilen|datensätze|einträge)(?:\s+(?:selected|exported|affected|total|in set|found))?\.?$|^\(\d+ rows?(?: affected)?\)$|^[-*=\s]*end of (?:report|file|list|table|data)\b|^©|^copyright\s*(?:©|\(c\)|(?:19|20)\d\d)/iu;
/** `* without VAT`; a name may begin so, too. */
const STARRED = /^\*{1,3}\s?\p{L}/u;

/** Whether the text alone marks a row of totals. */
export function isTotalLabel(text: string): boolean {
  return text.length <= 40 && !endsAsId(text) && TOTAL.test(text);
}

/** Whether it ends with a digit, but not with a year: so does the label of nearly every row, and no total does. */
function endsAsId(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  if (!(last >= 0x30 && last <= 0x39)) return false;
  const century = text.charCodeAt(text.length - 4);
  return century !== 0x31 && century !== 0x32;
}

/** `certain`: the text introduces a note; `likely`: it may, where the place says so, too. */
export function noteIn(text: string): 'certain' | 'likely' | undefined {
  if (NOTE.test(text) || SENTENCE.test(text)) return 'certain';
  return NOTE_WORD.test(text) || STARRED.test(text) || isSentence(text.trim()) ? 'likely' : undefined;
}

/** The first filled cell of a row; undefined where it is no text. */
export function labelOf(cells: readonly Cell[]): string | undefined {
  for (const cell of cells) {
    if (typeof cell === 'string' && cell.length > 0 && cell.charCodeAt(0) > 32) return cell;
    if (isBlank(cell)) continue;
    return typeof cell === 'string' ? cell : undefined;
  }
  return undefined;
}

/** A total of a group of rows, by a name that no record has. */
export function isSubtotalLabel(text: string): boolean {
  return /^(?:sub[-\s]?tot|zwischensumme|sous[-\s]total|subtotaal|parcial|parziale)/i.test(text);
}

/** What spreadsheet programs add to the name of a group of rows: `Rome Total`, `Totale Rome`. */
const GROUP_TOTAL =
  /^(?:total|totale|totaal|suma|soma|somme) | (?:total|totals|subtotal|summe|gesamt|ergebnis|result|sum|totaal)$/i;

/** A first look, which the label of nearly every row ends at. */
export function mayBeGroupTotal(label: string): boolean {
  return GROUP_TOTAL.test(label);
}

/** Whether a label is the name of the group with such a word at it. */
export function isGroupTotal(label: string, group: string): boolean {
  if (group === '' || label.length <= group.length) return false;
  const rest = label.startsWith(`${group} `)
    ? label.slice(group.length)
    : label.endsWith(` ${group}`)
      ? label.slice(0, -group.length)
      : '';
  return /^ ?\S+ ?$/.test(rest) && mayBeGroupTotal(rest);
}

/**
 * Whether a row is a label of totals and numbers, and nothing else.
 * @param stated the label, where it is known to be one
 */
export function isTotalsRow(cells: readonly Cell[], stated?: string): boolean {
  const label = labelOf(cells)?.trim();
  if (label === undefined || (label !== stated && !isTotalLabel(label))) return false;
  let numbers = 0;
  let labels = 0;
  for (const cell of cells) {
    const look = lookOf(cell);
    if (look === 'text') {
      // `Total` may stand before each of several amounts, and a dash stands for none.
      const text = shownText(cell).trim();
      if (!/^[-–—]+$/.test(text) && text !== stated && !isTotalLabel(text)) return false;
      labels++;
    } else if (look !== 'blank') numbers++;
  }
  return numbers > 0 && labels > 0;
}
