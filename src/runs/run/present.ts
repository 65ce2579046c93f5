import { isAbsolute, relative } from 'node:path';
import { visible } from '../../model/control-characters.js';
import { countText, formatNumber } from '../../model/count-text.js';
import type { Brakes, RowsJob } from '../../model/job.js';
import type { OutcomeCounts } from '../../model/outcome.js';
import type { ReconcileFacts } from '../../model/reconcile.js';
import { RECONCILE_LIMITS } from '../../pipeline/plan/brakes.js';
import { exportText, summaryText } from '../../report/console.js';
import { brakeStop, isReportName, rowsForPerson, rowsInPlace, type Summary, stopCause } from '../../report/summary.js';
import type { RowFault } from './list.js';

/** How runs are shown to people on a terminal; the command line prints what comes out here. */

export type { Summary } from '../../report/summary.js';
export { orphansText } from '../../report/wording.js';
export { brakeStop, formatNumber, isReportName, rowsForPerson, rowsInPlace, stopCause };

/** The end of a run: what became of its rows, and where the reports are. */
export function presentSummary(result: { readonly summary: Summary; readonly reportDir: string }): string {
  const { summary } = result;
  if (summary.kind === 'export') {
    const { path = '', job } = summary.target ?? {};
    return exportText(summary, relativePath(path), job === undefined ? undefined : relativePath(job)).trimEnd();
  }
  return summaryText(result.summary, relativePath(result.reportDir)).trimEnd();
}

/** A path as a person would type it here. */
export function relativePath(path: string, cwd: string = process.cwd()): string {
  const near = relative(cwd, path);
  return near === '' || near.startsWith('..') || isAbsolute(near) ? path : near;
}

/** `row 12  Supplier  "Acme Inc"  reference_not_found: …` */
export function faultText({ row, issue: { column, value, code, message } }: RowFault): string {
  const where = [`row ${row}`, column, value === undefined || value === '' ? undefined : JSON.stringify(value)];
  return visible(`${where.filter(Boolean).join('  ')}  ${code}: ${message}`);
}

/** The width of a terminal, the column that is shortened where the table is wider, and those that are left out where it still is. */
interface TableFit {
  readonly width: number;
  readonly shorten: number;
  readonly leaveOut: readonly number[];
}

/** A file's name of fewer characters tells nothing. */
const MIN_WIDTH = 12;

/** Columns wide enough for their longest text; the last one is not padded. */
export function formatTable(headings: readonly string[], rows: readonly (readonly string[])[], fit?: TableFit): string {
  const widths = headings.map((heading, i) => Math.max(heading.length, ...rows.map((row) => (row[i] ?? '').length)));
  const omitted = new Set<number>();
  if (fit) {
    const excess = () => widths.reduce((sum, width, i) => sum + (omitted.has(i) ? 0 : width + 2), -2) - fit.width;
    const widest = widths[fit.shorten] ?? 0;
    const cutTo = () => Math.max(Math.min(MIN_WIDTH, widest), widest - Math.max(0, excess()));
    for (const one of fit.leaveOut) if (!omitted.has(fit.shorten) && excess() > widest - cutTo()) omitted.add(one);
    if (!omitted.has(fit.shorten)) widths[fit.shorten] = cutTo();
  }
  const cut = (text: string, width: number) => (text.length > width ? `…${text.slice(1 - width)}` : text);
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, i) => (i === cells.length - 1 ? cell : cut(cell, widths[i] ?? 0).padEnd(widths[i] ?? 0)))
      .filter((_, i) => !omitted.has(i))
      .join('  ')
      .trimEnd();
  return [headings, ...rows].map(line).join('\n');
}

/** What a run found of what brakes look at; absent where it did not come so far. */
interface BrakeFigures {
  readonly rows: Readonly<OutcomeCounts & { total: number }> | undefined;
  readonly updates: number;
  readonly creates: number;
  /** Rows in which a value would be emptied. */
  readonly cleared: number;
  readonly reconcile: ReconcileFacts | undefined;
}

/** The brakes of a job, those that apply by default among them: what each allows, and what the run came to. */
export function brakesOf(
  { kind, brakes }: RowsJob,
  { rows, updates, creates, cleared, reconcile }: BrakeFigures,
): { readonly name: keyof Brakes; readonly limit: string; readonly found: string }[] {
  const defaults: Partial<Brakes> = kind === 'reconcile' ? RECONCILE_LIMITS : {};
  const total = rows?.total ?? 0;
  const of = (count: number) =>
    total === 0 ? formatNumber(count) : `${formatNumber(count)} of ${countText(total, 'row')}`;
  const found = {
    max_invalid: of((rows?.invalid ?? 0) + (rows?.duplicate ?? 0) + (rows?.ambiguous ?? 0)),
    max_rejected: of(rows?.rejected ?? 0),
    max_updates: of(updates),
    max_creates: of(creates),
    max_cleared: of(cleared),
    max_orphans: reconcile ? `${formatNumber(reconcile.orphans.fresh)} newly missing` : '',
    max_change: '',
    min_rows: countText(total, 'row'),
  };
  return (Object.keys(found) as (keyof typeof found)[]).flatMap((name) => {
    const limit = brakes[name] ?? defaults[name];
    const isNone = limit === undefined || (name === 'min_rows' && limit === 0);
    return isNone ? [] : [{ name, limit: String(limit), found: found[name] }];
  });
}
