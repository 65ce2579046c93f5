import type { FieldDiff } from '../../model/change.js';
import { RunError } from '../../model/error.js';
import { fault, type Issue, warning } from '../../model/issue.js';
import { isEmpty, isRef, sameValue, type Value, valueText } from '../../model/value.js';
import { isObject } from '../../resources/path.js';
import { readRecord } from '../../resources/read.js';
import type { ResourceSpec } from '../../resources/spec.js';
import type { Json, Readable } from '../../service/port.js';
import { changesOf, type Merge } from '../plan/merge.js';
import { AGAIN, isCut, isStoredForm, storedAs } from './stored.js';
import { Halted, type Update, type WriteContext, type WriteState } from './writing.js';

/**
 * The first updates of a run go alone and are read back, so that a service that drops a field does it once. Which fields
 * it drops is seen only on a record that holds them: the very first update shows its own, and later ones that carry, set
 * or clear what none has shown yet take a turn, too, up to `MOST_TURNS` in all.
 *
 *   nothing shown yet → one has the turn, all others wait
 *   nothing new in it, or all turns used → it goes at once, beside the others
 *   something new in it → it has the turn, and others with something new wait for its end
 */

/** Each costs a request and the time of one update. */
export const MOST_TURNS = 4;

interface Shown {
  /** What updates that were read back held. */
  readonly parts: Set<string>;
  /** Whether one was read back at all; whoever comes before that waits. */
  verified: boolean;
  turns: number;
  running: Promise<void> | undefined;
  /** What is being found out about updates that seem to have lost something; nobody goes before that. */
  readonly doubts: Set<Promise<void>>;
}

const shownBy = new WeakMap<WriteState, Shown>();

/** Ends a turn; `verified`: the record was read back. */
export type EndTurn = (verified: boolean) => void;

/** Resolves when the update may go: with the means to end its turn, where it is to be read back. */
export async function waitForTurn(change: Update, context: WriteContext): Promise<EndTurn | undefined> {
  const { state, spec } = context;
  if (!spec.readPath) return undefined;
  const shown = shownIn(state);
  for (;;) {
    const [doubt] = shown.doubts;
    if (!doubt) {
      const allShown = shown.turns >= MOST_TURNS || atStake(change, context, shown.parts).length === 0;
      if (shown.verified && allShown) return undefined;
      if (!shown.running) return takeTurn(change, shown, context);
    }
    await (doubt ?? shown.running);
    if (state.stopped || context.signal.aborted) throw new Halted();
  }
}

/** Holds back all updates that have not gone yet, until what is returned is called: one seems to have lost something. */
function holdOthers(state: WriteState): () => void {
  const { doubts } = shownIn(state);
  let release: () => void = () => undefined;
  const doubt = new Promise<void>((resolve) => {
    release = resolve;
  });
  doubts.add(doubt);
  return () => {
    doubts.delete(doubt);
    release();
  };
}

function shownIn(state: WriteState): Shown {
  let shown = shownBy.get(state);
  if (!shown) {
    shown = { parts: new Set(), verified: false, turns: 0, running: undefined, doubts: new Set() };
    shownBy.set(state, shown);
  }
  return shown;
}

function takeTurn(change: Update, shown: Shown, context: WriteContext): EndTurn {
  let done: () => void = () => undefined;
  shown.running = new Promise((resolve) => {
    done = resolve;
  });
  let ended = false;
  return (verified) => {
    if (ended) return;
    ended = true;
    // A row that told nothing about how the service treats a PUT is no turn, as long as none did: all wait for one.
    if (verified || shown.verified) shown.turns++;
    if (verified) for (const part of atStake(change, context, shown.parts)) shown.parts.add(part);
    shown.verified ||= verified;
    shown.running = undefined;
    done();
  };
}

/** What the update carries, sets or clears and none of `known` has shown; as places in the read form. */
function atStake({ base, set }: Update, { spec }: WriteContext, known: ReadonlySet<string>): string[] {
  const parts: string[] = [];
  const note = (part: string) => {
    if (!known.has(part)) parts.push(part);
  };
  const { places, fields } = visible(spec);
  const record = base.record as Readonly<Record<string, unknown>> | undefined;
  if (record) {
    for (const key of Object.keys(record)) {
      const value = record[key];
      if (value === null || value === '' || value === undefined) continue;
      if (places.has(key)) note(key);
      else if (isObject(value)) {
        for (const part of Object.keys(value)) {
          if (places.has(`${key}.${part}`) && value[part] !== null && value[part] !== '') note(`${key}.${part}`);
        }
      }
    }
    noteCustom(record[spec.template.read], 'fields', note);
    if (spec.form?.read) noteCustom(record[spec.form.read], 'custom_form_data', note);
  }
  for (const field of Object.keys(set)) {
    if (isEmpty(set[field])) note('(cleared)');
    else {
      const place = fields.get(field);
      if (place !== undefined) note(place);
      else if (field.startsWith('template.') || field.startsWith('form.')) note(`(set) ${field.replace(/#\d+/, '')}`);
    }
  }
  return parts;
}

