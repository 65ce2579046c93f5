import { html, type Markup } from './markup.js';
import { brakeStop, count, rowsForPerson, type Summary } from './summary.js';

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

function allWell({ kind }: Summary): Markup {
  if (kind === 'reconcile') return html`No row needs anybody, and the next run compares everything anew.`;
  if (kind === 'undo')
    return html`Every record is as it was before the run; <a href="results.csv">results.csv</a> names them.`;
  return html`Every row ended well; <a href="results.csv">results.csv</a> has the id of each record.`;
}

function ofImport(summary: Summary): Markup[] {
  const { rows, status, dry_run: dry } = summary;
  const rejected = summary.reports.find((name) => name.startsWith('rejected.'));
  const steps: Markup[] = [];
  if (rejected && rowsForPerson(rows) > rows.not_attempted) {
    const cells = rejected.endsWith('.xlsx') ? 'correct the red cells' : 'correct the values its last columns name';
    steps.push(
      html`Open <a href="${rejected}">${rejected}</a>: it holds ${rowsForPerson(rows) === 1 ? 'the one row that is' : `the ${count(rowsForPerson(rows))} rows that are`} not in yet, with the reason behind each. There, ${cells}.`,
      html`Save it and import it again with the same job. The columns that begin with an underscore are ignored, and rows that are in already are not sent twice.`,
    );
  }
  if (rows.unknown) {
    steps.unshift(
      rows.unknown === 1
        ? html`Look up the row marked <em>unknown</em> in the service first: it never said whether it took it.`
        : html`Look up the ${count(rows.unknown)} rows marked <em>unknown</em> in the service first: it never said whether it took them.`,
    );
  }
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

/** A nightly file is not corrected and imported: the next one comes by itself. */
function ofNight(summary: Summary): Markup[] {
  const { rows, status, dry_run: dry, run, reconcile, reports } = summary;
  const steps: Markup[] = [];
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
  const steps: Markup[] = [];
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
