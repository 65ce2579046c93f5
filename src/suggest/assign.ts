import { customFieldName } from '../model/job.js';
import { foldText } from '../model/value.js';
import { isOwnHeading } from '../pipeline/map/headings.js';
import { checkRecord } from '../resources/rules.js';
import type { FieldSpec, ResourceSpec } from '../resources/spec.js';
import { type Fit, fitOf } from './fit.js';
import { type Candidate, candidates } from './heading.js';
import type { Column, FileProfile } from './profile.js';

/** A guess at or above this is certain enough to need no second look. */
export const HIGH = 0.88;
/** A guess below this is never mapped. */
const LIKELY = 0.7;

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
  /** The heading that has the field this column means most. */
  readonly lostTo: string | undefined;
  /** A field without which the service refuses the best guess, and which no column gives. */
  readonly lacks: string | undefined;
  /** Why no job can name the column; '' where one can. */
  readonly barred: string;
}

/** Gives every field to the column that means it best. Each field and each column is used once. */
export function assign(spec: ResourceSpec, file: FileProfile): Assigned[] {
  const { columns } = file;
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
      lostTo: by === undefined ? undefined : columns[by]!.heading,
      barred: barred[at]!,
      lacks: alone.get(at),
    };
  });
}

/**
 * Takes out what the service refuses without a partner that no column gives (a contact's name and e-mail address, a
 * subcategory's category): the position of the column → that partner.
 */
function dropLonely(spec: ResourceSpec, mapped: Map<number, Guess>): ReadonlyMap<number, string> {
  const given = new Set([...mapped.values()].map(({ field }) => field.name));
  const alone = new Map<number, string>();
  for (const [at, { field }] of mapped) {
    // Whether a partner is needed does not depend on the value: any text will do.
    const lacking = checkRecord(spec, { [field.name]: 'x' }, 'create').find(
      ({ code, field: partner }) => code === 'pair_incomplete' && partner !== undefined && !given.has(partner),
    );
    if (lacking) alone.set(at, lacking.field!);
  }
  for (const at of alone.keys()) mapped.delete(at);
  return alone;
}

/** A name that the service does not know makes the row invalid, so references need a heading that is certain. */
function isMappable({ final, field }: Guess): boolean {
  return final >= (field.type.kind === 'reference' ? HIGH : LIKELY);
}

function guessesFor(spec: ResourceSpec, column: Column, file: FileProfile): Guess[] {
  return candidates(spec, column.heading)
    .map((candidate): Guess => {
      const fit = fitOf(column, candidate.field, file);
      return { ...candidate, fit, final: candidate.score * fit.factor };
    })
    .sort((a, b) => b.final - a.final);
}

function barredHeadings(columns: readonly Column[]): string[] {
  const seen = new Map<string, number>();
  const folded = columns.map(({ heading }) => foldText(heading));
  for (const heading of folded) seen.set(heading, (seen.get(heading) ?? 0) + 1);
  return folded.map((heading) => {
    if (heading === '') return 'the column has no heading';
    if (isOwnHeading(heading)) return 'headings that begin with _ are never imported';
    const times = seen.get(heading)!;
    return times > 1 ? `${times} columns have this heading; rename them in the file to map one` : '';
  });
}

/** Headings such as `template.Finance.Cost Centre`. A record holds the values of one template, so the first one wins. */
function customColumns(
  spec: ResourceSpec,
  columns: readonly Column[],
  barred: readonly string[],
): (string | undefined)[] {
  let template: string | undefined;
  return columns.map(({ heading }, at) => {
    const name = barred[at] === '' ? customFieldName(heading) : undefined;
    const owner = name?.cuts[0]?.owner;
    if (!name || owner === undefined || (name.kind === 'form' && !spec.form)) return undefined;
    if (name.kind === 'template') {
      template ??= foldText(owner);
      if (template !== foldText(owner)) return undefined;
    }
    return heading.replace(/\s+/gu, ' ').trim();
  });
}
