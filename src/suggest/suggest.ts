import { columnName } from '../files/table/cell-range.js';
import { countText, formatNumber } from '../model/count-text.js';
import { customFieldName } from '../model/job.js';
import type { OpenSource } from '../model/source.js';
import { foldText } from '../model/value.js';
import { surveyDecimals } from '../pipeline/map/amounts.js';
import { excerpt, isOwnHeading, quoted } from '../pipeline/map/headings.js';
import { resourceSpec } from '../resources/registry.js';
import { type ReferenceTarget, type ResourceName, type ResourceSpec, WRITABLE } from '../resources/spec.js';
import {
  type Assignment,
  assign,
  candidates,
  type Guess,
  HIGH_SCORE,
  LIKELY_SCORE,
  phraseBook,
  type ServiceKnowledge,
} from './assign.js';
import { chooseKey, isComputed, type MissingField, measureKey, missingFields, type SuggestedKey } from './key.js';
import { type Column, type FileProfile, profileFile } from './profile.js';
import { wordsOf } from './words.js';

/** What `map` makes of a file: everything the job text, the table for people and `--json` are written from. */
export interface Suggestion {
  readonly resource: ResourceName;
  /** Data rows of the file. */
  readonly rows: number;
  /** In the order of the file. */
  readonly columns: readonly SuggestedColumn[];
  /** Without a key the job says what a person may choose. */
  readonly key: SuggestedKey | undefined;
  /** Every key that was measured. */
  readonly keys: readonly SuggestedKey[];
  /** Dates of the whole file, where all date columns agree. */
  readonly dates: readonly string[];
  readonly decimal: { readonly sign: '.' | ',' | undefined; readonly why: string } | undefined;
  /** Required fields that no column gives. */
  readonly missing: readonly MissingField[];
  /** Texts that mean blank. */
  readonly nulls: readonly string[];
  /** The one thing to be decided next, as a question; undefined where nothing is open. */
  readonly next: string | undefined;
  readonly warnings: readonly string[];
}

export interface SuggestedColumn {
  readonly heading: string;
  /** As the job names the column; undefined where none can: its heading begins with `_`. */
  readonly name: string | undefined;
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
  /** The first of its different texts. */
  readonly samples: readonly string[];
  /** Share of the rows that have no value in it, 0 to 1. */
  readonly blank: number;
  /** Share of its values that fit the field, 0 to 1; undefined where it is not mapped, or none was held against it. */
  readonly converts: number | undefined;
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
  /** Longer texts are cut. */
  readonly cut?: true;
  /** Different names that the service does not know. */
  readonly unknown?: number;
  /** Ways to read the dates, of which a person must choose one. */
  readonly openDates?: readonly (readonly string[])[];
}

/** Reads which custom fields and names the service has: of each target those that the file uses. Undefined where it cannot be asked. */
export type AskService = (
  names: ReadonlyMap<ReferenceTarget, ReadonlySet<string>>,
) => Promise<ServiceKnowledge | undefined>;

/** The editable export that wrote a file: its job is what imports the changed file. */
export interface WrittenBy {
  readonly run: string;
  /** Heading → field, of the columns that its job imports. */
  readonly fields: ReadonlyMap<string, string>;
}

/**
 * Suggests a job for a file: each heading is compared with the words for every field, the values of the column confirm or
 * lower what the heading says, every field goes to the column that means it best, and the best natural key is measured.
 * The file is read once. Values alone never map a column. `ask`: where there is a service. `written`: then the job is given.
 */
