import { basename } from 'node:path';
import type { SourceMeta } from '../model/source.js';
import { counted, number } from './column.js';
import { columnLines } from './column-lines.js';
import { TO_FILL } from './missing.js';
import type { SuggestedKey, Suggestion } from './suggestion.js';
import { commentLines, commentText, scalar, scalarInFlow } from './yaml-text.js';

/** Paths as the commands in the comments name them. */
export interface JobNames {
  readonly file: string;
  readonly job: string;
}

/** The suggestion as a job file, contract section 4: every line that was guessed says why. */
export function jobText(suggestion: Suggestion, key: SuggestedKey, meta: SourceMeta, names: JobNames): string {
  const { resource } = suggestion;
  const lines = [
    ...head(suggestion, names),
    'kind: import',
    `resource: ${resource}`,
    '',
    ...sourceLines(suggestion, meta),
    '',
    ...matchLines(suggestion, key),
    '',
    'blank: keep                         # a blank cell leaves what the service holds; clear would empty it',
    '',
    ...columnLines(suggestion.columns),
    '',
    ...missingLines(suggestion),
  ];
  return `${lines.join('\n').trimEnd()}\n`;
}

function head({ columns, rows, resource, warnings }: Suggestion, names: JobNames): string[] {
  const file = shellWord(commentText(names.file, 400));
  const job = shellWord(commentText(names.job, 400));
  const mapped = columns.filter(({ field }) => field !== undefined);
  const likely = mapped.filter(({ confidence }) => confidence === 'medium').length;
  const size = `${counted(rows, 'row')}, ${counted(columns.length, 'column')}, ${number(mapped.length)} of them mapped to fields of ${resource}`;
  const first =
    likely === 0
      ? ''
      : ` ${likely === 1 ? 'One line is' : `${likely} lines are`} marked medium, likely but not certain: look there first.`;
  return [
    ...commentLines(`Suggested by rowferry map from ${commentText(basename(names.file), 120)}: ${size}.${first}`),
    ...commentLines('Each line says why. A column with ~ is not imported.'),
    '#',
    `#   rowferry check ${job}`,
    `#   rowferry import ${file} --job ${job} --dry-run`,
    ...(warnings.length > 0 ? ['#'] : []),
    ...warnings.slice(0, 20).flatMap((warning) => commentLines(`Note: ${warning}`)),
    '',
  ];
}

function sourceLines({ dates, decimal }: Suggestion, meta: SourceMeta): string[] {
  const lines = ['source:'];
  const add = (text: string, why: string) =>
    lines.push(why === '' ? `  ${text}` : `  ${text.padEnd(33)} # ${commentText(why, 160)}`);
  const evidence = (word: RegExp) => meta.evidence.find((one) => word.test(one)) ?? '';
  add(`format: ${meta.format}`, meta.gzip ? 'gzipped' : '');
  if (meta.sheet !== null) add(`sheet: ${scalar(meta.sheet)}`, evidence(/sheet/i));
  if (meta.header_row !== null) {
    if (meta.header_row > 1) add(`header_row: ${meta.header_row}`, evidence(/heading/));
    else if (/though it looks like data/.test(evidence(/heading/)))
      lines.push(...commentLines(evidence(/heading/), '  '));
  }
  if (meta.encoding !== null && !/^(?:utf-?8|ascii)$/i.test(meta.encoding))
    add(`encoding: ${scalar(meta.encoding)}`, meta.evidence.find((one) => one.includes(meta.encoding ?? '')) ?? '');
  if (meta.delimiter !== null && meta.delimiter !== ',') {
    add(
      `delimiter: ${meta.delimiter === '\t' ? 'tab' : `"${meta.delimiter.replace(/["\\]/g, '\\$&')}"`}`,
      evidence(/delimiter/i),
    );
  }
  if (dates.length > 0)
    add(`dates: [${dates.map(scalarInFlow).join(', ')}]`, 'text dates are read in these formats and no others');
  if (decimal?.sign !== undefined) add(`decimal: "${decimal.sign}"`, decimal.why);
  else if (decimal) {
    lines.push(...commentLines(decimal.why, '  '), '  # decimal: "."', '  # decimal: ","');
  }
  return lines;
}

