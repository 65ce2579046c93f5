import { GOOD_OUTCOMES, OUTCOMES } from '../model/outcome.js';
import { comparedLines } from './console-reconcile.js';
import { clean, MAX_WARNINGS, quoted } from './console-text.js';
import { headline } from './headline.js';
import { outcomeWords } from './outcome-words.js';
import { SHEETS } from './reconcile/sheet-names.js';
import {
  brakeStop,
  count,
  duration,
  requestsText,
  rowsForPerson,
  rowsToCorrect,
  rowsWithLosses,
  type Summary,
  shownFaults,
} from './summary.js';

const MAX_FAULTS = 3;

/**
 * What a terminal shows when a run has ended: the headline, the counts, the commonest faults, what to know, where the
 * reports are and what to do. Plain text without colours; `folder` is where the reports lie, as the user would type it.
 */
export function summaryText(summary: Summary, folder?: string): string {
  const { requests, reports, reconcile } = summary;
  const lines = [`${rehearsal(summary)}${headline(summary)}`];
  if (summary.reason) lines.push(clean(summary.reason));
  const counted = reconcile ? comparedLines(summary, reconcile) : outcomeLines(summary);
  if (counted.length > 0) lines.push('', ...counted);

  const faults = shownFaults(summary).slice(0, MAX_FAULTS);
  if (faults.length) lines.push('', 'Most common faults:');
  for (const { code, count: times, column, field, example } of faults) {
    const where =
      column !== undefined ? ` in ${quoted(column)}` : field !== undefined ? ` (field ${quoted(field)})` : '';
    lines.push(`  ${count(times)} × ${code}${where}${example === undefined ? '' : `, such as "${quoted(example)}"`}`);
  }

  if (summary.warnings.length) lines.push('');
  for (const text of summary.warnings.slice(0, MAX_WARNINGS)) lines.push(`Note: ${clean(text)}`);
  const more = summary.warnings.length - MAX_WARNINGS;
  if (more > 0) lines.push(`Note: ${more} more in summary.json`);

  lines.push('', `${duration(summary.seconds)}, ${requestsText(requests)}`);
  if (reports.length) lines.push(`Reports: ${folder === undefined ? '' : `${folder}: `}${reports.join(', ')}`);
  lines.push(...hint(summary, reports));
  return `${lines.join('\n')}\n`;
}

function rehearsal({ dry_run: dry, kind }: Summary): string {
  if (!dry) return '';
  return kind === 'reconcile' ? 'REPORT ONLY, nothing was written. ' : 'DRY RUN, nothing was written. ';
}

function outcomeLines({ rows, dry_run: dry, kind: run }: Summary): string[] {
  const present = OUTCOMES.filter((kind) => rows[kind] > 0);
  const width = Math.max(...present.map((kind) => count(rows[kind]).length), 1);
  return present.map((kind) => {
    const flag = GOOD_OUTCOMES.has(kind) ? ' ' : '!';
    const { label, meaning } = outcomeWords(kind, dry, run);
    const name = run === 'undo' ? label.toLowerCase().padEnd(17) : kind.padEnd(13);
    return `${flag} ${count(rows[kind]).padStart(width)}  ${name}  ${meaning}`;
  });
}

function hint(summary: Summary, reports: readonly string[]): string[] {
  const { status, run, rows, dry_run, kind } = summary;
  if (kind === 'reconcile') return nightHint(summary);
  const rejected = reports.find((name) => name.startsWith('rejected.'));
  if (status === 'failed' && rowsWithLosses(summary) > 0) {
    return [
      'Next: look at what is gone (plan.csv: at_risk; results.csv: would_lose_value) and why the run stopped; then',
      `      rowferry runs resume ${run}`,
    ];
  }
  if (status === 'interrupted' || status === 'failed') return [`Next: rowferry runs resume ${run}`];
  if (status === 'braked') return [brakedHint(summary, rejected)];
  if (kind === 'undo') return undoHint(summary);
  const steps = [
    ...byOutcome(summary, rejected),
    ...(dry_run && rowsForPerson(rows) === 0 ? ['run the same command without --dry-run'] : []),
  ];
  return steps.map((step, at) => `${at === 0 ? 'Next:' : '     '} ${step}`);
}