export async function suggestJob(
  spec: ResourceSpec,
  source: OpenSource,
  ask?: AskService,
  written?: WrittenBy,
): Promise<Suggestion> {
  const file = await profileFile(source);
  const withoutService = assign(spec, file);
  const knowledge = await ask?.(namesOf(withoutService));
  const assigned = knowledge ? assign(spec, file, knowledge) : withoutService;
  const decimal = decimalOf(assigned, file);
  const dates = sharedDates(assigned);
  const { key, measured } = chooseKey(spec, assigned, file.lone * 5 > file.rows ? file.rows : file.rows - file.lone);
  const given = new Set(assigned.flatMap(({ mapped }) => (mapped ? [mapped.field.name] : [])));
  const missing = missingFields(spec, assigned);
  const settings = { dates, sign: decimal?.sign, given, missing };
  const found = {
    resource: spec.name,
    rows: file.rows,
    columns: assigned.map((one) => suggestColumn(one, settings)),
    key,
    keys: measured,
    dates,
    decimal,
    missing,
    nulls: file.nulls,
    warnings: [...source.meta.warnings, ...fileWarnings(file)],
  };
  return written ? fromExport(found, assigned, written) : { ...found, next: nextQuestion(found) };
}

/** Nothing is open: the export knows what each of its columns holds, and whose row it is. */
function fromExport(
  found: Omit<Suggestion, 'next'>,
  assigned: readonly Assignment[],
  { run, fields }: WrittenBy,
): Suggestion {
  const id = assigned.find(({ column: { name } }) => name !== undefined && fields.get(name) === 'id')?.column;
  const why = `The workbook is from the export ${run}, and is imported with the job of that export: rows are matched by id, and only cells that were changed are written.`;
  return {
    ...found,
    columns: found.columns.map((column) => {
      const field = column.name === undefined ? undefined : fields.get(column.name);
      const given = { ...column, field, remarks: [], alternatives: [], options: {}, converts: undefined };
      return field === undefined
        ? { ...given, confidence: 'none', evidence: [], why: 'for information: a change of it is not imported' }
        : { ...given, confidence: 'high', evidence: ['the export that wrote the file says so'], why: '' };
    }),
    key: id && measureKey(resourceSpec(found.resource), 'id', id, found.rows),
    keys: [],
    missing: [],
    next: undefined,
    warnings: [why, ...found.warnings],
  };
}

/** How many fields of the resource the headings of a table mean. */
export function countFittingHeadings(spec: ResourceSpec, headings: readonly string[]): number {
  const book = phraseBook(spec);
  const best = headings.map((heading) => candidates(book, heading)[0]);
  return new Set(best.flatMap((one) => (one && one.score >= LIKELY_SCORE ? [one.field] : []))).size;
}

/**
 * The resource that a table seems to hold: the one whose fields its headings mean most surely, and whose required ones they give. What
 * file and sheet are called decides where headings such as name, address and city fit several.
 */
export function likelyResource(headings: readonly string[], names: readonly string[]): ResourceName {
  const scores = WRITABLE.map((name) => {
    const spec = resourceSpec(name);
    const book = phraseBook(spec);
    const best = headings.flatMap((heading) => candidates(book, heading)[0] ?? []);
    const sure = best.filter(({ score }) => score >= LIKELY_SCORE);
    const required = spec.fields.filter((field) => field.required);
    const given = required.filter((field) => sure.some((one) => one.field === field));
    const isNamed = (text: string) => wordsOf(text).words.some((word) => book.context.has(word));
    const score =
      sure.reduce((sum, one) => sum + one.score, 0) +
      given.length / required.length +
      headings.filter(isNamed).length / 2 +
      (names.some(isNamed) ? 2 : 0);
    return { name, score };
  });
  return scores.reduce((best, one) => (one.score > best.score ? one : best)).name;
}

/** What the columns that may be references hold. */
function namesOf(assigned: readonly Assignment[]): Map<ReferenceTarget, Set<string>> {
  const names = new Map<ReferenceTarget, Set<string>>();
  for (const { column, guesses } of assigned)
    for (const { field, fit } of guesses) {
      if (field.type.kind !== 'reference' || fit.objection !== undefined) continue;
      const texts = names.get(field.type.to) ?? new Set();
      for (const { text } of column.cells) texts.add(text);
      names.set(field.type.to, texts);
    }
  return names;
}

