import type { OpenSource } from '../model/source.js';
import { foldText } from '../model/value.js';
import { surveyDecimals } from '../pipeline/map/amounts.js';
import { excerpt, isOwnHeading } from '../pipeline/map/headings.js';
import type { ResourceName, ResourceSpec } from '../resources/spec.js';
import { type Assigned, assign, type Guess, HIGH } from './assign.js';
import { counted, number } from './fit.js';
import { chooseKey, type MissingField, missingFields, type SuggestedKey } from './key.js';
import { type Column, type FileProfile, profileFile } from './profile.js';

/** What `map` makes of a file: everything the job text, the table for people and `--json` are written from. */
export interface Suggestion {
  readonly resource: ResourceName;
  /** Data rows of the file. */
  readonly rows: number;
  /** In the order of the file. */
  readonly columns: readonly SuggestedColumn[];
  /** Undefined where nothing can be a key; there is no job then. */
  readonly key: SuggestedKey | undefined;
  /** Dates of the whole file, where all date columns agree. */
  readonly dates: readonly string[];
  readonly decimal: { readonly sign: '.' | ',' | undefined; readonly why: string } | undefined;
  /** Required fields that no column gives. */
  readonly missing: readonly MissingField[];
  readonly warnings: readonly string[];
}

export interface SuggestedColumn {
  readonly heading: string;
  /** 0-based position in the file. */
  readonly index: number;
  /** Undefined: not mapped. Custom fields as the job names them. */
  readonly field: string | undefined;
  readonly confidence: 'high' | 'medium' | 'none';
  /** What spoke for the field, one clause each. */
  readonly evidence: readonly string[];
  /** What a person should know or decide about the mapped column, one sentence each. */
  readonly remarks: readonly string[];
  /** Why the column is not mapped; '' for a mapped one. */
  readonly why: string;
  /** Fields it may mean instead, the best first. */
  readonly alternatives: readonly { readonly field: string; readonly why: string }[];
  readonly options: ColumnOptions;
  /** False where a job cannot name the heading: it is blank, or begins with `_`. */
  readonly nameable: boolean;
}

/** What the job says about a mapped column beside its field. */
export interface ColumnOptions {
  readonly dates?: readonly string[];
  readonly decimal?: '.' | ',';
  /** Cell text → value, each certain. */
  readonly values?: ReadonlyMap<string, string>;
  /** Cell texts that a person must translate, with the number of rows. */
  readonly openValues?: readonly { readonly text: string; readonly rows: number }[];
  /** What such texts may become. */
  readonly accepted?: readonly string[];
  /** Ways to read the dates, of which a person must choose one. */
  readonly openDates?: readonly (readonly string[])[];
}

/**
 * Suggests a job for a file: each heading is compared with the words for every field, the values of the column confirm or
 * lower what the heading says, every field goes to the column that means it best, and the best natural key is measured.
 * The file is read once. Values alone never map a column.
 */
export async function suggestJob(spec: ResourceSpec, source: OpenSource): Promise<Suggestion> {
  const file = await profileFile(source);
  const assigned = assign(spec, file);
  const decimal = decimalOf(assigned, file);
  const dates = sharedDates(assigned);
  return {
    resource: spec.name,
    rows: file.rows,
    columns: assigned.map((one) => suggested(one, { dates, sign: decimal?.sign })),
    key: chooseKey(spec, assigned, file.rows),
    dates,
    decimal,
    missing: missingFields(spec, assigned),
    warnings: [...source.meta.warnings, ...fileWarnings(file)],
  };
}

/** What is stated for the whole file, and not for a column again. */
interface Whole {
  readonly dates: readonly string[];
  readonly sign: '.' | ',' | undefined;
}

function suggested(one: Assigned, whole: Whole): SuggestedColumn {
  const { column, mapped, custom, guesses, barred } = one;
  const { heading, index } = column;
  const others = guesses.filter((guess) => guess !== mapped).slice(0, 3);
  const base = {
    heading,
    index,
    nameable: foldText(heading) !== '' && !isOwnHeading(heading),
    alternatives: others.map(({ field, why, fit }) => ({ field: field.name, why: fit.against ?? why })),
    evidence: [],
    remarks: [],
    why: '',
    options: {},
  };
  if (custom !== undefined) {
    return {
      ...base,
      field: custom,
      confidence: 'high',
      evidence: ['the heading names a custom field, as an export writes it'],
      remarks: ['only the service can tell whether it has this custom field'],
    };
  }
  if (!mapped) return { ...base, field: undefined, confidence: 'none', why: barred || whyNot(one) };
  const confidence = mapped.final >= HIGH ? 'high' : 'medium';
  const second = others.find(({ fit }) => fit.against === undefined);
  const doubt = confidence === 'medium' && second ? [`it may also mean ${second.field.name}`] : [];
  return {
    ...base,
    field: mapped.field.name,
    confidence,
    evidence: [mapped.why, ...mapped.fit.evidence, ...doubt],
    remarks: remarksOf(mapped),
    options: optionsOf(mapped, column, whole),
  };
}

