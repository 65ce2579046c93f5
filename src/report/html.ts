import { delimiterName } from '../files/csv/detect.js';
import { TEXT_CUT_PHRASE, UNSEEN_LOSS_PHRASE } from '../model/change.js';
import { ISSUE_CODES, type Issue } from '../model/issue.js';
import { GOOD_OUTCOMES, OUTCOMES, type Outcome, type OutcomeKind } from '../model/outcome.js';
import { Changes, type ColumnOf, createdSection, updatedSection } from './changes.js';
import {
  html,
  Markup,
  outcomeChart,
  prose,
  STYLE,
  section,
  shortMessage,
  shortText,
  table,
  untrusted,
  wideTable,
} from './html-parts.js';
import { stepsOf } from './next-steps.js';
import type { ReconcileSamples } from './reconcile/compare.js';
import {
  differenceSection,
  differencesByField,
  keyFigureSection,
  orphanSection,
  readingSection,
} from './reconcile/page.js';
import { faultsOf, outcomeSentence } from './report-lines.js';
import {
  countText,
  durationText,
  fileName,
  formatNumber,
  isPlanOnly,
  requestsText,
  rowsWithLosses,
  type Summary,
  stopCause,
  timeText,
  visibleFaults,
} from './summary.js';
import type { Reason, Samples } from './tally.js';
import { headline, outcomeWords, wordingOf } from './wording.js';

/** What becomes of records. */
interface ChangesView {
  readonly changes: Changes;
  readonly columnOf: ColumnOf;
}

const NO_CHANGES: ChangesView = { changes: new Changes(), columnOf: () => undefined };

/**
 * report.html: the run for somebody who knows the spreadsheet and not the program. One page that carries its style and
 * chart in itself, runs no script and asks the network for nothing; every text of the file or the service is escaped.
 */
