import { DELIMITER_RULE, knownDelimiter } from '../../files/csv/detect.js';
import { isKnownEncoding } from '../../files/encoding/encoding.js';
import { customFieldName, type JobFault, NO_KEY, type ReconcileJob, type RowsJob } from '../../model/job.js';
import { withArticle } from '../../model/resource-names.js';
import { compileColumns, headingsNamedBy } from '../../pipeline/map/columns.js';
import { compileSetValues } from '../../pipeline/map/set-values.js';
import { findTarget } from '../../pipeline/map/targets.js';
import { compileCompare } from '../../pipeline/plan/authority.js';
import { findField, resourceSpec } from '../../resources/registry.js';
import { checkRecord } from '../../resources/rules.js';
import type { ResourceSpec } from '../../resources/spec.js';
import { checkConditions, knownNames } from './export.js';
import { parseRest, quoteValue } from './shape.js';
import { asObject, type Place, type RawObject, type Report, valueAt } from './yaml.js';

/** A job that takes rows, compiled as for a file that has every heading it names and a service that has every custom field. */
interface CompiledJob {
  readonly job: RowsJob;
  readonly spec: ResourceSpec;
  readonly catalogue: undefined;
  readonly mapping: ReturnType<typeof compileColumns>;
  readonly report: Report;
}

/**
 * What an import or a reconcile job says beyond its shape: what the run would refuse, whatever the file, and what no run looks
 * at. What is `misshapen` is left out, it is reported already.
 */
export function checkRows(
  kind: RowsJob['kind'],
  value: RawObject,
  misshapen: readonly JobFault[],
  report: Report,
): void {
  if (Object.keys(asObject(value['columns'])).length === 0 && typeof value['columns'] === 'object') {
    report(['columns'], 'no column is mapped; write `Heading: field` for each column that is to be imported');
  }
  const job = parseRest(kind, value, misshapen);
  if (!job) return;
  checkSource(job, report);
  const [spec, catalogue] = [resourceSpec(job.resource), undefined];
  const meta = { headings: headingsNamedBy(job), format: 'csv', sheet: null, header_row: 1 } as const;
  const mapping = compileColumns({ job, spec, catalogue, meta });
  const compiled: CompiledJob = { job, spec, catalogue, mapping, report };
  reportFaults(mapping.problems, report);
  checkKey(compiled);
  checkCoverage(compiled);
  if (job.retire) reportFaults(compileSetValues(job.retire, ['retire'], compiled).problems, report);
  checkReferences(job, report);
  if (job.kind === 'reconcile') checkReconcile(job, value, compiled);
}

function reportFaults(faults: readonly JobFault[], report: Report): void {
  for (const { path, part, message, severity } of faults)
    report(part === 'value' ? valueAt(path) : path, message.replace(/\.$/, ''), severity);
}

function checkSource({ source: { encoding, delimiter } }: RowsJob, report: Report): void {
  if (encoding !== 'auto' && !isKnownEncoding(encoding))
    report(valueAt(['source', 'encoding']), `the encoding ${quoteValue(encoding)} is not known`);
  if (delimiter !== 'auto' && knownDelimiter(delimiter) === undefined)
    report(valueAt(['source', 'delimiter']), `${quoteValue(delimiter)} ${DELIMITER_RULE}`);
}

