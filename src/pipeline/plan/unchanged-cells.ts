import type { Change, FieldDiff } from '../../model/change.js';
import { fault, type Issue, type IssueCode } from '../../model/issue.js';
import { type RowsJob, targetsOf } from '../../model/job.js';
import type { Cell, SheetRow } from '../../model/row.js';
import { type Fields, isEmpty, isRef, normaliseKey, sameValue, type Value, valueText } from '../../model/value.js';
import { PARTNERS } from '../../resources/rules.js';
import { checkValue } from '../../resources/value-check.js';
import { equalsStored, isTruncated as isCutByService, isNormalisedForm } from '../apply/compare.js';
import { isSavedForm, trimText } from '../map/cell-text.js';
import type { MappingInput } from '../map/columns.js';
import { excerpt, indexHeadings } from '../map/headings.js';
import { compileMapping, type Mapping } from '../map/map.js';
import { findTarget } from '../map/targets.js';
import { type ExportedCell, isNamedRef, type ResolvedRow, type StagedRow, type StagedValue } from '../rows.js';
import { changesOf, isReadable, type MergeBase, type MergeOptions } from './merge.js';

/** Faults of what stands in one cell, as opposed to faults of the row, its key or its form. */
const CELL_FAULTS: ReadonlySet<IssueCode> = new Set([
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
const STATED_LIMITS: ReadonlySet<IssueCode> = new Set(['too_long', 'wrong_length', 'out_of_range']);

export function isCellFault({ code, column }: Issue): boolean {
  return column !== undefined && CELL_FAULTS.has(code);
}

/** Whether all that a row sets is its id and the name by which the record is known. */
export function repeatsName(set: Fields, name: string | undefined): boolean {
  return (
    name !== undefined && Object.keys(set).every((field) => field === 'id' || (field === 'name' && set[field] === name))
  );
}

/**
 * What a row repeats of the record it meets is no change, whatever the rules say about writing it: a record may hold
 * values that nobody could import today, and a file exported from it has them in its cells. Contract, section 5
 * (`unchanged`).
 *
 * Takes what repeats the record out of a row's faults, and gives values the record's own form where a cell shows just
 * that. `carried`: faults of values that the record holds and that the interface does not accept in a body; they count where
 * the row changes something else, because a PUT carries the whole record. `specOf`: tells whether a value that the record holds keeps the stated limits, where the cell does not.
 */
export function withoutRepeats(
  row: ResolvedRow,
  current: MergeBase,
  { columnOf, specOf }: Pick<MergeOptions, 'columnOf' | 'specOf'>,
): { readonly row: ResolvedRow; readonly carried: readonly Issue[] } {
  const { read, base } = current;
  const faulty = row.issues.some((issue) => issue.severity === 'error');
  const lineEndFields = Object.keys(row.set).filter((field) =>
    recordValues(field, current).some((value) => differsInLineEnds(row.set[field], value)),
  );
  if (!row.cells && !row.escaped && !faulty && read.losses.length === 0 && lineEndFields.length === 0)
    return { row, carried: [] };

  const set: Record<string, Value> = { ...row.set };
  const takeStored = (field: string) => {
    const value = base[field];
    if (value === undefined) delete set[field];
    else set[field] = value;
  };
  for (const field of lineEndFields) takeStored(field);
  for (const [field, cell] of [...Object.entries(row.cells ?? {}), ...Object.entries(row.escaped ?? {})]) {
    if (recordTexts(field, current).includes(cell) && mayRepeat(field, set, base)) takeStored(field);
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
      issue.severity === 'error' && isCellFault(issue)
        ? fields.find((one) => columnOf(one) === issue.column)
        : undefined;
    const value = field === undefined ? undefined : set[field];
    if (field === undefined || !mayRepeat(field, set, base)) issues.push(issue);
    else if (value === undefined) {
      if (!recordTexts(field, current).some((text) => sameText(text, issue.value ?? ''))) issues.push(issue);
    } else if (!recordValues(field, current).some((one) => sameValue(value, one))) issues.push(issue);
    else if (!(field in base)) delete set[field];
    else if (STATED_LIMITS.has(issue.code)) {
      // The cell may lack blanks that the record's value has: the limit is one of the value.
      const spec = specOf(field);
      const wrong = spec === undefined ? issue : checkValue(spec, value);
      if (wrong && STATED_LIMITS.has(wrong.code)) carried.push({ ...issue, code: wrong.code, message: wrong.message });
    }
  }
  return { row: { ...row, set, issues }, carried };
}

/** Spreadsheet programs keep line feeds only: a line end that the service has with a carriage return comes back without. */
function differsInLineEnds(value: Value | undefined, current: Value | undefined): boolean {
  if (typeof value !== 'string' || typeof current !== 'string' || value === current || !current.includes('\r'))
    return false;
  return withLineFeeds(trimText(value)) === withLineFeeds(trimText(current));
}

/** Spreadsheet programs keep line feeds only. */
const withLineFeeds = (text: string) => text.replace(/\r\n?/g, '\n');

/** A subcategory is the same only under the same category. */
function mayRepeat(field: string, set: Fields, base: Fields): boolean {
  const category = 'category.name';
  return field !== 'category.subcategory' || !(category in set) || sameValue(set[category], base[category]);
}

/** What the record holds in a field: as read, or of a form row that no request can carry. */
export function recordValues(field: string, { read, base }: MergeBase): Value[] {
  const lost = read.losses.flatMap((loss) => (loss.field === field && loss.value !== undefined ? [loss.value] : []));
  return field in base ? [base[field] ?? null, ...lost] : lost;
}

/** The texts under which a file shows what the record holds in a field. */
export function recordTexts(field: string, { read, base }: MergeBase): string[] {
  const texts = read.losses.flatMap((loss) => (loss.field === field ? [loss.text] : []));
  const value = base[field];
  if (isRef(value)) texts.push(...(value.name === undefined ? [] : [value.name]), String(value.id), `id:${value.id}`);
  else if (value !== undefined && value !== null) texts.push(valueText(value));
  return texts;
}

/** As cells are read: without outer blanks; half of a surrogate pair becomes U+FFFD. */
export function sameText(a: string, b: string): boolean {
  return cellForm(a) === cellForm(b);
}

function cellForm(text: string): string {
  return trimText(text).replace(/\p{Surrogate}/gu, '\ufffd');
}

/** What is known of a record that an export wrote. */
export interface ExportedRecord {
  /** What stood in the file, in the order of its fields. */
  readonly texts: readonly string[];
  /** What the record held when an import last set a field or told of its conflict. */
  readonly held: Fields;
  /** What an import last sent. */
  readonly sent: Fields;
}

/** A text is cut where a cell of a workbook ends; a pair of surrogates is not parted. */
const MAX_CELL_TEXT = 32_766;

/** A mapped column that the export wrote. */
interface ExportedColumn {
  readonly field: string;
  readonly heading: string;
  /** Position in the file. */
  readonly index: number;
  /** Position in the texts. */
  readonly at: number;
  readonly isText: boolean;
}

/**
 * Compares the cells of a file with what an export wrote into them. A cell that means the same is no change: its field is
 * not set, so that what somebody else has written meanwhile stays. Keys, constants, and values that the job gives to blank
 * cells stay as they are, and a cell that an import has set counts from then on. `fields`: what the export wrote, as its job
 * file names it. `warn` is told of a column as often as a cell of it has lost zeros, a plus sign or digits.
 */
export function keepEdits(
  input: MappingInput,
  mapping: Mapping,
  fields: readonly string[],
  warn: (text: string) => void,
) {
  const { job, meta, spec, catalogue } = input;
  const positions = new Map<string, number>();
  for (const [at, name] of fields.entries()) {
    const found = findTarget(name, job, spec, catalogue);
    if (!('problem' in found)) positions.set(found.field, at);
  }
  const headings = indexHeadings(meta.headings);
  const columns = mapping.columns.flatMap(({ field, heading, spec: { type } }): ExportedColumn[] => {
    const at = positions.get(field);
    if (at === undefined || mapping.key.includes(field)) return [];
    const isText = type.kind === 'text' || type.kind === 'email';
    return [{ field, heading, index: headings.positions(heading)[0] ?? -1, at, isText }];
  });
  const exportMapping = compileMapping({ ...input, job: asExported(job) });
  const width = meta.headings.length;

  function exportedRow(row: number, texts: readonly string[]): StagedRow {
    const cells: Cell[] = new Array<Cell>(width).fill('');
    for (const { index, at } of columns) cells[index] = texts[at] ?? '';
    return exportMapping.mapRow({ row, cells });
  }

  /** Leaves of a staged row what a person changed, with what the export wrote there. */
  return (row: SheetRow, staged: StagedRow, { texts, held, sent }: ExportedRecord): StagedRow => {
    const same = new Map<string, ExportedColumn>();
    let exported: StagedRow | undefined;
    for (const column of columns) {
      const cell = row.cells[column.index] ?? '';
      const text = texts[column.at] ?? '';
      if (column.field in sent) continue;
      if (typeof cell === 'string' && trimText(cell) === '') {
        // What a blank cell sets is the job's own word, but for "no value", which the export wrote, too.
        if (staged.set[column.field] === null && trimText(text) === '') same.set(column.field, column);
        continue;
      }
      if (trimText(text) === '') continue;
      if (isSavedForm(cell, text, meta.format)) warn(lostFormText(column.heading));
      else if (cell !== text && !isCut(cell, text)) {
        exported ??= exportedRow(row.row, texts);
        if (!isSame(column, staged, exported)) continue;
      }
      same.set(column.field, column);
    }
    keepPairs(staged, same);
    const edited: Record<string, ExportedCell> = {};
    for (const { field, index, at } of columns) {
      const text = texts[at];
      if (staged.set[field] === undefined || same.has(field) || text === undefined) continue;
      // What the job gives to a cell that was always blank is nobody's edit.
      if (!(field in sent) && trimText(text) === '' && trimText(String(row.cells[index] ?? '')) === '') continue;
      exported ??= exportedRow(row.row, texts);
      const value = exported.cells?.[field] ?? exported.set[field];
      edited[field] = {
        text,
        ...(value === undefined ? {} : { value }),
        ...(field in held ? { held: held[field] } : {}),
        ...(field in sent ? { sent: sent[field] } : {}),
      };
    }
    const kept = same.size === 0 ? staged : withoutFields(staged, same);
    return Object.keys(edited).length === 0 ? kept : { ...kept, edited };
  };
}

/**
 * Fields of which a person changed the cell and somebody else the record since the export, each to another value: which of
 * them stands, only people can say. What reads do not show cannot be compared. Contract, section 5 (`conflict`).
 */
export function editConflicts(
  edited: ResolvedRow['edited'],
  changes: readonly FieldDiff[],
  current: MergeBase,
  options: MergeOptions,
): Issue[] {
  if (!edited) return [];
  return changes.flatMap((change) => {
    const { field } = change;
    const exported = edited[field];
    if (!exported || !isReadable(field, current.read.fields[field], options) || stillHolds(field, exported, current))
      return [];
    const before =
      exported.sent === undefined
        ? `since the file was exported: it was "${exported.text}" then`
        : `since the file was imported: it was exported as "${exported.text}" and sent as "${valueText(exported.sent)}"`;
    return fault(
      'changed_meanwhile',
      `Somebody else changed ${field} ${before}, the record now has "${valueText(change.old)}", and the row sets "${valueText(change.new)}". Nothing was sent. Write the value of the record into the cell to leave it, or import the row once more to replace it.`,
      { field, value: valueText(change.new) },
    );
  });
}

/** What an import is to remember of a row that it sends, or tells to be in conflict. */
export function editsOf({ edited = {}, set }: ResolvedRow, change: Change): Pick<ExportedRecord, 'held' | 'sent'> {
  const diff = 'diff' in change ? change.diff : undefined;
  const changes = new Map(changesOf(diff ?? []).map((one) => [one.field, one]));
  const held: Record<string, Value> = {};
  const sent: Record<string, Value> = {};
  for (const field of Object.keys(edited)) {
    const value = set[field];
    if (value === undefined) continue;
    held[field] = (changes.get(field) ?? { old: value }).old;
    if (change.kind === 'update') sent[field] = value;
  }
  return { held, sent };
}

function stillHolds(field: string, { text, value, ...later }: ExportedCell, current: MergeBase): boolean {
  const now = recordValues(field, current);
  if (later.held !== undefined) {
    const values: (Value | undefined)[] = [...(now.length === 0 ? [null] : now), ...recordTexts(field, current)];
    // A service may tidy up what was sent; a text that was cut may be somebody's own.
    const matchesLeft = (was: Value | undefined) =>
      was !== undefined &&
      values.some(
        (one) => equalsStored(was, one) || (isNormalisedForm(was, one, undefined) && !isCutByService(was, one)),
      );
    return matchesLeft(later.held) || matchesLeft(later.sent);
  }
  // A record that never had a yes-or-no has none.
  if (value === undefined ? trimText(text) === '' : !isNamedRef(value) && (isEmpty(value) || value === false))
    return now.every((one) => isEmpty(one) || one === false);
  if (recordTexts(field, current).some((one) => sameText(one, text))) return true;
  return value !== undefined && now.some((one) => sameMeaning(unifyLines(one), unifyLines(value)));
}

/** The job for the texts of the export: they are written in one form, however the file was saved since. */
function asExported(job: RowsJob): RowsJob {
  const columns = Object.entries(job.columns).map(([heading, target]): [string, typeof target] => {
    const plain = targetsOf(target).map(({ dates: _dates, decimal: _decimal, required: _required, ...rest }) => rest);
    return [heading, target === null ? null : plain];
  });
  const source = { ...job.source, dates: ['yyyy-MM-dd'], decimal: '.' as const };
  return { ...job, source, columns: Object.fromEntries(columns) } as RowsJob;
}

function isCut(cell: Cell, text: string): boolean {
  return typeof cell === 'string' && cell.length >= MAX_CELL_TEXT && text.startsWith(cell);
}

const lostFormText = (heading: string): string =>
  `"${excerpt(heading)}": cells have lost the zeros, the plus sign, the exponent or the digits behind the 15th with which they were exported, such as 00123, which a spreadsheet program saves as 123: they count as not changed. Where that is a change, make it in an export as XLSX, as text.`;

function isSame({ field, heading, isText }: ExportedColumn, staged: StagedRow, exported: StagedRow): boolean {
  const now = staged.set[field];
  const then = exported.set[field];
  if (now === undefined || then === undefined) {
    const fault = now === then ? faultOf(staged, heading) : undefined;
    const before = fault && faultOf(exported, heading);
    return before !== undefined && before.code === fault?.code && before.value === fault.value;
  }
  if (!isText) return sameMeaning(now, then);
  // Outer blanks are part of a text that a record holds.
  return unifyLines(staged.cells?.[field] ?? now) === unifyLines(exported.cells?.[field] ?? then);
}

function faultOf(row: StagedRow, heading: string) {
  return row.issues.find((issue) => isCellFault(issue) && issue.column === heading);
}

function sameMeaning(a: StagedValue, b: StagedValue): boolean {
  if (isNamedRef(a) || isNamedRef(b))
    return isNamedRef(a) && isNamedRef(b) && normaliseKey(a.name) === normaliseKey(b.name);
  return sameValue(a, b);
}

const unifyLines = <V extends StagedValue>(value: V): V | string =>
  typeof value === 'string' ? withLineFeeds(value) : value;

const PAIRS = [['category.name', 'category.subcategory'], ...PARTNERS] as const;

/** A subcategory means something under its category alone: where one of a pair is changed, both are set. */
function keepPairs({ set }: StagedRow, same: Map<string, ExportedColumn>): void {
  for (const pair of PAIRS) {
    if (pair.every((field) => set[field] === undefined || same.has(field))) continue;
    for (const field of pair) same.delete(field);
  }
}

function withoutFields(staged: StagedRow, same: ReadonlyMap<string, ExportedColumn>): StagedRow {
  const { cells, ...row } = staged;
  const headings = new Set([...same.values()].map(({ heading }) => heading));
  const isKept = ([field]: [string, unknown]) => !same.has(field);
  const kept = Object.entries(cells ?? {}).filter(isKept);
  return {
    ...row,
    set: Object.fromEntries(Object.entries(staged.set).filter(isKept)),
    issues: staged.issues.filter((issue) => !isCellFault(issue) || !headings.has(issue.column ?? '')),
    ...(kept.length > 0 ? { cells: Object.fromEntries(kept) } : {}),
  };
}
