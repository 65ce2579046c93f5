import { Decimal } from '../../model/decimal.js';
import { fault, type Issue } from '../../model/issue.js';
import { type Fields, isEmpty, isRef, sameValue, type Value, valueText } from '../../model/value.js';
import { isStored, isStoredForm } from '../../pipeline/apply/stored.js';
import { decodeFields } from '../../pipeline/codec.js';
import { type Held, heldBy, isReadable, type MergeOptions } from '../../pipeline/plan/merge.js';
import { isRequired } from '../../resources/rules.js';
import { updateBody } from '../../resources/write.js';
import type { Json } from '../../service/port.js';
import type { WrittenRecord } from './rows.js';

/** A record at one moment: as the service shows it, and what our own last write left there that reads do not show. */
export interface State {
  /** Undefined of a customer, which cannot be read. */
  readonly record: Json | undefined;
  readonly ours: Json | undefined;
}

export interface PutBackOptions extends MergeOptions {
  /** Fields in which the service was seen to tidy values up while the run wrote. */
  readonly tidied: ReadonlySet<string>;
}

/** What an undo does to a record. */
export interface PutBack {
  /** Fields and their values from before; null clears. */
  readonly set: Fields;
  /** One fault for each field that is left as it is, although the run changed it. */
  readonly left: readonly Issue[];
  /** A template or form that the record did not have stays assigned to it, without values. */
  readonly assigned: boolean;
}

/**
 * Goes through the fields that a run changed, one by one.
 *
 *   holds the old value already    → nothing
 *   holds what the run wrote       → the old value
 *   holds something else           → left: somebody changed it since (`changed_meanwhile`)
 *   the old value is not known     → left (`old_value_unknown`)
 *   no update can carry it         → left (`field_not_updatable`, `status_not_writable`, `required`)
 *
 * Parts of one object, such as a category and its subcategory, are put back together or not at all. Contract, section 3.
 */
export function putBack(written: WrittenRecord, now: State, options: PutBackOptions): PutBack {
  const then: State = stateBefore(written, options);
  const [old, current] = [heldBy(then.record, then.ours, options), heldBy(now.record, now.ours, options)];
  const set: Record<string, Value> = {};
  const left = new Map<string, Issue>();
  for (const field of fieldsOf(written)) {
    const issue = judge(field);
    if (issue === 'put') set[field] = old.base[field] ?? null;
    else if (issue !== 'same') left.set(field, issue);
  }
  leaveWhole(set, left);
  const assigned = Object.keys(set).some((field) => isEmpty(set[field]) && !hadCustom(field, old.base));
  return { set, left: [...left.values()], assigned };

  function judge(field: string): 'same' | 'put' | Issue {
    const where = `${field} of record ${written.id}`;
    const [was, is] = [lossOf(field, old), lossOf(field, current)];
    if (was !== undefined && was === is) return 'same';
    if (was !== undefined || !isKnown(field, then, old, options)) {
      const shown =
        was === undefined ? 'is not known: reads do not show it' : `was "${was}", which no update can carry`;
      return unknown(
        field,
        `What ${where} held before the run ${shown}. It is left as it is; look at it in the service.`,
      );
    }
    if (!isKnown(field, now, current, options))
      return unknown(field, `What ${where} holds now cannot be seen. It is left as it is; look at it in the service.`);
    const [before, value] = [old.base[field], is ?? current.base[field]];
    if (sameValue(before, value) || (isEmpty(before) && value === false) || showsName(before, is)) return 'same';
    if (!isWhatWasWritten(field, value, is !== undefined)) {
      const had = `the run had ${wroteText(field) === '' ? 'cleared it' : `set it to "${wroteText(field)}"`}`;
      const message = `Somebody changed ${field} after the run: record ${written.id} now has "${valueText(value)}", ${had}, and before that it was "${valueText(before)}". It is left as it is.`;
      return fault('changed_meanwhile', message, { field, value: valueText(value) });
    }
    return unwritable(field, before, options) ?? 'put';
  }

  function isWhatWasWritten(field: string, value: Value | undefined, lost: boolean): boolean {
    const set = written.before?.set;
    if (set && field in set) {
      const wrote = decodeFields(set)[field];
      if (lost) return showsName(wrote, String(value));
      return holds(wrote, value, field, options);
    }
    // Destroyed along with the run's write.
    return valueText(value) === wroteText(field) || (wroteText(field) === '' && value === false);
  }

  function wroteText(field: string): string {
    const change = written.diff.find((one) => one.field === field);
    if (change) return change.new;
    return valueText(written.before?.set ? decodeFields(written.before.set)[field] : undefined);
  }
}

