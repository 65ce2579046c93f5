import type { Change } from '../../model/change.js';
import { fault, type Issue } from '../../model/issue.js';
import { type Fields, isEmpty, sameValue, type Value, valueText } from '../../model/value.js';
import { heldBy, isUnseen } from '../../pipeline/plan/merge.js';
import type { ResolvedRow } from '../../pipeline/resolve/resolve.js';
import type { Json, Readable, Snapshot } from '../../service/port.js';
import { RunStore } from '../../store/run-store.js';
import type { Matched } from '../rows/match.js';
import { noteSettled } from '../rows/outcomes.js';
import { rowWriter } from '../rows/row-files.js';
import { runFolder } from '../run/layout.js';
import type { Run } from '../run/run.js';
import type { CreatedRecord } from './created.js';
import { holds, type PutBackOptions, putBack, type State } from './put-back.js';
import { type Survey, undoRows, type WrittenRecord } from './rows.js';

/** What records that the run created are to be given, and what its file gave them. */
export interface Retirement {
  readonly fields: Fields;
  readonly records: ReadonlyMap<number, CreatedRecord>;
  /** Of records that rows of a run referred to: by id, a record that refers to it still. */
  readonly users?: ReadonlyMap<number, string>;
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
  const names = nameRecords(matched);
  const options: PutBackOptions = { ...matched.options, tidied };
  const unseen = new Set<string>();
  const recent = isRecent(run);
  const context = { run, matched, options, retirement, recent, keyOf: names.keyOf };
  const out = await rowWriter(run.folder.resolved);
  let done = 0;
  for await (const batch of undoRows(run.folder)) {
    const open = batch.filter(({ row }) => !run.past.outcomes.has(row));
    for (const decision of await Promise.all(open.map((record) => decideFresh(record, context)))) {
      if ('row' in decision) {
        out.write(decision.row);
        for (const field of Object.keys(decision.row.set)) if (isUnseen(field, options)) unseen.add(field);
      } else noteSettled(run, decision.settled);
    }
    await out.drained();
    done += batch.length;
    run.progress('looking up', done);
    if (run.signal.aborted) break;
  }
  await out.close();
  if (unseen.size > 0 && matched.spec.readPath) {
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
  readonly options: PutBackOptions;
  readonly retirement: Retirement | undefined;
  /** The run that is undone wrote a moment ago: lists may lag behind it. */
  readonly recent: boolean;
  /** The key under which a record is planned and reported. */
  readonly keyOf: (record: WrittenRecord, id: number) => string;
}

/** A record that nothing is to be done about is read by its id, where the list that it was found in may be older than the run. */
async function decideFresh(record: WrittenRecord, context: Context): Promise<Decision> {
  const first = await decideRecord(record, context);
  const { spec, service, snapshot } = context.matched;
  const id = 'settled' in first && 'id' in first.settled ? first.settled.id : undefined;
  if (!context.recent || id === undefined || !spec.readPath || context.run.past.open.has(record.row)) return first;
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
    return end(record, 'invalid', [fault('old_value_unknown', message)], id);
  }
  const open = context.run.past.open.get(row);
  const found = spec.readPath ? await snapshot.get(id) : undefined;
  if (spec.readPath && !found) return end(record, 'invalid', [gone(id, spec.name)], id);
  // Of a row that was being put back when an earlier process was cut off: decided as that process did it, and then held
  // against the record as it is.
  const now = stateOf(id, open?.before ?? found?.record, context);
  const { set, left, assigned } = putBack(record, now, context.options);
  if (assigned) {
    context.run.warn(
      'The run assigned custom field templates or forms to records that had none: no update takes them away, and they stay, without values.',
    );
  }
  if (Object.keys(set).length > 0) return write(record, id, set, left.map(asWarning), context);
  if (left.length === 0) return end(record, 'unchanged', [], id);
  return end(record, left.some(({ code }) => code === 'changed_meanwhile') ? 'conflict' : 'invalid', left, id);
}

