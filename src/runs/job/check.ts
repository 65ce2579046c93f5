import { DELIMITER_RULE, knownDelimiter } from '../../files/csv/detect.js';
import { isKnownEncoding } from '../../files/encoding/encoding.js';
import { customFieldName, type Job, NO_KEY } from '../../model/job.js';
import { findField } from '../../resources/registry.js';
import { checkCron, checkTimeZone } from '../schedule/slots.js';
import { checkConditions, checkExport, knownNames } from './export.js';
import { checkDates, checkFields, checkSetValues, type JobFields, type NamedField } from './fields.js';
import { didYouMean, JOB_KINDS, type JobKind, jobShape, quoteValue, SCHEMAS, shapeProblems } from './shape.js';
import {
  asObject,
  type JobProblem,
  type JobYaml,
  type Place,
  type RawObject,
  type Report,
  readJobYaml,
  valueAt,
} from './yaml.js';

/** What came of a job file's text. `kind`: what it says it is; absent where it says none of them. */
export interface CheckedText {
  readonly kind?: JobKind;
  readonly job?: Job;
  /** The job as it stands in the text, without what is assumed where nothing is said. */
  readonly value?: RawObject;
  readonly problems: JobProblem[];
}

/**
 * Reads and checks a job file's text. All problems are listed, by line; `job` is there where none is an error.
 * What only the service knows (names of templates and forms, names of records) is checked when a run begins.
 */
export function checkJobText(text: string): CheckedText {
  const yaml = readJobYaml(text);
  if (yaml.problems.length > 0) return { problems: byLine(yaml.problems) };
  const value = yaml.value;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const what = value === null || value === undefined ? 'is empty' : 'holds no keys';
    const begins = 'it begins with `kind: import`, `kind: export` or `kind: reconcile`';
    return { problems: [problemAt(yaml, [], `the job file ${what}; ${begins}`)] };
  }
  const job = asObject(value);
  const problems: JobProblem[] = [];
  const report: Report = (place, message, severity) => {
    problems.push({ ...problemAt(yaml, place, message), severity: severity ?? 'error' });
  };
  const kind = kindOf(job, report);
  if (!kind) return { problems };
  const parsed = SCHEMAS[kind].safeParse(value);
  if (!parsed.success) {
    for (const { path, part, message } of shapeProblems(parsed.error.issues, value, jobShape(kind)))
      report(part === 'value' ? valueAt(path) : path, message);
  }
  checkSchedule(asObject(job['schedule']), report);
  if (kind === 'export') checkExport(job, report);
  else checkRows(kind, job, report);

  const sorted = byLine(problems);
  const failed = !parsed.success || sorted.some((one) => one.severity === 'error');
  return failed ? { kind, problems: sorted } : { kind, job: parsed.data, value: job, problems: sorted };
}

/** What a job says it is; what else is wrong with it can be told by that alone. */
function kindOf({ kind }: RawObject, report: Report): JobKind | undefined {
  const known = JOB_KINDS.find((one) => one === kind);
  if (kind === undefined) report(['kind'], '`kind` is missing; write import, export or reconcile');
  else if (!known) {
    const near = typeof kind === 'string' ? didYouMean(kind, JOB_KINDS) : '';
    report(valueAt(['kind']), `\`kind\` is ${quoteValue(kind)}; it must be import, export or reconcile${near}`);
  }
  return known;
}

function checkRows(kind: 'import' | 'reconcile', job: RawObject, report: Report): void {
  checkSource(asObject(job['source']), report);
  if (Object.keys(asObject(job['columns'])).length === 0 && typeof job['columns'] === 'object') {
    report(['columns'], 'no column is mapped; write `Heading: field` for each column that is to be imported');
  }
  const fields = checkFields(job, report);
  if (kind === 'reconcile' && fields) checkReconcile(job, fields);
}

function checkSource({ encoding, delimiter, dates }: RawObject, report: Report): void {
  checkDates(dates, ['source', 'dates'], report);
  if (typeof encoding === 'string' && encoding !== 'auto' && encoding !== '' && !isKnownEncoding(encoding))
    report(valueAt(['source', 'encoding']), `the encoding ${quoteValue(encoding)} is not known`);
  if (
    typeof delimiter === 'string' &&
    delimiter !== 'auto' &&
    delimiter !== '' &&
    knownDelimiter(delimiter) === undefined
  )
    report(valueAt(['source', 'delimiter']), `${quoteValue(delimiter)} ${DELIMITER_RULE}`);
}

