import { isBlank, shownText } from '../model/row.js';
import { normaliseKey } from '../model/value.js';
import type { FieldSpec, ResourceSpec } from '../resources/spec.js';
import type { Assigned } from './assign.js';
import type { FileProfile } from './profile.js';
import type { SuggestedKey } from './suggestion.js';

/** The most columns that are tried together; more make no better key, and the work grows with their third power. */
const MOST_COLUMNS = 8;

/** Texts that describe a record, or say where it is, and do not name it. */
const DESCRIBING = /notes|description|address|street|website|phone|mobile|fax/;

interface Part {
  readonly field: string;
  readonly heading: string;
  readonly index: number;
  readonly leads: boolean;
  readonly distinct: number;
}

/**
 * Two or three mapped columns that together tell the rows apart, where no column does so alone: the fewest, and of these
 * the combination that tells most rows apart. One of them is a field of `leading`, and all are fields that the service
 * shows. Rows that repeat a whole row say nothing and are left aside. Looked for only where every row of the file is in the
 * sample: fewer rows look more different than they are. `enough`: the share of rows that must have a key of their own.
 */
export function combinedKey(
  spec: ResourceSpec,
  assigned: readonly Assigned[],
  file: Pick<FileProfile, 'rows' | 'sample' | 'whole'> & { readonly leading: readonly string[] },
  enough: number,
): SuggestedKey | undefined {
  if (!file.whole || spec.readPath === undefined || file.sample.length < 2) return undefined;
  const parts = partsOf(assigned, file.leading);
  if (!parts.some(({ leads }) => leads)) return undefined;
  const whole = new Set<string>();
  const rows: (readonly string[])[] = [];
  for (const { cells } of file.sample) {
    const texts = cells.map((cell) => (isBlank(cell) ? '' : normaliseKey(shownText(cell))));
    const all = JSON.stringify(texts);
    if (whole.has(all)) continue;
    whole.add(all);
    rows.push(parts.map(({ index }) => texts[index] ?? ''));
  }
  for (const size of [2, 3]) {
    let best: { readonly chosen: readonly number[]; readonly own: number; readonly blank: number } | undefined;
    for (const chosen of combinations(parts.length, size)) {
      if (!chosen.some((at) => parts[at]!.leads)) continue;
      const counts = count(rows, chosen);
      if (!best || counts.own > best.own) best = { chosen, ...counts };
    }
    if (!best || best.own / rows.length < enough) continue;
    const [first, ...also] = best.chosen
      .map((at) => parts[at]!)
      .sort((a, b) => Number(b.leads) - Number(a.leads) || a.index - b.index);
    return {
      field: first!.field,
      heading: first!.heading,
      also: also.map(({ field, heading }) => ({ field, heading })),
      wholeRepeats: file.sample.length - rows.length,
      unreadable: 0,
      usable: best.own,
      blank: best.blank,
      repeats: rows.length - best.own - best.blank,
      counted: rows.length - best.blank,
      fits: true,
      natural: true,
      uniqueField: undefined,
    };
  }
  return undefined;
}

/** The columns that may be part of a key: those that lead first, then those with the most different texts. */
function partsOf(assigned: readonly Assigned[], leading: readonly string[]): Part[] {
  return assigned
    .flatMap(({ column, mapped }): Part[] => {
      if (!mapped || !mayBePart(mapped.field) || (mapped.fit.unreadable ?? 0) > 0) return [];
      const { heading, index, distinct = 0 } = column.profile;
      return distinct < 2
        ? []
        : [{ field: mapped.field.name, heading, index, distinct, leads: leading.includes(mapped.field.name) }];
    })
    .sort((a, b) => Number(b.leads) - Number(a.leads) || b.distinct - a.distinct)
    .slice(0, MOST_COLUMNS);
}

function mayBePart({ name, read, type }: FieldSpec): boolean {
  const { kind } = type;
  return read !== undefined && (kind === 'text' || kind === 'email' || kind === 'date') && !DESCRIBING.test(name);
}

function count(rows: readonly (readonly string[])[], chosen: readonly number[]): { own: number; blank: number } {
  const seen = new Set<string>();
  let blank = 0;
  for (const row of rows) {
    const texts = chosen.map((at) => row[at]!);
    // The import takes a key as blank where all of its parts are.
    if (texts.every((text) => text === '')) blank++;
    else seen.add(texts.join('\u0000'));
  }
  return { own: seen.size, blank };
}

function* combinations(of: number, size: number, from = 0): Generator<number[]> {
  if (size === 0) {
    yield [];
    return;
  }
  for (let at = from; at <= of - size; at++) {
    for (const rest of combinations(of, size - 1, at + 1)) yield [at, ...rest];
  }
}
