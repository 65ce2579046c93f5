import type { Violation } from '../evidence.js';
import { type Facts, type Line, normal, type Told } from '../facts.js';
import { flatBody, isRecord, same } from '../record-form.js';
import { GOOD } from './outcomes.js';

/** Contract, section 6: each report tells of the same rows, and the same of them. */
export function reportsAgree(facts: Facts): Violation[] {
  return facts.told.flatMap((run) => [
    ...keysAgree(facts, run),
    ...faultsAgree(run),
    ...planAgrees(run),
    ...rejectedAgrees(facts, run),
  ]);
}

const RULE = 'reports-agree';

/** Text that a spreadsheet program would run is marked in reports: the mark is not part of the key. */
function keysAgree({ rows }: Facts, run: Told): Violation[] {
  return rows.flatMap(({ row, key }) => {
    const told = run.byRow.get(row)?.key;
    // A row that was not read, or whose key is faulty, is told without one.
    if (!told || normal(told) === key || normal(told).replace(/^'/, '') === key) return [];
    return [{ rule: RULE, row, text: `results.csv has the key "${told}"; the file has "${key}"` }];
  });
}

function faultsAgree(run: Told): Violation[] {
  const found: Violation[] = [];
  const faulty = new Set<number>();
  for (const line of run.faults ?? []) {
    const row = Number(line['row']);
    faulty.add(row);
    const result = run.byRow.get(row);
    if (!result) found.push({ rule: RULE, row, text: 'stands in faults.csv, and not in results.csv' });
    else if (!result.codes.includes(line['code'] ?? '')) {
      found.push({ rule: RULE, row, text: `faults.csv has the code ${line['code']}, results.csv has not` });
    } else if (GOOD.has(result.outcome)) {
      found.push({ rule: RULE, row, text: `ended ${result.outcome} and stands in faults.csv` });
    }
  }
  for (const { row, outcome, codes } of run.lines) {
    if (!GOOD.has(outcome) && codes.length > 0 && !faulty.has(row)) {
      found.push({ rule: RULE, row, text: `is ${outcome} (${codes.join(', ')}), and faults.csv does not say why` });
    }
  }
  return found;
}

function planAgrees(run: Told): Violation[] {
  const changed = new Map<number, string[]>();
  const found: Violation[] = [];
  for (const line of run.plan ?? []) {
    const row = Number(line['row']);
    if (!run.byRow.has(row)) found.push({ rule: RULE, row, text: 'stands in plan.csv, and not in results.csv' });
    if (line['kind'] !== 'preserved') changed.set(row, [...(changed.get(row) ?? []), line['field'] ?? '']);
  }
  for (const { row, outcome, changed: told } of run.lines) {
    const planned = changed.get(row) ?? [];
    if (outcome === 'unchanged' && planned.length > 0) {
      found.push({ rule: RULE, row, text: `is unchanged, and plan.csv changes ${planned.join(', ')}` });
    }
    if (outcome === 'updated' && [...told].sort().join() !== [...new Set(planned)].sort().join()) {
      const text = `results.csv says that ${told.join(', ')} changed, plan.csv has ${planned.join(', ')}`;
      found.push({ rule: RULE, row, text });
    }
    if (outcome === 'updated' && told.length === 0)
      found.push({ rule: RULE, row, text: 'is updated, and nothing changed' });
  }
  return found;
}

/** What a spreadsheet program would work out stands behind a mark; a signed number is a number. */
function marked(text: string | undefined): string | undefined {
  return text !== undefined && /^[=+@-]/.test(text) && !/^[+-]\d+([.,]\d+)?$/.test(text) ? `'${text}` : text;
}

function rejectedAgrees({ rowByNumber, headings }: Facts, run: Told): Violation[] {
  const found: Violation[] = [];
  const person = run.lines.filter((line) => !GOOD.has(line.outcome));
  const there = new Map((run.rejected ?? []).map((line) => [Number(line['_row']), line]));
  for (const { row, outcome } of person) {
    const line = there.get(row);
    if (!line) found.push({ rule: RULE, row, text: `is ${outcome}, and rejected.csv does not have it` });
    else if (line['_outcome'] !== outcome) {
      found.push({ rule: RULE, row, text: `is ${outcome} in results.csv and ${line['_outcome']} in rejected.csv` });
    }
  }
  const wanted = new Set(person.map((line: Line) => line.row));
  for (const [row, line] of there) {
    if (!wanted.has(row)) found.push({ rule: RULE, row, text: 'ended well and stands in rejected.csv' });
    const input = rowByNumber.get(row);
    for (const heading of headings) {
      if (heading.startsWith('_') || input?.ragged) continue;
      if (line[heading] === marked(input?.cells.get(heading))) continue;
      found.push({ rule: RULE, row, text: `rejected.csv has other text under "${heading}" than the file` });
    }
  }
  return found;
}

/** Contract, section 6: before.ndjson holds every record that was updated as it was just before. */
export function beforeKept(facts: Facts): Violation[] {
  const rule = 'before-kept';
  return facts.told.flatMap((run) => {
    const found: Violation[] = [];
    const kept = new Map(run.before.map((entry) => [Number(String(entry['row'])), entry]));
    if (kept.size !== run.before.length) found.push({ rule, text: 'before.ndjson has a row twice' });
    for (const { row, outcome, id } of run.lines) {
      const entry = kept.get(row);
      if (outcome !== 'updated' || run.dryRun) {
        if (entry && outcome !== 'unknown' && outcome !== 'conflict') {
          found.push({ rule, row, text: `is ${outcome} and stands in before.ndjson` });
        }
        continue;
      }
      if (!entry) found.push({ rule, row, text: 'is updated, and before.ndjson does not have it' });
      else found.push(...otherRecord(facts, Number(id), entry['record']).map((text) => ({ rule, row, text })));
    }
    return found;
  });
}

/** Members that the read form spells like the store, and shows as they are: enough to know the record again. */
function otherRecord(facts: Facts, id: number, record: unknown): string[] {
  if (!isRecord(record)) return ['before.ndjson holds no record'];
  const shown = flatBody(record);
  if (shown.get('id') !== String(id)) return [`before.ndjson has the record ${shown.get('id')} for ${id}`];
  const was = facts.before.get(id);
  if (!was) return [];
  const earlier = (facts.writesById.get(id) ?? []).map((write) => write.body);
  return [...shown.keys()].flatMap((field) => {
    if (!PLAIN.test(field) || OTHER_FORM.has(field)) return [];
    const candidates = [was.flat, ...(facts.told.length > 1 ? earlier : [])].map((flat) => flat.get(field));
    candidates.push(...facts.edited(id, field));
    const told = shown.get(field);
    // Reads may show dates in another form than the one they are stored in.
    if (field.endsWith('_date') && !/^\d{4}-\d\d-\d\d$/.test(told ?? '')) return [];
    if (candidates.some((one) => same(field, one, told))) return [];
    return [`before.ndjson has ${field} = "${told}" for ${id}, which held "${was.flat.get(field) ?? ''}"`];
  });
}

const PLAIN = /^[a-z_0-9]+$/;

/** Shown otherwise than they are stored. */
const OTHER_FORM = new Set([
  'country',
  'business_country',
  'region',
  'usage_status',
  'asset_hardware_model',
  'business_entity',
  'supplier_name',
  'alert',
  'modified_date',
  'created_date',
]);
