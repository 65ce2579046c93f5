import type { Change } from '../../model/change.js';
import { Decimal } from '../../model/decimal.js';
import { fault, type Issue } from '../../model/issue.js';
import { type Fields, isEmpty, isRef, sameValue, type Value, valueText } from '../../model/value.js';
import { equalsStored, isNormalisedForm } from '../../pipeline/apply/compare.js';
import { isReadable, isWriteOnly, type MergeBase, type MergeOptions, mergeBaseOf } from '../../pipeline/plan/merge.js';
import { decodeFields, type ResolvedRow } from '../../pipeline/rows.js';
import { isRequired } from '../../resources/rules.js';
import { updateBody } from '../../resources/write.js';
import type { Json, Readable, Snapshot } from '../../service/port.js';
import type { Matched } from '../rows/match.js';
import { recordSettled } from '../rows/outcomes.js';
import { fillRowFile, rowWriter } from '../rows/row-files.js';
import type { Run } from '../run/run.js';
import { type CreatedRecord, fieldsOf, type Survey, undoRows, type WrittenRecord } from './written-records.js';

/** What records that the run created are to be given, and what its file gave them. */
export interface Retirement {
  readonly fields: Fields;
  readonly records: ReadonlyMap<number, CreatedRecord>;
}

/** A row that is to be planned and written like one of a file, or one that ends here. */
type Decision = { readonly row: ResolvedRow } | { readonly settled: Change };

/**
 * Holds every record against what the run wrote. Rows that lead to an update go to the run's file of resolved rows, from where they
 * are planned and written like those of any file; the others get their outcome here.
 */
export async function decideRecords(
  run: Run,
  matched: Matched,
  { tidied }: Survey,
  retirement: Retirement | undefined,
): Promise<Matched> {
  const names = recordNamer(matched);
  const options: RestoreOptions = { ...matched.options, tidied };
  const unseen = new Set<string>();
  const context = { run, matched, options, retirement, keyOf: names.keyOf };
  const out = rowWriter(run.folder.resolved);
  let done = 0;
  await fillRowFile(out, async () => {
    for await (const batch of undoRows(run.folder)) {
      const open = batch.filter(({ row }) => !run.past.outcomes.has(row));
      for (const decision of await Promise.all(open.map((record) => decideFresh(record, context)))) {
        if ('row' in decision) {
          out.write(decision.row);
          for (const field of Object.keys(decision.row.set)) if (isWriteOnly(field, options)) unseen.add(field);
        } else recordSettled(run, decision.settled);
      }
      done += batch.length;
      run.progress('looking up', done);
      if (run.signal.aborted) break;
    }
  });
  if (unseen.size > 0 && matched.spec.readable) {
    const fields = [...unseen].sort().join(', ');
    run.warn(
      `Reads do not show ${fields}: what somebody else put there after the run is not seen, and is overwritten.`,
    );
  }
  return { ...matched, options: { ...matched.options, snapshot: names.snapshot } };
}

interface Context {
  readonly run: Run;
  readonly matched: Matched;
  readonly options: RestoreOptions;
  readonly retirement: Retirement | undefined;
  /** The key under which a record is planned and reported. */
  readonly keyOf: (record: WrittenRecord, id: number) => string;
}

/** A record that nothing is to be done about is read by its id: the list that it was found in may lag behind the run. */
async function decideFresh(record: WrittenRecord, context: Context): Promise<Decision> {
  const first = await decideRecord(record, context);
  const { spec, service, snapshot } = context.matched;
  const id = 'settled' in first && 'id' in first.settled ? first.settled.id : undefined;
  if (id === undefined || !spec.readable || context.run.past.open.has(record.row)) return first;
  const found = await service.get(spec.name as Readable, id);
  if (found) snapshot.add(id, found, String(id), context.run.now());
  return decideRecord(record, context);
}

