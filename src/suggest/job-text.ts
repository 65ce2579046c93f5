import { basename } from 'node:path';
import { countText, formatNumber } from '../model/count-text.js';
import type { SourceMeta } from '../model/source.js';
import { commentText, shellWord, yamlKey, yamlScalar } from '../model/yaml-text.js';
import { isComputed, type MissingField, PLACEHOLDER, type SuggestedKey } from './key.js';
import type { ColumnOptions, SuggestedColumn, Suggestion } from './suggest.js';

/** Paths as the commands in the comments name them. */
interface JobNames {
  readonly file: string;
  readonly job: string;
}

/**
 * The suggestion as a job file, contract section 4: every line that was guessed says why, and what a person must add stands at
 * its place as a comment. Without a key the job can be read once the # of one line `match:` is taken away.
 */
export function jobText(suggestion: Suggestion, meta: SourceMeta, names: JobNames): string {
  const { resource } = suggestion;
  const lines = [
    ...headLines(suggestion, names),
    'kind: import',
    `resource: ${resource}`,
    '',
    ...sourceLines(suggestion, meta),
    '',
    ...(suggestion.key ? matchLines(suggestion, suggestion.key) : matchChoices(suggestion)),
    '',
    'blank: keep                         # a blank cell leaves what the service holds; clear would empty it',
    '',
    ...columnLines(suggestion),
    '',
    ...constantLines(suggestion),
  ];
  return `${lines.join('\n').trimEnd()}\n`;
}

function headLines({ columns, missing, rows, resource, next, warnings }: Suggestion, names: JobNames): string[] {
  const file = shellWord(names.file);
  const job = shellWord(names.job);
  const mapped = columns.filter(({ field }) => field !== undefined);
  const likely =
    mapped.filter(({ confidence }) => confidence === 'medium').length +
    missing.filter(({ parts }) => isComputed(parts)).length;
  const size = `${countText(rows, 'row')}, ${countText(columns.length, 'column')}, ${formatNumber(mapped.length)} of them mapped to fields of ${resource}`;
  const first =
    likely === 0
      ? ''
      : ` ${likely === 1 ? 'One line is' : `${likely} lines are`} marked medium, likely but not certain: look there first.`;
  return [
    ...commentLines(`Suggested by rowferry map from ${commentText(basename(names.file), 120)}: ${size}.${first}`),
    ...commentLines('Each line says why. A column with ~ is not imported.'),
    ...(next === undefined ? [] : ['#', ...commentLines(`NEXT: ${next}`)]),
    '#',
    `#   rowferry check ${job}`,
    `#   rowferry import ${file} --job ${job} --dry-run`,
    ...(warnings.length > 0 ? ['#'] : []),
    ...warnings.slice(0, 20).flatMap((warning) => commentLines(`Note: ${warning}`)),
    '',
  ];
}

function sourceLines({ dates, decimal, nulls }: Suggestion, meta: SourceMeta): string[] {
  const lines = ['source:'];
  const add = (text: string, why: string) =>
    lines.push(why === '' ? `  ${text}` : `  ${text.padEnd(33)} # ${commentText(why, 160)}`);
  const evidence = (word: RegExp) => meta.evidence.find((one) => word.test(one)) ?? '';
  add(
    'format: auto',
    `${meta.format}${meta.gzip ? ', gzipped' : ''}, known by its bytes: corrected rows may come in another`,
  );
  if (meta.sheet !== null) add(`sheet: ${yamlScalar(meta.sheet)}`, evidence(/sheet/i));
  if (meta.header_row === null && meta.format !== 'ndjson') add('header_row: none', 'columns go by their letters');
  if (meta.header_row !== null) {
    if (meta.header_row > 1) add(`header_row: ${meta.header_row}`, evidence(/\bthe heading\b/));
    else if (/though it looks like data/.test(evidence(/\bthe heading\b/)))
      lines.push(...commentLines(evidence(/\bthe heading\b/), '  '));
  }
  if (meta.encoding !== null && !/^(?:utf-?8|ascii)$/i.test(meta.encoding))
    add(`encoding: ${yamlScalar(meta.encoding)}`, meta.evidence.find((one) => one.includes(meta.encoding ?? '')) ?? '');
  if (meta.delimiter !== null && meta.delimiter !== ',') {
    add(
      `delimiter: ${meta.delimiter === '\t' ? 'tab' : `"${meta.delimiter.replace(/["\\]/g, '\\$&')}"`}`,
      evidence(/delimiter/i),
    );
  }
  if (nulls.length > 0) add(`null_values: [${nulls.map(yamlScalar).join(', ')}]`, 'cells that mean blank');
  if (dates.length > 0)
    add(`dates: [${dates.map(scalarInFlow).join(', ')}]`, 'text dates are read in these formats and no others');
  if (decimal?.sign !== undefined) add(`decimal: "${decimal.sign}"`, decimal.why);
  else if (decimal) {
    lines.push(...commentLines(decimal.why, '  '), '  # decimal: "."', '  # decimal: ","');
  }
  return lines;
}

