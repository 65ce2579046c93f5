import { csvCell } from '../files/csv/write.js';
import type { DiffText } from '../model/change.js';
import type { Issue } from '../model/issue.js';
import { GOOD_OUTCOMES, type Outcome } from '../model/outcome.js';
import { visible } from '../model/visible.js';
import type { NewRecord, RunKind } from './summary.js';
import { outcomeWords } from './words.js';

/** The lines of the CSV reports as cells; contract, section 6. Columns are never renamed or moved. */

export const RESULT_COLUMNS = ['row', 'outcome', 'key', 'id', 'changed_fields', 'codes', 'message'] as const;
export const FAULT_COLUMNS = ['row', 'column', 'field', 'value', 'code', 'message', 'origin'] as const;
export const PLAN_COLUMNS = ['row', 'id', 'field', 'old', 'new', 'kind'] as const;
export const REFERENCE_COLUMNS = ['resource', 'name', 'outcome', 'id', 'rows', 'row', 'message'] as const;
/** Stand behind the original columns of rejected.*; a re-import ignores them. */
export const REJECTED_COLUMNS = ['_row', '_outcome', '_codes', '_message'] as const;

const LIST = '; ';

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
    outcome.changed.join(LIST),
    codes(outcome.issues),
    outcome.issues.map(sentence).join(LIST),
  ];
}

export function faultLines(outcome: Outcome): string[][] {
  return faultsOf(outcome).map((issue) => [
    String(outcome.ref.row),
    issue.column ?? '',
    issue.field ?? '',
    issue.value ?? '',
    issue.code,
    issue.message,
    issue.origin,
  ]);
}

/** The lines of a row in plan.csv, as they stand there. What is `kept` is no change: differences.csv has it. */
export function planLines({ ref, id }: Pick<Outcome, 'ref' | 'id'>, diff: readonly DiffText[]): string {
  let lines = '';
  for (const { field, old, new: now, kind } of diff) {
    if (kind !== 'kept')
      lines += `${ref.row},${id ?? ''},${cellText(field)},${cellText(old)},${cellText(now)},${kind}\r\n`;
  }
  return lines;
}

export function referenceLine(resource: string, { name, outcome, id, rows, row, message }: NewRecord): string[] {
  return [resource, name, outcome, id === undefined ? '' : String(id), String(rows), String(row), message ?? ''];
}

export function rejectedLine(outcome: Outcome): string[] {
  const faults = faultsOf(outcome);
  const message = faults.map(sentence).join(LIST);
  return [String(outcome.ref.row), outcome.kind, codes(faults), visible(message || outcomeSentence(outcome))];
}

/** The message with the column before it, unless it names the column itself. */
export function sentence(issue: Issue): string {
  return issue.column && !issue.message.includes(issue.column) ? `${issue.column}: ${issue.message}` : issue.message;
}

/** What to say of a row that carries no issue. */
export function outcomeSentence(outcome: Outcome, run?: RunKind): string {
  const { meaning, next } = outcomeWords(outcome.kind, false, run);
  return next ? `${meaning} ${next}` : meaning;
}

function codes(issues: readonly Issue[]): string {
  return [...new Set(issues.map((issue) => issue.code))].join(LIST);
}
