import { createHash } from 'node:crypto';
import { hash53 } from '../../compact/hash-index.js';
import type { Change } from '../../model/change.js';
import { fault, type Issue, warning } from '../../model/issue.js';
import {
  isRef,
  normaliseKey,
  normaliseName,
  type Ref,
  revealHidden,
  type Value,
  valueText,
} from '../../model/value.js';
import type { FieldSpec, ReferenceTarget } from '../../resources/spec.js';
import type { Mapping } from '../map/map.js';
import { keyOf, keySpelling, keyText } from '../match/key.js';
import {
  isId,
  isNamedRef,
  isNoRecord,
  type NamedRef,
  type ResolvedRow,
  referenceCycle,
  type StagedRow,
} from '../rows.js';
import type { Directory, Lookup } from './directory.js';

/** What a cell that refers to a record holds: contracts are named by their number. */
const referenceNoun = (target: ReferenceTarget): string =>
  target === 'contract' ? 'contract number' : target.replace('-', ' ');

export const SUBCATEGORY = 'category.subcategory';

/** Whether rows may hold names that have to be looked up; what `NameCollector` finds in the rows of others is nothing. */
export function needsLookUp({ fields, specOf }: Pick<Mapping, 'fields' | 'specOf'>): boolean {
  return fields.some((field) => field === SUBCATEGORY || specOf(field)?.type.kind === 'reference');
}

/** Collects the names a file uses while its rows are staged. */
export class NameCollector {
  readonly names = new Map<ReferenceTarget, Set<string>>();

  /** `paired`: records have a subcategory beside their category. */
  constructor(private readonly paired = false) {}

  add(row: StagedRow): void {
    for (const field of Object.keys(row.set)) {
      const value = row.set[field];
      if (isNamedRef(value)) this.need(value.named).add(value.name);
      // A category and its subcategory are checked against each other, and an update needs the name of a usage status.
      else if ((field === SUBCATEGORY && value) || (field === 'category.name' && isRef(value) && this.paired))
        this.need('category');
      else if (field === 'usage_status' && isRef(value)) this.need('usage-status');
    }
  }

  private need(target: ReferenceTarget): Set<string> {
    const set = this.names.get(target) ?? new Set<string>();
    this.names.set(target, set);
    return set;
  }
}

/** Records that are created because rows refer to them. */
export interface NewRecords {
  /** What stands for a name that none bore when the run began, and what is told of it; undefined where `found` holds. */
  find(
    value: NamedRef,
    field: string,
    found: Lookup,
    directory: Directory,
  ): { readonly ref?: Ref; readonly issue: Issue } | undefined;
  /** A change that would need one that was not created is not carried out; rows that are not written tell of none. */
  withhold(change: Change): Change;
}

interface ResolveOptions {
  readonly directory: Directory;
  readonly key: readonly string[];
  readonly columnOf: (field: string) => string | undefined;
  /** For ids that a row gives: whether their record exists is looked up where its list is known. */
  readonly specOf?: (field: string) => FieldSpec | undefined;
  readonly newRecords?: NewRecords;
  /** The values of a row as one text, the same for rows that set the same. */
  readonly textOf?: (set: StagedRow['set']) => string;
  /** Contracts only: rows of this file by contract number; of more than two the first two. */
  readonly rowsOfNumber?: ReadonlyMap<string, readonly number[]>;
  /** Absent where nobody asks which rows have the same key. */
  readonly firstRows?: FirstRows;
  /** A row that equals an earlier one is skipped. */
  readonly skipRepeated?: boolean;
  /** Rows are appended, by no key: those that equal an earlier one are told by all that they set. */
  readonly append?: boolean;
}

/** A row that has a key. */
export interface FirstRow extends EarlierRow {
  readonly key: string;
  /** The key as the row has it. */
  readonly spelling: string;
}

/** The first row of each key. */
export interface FirstRows {
  /** Notes a row. Returns the first row of its key where that is another one. */
  note(row: FirstRow): EarlierRow | undefined;
  /** Of the first row of a key: an earlier one whose key only looks the same. */
  lookalikeOf(row: Pick<FirstRow, 'key' | 'row'>): LookalikeRow | undefined;
}

/** A row whose key looks like another one. */
export type LookalikeRow = Pick<FirstRow, 'key' | 'row'>;

const lacks = ({ set, issues }: Pick<ResolvedRow, 'set' | 'issues'>, at: string): boolean =>
  set[at] === undefined && issues.some(({ severity, field }) => severity === 'error' && field === at);

const isFaulty = ({ issues }: Pick<ResolvedRow, 'issues'>): boolean =>
  issues.some(({ severity }) => severity === 'error');