/** Values of templates and forms, each field by itself; rows of one form are alike. */
function noteCustom(raw: unknown, values: string, note: (part: string) => void): void {
  for (const item of Array.isArray(raw) ? raw : [raw]) {
    if (!isObject(item)) continue;
    note(`${values} ${String(item['id'])}`);
    const held = item[values];
    if (!isObject(held)) continue;
    for (const key of Object.keys(held)) {
      if (held[key] !== null && held[key] !== '') note(`${values} ${String(item['id'])} ${key}`);
    }
  }
}

interface Visible {
  /** Places in the read form that an update can carry. */
  readonly places: ReadonlySet<string>;
  /** Place by field. */
  readonly fields: ReadonlyMap<string, string>;
}

const visibleIn = new WeakMap<ResourceSpec, Visible>();

function visible(spec: ResourceSpec): Visible {
  let found = visibleIn.get(spec);
  if (!found) {
    const fields = spec.fields.filter((field) => field.read !== undefined && !field.derived);
    found = {
      places: new Set(fields.flatMap((field) => [field.read ?? '', ...(field.readElse ?? [])])),
      fields: new Map(fields.map((field) => [field.name, field.read ?? ''])),
    };
    visibleIn.set(spec, found);
  }
  return found;
}

/** What reading a record back after its update came to. */
export interface Verified {
  readonly issues: readonly Issue[];
  /** What was carried over and is gone: plan.csv names it, and an undo puts it back. */
  readonly lost?: readonly FieldDiff[];
  /** The service answered well, and the record still holds old values. */
  readonly unchanged?: boolean;
}

/** How a record that was read back differs from what was sent. */
interface Differences {
  /** Sent, and gone; carried over, and cut. */
  readonly dropped: readonly string[];
  /** What is left of those that were cut, by field. */
  readonly cut: ReadonlyMap<string, Value>;
  /** Still as before the update, and no other form of what was sent. */
  readonly stale: readonly string[];
  /** Whether something that the update changes is seen to have changed. */
  readonly took: boolean;
  /** Whether something that the update changes is as before, and also a form of what was sent: either could be true. */
  readonly unclear: boolean;
  /** Stored in another form. */
  readonly issues: readonly Issue[];
}

/** Runs whose service answers a write with something else than the record as it is then. */
const idleAnswers = new WeakSet<WriteState>();

/**
 * Compares the record with what was sent: the first updates of a run by reading them back, others where the answer holds
 * the record, which is read where the answer lacks something, unless a reading showed that answers do not tell. A value
 * that was sent and is gone stops the run, and so does one that was carried over and is cut, and an update of which
 * nothing took effect throughout the settle window; a value stored in another form is a warning with both.
 */
export async function verifyUpdate(
  id: number,
  merge: Merge,
  answered: Json | undefined,
  first: boolean,
  context: WriteContext,
): Promise<Verified> {
  let seen: Differences = { dropped: [], cut: new Map(), stale: [], took: false, unclear: false, issues: [] };
  if (answered && typeof answered['id'] === 'number') {
    seen = compare(answered, merge, context);
    if (isKept(seen) && (seen.took || !seen.unclear)) return { issues: seen.issues };
  }
  const inDoubt = seen.dropped.length > 0 && !idleAnswers.has(context.state);
  if (first || !inDoubt) return lookAgain(id, merge, seen, first, context);
  const release = holdOthers(context.state);
  try {
    return await lookAgain(id, merge, seen, true, context);
  } finally {
    release();
  }
}

/** Reads the record back, where that is called for; `inAnswer`: what the answer to the update seemed to hold. */
async function lookAgain(
  id: number,
  merge: Merge,
  inAnswer: Differences,
  readBack: boolean,
  context: WriteContext,
): Promise<Verified> {
  let seen = inAnswer;
  if (!readBack && modelToLearn(merge, context) === undefined) return { issues: isKept(seen) ? seen.issues : [] };
  const sent = context.elapsed();
  for (const [look, at] of [0, ...context.settleWindow].entries()) {
    const rest = sent + at - context.elapsed();
    if (rest > 0) await context.wait(rest);
    const record = await context.service.get(context.spec.name as Readable, id);
    if (!record) return { issues: isKept(seen) ? seen.issues : [] };
    seen = compare(record, merge, context);
    // An old value that is also a form of what was sent may be an update not to be seen yet: a second look is enough.
    if (isKept(seen) && (seen.took || !seen.unclear || look > 0)) {
      if (inAnswer.dropped.length > 0) idleAnswers.add(context.state);
      return { issues: seen.issues };
    }
  }
  if (!readBack || isKept(seen)) return { issues: seen.issues };
  const lost = [...seen.dropped, ...(isWithoutEffect(seen) ? seen.stale : [])];
  context.state.stopped ??= new RunError(
    'failed',
    `The update of ${context.spec.name} ${id} was read back, and the service did not keep ${lost.map((field) => keptOf(field, seen)).join(', ')}. The run stops here: nothing more is sent, and the rows that were not reached are as they were.`,
    [
      'before.ndjson among the reports holds the record as it was. `rowferry doctor --probe` finds out what the service keeps.',
    ],
  );
  return seen.dropped.length > 0
    ? { issues: [...seen.issues, ...gone(seen, merge)], lost: carriedOver(seen, merge) }
    : { issues: [...seen.issues, still(id, seen.stale)], unchanged: true };
}

