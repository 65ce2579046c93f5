import { foldText } from '../pipeline/headings.js';
import type { ColumnOptions, SuggestedColumn } from './suggestion.js';
import { commentLines, commentText, key, scalar, scalarInFlow } from './yaml-text.js';

/** Texts of a column that are listed for translation. */
const MOST_OPEN = 60;
/** Where the comments behind the columns begin, unless a heading is longer. */
const WIDTH = 46;

/** The `columns` of a job, in the order of the file; what cannot be named stays a comment. */
export function columnLines(columns: readonly SuggestedColumn[]): string[] {
  const widest = Math.max(24, ...columns.map((column) => plainLine(column).length).filter((length) => length <= WIDTH));
  const shown = new Set<string>();
  return [
    'columns:',
    ...columns.flatMap((column) => {
      if (!column.nameable) return unnamed(column);
      const folded = foldText(column.heading);
      // Of equal headings one line speaks for all.
      if (shown.has(folded)) return [];
      shown.add(folded);
      return column.field === undefined ? unmappedLines(column, widest) : mappedLines(column, column.field, widest);
    }),
  ];
}

function unnamed({ heading, index, why }: SuggestedColumn): string[] {
  const name = commentText(heading, 60);
  return [`  # column ${index + 1}${name === '' ? '' : ` "${name}"`}: ${why}`];
}

const nameOf = ({ heading }: SuggestedColumn) => heading.replace(/\s+/gu, ' ').trim();

function plainLine(column: SuggestedColumn): string {
  return `  ${key(nameOf(column), '  ')} ${column.field ?? '~'}`;
}

function unmappedLines(column: SuggestedColumn, widest: number): string[] {
  return [behind(plainLine(column), column.why, widest)];
}

function mappedLines(column: SuggestedColumn, field: string, widest: number): string[] {
  const { options, confidence, evidence, remarks } = column;
  const name = key(nameOf(column), '  ');
  const target = scalar(field);
  const why = `${confidence}: ${evidence.join('; ')}`;
  const above = remarks.flatMap((remark) => commentLines(remark, '  '));
  if (options.openDates) {
    for (const formats of options.openDates)
      above.push(`  # ${name} { field: ${target}, dates: [${formats.map(scalarInFlow).join(', ')}] }`);
  }
  const inline = [
    ...(options.dates ? [`dates: [${options.dates.map(scalarInFlow).join(', ')}]`] : []),
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
  const open = openValues.slice(0, MOST_OPEN).map(({ text, rows }) => {
    const short = text.length > 200 ? undefined : scalar(text);
    return short === undefined
      ? `    #   (a text of ${text.length} characters)`
      : `${`    #   ${short}: "?"`.padEnd(39)} # ${rows} ${rows === 1 ? 'row' : 'rows'}`;
  });
  if (values.size > 0) {
    lines.push('    values:                         # suggested: look at each');
    for (const [text, value] of values) lines.push(`      ${key(text, '      ')} ${scalar(value)}`);
  }
  if (open.length > 0) {
    const list =
      accepted.length > 0
        ? ` Each becomes one of: ${accepted.join(', ')}.`
        : ' Each becomes a country: its name or code.';
    lines.push(
      ...commentLines(
        `Not understood: rows with these texts are invalid until ${values.size > 0 ? 'they stand under values, too' : 'a map `values:` says what each means'}.${list}`,
        '    ',
      ),
    );
    if (values.size === 0) lines.push('    # values:');
    lines.push(...open);
    if (openValues.length > MOST_OPEN) lines.push(`    #   … and ${openValues.length - MOST_OPEN} more`);
  }
  return lines;
}

function behind(line: string, why: string, widest: number): string {
  return `${line.padEnd(widest)}  # ${commentText(why)}`;
}
