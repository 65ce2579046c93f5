import { clean, MAX_WARNINGS } from './console-text.js';
import { count, counted, duration, type Summary } from './summary.js';

/** What a terminal shows when an export has ended: `target` and `job` as the user would type them. */
export function exportText(summary: Summary, target: string, job?: string): string {
  const { requests, warnings, status, run } = summary;
  const lines = [headline(summary, target)];
  if (summary.reason) lines.push(clean(summary.reason));
  const { columns, bytes, sheets } = summary.target ?? {};
  if (columns !== undefined && bytes !== undefined) {
    const more = sheets && sheets.length > 1 ? `, ${sheets.length} sheets` : '';
    lines.push('', `${counted(columns, 'column')}, ${size(bytes)}${more}`, consistency(summary));
  }
  if (warnings.length) lines.push('');
  for (const text of warnings.slice(0, MAX_WARNINGS)) lines.push(`Note: ${clean(text)}`);
  if (warnings.length > MAX_WARNINGS) lines.push(`Note: ${warnings.length - MAX_WARNINGS} more in summary.json`);
  lines.push(
    '',
    `${duration(summary.seconds)}, ${counted(requests.total, 'request')} (${counted(requests.retries, 'retry', 'retries')})`,
  );
  if (job !== undefined) lines.push(`Next: change ${target}, then: rowferry import ${target} --job ${job} --dry-run`);
  if (status === 'interrupted' || status === 'failed') lines.push(`Next: rowferry runs resume ${run}`);
  return `${lines.join('\n')}\n`;
}

function headline({ status, records, resource }: Summary, target: string): string {
  if (status === 'interrupted') return `The export was interrupted; ${target} is as it was.`;
  if (records === undefined) return `The export failed; ${target} is as it was.`;
  return `${count(records)} ${resource} ${records === 1 ? 'record' : 'records'} → ${target}`;
}

function consistency({ consistency: found, passes = 0 }: Summary): string {
  if (found === 'verified' && passes === 1) return 'consistency: verified (each record was asked for by its id)';
  return found === 'verified'
    ? `consistency: verified (read ${passes} times; the last two agree)`
    : 'consistency: partial (it could not be established that no record is missing; see the notes)';
}

function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  const [amount, unit] = bytes < 1e6 ? [bytes / 1e3, 'kB'] : bytes < 1e9 ? [bytes / 1e6, 'MB'] : [bytes / 1e9, 'GB'];
  return `${amount < 10 ? amount.toFixed(1) : Math.round(amount)} ${unit}`;
}
