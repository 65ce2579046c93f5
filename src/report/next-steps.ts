import { isUnverifiable } from '../model/outcome.js';
import { html, type Markup, untrusted } from './html-parts.js';
import {
  brakeStop,
  formatNumber,
  rowsForPerson,
  rowsToCorrect,
  rowsToReview,
  rowsWithLosses,
  type Summary,
} from './summary.js';

/** What the reader does now, in the order of doing it, as the page has it. `tone`: how the page judges the run. */
export function nextSteps(summary: Summary, tone: 'good' | 'warn' | 'bad'): Markup | false {
  const steps = stepsOf(summary);
  const linked = (text: string) => withLinks(text.replaceAll('report.html', 'this page'), summary.reports);
  if (steps.length > 0) {
    return html`<section class="next"><h2>What to do next</h2><ol>${steps.map((step) => html`<li>${linked(step)}</li>`)}</ol></section>`;
  }
  const doneText = summary.losses?.other_form
    ? 'Every row is in; the notes say what the service stored in another form.'
    : 'Every row ended well; results.csv has the id of each record.';
  return (
    summary.rows.total > 0 &&
    html`<section class="next${tone === 'good' && ' good'}"><h2>What to do next</h2><p>Nothing. ${linked(doneText)}</p></section>`
  );
}

/** The same for a terminal. */
export function nextLines(summary: Summary): string[] {
  return stepsOf(summary).map((step, at) => `${at === 0 ? 'Next:' : '     '} ${step.replaceAll('`', '')}`);
}

/** What stands between backticks is something to type; a report that is there is a link to it. */
function withLinks(text: string, reports: readonly string[]): Markup {
  const parts = text.split(/(`[^`]+`|\b[a-z]+\.(?:csv|xlsx|ndjson|html)\b)/);
  return html`${parts.map((part) => {
    if (part.startsWith('`')) return html`<code>${part.slice(1, -1)}</code>`;
    return reports.includes(part) ? html`<a href="${part}">${part}</a>` : untrusted(part);
  })}`;
}

/** One sentence or two for each thing that the reader does now. */
function stepsOf(summary: Summary): readonly string[] {
  return possibleSteps(summary).filter((step) => step !== false);
}

type PossibleSteps = readonly (string | false)[];

function possibleSteps(summary: Summary): PossibleSteps {
  const { kind, status, run } = summary;
  if (status === 'interrupted' || status === 'failed') {
    // What else is to be done shows when it has come to its end.
    return [...lossSteps(summary), `Continue with \`rowferry runs resume ${run}\`. Nothing is written twice.`];
  }
  if (kind === 'reconcile') return reconcileSteps(summary);
  return kind === 'undo' ? undoSteps(summary) : importSteps(summary);
}

/** `the row`, `the 3 rows` */
const these = (n: number, what: string) => (n === 1 ? `the ${what}` : `the ${formatNumber(n)} ${what}s`);
const them = (n: number) => (n === 1 ? 'it' : 'them');

function importSteps(summary: Summary): PossibleSteps {
  const { status, rows, dry_run: dry, run } = summary;
  const braked = status === 'braked' ? brakeStop(summary) : undefined;
  const correct = correctionSteps(summary);
  return [
    braked === 'plan' &&
      'Check whether the file is the right one and complete. If its numbers are meant, run it again with `--force`.',
    braked === 'refusals' && correct.length === 0 && 'Correct what the service refused and run the file again.',
    rows.unknown > 0 && unknownStep(summary, rows.unknown),
    ...lossSteps(summary),
    ...correct,
    // Nothing is wrong with their cells.
    rows.at_risk > 0 &&
      `For ${these(rows.at_risk, 'row')} held back (\`at_risk\`) correct nothing: map the fields that the reason names, let \`rowferry doctor --probe\` find out whether ` +
        'the service keeps them, or allow the loss in the job with `at_risk: warn`. Then import the file again.',
    rows.failed > 0 &&
      `When the service is well, \`rowferry runs retry ${run}\` sends ${these(rows.failed, 'row')} that failed; nothing is wrong with ${them(rows.failed)}.`,
    dry && braked === undefined && 'When this is what you want, run the same command without `--dry-run`.',
  ];
}

