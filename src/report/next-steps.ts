import { html, type Markup } from './html-parts.js';
import { brakeStop, count, rowsForPerson, rowsToCorrect, rowsWithLosses, type Summary } from './summary.js';
import { SHEETS } from './words.js';

/** One thing that the reader does now. */
interface Step {
  readonly page: Markup;
  /** In a few words, with the command; absent where the others say enough there. */
  readonly terminal?: string | undefined;
}

/** What the reader does now, in the order of doing it, as the page has it. `tone`: how the page judges the run. */
export function nextSteps(summary: Summary, tone: 'good' | 'warn' | 'bad'): Markup | false {
  const steps = stepsOf(summary);
  if (steps.length > 0) {
    return html`<section class="next"><h2>What to do next</h2><ol>${steps.map(({ page }) => html`<li>${page}</li>`)}</ol></section>`;
  }
  return (
    summary.rows.total > 0 &&
    html`<section class="next${tone === 'good' && ' good'}"><h2>What to do next</h2><p>Nothing. ${allWell(summary)}</p></section>`
  );
}

/** The same for a terminal. */
export function nextLines(summary: Summary): string[] {
  const lines = stepsOf(summary).flatMap(({ terminal }) => terminal?.split('\n') ?? []);
  return lines.map((line, at) => `${at === 0 ? 'Next:' : '     '} ${line}`);
}

function stepsOf(summary: Summary): readonly Step[] {
  const { kind, status, run } = summary;
  if (status === 'interrupted' || status === 'failed') {
    // What else is to be done shows when it has come to its end.
    const page = html`Continue with <code>rowferry runs resume ${run}</code>. Nothing is written twice.`;
    return [...lossSteps(summary), { page, terminal: `rowferry runs resume ${run}` }];
  }
  if (status === 'braked' && brakeStop(summary) === 'approval') {
    // Its plan is not the one that somebody looked at.
    const page = html`Run the file again and look at the new plan. Nothing was written.`;
    return [{ page, terminal: 'run the file again and look at the new plan' }];
  }
  if (kind === 'reconcile') return ofNight(summary);
  return kind === 'undo' ? ofUndo(summary) : ofImport(summary);
}

function allWell({ kind, losses, dry_run: dry }: Summary): Markup {
  if (kind === 'reconcile') return html`No row needs anybody, and the next run compares everything anew.`;
  if (kind === 'undo')
    return html`Every record is as it was before the run; <a href="results.csv">results.csv</a> names them.`;
  if (losses?.other_form && !dry)
    return html`Every row is in; the service stored values of ${count(losses.other_form)} ${losses.other_form === 1 ? 'row' : 'rows'} in another form than was sent, and <a href="results.csv">results.csv</a> has both.`;
  return html`Every row ended well; <a href="results.csv">results.csv</a> has the id of each record.`;
}

function ofImport(summary: Summary): Step[] {
  const { status, rows, dry_run: dry } = summary;
  const braked = status === 'braked' ? brakeStop(summary) : undefined;
  const correct = toCorrect(summary);
  return [
    ...(braked === 'plan'
      ? [
          {
            page: html`Check whether the file is the right one and complete. If its numbers are meant, run it again with <code>--force</code>.`,
            terminal: 'check the file; if its numbers are meant, run it again with --force',
          },
        ]
      : []),
    ...(braked === 'refusals' && correct.length === 0
      ? [
          {
            page: html`Correct what the service refused and run the file again.`,
            terminal: 'correct what the service refused and run the file again',
          },
        ]
      : []),
    ...unknown(summary),
    ...lossSteps(summary),
    ...correct,
    ...heldBack(summary),
    ...failed(summary),
    ...(dry && braked === undefined
      ? [
          {
            page: html`When this is what you want, run the same command without <code>--dry-run</code>.`,
            terminal: rowsForPerson(rows) === 0 ? 'run the same command without --dry-run' : undefined,
          },
        ]
      : []),
  ];
}

