import type { Issue, IssueCode } from '../../model/issue.js';
import { type Fields, isRef, sameValue, type Value, valueText } from '../../model/value.js';
import { checkValue } from '../../resources/value-check.js';
import { trimText } from '../map/cell-text.js';
import type { ResolvedRow } from '../resolve/resolve.js';
import type { Held, MergeOptions } from './merge.js';

/**
 * What a row repeats of the record it meets is no change, whatever the rules say about writing it: a record may hold
 * values that nobody could import today, and a file exported from it has them in its cells. Contract, section 5
 * (`unchanged`).
 */
interface Repeats {
  /** The row without the faults of cells that repeat the record. */
  readonly row: ResolvedRow;
  /**
   * Faults of values that the record holds and that the interface does not accept in a body: they count where the row
   * changes something else, because a PUT carries the whole record.
   */
  readonly carried: readonly Issue[];
}

/** Faults of what stands in one cell, as opposed to faults of the row, its key or its form. */
const OF_A_CELL: ReadonlySet<IssueCode> = new Set([
  'too_long',
  'wrong_length',
  'not_a_number',
  'not_an_integer',
  'out_of_range',
  'not_a_date',
  'ambiguous_date',
  'not_in_list',
  'not_an_email',
  'not_a_boolean',
  'reference_not_found',
  'reference_ambiguous',
  'excel_error',
  'number_precision_lost',
  'nul_character',
  'control_character',
  'misread_text',
  'invalid_encoding',
]);

/** Limits that the interface itself states for bodies (sections 2.1 to 2.5). What else is wrong, the service decides. */
const STATED: ReadonlySet<IssueCode> = new Set(['too_long', 'wrong_length', 'out_of_range']);

export function isOfCell({ code, column }: Issue): boolean {
  return column !== undefined && OF_A_CELL.has(code);
}

/** Whether all that a row sets is its id and the name by which the record is known. */
export function repeatsName(set: Fields, name: string | undefined): boolean {
  return (
    name !== undefined && Object.keys(set).every((field) => field === 'id' || (field === 'name' && set[field] === name))
  );
}

/**
 * Takes what repeats the record out of a row's faults, and gives values the record's own form where a cell shows just
 * that. `specOf`: tells whether a value that the record holds keeps the stated limits, where the cell does not.
 */
export function withoutRepeats(
  row: ResolvedRow,
  held: Held,
  { columnOf, specOf }: Pick<MergeOptions, 'columnOf' | 'specOf'>,
): Repeats {
  const { read, base } = held;
  const faulty = row.issues.some((issue) => issue.severity === 'error');
  const relined = Object.keys(row.set).filter((field) =>
    valuesOf(field, held).some((value) => differsInLineEnds(row.set[field], value)),
  );
  if (!row.cells && !row.escaped && !faulty && read.losses.length === 0 && relined.length === 0)
    return { row, carried: [] };

  const set: Record<string, Value> = { ...row.set };
  const repeat = (field: string) => {
    const value = base[field];
    if (value === undefined) delete set[field];
    else set[field] = value;
  };
  for (const field of relined) repeat(field);
  for (const [field, cell] of [...Object.entries(row.cells ?? {}), ...Object.entries(row.escaped ?? {})]) {
    if (textsOf(field, held).includes(cell) && mayRepeat(field, set, base)) repeat(field);
  }
  for (const { field, text } of read.losses) {
    // Reads show this reference by a name alone, and the file names the same.
    const value = set[field];
    if (isRef(value) && value.name !== undefined && sameText(value.name, text)) delete set[field];
  }
  if (!faulty) return { row: { ...row, set }, carried: [] };

  const fields = [...new Set([...Object.keys(set), ...Object.keys(base), ...read.losses.map((loss) => loss.field)])];
  const issues: Issue[] = [];
  const carried: Issue[] = [];
  for (const issue of row.issues) {
    const field =
      issue.severity === 'error' && isOfCell(issue) ? fields.find((one) => columnOf(one) === issue.column) : undefined;
    const value = field === undefined ? undefined : set[field];
    if (field === undefined || !mayRepeat(field, set, base)) issues.push(issue);
    else if (value === undefined) {
      if (!textsOf(field, held).some((text) => sameText(text, issue.value ?? ''))) issues.push(issue);
    } else if (!valuesOf(field, held).some((one) => sameValue(value, one))) issues.push(issue);
    else if (!(field in base)) delete set[field];
    else if (STATED.has(issue.code)) {
      // The cell may lack blanks that the record's value has: the limit is one of the value.
      const spec = specOf(field);
      const wrong = spec === undefined ? issue : checkValue(spec, value);
      if (wrong && STATED.has(wrong.code)) carried.push({ ...issue, code: wrong.code, message: wrong.message });
    }
  }
  return { row: { ...row, set, issues }, carried };
}

/** Spreadsheet programs keep line feeds only: a line end that the service has with a carriage return comes back without. */
function differsInLineEnds(value: Value | undefined, held: Value | undefined): boolean {
  if (typeof value !== 'string' || typeof held !== 'string' || value === held || !held.includes('\r')) return false;
  return withLineFeeds(trimText(value)) === withLineFeeds(trimText(held));
}

/** Spreadsheet programs keep line feeds only. */
export const withLineFeeds = (text: string) => text.replace(/\r\n?/g, '\n');

/** A subcategory is the same only under the same category. */
function mayRepeat(field: string, set: Fields, base: Fields): boolean {
  const category = 'category.name';
  return field !== 'category.subcategory' || !(category in set) || sameValue(set[category], base[category]);
}

/** What the record holds in a field: as read, or of a form row that no request can carry. */
export function valuesOf(field: string, { read, base }: Held): Value[] {
  const lost = read.losses.flatMap((loss) => (loss.field === field && loss.value !== undefined ? [loss.value] : []));
  return field in base ? [base[field] ?? null, ...lost] : lost;
}

/** The texts under which a file shows what the record holds in a field. */
export function textsOf(field: string, { read, base }: Held): string[] {
  const texts = read.losses.flatMap((loss) => (loss.field === field ? [loss.text] : []));
  const value = base[field];
  if (isRef(value)) texts.push(...(value.name === undefined ? [] : [value.name]), String(value.id), `id:${value.id}`);
  else if (value !== undefined && value !== null) texts.push(valueText(value));
  return texts;
}

/** As cells are read: without outer blanks; half of a surrogate pair becomes U+FFFD. */
export function sameText(a: string, b: string): boolean {
  return readable(a) === readable(b);
}

function readable(text: string): string {
  return trimText(text).replace(/\p{Surrogate}/gu, '\ufffd');
}