function matchLines({ rows, resource }: Suggestion, key: SuggestedKey): string[] {
  const { field, heading, blank, repeats, fits, natural, uniqueField, unreadable } = key;
  if (key.also.length > 0) return [...combinedLines(rows, key), ...whatToDo(resource)];
  const among = key.counted === rows - blank ? '' : `, of the first ${number(key.counted)} that were counted`;
  const lost = unreadable > 0 ? `, ${number(unreadable)} cannot be read` : '';
  const facts = `"${commentText(heading, 60)}": ${number(blank)} of ${number(rows)} ${rows === 1 ? 'cell is' : 'cells are'} blank, ${number(repeats)} repeat an earlier one${among}${lost}`;
  const lines: string[] = [];
  if (!fits) {
    lines.push(
      ...commentLines(`ATTENTION: no column tells the rows apart; this is the least bad. ${facts}.`),
      ...commentLines(
        'A row whose key is blank is invalid, and a row that repeats a key is left out as a duplicate. If each row is a record of its own, give the file a column that identifies it.',
      ),
    );
    if (!natural)
      lines.push(
        ...commentLines(
          `${field} does not identify ${resource === 'asset' ? 'an' : 'a'} ${resource} by nature: two records may share it.`,
        ),
      );
  }
  lines.push('match:', `  key: ${field.padEnd(28)} ${fits ? `# ${facts}` : ''}`.trimEnd());
  if (uniqueField)
    lines.push(
      `  ${`unique_field: ${uniqueField}`.padEnd(33)} # the service itself refuses a second asset with this ${uniqueField.replace('_', ' ')}`,
    );
  return [...lines, ...whatToDo(resource)];
}

/** A key of several fields, with what was measured. */
function combinedLines(rows: number, key: SuggestedKey): string[] {
  const parts = [key, ...key.also];
  const names = parts.map(({ heading }) => `"${commentText(heading, 60)}"`);
  const whole =
    key.wholeRepeats > 0
      ? ` ${counted(key.wholeRepeats, 'row')} of ${number(rows)} ${key.wholeRepeats === 1 ? 'repeats' : 'repeat'} a whole earlier row and will be left out as ${key.wholeRepeats === 1 ? 'a duplicate' : 'duplicates'}.`
      : '';
  return [
    ...commentLines(
      `No column tells the rows apart by itself; ${names.slice(0, -1).join(', ')} and ${names.at(-1)} together do: ${number(key.usable)} of ${counted(rows - key.wholeRepeats, 'row')} have a key of their own, ${number(key.blank)} none, ${number(key.repeats)} that of an earlier row.${whole}`,
    ),
    ...commentLines('A change to any of these cells makes a new record of the row: is that what identifies it?'),
    'match:',
    `  key: [${parts.map(({ field }) => scalarInFlow(field)).join(', ')}]`,
  ];
}

function whatToDo(resource: Suggestion['resource']): string[] {
  return [
    resource === 'customer'
      ? '  existing: skip                    # update | skip | fail; the service cannot show customers, so only those imported here can be updated'
      : '  existing: update                  # update | skip | fail',
    '  missing: create                   # create | skip | fail',
  ];
}

/** As a shell takes it. */
function shellWord(text: string): string {
  if (/^[\p{L}\p{N}_./@%+:,-]+$/u.test(text)) return text;
  return /["$`\\!]/.test(text) ? `'${text.replaceAll("'", "'\\''")}'` : `"${text}"`;
}

/** Required fields without a column, and the one line that gives them to every row. */
function missingLines({ missing, resource, columns }: Suggestion): string[] {
  const lines: string[] = [];
  const mapped = new Set(columns.map(({ field }) => field));
  if (missing.length > 0) lines.push(`# No column gives these fields, and a new ${resource} needs them:`);
  for (const { field, rule, constant, columns: near } of missing) {
    const maybe =
      near.length > 0
        ? `; perhaps ${near
            .slice(0, 3)
            .map((heading) => `"${commentText(heading, 60)}"`)
            .join(' or ')}`
        : '';
    const evident = constant !== undefined && constant !== TO_FILL ? `; ${constant} is evident from the columns` : '';
    lines.push(
      ...commentLines(`  ${field}${rule === '' ? '' : ` (${rule})`}${evident}${maybe}`).map((line) =>
        line.replace(/^# /, '#   '),
      ),
    );
  }
  const constants = missing.filter(({ constant }) => constant !== undefined);
  if (constants.length > 0) {
    const pairs = constants.map(
      ({ field, constant }) => `${field}: ${constant === TO_FILL ? `"${TO_FILL}"` : constant}`,
    );
    lines.push(
      '# Where every row has the same value, fill it in here and remove the # (a "?" that is left is refused):',
      `# constants: { ${pairs.join(', ')} }`,
    );
  }
  if (resource === 'contract' && !mapped.has('supplier') && !mapped.has('customer')) {
    lines.push('# A buy_side contract also needs a supplier, a sell_side contract a customer; no column gives either.');
  }
  return lines;
}
