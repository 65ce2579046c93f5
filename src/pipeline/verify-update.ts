import { RunError } from '../model/error.js';
import { fault, type Issue, warning } from '../model/issue.js';
import { isEmpty, isRef, sameValue, type Value, valueText } from '../model/value.js';
import { readRecord } from '../resources/read.js';
import type { Json, Readable } from '../service/port.js';
import { changesOf, type Merge } from './merge.js';
import { isStoredForm } from './stored-form.js';
import type { WriteContext } from './writing.js';

/** What reading a record back after its update came to. */
export interface Verified {
  readonly issues: readonly Issue[];
  /** The service answered well, and the record still holds old values. */
  readonly unchanged?: boolean;
}

/** How a record that was read back differs from what was sent. */
interface Differences {
  /** Sent, and gone. */
  readonly dropped: readonly string[];
  /** Still as before the update, and no other form of what was sent. */
  readonly stale: readonly string[];
  /** Whether something that the update changes is seen to have changed. */
  readonly took: boolean;
  /** Whether something that the update changes is as before, and also a form of what was sent: either could be true. */
  readonly unclear: boolean;
  /** Stored in another form. */
  readonly issues: readonly Issue[];
}

/**
 * Compares the record with what was sent: the first update of a run by reading it back, others where the answer holds
 * the record. A value that was sent and is gone stops the run, and so does an update of which nothing took effect
 * throughout the settle window; a value stored in another form is a warning with both.
 */
export async function verifyUpdate(
  id: number,
  merge: Merge,
  answered: Json | undefined,
  readBack: boolean,
  context: WriteContext,
): Promise<Verified> {
  let seen: Differences = { dropped: [], stale: [], took: false, unclear: false, issues: [] };
  if (answered && typeof answered['id'] === 'number') {
    seen = compare(answered, merge, context);
    if (isKept(seen) && (seen.took || !seen.unclear)) return { issues: seen.issues };
  }
  if (!readBack && modelToLearn(merge, context) === undefined) return { issues: isKept(seen) ? seen.issues : [] };
  const sent = context.now();
  for (const [look, at] of [0, ...context.settleWindow].entries()) {
    const rest = sent + at - context.now();
    if (rest > 0) await context.wait(rest);
    const record = await context.service.get(context.spec.name as Readable, id);
    if (!record) break;
    seen = compare(record, merge, context);
    // An old value that is also a form of what was sent may be an update not to be seen yet: a second look is enough.
    if (isKept(seen) && (seen.took || !seen.unclear || look > 0)) return { issues: seen.issues };
  }
  if (!readBack || isKept(seen)) return { issues: seen.issues };
  const lost = [...seen.dropped, ...(isWithoutEffect(seen) ? seen.stale : [])];
  context.state.stopped ??= new RunError(
    'failed',
    `The update of ${context.spec.name} ${id} was read back, and the service did not keep ${lost.join(', ')}. The run stops before the next update.`,
    [
      'before.ndjson among the reports holds the record as it was. `rowferry doctor --probe` finds out what the service keeps.',
    ],
  );
  return seen.dropped.length > 0
    ? { issues: [...seen.issues, gone(seen.dropped)] }
    : { issues: [...seen.issues, still(id, seen.stale)], unchanged: true };
}

function isKept(seen: Differences): boolean {
  return seen.dropped.length === 0 && !isWithoutEffect(seen);
}

function isWithoutEffect({ stale, took, unclear }: Differences): boolean {
  return stale.length > 0 && !took && !unclear;
}

function gone(fields: readonly string[]): Issue {
  const text = `Read back after the update, the record no longer holds ${fields.join(', ')}.`;
  return warning('would_lose_value', text, { field: fields[0] ?? '' });
}

function still(id: number, fields: readonly string[]): Issue {
  const text = `The service answered that it took the update, and the record still holds the old value of ${fields.join(', ')}. Look at record ${id} in the service before importing the row again.`;
  return fault('outcome_unknown', text, { field: fields[0] ?? '' });
}

