import { existsSync, readFileSync } from 'node:fs';
import { parse as parseCsv } from 'csv-parse/sync';
import type { Violation } from '../invariants/evidence.js';
import { readTold } from '../invariants/facts.js';
import { FRESH_MS, fieldOf, type History, type Moment } from './history.js';

/** Codes of fields that an undo leaves as they are. */
const LEFT = new Set([
  'changed_meanwhile',
  'old_value_unknown',
  'field_not_updatable',
  'status_not_writable',
  'required',
  'no_retire_values',
  'record_not_found',
]);

const fieldsOf = (...moments: (Moment | undefined)[]): string[] => [
  ...new Set(moments.flatMap((moment) => Object.keys(moment?.state ?? {}))),
];

/** The moment that gave the field the value that it has at another one. */
function giver(moments: readonly Moment[], index: number, field: string): number {
  let at = index;
  while (at > 0 && fieldOf(moments[at - 1], field) === fieldOf(moments[at], field)) at--;
  return at;
}

/** What a write may have been made from: all that the record was from so long before it on. */
function readable(moments: readonly Moment[], index: number): Moment[] {
  const { sent, at } = moments[index] as Moment;
  return moments.filter((_, n) => n < index && (moments[n + 1]?.at ?? at) >= sent - FRESH_MS);
}

/** A field that a write of a run gave another value; without a change, a record that it made. */
interface Written {
  readonly index: number;
  readonly moment: Moment;
  readonly change?: {
    readonly field: string;
    readonly was: Moment;
    readonly old: string;
    readonly now: string;
    /** The value stood in the record a moment before, too: what was read may be older than what somebody changed. */
    readonly isFresh: boolean;
  };
}

/** What a run did to a record. */
function* writtenBy(run: string, moments: readonly Moment[]): Generator<Written> {
  for (const [index, moment] of moments.entries()) {
    if (moment.by !== run) continue;
    const was = moments[index - 1];
    if (was?.state === undefined) {
      yield { index, moment };
      continue;
    }
    const fresh = readable(moments, index);
    for (const field of fieldsOf(was, moment)) {
      const [old, now] = [fieldOf(was, field), fieldOf(moment, field)];
      const isFresh = fresh.some((one) => fieldOf(one, field) === now);
      if (old !== now) yield { index, moment, change: { field, was, old, now, isFresh } };
    }
  }
}

/**
 * Contract, section 3: an undo puts back what the run wrote, and nothing else; what somebody changed since stays. `retired`: the
 * field that created records are given, and its value as JSON. `from`: when the undo began.
 */
export async function judgeUndo(given: {
  readonly history: History;
  readonly run: { readonly id: string; readonly reports: string };
  readonly undo: { readonly id: string; readonly reports: string };
  readonly retired: { readonly field: string; readonly value: string } | undefined;
  readonly from: number;
}): Promise<Violation[]> {
  const { history, run, undo, retired, from } = given;
  const found: Violation[] = [];
  const say = (rule: string, text: string): void => void found.push({ rule, text: `undo of ${run.id}: ${text}` });
  const [told, undone] = [await readTold(run.reports), await readTold(undo.reports)];
  const lineOfId = new Map(undone.lines.map((line) => [Number(line.id), line]));
  if (undone.byRow.size !== undone.lines.length) say('undo-accounts', 'rows are told twice');
  for (const { row, outcome } of told.lines) {
    if ((outcome === 'created' || outcome === 'updated') && !undone.byRow.has(row))
      say('undo-accounts', `row ${row}, ${outcome} by the run, has no outcome`);
  }

  for (const [id, moments] of history.moments) {
    const outcome = told.byRow.get(lineOfId.get(id)?.row ?? 0)?.outcome;
    // Whether the run wrote it is not known: the undo goes by what the record holds.
    if (outcome === 'unknown') continue;
    const by = (one: (by: string) => boolean) =>
      moments.flatMap((moment, index) => (moment.by !== undefined && one(moment.by) ? [index] : []));
    const itself = by((one) => one === run.id);
    // Of a run that was cut off before it sent the row, and found it written when it was taken up again: by another one.
    const cutOff = itself.length === 0 && outcome !== undefined;
    const own = cutOff ? by(() => true).filter((index) => (moments[index]?.at ?? 0) < from) : itself;
    const isOwn = (moment: Moment | undefined) => own.some((index) => moments[index] === moment);
    const first = own[0] ?? 0;
    const last = own.at(-1) ?? 0;
    const before = moments[first - 1];
    const created = before === undefined;
    const then = own.length === 0 ? [] : [...readable(moments, first), ...moments.slice(first - 1, last)];
    for (const { index, moment, change } of writtenBy(undo.id, moments)) {
      if (!change) {
        say('undo-puts-back', `it created record ${id}`);
        continue;
      }
      const { field, old, now, isFresh } = change;
      const text = `${field} of record ${id}: ${old} became ${now}`;
      const isOld = created
        ? retired?.field === field && retired.value === now
        : then.some((one) => fieldOf(one, field) === now);
      if (own.length === 0 && !isFresh) say('undo-puts-back', `${text}, and the run never wrote to it`);
      else if (!isOld && !isFresh) say('undo-puts-back', `${text}, which it was not before the run`);
      const given = giver(moments, index - 1, field);
      const others = moments[given];
      if (!others || isOwn(others) || others.by === undo.id || given < first) continue;
      if (others.at > moment.sent - FRESH_MS || own.some((at) => fieldOf(moments[at], field) === old)) continue;
      say('undo-keeps-others', `${text}, which somebody had set at ${Math.round(others.at)} ms`);
    }
    // What is called done is done.
    const line = lineOfId.get(id);
    if (!line || own.length === 0 || !['updated', 'unchanged'].includes(line.outcome)) continue;
    if (line.codes.some((code) => LEFT.has(code))) continue;
    const wrote = moments[last];
    const end = moments.findLast(({ by }) => by === undo.id) ?? moments.at(-1);
    if (moments.slice(first, last).some((moment) => !isOwn(moment))) continue;
    for (const field of created ? (retired ? [retired.field] : []) : fieldsOf(before, wrote)) {
      const wanted = created ? [retired?.value] : readable(moments, first).map((one) => fieldOf(one, field));
      const is = fieldOf(end, field);
      if (!created && fieldOf(before, field) === fieldOf(wrote, field)) continue;
      const others = moments.some(
        ({ by }, at) => at > last && by !== undo.id && fieldOf(moments[at - 1], field) !== fieldOf(moments[at], field),
      );
      if (!others && !wanted.includes(is))
        say(
          'undo-told-true',
          `row ${line.row} is ${line.outcome}, and ${field} of record ${id} is ${is}, not ${wanted.at(-1)}`,
        );
    }
  }
  return found;
}