export function reportPage(
  summary: Summary,
  samples: Samples,
  view: ChangesView = NO_CHANGES,
  found?: ReconcileSamples,
): string {
  const verdict = verdictOf(summary, view.changes.cleared);
  const title = `${summary.dry_run ? `${dryRunLabel(summary)}: ` : ''}${summary.job}`;
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${title}</title>
<style>${new Markup(STYLE)}</style>
</head>
<body>
<main>
${dryRunBanner(summary)}
${pageHead(summary, verdict)}
${stopBanner(summary)}
${nextSection(summary, verdict[0])}
${found && summary.reconcile ? reconcileBody(summary, summary.reconcile, found, samples, view) : importBody(summary, samples, view)}
${warningSection(summary)}
${detectedSection(summary)}
${pageFoot(summary)}
</main>
</body>
</html>
`;
  return page.text;
}

/** What the reader does now. `tone`: how the page judges the run. */
function nextSection(summary: Summary, tone: Verdict[0]): Markup | false {
  const steps = stepsOf(summary);
  const linked = (text: string) => withLinks(text.replaceAll('report.html', 'this page'), summary.reports);
  if (steps.length > 0) {
    return html`<section class="next"><h2>What to do next</h2><ol>${steps.map(({ text }) => html`<li>${linked(text)}</li>`)}</ol></section>`;
  }
  const doneText = summary.losses?.other_form
    ? 'Every row is in; the notes say what the service stored in another form.'
    : 'Every row ended well; results.csv has the id of each record.';
  return (
    summary.rows.total > 0 &&
    html`<section class="next${tone === 'good' && ' good'}"><h2>What to do next</h2><p>Nothing. ${linked(doneText)}</p></section>`
  );
}

/** What stands between backticks is something to type; a report that is there is a link to it. */
function withLinks(text: string, reports: readonly string[]): Markup {
  const parts = text.split(/(`[^`]+`|\b[a-z]+\.(?:csv|xlsx|ndjson|html)\b)/);
  return html`${parts.map((part) => {
    if (part.startsWith('`')) return html`<code>${part.slice(1, -1)}</code>`;
    return reports.includes(part) ? html`<a href="${part}">${part}</a>` : untrusted(part);
  })}`;
}

/** A plan is looked at for what it would do, a run that wrote for what is left to be done. */
function importBody(summary: Summary, samples: Samples, { changes, columnOf }: ChangesView): Markup {
  const changed =
    summary.kind !== 'undo' &&
    html`${createdSection(summary, changes, columnOf)}${updatedSection(summary, changes, columnOf)}`;
  const rest = html`${personSection(summary, samples)}${faultSection(summary)}`;
  return html`${outcomeSection(summary)}${referenceSections(summary)}${isPlanOnly(summary) ? html`${changed}${rest}` : html`${rest}${changed}`}`;
}

/** A reconciliation in the order in which somebody reads it in the morning. */
function reconcileBody(
  summary: Summary,
  facts: NonNullable<Summary['reconcile']>,
  first: ReconcileSamples,
  samples: Samples,
  { changes, columnOf }: ChangesView,
): Markup {
  return html`${keyFigureSection(summary, facts)}${personSection(summary, samples)}${differencesByField(facts, columnOf)}${differenceSection(
    summary,
    facts,
    first,
  )}${createdSection(summary, changes, columnOf)}${orphanSection(summary, facts, first.orphans)}${faultSection(summary)}${outcomeSection(
    summary,
  )}${readingSection(facts)}`;
}

function dryRunLabel({ kind }: Summary): string {
  return kind === 'reconcile' ? 'Report only' : 'Dry run';
}

function dryRunBanner(summary: Summary): Markup | false {
  return (
    summary.dry_run &&
    html`<p class="banner"><strong>${dryRunLabel(summary)}.</strong> Nothing was written to the service: this page says what would happen.</p>`
  );
}

function stopBanner(summary: Summary): Markup | false {
  const cause = stopCause(summary);
  return (
    cause !== undefined && html`<div class="banner bad"><strong>What happened:</strong><p>${prose(cause)}</p></div>`
  );
}

const STATUS: Readonly<Record<Summary['status'], Verdict>> = {
  succeeded: ['good', 'Everything is in order'],
  partial: ['warn', 'Some rows need a person'],
  braked: ['bad', 'Stopped by a brake'],
  failed: ['bad', 'Failed'],
  interrupted: ['bad', 'Interrupted'],
};

const OF_RUN: Readonly<Partial<Record<Summary['kind'], string>>> = { undo: 'Puts back run' };

/** How the page judges the run: never good where something is lost, may be, or is missing. Contract, section 6. */
export function verdictOf(summary: Summary, cleared: number): Verdict {
  const { status, kind, dry_run: dry, rows, reconcile } = summary;
  if (kind === 'undo' && status === 'partial') return ['warn', 'Some records need a person'];
  if (status !== 'succeeded') return STATUS[status];
  if (rowsWithLosses(summary) > 0) return ['warn', dry ? 'Values would be lost' : 'Values were lost'];
  const unseen = rows.updated > 0 && summary.warnings.some((text) => text.includes(UNSEEN_LOSS_PHRASE));
  if (kind === 'undo' && !unseen) return ['good', dry ? 'The run can be undone' : 'The run is undone'];
  if (reconcile && reconcile.orphans.total > reconcile.orphans.settled) return ['warn', 'Records are not in the file'];
  if (summary.warnings.some((text) => text.includes(TEXT_CUT_PHRASE)))
    return ['warn', dry ? 'Texts would be cut' : 'Texts were cut'];
  if (cleared > 0 && kind !== 'undo') return ['warn', dry ? 'Values would be emptied' : 'Values were emptied'];
  return unseen ? ['warn', dry ? 'Values could be lost unseen' : 'Values may be lost unseen'] : STATUS.succeeded;
}

type Verdict = readonly [tone: 'good' | 'warn' | 'bad', label: string];

function pageHead(summary: Summary, [tone, label]: Verdict): Markup {
  const facts: [string, string | undefined][] = [
    ['File', summary.source && summary.kind !== 'undo' ? fileName(summary.source.path) : undefined],
    ['Sheet', summary.source?.sheet ?? undefined],
    ['Job', `${summary.job} (${summary.kind} of ${summary.resource}s)`],
    [OF_RUN[summary.kind] ?? 'Takes up run', summary.of_run],
    ['Company', String(summary.company)],
    ['Service', summary.service?.replace(/^https?:\/\//i, '').replace(/\/$/, '')],
    ['When', `${timeText(summary.started_at)}, ${durationText(summary.seconds)}`],
  ];
  return html`<header>
<p class="eyebrow"><span class="pill ${tone}">${label}</span>${summary.dry_run && html`<span class="pill info">${dryRunLabel(summary)}</span>`}</p>
<h1>${headline(summary)}</h1>
<dl class="facts">${facts.map(
    ([name, value]) => value !== undefined && html`<div><dt>${name}</dt><dd>${untrusted(value)}</dd></div>`,
  )}</dl>
