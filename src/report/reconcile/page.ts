import type { OrphanLine } from '../../model/reconcile.js';
import { text } from '../changes.js';
import { foreign, html, type Markup, message, section, short, table, wideTable } from '../html-parts.js';
import { count, counted, type Summary } from '../summary.js';
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
  const key = (color: string, text: string) =>
    html`<span class="key"><i style="background:var(--${color})"></i>${text}</span>`;
  return section(
    'What differs',
    html`Rows that differ, by field. ${key('updated', 'the file’s value stands')} ${key('unchanged', 'the service’s value stands')}`,
    table(
      {
        Field: 'w-what',
        Rows: 'num w-count',
        '': 'wide',
        'File’s stands': 'num w-count',
        'Service’s stands': 'num w-count',
        Cleared: 'num w-count',
      },
      byMost.map(({ field, file, service, cleared }) => {
        const column = columnOf(field);
        return html`<tr><th scope="row">${foreign(column ?? field)}${
          column !== undefined && column !== field && html` <code>${foreign(field)}</code>`
        }</th><td class="num">${count(file + service)}</td><td class="wide"><span class="split"><i style="width:${width(file)}%;background:var(--updated)"></i><i style="width:${width(service)}%;background:var(--unchanged)"></i></span></td><td class="num">${count(file)}</td><td class="num">${count(service)}</td><td class="num">${count(cleared)}</td></tr>`;
      }),
    ),
  );
}

/** The first differences, old → new. */
export function firstDifferences(
  { dry_run: dry }: Summary,
  facts: Facts,
  { differences: shown }: ReconcileSamples,
): Markup | false {
  if (shown.length === 0) return false;
  const rest = Math.max(facts.differences.fields - shown.length, 0);
  return section(
    'Differences, old → new',
    html`${rest > 0 ? `The first ${shown.length}; all of them are in` : 'Also in'} <a href="differences.csv">differences.csv</a>.`,
    wideTable(
      {
        Row: 'w-row',
        Key: 'w-key',
        Field: 'w-col',
        'In the service → in the file': '',
        'Which stands': 'w-col',
        Result: 'w-col',
      },
      shown.map((one, at) => differenceRow(one, shown[at - 1], dry)),
    ),
  );
}

function differenceRow(one: Difference, before: Difference | undefined, dry: boolean): Markup {
  const again = before?.row === one.row;
  return html`<tr${one.stands === 'service' && html` class="kept"`}><th scope="row">${again ? '' : one.row}</th><td>${
    !again && short(one.key)
  }</td><td>${short(one.column ?? one.field)}</td><td>${text(one.service)} → ${text(one.file, changes(one))}</td><td>${standsWord(one)}</td><td>${resultOf(one, dry)}</td></tr>`;
}

/** Records that the file does not hold. */
export function orphanSection(summary: Summary, facts: Facts, shown: readonly OrphanLine[]): Markup | false {
  const { orphans } = facts;
  if (orphans.total === 0 && orphans.held_reason === undefined) return false;
  const parts = orphanParts(summary, facts);
  return section(
    'Orphans',
    html`${counted(orphans.total, 'record')} of the service ${orphans.total === 1 ? 'is' : 'are'} not in the file${orphans.fresh > 0 && `, ${count(orphans.fresh)} of them for the first time`}${parts !== '' && `: ${parts}`}. ${orphanRule(orphans)}${
      orphans.total > shown.length &&
      html` The first ${shown.length}; all of them are in <a href="orphans.csv">orphans.csv</a>.`
    }`,
    orphans.held_reason !== undefined &&
      html`<p class="banner">${foreign(`Orphans are held: ${orphans.held_reason}`)}</p>`,
    shown.length > 0 &&
      wideTable(
        {
          Id: 'w-count',
          Key: 'w-key',
          Name: 'w-key',
          'Missing since': 'w-count',
          Runs: 'num w-count',
          'What becomes of it': '',
        },
        shown.map(orphanRow),
      ),
  );
}

function orphanRow(orphan: OrphanLine): Markup {
  const more = [changesText(orphan), orphan.why, orphan.message].filter((text) => text !== undefined && text !== '');
  return html`<tr><th scope="row">${orphan.id}</th><td>${short(orphan.key)}</td><td>${short(orphan.name)}</td><td>${orphan.since}</td><td class="num">${orphan.absences}</td><td>${orphanState(orphan)}${more.length > 0 && html`<br><span class="soft">${message(more.join('; '))}</span>`}</td></tr>`;
}

/** How the service was read, and what the run was compared with. */
export function reading(reconcile: Facts): Markup {
  return html`<section>
<h2>How it was found out</h2>
<table class="plain"><tbody>${readingFacts(reconcile).map(([name, text]) => html`<tr><th scope="row">${name}</th><td>${foreign(text)}</td></tr>`)}</tbody></table>
</section>`;
}