/** The record as the run found it. */
function stateBefore({ before }: WrittenRecord, { spec }: MergeOptions): State {
  return {
    record: spec.readPath ? ((before?.record ?? undefined) as Json | undefined) : undefined,
    ours: before?.ours,
  };
}

function fieldsOf({ diff, before }: WrittenRecord): string[] {
  const fields = diff.length > 0 ? diff.map(({ field }) => field) : Object.keys(before?.set ?? {});
  return [...new Set(fields)].filter((field) => field !== 'id');
}

/** The text of a value that has no canonical form. */
function lossOf(field: string, { read }: Held): string | undefined {
  return read.losses.find((loss) => loss.field === field)?.text;
}

/** Reads show some references by a name alone. */
function showsName(value: Value | undefined, text: string | undefined): boolean {
  return isRef(value) && value.name !== undefined && value.name === text;
}

/** Whether what a state says of a field is what the record holds, or held. */
function isKnown(field: string, { record, ours }: State, { read }: Held, options: MergeOptions): boolean {
  if (record !== undefined && isReadable(field, read.fields[field], options)) return true;
  // Our PUT left nothing there that it did not carry, unless the service keeps what a body leaves out.
  return ours !== undefined && (field in ours || !options.omittedIsKept);
}

/** Whether a record holds what was written, in the form in which the service keeps it. */
export function holds(
  wrote: Value | undefined,
  now: Value | undefined,
  field: string,
  options: Pick<PutBackOptions, 'tidied' | 'specOf'>,
): boolean {
  if (sameValue(wrote, now) || isStored(wrote, now) || (isEmpty(wrote) && now === false)) return true;
  const rounded = wrote instanceof Decimal && now instanceof Decimal && now.scale < wrote.scale;
  return (rounded || options.tidied.has(field)) && isStoredForm(wrote, now, options.specOf(field)?.type);
}

function unknown(field: string, message: string): Issue {
  return fault('old_value_unknown', message, { field });
}

/** Why an update cannot give the field its old value. */
function unwritable(field: string, old: Value | undefined, options: MergeOptions): Issue | undefined {
  const { spec, company, lexicon, accepted } = options;
  const at = { field, value: valueText(old) };
  if (isEmpty(old)) {
    const own = spec.fields.find((one) => one.name === field);
    if (!own || !isRequired(own, 'update')) return undefined;
    const message = `${field} was blank before the run, and an update of ${spec.name} records needs a value there. It keeps the run's value.`;
    return fault('required', message, at);
  }
  const { lost } = updateBody(spec, company, { [field]: old ?? null }, lexicon, accepted);
  const loss = lost.find((one) => one.field === field);
  if (!loss) return undefined;
  return fault(
    field === 'status' ? 'status_not_writable' : 'field_not_updatable',
    `${field} was "${loss.text}" before the run and cannot be put back: ${loss.why}. Change it in the service.`,
    at,
  );
}

/** Parts of one object are written together: one that is left keeps the others. */
function leaveWhole(set: Record<string, Value>, left: Map<string, Issue>): void {
  for (const [field, issue] of [...left]) {
    const root = rootOf(field);
    if (root === undefined) continue;
    for (const other of Object.keys(set)) {
      if (rootOf(other) !== root) continue;
      delete set[other];
      const message = `${other} belongs together with ${field}, which is left as it is, and is left, too.`;
      left.set(other, fault(issue.code, message, { field: other }));
    }
  }
}

/** True of fields that are no custom ones. */
function hadCustom(field: string, base: Fields): boolean {
  const owner = /^(?:template|form)\.[^.]+\./.exec(field)?.[0];
  return owner === undefined || Object.keys(base).some((name) => name.startsWith(owner));
}

/** Undefined where a field is no part of an object; values of templates and forms stand for themselves. */
function rootOf(field: string): string | undefined {
  const at = field.indexOf('.');
  return at < 0 || /^(template|form)\./.test(field) ? undefined : field.slice(0, at);
}
