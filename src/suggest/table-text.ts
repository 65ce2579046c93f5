import { counted, number } from './column.js';
import type { SuggestedColumn, Suggestion } from './suggestion.js';
import { commentText } from './yaml-text.js';

/** Columns of the table that a person sees; a file with hundreds of columns has the rest in the job. */
const MOST = 60;
const MOST_NOTES = 8;

/** The suggestion at a glance: a line for each column, the key, what is missing. For people; the job says it in full. */
export function tableText({ columns, key, rows, resource, missing, warnings }: Suggestion): string {
  const shown = columns.slice(0, MOST);
  const table = shown.map((column) => [
    cut(column.heading, 32),
    column.field ?? '~',
    column.field === undefined ? '' : column.confidence,
    cut(said(column), 70),
  ]);
  const mapped = columns.filter(({ field }) => field !== undefined).length;
  const lines = aligned([['HEADING', 'FIELD', 'CONFIDENCE', 'WHY'], ...table]);
  if (columns.length > MOST)
    lines.push(`… and ${number(columns.length - MOST)} more ${columns.length - MOST === 1 ? 'column' : 'columns'}`);
  lines.push(
    '',
    `${counted(rows, 'row')}; ${number(mapped)} of ${counted(columns.length, 'column')} mapped to fields of ${resource}.`,
  );
  if (key) {
    const lost = key.unreadable > 0 ? `, ${number(key.unreadable)} unreadable` : '';
    const facts = `${number(key.blank)} blank, ${number(key.repeats)} repeated${lost}`;
    const parts = [key, ...key.also];
    lines.push(
      key.fits
        ? `Key: ${parts.map(({ field }) => field).join(' + ')} (${parts.map(({ heading }) => `"${cut(heading, 40)}"`).join(' + ')}: ${facts}).`
        : `No column tells the rows apart. Least bad key: ${key.field} ("${cut(key.heading, 40)}": ${facts}).`,
    );
  }
  if (missing.length > 0) lines.push(`Required, and in no column: ${missing.map(({ field }) => field).join(', ')}.`);
  lines.push(...warnings.slice(0, MOST_NOTES).map((warning) => `Note: ${commentText(warning, 1_000)}`));
  if (warnings.length > MOST_NOTES)
    lines.push(`Note: ${number(warnings.length - MOST_NOTES)} more; --json has them all`);
  return lines.join('\n');
}

function said({ field, evidence, why, remarks }: SuggestedColumn): string {
  return field === undefined ? why : [...evidence.slice(0, 2), ...remarks.slice(0, 1)].join('; ');
}

function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_, at) => Math.max(...rows.map((row) => row[at]!.length)));
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(at === row.length - 1 ? 0 : widths[at]!))
      .join('  ')
      .trimEnd(),
  );
}

function cut(text: string, length: number): string {
  const line = commentText(text, 1_000);
  return line.length > length
    ? `${Array.from(line)
        .slice(0, length - 1)
        .join('')}…`
    : line;
}
