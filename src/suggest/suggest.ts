import type { OpenSource } from '../model/source.js';
import { foldText, isOwnHeading } from '../pipeline/headings.js';
import { excerpt } from '../pipeline/nearest.js';
import type { ResourceSpec } from '../resources/spec.js';
import { type Assigned, assign, HIGH } from './assign.js';
import { columnOf, counted, type FileFacts, number } from './column.js';
import { guessFromValues } from './from-values.js';
import { chooseKey } from './key.js';
import { missingFields } from './missing.js';
import { optionsOf, remarksOf } from './options.js';
import { type FileProfile, profileFile } from './profile.js';
import { sampledColumn } from './shapes.js';
import type { Confidence, SuggestedColumn, Suggestion } from './suggestion.js';
import { warningsOf } from './warnings.js';
import { decimalOf, sharedDates } from './whole-file.js';

/**
 * Suggests a job for a file: each heading is compared with the words for every field, the values of the column confirm or
 * lower what the heading says, every field goes to the column that means it best, and the best natural key is measured.
 * The file is read once. Values alone never map a column. `onRows` is told how many rows are read.
 */
export async function suggestJob(
  spec: ResourceSpec,
  source: OpenSource,
  onRows: (rows: number) => void = () => undefined,
): Promise<Suggestion> {
  const profile = await profileFile(source, {}, onRows);
  const columns = profile.columns.map((column) =>
    columnOf(column, sampledColumn(column.heading, column.index, profile.sample)),
  );
  const file: FileFacts = { sample: profile.sample, whole: profile.whole, format: source.meta.format };
  const assigned = assign(spec, columns, file);
  const key = chooseKey(spec, assigned, profile);
  const decimal = decimalOf(assigned, profile.sample);
  const dates = sharedDates(assigned);
  return {
    resource: spec.name,
    rows: profile.rows,
    columns: assigned.map((one) => suggested(spec, one, assigned, { dates, sign: decimal?.sign })),
    key,
    dates,
    decimal,
    missing: missingFields(spec, assigned),
    warnings: [...source.meta.warnings, ...fileWarnings(profile), ...warningsOf(spec, assigned)],
  };
}

/** Guesses from here on are named beside one that is not certain. */
const NEARLY = 0.5;

function suggested(
  spec: ResourceSpec,
  one: Assigned,
  all: readonly Assigned[],
  whole: { readonly dates: readonly string[]; readonly sign: '.' | ',' | undefined },
): SuggestedColumn {
  const { column, mapped, custom, guesses, barred } = one;
  const others = guesses.filter((guess) => guess !== mapped).slice(0, 3);
  const base = {
    heading: column.profile.heading,
    index: column.profile.index,
    nameable: foldText(column.profile.heading) !== '' && !isOwnHeading(column.profile.heading),
    alternatives: others.map(({ field, why, fit }) => ({ field: field.name, why: fit.against ?? why })),
  };
  if (custom !== undefined) {
    const remarks = ['only the service can tell whether it has this custom field'];
    return {
      ...base,
      field: custom,
      confidence: 'high',
      evidence: ['the heading names a custom field, as an export writes it'],
      remarks,
      why: '',
      options: {},
    };
  }
  if (!mapped) {
    return {
      ...base,
      field: undefined,
      confidence: 'none',
      evidence: [],
      remarks: [],
      why: barred || whyNot(spec, one, all),
      options: {},
    };
  }
  const confidence: Confidence = mapped.final >= HIGH ? 'high' : 'medium';
  const second = others.find((guess) => guess.final >= NEARLY && guess.fit.against === undefined);
  const doubt = confidence === 'medium' && second ? [`it may also mean ${second.field.name}`] : [];
  return {
    ...base,
    field: mapped.field.name,
    confidence,
    evidence: [mapped.why, ...mapped.fit.evidence, ...doubt],
    remarks: remarksOf(mapped),
    why: '',
    options: optionsOf(mapped, column.profile, whole),
  };
}

/** Why a column is not mapped, with the next best guess. */
function whyNot(spec: ResourceSpec, one: Assigned, all: readonly Assigned[]): string {
  const { guesses, lostTo, lacks, column } = one;
  const [best] = guesses;
  if (lacks !== undefined && best) {
    return `maybe: ${best.field.name}: ${best.why}; but the service refuses it without ${lacks}, which no column gives`;
  }
  if (lostTo !== undefined) return `${lostTo.field} is given by "${excerpt(lostTo.heading)}" already`;
  if (best) {
    const such = best.fit.against === undefined ? best.why : `${best.why}; but ${best.fit.against}`;
    const reference =
      best.fit.against === undefined && best.field.type.kind === 'reference'
        ? ', and a name that the service does not know makes the row invalid'
        : '';
    return `maybe: ${best.field.name}: ${such}${reference}`;
  }
  return guessFromValues(spec, column, all) ?? 'no field has such a heading';
}

function fileWarnings({ rows, uneven, whole, sample }: FileProfile): string[] {
  const warnings: string[] = [];
  if (rows === 0) warnings.push('The file has headings but no data rows: only the headings were looked at.');
  if (uneven > 0) {
    warnings.push(
      `${number(uneven)} of ${counted(rows, 'row')} ${uneven === 1 ? 'has' : 'have'} more or fewer cells than the heading; ${uneven === 1 ? 'it' : 'they'} will be invalid, and no value of ${uneven === 1 ? 'it' : 'theirs'} was looked at.`,
    );
  }
  if (!whole)
    warnings.push(
      `Of ${number(rows)} rows ${number(sample.length)}, spread over the whole file, were looked at closely.`,
    );
  return warnings;
}
