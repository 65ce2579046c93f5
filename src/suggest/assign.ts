import { customFieldName } from '../model/job.js';
import { foldText, isOwnHeading } from '../pipeline/headings.js';
import type { FieldSpec, ResourceSpec } from '../resources/spec.js';
import type { Column, FileFacts, Fit } from './column.js';
import { fitOf } from './fit.js';
import { type Candidate, candidates } from './heading.js';
import { partnersOf } from './partners.js';

/** A guess at or above this is certain enough to need no second look. */
export const HIGH = 0.88;
/** A guess below this is never mapped. */
export const LIKELY = 0.7;
/** Values of fewer candidates than these are looked at. */
const JUDGED = 4;

/** A field for a column: what the heading says, lowered by what the values say. */
export interface Guess extends Candidate {
  readonly fit: Fit;
  readonly final: number;
}

export interface Assigned {
  readonly column: Column;
  /** All guesses, the best first. */
  readonly guesses: readonly Guess[];
  readonly mapped: Guess | undefined;
  /** A custom field that the heading names in full, as an export writes it. */
  readonly custom: string | undefined;
  /** The field this column means most, where another heading has it. */
  readonly lostTo: { readonly field: string; readonly heading: string } | undefined;
  /** A field without which the service refuses the best guess, and which no column gives. */
  readonly lacks: string | undefined;
  /** Why no job can name the column; '' where one can. */
  readonly barred: string;
}

/** Gives every field to the column that means it best. Each field and each column is used once. */
export function assign(spec: ResourceSpec, columns: readonly Column[], file: FileFacts): Assigned[] {
  const barred = barredHeadings(columns);
  const custom = customColumns(spec, columns, barred);
  const guesses = columns.map((column, at) =>
    barred[at] !== '' || custom[at] !== undefined ? [] : guessesFor(spec, column, file),
  );
  const open = guesses
    .flatMap((list, at) => list.filter(isMappable).map((guess) => ({ at, guess })))
    .sort((a, b) => b.guess.final - a.guess.final || a.at - b.at);
  const owner = new Map<FieldSpec, number>();
  const mapped = new Map<number, Guess>();
  for (const { at, guess } of open) {
    if (owner.has(guess.field) || mapped.has(at)) continue;
    owner.set(guess.field, at);
    mapped.set(at, guess);
  }
  const alone = dropLonely(spec, mapped);
  return columns.map((column, at) => {
    const best = guesses[at]!.find(isMappable);
    const by = best && mapped.get(at) === undefined && !alone.has(at) ? owner.get(best.field) : undefined;
    return {
      column,
      guesses: guesses[at]!,
      mapped: mapped.get(at),
      custom: custom[at],
      lostTo: by === undefined ? undefined : { field: best!.field.name, heading: columns[by]!.profile.heading },
      barred: barred[at]!,
      lacks: alone.get(at),
    };
  });
}

/** Takes out what the service refuses without a partner that no column gives: field → that partner. */
function dropLonely(spec: ResourceSpec, mapped: Map<number, Guess>): ReadonlyMap<number, string> {
  const given = new Set([...mapped.values()].map(({ field }) => field.name));
  const alone = new Map<number, string>();
  for (const [at, { field }] of mapped) {
    const partner = partnersOf(spec, field.name).find((name) => !given.has(name));
    if (partner !== undefined) alone.set(at, partner);
  }
  for (const at of alone.keys()) mapped.delete(at);
  return alone;
}

/** A name that the service does not know makes the row invalid, so references need a heading that is certain. */
function isMappable({ final, field }: Guess): boolean {
  return final >= (field.type.kind === 'reference' ? HIGH : LIKELY);
}

function guessesFor(spec: ResourceSpec, column: Column, file: FileFacts): Guess[] {
  return candidates(spec, column.profile.heading)
    .map((candidate, at): Guess => {
      const fit = at < JUDGED || candidate.score >= LIKELY ? fitOf(column, candidate.field, file) : UNJUDGED;
      return { ...candidate, fit, final: candidate.score * fit.factor };
    })
    .sort((a, b) => b.final - a.final);
}

const UNJUDGED: Fit = { factor: 1, evidence: [], remarks: [] };

function barredHeadings(columns: readonly Column[]): string[] {
  const seen = new Map<string, number>();
  for (const { profile } of columns) {
    const folded = foldText(profile.heading);
    seen.set(folded, (seen.get(folded) ?? 0) + 1);
  }
  return columns.map(({ profile }) => {
    const folded = foldText(profile.heading);
    const times = seen.get(folded) ?? 0;
    if (folded === '') return 'the column has no heading';
    if (isOwnHeading(profile.heading)) return 'headings that begin with _ are never imported';
    if (times > 1) return `${times} columns have this heading; rename them in the file to map one`;
    return '';
  });
}

/** Headings such as `template.Finance.Cost Centre`. A record holds the values of one template, so the first one wins. */
function customColumns(
  spec: ResourceSpec,
  columns: readonly Column[],
  barred: readonly string[],
): (string | undefined)[] {
  let template: string | undefined;
  return columns.map(({ profile }, at) => {
    const name = barred[at] === '' ? customFieldName(profile.heading) : undefined;
    const owner = name?.cuts[0]?.owner;
    if (!name || owner === undefined || (name.kind === 'form' && !spec.form)) return undefined;
    if (name.kind === 'template') {
      template ??= foldText(owner);
      if (template !== foldText(owner)) return undefined;
    }
    return profile.heading.replace(/\s+/gu, ' ').trim();
  });
}
