import { Decimal } from '../../model/decimal.js';
import { RunError } from '../../model/error.js';
import { customFieldName, type RowsJob } from '../../model/job.js';
import { withArticle } from '../../model/resource-names.js';
import { foldText } from '../../model/value.js';
import { jobValue } from '../../pipeline/map/columns.js';
import { findField } from '../../resources/registry.js';
import {
  type FieldSpec,
  type Lexicon,
  READ_ONLY,
  type ResourceName,
  type ResourceSpec,
  WRITABLE,
} from '../../resources/spec.js';
import { didYouMean } from './shape.js';
import type { KeyPath } from './yaml.js';

/** The resource that is meant, also in the plural. `may`: what is asked for it, which a resource that is only read has no use for. */
export function writableResource(given: string, may: string): ResourceName {
  const wanted = given.trim().toLowerCase();
  const found = WRITABLE.find((name) => name === wanted || `${name}s` === wanted);
  if (found) return found;
  const why = READ_ONLY.some((name) => name === wanted)
    ? `${wanted} records can only be read.`
    : `There is no resource \`${given}\`${didYouMean(wanted, WRITABLE) || '.'}`;
  throw new RunError('usage', `${why} Name one for which ${may}: ${WRITABLE.join(', ')}.`);
}

/** Where a problem is: at a key, or at the value under it. */
export type Place = KeyPath | { readonly valueAt: KeyPath };

export const valueAt = (path: KeyPath): Place => ({ valueAt: path });

/** Adds a problem; an error unless told otherwise. */
export type Report = (place: Place, message: string, severity?: 'warning') => void;

/** A part of a job file as YAML gave it, nothing checked. */
export type Plain = Readonly<Record<string, unknown>>;

/** A field that a job names. `key` tells fields apart; `spec` is absent for `id` and for custom fields, whose names only the service knows. */
export interface NamedField {
  readonly key: string;
  readonly spec: FieldSpec | undefined;
}

/** Looks up fields by the names people write; what is wrong with a name is reported, and the answer is then undefined. */
export interface FieldNames {
  /** A field that exists. */
  known(text: string, place: Place): NamedField | undefined;
  /** A field that exists and that this job can set. */
  writable(text: string, place: Place): NamedField | undefined;
}

/** What is known of a job's fields once they were looked at. */
export interface NamedFields {
  readonly spec: ResourceSpec;
  /** Of `match.key`, canonical. */
  readonly keys: readonly string[];
  readonly fields: FieldNames;
  /** Keys of all fields that columns, constants and defaults set. */
  readonly set: ReadonlySet<string>;
  /** `source.dates`, as far as they are texts. */
  readonly dates: readonly string[];
}

export function fieldNames(spec: ResourceSpec, keys: readonly string[], match: Plain, report: Report): FieldNames {
  const resource = spec.name;
  const one = withArticle(resource);
  const known: FieldNames['known'] = (text, place) => {
    const say = (message: string) => {
      report(place, message);
      return undefined;
    };
    const custom = customFieldName(text);
    if (custom) {
      if (custom.kind === 'form' && !spec.form) return say(`\`${text}\`: ${one} has no custom forms`);
      const occurrence = custom.kind === 'form' ? /#\s*(\d+)$/.exec(custom.cuts[0]?.owner ?? '')?.[1] : undefined;
      if (occurrence !== undefined && !/^[1-9]\d{0,2}$/.test(occurrence)) {
        return say(
          `\`${text}\`: #${occurrence} is no row of a form; rows count from #1 to #999, and without # the first is meant`,
        );
      }
      if (custom.cuts.length > 0) return { key: foldText(text), spec: undefined };
      const parts = custom.kind === 'form' ? '<form>.<column>' : '<template>.<field>';
      return say(`\`${text}\` is incomplete; write ${custom.kind}.${parts}`);
    }
    if (text.trim().toLowerCase() === 'id') {
      if (keys.includes('id')) return { key: 'id', spec: undefined };
      return say('`id` can be mapped only where it is the key (match: { key: id }); the service gives ids itself');
    }
    const field = findField(spec, text.trim());
    if (field) return { key: field.name, spec: field };
    return say(`${one} has no field \`${text}\`${didYouMean(text, spellings(spec))}`);
  };
  return {
    known,
    writable: (text, place) => {
      const found = known(text, place);
      if (!found?.spec) return found;
      const { create, update, derived } = found.spec;
      if (derived || (create === undefined && update === undefined)) {
        report(place, `\`${text}\` can only be read: the service sets it itself; remove it or map the column to ~`);
        return undefined;
      }
      // A key field serves to find the record, whatever else may be done with it.
      if (keys.includes(found.key)) return found;
      const { existing, missing } = match as Partial<RowsJob['match']>;
      const only =
        update === undefined && (missing === 'skip' || missing === 'fail')
          ? `when ${one} is created, and this job creates none`
          : create === undefined && (existing === 'skip' || existing === 'fail')
            ? `on an existing ${resource}, and this job updates none`
            : undefined;
      if (only) report(place, `\`${text}\` can be set only ${only}`, 'warning');
      return found;
    },
  };
}

