import { customFieldName, NO_KEY } from '../../model/job.js';
import { withArticle } from '../../model/resource-names.js';
import { foldText } from '../../model/value.js';
import { jobValue } from '../../pipeline/map/columns.js';
import { compileDateFormat } from '../../pipeline/map/dates.js';
import { isOwnHeading } from '../../pipeline/map/headings.js';
import { findField, resourceSpec } from '../../resources/registry.js';
import { checkRecord } from '../../resources/rules.js';
import { type FieldSpec, type Lexicon, type ResourceSpec, WRITABLE } from '../../resources/spec.js';
import { enumValue } from '../../resources/value-check.js';
import { didYouMean, quoteValue } from './shape.js';
import { asObject, isScalarValue, type KeyPath, type Place, type RawObject, type Report, valueAt } from './yaml.js';

/**
 * What a job file says about fields, held against the resource's description. Works on the plain data, so that its
 * faults are found beside those of the shape; whatever has the wrong shape is passed over, it is reported already.
 * Undefined where the resource is not known.
 */
export function checkFields(job: RawObject, report: Report): JobFields | undefined {
  const name = WRITABLE.find((known) => known === job['resource']);
  if (!name) return undefined;
  const fields = new JobFields(job, resourceSpec(name), report);
  checkColumns(asObject(job['columns']), fields);
  checkComputed(asObject(job['computed']), fields);
  const { sources, defaulted } = fields;
  for (const section of ['constants', 'defaults'] as const) {
    for (const [fieldName, given] of Object.entries(asObject(job[section]))) {
      const path = [section, fieldName];
      const field = fields.writable(fieldName, path);
      if (!field) continue;
      const wrong = fields.constantProblem(field.spec, given);
      if (wrong) report(valueAt(path), `${section}: \`${fieldName}\` ${wrong}`);
      if (section === 'defaults') {
        defaulted.add(field.key);
        continue;
      }
      const mapped = sources.get(field.key);
      if (mapped?.kind === 'constant') report(path, `\`${fieldName}\` is given twice; keep one`);
      if (mapped?.kind === 'column') {
        report(
          path,
          `\`${fieldName}\` is a constant and is mapped to a column too; the constant stands in every row`,
          'warning',
        );
      }
      if (!mapped) sources.set(field.key, { kind: 'constant', path });
    }
  }
  const match = asObject(job['match']);
  checkMatch(match, fields);
  checkCoverage(match, asObject(job['defaults']), fields);
  if (job['retire'] !== undefined) checkSetValues(job['retire'], ['retire'], fields);
  checkReferences(job, report);
  return fields;
}

/** Records are created only for the rows of an import. */
function checkReferences(job: RawObject, report: Report): void {
  const { missing, retire } = asObject(job['references']);
  for (const name of Object.keys(asObject(retire))) {
    const field = findField(resourceSpec('customer'), name);
    if (!field?.update || field.name === 'name')
      report(
        ['references', 'retire', name],
        `\`references.retire\`: \`${name}\` is no field of suppliers and customers that can be set here`,
      );
  }
  if (missing === 'create' && job['kind'] === 'reconcile') {
    const message = '`references.missing` can be create in import jobs only; a reconcile job rejects such rows';
    report(valueAt(['references', 'missing']), message);
  }
}

/** Where a field gets its values from. */
interface FieldSource {
  readonly kind: 'column' | 'constant';
  readonly path: KeyPath;
}