/** Why a column is not mapped, with the next best guess. */
function whyNot({ guesses, lostTo, lacks }: Assigned): string {
  const [best] = guesses;
  if (!best) return 'no field has such a heading';
  const { name, type } = best.field;
  if (lacks !== undefined)
    return `maybe: ${name}: ${best.why}; but the service refuses it without ${lacks}, which no column gives`;
  if (lostTo !== undefined) return `${name} is given by "${excerpt(lostTo)}" already`;
  if (best.fit.against !== undefined) return `maybe: ${name}: ${best.why}; but ${best.fit.against}`;
  const reference =
    type.kind === 'reference' ? ', and a name that the service does not know makes the row invalid' : '';
  return `maybe: ${name}: ${best.why}${reference}`;
}

/** What a person should know or decide about a mapped column, a sentence each. */
function remarksOf({ fit: { dates, decimal, remarks } }: Guess): string[] {
  const said = [...remarks];
  if (dates?.open) {
    const { text, row } = dates.open;
    said.push(
      `day and month cannot be told apart, as in "${text}" (row ${row}): such rows are refused until you state the format`,
    );
  }
  if (decimal?.warning !== undefined && decimal.rule.sign === 'each') said.push(decimal.warning);
  return said;
}

function optionsOf({ field, fit }: Guess, column: Column, whole: Whole): ColumnOptions {
  const { dates, decimal, choices } = fit;
  const sign = decimal?.rule.sign;
  const open = choices?.open ?? [];
  const ownSign = decimal?.evidence !== undefined && sign !== 'each' && sign !== whole.sign;
  return {
    ...(dates && dates.formats.length > 0 && whole.dates.length === 0 ? { dates: dates.formats } : {}),
    ...(dates?.open ? { openDates: dates.open.formats } : {}),
    ...(ownSign && sign !== undefined ? { decimal: sign } : {}),
    ...(choices && choices.suggested.size > 0 ? { values: choices.suggested } : {}),
    ...(open.length > 0
      ? {
          openValues: open.map((text) => ({ text, rows: column.choices?.get(text) ?? 1 })),
          accepted:
            field.type.kind === 'enum' ? field.type.values : field.type.kind === 'boolean' ? ['true', 'false'] : [],
        }
      : {}),
  };
}

/**
 * The formats to state for the whole file: those of its date columns where all agree that state any, and no other date
 * column holds text. Otherwise each column states its own, and this is empty.
 */
function sharedDates(assigned: readonly Assigned[]): readonly string[] {
  const stated = assigned.flatMap(({ mapped, column }) =>
    mapped?.fit.dates && column.cells.some(({ cell }) => typeof cell === 'string') ? [mapped.fit.dates.formats] : [],
  );
  const [first = [], ...others] = stated;
  const wanted = first.toSorted().join('\n');
  return others.every((formats) => formats.toSorted().join('\n') === wanted) ? first : [];
}

/** The decimal sign of the amounts of the file; `sign` is undefined where the columns differ or none shows it. */
function decimalOf(assigned: readonly Assigned[], { sample }: FileProfile): Suggestion['decimal'] {
  const columns = assigned.flatMap(({ mapped, column }) => (mapped?.field.type.kind === 'decimal' ? [column] : []));
  const { rule, evidence, warning } = surveyDecimals(columns, sample);
  // The rows looked at are spread over the file.
  const looked = (text: string) => text.replace(/of the first (\d+) rows/, 'of the $1 rows looked at');
  if (columns.length === 0) return undefined;
  if (evidence !== undefined && rule.sign !== 'each') return { sign: rule.sign, why: looked(evidence) };
  return warning === undefined ? undefined : { sign: undefined, why: looked(warning) };
}

function fileWarnings({ rows, uneven, whole, sample }: FileProfile): string[] {
  const warnings: string[] = [];
  if (rows === 0) warnings.push('The file has headings but no data rows: only the headings were looked at.');
  if (uneven > 0)
    warnings.push(
      `Of ${counted(rows, 'row')} ${number(uneven)} with more or fewer cells than the heading will be invalid; no such value was looked at.`,
    );
  if (!whole)
    warnings.push(
      `Of ${number(rows)} rows ${number(sample.length)}, spread over the whole file, were looked at closely.`,
    );
  return warnings;
}