/** What stands in the way of an import most; then what is likely and not certain. */
function nextQuestion(found: Omit<Suggestion, 'next'>): string | undefined {
  const { resource, columns, key, keys, missing } = found;
  const mapped = columns.filter(({ field }) => field !== undefined);
  if (mapped.length === 0) {
    const hasLetters = columns.every(({ heading, index }) => heading === columnName(index));
    const elsewhere = hasLetters ? '' : ' If the table has no headings, or stands elsewhere: --header-row, --sheet.';
    return `Which column holds the name of each ${resource}? Write \`name\` in place of its ~.${elsewhere}`;
  }
  const keyQuestion = `What tells one ${resource} from another? No column does by itself: take the # from one of the lines \`match:\`.`;
  if (!key && keys.length > 0) return keyQuestion;
  const texts = missing.filter(({ constant, parts }) => constant === undefined && !isComputed(parts));
  if (texts.length > 0)
    return `Which column is the ${texts.map(({ field }) => field).join(', and which the ')} of each ${resource}? A new one needs it.`;
  if (!key) return keyQuestion;
  const constants = missing.flatMap(({ field, constant }) => (constant === undefined ? [] : [field]));
  if (constants.length > 0)
    return `What is the ${constants.join(', ')} of these ${resource}s? Fill in the line \`constants\` and take its # away.`;
  const unread = mapped.find(({ options: { openDates, openValues, unknown } }) => openDates ?? openValues ?? unknown);
  if (unread) return `What do the values of "${excerpt(unread.heading)}" mean? Its line says which are not understood.`;
  const likely = mapped.find(({ confidence }) => confidence === 'medium');
  return likely && `Is "${excerpt(likely.heading)}" what its line says? It is likely, and not certain.`;
}

/** What is stated for the whole file, and not for a column again. */
interface FileSettings {
  readonly dates: readonly string[];
  readonly sign: '.' | ',' | undefined;
  /** Fields that columns give. */
  readonly given: ReadonlySet<string>;
  readonly missing: readonly MissingField[];
}