async function decideCreated(record: WrittenRecord, context: Context): Promise<Decision> {
  const { matched, options, retirement, run } = context;
  const { name } = matched.spec;
  const made = retirement?.records.get(record.row);
  if (!retirement || !made) {
    const undone = run.request.lineage?.undoes ?? '';
    const key = undone.includes('.')
      ? '`references: { missing: create, retire: { FIELD: VALUE } }`'
      : '`retire: { FIELD: VALUE }`';
    const message = `The run created this ${name}; the service has no delete, and the job names no values that retire a record. Undo it again with such values, for instance \`rowferry runs undo ${undone} --retire FIELD=VALUE\`; for later runs add ${key} to the job.`;
    return end(record, 'invalid', [fault('no_retire_values', message)], record.id);
  }
  const ids = record.id === undefined ? (made.ids ?? []) : [record.id];
  const [id, second] = ids;
  if (id === undefined) {
    const message = `The run created this ${name}, and the service did not tell its id; no record has its key now. Look for it in the service.`;
    return end(record, 'invalid', [fault('id_unknown', message)]);
  }
  if (second !== undefined) {
    const message = `The run created this ${name}, and the service did not tell its id; several records have its key: ids ${ids.join(', ')}. Look at them in the service.`;
    return end(record, 'ambiguous', [fault('ambiguous_match', message)]);
  }
  const found = matched.spec.readPath ? await matched.snapshot.get(id) : undefined;
  if (matched.spec.readPath && !found) return end(record, 'invalid', [gone(id, name)], id);
  const user = retirement.users?.get(id);
  if (user !== undefined) {
    const message = `The run created this ${name} because its rows referred to it, and ${user} refers to it now: it is left as it is.`;
    return end(record, 'conflict', [fault('changed_meanwhile', message)], id);
  }
  const state = stateOf(id, run.past.open.get(record.row)?.before ?? found?.record, context);
  const { base, read } = heldBy(state.record, state.ours, options);
  const set: Record<string, Value> = {};
  const changed: Issue[] = [];
  for (const [field, value] of Object.entries(retirement.fields)) {
    const now = read.losses.find((loss) => loss.field === field)?.text ?? base[field];
    if (sameValue(now, value)) continue;
    if (holds(made.given[field], now, field, options)) set[field] = value;
    else {
      const given = made.given[field];
      const why = isEmpty(given)
        ? 'and the file gave it no value: somebody set it since, or the service did by itself. Retire the record in the service.'
        : `and the file gave it "${valueText(given)}": somebody changed it since. The record is left as it is.`;
      const message = `${field} of record ${id}, which the run created, is "${valueText(now)}", ${why}`;
      changed.push(fault('changed_meanwhile', message, { field, value: valueText(now) }));
    }
  }
  if (changed.length > 0) return end(record, 'conflict', changed, id);
  return Object.keys(set).length > 0 ? write(record, id, set, [], context) : end(record, 'unchanged', [], id);
}

function stateOf(id: number, record: Json | undefined, { matched }: Context): State {
  return { record, ours: matched.options.memory.lastWritten(id, {}, record) };
}

function write(record: WrittenRecord, id: number, set: Fields, issues: readonly Issue[], context: Context): Decision {
  return { row: { ref: { row: record.row }, key: context.keyOf(record, id), set, issues } };
}

function end(
  { row, key }: WrittenRecord,
  outcome: 'unchanged' | 'invalid' | 'conflict' | 'ambiguous',
  issues: readonly Issue[],
  id?: number,
): Decision {
  const known = id === undefined ? {} : { id };
  return { settled: { ref: { row }, key, kind: 'settled', outcome, issues, ...known } };
}

function gone(id: number, name: string): Issue {
  return fault('record_not_found', `The ${name} ${id} no longer exists: there is nothing to put back.`);
}

/** Lists of the service may need so long until they show a write. */
const RECENT_MS = 60_000;

function isRecent(run: Run): boolean {
  const undone = RunStore.existing(runFolder(run.settings.home, run.request.lineage?.undoes ?? '').store);
  const lastAt = undone?.processes.lastAt ?? 0;
  undone?.close();
  return Date.now() - lastAt < RECENT_MS;
}

/** What a row that is written says of the fields that it leaves. */
function asWarning(issue: Issue): Issue {
  return { ...issue, severity: 'warning' };
}

/**
 * Records are met by id, and reported by the key that people know them by: what is planned looks up this key. Customers,
 * which no look-up finds, go by their ids.
 */
function nameRecords({ snapshot, spec }: Matched): { keyOf: Context['keyOf']; snapshot: Snapshot } {
  const ids = new Map<string, number>();
  return {
    keyOf({ key }, id) {
      if (!spec.readPath) return String(id);
      const other = ids.get(key);
      const name = key === '' || (other !== undefined && other !== id) ? `${key} (id ${id})`.trimStart() : key;
      ids.set(name, id);
      return name;
    },
    snapshot: {
      add: (...given) => snapshot.add(...given),
      note: (...given) => snapshot.note(...given),
      holds: (id) => snapshot.holds(id),
      ids(key) {
        const id = ids.get(key);
        return id === undefined ? [] : snapshot.ids(String(id));
      },
      has(key) {
        const id = ids.get(key);
        return id !== undefined && snapshot.has(String(id));
      },
      // What is put back is looked at field by field.
      like: () => undefined,
      get: (id) => snapshot.get(id),
      get size() {
        return snapshot.size;
      },
      close: () => snapshot.close(),
    },
  };
}
