import { shorten, visible } from '../model/control-characters.js';
import { sizeText } from '../model/count-text.js';
import { GOOD_OUTCOMES, OUTCOMES } from '../model/outcome.js';
import { shellWord } from '../model/yaml-text.js';
import { stepsOf } from './next-steps.js';
import { countText, durationText, formatNumber, requestsText, type Summary, visibleFaults } from './summary.js';
import { headline, keyFigures, outcomeWords, wordingOf } from './wording.js';

const MAX_FAULTS = 3;

/**
 * What a terminal shows when a run has ended: the headline, the counts, the commonest faults, what to know, where the
 * reports are and what to do. Plain text without colours; `folder` is where the reports lie, as the user would type it.
 */
export function summaryText(summary: Summary, folder?: string): string {
  const { requests, reports, reconcile } = summary;
  const lines = [`${dryRunPrefix(summary)}${headline(summary)}`];
  if (summary.reason) lines.push(cleanText(summary.reason));
  const breakdown = reconcile ? comparedLines(summary, reconcile) : outcomeLines(summary);
  if (breakdown.length > 0) lines.push('', ...breakdown);
  for (const { resource, total, created = 0, first } of summary.references ?? []) {
    const names = first.slice(0, MOST_NAMES).map(({ name }) => `"${quoted(name)}"`);
    const more = total > names.length ? ` and ${formatNumber(total - names.length)} more` : '';
    const done = summary.dry_run ? 'to be created first' : `${formatNumber(created)} of them created`;
    lines.push(
      '',
      `${countText(total, resource)} that rows name, ${resource === 'customer' ? 'unknown here' : 'not in the service'}, ${done}: ${names.join(', ')}${more}.`,
    );
  }

  const all = visibleFaults(summary);
  const faults = all.slice(0, MAX_FAULTS);
  if (faults.length) lines.push('', 'Most common faults:');
  for (const { code, count: times, column, field, example } of faults) {
    const where =
      column !== undefined ? ` in ${quoted(column.trim())}` : field !== undefined ? ` (field ${quoted(field)})` : '';
    lines.push(
      `  ${formatNumber(times)} × ${code}${where}${example === undefined ? '' : `, such as "${quoted(example)}"`}`,
    );
  }
  if (all.length > faults.length) lines.push('  and others; all are in faults.csv');

  lines.push(...notes(summary), '', `${durationText(summary.seconds)}, ${requestsText(requests)}`);
  if (reports.length) lines.push(`Reports: ${folder === undefined ? '' : `${folder}: `}${reports.join(', ')}`);
  const steps = stepsOf(summary).map(({ text }) => text.replaceAll('`', ''));
  lines.push(...steps.map((step, at) => `${at === 0 ? 'Next:' : '     '} ${step}`));
  return `${lines.join('\n')}\n`;
}

function dryRunPrefix({ dry_run: dry, kind }: Summary): string {
  if (!dry) return '';
  return kind === 'reconcile' ? 'REPORT ONLY, nothing was written. ' : 'DRY RUN, nothing was written. ';
}

function outcomeLines(summary: Summary): string[] {
  const { rows, dry_run: dry, kind: run } = summary;
  const present = OUTCOMES.filter((kind) => rows[kind] > 0);
  const width = Math.max(...present.map((kind) => formatNumber(rows[kind]).length), 1);
  return present.map((kind) => {
    const flag = GOOD_OUTCOMES.has(kind) ? ' ' : '!';
    const { label, meaning } = outcomeWords(kind, dry, wordingOf(summary));
    const name = run === 'undo' ? label.toLowerCase().padEnd(17) : kind.padEnd(13);
    return `${flag} ${formatNumber(rows[kind]).padStart(width)}  ${name}  ${meaning}`;
  });
}

const MOST_FIELDS = 6;

type Facts = NonNullable<Summary['reconcile']>;

