import type { SheetRow } from '../model/row.js';
import type { SourceFormat } from '../model/source.js';
import type { DecimalSurvey } from '../pipeline/decimal-sign.js';
import { excerpt } from '../pipeline/nearest.js';
import type { ChoiceFinding } from './choices.js';
import type { DateFinding } from './dates.js';
import type { ColumnProfile } from './profile.js';
import type { SampledCell, SampledColumn } from './shapes.js';
import { type Words, wordsOf } from './words.js';

/** A column with everything that is known about it. */
export interface Column {
  readonly profile: ColumnProfile;
  readonly sampled: SampledColumn;
  readonly words: Words;
}

export interface FileFacts {
  readonly sample: readonly SheetRow[];
  readonly whole: boolean;
  readonly format: SourceFormat;
}

/** How the values of a column go with a field that its heading may mean. Values lower a guess, they never raise one. */
export interface Fit {
  /** Multiplies what the heading says: 1 fits, below 0.7 the column is not mapped. */
  readonly factor: number;
  readonly evidence: readonly string[];
  /** What a person should know although the column is mapped. */
  readonly remarks: readonly string[];
  /** Why the values forbid the field. */
  readonly against?: string;
  /** Cells looked at that cannot be read without loss. */
  readonly unreadable?: number;
  readonly dates?: DateFinding;
  readonly choices?: ChoiceFinding;
  readonly decimal?: DecimalSurvey;
}

/** 1 where all fit; falls faster than the share, because a column of the right kind has few exceptions. */
function factorOf(share: number): number {
  if (share >= 0.98) return 1;
  if (share >= 0.9) return 0.97;
  return share >= 0.5 ? 0.85 : share > 0 ? 0.6 : 0.45;
}

export interface Tally {
  readonly fits: number;
  readonly misfit: SampledCell | undefined;
}

export function tally(sampled: SampledColumn, test: (one: SampledCell) => boolean): Tally {
  let fits = 0;
  let misfit: SampledCell | undefined;
  for (const one of sampled.cells) {
    if (test(one)) fits++;
    else misfit ??= one;
  }
  return { fits, misfit };
}

export function judged({ sampled }: Column, { fits, misfit }: Tally, what: string, more: Partial<Fit> = {}): Fit {
  const total = sampled.cells.length;
  const share = fits / total;
  const example = misfit ? `, not "${excerpt(misfit.text)}" (row ${misfit.row})` : '';
  const said = `${number(fits)} of ${number(total)} values ${what}${example}`;
  return {
    factor: factorOf(share),
    remarks: [],
    ...more,
    evidence: [said, ...(more.evidence ?? [])],
    ...(share < 0.5
      ? { against: `only ${said}`.replace('only 0 of', 'none of').replace(/, not "/, ', such as "') }
      : {}),
  };
}

export function number(count: number): string {
  return count.toLocaleString('en-US');
}

/** `1 row`, `2 rows` */
export function counted(count: number, noun: string): string {
  return `${number(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** The words of a heading, once a column. */
export function columnOf(profile: ColumnProfile, sampled: SampledColumn): Column {
  return { profile, sampled, words: wordsOf(profile.heading) };
}
