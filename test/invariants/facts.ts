import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse as parseCsv } from 'csv-parse/sync';
import { parse as parseJson } from 'lossless-json';
import type { Commit } from '../../src/sandbox/service.js';
import type { Evidence } from './evidence.js';
import { type Flat, flatBody, flatStored, isRecord, storedName, within } from './record-form.js';

/** A data row of the file. */
export interface InputRow {
  readonly row: number;
  /** As it is compared: trimmed, NFKC. Empty: the row has none. */
  readonly key: string;
  /** Text by heading. */
  readonly cells: ReadonlyMap<string, string>;
  readonly ragged: boolean;
}

/** A write that took effect, with its body read. */
export interface Write {
  readonly commit: Commit;
  readonly id: number;
  readonly key: string;
  readonly company: string;
  readonly body: Flat;
}

export interface Line {
  readonly row: number;
  readonly outcome: string;
  readonly key: string;
  readonly id: string;
  readonly changed: readonly string[];
  readonly codes: readonly string[];
  readonly message: string;
}

type Table = readonly Readonly<Record<string, string>>[];

/** What one run told. */
export interface Told {
  readonly folder: string;
  readonly summary: Readonly<Record<string, unknown>>;
  readonly dryRun: boolean;
  readonly stopped: boolean;
  readonly lines: readonly Line[];
  readonly byRow: ReadonlyMap<number, Line>;
  readonly faults: Table | undefined;
  readonly plan: Table | undefined;
  readonly rejected: Table | undefined;
  readonly before: readonly Readonly<Record<string, unknown>>[];
}

export interface Stored {
  readonly id: number;
  readonly key: string;
  readonly flat: Flat;
}

/** The evidence, read and put in order. */
export interface Facts {
  readonly evidence: Evidence;
  readonly rows: readonly InputRow[];
  readonly rowByNumber: ReadonlyMap<number, InputRow>;
  readonly rowsByKey: ReadonlyMap<string, readonly InputRow[]>;
  readonly headings: readonly string[];
  readonly before: ReadonlyMap<number, Stored>;
  readonly after: ReadonlyMap<number, Stored>;
  readonly beforeByKey: ReadonlyMap<string, readonly Stored[]>;
  readonly afterByKey: ReadonlyMap<string, readonly Stored[]>;
  readonly writes: readonly Write[];
  readonly writesByKey: ReadonlyMap<string, readonly Write[]>;
  readonly writesById: ReadonlyMap<number, readonly Write[]>;
  readonly told: readonly Told[];
  /** Stored fields that a row may change. */
  readonly mapped: readonly string[];
  /** What others left in a field of a record. */
  edited(id: number, field: string): readonly (string | undefined)[];
}

/** How keys are compared (contract, section 7): Unicode NFKC, trimmed; inner blanks and case count. */
export const normal = (text: string) => text.normalize('NFKC').trim();

export async function gather(evidence: Evidence): Promise<Facts> {
  const told = await Promise.all(evidence.runs.map(readTold));
  const { headings, rows } = await readInput(evidence, told[0]);
  const stored = (records: Evidence['before']) =>
    new Map(
      records.map((raw) => {
        const flat = flatStored(raw);
        const id = Number(raw['id']);
        return [id, { id, flat, key: normal(flat.get(evidence.keyField) ?? '') }];
      }),
    );
  const [before, after] = [stored(evidence.before), stored(evidence.after)];
  const writes = readWrites(evidence, before, after);
  const edits = grouped(evidence.edits ?? [], (edit) => edit.id);
  return {
    evidence,
    rows,
    rowByNumber: new Map(rows.map((row) => [row.row, row])),
    rowsByKey: grouped(
      rows.filter((row) => row.key !== ''),
      (row) => row.key,
    ),
    headings,
    before,
    after,
    beforeByKey: grouped([...before.values()], (one) => one.key),
    afterByKey: grouped([...after.values()], (one) => one.key),
    writes,
    writesByKey: grouped(writes, (write) => write.key),
    writesById: grouped(writes, (write) => write.id),
    told,
    mapped: [...Object.values(evidence.columns), ...(evidence.constants ?? [])],
    edited: (id, field) =>
      (edits.get(id) ?? [])
        .map((edit) => ({ named: Object.keys(edit.changes).map(storedName), flat: flatBody(edit.changes) }))
        .filter(({ named }) => within(field, named))
        .map(({ flat }) => flat.get(field)),
  };
}