/** The columns of a job: headings that can be told apart, fields that exist and are set once. */
function checkColumns(columns: RawObject, fields: JobFields): void {
  const { report } = fields;
  const headings = new Map<string, string>();
  for (const [heading, target] of Object.entries(columns)) {
    const path = ['columns', heading];
    const folded = foldText(heading);
    const earlier = headings.get(folded);
    if (folded === '') report(path, 'a heading is blank; write the heading as it stands in the file');
    else if (heading === '__proto__') report(path, 'a column of this name cannot be mapped; rename it in the file');
    else if (isOwnHeading(heading)) {
      report(path, `\`${heading}\` begins with _: such columns hold rowferry's own remarks and are never read`);
    } else if (earlier !== undefined) {
      report(path, `the headings \`${earlier}\` and \`${heading}\` are the same but for case, blanks or Unicode form`);
    }
    headings.set(folded, heading);

    for (const [i, one] of (Array.isArray(target) ? target : [target]).entries()) {
      const at = Array.isArray(target) ? [...path, i] : path;
      const options = asObject(one);
      const name = typeof one === 'string' ? one : options['field'];
      if (typeof name !== 'string' || name === '') continue;
      const fieldPath = typeof one === 'string' ? at : [...at, 'field'];
      const field = fields.writable(name, valueAt(fieldPath));
      checkDates(options['dates'], [...at, 'dates'], report);
      if (!field) continue;
      fields.claim(name, field.key, fieldPath);
      checkColumnOptions(options, at, field.spec, fields);
    }
  }
}

/** A field that is put together from several columns. */
function checkComputed(computed: RawObject, fields: JobFields): void {
  for (const [name, text] of Object.entries(computed)) {
    const path = ['computed', name];
    const field = fields.writable(name, path);
    if (field) fields.claim(name, field.key, path);
    if (typeof text === 'string' && text !== '' && !/\{[^{}]+\}/.test(text))
      fields.report(
        valueAt(path),
        `\`${text}\` names no heading in braces, as in "{Vendor} / {Title}"; a fixed value belongs to constants`,
      );
  }
}

function checkColumnOptions(options: RawObject, path: KeyPath, field: FieldSpec | undefined, fields: JobFields): void {
  const cells = new Map<string, string>();
  for (const [cell, meaning] of Object.entries(asObject(options['values']))) {
    const at = [...path, 'values', cell];
    const folded = foldText(cell);
    const earlier = cells.get(folded);
    if (earlier !== undefined)
      fields.report(at, `\`${earlier}\` and \`${cell}\` are the same cell text: case and blanks do not count`);
    cells.set(folded, cell);
    const wrong = fields.constantProblem(field, meaning);
    if (wrong) fields.report(valueAt(at), `the value for \`${cell}\` ${wrong}`);
  }
}

export function checkDates(dates: unknown, path: KeyPath, report: Report): void {
  if (!Array.isArray(dates)) return;
  for (const [i, format] of dates.entries()) {
    if (typeof format !== 'string' || format === '') continue;
    const wrong = compileDateFormat(format);
    if (typeof wrong === 'string')
      report(valueAt([...path, i]), `the date format ${quoteValue(format)} cannot be used: ${wrong}`);
  }
}

/** The fields of `match.key` under the names the resource gives them. */
function matchKeys(job: RawObject, spec: ResourceSpec): string[] {
  const key = asObject(job['match'])['key'];
  const names = Array.isArray(key) ? key : key === NO_KEY ? [] : [key];
  return names.filter((one) => typeof one === 'string').map((one) => findField(spec, one)?.name ?? one.trim());
}

function checkMatch(match: RawObject, fields: JobFields): void {
  const { spec, keys, sources, report } = fields;
  const listed = Array.isArray(match['key']);
  const seen = new Set<string>();
  for (const [i, key] of keys.entries()) {
    const path = listed ? ['match', 'key', i] : ['match', 'key'];
    if (seen.has(key)) report(valueAt(path), `\`${key}\` stands in the key twice`);
    seen.add(key);
    if (key === 'id') {
      if (keys.length > 1) report(path, '`id` alone identifies a record; leave the other key fields out');
    } else {
      const field = fields.lookUp(key, valueAt(path));
      if (!field) continue;
      if (!spec.readable && (key !== 'name' || keys.length > 1)) {
        report(
          valueAt(path),
          `a ${spec.name} can be matched by \`name\` or \`id\` alone: the service does not show the others`,
        );
      } else if (spec.readable && field.spec && field.spec.read === undefined) {
        report(path, `\`${key}\` cannot be a key: the service never shows it, so nothing can be found by it`);
      }
    }
    if (!sources.has(sourceKey(key))) report(valueAt(path), `the key \`${key}\` is not mapped to any column`);
  }
  if (keys.length > 0 && keys.every((key) => sources.get(sourceKey(key))?.kind === 'constant')) {
    report(['match', 'key'], 'the key is a constant, so every row would be the same record; map a column to it');
  }

  const unique = match['unique_field'];
  if (typeof unique !== 'string') return;
  if (spec.name !== 'asset') {
    report(
      ['match', 'unique_field'],
      `\`unique_field\` exists for assets only, not for ${withArticle(spec.name)}; leave it out`,
    );
  } else if (findField(spec, unique) && !sources.has(unique)) {
    report(valueAt(['match', 'unique_field']), `\`unique_field\` is \`${unique}\`, which is not mapped to any column`);
  }
}