/** Of rows that cannot be looked up only a person finds out what became of them. */
function unknownStep(summary: Summary, n: number): string {
  const { run, reports } = summary;
  const first = `Look up ${these(n, 'row')} marked unknown in the service first: it never said whether it took ${them(n)}.`;
  if (!isUnverifiable(summary))
    return `${first} Then \`rowferry runs retry ${run}\` takes ${them(n)} up: what is there is not sent again.`;
  const rejected = rejectedIn(reports) ?? 'the rejected file';
  return `${first} Delete from ${rejected} what is there. Of what is not, empty the cell in _outcome and import ${rejected}: a row that is still marked unknown is not sent.`;
}

const rejectedIn = (reports: Summary['reports']) => reports.find((name) => name.startsWith('rejected.'));

/** Values that are gone, though their rows ended well. */
function lossSteps(summary: Summary): string[] {
  if (rowsWithLosses(summary) === 0) return [];
  const what = summary.dry_run ? 'would be lost' : 'was lost';
  return [
    `Look at what ${what}: plan.csv has each value that updates destroy (\`at_risk\`), before.ndjson the records as they were, results.csv what new records lack (\`would_lose_value\`).`,
  ];
}

/** The rows whose cells somebody has to put right. */
function correctionSteps({ rows, reports, append }: Summary): string[] {
  const rejected = rejectedIn(reports);
  if (!rejected || rowsToCorrect(rows) === 0) return [];
  const reached = rows.not_attempted > 0 ? ' or were not reached' : '';
  const all = rowsForPerson(rows);
  const contents =
    all === 1 ? 'the one row that needs a person' : `the ${formatNumber(all)} rows that need a person${reached}`;
  const what = rejected.endsWith('.xlsx')
    ? `the red cells of ${rejected}`
    : `${rejected}, whose last columns say what is wrong,`;
  const steps = [
    `Correct ${what} and import it again with the same job: it holds ${contents}. ${
      append
        ? 'It holds no row that is in; import it once, as each of its rows becomes a record.'
        : 'Columns that begin with an underscore are ignored, and rows that are in already are not sent twice.'
    }`,
  ];
  const marked = `Take out of it the ${rows.duplicate === 1 ? 'row' : 'rows'} marked duplicate`;
  if (rows.duplicate > 0)
    steps.push(
      append
        ? `${marked}: ${rows.duplicate === 1 ? 'it repeats an earlier row' : 'they repeat earlier rows'} in every mapped column, and would be there twice. Or let the job skip such rows: \`match: { duplicates: first }\`.`
        : `${marked}, except where that row is the right one: imported again by itself a duplicate overwrites that record.`,
    );
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
    ...lossSteps(summary),
    braked === 'plan' && 'Look at what the brake names: is the file the right one, and complete?',
    braked === 'plan' &&
      `If its numbers are meant, \`rowferry runs approve ${run} --by NAME\` carries out exactly this plan; a row whose record somebody changed since is left as a conflict. If not, do nothing: nothing was written.`,
    braked === undefined &&
      person + orphans > 0 &&
      'Look at report.html, and put what it names right where it comes from. The next run takes it up.',
    braked === 'refusals' &&
      'Put right what the service refused, then run the file again: what is right already is left alone, and what was not reached is done.',
    rows.failed + rows.unknown > 0 &&
      `\`rowferry runs retry ${run}\` takes up the rows that failed or are unknown at once.`,
    heldBack > 0 && 'Look at the orphans that were held back: why stands beside each of them.',
    dry && status !== 'braked' && planned > 0 && 'When this is what you want, run the same command with `--apply`.',
  ];
}

function undoSteps(summary: Summary): PossibleSteps {
  const { rows, status, dry_run: dry, of_run: of } = summary;
  const person = rowsToReview(rows);
  // `last` is not what it was: the undo is the last run now, so that the run is named.
  const again = of === undefined ? '' : `, with the id of the run: \`rowferry runs undo ${of}\``;
  return [
    ...lossSteps(summary),
    person > 0 &&
      `Look at ${these(person, 'record')} that ${person === 1 ? 'needs' : 'need'} a person: report.html says why.`,
    status === 'partial' && person === 0 && 'Look at what stays as it is: the notes say why.',
    status === 'braked' && 'Read what the brake names. If it is meant, undo again with `--force`.',
    dry && rows.updated > 0 && `When this is what you want, run the same command without \`--dry-run\`${again}.`,
  ];
}
