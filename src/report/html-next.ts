import { html, type Markup } from './html-parts.js';
import { brakeStop, count, rowsForPerson, rowsToCorrect, rowsWithLosses, type Summary } from './summary.js';

/** What the reader does now, in the order of doing it. */
export function nextSteps(summary: Summary): Markup | false {
  const steps =
    summary.kind === 'reconcile' ? ofNight(summary) : summary.kind === 'undo' ? ofUndo(summary) : ofImport(summary);
  if (steps.length > 0) {
    return html`<section class="next"><h2>What to do next</h2><ol>${steps.map((step) => html`<li>${step}</li>`)}</ol></section>`;
  }
  return (
    summary.rows.total > 0 &&
    html`<section class="next good"><h2>What to do next</h2><p>Nothing. ${allWell(summary)}</p></section>`
  );
}

function allWell({ kind, losses, dry_run: dry }: Summary): Markup {
  if (kind === 'reconcile') return html`No row needs anybody, and the next run compares everything anew.`;
  if (kind === 'undo')
    return html`Every record is as it was before the run; <a href="results.csv">results.csv</a> names them.`;
  if (losses?.other_form && !dry)
    return html`Every row is in; the service stored values of ${count(losses.other_form)} ${losses.other_form === 1 ? 'row' : 'rows'} in another form than was sent, and <a href="results.csv">results.csv</a> has both.`;
  return html`Every row ended well; <a href="results.csv">results.csv</a> has the id of each record.`;
}

function ofImport(summary: Summary): Markup[] {
  const { status, dry_run: dry } = summary;
  const steps = [
    ...unknown(summary),
    ...lossSteps(summary),
    ...toCorrect(summary),
    ...heldBack(summary),
    ...failed(summary),
  ];
  if (status === 'interrupted' || status === 'failed') steps.push(resume(summary));
  if (status === 'braked') {
    const what = brakeStop(summary);
    if (what === 'approval') return [NEW_PLAN];
    if (what === 'plan')
      steps.unshift(
        html`Check whether the file is the right one and complete. If its numbers are meant, run it again with <code>--force</code>.`,
      );
  }
  if (dry && status !== 'failed') {
    steps.push(html`When this is what you want, run the same command without <code>--dry-run</code>.`);
  }
  return steps;
}

/** Values that are gone, though their rows ended well. */
function lossSteps(summary: Summary): Markup[] {
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
  return steps;
}

function unknown({ rows, run }: Summary): Markup[] {
  if (rows.unknown === 0) return [];
  const [which, them] =
    rows.unknown === 1 ? ['the row marked', 'it'] : [`the ${count(rows.unknown)} rows marked`, 'them'];
  return [
    html`Look up ${which} <em>unknown</em> in the service first: it never said whether it took ${them}. Then <code>rowferry runs retry ${run}</code> takes ${them} up: what is there is not sent again.`,
  ];
}

/** The rows whose cells somebody has to put right. */
function toCorrect({ rows, reports }: Summary): Markup[] {
  const rejected = reports.find((name) => name.startsWith('rejected.'));
  if (!rejected || rowsToCorrect(rows) === 0) return [];
  const all = rowsForPerson(rows);
  const cells = rejected.endsWith('.xlsx') ? 'correct the red cells' : 'correct the values its last columns name';
  const held =
    all === 1
      ? 'the one row that needs a person'
      : `the ${count(all)} rows that need a person${rows.not_attempted > 0 ? ' or were not reached' : ''}`;
  return [
    html`Open <a href="${rejected}">${rejected}</a>: it holds ${held}, with the reason behind each. There, ${cells}.`,
    ...(rows.duplicate > 0
      ? [
          html`Take out of it the ${rows.duplicate === 1 ? 'row' : 'rows'} marked <em>duplicate</em>, except where that row is the right one: the earlier row was handled, and imported again by itself a duplicate overwrites that record.`,
        ]
      : []),
    html`Save it and import it again with the same job. The columns that begin with an underscore are ignored, and rows that are in already are not sent twice.`,
  ];
}

/** Nothing is wrong with their cells. */
function heldBack({ rows }: Summary): Markup[] {
  if (rows.at_risk === 0) return [];
  const which = rows.at_risk === 1 ? 'The row that was' : `The ${count(rows.at_risk)} rows that were`;
  return [
    html`${which} held back (<code>at_risk</code>) ${rows.at_risk === 1 ? 'needs' : 'need'} no correction: map the fields that the reason names, let <code>rowferry doctor --probe</code> find out whether the service keeps them, or allow the loss in the job with <code>at_risk: warn</code>. Then import the file again.`,
  ];
}