function isKept(seen: Differences): boolean {
  return seen.dropped.length === 0 && !isWithoutEffect(seen);
}

function isWithoutEffect({ stale, took, unclear }: Differences): boolean {
  return stale.length > 0 && !took && !unclear;
}

/** Of the fields that are gone, those that the update did not change itself. */
function carriedOver({ dropped, cut }: Differences, merge: Merge): FieldDiff[] {
  const changed = new Set(changesOf(merge.diff).map((one) => one.field));
  return dropped
    .filter((field) => !changed.has(field))
    .map((field) => ({ field, old: merge.target[field] ?? null, new: cut.get(field) ?? null, kind: 'at_risk' }));
}

/** The field, and what the service left of it. */
function keptOf(field: string, { cut }: Differences): string {
  const rest = cut.get(field);
  return rest === undefined ? field : `${field} (only "${valueText(rest)}" of it)`;
}

/** One warning for what is gone altogether, and one for each value that was cut. */
function gone({ dropped, cut }: Differences, merge: Merge): Issue[] {
  const whole = dropped.filter((field) => !cut.has(field));
  const text = `Read back after the update, the record no longer holds ${whole.join(', ')}.`;
  return [
    ...(whole.length > 0 ? [warning('would_lose_value', text, { field: whole[0] ?? '' })] : []),
    ...[...cut].map(([field, rest]) => {
      const was = valueText(merge.target[field]);
      const left = `Read back after the update, the record no longer holds the whole of ${field}: "${was}" was carried over, and the service kept "${valueText(rest)}".`;
      return warning('would_lose_value', left, { field, value: was });
    }),
  ];
}

function still(id: number, fields: readonly string[]): Issue {
  const text = `The service answered that it took the update, and the record still holds the old value of ${fields.join(', ')}. Look at record ${id} in the service before importing the row again.`;
  return fault('outcome_unknown', text, { field: fields[0] ?? '' });
}

function compare(record: Json, merge: Merge, context: WriteContext): Differences {
  const read = readRecord(context.spec, record, context.lexicon);
  const opaque = new Set([
    ...read.losses.map((loss) => loss.field),
    ...merge.diff.filter((one) => one.kind === 'at_risk').map((one) => one.field),
  ]);
  // Of a template that shows keys nobody knows, a value may stand under one of them: its field was renamed meanwhile.
  const renamed = new Set(
    read.losses.flatMap(({ field, value }) => (value === undefined ? (templateOf(field) ?? []) : [])),
  );
  const old = new Map(changesOf(merge.diff).map((one) => [one.field, one.old]));
  const dropped: string[] = [];
  const cut = new Map<string, Value>();
  const stale: string[] = [];
  const issues: Issue[] = [];
  let took = false;
  let unclear = false;
  for (const field of Object.keys(merge.target)) {
    if (!isShown(field, context) || opaque.has(field)) continue;
    const [wanted, got] = [merge.target[field], read.fields[field]];
    if (isEmpty(got) && renamed.has(templateOf(field) ?? '')) continue;
    const asBefore = old.has(field) && sameValue(old.get(field), got);
    // A cleared yes-or-no takes its default, which is no.
    if (sameValue(wanted, got) || (isEmpty(wanted) && got === false)) {
      took ||= old.has(field);
    } else if (isStoredForm(wanted, got, context.specOf(field)?.type)) {
      if (!old.has(field) && got !== undefined && isCut(wanted, got)) {
        dropped.push(field);
        cut.set(field, got);
        continue;
      }
      if (asBefore) unclear = true;
      else took ||= old.has(field);
      issues.push(storedAs(field, wanted, got, old.has(field)));
    } else if (asBefore) stale.push(field);
    else if (isEmpty(got)) dropped.push(field);
    else {
      took ||= old.has(field);
      issues.push(storedAs(field, wanted, got, old.has(field)));
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
  const seen = { dropped, cut, stale, took, unclear, issues };
  if (dropped.length === 0 && stale.length === 0) learnModel(record, merge, context);
  return seen;
}

/** The id of the custom field template that a field belongs to. */
function templateOf(field: string): string | undefined {
  return field.startsWith('template.') ? field.split('.')[1] : undefined;
}

function refused(field: string, wanted: Value | undefined, got: Value | undefined): Issue {
  const sent = isEmpty(wanted) ? 'nothing' : `"${valueText(wanted)}"`;
  const text = `The service kept "${valueText(got)}" in ${field} where ${sent} was sent.${AGAIN}`;
  return warning('value_normalised', text, { field, value: valueText(wanted) });
}

function isShown(field: string, context: WriteContext): boolean {
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