function suggestColumn(one: Assignment, settings: FileSettings): SuggestedColumn {
  const { column, mapped, custom, guesses } = one;
  const { heading, name, index } = column;
  const others = guesses.filter((guess) => guess !== mapped).slice(0, 3);
  const base = {
    heading,
    name,
    index,
    alternatives: others.map(({ field, why, fit }) => ({ field: field.name, why: fit.objection ?? why })),
    evidence: [],
    remarks: [],
    why: '',
    options: {},
    samples: firstTexts(column.cells),
    blank: column.blank / Math.max(1, column.blank + column.filled),
    // What reads as two dates converts only once somebody has said which.
    converts: mapped?.fit.dates?.ambiguous ? undefined : mapped?.fit.share,
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
  if (!mapped) {
    const of = name && settings.missing.find(({ parts }) => isComputed(parts) && parts.includes(name));
    const why = of ? `part of ${of.field}, which is put together under computed` : notMappedReason(one);
    return { ...base, field: undefined, confidence: 'none', why };
  }
  const confidence = mapped.finalScore >= HIGH_SCORE ? 'high' : 'medium';
  const second = others.find(({ field, fit }) => fit.objection === undefined && !settings.given.has(field.name));
  const doubt = confidence === 'medium' && second ? [`it may also mean ${second.field.name}`] : [];
  return {
    ...base,
    field: mapped.field.name,
    confidence,
    evidence: [mapped.why, ...mapped.fit.evidence, ...doubt],
    remarks: remarksOf(mapped),
    options: optionsOf(mapped, column, settings),
  };
}

const firstTexts = (cells: Column['cells']) => [...new Set(cells.slice(0, 20).map(({ text }) => text))].slice(0, 3);

function samplesText(cells: Column['cells']): string {
  const texts = firstTexts(cells);
  return texts.length === 0 ? '' : `; it holds ${quoted(texts)}`;
}

/** Why a column is not mapped, with the next best guess. */
function notMappedReason({
  column: { heading, name, index, cells },
  guesses,
  lostTo,
  missingPartner,
}: Assignment): string {
  if (isOwnHeading(heading)) return 'headings that begin with _ are never imported';
  if (name === undefined) return 'a job cannot name this column; rename it in the file';
  // Where there is no heading, the values alone say what the column is.
  if (name !== heading && foldText(heading) === '')
    return `the column has no heading: its letter stands for it${samplesText(cells)}`;
  if (name === columnName(index)) return `there are no headings${samplesText(cells)}`;
  const [best] = guesses;
  if (!best && foldText(heading) === 'id')
    return 'no field of a new record; if these are the ids of the service, write id here and `match: { key: id }` to update those records';
  if (!best && customFieldName(heading))
    return 'no custom field that this job can set: it is unknown, inactive, holds attachments, or is one of another template than the first';
  if (!best) return 'no field has such a heading';
  const { name: field, type } = best.field;
  if (missingPartner !== undefined)
    return `maybe: ${field}: ${best.why}; but the service refuses it without ${missingPartner}, which no column gives`;
  if (lostTo !== undefined) return `${field} is given by "${excerpt(lostTo)}" already`;
  if (best.fit.objection !== undefined) return `maybe: ${field}: ${best.why}; but ${best.fit.objection}`;
  const reference =
    type.kind === 'reference' ? ', and a name that the service does not know makes the row invalid' : '';
  if (best.fit.remarks.length > 0) return `maybe: ${field}: ${best.why}; ${best.fit.remarks[0]}`;
  return `maybe: ${field}: ${best.why}${reference}`;
}

/** What a person should know or decide about a mapped column, a sentence each. */
function remarksOf({ fit: { dates, decimal, remarks } }: Guess): string[] {
  const lines = [...remarks];
  if (dates?.ambiguous) {
    const { text, row } = dates.ambiguous;
    lines.push(
      `day and month cannot be told apart, as in "${text}" (row ${row}): such rows are refused until you state the format`,
    );
  }
  if (decimal?.warning !== undefined && decimal.rule.sign === 'each') lines.push(decimal.warning);
  return lines;
}

function optionsOf({ field, fit }: Guess, column: Column, settings: FileSettings): ColumnOptions {
  const { dates, decimal, choices, cut, unknown } = fit;
  const sign = decimal?.rule.sign;
  const unmapped = choices?.unmapped ?? [];
  const ownSign = decimal?.evidence !== undefined && sign !== 'each' && sign !== settings.sign;
  return {
    ...(dates && dates.formats.length > 0 && settings.dates.length === 0 ? { dates: dates.formats } : {}),
    ...(dates?.ambiguous ? { openDates: dates.ambiguous.formats } : {}),
    ...(ownSign && sign !== undefined ? { decimal: sign } : {}),
    ...(cut ? { cut } : {}),
    ...(unknown ? { unknown } : {}),
    ...(choices && choices.suggested.size > 0 ? { values: choices.suggested } : {}),
    ...(unmapped.length > 0
      ? {
          openValues: unmapped.map((text) => ({ text, rows: column.choices?.get(text) ?? 1 })),
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
function sharedDates(assigned: readonly Assignment[]): readonly string[] {
  const stated = assigned.flatMap(({ mapped, column }) =>
    mapped?.fit.dates && column.cells.some(({ cell }) => typeof cell === 'string') ? [mapped.fit.dates.formats] : [],
  );
  const [first = [], ...others] = stated;
  const wanted = first.toSorted().join('\n');
  return others.every((formats) => formats.toSorted().join('\n') === wanted) ? first : [];
}

/** The decimal sign of the amounts of the file; `sign` is undefined where the columns differ or none shows it. */
function decimalOf(assigned: readonly Assignment[], { sample, delimiter }: FileProfile): Suggestion['decimal'] {
  const columns = assigned.flatMap(({ mapped, column }) => (mapped?.field.type.kind === 'decimal' ? [column] : []));
  const { rule, evidence, warning } = surveyDecimals(columns, sample, delimiter);
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
      `Of ${countText(rows, 'row')} ${formatNumber(uneven)} with more or fewer cells than the heading will be invalid; no such value was looked at.`,
    );
  if (!whole)
    warnings.push(
      `Of ${formatNumber(rows)} rows ${formatNumber(sample.length)}, spread over the whole file, were looked at closely.`,
    );
  return warnings;
}
