import { resourceSpec } from '../../resources/registry.js';
import { WRITABLE } from '../../resources/spec.js';
import { checkColumns, type Source } from './columns.js';
import { checkGiven } from './given.js';
import { checkCoverage, checkMatch, matchKeys } from './match.js';
import { asPlain, fieldNames, type NamedFields, type Plain, type Report } from './names.js';
import { constantProblem } from './values.js';
import type { JobYaml } from './yaml.js';

/**
 * What a job file says about fields, held against the resource's description. Works on the plain data, so that its
 * faults are found beside those of the shape; whatever has the wrong shape is passed over, it is reported already.
 * Undefined where the resource is not known.
 */
export function checkFields(value: unknown, yaml: JobYaml, report: Report): NamedFields | undefined {
  const job = asPlain(value);
  const name = WRITABLE.find((known) => known === job['resource']);
  if (!name) return undefined;
  const spec = resourceSpec(name);
  const keys = matchKeys(job, spec);
  const match = asPlain(job['match']);
  const fields = fieldNames(spec, keys, match, report);
  const dates = dateFormats(job);
  const sources = new Map<string, Source>();
  const set = new Set<string>();

  checkColumns(asPlain(job['columns']), yaml, fields, sources, dates, report);
  for (const section of ['constants', 'defaults'] as const) {
    for (const [fieldName, given] of Object.entries(asPlain(job[section]))) {
      const path = [section, fieldName];
      const field = fields.writable(fieldName, path, 'key');
      if (!field) continue;
      set.add(field.key);
      const wrong = constantProblem(field.spec, given, yaml.written(path), dates);
      if (wrong) report(path, `${section}: \`${fieldName}\` ${wrong}`, { part: 'value' });
      if (section === 'defaults') continue;
      const mapped = sources.get(field.key);
      if (mapped?.kind === 'constant') report(path, `\`${fieldName}\` is given twice; keep one`);
      if (mapped?.kind === 'column') {
        report(path, `\`${fieldName}\` is a constant and is mapped to a column too; the constant stands in every row`, {
          severity: 'warning',
        });
      }
      if (!mapped) sources.set(field.key, { kind: 'constant', path });
    }
  }
  checkMatch(match, keys, spec, fields, sources, report);
  checkCoverage(match, asPlain(job['defaults']), spec, sources, report);
  for (const key of sources.keys()) set.add(key);
  const named: NamedFields = { spec, keys, fields, set, dates };
  checkRetire(job, named, yaml, report);
  return named;
}

/** What records are given that a run created, when it is undone. */
function checkRetire(job: Plain, named: NamedFields, yaml: JobYaml, report: Report): void {
  if (job['retire'] === undefined) return;
  checkGiven(job['retire'], ['retire'], named, yaml, report);
  const { missing } = asPlain(job['match']);
  if (missing === 'skip' || missing === 'fail') {
    report(['retire'], '`retire` has no effect: this job creates no records', { severity: 'warning' });
  }
}

/** `source.dates`, as far as it is a list of texts. */
function dateFormats(job: Plain): string[] {
  const dates = asPlain(job['source'])['dates'];
  return Array.isArray(dates) ? dates.filter((one) => typeof one === 'string') : [];
}