/** Makes a resolver that sees the rows in file order: duplicates are told by what it has seen before. */
export function makeResolver(options: ResolveOptions): (row: StagedRow) => ResolvedRow {
  const { textOf = JSON.stringify, firstRows } = options;

  /** The same for rows that set the same, and for rows at fault of which the file has the same. */
  const contentOf = (row: WithIds, { set, unread }: StagedRow): string => {
    if (isFaulty(row)) return `${textOf(set)}\n${unread}`;
    // The id of a record that another row makes is not known yet; the row is.
    return textOf(row.after ? { ...row.set, [row.after.field]: row.after.row } : row.set);
  };

  /** Its key, and the fault of a row whose key an earlier one has. */
  function withKey(row: WithIds, staged: StagedRow): ResolvedRow {
    // A part of it that cannot be read makes it none: it must not be taken for one whose part is blank.
    const key = options.key.some((field) => lacks(row, field)) ? '' : keyOf(row.set, options.key);
    if (!firstRows) return { ...row, key };
    const text = contentOf(row, staged);
    if (key === '')
      return options.append && !isNoRecord(row) ? appended({ ...row, key }, text, firstRows) : { ...row, key };
    const content = options.skipRepeated ? exactDigest(text) : hash53(text);
    const first = firstRows.note({ key, spelling: keySpelling(row.set, options.key), row: row.ref.row, content });
    if (first === undefined) {
      const lookalike = firstRows.lookalikeOf({ key, row: row.ref.row });
      if (!lookalike) return { ...row, key };
      const shown = `row ${lookalike.row}, "${revealHidden(keyText(lookalike.key))}"`;
      return { ...row, key, issues: [...row.issues, nearMatch(key, shown, keyAddress(row, options))] };
    }
    if (content === first.content) return repeated({ ...row, key }, first.row);
    // The next import of what is left in the file knows nothing of the earlier row.
    const alone =
      'Imported again by itself, this row would overwrite that record: leave it out unless it is the right one.';
    const message = `Row ${first.row} has the same key with other values. Only row ${first.row} is handled; decide which one is right. ${alone}`;
    const issues = [...row.issues, fault('duplicate_key', message, keyAddress(row, options))];
    return { ...row, key, issues, duplicateOf: first.row };
  }

  function appended(row: ResolvedRow, text: string, rows: FirstRows): ResolvedRow {
    const all = createHash('sha256').update(text).digest('base64url');
    const first = rows.note({ key: all, spelling: all, row: row.ref.row, content: 0 });
    return first === undefined ? row : repeated(row, first.row);
  }

  /** A row that is the same as an earlier one in all that it sets. */
  function repeated(row: ResolvedRow, first: number): ResolvedRow {
    const at = keyAddress(row, options);
    const same = `Row ${first} is the same in every mapped column.`;
    if (options.skipRepeated) {
      // Its faults are those of the earlier row.
      const warnings = row.issues.filter(({ severity }) => severity !== 'error');
      return { ...row, issues: [...warnings, warning('duplicate_row', `${same} This one is skipped.`, at)] };
    }
    const next = options.append
      ? `It is the one that counts: delete this row, also from the rejected file, whose import would append it once more. Or say \`match: { duplicates: first }\` in the job, which skips such rows.`
      : 'Delete one of them.';
    const issue = fault('duplicate_row', `${same} ${next}`, at);
    return { ...row, issues: [...row.issues, issue], duplicateOf: first };
  }

  function withIds(row: StagedRow): WithIds {
    if (!Object.values(row.set).some((value) => isNamedRef(value) || isRef(value))) return row as WithIds;
    const issues: Issue[] = [...row.issues];
    const set: Record<string, Value> = {};
    let after: ResolvedRow['after'];
    for (const field of Object.keys(row.set)) {
      const value = row.set[field];
      if (value === undefined) continue;
      if (!isNamedRef(value)) {
        const absent = isRef(value) ? absentId(value, field, options) : undefined;
        if (absent) issues.push(lookupFault(absent, field, { kind: 'missing', nearest: [] }, options.directory));
        else set[field] = value;
        continue;
      }
      if (field === 'parent_contract' && isOwnNumber(value, row)) {
        issues.push(referenceCycle(row.ref.row, { field, row: row.ref.row, column: value.column }));
        continue;
      }
      let found = lookUpName(value, row, options.directory);
      const rows = field === 'parent_contract' ? options.rowsOfNumber?.get(normaliseKey(value.name)) : undefined;
      const [parent, other] = rows ?? [];
      if (other !== undefined) {
        const message = `Rows ${parent} and ${other} of this file both have the contract number "${value.name}". Write the id of the parent instead, e.g. \`id:17\`, once it is in the service.`;
        issues.push(fault('reference_ambiguous', message, { field, value: value.name, column: value.column }));
        continue;
      }
      // The number of a contract of this file and the id of another one.
      if (parent !== undefined && found.kind === 'found' && found.byId)
        found = { kind: 'ambiguous', ids: [found.ref.id] };
      const substitute = options.newRecords?.find(value, field, found, options.directory);
      if (substitute) {
        issues.push(substitute.issue);
        if (substitute.ref) set[field] = substitute.ref;
        continue;
      }
      if (found.kind === 'found') {
        set[field] = found.ref;
        continue;
      }
      if (parent !== undefined && found.kind === 'missing') after = { field, row: parent, column: value.column };
      else issues.push(lookupFault(value, field, found, options.directory));
    }
    const subcategory = checkSubcategory(set, options, issues);
    const cells = subcategory === undefined ? row.cells : { [SUBCATEGORY]: subcategory, ...row.cells };
    return { ...row, set, issues, ...(cells ? { cells } : {}), ...(after ? { after } : {}) };
  }

  return (row) => withKey(withIds(row), row);
}

