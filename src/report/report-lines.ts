import { csvCell } from '../files/csv/write.js';
import type { DiffText } from '../model/change.js';
import { visible } from '../model/control-characters.js';
import type { Issue } from '../model/issue.js';
import { GOOD_OUTCOMES, type Outcome } from '../model/outcome.js';
import type { OrphanLine } from '../model/reconcile.js';
import type { Difference } from './reconcile/compare.js';
import type { NewRecord, RunKind } from './summary.js';
import { changesText, outcomeWords } from './wording.js';

/** The lines of the CSV reports as cells; contract, section 6. Columns are never renamed or moved. */

export const RESULT_COLUMNS = ['row', 'outcome', 'key', 'id', 'changed_fields', 'codes', 'message'] as const;
export const FAULT_COLUMNS = ['row', 'column', 'field', 'value', 'code', 'message', 'origin'] as const;
export const PLAN_COLUMNS = ['row', 'id', 'field', 'old', 'new', 'kind'] as const;
export const DIFFERENCE_COLUMNS = [
  'row',
  'key',
  'id',
  'field',
  'column',
  'service',
  'file',
  'stands',
  'action',
  'outcome',
] as const;
export const ORPHAN_COLUMNS = [
  'id',
  'key',
  'name',
  'since',
  'absences',
  'state',
  'why',
  'outcome',
  'codes',
  'message',
  'changes',
] as const;
export const REFERENCE_COLUMNS = ['resource', 'name', 'outcome', 'id', 'rows', 'row', 'message'] as const;
/** Stand behind the original columns of rejected.*; a re-import ignores them. */
export const REJECTED_COLUMNS = ['_row', '_outcome', '_codes', '_message'] as const;

/** A line whose columns are the members of what it tells of. */
function csvCells<Column extends string>(
  columns: readonly Column[],
  values: Readonly<Partial<Record<Column, string | number | undefined>>>,
): string[] {
  return columns.map((column) => String(values[column] ?? ''));
}

const LIST_SEPARATOR = '; ';

/** A cell of the CSV reports: a control character is shown, and nothing is run. */
const cellText = csvCell({ visible: true });

/** A line of them, RFC 4180. */
export const csvLine = (cells: readonly string[]): string => `${cells.map(cellText).join(',')}\r\n`;

/**
 * What needs a person: the row's errors. A row that needs one and carries warnings only is explained by them.
 * Warnings of rows that ended well stand in results.csv alone.
 */
export function faultsOf(outcome: Outcome): readonly Issue[] {
  const errors = outcome.issues.filter((issue) => issue.severity === 'error');
  return errors.length || GOOD_OUTCOMES.has(outcome.kind) ? errors : outcome.issues;
}

export function resultLine(outcome: Outcome): string[] {
  return [
    String(outcome.ref.row),
    outcome.kind,
    outcome.key,
    outcome.id === undefined ? '' : String(outcome.id),
    outcome.changed.join(LIST_SEPARATOR),
    codes(outcome.issues),
    outcome.issues.map(issueSentence).join(LIST_SEPARATOR),
  ];
}

export function faultLines(outcome: Outcome): string[][] {
  return faultsOf(outcome).map((issue) => csvCells(FAULT_COLUMNS, { row: outcome.ref.row, ...issue }));
}

/** The lines of a row in plan.csv, as text: there may be millions. What is `kept` is no change: differences.csv has it. */
export function planLines({ ref, id }: Pick<Outcome, 'ref' | 'id'>, diff: readonly DiffText[]): string {
  const record = `${ref.row},${id ?? ''},`;
  let lines = '';
  for (const { field, old, new: now, kind } of diff) {
    if (kind !== 'kept') lines += `${record}${cellText(field)},${cellText(old)},${cellText(now)},${kind}\r\n`;
  }
  return lines;
}

export function differenceLine(one: Difference): string[] {
  return csvCells(DIFFERENCE_COLUMNS, one);
}

/** A line of orphans.csv. */
export function orphanLine(orphan: OrphanLine): string[] {
  return csvCells(ORPHAN_COLUMNS, { ...orphan, codes: orphan.codes?.join('; '), changes: changesText(orphan) });
}

export function referenceLine(resource: string, record: NewRecord): string[] {
  return csvCells(REFERENCE_COLUMNS, { resource, ...record });
}

export function rejectedLine(outcome: Outcome): string[] {
  const faults = faultsOf(outcome);
  const message = faults.map(issueSentence).join(LIST_SEPARATOR);
  return [String(outcome.ref.row), outcome.kind, codes(faults), visible(message || outcomeSentence(outcome))];
}

/** The message with the column before it, unless it names the column itself. */
export function issueSentence({ column, message }: Issue): string {
  const isNamed = !column || message.startsWith(column) || message.includes(`"${column}"`);
  return isNamed ? message : `${column}: ${message}`;
}

/** What to say of a row that carries no issue. */
export function outcomeSentence(outcome: Outcome, run?: RunKind): string {
  const { meaning, next } = outcomeWords(outcome.kind, false, run);
  return next ? `${meaning} ${next}` : meaning;
}

function codes(issues: readonly Issue[]): string {
  return [...new Set(issues.map((issue) => issue.code))].join(LIST_SEPARATOR);
}
