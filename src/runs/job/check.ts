import type { Job } from '../../model/job.js';
import { nameHint } from '../../pipeline/map/headings.js';
import { checkCron, checkTimeZone } from '../schedule/slots.js';
import { checkExport } from './export.js';
import { checkRows } from './rows.js';
import { JOB_KINDS, type JobKind, jobShape, quoteValue, SCHEMAS, shapeProblems } from './shape.js';
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
  const misshapen = parsed.success ? [] : shapeProblems(parsed.error.issues, value, jobShape(kind));
  for (const { path, part, message } of misshapen) report(part === 'value' ? valueAt(path) : path, message);
  checkSchedule(asObject(job['schedule']), report);
  if (kind === 'export') checkExport(job, report);
  else checkRows(kind, job, misshapen, report);

  const sorted = byLine(problems);
  const failed = !parsed.success || sorted.some((one) => one.severity === 'error');
  return failed ? { kind, problems: sorted } : { kind, job: parsed.data, value: job, problems: sorted };
}

/** What a job says it is; what else is wrong with it can be told by that alone. */
function kindOf({ kind }: RawObject, report: Report): JobKind | undefined {
  const known = JOB_KINDS.find((one) => one === kind);
  if (kind === undefined) report(['kind'], '`kind` is missing; write import, export or reconcile');
  else if (!known) {
    const near = typeof kind === 'string' ? nameHint(kind, JOB_KINDS) : '';
    report(valueAt(['kind']), `\`kind\` is ${quoteValue(kind)}; it must be import, export or reconcile${near}`);
  }
  return known;
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
