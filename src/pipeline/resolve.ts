import { fault, type Issue } from '../model/issue.js';
import type { RowRef } from '../model/row.js';
import { isRef, normaliseKey, type Value } from '../model/value.js';
import type { ReferenceTarget } from '../resources/spec.js';
import { type After, referenceCycle } from './after.js';
import type { Directory, Lookup } from './directory.js';
import { keyOf } from './key.js';
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

/** Collects the names a file uses while its rows are staged. */
export class NameCollector {
  readonly names = new Map<ReferenceTarget, Set<string>>();

  add(row: StagedRow): void {
    for (const field of Object.keys(row.set)) {
      const value = row.set[field];
      if (isNamed(value)) this.need(value.named).add(normaliseKey(value.name));
      // The subcategory is checked against its category, and an update needs the name of a usage status.
      else if (field === 'category.subcategory' && value) this.need('category');
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
  /** Contracts only: row of this file by contract number. */
  readonly rowOfNumber?: ReadonlyMap<string, number>;
}

/** Makes a resolver that sees the rows in file order: duplicates are told by what it has seen before. */
export function makeResolver(options: ResolveOptions): (row: StagedRow) => ResolvedRow {
  const seen = new Map<string, { row: number; content: string }>();
  return (row) => {
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
    const cells = subcategory === undefined ? row.cells : { 'category.subcategory': subcategory, ...row.cells };
    const key = keyOf(set, options.key);
    const content = JSON.stringify(set);
    const earlier = key === '' ? undefined : seen.get(key);
    if (earlier) issues.push(duplicateFault(earlier, content, options));
    else if (key !== '') seen.set(key, { row: row.ref.row, content: digest(content) });
    return {
      ref: row.ref,
      key,
      set,
      issues,
      ...(cells ? { cells } : {}),
      ...(row.escaped ? { escaped: row.escaped } : {}),
      ...(earlier ? { duplicateOf: earlier.row } : {}),
      ...(after ? { after } : {}),
    };
  };
}

function isOwnNumber(value: Named, row: StagedRow): boolean {
  const number = row.set['number'];
  return typeof number === 'string' && normaliseKey(number) === normaliseKey(value.name);
}

function look(value: Named, row: StagedRow, directory: Directory): Lookup {
  if (value.named !== 'category') return directory.lookup(value.named, value.name);
  const subcategory = row.set['category.subcategory'];
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
  const subcategory = set['category.subcategory'];
  const category = set['category.name'];
  if (typeof subcategory !== 'string' || subcategory === '' || !isRef(category)) return undefined;
  const known = options.directory.subcategories(category.id);
  if (!known) return undefined;
  const wanted = normaliseKey(subcategory);
  const exact = known.find((name) => normaliseKey(name) === wanted);
  if (exact !== undefined) {
    set['category.subcategory'] = exact;
    return exact === subcategory ? undefined : subcategory;
  }
  const column = options.columnOf('category.subcategory');
  const list = known.length ? `It has ${known.map((name) => `"${name}"`).join(', ')}.` : 'It has none.';
  issues.push(
    fault(
      'reference_not_found',
      `The category ${category.name ? `"${category.name}"` : category.id} has no subcategory "${subcategory}". ${list}`,
      { field: 'category.subcategory', value: subcategory, ...(column === undefined ? {} : { column }) },
    ),
  );
  return undefined;
}

function duplicateFault(earlier: { row: number; content: string }, content: string, options: ResolveOptions): Issue {
  const field = options.key[0] ?? '';
  const column = options.columnOf(field);
  const at = { field, ...(column === undefined ? {} : { column }) };
  return digest(content) === earlier.content
    ? fault('duplicate_row', `Row ${earlier.row} is the same in every mapped column. Delete one of them.`, at)
    : fault(
        'duplicate_key',
        `Row ${earlier.row} has the same key with other values. Only row ${earlier.row} is handled; decide which one is right.`,
        at,
      );
}

/** 53 bits of FNV-1a over UTF-16: enough to word a message, a fraction of the memory of the row. */
function digest(text: string): string {
  let low = 0x811c9dc5;
  let high = 0x01000193;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high ^ code, 0x85ebca6b);
  }
  return `${(low >>> 0).toString(36)}${(high >>> 0).toString(36)}`;
}