/** Fields that tell records apart: shown by the service, and not the same in every row. */
function checkKey({ job, spec, mapping: { columns, key: fields, setBy }, report }: CompiledJob): void {
  const { key, unique_field: unique } = job.match;
  const seen = new Set<string>();
  for (const [i, text] of key.entries()) {
    const path = ['match', 'key', i];
    const field = findField(spec, text.trim());
    const name = field?.name ?? text.trim();
    if (seen.has(name)) report(valueAt(path), `\`${name}\` stands in the key twice`);
    seen.add(name);
    if (name.toLowerCase() === 'id') {
      if (key.length > 1) report(path, '`id` alone identifies a record; leave the other key fields out');
    } else if (!spec.readable && (field || customFieldName(text)) && (name !== 'name' || key.length > 1)) {
      report(
        valueAt(path),
        `a ${spec.name} can be matched by \`name\` or \`id\` alone: the service does not show the others`,
      );
    } else if (spec.readable && field && field.read === undefined) {
      report(path, `\`${name}\` cannot be a key: the service never shows it, so nothing can be found by it`);
    }
  }
  const isConstant = (field: string) =>
    setBy.get(field)?.[0] === 'constants' && !columns.some((column) => column.field === field);
  if (fields.length > 0 && fields.every(isConstant)) {
    report(['match', 'key'], 'the key is a constant, so every row would be the same record; map a column to it');
  }

  if (unique === undefined) return;
  if (spec.name !== 'asset') {
    const message = `\`unique_field\` exists for assets only, not for ${withArticle(spec.name)}; leave it out`;
    report(['match', 'unique_field'], message);
  } else if (!setBy.has(unique)) {
    report(valueAt(['match', 'unique_field']), `\`unique_field\` is \`${unique}\`, which is not mapped to any column`);
  }
}

/** A job that creates records but never sets what every record must have. */
function checkCoverage({ job, spec, mapping: { fields, setBy }, report }: CompiledJob): void {
  if (job.match.missing !== 'create' || setBy.size === 0) return;
  const missing = checkRecord(spec, {}, 'create').flatMap(({ code, field }) =>
    code === 'required' && field && !fields.includes(field) ? [field] : [],
  );
  if (missing.length === 0) return;
  report(
    ['columns'],
    `a new ${spec.name} needs ${missing.map((field) => `\`${field}\``).join(', ')}, which nothing here sets: rows that create a record will be invalid`,
    'warning',
  );
}

/** Records are created only for the rows of an import. */
function checkReferences({ kind, references: { missing, retire = {} } }: RowsJob, report: Report): void {
  for (const name of Object.keys(retire)) {
    const field = findField(resourceSpec('customer'), name);
    if (!field?.update || field.name === 'name')
      report(
        ['references', 'retire', name],
        `\`references.retire\`: \`${name}\` is no field of suppliers and customers that can be set here`,
      );
  }
  if (missing === 'create' && kind === 'reconcile') {
    const message = '`references.missing` can be create in import jobs only; a reconcile job rejects such rows';
    report(valueAt(['references', 'missing']), message);
  }
}

/** What a reconcile job says beyond what an import says. */
function checkReconcile(job: ReconcileJob, value: RawObject, compiled: CompiledJob): void {
  const { spec, catalogue, mapping, report } = compiled;
  if (!spec.readable) {
    report(
      valueAt(['resource']),
      `${spec.name}s cannot be reconciled: the service neither lists nor shows them, so there is nothing to compare with; use an import job`,
    );
    return;
  }
  if (asObject(value['match'])['key'] === NO_KEY)
    report(
      valueAt(['match', 'key']),
      'a reconciliation compares rows with records by a key; name the field that identifies them',
    );
  reportFaults(compileCompare(job, spec, catalogue, mapping).problems, report);
  checkOrphans(job, asObject(value['orphans']), compiled);
  const isCustom = (name: string, place: Place): boolean => {
    if (!customFieldName(name)) return false;
    const found = findTarget(name, job, spec, catalogue);
    if ('problem' in found) report(place, found.problem);
    return true;
  };
  checkConditions('scope', value['scope'], isCustom, knownNames(spec.name), report);
}

/** `given`: the orphans of the job as they are written, which may be in several forms. */
function checkOrphans({ orphans }: ReconcileJob, given: RawObject, compiled: CompiledJob): void {
  const { spec, report } = compiled;
  const { action, set } = given;
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
  if (!orphans.set) return;
  const path = inner === undefined ? ['orphans', 'set'] : ['orphans', 'action', 'set'];
  reportFaults(compileSetValues(orphans.set, path, compiled).problems, report);
}
