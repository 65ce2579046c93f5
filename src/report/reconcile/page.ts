import type { OrphanLine } from '../../model/reconcile.js';
import { valueMarkup } from '../changes.js';
import { html, type Markup, section, shortMessage, shortText, table, untrusted, wideTable } from '../html-parts.js';
import { countText, formatNumber, type Summary } from '../summary.js';
import {
  authorityText,
  changesText,
  differenceResult,
  keyFigures,
  orphanParts,
  orphanRule,
  orphanStateText,
  readingFacts,
  scopeSentence,
  takesFileValue,
} from '../wording.js';
import type { Difference, ReconcileInput, ReconcileSamples } from './compare.js';

type Facts = NonNullable<Summary['reconcile']>;

/** The numbers of the night, as large as they matter. */
export function keyFigureSection(summary: Summary, facts: Facts): Markup {
  return html`<section class="numbers">
<h2>At a glance</h2>
<p class="soft">${formatNumber(summary.rows.total)} rows of the file against ${formatNumber(facts.scope.records)} records of the service. ${scopeSentence(facts)}</p>
<div class="tiles">${keyFigures(summary, facts).map(
    ({ n, what, details, needsAttention }) =>
      html`<div class="tile ${needsAttention ? 'warn' : 'calm'}"><b>${formatNumber(n)}</b><span>${what}</span><small>${details}</small></div>`,
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
        return html`<tr><th scope="row">${untrusted(column ?? field)}${
          column !== undefined && column !== field && html` <code>${untrusted(field)}</code>`
        }</th><td class="num">${formatNumber(file + service)}</td><td class="wide"><span class="split"><i style="width:${width(file)}%;background:var(--updated)"></i><i style="width:${width(service)}%;background:var(--unchanged)"></i></span></td><td class="num">${formatNumber(file)}</td><td class="num">${formatNumber(service)}</td><td class="num">${formatNumber(cleared)}</td></tr>`;
      }),
    ),
  );
}

/** The first differences, old → new. */
export function differenceSection(
  { dry_run: dry }: Summary,
  facts: Facts,
  { differences: listed }: ReconcileSamples,
): Markup | false {
  if (listed.length === 0) return false;
  const rest = Math.max(facts.differences.fields - listed.length, 0);
  return section(
    'Differences, old → new',
    html`${rest > 0 ? `The first ${listed.length}; all of them are in` : 'Also in'} <a href="differences.csv">differences.csv</a>.`,
    wideTable(
      {
        Row: 'w-row',
        Key: 'w-key',
        Field: 'w-col',
        'In the service → in the file': '',
        'Which stands': 'w-col',
        Result: 'w-col',
      },
      listed.map((one, at) => differenceRow(one, listed[at - 1], dry)),
    ),
  );
}

function differenceRow(one: Difference, before: Difference | undefined, dry: boolean): Markup {
  const again = before?.row === one.row;
  return html`<tr${one.stands === 'service' && html` class="kept"`}><th scope="row">${again ? '' : one.row}</th><td>${
    !again && shortText(one.key)
  }</td><td>${shortText(one.column ?? one.field)}</td><td>${valueMarkup(one.service)} → ${valueMarkup(one.file, takesFileValue(one))}</td><td>${authorityText(one)}</td><td>${differenceResult(one, dry)}</td></tr>`;
}

/** Records that the file does not hold. */
export function orphanSection(summary: Summary, facts: Facts, listed: readonly OrphanLine[]): Markup | false {
  const { orphans } = facts;
  if (orphans.total === 0 && orphans.held_reason === undefined) return false;
  const parts = orphanParts(summary, facts);
  return section(
    'Orphans',
    html`${countText(orphans.total, 'record')} of the service ${orphans.total === 1 ? 'is' : 'are'} not in the file${orphans.fresh > 0 && `, ${formatNumber(orphans.fresh)} of them for the first time`}${parts !== '' && `: ${parts}`}. ${orphanRule(orphans)}${
      orphans.total > listed.length &&
      html` The first ${listed.length}; all of them are in <a href="orphans.csv">orphans.csv</a>.`
    }`,
    orphans.held_reason !== undefined &&
      html`<p class="banner">${untrusted(`Orphans are held: ${orphans.held_reason}`)}</p>`,
    listed.length > 0 &&
      wideTable(
        {
          Id: 'w-count',
          Key: 'w-key',
          Name: 'w-key',
          'Missing since': 'w-count',
          Runs: 'num w-count',
          'What becomes of it': '',
        },
        listed.map(orphanRow),
      ),
  );
}

function orphanRow(orphan: OrphanLine): Markup {
  const more = [changesText(orphan), orphan.why, orphan.message].filter((text) => text !== undefined && text !== '');
  return html`<tr><th scope="row">${orphan.id}</th><td>${shortText(orphan.key)}</td><td>${shortText(orphan.name)}</td><td>${orphan.since}</td><td class="num">${orphan.absences}</td><td>${orphanStateText(orphan)}${more.length > 0 && html`<br><span class="soft">${shortMessage(more.join('; '))}</span>`}</td></tr>`;
}

/** How the service was read, and what the run was compared with. */
export function readingSection(reconcile: Facts): Markup {
  return html`<section>
<h2>How it was found out</h2>
<table class="plain"><tbody>${readingFacts(reconcile).map(([name, text]) => html`<tr><th scope="row">${name}</th><td>${untrusted(text)}</td></tr>`)}</tbody></table>
</section>`;
}
