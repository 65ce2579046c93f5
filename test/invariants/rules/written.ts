import type { Violation } from '../evidence.js';
import { type Facts, normal, type Write } from '../facts.js';

/** A record that is there twice, or was asked for twice. Reliability: "no record is written twice". */
export function noDouble(facts: Facts): Violation[] {
  const { evidence, rowsByKey } = facts;
  const rule = 'no-double';
  const found: Violation[] = [];
  const row = (key: string) => ({ row: rowsByKey.get(key)?.[0]?.row ?? 0 });
  const others = new Set(evidence.inserted ?? []);
  for (const [key, records] of facts.afterByKey) {
    if (key === '') continue;
    const allowed = Math.max(
      1,
      (facts.beforeByKey.get(key)?.length ?? 0) + records.filter(({ id }) => others.has(id)).length,
    );
    if (records.length > allowed) {
      found.push({
        rule,
        ...row(key),
        text: `"${key}" is there ${records.length} times: ${records.map(({ id }) => id).join(', ')}`,
      });
    }
  }
  const removed = new Set(evidence.removed ?? []);
  for (const [key, writes] of facts.writesByKey) {
    const posts = writes.filter(({ commit, id }) => commit.method === 'POST' && !removed.has(id));
    if (posts.length > 1) found.push({ rule, ...row(key), text: `"${key}" was created by ${posts.length} requests` });
    if (evidence.open === 0) found.push(...repeatedUpdates(facts, key, writes));
  }
  return found;
}

/** Where every answer arrived there is no reason to send an update again. */
function repeatedUpdates({ told, rowsByKey }: Facts, key: string, writes: readonly Write[]): Violation[] {
  const puts = writes.filter(({ commit }) => commit.method !== 'POST').length;
  const rows = rowsByKey.get(key) ?? [];
  const runs = told.filter((run) => !run.dryRun).length;
  // A row that sets values of several kinds may do so once in each run.
  if (puts <= Math.max(1, runs)) return [];
  return [
    { rule: 'no-double', row: rows[0]?.row ?? 0, text: `"${key}" was updated by ${puts} requests in ${runs} runs` },
  ];
}

/** Every write belongs to a row of the file, its company is the run's, and a dry run writes nothing. */
export function nothingElseWritten(facts: Facts): Violation[] {
  const { evidence, told, rowsByKey } = facts;
  const rule = 'nothing-else-written';
  const found: Violation[] = [];
  const companies = new Set(told.map((run) => String(run.summary['company'])));
  const rehearsed = evidence.dryRun ?? (told.length > 0 && told.every((run) => run.dryRun));
  for (const write of facts.writes) {
    const { commit, key, id, company } = write;
    const what = `${commit.method} of ${commit.resource} ${id} ("${key}")`;
    if (rehearsed) found.push({ rule, text: `${what} in a dry run` });
    if (commit.resource !== evidence.resource)
      found.push({ rule, text: `${what}: the job writes ${evidence.resource}` });
    else if (!rowsByKey.has(key)) found.push({ rule, text: `${what} belongs to no row of the file` });
    if (companies.size > 0 && !companies.has(company))
      found.push({ rule, text: `${what} names the company ${company}` });
    const asked = normal(write.body.get(evidence.keyField) ?? '');
    if (commit.method === 'PUT' && asked !== key && !renamed(facts, id)) {
      found.push({ rule, text: `${what} carries the key "${asked}"` });
    }
  }
  const ours = new Set(facts.writes.filter(({ commit }) => commit.method === 'POST').map(({ id }) => id));
  const others = new Set(evidence.inserted ?? []);
  for (const { id, key } of facts.after.values()) {
    if (!facts.before.has(id) && !ours.has(id) && !others.has(id)) {
      found.push({ rule, text: `the record ${id} ("${key}") was made by nobody` });
    }
  }
  const removed = new Set(evidence.removed ?? []);
  for (const { id, key } of facts.before.values()) {
    if (!facts.after.has(id) && !removed.has(id)) found.push({ rule, text: `the record ${id} ("${key}") is gone` });
  }
  return found;
}

const renamed = ({ edited, evidence }: Facts, id: number) => edited(id, evidence.keyField).length > 0;

/** Contract, section 5: `unchanged` means that nothing was sent. */
export function unchangedSendsNothing(facts: Facts): Violation[] {
  return silent(facts, 'unchanged-sends-nothing', new Set(['unchanged']), 'is unchanged');
}

/** Outcomes that say the row was not written: no request of ours for its key may have taken effect. */
const NOT_WRITTEN = new Set([
  'failed',
  'rejected',
  'not_attempted',
  'invalid',
  'skipped',
  'duplicate',
  'at_risk',
  'conflict',
  'ambiguous',
]);

export function notWritten(facts: Facts): Violation[] {
  return silent(facts, 'told-is-true', NOT_WRITTEN, 'is told not to be written');
}

/** Rows that in all runs end so, and whose key no other row was to write: there is no commit. */
function silent(facts: Facts, rule: string, kinds: ReadonlySet<string>, what: string): Violation[] {
  const { told, rowsByKey, writesByKey, evidence } = facts;
  const real = told.filter((run) => !run.dryRun);
  if (real.length === 0) return [];
  const found: Violation[] = [];
  for (const [key, rows] of rowsByKey) {
    const writes = writesByKey.get(key) ?? [];
    if (writes.length === 0) continue;
    const outcomes = rows.flatMap(({ row }) => real.map((run) => run.byRow.get(row)?.outcome ?? ''));
    if (!outcomes.some((outcome) => kinds.has(outcome))) continue;
    if (outcomes.some((outcome) => wrote(outcome, evidence.open))) continue;
    const row = rows[0]?.row ?? 0;
    found.push({
      rule,
      row,
      text: `"${key}" ${what} (${outcomes.join(', ')}), and ${writes.length} requests took effect`,
    });
  }
  return found;
}

/** Contract, section 5: of several records that have a row's key none is written. */
export function ambiguousIsLeft(facts: Facts): Violation[] {
  return facts.told.flatMap((run) =>
    run.lines.flatMap(({ row, outcome }) => {
      const key = facts.rowByNumber.get(row)?.key ?? '';
      const before = key === '' ? [] : (facts.beforeByKey.get(key) ?? []);
      if (before.length < 2 || (outcome !== 'created' && outcome !== 'updated')) return [];
      // Others may have left one of them, before the row was looked at.
      const removed = new Set(facts.evidence.removed ?? []);
      const sure = before.filter(({ id }) => !removed.has(id) && !renamed(facts, id));
      if (sure.length < 2) return [];
      const text = `is ${outcome}, and ${before.length} records had its key: ${before.map(({ id }) => id).join(', ')}`;
      return [{ rule: 'ambiguous-is-left', row, text }];
    }),
  );
}

/** A write whose answer was lost may end in a conflict: the record was looked at, and somebody else had been there, too. */
const wrote = (outcome: string, open: number | undefined) =>
  ['created', 'updated', 'unknown'].includes(outcome) ||
  (open !== 0 && (outcome === 'conflict' || outcome === 'ambiguous'));