function spellings(spec: ResourceSpec): string[] {
  return spec.fields.flatMap((field) => [field.name, ...(field.aliases ?? [])]);
}

export function asPlain(value: unknown): Plain {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Plain) : {};
}

export function isScalarValue(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

/** The characters of a value in the file. */
type Written = { readonly text: string; readonly quoted: boolean };

/**
 * Why a value written in a job file (constant, default, meaning of a cell text) cannot be a field's value; undefined
 * where it can. `field` is absent for custom fields: their types are known only when the service is asked.
 * `written` are its characters in the file, where YAML may have read something else than was meant. `dates` are the
 * date formats of the file, which a date may have here too.
 */
export function constantProblem(
  field: FieldSpec | undefined,
  value: unknown,
  written: Written | undefined,
  dates: readonly string[],
): string | undefined {
  if (!isScalarValue(value)) return undefined;
  if (value === '?')
    return 'is still the "?" that stood for what only a person knows; write it there, or take the line out';
  const changed = writtenProblem(field, value, written);
  if (changed !== undefined || !field) return changed;
  const problems: string[] = [];
  jobValue({ field: field.name, name: field.name, spec: field }, value, { job: { source: { dates } } }, problems);
  const [wrong] = problems;
  // There is no cell.
  return wrong && `cannot be used: ${wrong.replace(/ Correct the cell.*$/, '')}`;
}

/** YAML has made another value of the characters in the file than they mean. */
export function writtenProblem(
  field: FieldSpec | undefined,
  value: unknown,
  written: Written | undefined,
): string | undefined {
  if (!written || written.quoted || typeof value !== 'number' || !changedByYaml(written.text, value, field))
    return undefined;
  return `is written ${written.text}, which YAML reads as ${value}; put it in quotes: "${written.text}"`;
}

/** `00123` and `1.10` lose characters as numbers: harmless in an amount, not in a code; long amounts lose digits. */
function changedByYaml(text: string, value: number, field: FieldSpec | undefined): boolean {
  if (field && (field.type.kind === 'decimal' || field.type.kind === 'integer')) {
    const meant = Decimal.parse(text);
    return meant === undefined || !meant.equals(Decimal.of(value));
  }
  if (field) return text !== String(value);
  // A custom field may be text or an amount; leading zeros and lost digits are wrong in both.
  return /^[+-]?0\d/.test(text) || Decimal.parse(text)?.equals(Decimal.of(value)) !== true;
}

/** Nothing is known of the service: what names mean that are its own is found out when a run begins. */
export const NO_LEXICON: Lexicon = {
  countryCode: () => undefined,
  template: () => undefined,
  form: () => undefined,
  idOf: () => undefined,
  nameOf: () => undefined,
};
