import type { Violation } from '../evidence.js';
import { type Facts, type InputRow, type Line, normal, type Stored, type Told } from '../facts.js';
import { flatStored, same, within } from '../record-form.js';

const CLAIMS = new Set(['created', 'updated', 'unchanged']);

/**
 * Contract, section 5: a row that is told to be written, or to be there, is there under the id told and holds what the
 * row says. Of several runs each has told something; the values are those of the last.
 */
export function toldIsTrue(facts: Facts): Violation[] {
  const rule = 'told-is-true';
  const found: Violation[] = [];
  const real = facts.told.filter((run) => !run.dryRun);
  for (const input of facts.rows) {
    const claims = real.flatMap((run) => {
      const line = run.byRow.get(input.row);
      return line && CLAIMS.has(line.outcome) ? [{ run, line }] : [];
    });
    const last = claims.at(-1);
    if (!last) continue;
    const record = recordOf(facts, input, last.line);
    if (typeof record === 'string') found.push({ rule, row: input.row, text: record });
    else {
      found.push(...wrongValues(facts, input, record).map((text) => ({ rule, row: input.row, text })));
      for (const { run, line } of claims) {
        const text = withoutWrite(facts, record, line) ?? idFault(run, line, record);
        if (text) found.push({ rule, row: input.row, text });
      }
    }
  }
  return found;
}

/** Which record a row speaks of at the end; a text where there is none. */
export function recordOf(facts: Facts, { key }: InputRow, line: Line): Stored | string {
  const told = line.id === '' ? undefined : facts.after.get(Number(line.id));
  const candidates = facts.afterByKey.get(key) ?? [];
  const found =
    told && (told.key === key || facts.edited(told.id, facts.evidence.keyField).length > 0) ? told : candidates[0];
  if (found) return found;
  if (line.id !== '' && (facts.evidence.removed ?? []).includes(Number(line.id))) return 'was removed by others';
  return `is told to be ${line.outcome}, and no record has the key "${key}"`;
}

function idFault(run: Told, line: Line, record: Stored): string | undefined {
  if (line.id !== '') {
    return Number(line.id) === record.id ? undefined : `the id told is ${line.id}; the record has the id ${record.id}`;
  }
  // A run that was stopped had no chance to learn the ids that the answers did not tell.
  return run.stopped || line.codes.includes('id_unknown') ? undefined : `is told to be ${line.outcome} without its id`;
}

/** A claim needs a write, unless somebody else did the same. */
function withoutWrite(
  { writesById, evidence, edited, mapped }: Facts,
  { id }: Stored,
  { outcome }: Line,
): string | undefined {
  const [method, byOthers] =
    outcome === 'created'
      ? ['POST', (evidence.inserted ?? []).includes(id)]
      : ['PUT', mapped.some((field) => edited(id, field).length > 0)];
  if (outcome === 'unchanged' || byOthers) return undefined;
  const ours = (writesById.get(id) ?? []).some(({ commit }) => (commit.method === 'POST') === (method === 'POST'));
  return ours ? undefined : `is told to be ${outcome}, and no request did it`;
}

function wrongValues(facts: Facts, input: InputRow, record: Stored): string[] {
  const { evidence } = facts;
  const wrong: string[] = [];
  for (const [heading, field] of Object.entries(evidence.columns)) {
    const cell = (input.cells.get(heading) ?? '').trim();
    const expected = expectedOf(facts, field, cell, record.id);
    if (expected === undefined || within(field, evidence.mayLose ?? [])) continue;
    for (const [part, value] of expected) {
      const held = record.flat.get(part);
      if (facts.edited(record.id, part).some((left) => same(part, left, held))) continue;
      if (agrees(part, value, held)) continue;
      wrong.push(`${part} holds "${held ?? ''}"; the row says "${value}"`);
    }
  }
  return wrong;
}

/** What the record must hold because of a cell; undefined where that cannot be said without the program's own look-ups. */
function expectedOf(
  facts: Facts,
  field: string,
  cell: string,
  id: number,
): Iterable<readonly [string, string]> | undefined {
  const { evidence, before } = facts;
  if (cell === '') {
    if (evidence.blank === 'clear') return within(field, evidence.constants ?? []) ? undefined : [[field, '']];
    const kept = before.get(id);
    if (!kept || within(field, evidence.constants ?? [])) return undefined;
    return [[field, kept.flat.get(field) ?? '']];
  }
  const stands = evidence.stands?.[field]?.[cell];
  if (stands !== undefined) return flatStored({ [field]: stands });
  return [[field, cell]];
}

/** Text is compared as it is seen; a number in a cell may carry a sign of currency or separators. */
function agrees(field: string, wanted: string, held: string | undefined): boolean {
  const stored = held ?? '';
  if (normal(wanted) === normal(stored) || same(field, wanted, stored)) return true;
  const plain = wanted.replace(/[$€£\s]/g, '').replace(/,(?=\d{3}\b)/g, '');
  return /^-?\d+(\.\d+)?$/.test(plain) && same(field, plain, stored);
}

/** Every id that is told is that of the record with the row's key, in every line and in whatever outcome. */
export function idsKnown(facts: Facts): Violation[] {
  const rule = 'ids-known';
  return facts.told.flatMap((run) =>
    run.lines.flatMap((line) => {
      if (line.id === '') return [];
      const id = Number(line.id);
      const record = facts.after.get(id) ?? facts.before.get(id);
      if (!record) return [{ rule, row: line.row, text: `the id told, ${line.id}, is no record's` }];
      const key = facts.rowByNumber.get(line.row)?.key;
      const moved = facts.edited(id, facts.evidence.keyField).length > 0;
      if (key === undefined || record.key === key || moved) return [];
      return [
        { rule, row: line.row, text: `the id told, ${line.id}, is that of "${record.key}"; the row is "${key}"` },
      ];
    }),
  );
}
