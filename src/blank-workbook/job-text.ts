import type { ResourceSpec } from '../resources/spec.js';
import { type BlankColumn, KEY, SHEET } from './columns.js';

/** The job that imports the workbook; contract, section 4. `workbook` is the file's name. */
export function jobText(
  spec: ResourceSpec,
  columns: readonly BlankColumn[],
  about: { readonly workbook: string; readonly job: string; readonly company?: number },
): string {
  const key = KEY[spec.name];
  return [
    `# Written by \`rowferry template\` for ${oneLine(about.workbook)}.`,
    '#',
    `#   rowferry import ${shellWord(about.workbook)} --job ${shellWord(about.job)} --dry-run     what would happen?`,
    `#   rowferry import ${shellWord(about.workbook)} --job ${shellWord(about.job)}               do it`,
    '',
    'kind: import',
    `resource: ${spec.name}`,
    ...(about.company === undefined ? [] : [`company: ${about.company}`]),
    '',
    'source:',
    '  format: xlsx',
    `  sheet: ${SHEET[spec.name].padEnd(25)}# the other sheets are never imported`,
    '  header_row: 1',
    '',
    'match:',
    `  key: ${key}`,
    ...(spec.name === 'asset'
      ? [`  unique_field: ${key}     # the service itself refuses a second asset with this serial number`]
      : []),
    '  existing: update                # update | skip | fail',
    '  missing: create                 # create | skip | fail',
    '',
    'blank: keep                       # a blank cell leaves the value in the service as it is',
    '',
    'columns:',
    ...columns.flatMap(({ heading, field, spec, group }, at) => {
      const target = quoted(field);
      // A row whose key is blank is invalid anyhow; without `required` another field can be made the key.
      const line = `  ${quoted(heading)}: ${spec.required ? `{ field: ${target}, required: true }` : target}`;
      return columns[at - 1]?.group === group && at > 0 ? [line] : [`  # ${group ?? 'Others'}`, line];
    }),
    '',
  ].join('\n');
}

/** Plain where YAML and people read it alike, else in double quotes, whose escapes are those of JSON. */
function quoted(text: string): string {
  return /^[A-Za-z][\w.()*/-]*(?: [\w.()*/-]+)*$/.test(text) && !/^(?:y|n|yes|no|on|off|true|false|null)$/i.test(text)
    ? text
    : JSON.stringify(text);
}

const oneLine = (text: string) => text.replace(/[\p{Cc}\u2028\u2029]/gu, ' ');

/** As a shell takes it; comments show it only. */
function shellWord(text: string): string {
  const line = oneLine(text);
  return /^[\w./@%+:,-]+$/.test(line) ? line : `"${line}"`;
}
