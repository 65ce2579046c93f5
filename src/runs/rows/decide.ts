import type { Change, FieldDiff } from '../../model/change.js';
import { fault } from '../../model/issue.js';
import { effectOf, heldOfCreate } from '../../pipeline/apply/stored.js';
import { keyText } from '../../pipeline/match/key.js';
import { heldBy, mergeRow } from '../../pipeline/plan/merge.js';
import { createFields, planByFingerprint, planRow } from '../../pipeline/plan/plan.js';
import { withoutRepeats } from '../../pipeline/plan/repeats.js';
import { type ResolvedRow, referenceCycle } from '../../pipeline/rows.js';
import type { Json, Readable } from '../../service/port.js';
import type { Run } from '../run/run.js';
import type { Matched } from './match.js';
import type { OpenIntent } from './past.js';
import { heldToPlan } from './planned.js';
import { storedRows, storedRowsOr } from './row-files.js';

/** Rows of one wave that are met, each as what its head alone decides, else the row; some hundred at a time. */
export function decidedOrRows(
  wave: number,
  run: Run,
  { snapshot, options }: Matched,
): AsyncGenerator<readonly (Change | ResolvedRow)[]> {
  const { past, folder } = run;
  // Rows of later waves refer to others, and where there are no records none is like its row.
  if (wave > 0 || snapshot.size === 0) return storedRows(folder.resolved);
  return storedRowsOr(folder.resolved, (head) => {
    const { row } = head.ref;
    return past.open.has(row) || past.outcomes.has(row) ? undefined : planByFingerprint(head, options);
  });
}

/**
 * Decides about one row, in the light of what an earlier process of the run may have sent for it. At once where no record
 * has to be read: a promise a row costs as much as most rows do.
 */
export function decide(row: ResolvedRow, run: Run, matched: Matched): Change | Promise<Change> {
  if (row.after && !matched.depth.has(row.ref.row)) {
    const { ref, key, after } = row;
    return { ref, key, kind: 'settled', outcome: 'invalid', issues: [...row.issues, referenceCycle(ref.row, after)] };
  }
  const intent = run.past.open.get(row.ref.row);
  const change = intent ? adopt(row, intent, matched) : planRow(row, matched.options);
  const { planned } = run;
  const { newRecords, snapshot } = matched;
  if (!planned && !newRecords) return change;
  const held = (one: Change) => {
    const now = newRecords?.held(one) ?? one;
    return planned ? heldToPlan(now, planned, snapshot) : now;
  };
  return change instanceof Promise ? change.then(held) : held(change);
}

/**
 * Decides about a row that an earlier process of the run was writing when it was cut off: the record, as it is now,
 * tells whether the request took effect.
 *
 *   create: a record with our content → created      with other content → conflict      none → planned again
 *           a customer that is not known, a row without a key → unknown: it cannot be looked up
 *   update: the new values are there → updated       neither old nor new → conflict     the old ones → planned again
 */
export async function adopt(row: ResolvedRow, intent: OpenIntent, matched: Matched): Promise<Change> {
  const settled = intent.op === 'create' ? await adoptCreate(row, matched) : await adoptUpdate(row, intent, matched);
  return settled ?? planRow(row, matched.options);
}

async function adoptCreate(row: ResolvedRow, matched: Matched): Promise<Change | undefined> {
  const { spec, known, options, snapshot } = matched;
  const fields = createFields(row);
  if (matched.match.key.length === 0) return openCreate(row, 'without a key it');
  if (!spec.readable) {
    const [id, ...others] = known.ids('customer', row.key);
    if (others.length > 0) return undefined;
    if (id !== undefined) return created(row, id);
    if (options.memory.lastWritten(undefined, fields, undefined)) return settled(row, 'created');
    return openCreate(row, 'a customer');
  }
  const ids = snapshot.ids(row.key);
  const found = ids.length === 1 && ids[0] !== undefined ? await snapshot.get(ids[0]) : undefined;
  const id = ids[0];
  if (found === undefined || id === undefined) return undefined;
  const { differing: differs, tidied } = heldOfCreate(fields, found.record, options);
  if (differs.length > 0) {
    return conflict(
      row,
      id,
      `The row was to be created, or was being created, when the run was cut off; a record with its key now exists with other values (${differs.join(', ')}). Compare record ${id} and import the row again.`,
    );
  }
  options.memory.remember(id, fields);
  return { ...created(row, id), issues: [...row.issues, ...tidied] };
}

function openCreate(row: ResolvedRow, what: string): Change {
  const issue = fault(
    'outcome_unknown',
    `The row was being created when the run was cut off, and ${what} cannot be looked up. Look in the service before importing it again.`,
  );
  return { ...settled(row, 'unknown'), issues: [...row.issues, issue] };
}

async function adoptUpdate(row: ResolvedRow, intent: OpenIntent, matched: Matched): Promise<Change | undefined> {
  const { options } = matched;
  const { id, before } = intent;
  const current = id === undefined || before === undefined ? undefined : await recordNow(id, matched);
  if (id === undefined || before === undefined || !current) return undefined;
  const ours = options.memory.lastWritten(id, row.set, before);
  const held = heldBy(before, ours, options);
  const merge = mergeRow(withoutRepeats(row, held, options).row.set, held, options);
  const effect = effectOf(merge, before, current, options);
  if (effect.kind === 'none') return undefined;
  if (effect.kind === 'taken') {
    options.memory.remember(id, merge.target);
    return { ...settled(row, 'updated'), id, diff: merge.diff, issues: [...row.issues, ...effect.tidied] };
  }
  const fields = effect.fields.join(', ');
  return conflict(
    row,
    id,
    `The row was to be updated, or was being updated, when the run was cut off; ${fields} of record ${id} now holds neither the old value nor the new one.`,
    merge.diff,
  );
}

/** The record also where it has another key by now, so that no row means it. */
async function recordNow(id: number, { spec, service, snapshot }: Matched): Promise<Json | undefined> {
  const read = await snapshot.get(id);
  if (read || !spec.readable) return read?.record;
  return service.get(spec.name as Readable, id);
}

function settled<K extends 'created' | 'updated' | 'conflict' | 'unknown'>(row: ResolvedRow, outcome: K) {
  return { ref: row.ref, key: keyText(row.key), kind: 'settled' as const, outcome, issues: row.issues };
}

function created(row: ResolvedRow, id: number): Change {
  return { ...settled(row, 'created'), id };
}

function conflict(row: ResolvedRow, id: number, text: string, diff?: readonly FieldDiff[]): Change {
  return {
    ...settled(row, 'conflict'),
    id,
    ...(diff ? { diff } : {}),
    issues: [...row.issues, fault('changed_meanwhile', text)],
  };
}
