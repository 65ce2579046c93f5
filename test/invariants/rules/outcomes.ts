import type { Violation } from '../evidence.js';
import type { Facts, Told } from '../facts.js';
import { isRecord } from '../record-form.js';

const OUTCOMES = [
  'created',
  'updated',
  'unchanged',
  'skipped',
  'invalid',
  'duplicate',
  'ambiguous',
  'at_risk',
  'conflict',
  'rejected',
  'failed',
  'unknown',
  'not_attempted',
];

export const GOOD = new Set(['created', 'updated', 'unchanged', 'skipped']);

/** Contract, section 5: every data row ends in exactly one outcome, numbered as the spreadsheet program shows it. */
export function oneOutcome({ rows, told, evidence }: Facts): Violation[] {
  const rule = 'one-outcome';
  return told.flatMap((run) => {
    const found: Violation[] = [];
    const seen = new Set<number>();
    for (const { row, outcome } of run.lines) {
      if (seen.has(row)) found.push({ rule, row, text: 'has more than one line in results.csv' });
      seen.add(row);
      if (!OUTCOMES.includes(outcome)) found.push({ rule, row, text: `ends in "${outcome}", which is no outcome` });
    }
    const all = evidence.retries?.includes(run.folder) ? [] : rows;
    for (const { row } of all) if (!seen.has(row)) found.push({ rule, row, text: 'has no outcome' });
    const data = new Set(rows.map(({ row }) => row));
    for (const row of seen) if (!data.has(row)) found.push({ rule, row, text: 'is told and is no row of the file' });
    const order = run.lines.map(({ row }) => row);
    if (order.some((row, at) => at > 0 && row < (order[at - 1] ?? 0))) {
      found.push({ rule, text: 'results.csv is not in the order of the file' });
    }
    return found;
  });
}

/** Contract, section 6: the counts of the summary are the tally of the results, and the status says what they are. */
export function totals({ rows, told, evidence }: Facts): Violation[] {
  const rule = 'totals';
  return told.flatMap((run) => {
    const found: Violation[] = [];
    const counts = isRecord(run.summary['rows']) ? run.summary['rows'] : {};
    for (const kind of OUTCOMES) {
      const told = Number(counts[kind] ?? Number.NaN);
      const real = run.lines.filter((line) => line.outcome === kind).length;
      if (told !== real) found.push({ rule, text: `summary.json counts ${told} ${kind}, results.csv has ${real}` });
    }
    const source = run.summary['source'];
    const read = isRecord(source) ? Number(source['rows']) : Number.NaN;
    for (const [what, number] of [
      ['rows.total', Number(counts['total'])],
      ['source.rows', read],
    ] as const) {
      const wanted = evidence.retries?.includes(run.folder) ? run.lines.length : rows.length;
      if (number !== wanted) found.push({ rule, text: `${what} is ${number}, and there are ${wanted} data rows` });
    }
    const status = statusFault(run);
    if (status) found.push({ rule, text: status });
    return found;
  });
}

function statusFault({ summary, lines }: Told): string | undefined {
  const status = String(summary['status']);
  const person = lines.filter((line) => !GOOD.has(line.outcome)).length;
  if (status === 'succeeded' && person > 0) return `the status is succeeded, and ${person} rows need a person`;
  if (status === 'partial' && person === 0) return 'the status is partial, and every row ended well';
  if (!['succeeded', 'partial', 'braked', 'failed', 'interrupted'].includes(status)) return `the status is "${status}"`;
  return undefined;
}

/** Contract, section 5: `unknown` is for what was left open, and for nothing else. */
export function unknownIsRare({ told, evidence }: Facts): Violation[] {
  if (evidence.open === undefined) return [];
  const { open } = evidence;
  return told.flatMap((run) => {
    const unknown = run.lines.filter((line) => line.outcome === 'unknown');
    if (unknown.length <= open) return [];
    const text = `is one of ${unknown.length} unknown rows, and the effect of ${open} requests was left open`;
    return [{ rule: 'unknown-is-rare', row: unknown[0]?.row ?? 0, text }];
  });
}
