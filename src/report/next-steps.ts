import { isUnverifiable, type OutcomeKind } from '../model/outcome.js';
import {
  brakeStop,
  failedToBegin,
  formatNumber,
  rowsForPerson,
  rowsToCorrect,
  rowsToReview,
  rowsWithLosses,
  type Summary,
} from './summary.js';

/** What the reader does now. What stands between backticks is something to type. */
export interface NextStep {
  /** A sentence or two; of what a command does, that command. */
  readonly text: string;
  /** The same in the console, where a button does it. */
  readonly inConsole?: string;
  /** What that button does. */
  readonly verb?: 'resume' | 'retry' | 'approve' | undefined;
  /** The run on whose page it is done, where that is another one. */
  readonly run?: string | undefined;
  /** The report to take. */
  readonly report?: string;
  /** Rows to look at. */
  readonly show?: OutcomeKind;
}

/** One for each thing that is to be done, in the order of doing it. */
export function stepsOf(summary: Summary): NextStep[] {
  return possibleSteps(summary).filter((step) => step !== false);
}

type PossibleSteps = readonly (NextStep | false)[];

function possibleSteps(summary: Summary): PossibleSteps {
  const { kind, status, run } = summary;
  if (failedToBegin(summary)) return [];
  // What else is to be done shows when it has come to its end.
  if (status === 'interrupted' || status === 'failed') return [lossStep(summary), resumeStep(run)];
  if (kind === 'reconcile') return reconcileSteps(summary);
  return kind === 'undo' ? undoSteps(summary) : importSteps(summary);
}

export function resumeStep(run: string): NextStep {
  return {
    text: `Continue with \`rowferry runs resume ${run}\`. Nothing is written twice.`,
    inConsole: 'Go on where it stopped. Nothing is written twice.',
    verb: 'resume',
  };
}

/** `the row`, `the 3 rows` */
const these = (n: number, what: string) => (n === 1 ? `the ${what}` : `the ${formatNumber(n)} ${what}s`);
const them = (n: number) => (n === 1 ? 'it' : 'them');

function importSteps(summary: Summary): PossibleSteps {
  const { status, rows, dry_run: dry, run } = summary;
  const braked = status === 'braked' ? brakeStop(summary) : undefined;
  const correct = correctionSteps(summary);
  return [
    ...(braked === 'plan' ? planBrakeSteps(run) : []),
    braked === 'refusals' &&
      correct.length === 0 && { text: 'Correct what the service refused and run the file again.' },
    rows.unknown > 0 && unknownStep(summary, rows.unknown),
    retryStep(summary),
    lossStep(summary),
    ...correct,
    // Nothing is wrong with their cells.
    rows.at_risk > 0 && {
      text:
        `For ${these(rows.at_risk, 'row')} held back (\`at_risk\`) do what the reasons say, let \`rowferry doctor --probe\` find out whether ` +
        'the service keeps the values, or allow the loss in the job with `at_risk: warn`. Then import the file again.',
      show: 'at_risk',
    },
    dry && braked === undefined && writeStep('run the same command without `--dry-run`'),
  ];
}

const planBrakeSteps = (run: string): NextStep[] => [
  { text: 'Look at what the brake names: is the file the right one, and complete?' },
  {
    text: `If its numbers are meant, \`rowferry runs approve ${run} --by NAME\` carries out exactly this plan (a row whose record somebody changed since is left as a conflict), and a new run with \`--force\` passes its brakes. If not, do nothing: nothing was written.`,
    verb: 'approve',
  },
];

const writeStep = (command: string): NextStep => ({
  text: `When this is what you want, ${command}.`,
  inConsole: 'When this is what you want, write it: exactly this plan is carried out.',
  verb: 'approve',
});

/** Of rows that cannot be looked up only a person finds out what became of them. */
function unknownStep(summary: Summary, n: number): NextStep {
  const text = `Look up ${these(n, 'row')} marked unknown in the service first: it never said whether it took ${them(n)}.`;
  if (!isUnverifiable(summary)) return { text, show: 'unknown' };
  const rejected = rejectedIn(summary.reports) ?? 'the rejected file';
  return {
    text: `${text} Delete from ${rejected} what is there. Of what is not, empty the cell in _outcome and import ${rejected}: a row that is still marked unknown is not sent.`,
    show: 'unknown',
  };
}