function grouped<T, K>(items: readonly T[], by: (item: T) => K): ReadonlyMap<K, readonly T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const group = groups.get(by(item));
    if (group) group.push(item);
    else groups.set(by(item), [item]);
  }
  return groups;
}

function readWrites(
  evidence: Evidence,
  before: ReadonlyMap<number, Stored>,
  after: ReadonlyMap<number, Stored>,
): Write[] {
  const keys = new Map([...after, ...before].map(([id, { key }]) => [id, key]));
  return evidence.commits.map((commit) => {
    const parsed = parseJson(commit.body ?? '{}');
    const body = flatBody(isRecord(parsed) ? parsed : {});
    const asked = normal(body.get(evidence.keyField) ?? '');
    const known = commit.resource === evidence.resource && commit.method !== 'POST' ? keys.get(commit.id) : undefined;
    const key = known ?? asked;
    keys.set(commit.id, key);
    return { commit, id: commit.id, key, body, company: body.get('company') ?? '' };
  });
}

/** Row 1 is the heading of a plain file; a line break inside quotes starts no row, a blank row keeps its number. */
async function readInput({ input, columns, keyField }: Evidence, told: Told | undefined) {
  const source = told?.summary['source'];
  const headingRow = Number((isRecord(source) && source['header_row']) || 1);
  const records = parseCsv(await readFile(input), {
    bom: true,
    relax_column_count: true,
    relax_quotes: true,
    delimiter: delimiterOf(told?.summary),
  }) as string[][];
  const headings = (records[headingRow - 1] ?? []).map((heading) => heading.trim());
  const keyHeadings = Object.keys(columns).filter((heading) => columns[heading] === keyField);
  const rows: InputRow[] = [];
  for (const [at, cells] of records.entries()) {
    if (at < headingRow || cells.every((cell) => cell.trim() === '')) continue;
    const byHeading = new Map(headings.map((heading, column) => [heading, cells[column] ?? '']));
    const key = normal(byHeading.get(keyHeadings[0] ?? '') ?? '');
    rows.push({ row: at + 1, key, cells: byHeading, ragged: cells.length !== headings.length });
  }
  return { headings, rows };
}

export async function readTold(folder: string): Promise<Told> {
  const summary = parseJson(await readFile(join(folder, 'summary.json'), 'utf8'), undefined, Number);
  if (!isRecord(summary)) throw new Error(`${folder}: summary.json is no object.`);
  const lines = (table(folder, 'results.csv') ?? []).map((line) => ({
    row: Number(line['row']),
    outcome: line['outcome'] ?? '',
    key: line['key'] ?? '',
    id: line['id'] ?? '',
    changed: listed(line['changed_fields']),
    codes: listed(line['codes']),
    message: line['message'] ?? '',
  }));
  const before = existsSync(join(folder, 'before.ndjson')) ? await readFile(join(folder, 'before.ndjson'), 'utf8') : '';
  return {
    folder,
    summary,
    dryRun: summary['dry_run'] === true,
    stopped: ['interrupted', 'failed', 'braked'].includes(String(summary['status'])),
    lines,
    byRow: new Map(lines.map((line) => [line.row, line])),
    faults: table(folder, 'faults.csv'),
    plan: table(folder, 'plan.csv'),
    rejected: table(folder, 'rejected.csv', delimiterOf(summary)),
    before: before.split('\n').flatMap((line) => {
      const entry = line === '' ? undefined : parseJson(line);
      return isRecord(entry) ? [entry] : [];
    }),
  };
}

function delimiterOf(summary: Told['summary'] | undefined): string {
  const source = summary?.['source'];
  return isRecord(source) && typeof source['delimiter'] === 'string' ? source['delimiter'] : ',';
}

const listed = (text = '') => text.split('; ').filter((one) => one !== '');

function table(folder: string, name: string, delimiter = ','): Table | undefined {
  const path = join(folder, name);
  if (!existsSync(path)) return undefined;
  return parseCsv(readFileSync(path), {
    bom: true,
    columns: (header: string[]) => header.map((heading) => heading.trim()),
    relax_column_count: true,
    delimiter,
  }) as Record<string, string>[];
}