/** Values that are gone, though their rows ended well. */
function lossSteps(summary: Summary): Step[] {
  if (rowsWithLosses(summary) === 0) return [];
  const { destroyed = 0, missing = 0 } = summary.losses ?? {};
  const steps: Markup[] = [];
  if (destroyed > 0) {
    const updates = `${count(destroyed)} ${destroyed === 1 ? 'update' : 'updates'}`;
    steps.push(
      summary.dry_run
        ? html`Look at what ${updates} would destroy: <a href="plan.csv">plan.csv</a> has each value (<code>at_risk</code>).`
        : html`Look at what ${updates} destroyed: <a href="plan.csv">plan.csv</a> has each value (<code>at_risk</code>), and what the records held before is in ${
            summary.reports.includes('before.ndjson')
              ? html`<a href="before.ndjson">before.ndjson</a>`
              : 'before.ndjson'
          }. Enter again in the service what is needed.`,
    );
  }
  if (missing > 0) {
    steps.push(
      html`Look at the ${missing === 1 ? 'record that was' : `${count(missing)} records that were`} created without all values: <a href="results.csv">results.csv</a> names ${missing === 1 ? 'it' : 'them'} (<code>would_lose_value</code>).`,
    );
  }
  const terminal = 'look at what is gone (plan.csv: at_risk; results.csv: would_lose_value)';
  return steps.map((page, at) => (at === 0 ? { page, terminal } : { page }));
}

function unknown({ rows, run }: Summary): Step[] {
  if (rows.unknown === 0) return [];
  const [which, them] =
    rows.unknown === 1 ? ['the row marked', 'it'] : [`the ${count(rows.unknown)} rows marked`, 'them'];
  return [
    {
      page: html`Look up ${which} <em>unknown</em> in the service first: it never said whether it took ${them}. Then <code>rowferry runs retry ${run}</code> takes ${them} up: what is there is not sent again.`,
      terminal: `look up the unknown rows in the service, then: rowferry runs retry ${run}`,
    },
  ];
}

/** The rows whose cells somebody has to put right. */
function toCorrect({ rows, reports, status }: Summary): Step[] {
  const rejected = reports.find((name) => name.startsWith('rejected.'));
  if (!rejected || rowsToCorrect(rows) === 0) return [];
  const all = rowsForPerson(rows);
  const cells = rejected.endsWith('.xlsx') ? 'correct the red cells' : 'correct the values its last columns name';
  const held =
    all === 1
      ? 'the one row that needs a person'
      : `the ${count(all)} rows that need a person${rows.not_attempted > 0 ? ' or were not reached' : ''}`;
  const out = rows.duplicate > 0 ? ' (a duplicate that stays in it overwrites the record of the earlier row)' : '';
  const terminal =
    status === 'braked'
      ? `correct what the service refused in ${rejected}, which holds the rows that were not reached, too, and import it with the same job`
      : `correct ${rejected} and import it again with the same job${out}`;
  return [
    {
      page: html`Open <a href="${rejected}">${rejected}</a>: it holds ${held}, with the reason behind each. There, ${cells}.`,
      terminal,
    },
    ...(rows.duplicate > 0
      ? [
          {
            page: html`Take out of it the ${rows.duplicate === 1 ? 'row' : 'rows'} marked <em>duplicate</em>, except where that row is the right one: the earlier row was handled, and imported again by itself a duplicate overwrites that record.`,
          },
        ]
      : []),
    {
      page: html`Save it and import it again with the same job. The columns that begin with an underscore are ignored, and rows that are in already are not sent twice.`,
    },
  ];
}

/** Nothing is wrong with their cells. */
function heldBack({ rows }: Summary): Step[] {
  if (rows.at_risk === 0) return [];
  const which = rows.at_risk === 1 ? 'The row that was' : `The ${count(rows.at_risk)} rows that were`;
  return [
    {
      page: html`${which} held back (<code>at_risk</code>) ${rows.at_risk === 1 ? 'needs' : 'need'} no correction: map the fields that the reason names, let <code>rowferry doctor --probe</code> find out whether the service keeps them, or allow the loss in the job with <code>at_risk: warn</code>. Then import the file again.`,
      terminal:
        'for the at_risk rows: map the fields they name, or rowferry doctor --probe, or at_risk: warn in the job; then import again',
    },
  ];
}

function failed({ rows, run }: Summary): Step[] {
  if (rows.failed === 0) return [];
  const which = rows.failed === 1 ? 'the row that failed' : `the ${count(rows.failed)} rows that failed`;
  return [
    {
      page: html`When the service is well, <code>rowferry runs retry ${run}</code> sends ${which}; nothing is wrong with ${rows.failed === 1 ? 'it' : 'them'}.`,
      terminal:
        rows.unknown === 0
          ? `rowferry runs retry ${run}, when the service is well: nothing is wrong with the rows that failed`
          : undefined,
    },
  ];
}