async function decideRecord(record: WrittenRecord, context: Context): Promise<Decision> {
  const { outcome, row } = record;
  const { spec, snapshot } = context.matched;
  if (outcome === 'created') return decideCreated(record, context);
  const { id } = record;
  if (id === undefined) throw new Error(`row ${row}: an update without an id`);
  if (!record.before) {
    const message = `What record ${id} was before the run wrote to it is not on record. Look at it in the service.`;
    return settleRecord(record, 'invalid', [fault('old_value_unknown', message)], id);
  }
  const open = context.run.past.open.get(row);
  const found = spec.readable ? await snapshot.get(id) : undefined;
  if (spec.readable && !found) return settleRecord(record, 'invalid', [missingRecord(id, spec.name)], id);
  // Of a row that was being put back when an earlier process was cut off: decided as that process did it, and then held
  // against the record as it is.
  const now = stateOf(id, open?.before ?? found?.record, context);
  const { set, unrestored } = planRestore(record, now, context.options);
  if (Object.keys(set).length > 0) return write(record, id, set, unrestored.map(asWarning), context);
  if (unrestored.length === 0) return settleRecord(record, 'unchanged', [], id);
  return settleRecord(
    record,
    unrestored.some(({ code }) => code === 'changed_meanwhile') ? 'conflict' : 'invalid',
    unrestored,
    id,
  );
}

async function decideCreated(record: WrittenRecord, context: Context): Promise<Decision> {
  const { matched, options, retirement, run } = context;
  const { name } = matched.spec;
  if (!retirement) {
    const undone = run.request.lineage?.undoes ?? '';
    const key = undone.includes('.')
      ? '`references: { missing: create, retire: { FIELD: VALUE } }`'
      : '`retire: { FIELD: VALUE }`';
    const message = `The run created this ${name}; the service has no delete, and the job names no values that retire a record. Undo it again with such values, for instance \`rowferry runs undo ${undone} --retire FIELD=VALUE\`; for later runs add ${key} to the job.`;
    return settleRecord(record, 'invalid', [fault('no_retire_values', message)], record.id);
  }
  const createdRecord = retirement.records.get(record.row);
  if (!createdRecord) {
    const message = `What the run gave to this ${name}, which it created, is not in its folder any more, so that what somebody changed since cannot be told. It is left as it is; look at it in the service.`;
    return settleRecord(record, 'invalid', [fault('old_value_unknown', message)], record.id);
  }
  const ids = record.id === undefined ? (createdRecord.ids ?? []) : [record.id];
  const [id, second] = ids;
  if (id === undefined) {
    const why = matched.spec.readable ? 'no record has its key now' : `a ${name} cannot be looked up`;
    const message = `The run created this ${name}, and the service did not tell its id; ${why}. Look for it in the service.`;
    return settleRecord(record, 'invalid', [fault('id_unknown', message)]);
  }
  if (second !== undefined) {
    const message = `The run created this ${name}, and the service did not tell its id; several records have its key: ids ${ids.join(', ')}. Look at them in the service.`;
    return settleRecord(record, 'ambiguous', [fault('ambiguous_match', message)]);
  }
  const found = matched.spec.readable ? await matched.snapshot.get(id) : undefined;
  if (matched.spec.readable && !found) return settleRecord(record, 'invalid', [missingRecord(id, name)], id);
  const state = stateOf(id, run.past.open.get(record.row)?.before ?? found?.record, context);
  const { base, read } = mergeBaseOf(state.record, state.ours, options);
  const set: Record<string, Value> = {};
  const changed: Issue[] = [];
  for (const [field, value] of Object.entries(retirement.fields)) {
    const now = read.losses.find((loss) => loss.field === field)?.text ?? base[field];
    if (sameValue(now, value)) continue;
    if (holdsValue(createdRecord.fileValues[field], now, field, options)) set[field] = value;
    else {
      const fileValue = createdRecord.fileValues[field];
      const why = isEmpty(fileValue)
        ? 'and the file gave it no value: somebody set it since, or the service did by itself. Retire the record in the service.'
        : `and the file gave it "${valueText(fileValue)}": somebody changed it since. The record is left as it is.`;
      const message = `${field} of record ${id}, which the run created, is "${valueText(now)}", ${why}`;
      changed.push(fault('changed_meanwhile', message, { field, value: valueText(now) }));
    }
  }
  if (changed.length > 0) return settleRecord(record, 'conflict', changed, id);
  return Object.keys(set).length > 0 ? write(record, id, set, [], context) : settleRecord(record, 'unchanged', [], id);
}

