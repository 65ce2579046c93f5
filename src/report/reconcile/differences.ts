import type { OutcomeKind } from '../../model/outcome.js';
import type { RowResult } from '../outcome-index.js';
import type { ReconcileInput } from './input.js';

/** One field in which a row and its record differ; a line of differences.csv. */
export interface Difference {
  readonly row: number;
  readonly key: string;
  readonly id?: number;
  readonly field: string;
  /** Its heading in the file, where a column sets it. */
  readonly column?: string;
  /** The service's value when the row was planned, and the file's, as texts. */
  readonly service: string;
  readonly file: string;
  /** Whose value stands by the job's own word (`compare.authority`). */
  readonly stands: 'file' | 'service';
  /** `kept`: the service's value stands. Whether `set` and `clear` were carried out says the outcome of the row. */
  readonly action: 'set' | 'clear' | 'kept';
  readonly outcome: OutcomeKind;
}

/** The fields in which a row differs. A new record differs from nothing. */
export function differencesOf(
  { outcome, diff }: RowResult,
  columnOf: ReconcileInput['columnOf'],
): readonly Difference[] {
  if (diff.length === 0 || outcome.kind === 'created') return [];
  return diff.flatMap(({ field, old, new: value, kind }): Difference[] => {
    if (kind === 'preserved' || kind === 'at_risk') return [];
    const column = columnOf(field);
    return [
      {
        row: outcome.ref.row,
        key: outcome.key,
        ...(outcome.id === undefined ? {} : { id: outcome.id }),
        field,
        ...(column === undefined ? {} : { column }),
        service: old,
        file: value,
        stands: kind === 'kept' ? 'service' : 'file',
        action: kind,
        outcome: outcome.kind,
      },
    ];
  });
}

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

export function differenceLine(one: Difference): string[] {
  return [
    String(one.row),
    one.key,
    one.id === undefined ? '' : String(one.id),
    one.field,
    one.column ?? '',
    one.service,
    one.file,
    one.stands,
    one.action,
    one.outcome,
  ];
}