const AGAIN = ' The row is written again at every import until the file has the form that the service keeps.';

function compare(record: Json, merge: Merge, context: WriteContext): Differences {
  const read = readRecord(context.spec, record, context.lexicon);
  const opaque = new Set([
    ...read.losses.map((loss) => loss.field),
    ...merge.diff.filter((one) => one.kind === 'at_risk').map((one) => one.field),
  ]);
  const old = new Map(changesOf(merge.diff).map((one) => [one.field, one.old]));
  const dropped: string[] = [];
  const stale: string[] = [];
  const issues: Issue[] = [];
  let took = false;
  let unclear = false;
  for (const field of Object.keys(merge.target)) {
    if (!visible(field, context) || opaque.has(field)) continue;
    const [wanted, got] = [merge.target[field], read.fields[field]];
    const asBefore = old.has(field) && sameValue(old.get(field), got);
    // A cleared yes-or-no takes its default, which is no.
    if (sameValue(wanted, got) || (isEmpty(wanted) && got === false)) {
      took ||= old.has(field);
    } else if (isStoredForm(wanted, got, context.specOf(field)?.type)) {
      if (asBefore) unclear = true;
      else took ||= old.has(field);
      issues.push(normalised(field, wanted, got, old.has(field)));
    } else if (asBefore) stale.push(field);
    else if (isEmpty(got)) dropped.push(field);
    else {
      took ||= old.has(field);
      issues.push(normalised(field, wanted, got, old.has(field)));
    }
  }
  if (took || unclear) {
    // The update was carried out, as far as can be seen: what is as before was left out of it.
    for (const field of stale) {
      const [wanted, got] = [merge.target[field], read.fields[field]];
      if (isEmpty(got)) dropped.push(field);
      else issues.push(refused(field, wanted, got));
    }
  }
  const seen = { dropped, stale, took, unclear, issues };
  if (dropped.length === 0 && stale.length === 0) learnModel(record, merge, context);
  return seen;
}

function normalised(field: string, wanted: Value | undefined, got: Value | undefined, changed: boolean): Issue {
  const text = `The service stored ${field} as "${valueText(got)}" where "${valueText(wanted)}" was sent.`;
  return warning('value_normalised', changed ? text + AGAIN : text, { field, value: valueText(wanted) });
}

function refused(field: string, wanted: Value | undefined, got: Value | undefined): Issue {
  const sent = isEmpty(wanted) ? 'nothing' : `"${valueText(wanted)}"`;
  const text = `The service kept "${valueText(got)}" in ${field} where ${sent} was sent.${AGAIN}`;
  return warning('value_normalised', text, { field, value: valueText(wanted) });
}

function visible(field: string, context: WriteContext): boolean {
  if (field.startsWith('template.')) return true;
  if (field.startsWith('form.')) return context.spec.form?.read !== undefined;
  const spec = context.spec.fields.find((one) => one.name === field);
  if (spec?.read === undefined || spec.derived) return false;
  // Enums that reads show in fewer values than writes take cannot be compared.
  return !(spec.type.kind === 'enum' && spec.type.read !== undefined);
}

const MODEL = 'asset_hardware_model';

/** The id of a hardware model that this update set and whose name is not known: reads show the name alone. */
function modelToLearn(merge: Merge, context: WriteContext): number | undefined {
  const value = changesOf(merge.diff).find((one) => one.field === MODEL)?.new;
  return isRef(value) && context.known.nameOf('hardware-model', value.id) === undefined ? value.id : undefined;
}

/** Learns the name that the record shows now, unless it is the name of another model. */
function learnModel(record: Json, merge: Merge, context: WriteContext): void {
  const id = modelToLearn(merge, context);
  const name = record[MODEL];
  if (id === undefined || typeof name !== 'string' || name === '') return;
  if (context.known.ids('hardware-model', name).length === 0) context.known.learn('hardware-model', id, name);
}
