import { excerpt } from '../pipeline/nearest.js';
import type { ExportRecord } from './column.js';

/** The query of a list. */
export type Query = Readonly<Record<string, string>>;

/** One condition of a filter. */
export interface Condition {
  /** `manufacturer = Dell or HP`. */
  readonly described: string;
  keeps(record: ExportRecord): boolean;
  /** How the service is asked for the same; absent: it has no filter for it. */
  readonly ask?: Ask;
  /** Why it is not asked, although it has a filter. */
  readonly unasked?: string;
  /** Member of the read form that it looks at. */
  readonly member: string;
  /** The records do not show the member, so that the service's word is all there is. */
  readonly unseen?: true;
  /** A name that only the records can tell of: `checkUnlisted`. */
  readonly unlisted?: string;
  /** Only records with these ids can fit. */
  readonly ids?: readonly number[];
}

export interface Ask {
  readonly query: Query;
  /** Member of a record that the service compares, for a positive control; absent: columns of custom forms. */
  readonly field?: string;
}

/** A condition that cannot be made, in a sentence. */
export interface Problem {
  readonly problem: string;
}

/** A condition in words. */
export function describe(key: string, values: readonly string[]): string {
  const texts = [...new Set(values)].map((value) => (value.trim() === '' ? 'blank' : excerpt(value)));
  return texts.length === 1 && texts[0] === 'blank' ? `${key} is blank` : `${key} = ${texts.join(' or ')}`;
}
