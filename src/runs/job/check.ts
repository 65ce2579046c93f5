import { isKnownEncoding } from '../../files/encoding/encoding.js';
import { customFieldName, type Job, NO_KEY, type ReconcileJob } from '../../model/job.js';
import { foldText } from '../../model/value.js';
import { nearestNames } from '../../pipeline/map/headings.js';
import { findField } from '../../resources/registry.js';
import type { FieldSpec } from '../../resources/spec.js';
import { readScope, scopeNaming } from '../reconcile/scope.js';
import { checkCron, checkTimeZone } from '../schedule/slots.js';
import { checkExport } from './export.js';
import { checkDates, checkFields, checkGiven, type NamedField, type NamedFields, NO_LEXICON } from './fields.js';
import { didYouMean, JOB_KINDS, type JobKind, jobShape, SCHEMAS, shapeProblems, shown } from './shape.js';
import {
  asPlain,
  isScalarValue,
  type JobProblem,
  type JobYaml,
  type Place,
  type Plain,
  type Report,
  readJobYaml,
  valueAt,
  writtenProblem,
} from './yaml.js';

/** What came of a job file's text. `kind`: what it says it is, or seems to be; absent where that cannot be told. */
export interface CheckedText {
  readonly kind?: JobKind;
  readonly job?: Job;
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
  const job = asPlain(value);
  const problems: JobProblem[] = [];
  const report: Report = (place, message, severity) => {
    problems.push({ ...problemAt(yaml, place, message), severity: severity ?? 'error' });
  };
  const kind = kindOf(job, report);
  const parsed = SCHEMAS[kind].safeParse(value);
  if (!parsed.success) {
    // What the kind is was looked at already.
    const issues = parsed.error.issues.filter(({ path }) => path[0] !== 'kind');
    for (const { path, part, message } of shapeProblems(issues, value, jobShape(kind)))
      report(part === 'value' ? valueAt(path) : path, message);
  }
  checkSchedule(asPlain(job['schedule']), report);
  if (kind === 'export') checkExport(value, yaml, report);
  else checkRows(kind, value, yaml, report);

  const sorted = byLine(problems);
  const failed = !parsed.success || sorted.some((one) => one.severity === 'error');
  return failed ? { kind, problems: sorted } : { kind, job: parsed.data, problems: sorted };
}

/** Keys that only reconcile jobs have. */
const RECONCILE_KEYS = ['compare', 'orphans', 'scope'] as const;

/** What a job is, or, where it does not say so, seems to be. */
function kindOf(job: Plain, report: Report): JobKind {
  const stated = job['kind'];
  const known = JOB_KINDS.find((kind) => kind === stated);
  if (known) return known;
  if (stated === undefined) report(['kind'], '`kind` is missing; write import, export or reconcile');
  else {
    const text = typeof stated === 'string' ? stated : '';
    const message = `\`kind\` is ${shown(stated)}; it must be import, export or reconcile${didYouMean(text, JOB_KINDS)}`;
    report(valueAt(['kind']), message);
    const [near] = nearestNames(text, JOB_KINDS);
    const meant = JOB_KINDS.find((kind) => kind === near);
    if (meant) return meant;
  }
  if (RECONCILE_KEYS.some((key) => job[key] !== undefined)) return 'reconcile';
  return job['match'] === undefined && (job['output'] !== undefined || Array.isArray(job['columns']))
    ? 'export'
    : 'import';
}

function checkRows(kind: 'import' | 'reconcile', value: object, yaml: JobYaml, report: Report): void {
  const job = asPlain(value);
  checkSource(asPlain(job['source']), report);
  if (Object.keys(asPlain(job['columns'])).length === 0 && typeof job['columns'] === 'object') {
    report(['columns'], 'no column is mapped; write `Heading: field` for each column that is to be imported');
  }
  checkBrakes(kind, asPlain(job['brakes']), report);
  const named = checkFields(value, yaml, report);
  if (kind === 'reconcile' && named) checkReconcile(job, named, yaml, report);
}

function checkSource(source: Readonly<Record<string, unknown>>, report: Report): void {
  const { encoding, format, sheet } = source;
  checkDates(source['dates'], ['source', 'dates'], report);
  if (typeof encoding === 'string' && encoding !== 'auto' && encoding !== '' && !isKnownEncoding(encoding)) {
    report(
      valueAt(['source', 'encoding']),
      `the encoding ${shown(encoding)} is not known${didYouMean(encoding, ENCODINGS)}`,
    );
  }
  if (sheet !== undefined && (format === 'csv' || format === 'ndjson')) {
    report(['source', 'sheet'], `\`sheet\` belongs to workbooks; a ${format} file has no sheets`);
  }
}

/** A part is never more than the whole; only how a file has grown since the last run can be. */
function checkBrakes(kind: JobKind, brakes: Plain, report: Report): void {
  if (kind === 'import' && brakes['max_orphans'] !== undefined) {
    const message =
      '`brakes.max_orphans` has no effect: only reconcile jobs look for records that a file does not hold';
    report(['brakes', 'max_orphans'], message, 'warning');
  }
  for (const [name, limit] of Object.entries(brakes)) {
    const percent = typeof limit === 'string' ? /^(\d+(?:\.\d+)?)\s*%$/.exec(limit)?.[1] : undefined;
    if (name === 'max_change' || percent === undefined || Number(percent) <= 100) continue;
    report(
      valueAt(['brakes', name]),
      `\`brakes.${name}\` is ${shown(limit)}, a share of the ${name === 'max_orphans' ? 'records' : 'rows'} above 100%, so it would never stop a run; write at most 100%, or a count`,
    );
  }
}

