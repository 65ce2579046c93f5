import type { Run, RunDetail, RunProgress } from '../../api/schema.js';
import { type NextStep, resumeStep, stepsOf } from '../../report/next-steps.js';
import { isReportName, type Summary } from '../../report/summary.js';
import { capitalize, headline } from '../../report/wording.js';
import { isComplete, isLive } from '../app/queries.js';
import { counted, number } from '../kit/format.js';

/** What is said of runs as a whole; of rows and faults `src/report/wording.ts` says it. */

const KINDS = { import: 'Import', export: 'Export', reconcile: 'Night', undo: 'Undo' } as const;

/** What was ordered without one came from the pages, or from a program. */
export const jobWord = ({ job }: Pick<Run, 'job'>) => (job === 'inline' ? 'no job file' : job);

/** What an undo puts back is no file of anybody's. */
export function runName({ kind, file, job, of_run, id }: Pick<Run, 'kind' | 'file' | 'job' | 'of_run' | 'id'>): string {
  if (kind === 'undo' && of_run !== undefined) return `Undo of ${of_run.slice(0, 15)}`;
  return file || job || id;
}

/** `Import`, `Import, dry run`, `Night, let through` */
export function kindWord({ kind, manner, dry_run }: Pick<Run, 'kind' | 'manner' | 'dry_run'>): string {
  const how = manner === 'retry' ? ', again' : manner === 'approved' ? ', let through' : '';
  return `${KINDS[kind]}${how}${dry_run ? (kind === 'reconcile' ? ', only reported' : ', dry run') : ''}`;
}

export const summaryOf = (run: RunDetail) => run.summary as unknown as Summary | null;

/** The run in one sentence; here the person who is needed is the reader. */
export function runHeadline(run: RunDetail): string {
  const summary = summaryOf(run);
  if (summary && run.kind === 'export') return exportHeadline(summary);
  if (summary) return headline(summary).replace(/\b(needs?) a person\b/, '$1 you');
  switch (run.status) {
    case 'waiting':
      return 'It waits for its turn on the queue.';
    case 'running':
      return run.progress ? progressText(run.progress, run.kind === 'export' ? 'record' : 'row') : 'It is at work.';
    case 'unfinished':
      return 'It was cut off before its end; what it wrote is known, and it can go on.';
    default:
      return run.reason ? 'It could not be done.' : 'It has ended, and left no summary.';
  }
}

/** Why it may not be complete the warnings say. */
function exportHeadline({ records, status, reason, consistency }: Summary): string {
  if (status === 'failed' || status === 'interrupted') return reason ?? 'The export did not come to its end.';
  if (records === undefined) return 'No file was written.';
  const inFile = `${counted(records, 'record is', 'records are')} in the file`;
  return consistency === 'verified' ? `${inFile}, and it is complete.` : `${inFile}; it may not be complete.`;
}

/** Each with the phases of the run that belong to it, and what became of a row in them. */
export const STEPS: readonly (readonly [name: string, phases: Readonly<Record<string, string>>])[] = [
  ['Read', { reading: 'read', 'reading again': 'read again', 'waiting for its turn': '' }],
  ['Checked', { 'looking up': 'looked up' }],
  ['Planned', { planning: 'planned' }],
  ['Written', { writing: 'through' }],
  ['Reported', { reporting: 'in the reports' }],
];

export function progressText({ phase, done, total }: RunProgress, thing = 'row'): string {
  if (phase === 'waiting') return 'It is about to begin.';
  if (phase === 'waiting for its turn') return 'Another run writes to the same records; this one waits for its turn.';
  const of = total ? `${number(done)} of ${counted(total, thing)}` : counted(done, thing);
  const word = STEPS.map(([, phases]) => phases[phase]).find(Boolean) ?? phase;
  return `${of} ${done === 1 ? 'is' : 'are'} ${word}.`;
}

/** What is done next, each with the button that does it. That of a brake stands beside its reason. */
export function nextSteps(run: RunDetail): NextStep[] {
  const summary = summaryOf(run);
  if (isLive(run)) return [];
  if (run.kind === 'export' && isComplete(run)) return exportSteps(run);
  const isOver = isComplete(run) || run.status === 'braked';
  const steps = summary ? stepsOf(summary) : isOver ? [] : [resumeStep(run.id)];
  return steps
    .filter(({ verb }) => verb !== 'approve' || run.status !== 'braked')
    .map((step) => {
      const { allowed = false, why = '' } = (step.verb && run.actions[step.verb]) ?? {};
      if (step.verb === 'resume' && !allowed) return { text: `Put right what stopped it, and begin anew. ${why}` };
      return { ...step, text: step.inConsole ?? step.text, verb: allowed ? step.verb : undefined };
    });
}

function exportSteps({ reports, summary }: RunDetail): NextStep[] {
  if (!summary) return [];
  const job = reports.find((name) => name.endsWith('.yaml'));
  const file = reports.find((name) => name !== job && !isReportName(name));
  const back =
    'Change cells and import it again, here or with the job file on a command line: only what you changed is written. A cell that you empty keeps its value in the service.';
  return [
    ...(file === undefined ? [] : [{ text: 'Take the file.', report: file }]),
    ...(job === undefined ? [] : [{ text: back, report: job }]),
  ];
}

/** Where the code itself is not said as people would. */
const FAULTS: Readonly<Record<string, string>> = {
  required: 'Blank',
  reference_not_found: 'No such name',
  reference_ambiguous: 'Several of this name',
  reference_created: 'New name',
  near_match: 'Looks like another',
  ambiguous_match: 'Several records',
  service_rejected: 'Refused',
  service_unreachable: 'Not reached',
  ragged_row: 'Too many or few cells',
};

/** What is wrong, in two or three words: `not_a_number` → `Not a number` */
export function faultWord(code: string): string {
  return FAULTS[code] ?? capitalize(code.replace(/^rule_/, '').replaceAll('_', ' '));
}