</header>`;
}

function outcomeSection(summary: Summary): Markup | false {
  const { rows, dry_run: dry } = summary;
  if (rows.total === 0) return false;
  const present = OUTCOMES.filter((kind) => rows[kind] > 0);
  const undo = summary.kind === 'undo';
  const things = undo ? 'Records' : 'Rows';
  return section(
    `What became of the ${things.toLowerCase()}`,
    `${countText(rows.total, undo ? 'record' : 'row')}; each has exactly one outcome.`,
    outcomeChart(rows, dry, summary.kind),
    table(
      { Outcome: '', [things]: 'num w-count', Share: 'num w-count wide', 'What it means': '' },
      present.map((kind) => {
        const { label, meaning } = outcomeWords(kind, dry, wordingOf(summary));
        return html`<tr><th scope="row"><span class="dot" style="background:var(--${kind})"></span>${label}${outcomeCode(kind, label)}</th><td class="num">${formatNumber(rows[kind])}</td><td class="num soft wide">${share(rows[kind], rows.total)}</td><td>${meaning}</td></tr>`;
      }),
    ),
  );
}

/** Records that were created because rows refer to them, or would be. */
function referenceSections({ references: found = [], dry_run: dry }: Summary): readonly Markup[] {
  return found.map(({ resource, total, first }) => {
    const one = total === 1 ? resource : `${resource}s`;
    return section(
      `${formatNumber(total)} new ${one}`,
      html`Rows name ${total === 1 ? `a ${resource}` : one} that the service ${dry ? 'does' : 'did'} not have. The run creates ${total === 1 ? 'it' : 'them'} before these rows, by name alone.${first.length < total && html` The first ${first.length}; all of them are in <a href="references.csv">references.csv</a>.`}`,
      wideTable(
        { Name: '', Rows: 'num w-count', First: 'num w-row wide', Outcome: '' },
        first.map(
          ({ name, rows, row, outcome, id, message: note }) =>
            html`<tr><th scope="row">${shortText(name)}</th><td class="num">${formatNumber(rows)}</td><td class="num wide">${row}</td><td>${outcomeWords(outcome, dry).label}${id !== undefined && html` <span class="soft">id ${id}</span>`}${note !== undefined && html` ${shortMessage(note)}`}</td></tr>`,
        ),
        'flow',
      ),
    );
  });
}

/** The outcome's name in results.csv, where people read another one. */
function outcomeCode(kind: OutcomeKind, label: string): Markup | false {
  return label.toLowerCase() !== kind && html` <code>${kind}</code>`;
}

function faultSection(summary: Summary): Markup | false {
  const faultList = visibleFaults(summary);
  const most = faultList[0]?.count ?? 0;
  if (most === 0) return false;
  const about = html`A ${summary.kind === 'undo' ? 'record' : 'row'} can have several. All of them are in <a href="faults.csv">faults.csv</a>.`;
  return section(
    'Most common faults',
    about,
    wideTable(
      { Fault: '', Column: 'w-col', Times: 'w-count', 'For example': 'w-ex' },
      faultList.map(
        (fault) =>
          html`<tr><td>${ISSUE_CODES[fault.code] ?? ''} <code>${fault.code}</code></td><td>${
            faultPlace(fault) || html`<span class="soft">whole row</span>`
          }</td><td>${formatNumber(fault.count)}<span class="bar" style="width:${Math.max(3, Math.round((fault.count / most) * 100))}%"></span></td><td>${valueMarkup(fault.example)}</td></tr>`,
      ),
      'stack',
    ),
  );
}

function personSection(summary: Summary, samples: Samples): Markup | false {
  // Why a night stopped stands at the top of its page, and says nothing of the rows.
  const silent = summary.kind === 'reconcile' ? 'not_attempted' : undefined;
  const kinds = OUTCOMES.filter((kind) => !GOOD_OUTCOMES.has(kind) && kind !== silent && samples.get(kind)?.length);
  if (kinds.length === 0) return false;
  const thing = summary.kind === 'undo' ? 'record' : 'row';
  return html`<section>