/** Custom fields have no canonical name before the service is asked; their spelling stands for it. */
const sourceKey = (key: string) => (customFieldName(key) ? foldText(key) : key);

/** A job that creates records but never sets what every record must have. */
function checkCoverage(match: RawObject, defaults: RawObject, { spec, sources, report }: JobFields): void {
  if (match['missing'] === 'skip' || match['missing'] === 'fail' || sources.size === 0) return;
  const given = new Set([...sources.keys(), ...Object.keys(defaults).map((key) => findField(spec, key)?.name ?? key)]);
  const missing = checkRecord(spec, {}, 'create').flatMap(({ code, field }) =>
    code === 'required' && field && !given.has(field) ? [field] : [],
  );
  if (missing.length === 0) return;
  report(
    ['columns'],
    `a new ${spec.name} needs ${missing.map((field) => `\`${field}\``).join(', ')}, which nothing here sets: rows that create a record will be invalid`,
    'warning',
  );
}

/** Values that a job gives to records which are there already (`retire`, `orphans.set`): fields that an update can write. */
export function checkSetValues(given: unknown, at: KeyPath, fields: JobFields): void {
  const { spec, keys, report } = fields;
  const values = Object.entries(asObject(given));
  const name = at.join('.');
  if (values.length === 0 && typeof given === 'object' && given !== null && !Array.isArray(given)) {
    report(at, `\`${name}\` names no field; write \`${name}: { field: value }\``);
  }
  const seen = new Map<string, string>();
  for (const [text, value] of values) {
    const path = [...at, text];
    if (text.trim().toLowerCase() === 'id') {
      report(path, '`id` cannot be set: the service gives ids itself');
      continue;
    }
    const field = fields.writable(text, path);
    if (!field) continue;
    const earlier = seen.get(field.key);
    if (earlier !== undefined) report(path, `\`${text}\` is given twice: \`${earlier}\` sets it already`);
    seen.set(field.key, text);
    if (keys.includes(field.key)) {
      report(path, `\`${text}\` is the key of this job: a record whose key is changed is another one to the next file`);
    }
    if (field.spec && field.spec.update === undefined) {
      report(path, `\`${text}\` cannot be set: it is fixed when ${withArticle(spec.name)} is created`);
      continue;
    }
    if (!isScalarValue(value)) continue;
    const wrong =
      String(value).trim() === ''
        ? 'is blank; state a value'
        : (fields.constantProblem(field.spec, value) ?? updateProblem(field.spec, String(value)));
    if (wrong) report(valueAt(path), `${name}: \`${text}\` ${wrong}`);
  }
}

/** What may be created and not written later. */
function updateProblem(field: FieldSpec | undefined, text: string): string | undefined {
  if (field?.type.kind !== 'enum' || !field.type.update) return undefined;
  const value = enumValue(field.type, text);
  if (value === undefined || field.type.update.includes(value)) return undefined;
  return `is ${quoteValue(text)}; an update accepts only: ${field.type.update.join(', ')}`;
}

/** A field that a job names. `key` tells fields apart; `spec` is absent for `id` and for custom fields, whose names only the service knows. */
export interface NamedField {
  readonly key: string;
  readonly spec: FieldSpec | undefined;
}

/**
 * The fields of a job by the names people write. What is wrong with a name is reported, and the answer is then undefined.
 */
