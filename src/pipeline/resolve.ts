import { crc32 } from 'node:zlib';
import { fault, type Issue } from '../model/issue.js';
import type { RowRef } from '../model/row.js';
import { isRef, normaliseKey, type Value, valueText } from '../model/value.js';
import type { ReferenceTarget } from '../resources/spec.js';
import { type After, referenceCycle } from './after.js';
import type { Directory, Lookup } from './directory.js';
import { keyOf, keySpelling } from './key.js';
import type { Mapping } from './map.js';
import { isNamed, type Named, type StagedRow } from './staged.js';

/** A row whose names have become ids; it knows its key and whether an earlier row has the same. */
export interface ResolvedRow {
  readonly ref: RowRef;
  readonly key: string;
  readonly set: Readonly<Record<string, Value>>;
  readonly issues: readonly Issue[];
  /** Cells as they stand in the file, by field, where the value does not tell; as in `StagedRow`. */
  readonly cells?: Readonly<Record<string, string>>;
  /** CSV: texts with the apostrophe that reading took off, by field; as in `StagedRow`. */
  readonly escaped?: Readonly<Record<string, string>>;
  /** An earlier row of the file with the same key. */
  readonly duplicateOf?: number;
  /** A row of this file that must be written first, because this one refers to it. */
  readonly after?: After;
}

const WHAT: Record<ReferenceTarget, string> = {
  'asset-owner': 'asset owner',
  'business-unit': 'business unit',
  category: 'category',
  contract: 'contract number',
  customer: 'customer',
  'hardware-model': 'hardware model',
  make: 'make',
  supplier: 'supplier',
  'usage-status': 'usage status',
};

const SUBCATEGORY = 'category.subcategory';

/** Whether rows may hold names that have to be looked up; what `NameCollector` finds in the rows of others is nothing. */
export function looksUp({ fields, specOf }: Pick<Mapping, 'fields' | 'specOf'>): boolean {
  return fields.some((field) => field === SUBCATEGORY || specOf(field)?.type.kind === 'reference');
}

/** Collects the names a file uses while its rows are staged. */
export class NameCollector {
  readonly names = new Map<ReferenceTarget, Set<string>>();

  add(row: StagedRow): void {
    for (const field of Object.keys(row.set)) {
      const value = row.set[field];
      if (isNamed(value)) this.need(value.named).add(normaliseKey(value.name));
      // The subcategory is checked against its category, and an update needs the name of a usage status.
      else if (field === SUBCATEGORY && value) this.need('category');
      else if (field === 'usage_status' && isRef(value)) this.need('usage-status');
    }
  }

  private need(target: ReferenceTarget): Set<string> {
    const set = this.names.get(target) ?? new Set<string>();
    this.names.set(target, set);
    return set;
  }
}

export interface ResolveOptions {
  readonly directory: Directory;
  readonly key: readonly string[];
  readonly columnOf: (field: string) => string | undefined;
  /** No row holds a name: `looksUp` says so. */
  readonly nameless?: boolean;
  /** The values of a row as one text, the same for rows that set the same. */
  readonly textOf?: (set: StagedRow['set']) => string;
  /** Contracts only: row of this file by contract number. */
  readonly rowOfNumber?: ReadonlyMap<string, number>;
  /** Of files that may have millions of rows; else they stay in memory. */
  readonly firstRows?: FirstRows;
}

/** A row that has a key. */
export interface FirstRow extends Earlier {
  readonly key: string;
  /** The key as the row has it. */
  readonly spelling: string;
}

/** The first row of each key. */
export interface FirstRows {
  /** Notes a row. Returns the first row of its key where that is another one. */
  note(row: FirstRow): Earlier | undefined;
}

/** Makes a resolver that sees the rows in file order: duplicates are told by what it has seen before. */
export function makeResolver(options: ResolveOptions): (row: StagedRow) => ResolvedRow {
  const { textOf = JSON.stringify, nameless = false, firstRows = inMemory() } = options;

  /** Its key, and the fault of a row whose key an earlier one has. */
  function withKey(row: WithIds): ResolvedRow {
    const key = keyOf(row.set, options.key);
    if (key === '') return { ...row, key };
    const content = digest(textOf(row.set));
    const first = firstRows.note({ key, spelling: keySpelling(row.set, options.key), row: row.ref.row, content });
    if (first === undefined) return { ...row, key };
    const issues = [...row.issues, duplicateFault(first, content, row, options)];
    return { ...row, key, issues, duplicateOf: first.row };
  }

  function withIds(row: StagedRow): WithIds {
    const issues: Issue[] = [...row.issues];
    const set: Record<string, Value> = {};
    let after: ResolvedRow['after'];
    for (const field of Object.keys(row.set)) {
      const value = row.set[field];
      if (value === undefined) continue;
      if (!isNamed(value)) {
        set[field] = value;
        continue;
      }
      if (field === 'parent_contract' && isOwnNumber(value, row)) {
        issues.push(referenceCycle(row.ref.row, { field, row: row.ref.row, ...at(value) }));
        continue;
      }
      const found = look(value, row, options.directory);
      if (found.kind === 'found') {
        set[field] = found.ref;
        continue;
      }
      const parent =
        field === 'parent_contract' && found.kind === 'missing' && options.rowOfNumber?.get(normaliseKey(value.name));
      if (parent) after = { field, row: parent, ...at(value) };
      else issues.push(lookupFault(value, field, found));
    }
    const subcategory = checkSubcategory(set, options, issues);
    const cells = subcategory === undefined ? row.cells : { [SUBCATEGORY]: subcategory, ...row.cells };
    return {
      ref: row.ref,
      set,
      issues,
      ...(cells ? { cells } : {}),
      ...(row.escaped ? { escaped: row.escaped } : {}),
      ...(after ? { after } : {}),
    };
  }

  return (row) => withKey(nameless ? (row as WithIds) : withIds(row));
}