<h2>${summary.kind === 'undo' ? 'Records' : 'Rows'} that need a person</h2>
${kinds.map((kind) => {
  const reasons = samples.get(kind) ?? [];
  const listedRows = reasons.reduce((sum, { rows }) => sum + rows, 0);
  const all = summary.rows[kind];
  const words = outcomeWords(kind, summary.dry_run, wordingOf(summary));
  return html`<details open><summary><span class="dot" style="background:var(--${kind})"></span>${words.label}: ${countText(all, thing)}${outcomeCode(kind, words.label)}${
    all > listedRows &&
    html` <span class="soft">(${formatNumber(listedRows)} of them here; the others are in results.csv)</span>`
  }</summary>
<p class="soft">${words.meaning} ${prose(words.next ?? '')}</p>
${wideTable(
  { Row: 'w-row', Key: 'w-key', Column: 'w-col', Value: 'w-val', Why: '' },
  reasons.map((reason) => reasonRows(reason, summary.kind)),
  'stack',
)}</details>`;
})}
</section>`;
}

/** A reason is told once, however many rows have it. */
function reasonRows({ rows, first }: Reason, kind: Summary['kind']): Markup {
  const [outcome] = first;
  if (!outcome) return html``;
  const listed = faultsOf(outcome);
  const lines = listed.length ? listed : [undefined];
  const span = lines.length;
  const alike = lines.every((issue, at) => first.every((one) => faultsOf(one)[at]?.message === issue?.message));
  const more = rows > first.length && html` <span class="soft">…</span>`;
  return html`${lines.map(
    (issue, at) =>
      html`<tr>${
        at === 0 &&
        html`<th scope="row" rowspan="${span}"${first.length > 1 && html` class="rows"`}>${first.map(({ ref }) => ref.row).join(', ')}${more}</th><td rowspan="${span}">${keyList(first)}${more}</td>`
      }<td>${issue && faultPlace(issue)}</td><td>${distinct(first.map((one) => faultsOf(one)[at]?.value)).map(
        (one) => html`${valueMarkup(one)} `,
      )}</td><td>${
        rows > 1 &&
        at === 0 &&
        html`<strong>${formatNumber(rows)} ${kind === 'undo' ? 'records' : 'rows'}, same reason${alike ? '.' : '; the first:'}</strong> `
      }${shortMessage(issue?.message ?? outcomeSentence(outcome, kind))}</td></tr>`,
  )}`;
}

/** Where a fault is: the column, or the field where no column is to blame. */
function faultPlace({ column, field }: Pick<Issue, 'column' | 'field'>): Markup | false {
  if (column !== undefined) return shortText(column);
  return field !== undefined && html`<span class="soft">field</span> ${shortText(field)}`;
}

function keyList(outcomes: readonly Outcome[]): Markup {
  const keyTexts = distinct(outcomes.map(({ key }) => key));
  if (keyTexts.length === 0) return html`<span class="soft">none</span>`;
  return html`${keyTexts.map((key, at) => html`${at > 0 && ', '}${shortText(key)}`)}`;
}

function distinct(texts: readonly (string | undefined)[]): string[] {
  return [...new Set(texts)].filter((text) => text !== undefined && text !== '') as string[];
}

function warningSection(summary: Summary): Markup | false {
  return (
    summary.warnings.length > 0 &&
    html`<section><h2>Good to know</h2><ul class="plain">${summary.warnings.map(
      (text) => html`<li>${shortMessage(text)}</li>`,
    )}</ul></section>`
  );
}

/** What was taken from the file itself: a wrong decimal sign shows nowhere else. */
function detectedSection({ detected: found = [] }: Summary): Markup | false {
  return (
    found.length > 0 &&
    html`<section><details><summary>How the file was read <span class="soft">(what was found out, and what spoke for it)</span></summary>
<ul class="plain">${found.map((text) => html`<li>${untrusted(text)}</li>`)}</ul></details></section>`
  );
}

function pageFoot(summary: Summary): Markup {
  const { requests, source } = summary;
  const read = source && [
    source.format.toUpperCase(),
    source.encoding,
    source.delimiter && `delimiter ${delimiterName(source.delimiter)}`,
    source.header_row && `heading in row ${source.header_row}`,
    countText(source.rows, 'row'),
    `SHA-256 ${source.sha256}`,
  ];
  return html`<footer>
<div>Run ${untrusted(summary.run)} · ${timeText(summary.started_at)} to ${timeText(summary.finished_at)} · ${durationText(summary.seconds)} · ${requestsText(requests)}</div>
${read !== null && html`<div>Read as ${untrusted(read.filter(Boolean).join(', '))}</div>`}
<div>In this folder: ${summary.reports.map((name, at) => html`${at > 0 && ', '}<a href="${name}">${name}</a>`)}</div>
</footer>`;
}

function valueMarkup(text: string | undefined): Markup | false {
  return text !== undefined && text !== '' && html`<span class="value">${shortText(text)}</span>`;
}

/** `98.8%`; never 0% or 100% for what is neither. */
function share(part: number, whole: number): string {
  const percent = (part / whole) * 100;
  if (part === whole) return '100%';
  return percent < 0.1 ? '<0.1%' : percent > 99.9 ? '>99.9%' : `${percent.toFixed(1)}%`;
}