/** An undo was refused, as the run is said to have written nothing. */
export async function judgeNothingToUndo(run: string, reports: string): Promise<Violation[]> {
  const { lines } = await readTold(reports);
  const wrote = lines.find(({ outcome }) => outcome === 'created' || outcome === 'updated');
  if (!wrote) return [];
  return [{ rule: 'undo-accounts', text: `undo of ${run}: refused, and the run ${wrote.outcome} row ${wrote.row}` }];
}

/**
 * Contract, section 3: an export that says that it is whole has every record that was there throughout, once; and whatever it
 * says of a record was true at some moment of it.
 */
export function judgeExport(given: {
  readonly history: History;
  readonly file: string;
  readonly consistency: string | undefined;
  readonly fields: readonly string[];
  readonly from: number;
  readonly until: number;
}): Violation[] {
  const { history, file, consistency, fields, from, until } = given;
  const found: Violation[] = [];
  const say = (rule: string, text: string): void => void found.push({ rule, text: `export: ${text}` });
  if (!existsSync(file)) return [{ rule: 'export-whole', text: 'export: there is no file' }];
  const rows: Record<string, string>[] = parseCsv(readFileSync(file), { bom: true, columns: true });
  const seen = new Set<number>();
  for (const row of rows) {
    const id = Number(row['id']);
    if (seen.has(id)) say('export-once', `record ${id} is there twice`);
    seen.add(id);
    const moments = history.moments.get(id) ?? [];
    const held = moments.filter(({ at }, n) => at <= until && (moments[n + 1]?.at ?? until) >= from);
    for (const field of fields) {
      const texts = held.flatMap(({ state }) => (state ? [String(state[field] ?? '')] : []));
      if (!texts.includes(row[field] ?? ''))
        say('export-true', `${field} of record ${id} is told as "${row[field]}", and was ${JSON.stringify(texts)}`);
    }
  }
  if (consistency !== 'verified') return found;
  for (const [id, moments] of history.moments) {
    const at = moments.findLast((moment) => moment.at <= from);
    const stays = at?.state !== undefined && moments.every((one) => one.at <= from || one.state !== undefined);
    if (stays && !seen.has(id)) say('export-whole', `record ${id}, there all the time, is missing`);
  }
  return found;
}

/**
 * Contract, section 4: a reconciliation gives records of the file what its rows say, and those that the file does not hold what
 * the job sets in orphans; nothing else, and, where it says that it is done, to all of them.
 */
