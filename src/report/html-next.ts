import { html, type Markup } from './markup.js';
import { count, rowsForPerson, type Summary } from './summary.js';

/** What the reader does now, in the order of doing it. */
export function nextSteps(summary: Summary): Markup | false {
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
  if (status === 'interrupted' || status === 'failed') {
    steps.push(html`Continue with <code>rowferry runs resume ${summary.run}</code>. Nothing is written twice.`);
  }
  if (status === 'braked') {
    steps.unshift(
      html`Check whether the file is the right one and complete. If its numbers are meant, run it again with <code>--force</code>.`,
    );
  }
  if (dry && status !== 'failed') {
    steps.push(html`When this is what you want, run the same command without <code>--dry-run</code>.`);
  }
  if (steps.length === 0) {
    return (
      rows.total > 0 &&
      html`<section class="next good"><h2>What to do next</h2><p>Nothing. Every row ended well; <a href="results.csv">results.csv</a> has the id of each record.</p></section>`
    );
  }
  return html`<section class="next"><h2>What to do next</h2><ol>${steps.map((step) => html`<li>${step}</li>`)}</ol></section>`;
}