export class JobFields {
  /** Of `match.key`, canonical. */
  readonly keys: readonly string[];
  /** Where columns and constants set a field, by its key. */
  readonly sources = new Map<string, FieldSource>();
  /** Keys of the fields that have a default. */
  readonly defaulted = new Set<string>();
  /** `source.dates`, as far as they are texts. */
  private readonly dates: readonly string[];

  constructor(
    job: RawObject,
    readonly spec: ResourceSpec,
    readonly report: Report,
  ) {
    this.keys = matchKeys(job, spec);
    const dates = asObject(job['source'])['dates'];
    this.dates = Array.isArray(dates) ? dates.filter((one) => typeof one === 'string') : [];
  }

  /** Each field has one source. */
  claim(name: string, key: string, at: KeyPath): void {
    const before = this.sources.get(key);
    if (!before) this.sources.set(key, { kind: 'column', path: at });
    else this.report(valueAt(at), `\`${name}\` is mapped twice: the column \`${before.path[1]}\` sets it already`);
  }

  /** A field that exists. */
  lookUp(text: string, place: Place): NamedField | undefined {
    const { spec, keys } = this;
    const one = withArticle(spec.name);
    const refuse = (message: string) => {
      this.report(place, message);
      return undefined;
    };
    const custom = customFieldName(text);
    if (custom) {
      if (custom.kind === 'form' && !spec.form) return refuse(`\`${text}\`: ${one} has no custom forms`);
      const occurrence = custom.kind === 'form' ? /#\s*(\d+)$/.exec(custom.splits[0]?.owner ?? '')?.[1] : undefined;
      if (occurrence !== undefined && !/^[1-9]\d{0,2}$/.test(occurrence)) {
        return refuse(
          `\`${text}\`: #${occurrence} is no row of a form; rows count from #1 to #999, and without # the first is meant`,
        );
      }
      if (custom.splits.length > 0) return { key: foldText(text), spec: undefined };
      const parts = custom.kind === 'form' ? '<form>.<column>' : '<template>.<field>';
      return refuse(`\`${text}\` is incomplete; write ${custom.kind}.${parts}`);
    }
    if (text.trim().toLowerCase() === 'id') {
      if (keys.includes('id')) return { key: 'id', spec: undefined };
      return refuse('`id` can be mapped only where it is the key (match: { key: id }); the service gives ids itself');
    }
    const field = findField(spec, text.trim());
    if (field) return { key: field.name, spec: field };
    return refuse(`${one} has no field \`${text}\`${didYouMean(text, spellings(spec))}`);
  }

  /** A field that exists and that an import can set. */
  writable(text: string, place: Place): NamedField | undefined {
    const found = this.lookUp(text, place);
    if (!found?.spec) return found;
    const { create, update, derived } = found.spec;
    if (!derived && (create !== undefined || update !== undefined)) return found;
    this.report(place, `\`${text}\` can only be read: the service sets it itself; remove it or map the column to ~`);
    return undefined;
  }

  /**
   * Why a value written in a job file (constant, default, meaning of a cell text) cannot be a field's value; undefined where it
   * can. `field` is absent for custom fields: their types are known only when the service is asked.
   */
  constantProblem(field: FieldSpec | undefined, value: unknown): string | undefined {
    if (!isScalarValue(value)) return undefined;
    if (value === '?')
      return 'is still the "?" that stood for what only a person knows; write it there, or take the line out';
    if (!field) return undefined;
    const problems: string[] = [];
    const job = { source: { dates: this.dates } };
    jobValue({ field: field.name, name: field.name, spec: field }, value, { job }, problems);
    const [wrong] = problems;
    // There is no cell.
    return wrong && `cannot be used: ${wrong.replace(/ Correct the cell.*$/, '')}`;
  }
}

function spellings(spec: ResourceSpec): string[] {
  return spec.fields.flatMap((field) => [field.name, ...(field.aliases ?? [])]);
}

/** Nothing is known of the service: what names mean that are its own is found out when a run begins. */
export const NO_LEXICON: Lexicon = {
  countryCode: () => undefined,
  template: () => undefined,
  form: () => undefined,
  idOf: () => undefined,
  nameOf: () => undefined,
};