function stateOf(id: number, record: Json | undefined, { matched }: Context): State {
  return { record, ours: matched.options.memory.lastWritten(id, {}, record) };
}

function write(record: WrittenRecord, id: number, set: Fields, issues: readonly Issue[], context: Context): Decision {
  return { row: { ref: { row: record.row }, key: context.keyOf(record, id), set, issues } };
}

function settleRecord(
  { row, key }: WrittenRecord,
  outcome: 'unchanged' | 'invalid' | 'conflict' | 'ambiguous',
  issues: readonly Issue[],
  id?: number,
): Decision {
  const known = id === undefined ? {} : { id };
  return { settled: { ref: { row }, key, kind: 'settled', outcome, issues, ...known } };
}

function missingRecord(id: number, name: string): Issue {
  return fault('record_not_found', `The ${name} ${id} no longer exists: there is nothing to put back.`);
}

/** What a row that is written says of the fields that it leaves. */
function asWarning(issue: Issue): Issue {
  return { ...issue, severity: 'warning' };
}

/**
 * Records are met by id, and reported by the key that people know them by: what is planned looks up this key. Customers,
 * which no look-up finds, go by their ids.
 */
function recordNamer({ snapshot, spec }: Matched): { keyOf: Context['keyOf']; snapshot: Snapshot } {
  const ids = new Map<string, number>();
  return {
    keyOf({ key }, id) {
      if (!spec.readable) return String(id);
      const other = ids.get(key);
      const name = key === '' || (other !== undefined && other !== id) ? `${key} (id ${id})`.trimStart() : key;
      ids.set(name, id);
      return name;
    },
    snapshot: {
      ...snapshot,
      ids(key) {
        const id = ids.get(key);
        return id === undefined ? [] : snapshot.ids(String(id));
      },
      has(key) {
        const id = ids.get(key);
        return id !== undefined && snapshot.has(String(id));
      },
      // What is put back is looked at field by field.
      idByFingerprint: () => undefined,
      get size() {
        return snapshot.size;
      },
    },
  };
}

/** A record at one moment: as the service shows it, and what our own last write left there that reads do not show. */
interface State {
  /** Undefined of a customer, which cannot be read. */
  readonly record: Json | undefined;
  readonly ours: Json | undefined;
}

interface RestoreOptions extends MergeOptions {
  /** Fields in which the service was seen to tidy values up while the run wrote. */
  readonly tidied: ReadonlySet<string>;
}

