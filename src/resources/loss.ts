import type { Value } from '../model/value.js';

/** A value that a record holds and that has no canonical form, so that no write can carry it. */
export interface Loss {
  /** As job files name it. */
  readonly field: string;
  /** The value as people see it. */
  readonly text: string;
  /** Completes "… cannot be carried over: ". */
  readonly why: string;
  /** The value itself, where it can be read: only writing it is impossible, so that a row can repeat it but not change it. */
  readonly value?: Value;
}
