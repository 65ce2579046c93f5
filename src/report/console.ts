import { GOOD_OUTCOMES, OUTCOMES } from '../model/outcome.js';
import { clean, MAX_WARNINGS } from './console-text.js';
import { outcomeWords } from './outcome-words.js';
import { count, duration, headline, rowsForPerson, type Summary } from './summary.js';

const MAX_FAULTS = 3;

/**
 * What a terminal shows when a run has ended: the headline, the counts, the commonest faults, what to know, where the
 * reports are and what to do. Plain text without colours; `folder` is where the reports lie, as the user would type it.
 */
export function summaryText(summary: Summary, folder?: string): string {
  const { rows, requests, reports } = summary;
  const lines = [`${summary.dry_run ? 'DRY RUN, nothing was written. ' : ''}${headline(summary)}`];
  if (summary.reason) lines.push(clean(summary.reason));

  const present = OUTCOMES.filter((kind) => rows[kind] > 0);
  const width = Math.max(...present.map((kind) => count(rows[kind]).length), 1);
  if (present.length) lines.push('');
  for (const kind of present) {
    const flag = GOOD_OUTCOMES.has(kind) ? ' ' : '!';
    const meaning = outcomeWords(kind, summary.dry_run).meaning;
    lines.push(`${flag} ${count(rows[kind]).padStart(width)}  ${kind.padEnd(13)}  ${meaning}`);
  }

  const faults = summary.top_faults.slice(0, MAX_FAULTS);
  if (faults.length) lines.push('', 'Most common faults:');
  for (const { code, count: times, column, field, example } of faults) {
    const where = column !== undefined ? ` in ${clean(column)}` : field !== undefined ? ` (field ${clean(field)})` : '';
    lines.push(`  ${count(times)} × ${code}${where}${example === undefined ? '' : `, such as "${clean(example)}"`}`);
  }

  if (summary.warnings.length) lines.push('');
  for (const text of summary.warnings.slice(0, MAX_WARNINGS)) lines.push(`Note: ${clean(text)}`);
  const more = summary.warnings.length - MAX_WARNINGS;
  if (more > 0) lines.push(`Note: ${more} more in summary.json`);

  lines.push(
    '',
    `${duration(summary.seconds)}, ${count(requests.total)} requests (${count(requests.reads)} reads, ` +
      `${count(requests.writes)} writes, ${count(requests.retries)} retries)`,
  );
  if (reports.length) lines.push(`Reports: ${folder === undefined ? '' : `${folder}: `}${reports.join(', ')}`);
  lines.push(...hint(summary, reports));
  return `${lines.join('\n')}\n`;
}

function hint({ status, run, rows, dry_run }: Summary, reports: readonly string[]): string[] {
  const rejected = reports.find((name) => name.startsWith('rejected.'));
  const correct = rejected && rowsForPerson(rows) > rows.not_attempted;
  if (status === 'interrupted' || status === 'failed') return [`Next: rowferry runs resume ${run}`];
  if (status === 'braked') return ['Next: check the file; if its numbers are meant, run it again with --force'];
  if (correct) return [`Next: correct ${rejected} and import it again with the same job`];
  return dry_run ? ['Next: run the same command without --dry-run'] : [];
}
