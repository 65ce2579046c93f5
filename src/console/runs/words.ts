import type { Run, RunDetail, RunProgress, Verb } from '../../api/schema.js';
import { isUnverifiable } from '../../model/outcome.js';
import { brakeStop, rowsForPerson, type Summary } from '../../report/summary.js';
import { capitalize, headline } from '../../report/wording.js';
import { isLive } from '../app/queries.js';
import { bytes, counted, joinParts, number } from '../kit/format.js';

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

function exportHeadline({ records, status, reason }: Summary): string {
  if (status === 'failed' || status === 'interrupted') return reason ?? 'The export did not come to its end.';
  return records === undefined
    ? 'No file was written.'
    : `${counted(records, 'record is', 'records are')} in the file.`;
}

/** Each with the phases of the run that belong to it, and what became of a row in them. */
export const STEPS: readonly (readonly [name: string, phases: Readonly<Record<string, string>>])[] = [
  ['Read', { reading: 'read', 'reading again': 'read again', 'waiting for its turn': '' }],
  ['Checked', { 'looking up': 'looked up' }],
  ['Planned', { planning: 'planned' }],
  ['Written', { writing: 'through' }],
  ['Reported', { reporting: 'in the reports' }],
];

function progressText({ phase, done, total }: RunProgress, thing: string): string {
  if (phase === 'waiting') return 'It is about to begin.';
  if (phase === 'waiting for its turn') return 'Another run writes to the same records; this one waits for its turn.';
  const of = total ? `${number(done)} of ${counted(total, thing)}` : counted(done, thing);
  const word = STEPS.map(([, phases]) => phases[phase]).find(Boolean) ?? phase;
  return `${of} ${done === 1 ? 'is' : 'are'} ${word}.`;
}

/** What a person does now: a sentence, and what the button or link below it does. */
interface NextStep {
  readonly text: string;
  readonly verb?: Verb | undefined;
  /** Name of a report to take. */
  readonly report?: string;
  /** It comes back as a file, with the job of the run. */
  readonly again?: boolean;
  /** Outcomes to look at below. */
  readonly show?: string;
  /** The run on whose page it is done. */
  readonly run?: string | undefined;
}

export function* nextSteps(run: RunDetail): Generator<NextStep> {
  const { status } = run;
  if (isLive(run)) return;
  const summary = summaryOf(run);
  if (status === 'unfinished' || status === 'failed' || status === 'interrupted') {
    if (run.actions.resume?.allowed)
      yield { text: 'Go on where it stopped. Nothing is written twice.', verb: 'resume' };
    else yield { text: `Put right what stopped it, and begin anew. ${run.actions.resume?.why ?? ''}` };
  } else if (summary) yield* run.kind === 'export' ? exportSteps(run, summary) : rowSteps(run, run.kind, summary);
}

function* exportSteps({ reports }: RunDetail, { target }: Summary): Generator<NextStep> {
  const job = reports.find((name) => name.endsWith('.yaml'));
  const file = reports.find((name) => name !== job && !/^(?:summary\.json|report\.html)$/.test(name));
  const { bytes: size, columns } = target ?? {};
  const of = joinParts(size !== undefined && bytes(size), columns !== undefined && counted(columns, 'column'));
  if (file !== undefined) yield { text: `Take the file${of && `: ${of}`}.`, report: file };
  if (job !== undefined) {
    yield {
      text: `Change cells and import it again, here or with the job file on a command line: only what you changed is written. ${target?.format === 'xlsx' ? 'Grey columns are for information; a' : 'A'} cell that you empty keeps its value in the service.`,
      report: job,
    };
  }
}

function* rowSteps(run: RunDetail, kind: Exclude<Run['kind'], 'export'>, summary: Summary): Generator<NextStep> {
  const { rows, reports } = summary;
  const dry = run.dry_run;
  const braked = run.status === 'braked' ? brakeStop(summary) : undefined;
  if (braked === 'refusals')
    yield { text: 'The service refused too many rows. Correct what it names, then import the file again.' };
  if (!dry && rows.unknown > 0) {
    yield {
      text: `Look up ${countedRows(rows.unknown)} marked unknown in the service: it never said whether it took ${pronoun(rows.unknown)}.${
        isUnverifiable(summary)
          ? ' Delete from the file what is there. Of what is not, empty the cell in _outcome and import the file.'
          : ''
      }`,
      show: 'unknown',
    };
  }
  const again = rows.failed + (isUnverifiable(summary) ? 0 : rows.unknown);
  if (!dry && again > 0) {
    yield {
      text: `When the service is well, take ${countedRows(again)} up again. What is there is not sent again.`,
      verb: 'retry',
    };
  }
  const correct = rowsForPerson(rows) - rows.not_attempted - rows.failed - rows.unknown - rows.at_risk;
  const rejected = reports.find((name) => name.startsWith('rejected.'));
  if (correct > 0 && kind === 'import' && rejected) {
    yield {
      text: `Correct ${countedRows(correct)}: the file holds ${pronoun(correct)} with the reasons. Import it with the same job; ${summary.append ? 'each of its rows becomes a record' : 'rows that are in are not sent twice'}.`,
      report: rejected,
      again: run.ordered !== undefined,
    };
  } else if (correct > 0) {
    const text = {
      import: `Correct ${countedRows(correct)} in the file and import it again; rows that are in are not sent twice.`,
      reconcile: `Put ${countedRows(correct)} right where the file comes from. The next night takes ${pronoun(correct)} up.`,
      undo: `Look at ${countedRows(correct, 'record')} in the service; the reason stands beside ${pronoun(correct)}.`,
    };
    yield { text: text[kind], show: 'to_correct' };
  }
  if (rows.at_risk > 0) {
    yield {
      text: `${counted(rows.at_risk, 'update was', 'updates were')} held back so that no value is lost. Map the fields that the reason names, or allow the loss in the job.`,
      show: 'at_risk',
    };
  }
  if (!dry || braked !== undefined || rows.created + rows.updated === 0) return;
  if (kind === 'undo') yield { text: 'When this is what you want, undo the run on its own page.', run: run.of_run };
  else {
    yield {
      text: 'When this is what you want, write it: exactly this plan is carried out.',
      verb: run.actions.approve?.allowed ? 'approve' : undefined,
    };
  }
}

const countedRows = (n: number, one = 'row') => (n === 1 ? `the one ${one}` : `the ${counted(n, one)}`);
const pronoun = (n: number) => (n === 1 ? 'it' : 'them');

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
