import type { OrphanLine } from '../../model/reconcile.js';
import { text } from '../changes.js';
import { foreign, html, type Markup } from '../html-parts.js';
import { count, type Summary } from '../summary.js';
import { shorten } from '../tally.js';
import {
  changes,
  glance,
  orphanParts,
  orphanRule,
  orphanState,
  readingFacts,
  resultOf,
  scopeSentence,
  standsWord,
} from '../words.js';
import { changesText, type Difference, type ReconcileInput, type ReconcileSamples } from './compare.js';

type Facts = NonNullable<Summary['reconcile']>;

const VALUE = 120;
const MESSAGE = 400;

/** The numbers of the night, as large as they matter. */
export function numbers(summary: Summary, facts: Facts): Markup {
  return html`<section class="numbers">
<h2>At a glance</h2>
<p class="soft">${count(summary.rows.total)} rows of the file against ${count(facts.scope.records)} records of the service. ${scopeSentence(facts)}</p>
<div class="tiles">${glance(summary, facts).map(
    ({ n, what, made, bad }) =>
      html`<div class="tile ${bad ? 'warn' : 'calm'}"><b>${count(n)}</b><span>${what}</span><small>${made}</small></div>`,
  )}</div>
</section>`;
}

/** Which fields differ, and whose value stands. */
export function differencesByField({ differences }: Facts, columnOf: ReconcileInput['columnOf']): Markup | false {
  const byMost = [...differences.by_field].sort((a, b) => b.file + b.service - (a.file + a.service));
  const most = Math.max(1, ...byMost.map(({ file, service }) => file + service));
  const width = (n: number) => (n === 0 ? 0 : Math.max(0.6, Math.round((n / most) * 1000) / 10));
  if (byMost.length === 0) return false;
  return html`<section>
<h2>What differs</h2>
<p class="soft">Rows that differ, by field. <span class="key"><i style="background:var(--updated)"></i>the file’s value stands</span> <span class="key"><i style="background:var(--unchanged)"></i>the service’s value stands</span></p>
<table><thead><tr><th scope="col" class="w-what">Field</th><th scope="col" class="num w-count">Rows</th><th scope="col" class="wide"></th><th scope="col" class="num w-count">File’s stands</th><th scope="col" class="num w-count">Service’s stands</th><th scope="col" class="num w-count">Cleared</th></tr></thead>
<tbody>${byMost.map(({ field, file, service, cleared }) => {
    const column = columnOf(field);
    return html`<tr><th scope="row">${foreign(column ?? field)}${
      column !== undefined && column !== field && html` <code>${foreign(field)}</code>`
    }</th><td class="num">${count(file + service)}</td><td class="wide"><span class="split"><i style="width:${width(file)}%;background:var(--updated)"></i><i style="width:${width(service)}%;background:var(--unchanged)"></i></span></td><td class="num">${count(file)}</td><td class="num">${count(service)}</td><td class="num">${count(cleared)}</td></tr>`;
  })}</tbody></table>
</section>`;
}

/** The first differences, old → new. */
export function firstDifferences({ dry_run: dry }: Summary, facts: Facts, samples: ReconcileSamples): Markup | false {
  const shown = samples.differences;
  if (shown.length === 0) return false;
  const rest = Math.max(facts.differences.fields - shown.length, 0);
  return html`<section>
<h2>Differences, old → new</h2>
<p class="soft">${rest > 0 ? html`The first ${shown.length}; all of them are in` : 'Also in'} <a href="reconcile.xlsx">reconcile.xlsx</a> and <a href="differences.csv">differences.csv</a>.</p>
<div class="scroll"><table><thead><tr><th scope="col" class="w-row">Row</th><th scope="col" class="w-key">Key</th><th scope="col" class="w-col">Field</th><th scope="col">In the service → in the file</th><th scope="col" class="w-col">Which stands</th><th scope="col" class="w-col">Result</th></tr></thead>
<tbody>${shown.map((one, at) => differenceRow(one, shown[at - 1], dry))}</tbody></table></div>
</section>`;
}

function differenceRow(one: Difference, before: Difference | undefined, dry: boolean): Markup {
  const again = before?.row === one.row;
  return html`<tr${one.stands === 'service' && html` class="kept"`}><th scope="row">${again ? '' : one.row}</th><td>${
    !again && foreign(shorten(one.key, VALUE))
  }</td><td>${foreign(shorten(one.column ?? one.field, VALUE))}</td><td>${text(one.service)} → ${text(one.file, changes(one))}</td><td>${standsWord(one)}</td><td>${resultOf(one, dry)}</td></tr>`;
}

/** Records that the file does not hold. */
export function orphanSection(summary: Summary, facts: Facts, shown: readonly OrphanLine[]): Markup | false {
  const { orphans } = facts;
  if (orphans.total === 0 && orphans.held_reason === undefined) return false;
  const parts = orphanParts(summary, facts);
  return html`<section>
<h2>Orphans</h2>
<p class="soft">${count(orphans.total)} ${orphans.total === 1 ? 'record' : 'records'} of the service ${orphans.total === 1 ? 'is' : 'are'} not in the file${orphans.fresh > 0 && `, ${count(orphans.fresh)} of them for the first time`}${parts !== '' && `: ${parts}`}. ${orphanRule(orphans)}${
    orphans.total > shown.length &&
    html` The first ${shown.length}; all of them are in <a href="orphans.csv">orphans.csv</a>.`
  }</p>
${orphans.held_reason !== undefined && html`<p class="banner">${foreign(`Orphans are held: ${orphans.held_reason}`)}</p>`}
${
  shown.length > 0 &&
  html`<div class="scroll"><table><thead><tr><th scope="col" class="w-count">Id</th><th scope="col" class="w-key">Key</th><th scope="col" class="w-key">Name</th><th scope="col" class="w-count">Missing since</th><th scope="col" class="num w-count">Runs</th><th scope="col">What becomes of it</th></tr></thead>
<tbody>${shown.map((orphan) => {
    const more = [changesText(orphan), orphan.why, orphan.message].filter((text) => text !== undefined && text !== '');
    return html`<tr><th scope="row">${orphan.id}</th><td>${foreign(shorten(orphan.key, VALUE))}</td><td>${foreign(shorten(orphan.name, VALUE))}</td><td>${orphan.since}</td><td class="num">${orphan.absences}</td><td>${orphanState(orphan)}${more.length > 0 && html`<br><span class="soft">${foreign(shorten(more.join('; '), MESSAGE))}</span>`}</td></tr>`;
  })}</tbody></table></div>`
}
</section>`;
}

/** How the service was read, and what the run was compared with. */
export function reading(reconcile: Facts): Markup {
  return html`<section>
<h2>How it was found out</h2>
<table class="plain"><tbody>${readingFacts(reconcile).map(([name, text]) => html`<tr><th scope="row">${name}</th><td>${foreign(text)}</td></tr>`)}</tbody></table>
</section>`;
}