function matchLines({ rows, resource }: Suggestion, key: SuggestedKey): string[] {
  const { field, blank, fits, uniqueField } = key;
  const lines: string[] = [];
  if (!fits && rows > 0)
    lines.push(
      ...commentLines(
        `${formatNumber(blank)} of ${countText(rows, 'row')} have no ${field} and are invalid until they do; \`key: none\` would append every row as a new record instead.`,
      ),
    );
  lines.push('match:', `  key: ${field.padEnd(28)} # ${keyFacts(key, rows)}`);
  if (uniqueField)
    lines.push(
      `  ${`unique_field: ${uniqueField}`.padEnd(33)} # the service itself refuses a second asset with this ${uniqueField.replace('_', ' ')}`,
    );
  return [
    ...lines,
    resource === 'customer'
      ? '  existing: skip                    # update | skip | fail; the service cannot show customers, so only those imported here can be updated'
      : '  existing: update                  # update | skip | fail',
    '  missing: create                   # create | skip | fail',
  ];
}

/** What tells records apart, where no column does: a person must choose. */
function matchChoices({ rows, resource, keys, missing }: Suggestion): string[] {
  const facts =
    keys.length === 0
      ? ' No column means a field that identifies one.'
      : ` ${keys.map((key) => `${keyFacts(key, rows)} (${key.field})`).join('; ')}.`;
  const choice = (text: string, why: string) => withComment(`# match: { ${text} }`, why, 52);
  const byKey = keys
    .filter(({ usable, blank }) => usable > 0 && blank <= rows / 2)
    .map(({ field, usable }) =>
      choice(
        `key: ${field}, duplicates: first`,
        `${countText(usable, 'record')} of ${countText(rows, 'row')}: a row that is like an earlier one in every mapped column is left out, another with its ${field} is a duplicate, a blank one is invalid`,
      ),
    );
  const append = [
    choice('key: none', 'append: every row is a new record, none is ever updated; the same file again is refused'),
    choice(
      'key: none, duplicates: first',
      'the same; of rows that are alike in every mapped column the first is taken',
    ),
  ];
  const absent = missing.filter(({ constant }) => constant === undefined);
  // The service takes the name of a supplier or customer once.
  const namesOnce = resource === 'supplier' || resource === 'customer';
  return [
    ...commentLines(`QUESTION: what tells one ${resource} from another? No column does by itself.${facts}`),
    ...commentLines('Take the # from one of these lines, or name several fields: match: { key: [a, b] }'),
    ...(namesOnce ? [...byKey, ...append] : [...append, ...byKey]),
    ...(keys.length > 0 ? [] : absent.map(({ field }) => choice(`key: ${field}`, 'once a column is mapped to it'))),
  ];
}

function keyFacts({ heading, blank, repeats, counted: among }: SuggestedKey, rows: number): string {
  const bound = among === rows - blank ? '' : `, of the ${formatNumber(among)} that were counted`;
  return `"${commentText(heading, 60)}": ${formatNumber(blank)} of ${formatNumber(rows)} ${rows === 1 ? 'cell is' : 'cells are'} blank, ${formatNumber(repeats)} repeat an earlier one${bound}`;
}