/** What a terminal shows of a comparison: one line a number, what it is made of beside it. */
function comparedLines(summary: Summary, facts: Facts): string[] {
  const { rows } = summary;
  const { differences, orphans, scope } = facts;
  const figures = keyFigures(summary, facts);
  const width = Math.max(...figures.map(({ n }) => formatNumber(n).length));
  const most = [...differences.by_field].sort((a, b) => b.file + b.service - (a.file + a.service));
  const fields = most
    .slice(0, MOST_FIELDS)
    .map(({ field, file, service }) => `${cleanText(field)} ${formatNumber(file + service)}`);
  const more = most.length - fields.length;
  return [
    `Compared ${countText(rows.total, 'row')} with ${countText(scope.records, 'record')} of the service:`,
    '',
    ...figures.map(({ needsAttention, n, what, details }) =>
      `${needsAttention ? '!' : ' '} ${formatNumber(n).padStart(width)}  ${what.padEnd(15)}${details === '' ? '' : ` ${details}`}`.trimEnd(),
    ),
    ...(fields.length > 0 ? ['', `Fields that differ: ${fields.join(', ')}${more > 0 ? `, ${more} more` : ''}`] : []),
    ...(orphans.held_reason === undefined ? [] : ['', `Orphans are held: ${cleanText(orphans.held_reason)}`]),
  ];
}

/** What a terminal shows when an export has ended: `target` and `job` as the user would type them. */
export function exportText(summary: Summary, target: string, job?: string): string {
  const { requests, status, run } = summary;
  const lines = [exportHeadline(summary, target)];
  if (summary.reason) lines.push(cleanText(summary.reason));
  const { columns, bytes, sheets } = summary.target ?? {};
  if (columns !== undefined && bytes !== undefined) {
    const more = sheets && sheets.length > 1 ? `, ${sheets.length} sheets` : '';
    lines.push('', `${countText(columns, 'column')}, ${sizeText(bytes)}${more}`, consistency(summary));
  }
  lines.push(
    ...notes(summary),
    '',
    `${durationText(summary.seconds)}, ${countText(requests.total, 'request')} (${countText(requests.retries, 'retry', 'retries')})`,
  );
  if (job !== undefined)
    lines.push(`Next: change ${target}, then: rowferry import ${shellWord(target)} --job ${shellWord(job)} --dry-run`);
  if (status === 'interrupted' || status === 'failed') lines.push(`Next: rowferry runs resume ${run}`);
  return `${lines.join('\n')}\n`;
}

function exportHeadline({ status, records, resource }: Summary, target: string): string {
  if (status === 'interrupted') return `The export was interrupted; nothing was written to ${target}.`;
  if (records === undefined) return `The export failed; nothing was written to ${target}.`;
  return `${formatNumber(records)} ${resource} ${records === 1 ? 'record' : 'records'} → ${target}`;
}

function consistency({ consistency: found, passes = 0 }: Summary): string {
  if (found === 'verified' && passes === 1) return 'consistency: verified (each record was asked for by its id)';
  return found === 'verified'
    ? `consistency: verified (read ${passes} times; the last two agree)`
    : 'consistency: partial (it could not be established that no record is missing; see the notes)';
}

/** Warnings that a terminal shows; all of them are in summary.json. */
const MAX_WARNINGS = 5;

/** What to know, below a blank line. */
function notes({ warnings }: Summary): string[] {
  if (warnings.length === 0) return [];
  const more = warnings.length - MAX_WARNINGS;
  const noteLines = warnings.slice(0, MAX_WARNINGS).map((text) => `Note: ${cleanText(text)}`);
  return ['', ...noteLines, ...(more > 0 ? [`Note: ${more} more in summary.json`] : [])];
}

/** Names of new records that are shown. */
const MOST_NAMES = 5;

/** Our sentences are told whole, because their end says what to do; the words of others in them may be endless. */
const MAX_SENTENCE = 1_000;
/** Enough of a value or a heading to know it by. */
const MOST_QUOTED = 80;

/** Something of the file, as it is quoted in a line. */
function quoted(text: string): string {
  return cleanText(text, MOST_QUOTED);
}

/** On one line, without anything a terminal would obey. */
function cleanText(text: string, maxLength = MAX_SENTENCE): string {
  const plain = visible(text.replace(/\s+/gu, ' ')).replace(/\p{Cf}/gu, '');
  return shorten(plain, maxLength);
}
