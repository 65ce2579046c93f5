import { tableFormat } from '../../files/table-format.js';
import { RunError } from '../../model/error.js';
import { IMPORTABLE } from '../../model/resource-names.js';
import { foldText } from '../../model/value.js';
import { READ_ONLY, WRITABLE } from '../../resources/spec.js';
import { type ExportNames, exportNames } from './export-names.js';
import { PLACEHOLDERS } from './export-request.js';
import { asPlain, type Plain, type Report } from './names.js';
import { shown } from './shape.js';
import { writtenProblem } from './values.js';
import type { JobYaml, KeyPath } from './yaml.js';

/**
 * What an export job says beyond its shape. Works on the plain data, so that its faults are found beside those of the
 * shape; whatever has the wrong shape is passed over, it is reported already.
 */
export function checkExport(value: unknown, yaml: JobYaml, report: Report): void {
  const job = asPlain(value);
  checkFile(job['output'], ['output'], report);
  checkFile(asPlain(job['schedule'])['file'], ['schedule', 'file'], report);
  if (job['schedule'] !== undefined && job['output'] === undefined && asPlain(job['schedule'])['file'] === undefined) {
    report(['schedule'], 'the job has a schedule and names no file to write; add `output: exports/name-{date}.xlsx`');
  }
  const resource = [...WRITABLE, ...READ_ONLY].find((known) => known === job['resource']);
  if (!resource) return;
  checkEditable(job, report);
  const names = exportNames(resource, report);
  checkColumns(job['columns'], names, report);
  checkFilter(asPlain(job['filter']), names, yaml, report);
  const order = job['order'];
  if (typeof order === 'string' && order !== '') names.order(order, ['order']);
}

function checkFile(file: unknown, path: KeyPath, report: Report): void {
  if (typeof file !== 'string' || file === '') return;
  for (const wrong of targetProblems(file)) {
    report(path, `\`${path.join('.')}\` is ${shown(file)}; ${wrong}`, { part: 'value' });
  }
}

/** Why a file cannot be the target of an export, going by its name alone, as written in a job: `{date}` may stand in it. */
export function targetProblems(file: string): string[] {
  const problems: string[] = [];
  if (/(^|[/\\])\.[^/\\]*$/.test(file)) problems.push('the name of the file must not begin with a dot');
  else problems.push(...formatProblems(file));
  for (const [found = '', inner = ''] of file.matchAll(/\{([^{}]*)\}/g)) {
    if (PLACEHOLDERS.some((known) => known === inner)) continue;
    problems.push(`${found} has no meaning there: {date} alone is replaced, by the calendar date as yyyy-MM-dd`);
  }
  return problems;
}

function formatProblems(file: string): string[] {
  try {
    tableFormat(file);
    return [];
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    // The place of the problem names the file already.
    return [error.message.replace(`${file}: `, '').replace(/\.$/, '')];
  }
}

function checkEditable(job: Plain, report: Report): void {
  if (job['editable'] !== true) return;
  if (!IMPORTABLE.some((name) => name === job['resource'])) {
    report(['editable'], `\`editable\` is for ${IMPORTABLE.join(', ')}: a ${job['resource']} can only be read`);
  }
  if (Object.hasOwn(asPlain(job['filter']), 'req')) {
    report(
      ['filter', 'req'],
      '`req` shows parts of records only, which cannot be imported again; remove it or `editable`',
    );
  }
}

function checkColumns(columns: unknown, names: ExportNames, report: Report): void {
  if (!Array.isArray(columns)) return;
  const seen = new Set<string>();
  for (const [i, column] of columns.entries()) {
    if (typeof column !== 'string' || column === '') continue;
    const key = foldText(column);
    if (seen.has(key)) {
      report(['columns', i], `\`${column}\` stands in the list twice; it is written once`, {
        part: 'value',
        severity: 'warning',
      });
    } else names.column(column, ['columns', i]);
    seen.add(key);
  }
}

function checkFilter(filter: Plain, names: ExportNames, yaml: JobYaml, report: Report): void {
  for (const [name, given] of Object.entries(filter)) {
    const path = ['filter', name];
    if (name.trim() === '' || name.includes('=')) {
      report(path, `\`${name}\` is no field; write \`field: value\``);
      continue;
    }
    const values = (Array.isArray(given) ? given : [given]).map((value, i) => ({
      value,
      at: Array.isArray(given) ? [...path, i] : path,
    }));
    const field = names.filter(name, values, path);
    for (const { value, at } of values) {
      const changed = writtenProblem(field, value, yaml.written(at));
      if (changed !== undefined) report(at, `filter: \`${name}\` ${changed}`, { part: 'value' });
    }
  }
  const form = ['custom_form_id', 'custom_form_name', 'custom_form_value'];
  const given = form.filter((name) => Object.hasOwn(filter, name));
  if (given.length > 0 && given.length < form.length) {
    report(['filter', given[0] ?? ''], `${form.map((name) => `\`${name}\``).join(', ')} go together; write all three`);
  }
}