/** What each outcome asks for, in the order of doing it. */
function byOutcome({ rows, run }: Summary, rejected: string | undefined): string[] {
  const out = rows.duplicate > 0 ? ' (a duplicate that stays in it overwrites the record of the earlier row)' : '';
  return [
    ...(rows.unknown > 0 ? [`look up the unknown rows in the service, then: rowferry runs retry ${run}`] : []),
    ...(rows.failed > 0 && rows.unknown === 0
      ? [`rowferry runs retry ${run}, when the service is well: nothing is wrong with the rows that failed`]
      : []),
    ...(rejected && rowsToCorrect(rows) > 0 ? [`correct ${rejected} and import it again with the same job${out}`] : []),
    ...(rows.at_risk > 0
      ? [
          'for the at_risk rows: map the fields they name, or rowferry doctor --probe, or at_risk: warn in the job; then import again',
        ]
      : []),
  ];
}

function brakedHint(summary: Summary, rejected: string | undefined): string {
  switch (brakeStop(summary)) {
    case 'plan':
      return 'Next: check the file; if its numbers are meant, run it again with --force';
    case 'approval':
      return 'Next: run the file again and look at the new plan';
    case 'refusals':
      return rejected
        ? `Next: correct what the service refused in ${rejected}, which holds the rows that were not reached, too, and import it with the same job`
        : 'Next: correct what the service refused and run the file again';
  }
}

/** `last` is not what it was: the undo is the last run now, so that the run is named. */
function undoHint({ rows, dry_run: dry, of_run: of }: Summary): string[] {
  if (rowsForPerson(rows) > rows.not_attempted)
    return ['Next: look at the records that need a person; report.html says why'];
  if (!dry || rows.updated === 0) return [];
  return [
    of === undefined
      ? 'Next: the same without --dry-run'
      : `Next: the same without --dry-run: rowferry runs undo ${of}`,
  ];
}

function nightHint(summary: Summary): string[] {
  const { status, run, rows, dry_run, reconcile } = summary;
  if (status === 'interrupted' || status === 'failed') return [`Next: rowferry runs resume ${run}`];
  if (status === 'braked') return brakedNight(summary);
  if (rows.failed + rows.unknown > 0) return [`Next: rowferry runs retry ${run}`];
  if (dry_run && rows.created + rows.updated + (reconcile?.orphans.acted ?? 0) > 0)
    return ['Next: look at reconcile.xlsx; --apply carries it out'];
  return lookAt(summary);
}

function brakedNight(summary: Summary): string[] {
  switch (brakeStop(summary)) {
    case 'plan':
      return [
        'Next: look at reconcile.xlsx. If the numbers are meant, this carries out exactly that plan:',
        `      rowferry runs approve ${summary.run} --by NAME`,
      ];
    case 'approval':
      return ['Next: run the file again and look at the new plan'];
    case 'refusals':
      return [
        `Next: put right what the service refused (reconcile.xlsx: ${sheetsOf(summary)}), then run the file again:`,
        '      what is right already is left alone',
      ];
  }
}

/** Where the rows and orphans are that need a person. */
function lookAt(summary: Summary): string[] {
  const sheets = sheetsOf(summary);
  if (sheets !== '' && summary.reports.includes(BOOK)) return [`Next: look at ${sheets} of ${BOOK}`];
  return rowsForPerson(summary.rows) > 0 ? ['Next: look at report.html: it names the rows that need a person'] : [];
}

const BOOK = 'reconcile.xlsx';

/** `the sheets Ambiguous and Orphans`: those that hold something that needs a person. */
function sheetsOf({ rows, reconcile }: Summary): string {
  const sheets = [
    ...(rows.ambiguous > 0 ? [SHEETS.ambiguous] : []),
    ...(rowsForPerson(rows) > rows.ambiguous ? [SHEETS.invalid] : []),
    ...((reconcile?.compared?.orphans_for_person ?? 0) > 0 ? [SHEETS.orphans] : []),
  ];
  const last = sheets.pop();
  if (last === undefined) return '';
  return sheets.length === 0 ? `the sheet ${last}` : `the sheets ${sheets.join(', ')} and ${last}`;
}
