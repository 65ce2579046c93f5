import { basename } from 'node:path';
import type { SourceMeta } from '../model/source.js';
import { foldText } from '../model/value.js';
import { counted, number } from './fit.js';
import { type SuggestedKey, TO_FILL } from './key.js';
import type { ColumnOptions, SuggestedColumn, Suggestion } from './suggest.js';

/** Paths as the commands in the comments name them. */
interface JobNames {
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
  const { field, heading, blank, repeats, fits, uniqueField } = key;
  const among = key.counted === rows - blank ? '' : `, of the first ${number(key.counted)} that were counted`;
  const facts = `"${commentText(heading, 60)}": ${number(blank)} of ${number(rows)} ${rows === 1 ? 'cell is' : 'cells are'} blank, ${number(repeats)} repeat an earlier one${among}`;
  const lines: string[] = [];
  if (!fits) {
    lines.push(
      ...commentLines(`ATTENTION: no column tells the rows apart; this is the least bad. ${facts}.`),
      ...commentLines(
        'A row whose key is blank is invalid, and a row that repeats a key is left out as a duplicate. If each row is a record of its own, give the file a column that identifies it, or name several fields: key: [name, room].',
      ),
    );
  }
  lines.push('match:', `  key: ${field.padEnd(28)} ${fits ? `# ${facts}` : ''}`.trimEnd());
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
    const perhaps = near.slice(0, 3).map((heading) => `"${commentText(heading, 60)}"`);
    const maybe = near.length > 0 ? `; perhaps ${perhaps.join(' or ')}` : '';
    const evident = constant !== undefined && constant !== TO_FILL ? `; ${constant} is evident from the columns` : '';
    const said = commentLines(`${field}${rule === '' ? '' : ` (${rule})`}${evident}${maybe}`);
    lines.push(...said.map((line) => line.replace(/^# /, '#   ')));
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

/** Texts of a column that are listed for translation. */
const MOST_OPEN = 60;
/** Where the comments behind the columns begin, unless a heading is longer. */
const WIDTH = 46;

/** The `columns` of a job, in the order of the file; what cannot be named stays a comment. */
function columnLines(columns: readonly SuggestedColumn[]): string[] {
  const widest = Math.max(24, ...columns.map((column) => plainLine(column).length).filter((length) => length <= WIDTH));
  const shown = new Set<string>();
  return [
    'columns:',
    ...columns.flatMap((column) => {
      if (!column.nameable) {
        const name = commentText(column.heading, 60);
        return [`  # column ${column.index + 1}${name === '' ? '' : ` "${name}"`}: ${column.why}`];
      }
      const folded = foldText(column.heading);
      // Of equal headings one line speaks for all.
      if (shown.has(folded)) return [];
      shown.add(folded);
      return column.field === undefined
        ? [behind(plainLine(column), column.why, widest)]
        : mappedLines(column, column.field, widest);
    }),
  ];
}

const nameOf = ({ heading }: SuggestedColumn) => heading.replace(/\s+/gu, ' ').trim();

function plainLine(column: SuggestedColumn): string {
  return `  ${key(nameOf(column), '  ')} ${column.field ?? '~'}`;
}

function mappedLines(column: SuggestedColumn, field: string, widest: number): string[] {
  const { options, confidence, evidence, remarks } = column;
  const name = key(nameOf(column), '  ');
  const target = scalar(field);
  const why = `${confidence}: ${evidence.join('; ')}`;
  const above = remarks.flatMap((remark) => commentLines(remark, '  '));
  const stated = (formats: readonly string[]) => `dates: [${formats.map(scalarInFlow).join(', ')}]`;
  for (const formats of options.openDates ?? []) above.push(`  # ${name} { field: ${target}, ${stated(formats)} }`);
  const inline = [
    ...(options.dates ? [stated(options.dates)] : []),
    ...(options.decimal ? [`decimal: "${options.decimal}"`] : []),
  ];
  if (options.values || options.openValues) return [...above, ...withValues(name, target, inline, options, why)];
  const line = inline.length === 0 ? `  ${name} ${target}` : `  ${name} { field: ${target}, ${inline.join(', ')} }`;
  return [...above, behind(line, why, widest)];
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
    for (const [text, value] of values) lines.push(`      ${key(text, '      ')} ${scalar(value)}`);
  }
  if (openValues.length > 0) {
    const list = accepted.length > 0 ? `one of: ${accepted.join(', ')}` : 'a country: its name or code';
    const where = values.size > 0 ? 'they stand under values, too' : 'a map `values:` says what each means';
    const said = `Not understood: rows with these texts are invalid until ${where}. Each becomes ${list}.`;
    lines.push(...commentLines(said, '    '));
    if (values.size === 0) lines.push('    # values:');
    for (const { text, rows } of openValues.slice(0, MOST_OPEN))
      lines.push(`${`    #   ${scalar(text)}: "?"`.padEnd(39)} # ${counted(rows, 'row')}`);
    if (openValues.length > MOST_OPEN) lines.push(`    #   … and ${openValues.length - MOST_OPEN} more`);
  }
  return lines;
}

function behind(line: string, why: string, widest: number): string {
  return `${line.padEnd(widest)}  # ${commentText(why)}`;
}

/**
 * Texts of a file as YAML: whatever a heading or a cell holds, it stays one scalar or one comment and can neither end a
 * line nor begin a key.
 */

/** Plain where no reader could take it for anything but this text; otherwise in double quotes. */
export function scalar(text: string): string {
  if (PLAIN.test(text) && !WORDS.test(text)) return text;
  return JSON.stringify(text).replace(UNPRINTABLE, (char) =>
    char.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}

/** Letters first; inside no mark that means something in a block or in a flow. */
const PLAIN = /^\p{L}(?:[\p{L}\p{N}._/()'+-]|\p{M}| (?=[\p{L}\p{N}(/+-]))*$/u;
const WORDS = /^(?:true|false|null|yes|no|on|off|y|n)$/i;
/** What must not stand in a YAML document as it is, beside the controls that JSON escapes. */
const UNPRINTABLE = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff\p{Surrogate}\p{Cf}]/gu;

/** A date format in a flow list. */
function scalarInFlow(text: string): string {
  return /^[A-Za-z](?:[A-Za-z0-9/.:-]| (?=[A-Za-z0-9]))*$/.test(text) && !/: |:$/.test(text)
    ? text
    : JSON.stringify(text);
}

/** Longer keys must be announced with `?`. */
const LONGEST_KEY = 1_000;

/** A key of a block map, with its colon. */
export function key(text: string, indent: string): string {
  const written = scalar(text);
  return written.length > LONGEST_KEY ? `? ${written}\n${indent}:` : `${written}:`;
}

/** One line, without anything that ends a comment or that a terminal would obey; cut where it is very long. */
export function commentText(text: string, longest = 400): string {
  const line = text
    .replace(/[\s\u0085\u2028\u2029]+/gu, ' ')
    .replace(/[\p{Cc}\p{Cf}\p{Surrogate}]/gu, '')
    .trim();
  const signs = Array.from(line);
  return signs.length > longest ? `${signs.slice(0, longest - 1).join('')}…` : line;
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
export function tableText({ columns, key, rows, resource, missing, warnings }: Suggestion): string {
  const table = columns.map(({ heading, field, confidence, evidence, remarks, why }) => [
    commentText(heading, 32),
    field ?? '~',
    field === undefined ? '' : confidence,
    commentText(field === undefined ? why : [...evidence.slice(0, 2), ...remarks.slice(0, 1)].join('; '), 70),
  ]);
  const lines = [['HEADING', 'FIELD', 'CONFIDENCE', 'WHY'], ...table];
  const widths = [0, 1, 2].map((at) => Math.max(...lines.map((line) => line[at]!.length)));
  const mapped = columns.filter(({ field }) => field !== undefined).length;
  return [
    ...lines.map((line) =>
      line
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    ),
    '',
    `${counted(rows, 'row')}; ${number(mapped)} of ${counted(columns.length, 'column')} mapped to fields of ${resource}.`,
    ...(key
      ? [
          `${key.fits ? 'Key' : 'No column tells the rows apart. Least bad key'}: ${key.field} ("${commentText(key.heading, 40)}": ${number(key.blank)} blank, ${number(key.repeats)} repeated).`,
        ]
      : []),
    ...(missing.length > 0 ? [`Required, and in no column: ${missing.map(({ field }) => field).join(', ')}.`] : []),
    ...warnings.map((warning) => `Note: ${commentText(warning, 1_000)}`),
  ].join('\n');
}