type WithIds = Omit<ResolvedRow, 'key' | 'duplicateOf'>;

function isOwnNumber(value: NamedRef, row: StagedRow): boolean {
  const number = row.set['number'];
  return typeof number === 'string' && normaliseKey(number) === normaliseKey(value.name);
}

function lookUpName(value: NamedRef, row: StagedRow, directory: Directory): Lookup {
  if (value.named !== 'category') return directory.lookup(value.named, value.name);
  const subcategory = row.set[SUBCATEGORY];
  return directory.category(value.name, typeof subcategory === 'string' ? subcategory : undefined);
}

/** An id (`id:17`) that no record of a known list has. */
function absentId({ id }: Ref, field: string, { directory, columnOf, specOf }: ResolveOptions): NamedRef | undefined {
  const type = specOf?.(field)?.type;
  if (type?.kind !== 'reference' || !directory.lacks(type.to, id)) return undefined;
  return { named: type.to, name: `id:${id}`, column: columnOf(field) };
}

function lookupFault(
  value: NamedRef,
  field: string,
  found: Exclude<Lookup, { kind: 'found' }>,
  directory: Directory,
): Issue {
  const what = referenceNoun(value.named);
  const where = { field, value: value.name, column: value.column };
  if (found.kind === 'ambiguous') {
    const several = isId(value.name)
      ? `"${value.name}" is the id of one record and the ${what} of another`
      : `Several records have the ${what} "${value.name}"`;
    return fault(
      'reference_ambiguous',
      `${several}: ids ${found.ids.join(', ')}. Write the id instead, e.g. \`id:${found.ids[0]}\`.`,
      where,
    );
  }
  const hint = found.nearest.length ? ` Did you mean ${found.nearest.map((name) => `"${name}"`).join(' or ')}?` : '';
  const next = directory.isListed(value.named)
    ? directory.isUncertain(value.named)
      ? ' It may be there all the same: the list changed while it was read, or the service counts more than it shows. Import the row again later, or write the id, e.g. `id:17`.'
      : ` Correct the cell, or create the ${what} in the service first.`
    : ` The service has no list of these: the name is known once a record that was read or written uses it. Write the id instead, e.g. \`id:17\`.`;
  const id = isId(value.name) ? ', nor a record with this id' : '';
  return fault('reference_not_found', `There is no ${what} "${value.name}"${id}.${hint}${next}`, where);
}

export const subcategoriesText = (names: readonly string[]): string =>
  names.length ? `It has ${names.map((name) => `"${name}"`).join(', ')}.` : 'It has none.';

/** Puts the category's own spelling in; the answer is the row's where that is another. */
function checkSubcategory(set: Record<string, Value>, options: ResolveOptions, issues: Issue[]): string | undefined {
  const subcategory = set[SUBCATEGORY];
  const category = set['category.name'];
  if (typeof subcategory !== 'string' || subcategory === '' || !isRef(category)) return undefined;
  const listed = options.directory.subcategories(category.id);
  if (!listed) return undefined;
  const wanted = normaliseName(subcategory);
  const exact = listed.find((name) => normaliseName(name) === wanted);
  if (exact !== undefined) {
    set[SUBCATEGORY] = exact;
    return exact === subcategory ? undefined : subcategory;
  }
  issues.push(
    fault(
      'reference_not_found',
      `The category ${category.name ? `"${category.name}"` : category.id} has no subcategory "${subcategory}". ${subcategoriesText(listed)}`,
      { field: SUBCATEGORY, value: subcategory, column: options.columnOf(SUBCATEGORY) },
    ),
  );
  return undefined;
}

/** The first row of a key; `content` stands for all that it sets. */
interface EarlierRow {
  readonly row: number;
  readonly content: number;
}

function keyAddress({ set, cells }: Pick<ResolvedRow, 'set' | 'cells'>, { key, columnOf }: ResolveOptions) {
  const field = key[0];
  if (field === undefined) return {};
  return { field, value: cells?.[field] ?? valueText(set[field]), column: columnOf(field) };
}

/** The fault of a row whose key only looks like `others`. */
export function nearMatch(key: string, others: string, at: Pick<Issue, 'field' | 'value' | 'column'>): Issue {
  return fault(
    'near_match',
    `The key "${revealHidden(keyText(key))}" looks the same on the screen as that of ${others}, and is another one: they differ in inner blanks or in characters that the screen does not show. Write the key as it stands there, or make both look different.`,
    at,
  );
}

/** Where a row is left out for being the same: no two that differ ever are, by chance or by design. */
function exactDigest(text: string): number {
  return createHash('sha256').update(text).digest().readUIntBE(0, 6);
}