function inMemory(): FirstRows {
  const rows = new Map<string, Earlier>();
  return {
    note(row) {
      const earlier = rows.get(row.key);
      if (!earlier) rows.set(row.key, row);
      return earlier;
    },
  };
}

type WithIds = Omit<ResolvedRow, 'key' | 'duplicateOf'>;

function isOwnNumber(value: Named, row: StagedRow): boolean {
  const number = row.set['number'];
  return typeof number === 'string' && normaliseKey(number) === normaliseKey(value.name);
}

function look(value: Named, row: StagedRow, directory: Directory): Lookup {
  if (value.named !== 'category') return directory.lookup(value.named, value.name);
  const subcategory = row.set[SUBCATEGORY];
  return directory.category(value.name, typeof subcategory === 'string' ? subcategory : undefined);
}

function lookupFault(value: Named, field: string, found: Exclude<Lookup, { kind: 'found' }>): Issue {
  const what = WHAT[value.named];
  const where = { field, value: value.name, ...at(value) };
  if (found.kind === 'ambiguous') {
    return fault(
      'reference_ambiguous',
      `Several records have the ${what} "${value.name}": ids ${found.ids.join(', ')}. Write the id instead, e.g. \`id:${found.ids[0]}\`.`,
      where,
    );
  }
  const hint = found.nearest.length ? ` Did you mean ${found.nearest.map((name) => `"${name}"`).join(' or ')}?` : '';
  const unlisted =
    value.named === 'customer' ||
    value.named === 'business-unit' ||
    value.named === 'hardware-model' ||
    value.named === 'make';
  const next = unlisted
    ? ` The service has no list of these: the name is known once a record that was read or written uses it. Write the id instead, e.g. \`id:17\`.`
    : ` Correct the cell, or create the ${what} in the service first.`;
  return fault('reference_not_found', `There is no ${what} "${value.name}".${hint}${next}`, where);
}

function at({ column }: Named): { readonly column?: string } {
  return column === undefined ? {} : { column };
}

/** Puts the category's own spelling in; the answer is the row's where that is another. */
function checkSubcategory(set: Record<string, Value>, options: ResolveOptions, issues: Issue[]): string | undefined {
  const subcategory = set[SUBCATEGORY];
  const category = set['category.name'];
  if (typeof subcategory !== 'string' || subcategory === '' || !isRef(category)) return undefined;
  const known = options.directory.subcategories(category.id);
  if (!known) return undefined;
  const wanted = normaliseKey(subcategory);
  const exact = known.find((name) => normaliseKey(name) === wanted);
  if (exact !== undefined) {
    set[SUBCATEGORY] = exact;
    return exact === subcategory ? undefined : subcategory;
  }
  const column = options.columnOf(SUBCATEGORY);
  const list = known.length ? `It has ${known.map((name) => `"${name}"`).join(', ')}.` : 'It has none.';
  issues.push(
    fault(
      'reference_not_found',
      `The category ${category.name ? `"${category.name}"` : category.id} has no subcategory "${subcategory}". ${list}`,
      { field: SUBCATEGORY, value: subcategory, ...(column === undefined ? {} : { column }) },
    ),
  );
  return undefined;
}

/** What becomes of a row that is left in the file: the next import knows nothing of the earlier row. */
const ALONE =
  'Imported again by itself, this row would overwrite that record: leave it out unless it is the right one.';

/** The first row of a key; `content` stands for all that it sets. */
export interface Earlier {
  readonly row: number;
  readonly content: number;
}

function duplicateFault(
  earlier: Earlier,
  content: number,
  { set, cells }: Pick<ResolvedRow, 'set' | 'cells'>,
  options: ResolveOptions,
): Issue {
  const field = options.key[0] ?? '';
  const column = options.columnOf(field);
  const value = cells?.[field] ?? valueText(set[field]);
  const at = { field, value, ...(column === undefined ? {} : { column }) };
  return content === earlier.content
    ? fault('duplicate_row', `Row ${earlier.row} is the same in every mapped column. Delete one of them.`, at)
    : fault(
        'duplicate_key',
        `Row ${earlier.row} has the same key with other values. Only row ${earlier.row} is handled; decide which one is right. ${ALONE}`,
        at,
      );
}

/** Checksum and length: enough to word a message, a fraction of the memory of the row. */
function digest(text: string): number {
  return crc32(text) + (text.length % 2 ** 20) * 2 ** 32;
}