const ENCODINGS = [
  'auto',
  'utf-8',
  'utf-16le',
  'utf-16be',
  'windows-1252',
  'windows-1250',
  'iso-8859-1',
  'iso-8859-15',
];

function checkSchedule(schedule: Readonly<Record<string, unknown>>, report: Report): void {
  const { cron, timezone } = schedule;
  const wrong = typeof cron === 'string' && cron !== '' ? checkCron(cron) : undefined;
  if (wrong) report(valueAt(['schedule', 'cron']), `the cron expression ${shown(cron)} cannot be used: ${wrong}`);
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
function checkReconcile(job: Plain, named: NamedFields, yaml: JobYaml, report: Report): void {
  if (!named.spec.readable) {
    report(
      valueAt(['resource']),
      `${named.spec.name}s cannot be reconciled: the service neither lists nor shows them, so there is nothing to compare with; use an import job`,
    );
    return;
  }
  if (asPlain(job['match'])['key'] === NO_KEY)
    report(
      valueAt(['match', 'key']),
      'a reconciliation compares rows with records by a key; name the field that identifies them',
    );
  checkCompare(asPlain(job['compare']), named, report);
  checkOrphans(asPlain(job['orphans']), named, yaml, report);
  checkScope(asPlain(job['scope']), named, yaml, report);
}

/** Fields that the job sets: of the others there is nothing in the file to compare with. */
function checkCompare(compare: Plain, named: NamedFields, report: Report): void {
  const listed = Array.isArray(compare['fields']) ? compare['fields'] : [];
  for (const [i, text] of listed.entries()) {
    if (typeof text === 'string' && text !== '') comparable(text, valueAt(['compare', 'fields', i]), named, report);
  }
  const seen = new Map<string, string>();
  for (const text of Object.keys(asPlain(compare['authority']))) {
    const path = ['compare', 'authority', text];
    const key = text === '*' ? undefined : comparable(text, path, named, report)?.key;
    if (key === undefined) continue;
    const earlier = seen.get(key);
    if (earlier !== undefined) report(path, `\`${text}\` is the same field as \`${earlier}\`; keep one of them`);
    seen.set(key, text);
  }
}

function comparable(text: string, place: Place, { fields, set }: NamedFields, report: Report): NamedField | undefined {
  const field = fields.known(text, place);
  if (!field) return undefined;
  if (set.has(field.key) || maySet(text, set)) return field;
  report(
    place,
    `\`${text}\` is set by no column, constant or default, so there is nothing to compare; map a column to it`,
  );
  return undefined;
}

/** Names and ids of custom fields come to one only when the service is asked. */
function maySet(text: string, set: ReadonlySet<string>): boolean {
  const kind = customFieldName(text)?.kind;
  return kind !== undefined && [...set].some((one) => customFieldName(one)?.kind === kind);
}

function checkOrphans(orphans: Plain, named: NamedFields, yaml: JobYaml, report: Report): void {
  const { action, set } = orphans;
  const inner = asPlain(action)['set'];
  if (inner !== undefined && set !== undefined) {
    report(['orphans', 'set'], '`set` stands beside `action: { set: … }`; keep one of the two');
  } else if (action === 'set' && set === undefined) {
    report(['orphans', 'action'], '`action: set` needs to know what; add `set: { field: value }` beside it');
  } else if (set !== undefined && (action === 'report' || action === 'archive')) {
    report(['orphans', 'set'], `\`set\` has no effect with \`action: ${action}\`; remove it, or write \`action: set\``);
  }
  if (action === 'archive' && named.spec.name !== 'contract') {
    const example = findField(named.spec, 'lifecycle_stage')
      ? 'set: { lifecycle_stage: Retired }'
      : 'set: { field: value }';
    report(valueAt(['orphans', 'action']), `${named.spec.name}s have no archive: use \`${example}\``);
  }
  if (inner !== undefined) checkGiven(inner, ['orphans', 'action', 'set'], named, yaml, report);
  if (set !== undefined) checkGiven(set, ['orphans', 'set'], named, yaml, report);
}

/** Names and values as a run reads them, but for custom fields, which the service alone knows. */
function checkScope(scope: Plain, { spec, fields }: NamedFields, yaml: JobYaml, report: Report): void {
  const naming = scopeNaming(spec.name, NO_LEXICON);
  const tell = (one: ReconcileJob['scope'], place: Place): boolean => {
    const { problems } = readScope(one, naming);
    for (const problem of problems) report(place, problem.replace(/\.$/, ''));
    return problems.length === 0;
  };
  const seen = new Map<string, string>();
  for (const [name, given] of Object.entries(scope)) {
    const path = ['scope', name];
    const earlier = seen.get(foldText(name));
    if (earlier !== undefined) report(path, `\`${name}\` is the same as \`${earlier}\`; write both values as a list`);
    seen.set(foldText(name), name);
    const custom = customFieldName(name) !== undefined;
    let field: FieldSpec | undefined;
    if (custom) {
      if (!fields.known(name, path)) continue;
    } else if (!tell({ [name]: null }, path)) continue;
    else field = findField(spec, name);
    for (const [i, value] of (Array.isArray(given) ? given : [given]).entries()) {
      if (!isScalarValue(value)) continue;
      const at = Array.isArray(given) ? [...path, i] : path;
      const changed = writtenProblem(field, value, yaml.written(at));
      if (changed !== undefined) report(valueAt(at), `scope: \`${name}\` ${changed}`);
      else if (!custom) tell({ [name]: value }, valueAt(at));
    }
  }
}
