import type { Evidence, Violation } from '../evidence.js';
import type { Facts, Write } from '../facts.js';
import { type Flat, KEPT_BY_SERVICE, same, within } from '../record-form.js';

const RULE = 'untouched';

/**
 * "No value that the row did not map is changed": judged twice, by what the records hold in the end, and by every PUT
 * body against the record as it was just before. What others left in a field may stand in either.
 */
export function untouched(facts: Facts): Violation[] {
  return [...inTheEnd(facts), ...inEveryUpdate(facts)];
}

function inTheEnd(facts: Facts): Violation[] {
  const { evidence, before, after, mapped } = facts;
  const found: Violation[] = [];
  for (const [id, was] of before) {
    const is = after.get(id);
    if (!is) continue;
    const written = facts.writesById.has(id);
    for (const field of new Set([...was.flat.keys(), ...is.flat.keys()])) {
      const [old, now] = [was.flat.get(field), is.flat.get(field)];
      if (same(field, old, now) || within(field, evidence.mayLose ?? [])) continue;
      if (facts.edited(id, field).some((left) => same(field, left, now))) continue;
      if (written && (within(field, mapped) || within(field, [evidence.keyField]))) continue;
      const text = `${field} of the record ${id} was "${old ?? ''}" and is "${now ?? ''}"`;
      found.push({ rule: RULE, row: rowOf(facts, was.key), text });
    }
  }
  return [...found, ...overwrittenEdits(facts)];
}

/** What others changed in a field that no column maps survives: fault 31. */
function overwrittenEdits(facts: Facts): Violation[] {
  const { evidence, mapped } = facts;
  const found: Violation[] = [];
  const last = new Map<string, { id: number; field: string; values: (string | undefined)[] }>();
  for (const { id, changes } of evidence.edits ?? []) {
    for (const field of Object.keys(changes)) {
      for (const part of partsOf(facts, id, field)) {
        last.set(`${id} ${part}`, { id, field: part, values: [...facts.edited(id, part)] });
      }
    }
  }
  for (const { id, field, values } of last.values()) {
    const now = facts.after.get(id);
    if (!now || within(field, mapped) || within(field, evidence.mayLose ?? [])) continue;
    const held = now.flat.get(field);
    if (values.some((value) => same(field, value, held))) continue;
    const text = `others left "${values.at(-1) ?? ''}" in ${field} of the record ${id}, and it is "${held ?? ''}"`;
    found.push({ rule: RULE, row: rowOf(facts, now.key), text });
  }
  return found;
}

function partsOf({ before, after }: Facts, id: number, field: string): string[] {
  const names = [...(before.get(id)?.flat.keys() ?? []), ...(after.get(id)?.flat.keys() ?? [])];
  const parts = [...new Set(names)].filter((name) => within(name, [field]));
  return parts.length > 0 ? parts : [field];
}

function inEveryUpdate(facts: Facts): Violation[] {
  const now = new Map([...facts.before].map(([id, { flat }]) => [id, flat]));
  const words: Words = { word: new Map(), id: new Map() };
  const found: Violation[] = [];
  for (const write of facts.writes) {
    const held = now.get(write.id) ?? facts.after.get(write.id)?.flat;
    if (write.commit.resource !== facts.evidence.resource) continue;
    if (write.commit.method === 'PUT' && held) found.push(...carriedOver(facts, write, held, words));
    now.set(write.id, write.commit.method === 'PATCH' ? new Map([...(held ?? []), ...write.body]) : taken(write, held));
  }
  return found;
}

/** The record after a write: the body, and what the service keeps itself. */
function taken({ body, commit }: Write, held: Flat | undefined): Flat {
  const next = new Map(body);
  for (const field of KEPT_BY_SERVICE) {
    const kept = held?.get(field);
    if (kept !== undefined) next.set(field, kept);
  }
  // The update body names a usage status by a word, the record by an id.
  const usage = held?.get('usage_status');
  if (commit.method === 'PUT' && usage !== undefined && next.has('usage_status')) next.set('usage_status', usage);
  return next;
}

interface Words {
  readonly word: Map<string, string>;
  readonly id: Map<string, string>;
}

function carriedOver(facts: Facts, write: Write, held: Flat, words: Words): Violation[] {
  const { evidence, mapped } = facts;
  const found: Violation[] = [];
  const fault = (text: string) => found.push({ rule: RULE, row: rowOf(facts, write.key), text });
  for (const field of new Set([...held.keys(), ...write.body.keys()])) {
    if (KEPT_BY_SERVICE.has(field) || within(field, mapped) || within(field, exempt(evidence))) continue;
    const [was, sent] = [held.get(field), write.body.get(field)];
    if (field === 'usage_status' ? sameUsage(was, sent, words) : same(field, was, sent)) continue;
    if (facts.edited(write.id, field).some((left) => same(field, left, sent))) continue;
    // The edit came after this write: what was there before it may be carried over.
    const first = facts.before.get(write.id)?.flat.get(field);
    if (facts.edited(write.id, field).length > 0 && same(field, first, sent)) continue;
    fault(`the PUT of ${write.id} carries ${field} = "${sent ?? ''}"; the record held "${was ?? ''}"`);
  }
  return found;
}

const exempt = ({ keyField, mayLose = [] }: Evidence) => [keyField, ...mayLose];

/** One word for one id, throughout. */
function sameUsage(id: string | undefined, word: string | undefined, { word: byId, id: byWord }: Words): boolean {
  if (id === undefined || word === undefined) return id === word;
  const known = byId.get(id) ?? word;
  const other = byWord.get(word) ?? id;
  byId.set(id, known);
  byWord.set(word, other);
  return known === word && other === id;
}

const rowOf = ({ rowsByKey }: Facts, key: string) => rowsByKey.get(key)?.[0]?.row ?? 0;
