import type { Issue } from './issue.js';
import type { OutcomeKind } from './outcome.js';
import type { RowRef } from './row.js';
import type { Fields, Value } from './value.js';

/**
 * One field of an update, old → new. `preserved`: carried over unchanged; `at_risk`: would be destroyed; `kept`: the file has
 * another value (`new`), and the service's stands by the job's own word (`compare.authority`).
 */
export interface FieldDiff {
  readonly field: string;
  readonly old: Value;
  readonly new: Value;
  readonly kind: 'set' | 'clear' | 'preserved' | 'at_risk' | 'kept';
}

/** A field's change as text, old → new, as reports show it. */
export interface DiffText extends Omit<FieldDiff, 'old' | 'new'> {
  readonly old: string;
  readonly new: string;
}

/** How warnings say that a column's texts were shortened, as its job says. */
export const TEXT_CUT_PHRASE = 'characters, and cut';

/** How warnings name a risk that no row carries: reads do not show everything that an update replaces. */
export const UNSEEN_LOSS_PHRASE = 'values that somebody else put there are lost when a record is updated';

/** A row of the file that must be written before the row that refers to it; its id is put in when it is known. */
export interface ParentRow {
  readonly field: string;
  readonly row: number;
  /** Heading of the cell that names it. */
  readonly column?: string | undefined;
  /** What the record of an update held. */
  readonly old?: Value;
}

/** What the plan decided for one row. Only `create` and `update` lead to a request. */
export type Change = {
  readonly ref: RowRef;
  /** The natural key as text; '' where the row has none. */
  readonly key: string;
  readonly issues: readonly Issue[];
} & (
  | {
      readonly kind: 'create';
      /** The whole record in canonical form; the body is made from it when it is sent. */
      readonly fields: Fields;
      readonly after?: ParentRow;
    }
  | {
      readonly kind: 'update';
      readonly id: number;
      /** What the row sets; null clears. */
      readonly set: Fields;
      readonly diff: readonly FieldDiff[];
      /** The record as it was read, in the service's own JSON, and when (milliseconds since 1970). */
      readonly base: { readonly record: unknown; readonly readAt: number };
      readonly after?: ParentRow;
    }
  /** `diff`: what is `kept`. */
  | { readonly kind: 'unchanged'; readonly id: number; readonly diff?: readonly FieldDiff[] }
  | {
      readonly kind: 'settled';
      readonly outcome: OutcomeKind;
      readonly id?: number;
      readonly diff?: readonly FieldDiff[];
    }
);