function checkSchedule(schedule: Readonly<Record<string, unknown>>, report: Report): void {
  const { cron, timezone } = schedule;
  const wrong = typeof cron === 'string' && cron !== '' ? checkCron(cron) : undefined;
  if (wrong) report(valueAt(['schedule', 'cron']), `the cron expression ${quoteValue(cron)} cannot be used: ${wrong}`);
  const unknown = typeof timezone === 'string' && timezone !== '' ? checkTimeZone(timezone) : undefined;
  if (unknown) report(valueAt(['schedule', 'timezone']), unknown);
}

function problemAt(yaml: JobYaml, place: Place, message: string): JobProblem {
  const [path, part] = 'valueAt' in place ? [place.valueAt, 'value' as const] : [place, 'key' as const];
  return { ...yaml.locate(path, part), path: path.join('.'), message, severity: 'error' };
}

/** Top to bottom; the same remark about the same place once. */
function byLine(problems: readonly JobProblem[]): JobProblem[] {
  const seen = new Set<string>();
  return [...problems]
    .sort((a, b) => a.line - b.line || a.column - b.column)
    .filter((one) => {
      const text = `${one.line}:${one.column}:${one.message}`;
      return seen.has(text) ? false : seen.add(text);
    });
}

/**
 * What a reconcile job says beyond what an import says. Works on the plain data; whatever has the wrong shape is passed over,
 * it is reported already.
 */
function checkReconcile(job: RawObject, fields: JobFields): void {
  const { spec, report } = fields;
  if (!spec.readable) {
    report(
      valueAt(['resource']),
      `${spec.name}s cannot be reconciled: the service neither lists nor shows them, so there is nothing to compare with; use an import job`,
    );
    return;
  }
  if (asObject(job['match'])['key'] === NO_KEY)
    report(
      valueAt(['match', 'key']),
      'a reconciliation compares rows with records by a key; name the field that identifies them',
    );
  checkCompare(asObject(job['compare']), fields);
  checkOrphans(asObject(job['orphans']), fields);
  checkScope(job['scope'], fields);
}

/** Fields that the job sets: of the others there is nothing in the file to compare with. */
function checkCompare(compare: RawObject, fields: JobFields): void {
  const listed = Array.isArray(compare['fields']) ? compare['fields'] : [];
  for (const [i, text] of listed.entries()) {
    if (typeof text === 'string' && text !== '') comparableField(text, valueAt(['compare', 'fields', i]), fields);
  }
  const seen = new Map<string, string>();
  for (const text of Object.keys(asObject(compare['authority']))) {
    const path = ['compare', 'authority', text];
    const key = text === '*' ? undefined : comparableField(text, path, fields)?.key;
    if (key === undefined) continue;
    const earlier = seen.get(key);
    if (earlier !== undefined) fields.report(path, `\`${text}\` is the same field as \`${earlier}\`; keep one of them`);
    seen.set(key, text);
  }
}

function comparableField(text: string, place: Place, fields: JobFields): NamedField | undefined {
  const field = fields.lookUp(text, place);
  if (!field) return undefined;
  const set = [...fields.sources.keys(), ...fields.defaulted];
  // Names and ids of custom fields come to one only when the service is asked.
  const kind = customFieldName(text)?.kind;
  if (set.includes(field.key) || (kind && set.some((one) => customFieldName(one)?.kind === kind))) return field;
  fields.report(
    place,
    `\`${text}\` is set by no column, constant or default, so there is nothing to compare; map a column to it`,
  );
  return undefined;
}

function checkOrphans(orphans: RawObject, fields: JobFields): void {
  const { spec, report } = fields;
  const { action, set } = orphans;
  const inner = asObject(action)['set'];
  if (inner !== undefined && set !== undefined) {
    report(['orphans', 'set'], '`set` stands beside `action: { set: … }`; keep one of the two');
  } else if ((action === 'set') !== (set !== undefined) && action !== undefined && inner === undefined) {
    report(['orphans', 'action'], '`action: set` and `set: { field: value }` belong together: write both, or neither');
  }
  if (action === 'archive' && spec.name !== 'contract') {
    const example = findField(spec, 'lifecycle_stage') ? 'set: { lifecycle_stage: Retired }' : 'set: { field: value }';
    report(valueAt(['orphans', 'action']), `${spec.name}s have no archive: use \`${example}\``);
  }
  if (inner !== undefined) checkSetValues(inner, ['orphans', 'action', 'set'], fields);
  if (set !== undefined) checkSetValues(set, ['orphans', 'set'], fields);
}

/** Names and values as a run reads them, but for custom fields, which the service alone knows. */
function checkScope(scope: unknown, fields: JobFields): void {
  const isOpen = (name: string, place: Place): boolean => {
    if (!customFieldName(name)) return false;
    fields.lookUp(name, place);
    return true;
  };
  checkConditions('scope', scope, isOpen, knownNames(fields.spec.name), fields.report);
}