/** Required fields that no column gives and nothing else can, where a column of theirs would stand. */
function missingColumns({ missing, resource }: Suggestion): string[] {
  return missing
    .filter(({ constant, parts }) => constant === undefined && !isComputed(parts))
    .flatMap((one) => {
      const rule = one.rule === '' ? '' : ` (${one.rule})`;
      const said = `HEADING: ${one.field} — a new ${resource} needs it${rule}, and no column is it for certain`;
      return commentLines(`${said}${candidateHint(one)}`, '  ');
    });
}

function candidateHint({ columns }: MissingField): string {
  const near = columns.slice(0, 3).map((heading) => `"${commentText(heading, 60)}"`);
  return near.length > 0 ? `; perhaps ${near.join(' or ')}` : '';
}

/** Required fields as the one line that gives them to every row, or as one that puts them together. */
function constantLines({ missing, resource, columns }: Suggestion): string[] {
  const lines: string[] = [];
  for (const { field, parts } of missing.filter(({ parts }) => parts.length > 0)) {
    const text = parts.map((part) => `{${part}}`).join(' ');
    const line = `computed: { ${field}: ${JSON.stringify(text)} }`;
    const why = 'put together; change the text, or take the line out where a column is it';
    lines.push(
      ...(isComputed(parts)
        ? [withComment(line, `medium: no column is the ${field}: ${why}`, 40)]
        : [...commentLines(`Where no column is the ${field}, it can be put together: take the # away.`), `# ${line}`]),
    );
  }
  const constants = missing.filter(({ constant }) => constant !== undefined);
  if (constants.length > 0) {
    lines.push(`# No column gives these fields, and a new ${resource} needs them:`);
    for (const one of constants) {
      const { field, rule, constant } = one;
      const evident = constant === PLACEHOLDER ? '' : `; ${constant} is evident from the columns`;
      const said = commentLines(`${field}${rule === '' ? '' : ` (${rule})`}${evident}${candidateHint(one)}`);
      lines.push(...said.map((line) => line.replace(/^# /, '#   ')));
    }
    const pairs = constants.map(
      ({ field, constant }) => `${field}: ${constant === PLACEHOLDER ? `"${PLACEHOLDER}"` : constant}`,
    );
    lines.push(
      '# Where every row has the same value, fill it in here and remove the # (a "?" that is left is refused):',
      `# constants: { ${pairs.join(', ')} }`,
    );
  }
  const creatable = columns.some(({ field, options }) => options.unknown && /supplier$/.test(field ?? ''));
  if (creatable)
    lines.push(withComment('# references: { missing: create }', 'creates suppliers that the service lacks', 40));
  return lines;
}

/** Texts of a column that are listed for translation. */
const MOST_OPEN = 60;
/** Where the comments behind the columns begin, unless a heading is longer. */
const WIDTH = 46;

/** The `columns` of a job, in the order of the file; what cannot be named stays a comment. */
function columnLines(suggestion: Suggestion): string[] {
  const { columns } = suggestion;
  const widest = Math.max(24, ...columns.map((column) => plainLine(column).length).filter((length) => length <= WIDTH));
  return [
    'columns:',
    ...columns.flatMap((column) => {
      if (column.name === undefined) {
        const heading = commentText(column.heading, 60);
        return [`  # column ${column.index + 1}${heading === '' ? '' : ` "${heading}"`}: ${column.why}`];
      }
      return column.field === undefined
        ? [withComment(plainLine(column), column.why, widest)]
        : mappedLines(column, column.field, widest);
    }),
    ...missingColumns(suggestion),
  ];
}

function plainLine(column: SuggestedColumn): string {
  return `  ${yamlKey(column.name ?? '', '  ')} ${column.field ?? '~'}`;
}

function mappedLines(column: SuggestedColumn, field: string, widest: number): string[] {
  const { options, confidence, evidence, remarks } = column;
  const name = yamlKey(column.name ?? '', '  ');
  const target = yamlScalar(field);
  const why = `${confidence}: ${evidence.join('; ')}`;
  const above = remarks.flatMap((remark) => commentLines(remark, '  '));
  const stated = (formats: readonly string[]) => `dates: [${formats.map(scalarInFlow).join(', ')}]`;
  for (const formats of options.openDates ?? []) above.push(`  # ${name} { field: ${target}, ${stated(formats)} }`);
  const inline = [
    ...(options.dates ? [stated(options.dates)] : []),
    ...(options.decimal ? [`decimal: "${options.decimal}"`] : []),
    ...(options.cut ? ['overflow: cut'] : []),
  ];
  if (options.values || options.openValues) return [...above, ...withValues(name, target, inline, options, why)];
  const first = inline.length === 0 ? target : `{ field: ${target}, ${inline.join(', ')} }`;
  return [...above, withComment(`  ${name} ${first}`, why, widest)];
}

/** A block with the translations that are certain, and the texts that wait for one as comments. */
function withValues(
  name: string,
  target: string,
  inline: readonly string[],
  options: ColumnOptions,
  why: string,
): string[] {
  const { values = new Map<string, string>(), openValues = [], accepted = [] } = options;
  const lines = [`  ${name}  # ${commentText(why)}`, `    field: ${target}`, ...inline.map((one) => `    ${one}`)];
  if (values.size > 0) {
    lines.push('    values:                         # suggested: look at each');
    for (const [text, value] of values) lines.push(`      ${yamlKey(text, '      ')} ${yamlScalar(value)}`);
  }
  if (openValues.length > 0) {
    const list = accepted.length > 0 ? `one of: ${accepted.join(', ')}` : 'a country: its name or code';
    const where = values.size > 0 ? 'they stand under values, too' : 'a map `values:` says what each means';
    const said = `Not understood: rows with these texts are invalid until ${where}. Each becomes ${list}.`;
    lines.push(...commentLines(said, '    '));
    if (values.size === 0) lines.push('    # values:');
    for (const { text, rows } of openValues.slice(0, MOST_OPEN))
      lines.push(`${`    #   ${yamlScalar(text)}: "?"`.padEnd(39)} # ${countText(rows, 'row')}`);
    if (openValues.length > MOST_OPEN) lines.push(`    #   … and ${openValues.length - MOST_OPEN} more`);
  }
  return lines;
}

function withComment(line: string, why: string, widest: number): string {
  return `${line.padEnd(widest)}  # ${commentText(why)}`;
}

/** A date format in a flow list. */
function scalarInFlow(text: string): string {
  return /^[A-Za-z](?:[A-Za-z0-9/.:-]| (?=[A-Za-z0-9]))*$/.test(text) && !/: |:$/.test(text)
    ? text
    : JSON.stringify(text);
}

/** A comment wrapped at about 110 characters. */
function commentLines(text: string, indent = ''): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of commentText(text, 2_000).split(' ')) {
    if (line !== '' && line.length + word.length + 1 > 108) {
      lines.push(`${indent}# ${line}`);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  if (line !== '') lines.push(`${indent}# ${line}`);
  return lines;
}

/** The suggestion at a glance: a line for each column, the key, what is missing. For people; the job says it in full. */
export function tableText({ columns, key, rows, resource, missing, next, warnings }: Suggestion): string {
  const table = columns.map(({ heading, field, confidence, evidence, remarks, why }) => [
    commentText(heading, 32),
    field ?? '~',
    field === undefined ? '' : confidence,
    commentText(field === undefined ? why : [...evidence.slice(0, 2), ...remarks.slice(0, 1)].join('; '), 70),
  ]);
  const lines = [['HEADING', 'FIELD', 'CONFIDENCE', 'WHY'], ...table];
  const widths = [0, 1, 2].map((at) => Math.max(...lines.map((line) => line[at]!.length)));
  const mapped = columns.filter(({ field }) => field !== undefined).length;
  const open = missing.filter(({ parts }) => !isComputed(parts));
  return [
    ...lines.map((line) =>
      line
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    ),
    '',
    `${countText(rows, 'row')}; ${formatNumber(mapped)} of ${countText(columns.length, 'column')} mapped to fields of ${resource}.`,
    ...(key
      ? [
          `Key: ${key.field} ("${commentText(key.heading, 40)}": ${formatNumber(key.blank)} blank, ${formatNumber(key.repeats)} repeated).`,
        ]
      : ['No column tells the rows apart.']),
    ...(open.length > 0 ? [`Required, and in no column: ${open.map(({ field }) => field).join(', ')}.`] : []),
    ...warnings.map((warning) => `Note: ${commentText(warning, 1_000)}`),
    ...(next === undefined ? [] : ['', `Next: ${next}`]),
  ].join('\n');
}
