import { commentText, key as keyText, scalar, shellWord } from '../model/yaml-text.js';
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
    `# Written by \`rowferry template\` for ${commentText(about.workbook)}.`,
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
      const target = scalar(field);
      // A row whose key is blank is invalid anyhow; without `required` another field can be made the key.
      const line = `  ${keyText(heading, '  ')} ${spec.required ? `{ field: ${target}, required: true }` : target}`;
      return columns[at - 1]?.group === group && at > 0 ? [line] : [`  # ${group ?? 'Others'}`, line];
    }),
    '',
  ].join('\n');
}
