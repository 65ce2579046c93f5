import { isAbsolute, relative } from 'node:path';
import { visible } from '../../model/visible.js';
import { exportText, summaryText } from '../../report/console.js';
import { brakeStop, count, rowsForPerson, rowsInPlace, type Summary } from '../../report/summary.js';
import type { RowFault } from './list.js';

/** How runs are shown to people on a terminal; the command line prints what comes out here. */

export type { Summary } from '../../report/summary.js';
export { brakeStop, count, rowsForPerson, rowsInPlace };

/** The end of a run: what became of its rows, and where the reports are. */
export function presentSummary(result: { readonly summary: Summary; readonly reportDir: string }): string {
  const { summary } = result;
  if (summary.kind === 'export') {
    const { path = '', job } = summary.target ?? {};
    return exportText(summary, nearPath(path), job === undefined ? undefined : nearPath(job)).trimEnd();
  }
  return summaryText(result.summary, nearPath(result.reportDir)).trimEnd();
}

/** A path as a person would type it here. */
export function nearPath(path: string, cwd: string = process.cwd()): string {
  const near = relative(cwd, path);
  return near === '' || near.startsWith('..') || isAbsolute(near) ? path : near;
}

/** `row 12  Supplier  "Acme Inc"  reference_not_found: …` */
export function faultText({ row, issue: { column, value, code, message } }: RowFault): string {
  const where = [`row ${row}`, column, value === undefined || value === '' ? undefined : JSON.stringify(value)];
  return visible(`${where.filter(Boolean).join('  ')}  ${code}: ${message}`);
}

/** The width of a terminal, the column that is shortened where the table is wider, and those that are left out where it still is. */
interface Fit {
  readonly width: number;
  readonly shorten: number;
  readonly leaveOut: readonly number[];
}

/** A file's name of fewer characters tells nothing. */
const SHORTEST = 12;

/** Columns wide enough for their longest text; the last one is not padded. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[], fit?: Fit): string {
  const widths = headings.map((heading, i) => Math.max(heading.length, ...rows.map((row) => (row[i] ?? '').length)));
  const out = new Set<number>();
  if (fit) {
    const over = () => widths.reduce((sum, width, i) => sum + (out.has(i) ? 0 : width + 2), -2) - fit.width;
    const widest = widths[fit.shorten] ?? 0;
    const cutTo = () => Math.max(Math.min(SHORTEST, widest), widest - Math.max(0, over()));
    for (const one of fit.leaveOut) if (!out.has(fit.shorten) && over() > widest - cutTo()) out.add(one);
    if (!out.has(fit.shorten)) widths[fit.shorten] = cutTo();
  }
  const cut = (text: string, width: number) => (text.length > width ? `…${text.slice(1 - width)}` : text);
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, i) => (i === cells.length - 1 ? cell : cut(cell, widths[i] ?? 0).padEnd(widths[i] ?? 0)))
      .filter((_, i) => !out.has(i))
      .join('  ')
      .trimEnd();
  return [headings, ...rows].map(line).join('\n');
}