/** A nightly file is not corrected and imported: the next one comes by itself. */
function ofNight(summary: Summary): Step[] {
  const { rows, status, dry_run: dry, run, reconcile, reports } = summary;
  const steps = lossSteps(summary);
  const braked = status === 'braked' ? brakeStop(summary) : undefined;
  const say = (page: Markup, terminal?: string) => void steps.push({ page, terminal });
  if (braked === 'plan') {
    say(
      html`Look at what the brake names, here and in <a href="reconcile.xlsx">reconcile.xlsx</a>: is the file the right one, and complete?`,
      `look at ${BOOK}. If the numbers are meant, this carries out exactly that plan:`,
    );
    say(
      html`If its numbers are meant, <code>rowferry runs approve ${run} --by NAME</code> carries out exactly this plan, or refuses if somebody changed the records since. If not, do nothing: nothing was written.`,
      `rowferry runs approve ${run} --by NAME`,
    );
  }
  const person = rowsForPerson(rows) - rows.not_attempted;
  const refused = reconcile?.compared?.orphans_for_person ?? 0;
  const sheets = sheetsOf(summary);
  const look =
    braked !== undefined
      ? undefined
      : sheets !== '' && reports.includes(BOOK)
        ? `look at ${sheets} of ${BOOK}`
        : 'look at report.html: it names the rows that need a person';
  if (person > 0) {
    const rejected = reports.find((name) => name.startsWith('rejected.'));
    say(
      html`Put the ${person === 1 ? 'row' : `${count(person)} rows`} below right where ${person === 1 ? 'it comes' : 'they come'} from${
        rejected &&
        html` (<a href="${rejected}">${rejected}</a> has ${person === 1 ? 'it with the reason' : 'them with the reasons'})`
      }. The next run takes ${person === 1 ? 'it' : 'them'} up.`,
      look,
    );
  }
  if (braked === 'refusals') {
    say(
      html`When that is done, run the file again, or wait for the next one: what is right already is left alone, and what was not reached is done.`,
      `put right what the service refused (${BOOK}: ${sheets}), then run the file again:\nwhat is right already is left alone`,
    );
  }
  if (rows.failed + rows.unknown > 0) {
    say(
      html`<code>rowferry runs retry ${run}</code> takes up the rows that failed or are unknown at once.`,
      `rowferry runs retry ${run}`,
    );
  }
  if (refused > 0) {
    say(
      html`Look at the ${refused === 1 ? 'orphan' : `${count(refused)} orphans`} that could not be acted on: the reason stands beside ${refused === 1 ? 'it' : 'each of them'}.`,
      person > 0 ? undefined : look,
    );
  }
  if (reconcile && reconcile.orphans.held > 0) {
    say(html`Look at the orphans that were held back: why stands beside each of them.`);
  }
  const planned = rows.created + rows.updated + (reconcile?.orphans.acted ?? 0);
  if (dry && status !== 'braked' && planned > 0) {
    say(
      html`When this is what you want, run the same command with <code>--apply</code>.`,
      `look at ${BOOK}; --apply carries it out`,
    );
  }
  return steps;
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

function ofUndo(summary: Summary): Step[] {
  const { rows, status, dry_run: dry, of_run: of } = summary;
  const steps = lossSteps(summary);
  const person = rowsForPerson(rows) - rows.not_attempted;
  if (person > 0) {
    steps.push({
      page: html`Look at the ${person === 1 ? 'record' : `${count(person)} records`} below in the service: the reason stands beside ${person === 1 ? 'it' : 'each of them'}.`,
      terminal: 'look at the records that need a person; report.html says why',
    });
  }
  if (status === 'partial' && person === 0) {
    steps.push({
      page: html`Look at what stays as it is: <em>Good to know</em> below says why.`,
      terminal: 'look at what stays as it is: the notes say why',
    });
  }
  if (status === 'braked') {
    steps.push({
      page: html`Read what the brake names. If it is meant, undo again with <code>--force</code>.`,
      terminal: 'read what the brake names; if it is meant, undo again with --force',
    });
  }
  if (dry && rows.updated > 0) {
    // `last` is not what it was: the undo is the last run now, so that the run is named.
    steps.push({
      page: html`When this is what you want, run the same command without <code>--dry-run</code>${
        of !== undefined && html`, with the id of the run: <code>rowferry runs undo ${of}</code>`
      }.`,
      terminal: `the same without --dry-run${of === undefined ? '' : `: rowferry runs undo ${of}`}`,
    });
  }
  return steps;
}
