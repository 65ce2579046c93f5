import type { DiffText } from '../model/change.js';
import type { Outcome } from '../model/outcome.js';
import type { RowResult } from '../store/run-store.js';
import { html, type Markup, section, shortMessage, shortText, wideTable } from './html-parts.js';
import { issueSentence } from './report-lines.js';
import { isNew } from './results.js';
import { countText, isPlanOnly, type Summary } from './summary.js';

/** What report.html shows of the plan: the first records that are new, and the first updates, old → new. */

const CREATED = 5;
const UPDATED = 20;
/** Fields of a row that are shown; plan.csv has all. */
const FIELDS = 40;

function isUpdate({ kind, id, changed }: Outcome): boolean {
  return kind === 'updated' || (kind === 'not_attempted' && id !== undefined && changed.length > 0);
}

/** The first rows that make a record or change one, as they pass. Counts are never capped, samples are. */
export class Changes {
  readonly created: RowResult[] = [];
  readonly updated: RowResult[] = [];
  /** Rows that create or update, also those that a run which stopped did not come to. */
  createCount = 0;
  updateCount = 0;
  /** Values that updates empty. */
  cleared = 0;

  add(result: RowResult): void {
    if (isNew(result.outcome)) {
      this.createCount++;
      if (this.created.length < CREATED) this.created.push(result);
    } else if (isUpdate(result.outcome)) {
      this.updateCount++;
      if (this.updated.length < UPDATED) this.updated.push(result);
      for (const { kind } of result.diff) if (kind === 'clear') this.cleared++;
    }
  }
}

/** What a field is called in the file: its heading. Undefined for fields that no column sets. */
export type ColumnOf = (field: string) => string | undefined;

/** The first records that are new, with what they would hold where that was planned and not carried out. */
export function createdSection(
  summary: Summary,
  { created, createCount }: Changes,
  columnOf: ColumnOf,
): Markup | false {
  if (created.length === 0) return false;
  const planned = created.some(({ diff }) => diff.length > 0);
  const rest = planned ? 'plan.csv' : 'results.csv';
  return section(
    summary.dry_run || summary.rows.created === 0 ? 'To be created' : 'Created',
    html`${countText(createCount, 'new record')}${planned && ', with the values that would be sent'}.${createCount > created.length && html` The first ${created.length}; all of them are in <a href="${rest}">${rest}</a>.`}`,
    wideTable(
      { Row: 'w-row', Key: 'w-key', Id: 'w-key', [planned ? 'Values' : 'Remarks']: '' },
      created.map(
        ({ outcome: { ref, key, id, issues }, diff }) =>
          html`<tr><th scope="row">${ref.row}</th><td>${shortText(key)}</td><td>${id}</td><td>${values(diff, columnOf)}${
            remarks(issues) !== '' && html`<div class="soft">${shortMessage(remarks(issues))}</div>`
          }</td></tr>`,
      ),
      'flow',
    ),
  );
}

/** Why the run stopped stands at the top of the page. */
function remarks(issues: Outcome['issues']): string {
  const own = issues.filter(({ code }) => code !== 'run_stopped');
  return own.map(issueSentence).join('; ');
}

function values(diff: readonly DiffText[], columnOf: ColumnOf): Markup {
  return html`${diff.slice(0, FIELDS).map((one) => html`<span class="pair"><span class="soft">${fieldLabel(one.field, columnOf)}</span> ${valueMarkup(one.new)}</span> `)}${
    diff.length > FIELDS && html`<span class="soft">and ${diff.length - FIELDS} more</span>`
  }`;
}

/** The first updates, field by field. */
export function updatedSection(
  summary: Summary,
  { updated, updateCount }: Changes,
  columnOf: ColumnOf,
): Markup | false {
  if (updated.length === 0) return false;
  const planned = isPlanOnly(summary) && summary.rows.updated === 0;
  return section(
    `${summary.dry_run || planned ? 'To be updated' : 'Updated'}, old → new`,
    html`${countText(updateCount, 'record')}; what is not named stays as it is. ${updateCount > updated.length ? html`The first ${updated.length}; all of them are in` : 'Also in'} <a href="plan.csv">plan.csv</a>.`,
    wideTable(
      { Row: 'w-row', Key: 'w-key', Field: 'w-col', 'Old → new': '' },
      updated.map((result) => updateRows(result, columnOf)),
      'flow',
    ),
  );
}

/** What would be lost stands before what is set. */
const ORDER: Readonly<Partial<Record<DiffText['kind'], number>>> = { at_risk: 0, clear: 1, set: 2 };

function updateRows({ outcome: { ref, key }, diff }: RowResult, columnOf: ColumnOf): Markup {
  const changes = diff.filter(({ kind }) => kind in ORDER).sort((a, b) => (ORDER[a.kind] ?? 0) - (ORDER[b.kind] ?? 0));
  return html`${changes
    .slice(0, FIELDS)
    .map(
      (one, at) =>
        html`<tr${one.kind === 'at_risk' && html` class="lost"`}>${
          at === 0
            ? html`<th scope="row">${ref.row}</th><td>${shortText(key)}</td>`
            : html`<th scope="row"></th><td></td>`
        }<td>${fieldLabel(one.field, columnOf)}</td><td>${valueMarkup(one.old)} → ${
          one.kind === 'at_risk'
            ? html`<strong>lost</strong>`
            : one.kind === 'clear'
              ? 'emptied'
              : valueMarkup(one.new, true)
        }</td></tr>`,
    )}${changes.length > FIELDS && html`<tr><th scope="row"></th><td></td><td class="soft">and ${changes.length - FIELDS} more</td><td></td></tr>`}`;
}

function fieldLabel(field: string, columnOf: ColumnOf): Markup {
  return shortText(columnOf(field) ?? field);
}

/** A value as it was or as it is to be. */
export function valueMarkup(value: string, changed = false): Markup {
  if (value === '') return html`<span class="soft">none</span>`;
  return html`<span class="value${changed && ' changed'}">${shortText(value)}</span>`;
}