function failed({ rows, run, status }: Summary): Markup[] {
  if (rows.failed === 0 || status === 'failed' || status === 'interrupted') return [];
  const which = rows.failed === 1 ? 'the row that failed' : `the ${count(rows.failed)} rows that failed`;
  return [
    html`When the service is well, <code>rowferry runs retry ${run}</code> sends ${which}; nothing is wrong with ${rows.failed === 1 ? 'it' : 'them'}.`,
  ];
}

/** A nightly file is not corrected and imported: the next one comes by itself. */
function ofNight(summary: Summary): Markup[] {
  const { rows, status, dry_run: dry, run, reconcile, reports } = summary;
  const steps: Markup[] = lossSteps(summary);
  const braked = status === 'braked' ? brakeStop(summary) : undefined;
  if (braked === 'approval') return [NEW_PLAN];
  if (braked === 'plan') {
    steps.push(
      html`Look at what the brake names, here and in <a href="reconcile.xlsx">reconcile.xlsx</a>: is the file the right one, and complete?`,
      html`If its numbers are meant, <code>rowferry runs approve ${run} --by NAME</code> carries out exactly this plan, or refuses if somebody changed the records since. If not, do nothing: nothing was written.`,
    );
  }
  const person = rowsForPerson(rows) - rows.not_attempted;
  if (person > 0) {
    const rejected = reports.find((name) => name.startsWith('rejected.'));
    steps.push(
      html`Put the ${person === 1 ? 'row' : `${count(person)} rows`} below right where ${person === 1 ? 'it comes' : 'they come'} from${
        rejected && html` (<a href="${rejected}">${rejected}</a> has them with the reasons)`
      }. The next run takes ${person === 1 ? 'it' : 'them'} up.`,
    );
  }
  if (braked === 'refusals') {
    steps.push(
      html`When that is done, run the file again, or wait for the next one: what is right already is left alone, and what was not reached is done.`,
    );
  }
  if (rows.failed + rows.unknown > 0) {
    steps.push(html`<code>rowferry runs retry ${run}</code> takes up the rows that failed or are unknown at once.`);
  }
  const refused = reconcile?.compared?.orphans_for_person ?? 0;
  if (refused > 0) {
    steps.push(
      html`Look at the ${refused === 1 ? 'orphan' : `${count(refused)} orphans`} that could not be acted on: the reason stands beside ${refused === 1 ? 'it' : 'each of them'}.`,
    );
  }
  if (reconcile && reconcile.orphans.held > 0) {
    steps.push(html`Look at the orphans that were held back: why stands beside each of them.`);
  }
  if (status === 'interrupted' || status === 'failed') steps.push(resume(summary));
  const planned = rows.created + rows.updated + (reconcile?.orphans.acted ?? 0);
  if (dry && status !== 'failed' && status !== 'braked' && planned > 0) {
    steps.push(html`When this is what you want, run the same command with <code>--apply</code>.`);
  }
  return steps;
}

function ofUndo(summary: Summary): Markup[] {
  const { rows, status, dry_run: dry, of_run: of } = summary;
  const steps: Markup[] = lossSteps(summary);
  const person = rowsForPerson(rows) - rows.not_attempted;
  if (person > 0) {
    steps.push(
      html`Look at the ${person === 1 ? 'record' : `${count(person)} records`} below in the service: the reason stands beside ${person === 1 ? 'it' : 'each of them'}.`,
    );
  }
  if (status === 'interrupted' || status === 'failed') steps.push(resume(summary));
  if (status === 'braked') {
    steps.push(html`Read what the brake names. If it is meant, undo again with <code>--force</code>.`);
  }
  if (dry && status !== 'failed' && rows.updated > 0) {
    steps.push(
      html`When this is what you want, run the same command without <code>--dry-run</code>${
        of !== undefined && html`, with the id of the run: <code>rowferry runs undo ${of}</code>`
      }.`,
    );
  }
  return steps;
}

/** Of an approved run that was refused: its plan is not the one that somebody looked at. */
const NEW_PLAN = html`Run the file again and look at the new plan. Nothing was written.`;

function resume({ run }: Summary): Markup {
  return html`Continue with <code>rowferry runs resume ${run}</code>. Nothing is written twice.`;
}