export async function judgeNight(given: {
  readonly history: History;
  readonly run: string;
  /** Of the file. */
  readonly keys: ReadonlySet<string>;
  readonly keyField: string;
  readonly mapped: readonly string[];
  readonly retired: { readonly field: string; readonly value: string };
  readonly from: number;
  readonly whole: boolean;
  /** Folder of its reports; its file, and the heading of the field that orphans are given. */
  readonly reports: string;
  readonly file: string;
  readonly heading: string;
}): Promise<Violation[]> {
  const { history, run, keys, keyField, mapped, retired, from, whole, reports, file, heading } = given;
  const found: Violation[] = [];
  const say = (rule: string, text: string): void => void found.push({ rule, text: `night ${run}: ${text}` });
  for (const [id, moments] of history.moments) {
    const isOrphan = (state: Moment['state']) => state !== undefined && !keys.has(String(state[keyField]).trim());
    for (const { moment, change } of writtenBy(run, moments)) {
      if (!change && isOrphan(moment.state)) say('night-orphans', `it made record ${id}, which no row means`);
      if (!change || change.isFresh) continue;
      const { field, was, now } = change;
      const may = isOrphan(was.state) ? field === retired.field && now === retired.value : mapped.includes(field);
      if (!may) say('night-orphans', `${field} of record ${id} (${was.state?.[keyField]}) became ${now}`);
    }
    const end = moments.at(-1);
    const atRest = moments.every(({ at, by }) => at < from || by === run);
    if (whole && atRest && isOrphan(end?.state) && fieldOf(end, retired.field) !== retired.value)
      say('night-told-true', `record ${id}, an orphan, has ${fieldOf(end, retired.field)} in ${retired.field}`);
  }
  const rows: Record<string, string>[] = parseCsv(readFileSync(file), { columns: true, relax_column_count: true });
  for (const { row, outcome, id } of (await readTold(reports)).lines) {
    const moments = history.moments.get(Number(id)) ?? [];
    const cell = rows[row - 2]?.[heading] ?? '';
    if (!['unchanged', 'updated'].includes(outcome) || cell === '') continue;
    if (moments.some(({ at, by }) => at >= from && by !== run)) continue;
    const is = String(moments.at(-1)?.state?.[retired.field] ?? '');
    if (is !== cell) say('night-told-true', `row ${row} is ${outcome}, and record ${id} has "${is}", not "${cell}"`);
  }
  return found;
}

/**
 * Contract, section 3: of an editable file the import sets the cells that a person changed, and nothing else; where somebody else
 * changed the same value since the export, theirs stays. `mine`: the changed cells by record. `from`, `until`: of the export.
 */
export async function judgeEdited(given: {
  readonly history: History;
  readonly run: string;
  readonly reports: string;
  readonly mine: ReadonlyMap<number, string>;
  readonly field: string;
  readonly from: number;
  readonly until: number;
}): Promise<Violation[]> {
  const { history, run, reports, mine, field, from, until } = given;
  const found: Violation[] = [];
  const say = (rule: string, text: string): void => void found.push({ rule, text: `changed file, ${run}: ${text}` });
  for (const [id, moments] of history.moments) {
    const wanted = JSON.stringify(mine.get(id));
    const exported = moments.filter(({ at }, n) => at <= until && (moments[n + 1]?.at ?? until) >= from);
    for (const { index, moment, change } of writtenBy(run, moments)) {
      if (!change) say('edited-alone', `it made record ${id}`);
      if (!change || change.isFresh) continue;
      const text = `${change.field} of record ${id}: ${change.old} became ${change.now}`;
      if (change.field !== field || change.now !== wanted) say('edited-alone', text);
      if (exported.some((other) => fieldOf(other, change.field) === change.old)) continue;
      const { at } = moments[giver(moments, index - 1, change.field)] as Moment;
      if (at < moment.sent - FRESH_MS) say('edited-keeps-others', `${text}, which somebody had set since the export`);
    }
  }
  for (const { row, outcome, id } of (await readTold(reports)).lines) {
    const moments = history.moments.get(Number(id)) ?? [];
    const wanted = JSON.stringify(mine.get(Number(id)));
    if (wanted === undefined || !['unchanged', 'updated'].includes(outcome)) continue;
    if (moments.some(({ at, by }) => at >= from && by !== run)) continue;
    const is = fieldOf(moments.at(-1), field);
    if (is !== wanted) say('edited-told-true', `row ${row} is ${outcome}, and record ${id} has ${is}, not ${wanted}`);
  }
  return found;
}

type Records = readonly Readonly<Record<string, unknown>>[];

/** No key is there twice. */
export function judgeUnique(records: Records, keyField: string): Violation[] {
  const seen = new Set<string>();
  return records.flatMap((record) => {
    const key = String(record[keyField] ?? '');
    if (key === '' || !seen.has(key)) {
      seen.add(key);
      return [];
    }
    return [{ rule: 'no-double', text: `"${key}" is there twice` }];
  });
}

/** Records that were made for rows that name them: each once, and none that nobody names. */
export function judgeMade(records: Records, file: string): Violation[] {
  const unnamed = records.slice(1).map(({ name }) => String(name));
  return [
    ...judgeUnique(records, 'name'),
    ...unnamed
      .filter((name) => !file.includes(name))
      .map((name) => ({ rule: 'nothing-else-written', text: `"${name}" was made, and no row names it` })),
  ];
}
