import { actedOrphans, actedParts } from './reconcile/words.js';
import { count, type RunStatus, rowsForPerson, rowsInPlace, type Summary } from './summary.js';

/** The run in one sentence, for the top of every report. */
export function headline(summary: Summary): string {
  const { rows, status } = summary;
  if (rows.total === 0) return nothingRead(summary);
  const parts = summary.reconcile
    ? compared(summary, summary.reconcile)
    : summary.kind === 'undo'
      ? putBack(summary)
      : takenUp(summary, rowsIn(summary));
  const sentence = `${[...parts, ...lost(summary)].join('; ')}.`;
  const lead = summary.dry_run && status === 'braked' ? 'A brake would stop this run' : LEAD[status];
  if (!lead) return capital(sentence);
  // The run stopped behind its last row: that it failed is not to be read as its rows not being in.
  const after = !summary.reconcile && summary.kind !== 'undo' && rowsInPlace(rows) === rows.total;
  return after ? `${lead}, after its last row: ${small(sentence)}` : `${lead}: ${sentence}`;
}

const LEAD: Readonly<Partial<Record<RunStatus, string>>> = {
  braked: 'Stopped by a brake',
  failed: 'The run failed',
  interrupted: 'The run was interrupted',
};

function nothingRead({ status, kind, reconcile }: Summary): string {
  if (status === 'failed') return 'The run failed before any row was read.';
  if (status === 'braked') return 'Stopped by a brake: the file holds no data rows; nothing was written.';
  if (kind === 'undo') return 'The run wrote nothing that could be put back.';
  const orphans = reconcile?.orphans.total ?? 0;
  return orphans > 0 ? `The file holds no data rows; ${orphaned(orphans)}.` : 'The file holds no data rows.';
}

function rowsIn({ rows, dry_run: dry, status }: Summary): string[] {
  const inPlace = rowsInPlace(rows);
  const total = rows.total;
  const parts: string[] = [];
  if (LEAD[status] && rows.created + rows.updated === 0) {
    parts.push(dry ? 'nothing would be written' : 'nothing was written');
  } else if (rows.unchanged === total) {
    parts.push(`${all(total)} ${are(total)} in the service already; nothing ${dry ? 'would be' : 'was'} sent`);
  } else if (inPlace === total) {
    parts.push(`${all(total)} ${dry ? 'would go' : are(total)} in`);
  } else {
    parts.push(`${count(inPlace)} of ${count(total)} rows ${dry ? 'would go' : are(inPlace)} in`);
  }
  if (rows.skipped) parts.push(`${count(rows.skipped)} ${was(rows.skipped)} skipped by the job’s own rule`);
  return [...parts, ...left(summaryRows(rows), '')];
}

/** A retry of a reconciliation compares nothing, and its total is not that of the file. */
function takenUp({ kind, of_run: of, rows, status }: Summary, parts: string[]): string[] {
  if (kind !== 'reconcile' || of === undefined || LEAD[status]) return parts;
  const these = rows.total === 1 ? 'one row' : `${count(rows.total)} rows`;
  return [`${these} of the run ${of} ${was(rows.total)} taken up again`, ...parts.map(small)];
}

/** A reconciliation: what was put right, and what is left. */
function compared({ rows, dry_run: dry, status }: Summary, facts: NonNullable<Summary['reconcile']>): string[] {
  const { updated, created } = rows;
  const parts: string[] = [];
  const were = (n: number) => (dry ? 'would be' : was(n));
  const records = (n: number) => `${count(n)} ${n === 1 ? 'record' : 'records'}`;
  if (updated > 0) parts.push(`${records(updated)} ${were(updated)} put right`);
  if (created > 0)
    parts.push(
      updated > 0 ? `${count(created)} ${were(created)} created` : `${records(created)} ${were(created)} created`,
    );
  const { total, fresh } = facts.orphans;
  const orphans = actedOrphans({ dry_run: dry, status }, facts);
  if (parts.length === 0) {
    const agreed = facts.compared?.agree ?? rows.unchanged;
    if (LEAD[status] && orphans.acted > 0) parts.push('no row was put right');
    else if (LEAD[status]) parts.push(dry ? 'nothing would be written' : 'nothing was written');
    else if (agreed === rows.total) parts.push(`the file and the service agree in ${all(rows.total).toLowerCase()}`);
    else parts.push(dry ? 'nothing would be put right' : 'nothing was to be put right');
  }
  if (total > 0) parts.push(orphaned(total, [...(fresh > 0 ? [`${count(fresh)} new`] : []), ...actedParts(orphans)]));
  return [...parts, ...left(summaryRows(rows), 'row')];
}

/** An undo: its rows are the records that the run had written. */
function putBack({ rows, dry_run: dry, status }: Summary): string[] {
  const { total, updated, unchanged } = rows;
  const parts: string[] = [];
  const of = total === 1 ? 'the only record' : updated === total ? `all ${count(total)} records` : undefined;
  if (updated > 0) {
    const told = of ?? `${count(updated)} of ${count(total)} records`;
    parts.push(dry ? `${told} would be put back` : `put back ${told}`);
  } else if (unchanged === total) {
    const every = total === 1 ? 'the only record' : `all ${count(total)} records`;
    return [`${every} ${are(total)} as before already; nothing ${dry ? 'would be' : 'was'} sent`];
  } else parts.push(LEAD[status] || !dry ? 'nothing was put back' : 'nothing would be put back');
  if (unchanged > 0) parts.push(`${count(unchanged)} ${are(unchanged)} as before already`);
  return [...parts, ...left(summaryRows(rows), '')];
}

function summaryRows(rows: Summary['rows']) {
  return { person: rowsForPerson(rows) - rows.not_attempted, missed: rows.not_attempted };
}

function left({ person, missed }: { person: number; missed: number }, word: '' | 'row'): string[] {
  const named = (n: number) => `${count(n)}${word === '' ? '' : n === 1 ? ' row' : ' rows'}`;
  return [
    ...(person > 0 ? [`${named(person)} ${person === 1 ? 'needs' : 'need'} a person`] : []),
    ...(missed > 0 ? [`${named(missed)} ${was(missed)} not reached`] : []),
  ];
}

/** What rows that ended well have cost. */
function lost({ losses, dry_run: dry }: Summary): string[] {
  const { destroyed = 0, missing = 0 } = losses ?? {};
  return [
    ...(destroyed > 0
      ? [`${count(destroyed)} ${destroyed === 1 ? 'update' : 'updates'} ${dry ? 'would destroy' : 'destroyed'} values`]
      : []),
    ...(missing > 0 ? [`${count(missing)} ${was(missing)} created without all values`] : []),
  ];
}

function orphaned(total: number, parts: readonly string[] = []): string {
  return `${count(total)} ${total === 1 ? 'orphan' : 'orphans'}${parts.length > 0 ? ` (${parts.join(', ')})` : ''}`;
}

function small(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function are(n: number): string {
  return n === 1 ? 'is' : 'are';
}

function all(total: number): string {
  return total === 1 ? 'The only row' : `All ${count(total)} rows`;
}

function was(n: number): string {
  return n === 1 ? 'was' : 'were';
}
