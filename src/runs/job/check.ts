import { isKnownEncoding } from '../../files/encoding/encoding.js';
import type { Job } from '../../model/job.js';
import { nearestNames } from '../../pipeline/map/headings.js';
import { checkCron, checkTimeZone } from '../schedule/slots.js';
import { checkExport } from './export.js';
import { checkDates, checkFields } from './fields.js';
import { asPlain, type Plain, type Report } from './names.js';
import { checkReconcile } from './reconcile.js';
import { didYouMean, JOB_KINDS, type JobKind, SCHEMAS, shapeProblems, shown } from './shape.js';
import { type JobProblem, type JobYaml, readJobYaml } from './yaml.js';

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
  const report: Report = (path, message, options = {}) => {
    problems.push({ ...problemAt(yaml, path, message, options.part), severity: options.severity ?? 'error' });
  };
  const kind = kindOf(job, report);
  const parsed = SCHEMAS[kind].safeParse(value);
  if (!parsed.success) {
    // What the kind is was looked at already.
    const issues = parsed.error.issues.filter(({ path }) => path[0] !== 'kind');
    for (const { path, part, message } of shapeProblems(issues, value, kind)) report(path, message, { part });
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
    report(['kind'], message, { part: 'value' });
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
    report(['source', 'encoding'], `the encoding ${shown(encoding)} is not known${didYouMean(encoding, ENCODINGS)}`, {
      part: 'value',
    });
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
    report(['brakes', 'max_orphans'], message, { severity: 'warning' });
  }
  for (const [name, limit] of Object.entries(brakes)) {
    const percent = typeof limit === 'string' ? /^(\d+(?:\.\d+)?)\s*%$/.exec(limit)?.[1] : undefined;
    if (name === 'max_change' || percent === undefined || Number(percent) <= 100) continue;
    report(
      ['brakes', name],
      `\`brakes.${name}\` is ${shown(limit)}, a share of the ${name === 'max_orphans' ? 'records' : 'rows'} above 100%, so it would never stop a run; write at most 100%, or a count`,
      { part: 'value' },
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
  if (wrong)
    report(['schedule', 'cron'], `the cron expression ${shown(cron)} cannot be used: ${wrong}`, { part: 'value' });
  const unknown = typeof timezone === 'string' && timezone !== '' ? checkTimeZone(timezone) : undefined;
  if (unknown) report(['schedule', 'timezone'], unknown, { part: 'value' });
}

function problemAt(
  yaml: JobYaml,
  path: readonly (string | number)[],
  message: string,
  part: 'key' | 'value' = 'key',
): JobProblem {
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
