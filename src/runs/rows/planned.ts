import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { Change, FieldDiff } from '../../model/change.js';
import { fault } from '../../model/issue.js';
import { type Fields, isRef, type Value, valueText } from '../../model/value.js';
import { changesOf } from '../../pipeline/plan/merge.js';
import type { Snapshot } from '../../service/port.js';
import { lineWriter, readLines } from './row-files.js';

/** A write that a plan holds; one line of the plan's file. */
interface PlannedWrite {
  readonly row: number;
  readonly op: 'create' | 'update';
  readonly key: string;
  /** Updates: the record. */
  readonly id?: number;
  /** Stands for everything the write sets, and for the values that it was planned on. */
  readonly mark: string;
  /** Fields that refer to records which were still to be created: in the mark they stand by their names. */
  readonly born?: readonly string[];
}

/** The writes of a plan by row; rows that a plan leaves alone are not in it. */
export type Planned = ReadonlyMap<number, PlannedWrite>;

/** Set by the run itself once the row is written that it refers to. */
const PARENT = 'parent_contract';

/**
 * The write that a change comes to; undefined for a change that sends nothing. That a row refers to the record of another row
 * of the file is no part of the mark: when it was planned that record may not have been there.
 */
function plannedWrite(
  change: Change,
  snapshot: Pick<Snapshot, 'hasId'>,
  born: readonly string[] = [],
): PlannedWrite | undefined {
  if (change.kind !== 'create' && change.kind !== 'update') return undefined;
  const parent = change.kind === 'create' ? change.fields[PARENT] : newParent(change.diff);
  // The snapshot has the records that rows of the file mean.
  return writeOf(change, isRef(parent) && snapshot.hasId(parent.id), born);
}

function newParent(diff: readonly FieldDiff[]): Value | undefined {
  return changesOf(diff).find(({ field }) => field === PARENT)?.new;
}

function writeOf(
  change: Extract<Change, { readonly kind: 'create' | 'update' }>,
  withoutParent: boolean,
  then: readonly string[],
): PlannedWrite {
  const { ref, key } = change;
  const born: string[] = [];
  const named = (field: string, value: Value): Value => {
    if (!isRef(value) || (value.id >= 0 && !then.includes(field))) return value;
    born.push(field);
    return value.name ?? '';
  };
  const about = () => ({ row: ref.row, key, ...(born.length > 0 ? { born } : {}) });
  if (change.kind === 'create') {
    const { [PARENT]: _, ...others } = withoutParent ? change.fields : {};
    const fields: Fields = withoutParent ? others : change.fields;
    const byName = Object.values(fields).some(isRef)
      ? Object.fromEntries(Object.entries(fields).map(([field, value]) => [field, named(field, value)]))
      : fields;
    return { op: 'create', mark: markOf(byName), ...about() };
  }
  const changes: (readonly string[])[] = [];
  for (const { field, old, new: value } of changesOf(change.diff)) {
    if (!withoutParent || field !== PARENT)
      changes.push([field, valueText(old), valueText(named(field, value ?? null))]);
  }
  return { op: 'update', id: change.id, mark: markOf([change.id, changes]), ...about() };
}

function markOf(content: unknown): string {
  return hash('sha256', JSON.stringify(content), 'base64url').slice(0, 16);
}

/** Writes a plan's file as the rows are planned; it appears complete or not at all. */
export function planWriter(path: string, snapshot: Pick<Snapshot, 'hasId'>) {
  const out = lineWriter(path, { durable: true });
  return {
    add(change: Change): void {
      const write = plannedWrite(change, snapshot);
      if (write) out.write(`${JSON.stringify(write)}\n`);
    },
    close: out.close,
  };
}

/** Undefined where the run was not planned to its end. */
export async function readPlan(path: string): Promise<Planned | undefined> {
  if (!existsSync(path)) return undefined;
  const planned = new Map<number, PlannedWrite>();
  for await (const line of readLines(path)) {
    const one = JSON.parse(line) as PlannedWrite;
    planned.set(one.row, one);
  }
  return planned;
}

/**
 * Holds a row against the plan that was made for it: what would now be written otherwise than planned is not written.
 * Contract, section 5 (`conflict`).
 */
export function checkAgainstPlan(change: Change, planned: Planned, snapshot: Pick<Snapshot, 'hasId'>): Change {
  const then = planned.get(change.ref.row);
  const now = plannedWrite(change, snapshot, then?.born);
  if (!now) return change;
  // Whoever writes it finds that the row it refers to was not written.
  if (!then && 'after' in change && change.after && !planned.has(change.after.row)) return change;
  if (then && then.op === now.op && then.mark === now.mark) return change;
  const { ref, key, issues } = change;
  const id = 'id' in change ? change.id : undefined;
  const message = `${id === undefined ? 'The records' : `Record ${id}`}, or what the row refers to, changed after this row was planned: ${planDifference(then, now)}. Nothing was sent. Run the file again to plan it anew.`;
  return {
    ref,
    key,
    kind: 'settled',
    outcome: 'conflict',
    issues: [...issues, fault('changed_meanwhile', message)],
    ...(id === undefined ? {} : { id }),
    ...('diff' in change && change.diff ? { diff: change.diff } : {}),
  };
}

function planDifference(then: PlannedWrite | undefined, now: PlannedWrite): string {
  const what = (one: PlannedWrite) => (one.op === 'create' ? 'a new record' : `an update of record ${one.id}`);
  if (!then) return `it was to be left alone, and would now be ${what(now)}`;
  if (then.op !== now.op || then.id !== now.id) return `the plan was ${what(then)}, and it would now be ${what(now)}`;
  return 'a field would now get another value, or lose another one';
}