function retryStep(summary: Summary): NextStep | false {
  const { rows, run } = summary;
  const unknown = isUnverifiable(summary) ? 0 : rows.unknown;
  const n = rows.failed + unknown;
  const how = unknown === 0 ? 'failed' : rows.failed === 0 ? 'stayed unknown' : 'failed or stayed unknown';
  const what = `${these(n, 'row')} that ${how}`;
  const end = 'What is there is not sent again.';
  return (
    n > 0 &&
    !summary.dry_run && {
      text: `When the service is well, \`rowferry runs retry ${run}\` takes up ${what}. ${end}`,
      inConsole: `When the service is well, take up ${what}. ${end}`,
      verb: 'retry',
    }
  );
}

const rejectedIn = (reports: Summary['reports']) => reports.find((name) => name.startsWith('rejected.'));

/** Values that are gone, though their rows ended well. */
function lossStep(summary: Summary): NextStep | false {
  const what = summary.dry_run ? 'would be lost' : 'was lost';
  return (
    rowsWithLosses(summary) > 0 && {
      text: `Look at what ${what}: plan.csv has each value that updates destroy (\`at_risk\`), before.ndjson the records as they were, results.csv what new records lack (\`would_lose_value\`).`,
    }
  );
}

/** The rows whose cells somebody has to put right. */
function correctionSteps({ rows, reports, append }: Summary): NextStep[] {
  const rejected = rejectedIn(reports);
  if (!rejected || rowsToCorrect(rows) === 0) return [];
  const reached = rows.not_attempted > 0 ? ' or were not reached' : '';
  const all = rowsForPerson(rows);
  const contents =
    all === 1 ? 'the one row that needs a person' : `the ${formatNumber(all)} rows that need a person${reached}`;
  const what = rejected.endsWith('.xlsx')
    ? `the red cells of ${rejected}`
    : `${rejected}, whose last columns say what is wrong,`;
  const again = append
    ? 'It holds no row that is in; import it once, as each of its rows becomes a record.'
    : 'Columns that begin with an underscore are ignored, and rows that are in already are not sent twice.';
  const text = `Correct ${what} and import it again with the same job: it holds ${contents}. ${again}`;
  const steps: NextStep[] = [{ text, report: rejected }];
  const marked = `Take out of it the ${rows.duplicate === 1 ? 'row' : 'rows'} marked duplicate`;
  if (rows.duplicate > 0)
    steps.push({
      text: append
        ? `${marked}: ${rows.duplicate === 1 ? 'it repeats an earlier row' : 'they repeat earlier rows'} in every mapped column, and would be there twice. Or let the job skip such rows: \`match: { duplicates: first }\`.`
        : `${marked}, except where that row is the right one: imported again by itself a duplicate overwrites that record.`,
    });
  return steps;
}

/** A nightly file is not corrected and imported: the next one comes by itself. */
function reconcileSteps(summary: Summary): PossibleSteps {
  const { rows, status, dry_run: dry, run, reconcile } = summary;
  const braked = status === 'braked' ? brakeStop(summary) : undefined;
  const person = rowsToReview(rows);
  const orphans = reconcile?.compared?.orphans_for_person ?? 0;
  const heldBack = reconcile?.orphans.held ?? 0;
  const planned = rows.created + rows.updated + (reconcile?.orphans.acted ?? 0);
  return [
    lossStep(summary),
    ...(braked === 'plan' ? planBrakeSteps(run) : []),
    braked === undefined &&
      person + orphans > 0 && {
        text: 'Look at report.html, and put what it names right where it comes from. The next run takes it up.',
        report: 'report.html',
      },
    braked === 'refusals' && {
      text: 'Put right what the service refused, then run the file again: what is right already is left alone, and what was not reached is done.',
    },
    retryStep(summary),
    heldBack > 0 && { text: 'Look at the orphans that were held back: why stands beside each of them.' },
    dry && status !== 'braked' && planned > 0 && writeStep('run the same command with `--apply`'),
  ];
}

function undoSteps(summary: Summary): PossibleSteps {
  const { rows, status, dry_run: dry, of_run: of } = summary;
  const person = rowsToReview(rows);
  // `last` is not what it was: the undo is the last run now, so that the run is named.
  const again = of === undefined ? '' : `, with the id of the run: \`rowferry runs undo ${of}\``;
  return [
    lossStep(summary),
    person > 0 && {
      text: `Look at ${these(person, 'record')} that ${person === 1 ? 'needs' : 'need'} a person: report.html says why.`,
      report: 'report.html',
    },
    status === 'partial' && person === 0 && { text: 'Look at what stays as it is: the notes say why.' },
    status === 'braked' && {
      text: 'Read what the brake names. If it is meant, undo again with `--force`.',
      verb: 'approve',
    },
    dry &&
      rows.updated > 0 && {
        text: `When this is what you want, run the same command without \`--dry-run\`${again}.`,
        inConsole: 'When this is what you want, undo the run on its own page.',
        run: of,
      },
  ];
}