/** What an undo does to a record. */
interface Restoration {
  /** Fields and their values from before; null clears. */
  readonly set: Fields;
  /** One fault for each field that is left as it is, although the run changed it. */
  readonly unrestored: readonly Issue[];
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
function planRestore(written: WrittenRecord, now: State, options: RestoreOptions): Restoration {
  const { record, ours } = written.before ?? {};
  const then: State = { record: options.spec.readable ? ((record ?? undefined) as Json | undefined) : undefined, ours };
  const [old, current] = [mergeBaseOf(then.record, then.ours, options), mergeBaseOf(now.record, now.ours, options)];
  const set: Record<string, Value> = {};
  const unrestored = new Map<string, Issue>();
  for (const field of fieldsOf(written)) {
    if (field === 'id') continue;
    const issue = decideField(field);
    if (issue === 'put') set[field] = old.base[field] ?? null;
    else if (issue !== 'same') unrestored.set(field, issue);
  }
  keepTogether(set, unrestored);
  return { set, unrestored: [...unrestored.values()] };

  function decideField(field: string): 'same' | 'put' | Issue {
    const where = `${field} of record ${written.id}`;
    const [was, is] = [lossOf(field, old), lossOf(field, current)];
    if (was !== undefined && was === is) return 'same';
    if (was !== undefined || !isKnown(field, then, old, options)) {
      const shown =
        was === undefined ? 'is not known: reads do not show it' : `was "${was}", which no update can carry`;
      return unknownOldValue(
        field,
        `What ${where} held before the run ${shown}. It is left as it is; look at it in the service.`,
      );
    }
    if (!isKnown(field, now, current, options))
      return unknownOldValue(
        field,
        `What ${where} holds now cannot be seen. It is left as it is; look at it in the service.`,
      );
    const [before, value] = [old.base[field], is ?? current.base[field]];
    if (sameValue(before, value) || (isEmpty(before) && value === false) || showsName(before, is)) return 'same';
    if (!holdsWritten(field, value, is !== undefined)) {
      const had = `the run had ${writtenText(field) === '' ? 'cleared it' : `set it to "${writtenText(field)}"`}`;
      const message = `Somebody changed ${field} after the run: record ${written.id} now has "${valueText(value)}", ${had}, and before that it was "${valueText(before)}". It is left as it is.`;
      return fault('changed_meanwhile', message, { field, value: valueText(value) });
    }
    return unwritableFault(field, before, options) ?? 'put';
  }

  function holdsWritten(field: string, value: Value | undefined, lost: boolean): boolean {
    const set = written.before?.set;
    if (set && field in set) {
      const wrote = decodeFields(set)[field];
      if (lost) return showsName(wrote, String(value));
      if (holdsValue(wrote, value, field, options)) return true;
      // The service kept something else than was sent: that is the run's doing, too.
      return written.diff.some((one) => one.field === field && one.kind === 'at_risk' && one.new === valueText(value));
    }
    // Destroyed along with the run's write.
    return valueText(value) === writtenText(field) || (writtenText(field) === '' && value === false);
  }

  function writtenText(field: string): string {
    const change = written.diff.find((one) => one.field === field);
    if (change) return change.new;
    return valueText(written.before?.set ? decodeFields(written.before.set)[field] : undefined);
  }
}

/** The text of a value that has no canonical form. */
function lossOf(field: string, { read }: MergeBase): string | undefined {
  return read.losses.find((loss) => loss.field === field)?.text;
}

/** Reads show some references by a name alone. */
function showsName(value: Value | undefined, text: string | undefined): boolean {
  return isRef(value) && value.name !== undefined && value.name === text;
}

/** Whether what a state says of a field is what the record holds, or held. */
function isKnown(field: string, { record, ours }: State, { read }: MergeBase, options: MergeOptions): boolean {
  if (record !== undefined && isReadable(field, read.fields[field], options)) return true;
  // Our PUT left nothing there that it did not carry, unless the service keeps what a body leaves out.
  return ours !== undefined && (field in ours || !options.omittedIsKept);
}

/** Whether a record holds what was written, in the form in which the service keeps it. */
function holdsValue(
  wrote: Value | undefined,
  now: Value | undefined,
  field: string,
  options: Pick<RestoreOptions, 'tidied' | 'specOf'>,
): boolean {
  if (sameValue(wrote, now) || equalsStored(wrote, now) || (isEmpty(wrote) && now === false)) return true;
  const rounded = wrote instanceof Decimal && now instanceof Decimal && now.scale < wrote.scale;
  return (rounded || options.tidied.has(field)) && isNormalisedForm(wrote, now, options.specOf(field)?.type);
}

function unknownOldValue(field: string, message: string): Issue {
  return fault('old_value_unknown', message, { field });
}

/** Why an update cannot give the field its old value. */
function unwritableFault(field: string, old: Value | undefined, options: MergeOptions): Issue | undefined {
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
function keepTogether(set: Record<string, Value>, unrestored: Map<string, Issue>): void {
  for (const [field, issue] of [...unrestored]) {
    const root = rootOf(field);
    if (root === undefined) continue;
    for (const other of Object.keys(set)) {
      if (rootOf(other) !== root) continue;
      delete set[other];
      const message = `${other} belongs together with ${field}, which is left as it is, and is left, too.`;
      unrestored.set(other, fault(issue.code, message, { field: other }));
    }
  }
}

/** Undefined where a field is no part of an object; values of templates and forms stand for themselves. */
function rootOf(field: string): string | undefined {
  const at = field.indexOf('.');
  return at < 0 || /^(template|form)\./.test(field) ? undefined : field.slice(0, at);
}
