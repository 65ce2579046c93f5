import type { ParentRow } from '../model/change.js';
import { Decimal } from '../model/decimal.js';
import { fault, type Issue } from '../model/issue.js';
import type { RowRef } from '../model/row.js';
import type { Value } from '../model/value.js';
import type { ReferenceTarget } from '../resources/spec.js';

/** A reference by name that has not been looked up yet. */
export interface NamedRef {
  readonly named: ReferenceTarget;
  readonly name: string;
  /** The heading, for the fault when the name is not found. */
  readonly column?: string | undefined;
}

export type StagedValue = Value | NamedRef;

/** Whether a text may be the id of a record. */
export function isId(text: string): boolean {
  return /^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(Number(text));
}

/** A row after mapping and conversion; any issue with severity `error` makes it invalid. */
export interface StagedRow {
  readonly ref: RowRef;
  /** What the row sets, by field; null clears; absent fields are left as they are. */
  readonly set: Readonly<Record<string, StagedValue>>;
  readonly issues: readonly Issue[];
  /**
   * Cells as they stand in the file, by field, where the value does not tell: outer blanks, a currency, how
   * a date is written. What the record holds may be just that text, and the row then changes nothing. Absent where every
   * value tells.
   */
  readonly cells?: Readonly<Record<string, string>>;
  /**
   * CSV: texts as they stand in the file, by field, where reading took an apostrophe off. A spreadsheet program does not
   * put one there, so in a file that one has saved it is part of the text.
   */
  readonly escaped?: Readonly<Record<string, string>>;
  /** Of a row at fault, the mapped cells that it sets nothing by, as one text: what tells it from another such row. */
  readonly unread?: string;
  /** Files that an export wrote: what it wrote into the cells of the fields that a person changed, by field. */
  readonly edited?: Readonly<Record<string, ExportedCell>>;
}

/** A row whose names have become ids; it knows its key and whether an earlier row has the same. */
export interface ResolvedRow extends Omit<StagedRow, 'set'> {
  readonly key: string;
  readonly set: Readonly<Record<string, Value>>;
  /** An earlier row of the file with the same key. */
  readonly duplicateOf?: number;
  /** A row of this file that must be written first, because this one refers to it. */
  readonly after?: ParentRow;
}

/**
 * What an export wrote for a field, which the record held then: the merge base of the cell. Once an import has sent the field,
 * or told of its conflict, the base is what the record held then, or what was sent: whether that arrived is not known here.
 */
export interface ExportedCell {
  readonly text: string;
  /** What the text means; absent where nothing can be made of it. */
  readonly value?: StagedValue;
  readonly held?: Value;
  readonly sent?: Value;
}

/** Whether a row was recognised as no record: it sets nothing, and is skipped. */
export function isNoRecord({ issues }: Pick<StagedRow, 'issues'>): boolean {
  return issues.some(({ code }) => code === 'not_a_record');
}

/** Whether a row is skipped because it repeats an earlier one, as its job says. */
export function isRepeated({ issues }: Pick<StagedRow, 'issues'>): boolean {
  return issues.some(({ code, severity }) => code === 'duplicate_row' && severity === 'warning');
}

export function isNamedRef(value: StagedValue | undefined): value is NamedRef {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && 'named' in value;
}

/** The row it refers to has no id that could be sent. */
export function parentNotWritten(after: ParentRow): Issue {
  return fault(
    'parent_not_written',
    `Row ${after.row} of this file, which this row refers to, was not written, or its id could not be found out. Put that row right and import both again.`,
    { field: after.field, column: after.column },
  );
}

/** Rows that refer to one another can none of them be written first. */
export function referenceCycle(row: number, after: ParentRow): Issue {
  const how =
    after.row === row
      ? 'This row refers to itself.'
      : `This row refers to row ${after.row}, which leads back to it: neither can be written first.`;
  return fault('reference_cycle', `${how} Correct the cell.`, { field: after.field, column: after.column });
}

/** Makes what rows set, by field, of values in the order of the fields; undefined where a row does not set one. */
export function setMaker<V>(fields: readonly string[]): (values: readonly (V | undefined)[]) => Record<string, V> {
  return (values) => {
    const set: Record<string, V> = {};
    for (let i = 0; i < fields.length; i++) {
      const value = values[i];
      if (value !== undefined) set[fields[i]!] = value;
    }
    return set;
  };
}

/** What stands in a line before the values. */
export interface RowHead extends Pick<ResolvedRow, 'ref' | 'key' | 'issues'> {
  /** Undefined where the row has none. */
  readonly fingerprint: number | undefined;
}

export function decodeHead(line: readonly unknown[]): RowHead {
  const [row, sheet, key, more, fingerprint] = line as [number, string | 0, string, RowExtras | 0, number | -1];
  return {
    ref: sheet === 0 ? { row } : { sheet, row },
    key,
    issues: (more !== 0 && more.issues) || NO_ISSUES,
    fingerprint: fingerprint === NO_FINGERPRINT ? undefined : fingerprint,
  };
}

export type RowCodec = ReturnType<typeof rowCodec>;

/** A row of either stage; what is only staged has no key yet. */
export type StoredRow = StagedRow & Partial<Pick<ResolvedRow, 'key' | 'duplicateOf' | 'after'>>;

/** What few rows have. `set`: what the row sets, of files that name no fields. */
interface RowExtras
  extends Partial<Pick<ResolvedRow, 'issues' | 'cells' | 'escaped' | 'unread' | 'duplicateOf' | 'after'>> {
  /** By field. */
  readonly edited?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly set?: Readonly<Record<string, unknown>>;
}

/** No fingerprint is less than 0. */
const NO_FINGERPRINT = -1;
const NO_ISSUES: readonly Issue[] = [];
const ABSENT = {};

/**
 * Rows between two stages lie on disk as JSON lines `[row, sheet, key, more, fingerprint<tab>, [value, …]]`, the values in the
 * order of the fields that the file names once: `sheet` and `more` are 0 where there is nothing to say, `{}` is a field that
 * the row does not set, other values are as `encodeFields` has them. No text holds a tab as it is: what stands before it can
 * be read alone.
 *
 * `fields`: every field that a row may set; none where each row may set others.
 */
export function rowCodec(fields: readonly string[]) {
  const width = fields.length;
  let lastSet: StagedRow['set'] | undefined;
  let lastText = '';

  /** The values of a row as one text, the same for rows that set the same. */
  function textOf(set: StagedRow['set']): string {
    if (set === lastSet) return lastText;
    const values = new Array<unknown>(width);
    for (let i = 0; i < width; i++) {
      const value = set[fields[i]!];
      values[i] = typeof value === 'string' ? value : value === undefined ? ABSENT : encodeValue(value);
    }
    lastSet = set;
    lastText = JSON.stringify(values);
    return lastText;
  }

  function extrasOf(row: StoredRow) {
    const { issues, cells, escaped, unread, edited, duplicateOf, after } = row;
    const isPlain = issues.length === 0 && !cells && !escaped && unread === undefined && !edited;
    if (width > 0 && isPlain && duplicateOf === undefined && !after) return undefined;
    // What is undefined is left out of the line.
    return {
      issues: issues.length > 0 ? issues : undefined,
      cells,
      escaped,
      unread,
      edited: edited && mapValues(edited, (one) => encodeFields({ ...one })),
      duplicateOf,
      after,
      set: width > 0 ? undefined : encodeFields(row.set),
    };
  }

  const makeSet = setMaker<Value>(fields);

  function setOf(values: unknown[]): Record<string, Value> {
    for (let i = 0; i < width; i++) {
      const value = values[i];
      if (typeof value === 'object' && value !== null) values[i] = isAbsent(value) ? undefined : decodeValue(value);
    }
    return makeSet(values as (Value | undefined)[]) as Record<string, Value>;
  }

  return {
    textOf,
    /** The row as a line, its end included. `fingerprint`: of what it sets, where that is all there is to decide by. */
    encode(row: StoredRow, fingerprint = NO_FINGERPRINT): string {
      const { sheet } = row.ref;
      const more = extrasOf(row);
      return `[${row.ref.row},${sheet === undefined ? 0 : JSON.stringify(sheet)},${JSON.stringify(row.key ?? '')},${more ? JSON.stringify(more) : 0},${fingerprint}\t,${textOf(row.set)}]\n`;
    },
    decode(line: readonly unknown[]): ResolvedRow {
      const [row, sheet, key, more, , values] = line as [number, string | 0, string, RowExtras | 0, number, unknown[]];
      const ref = sheet === 0 ? { row } : { sheet, row };
      if (more === 0) return { ref, key, set: setOf(values), issues: NO_ISSUES };
      const { set, issues = NO_ISSUES, edited, ...rest } = more;
      const own = edited ? { edited: mapValues(edited, (one) => decodeFields(one) as unknown as ExportedCell) } : {};
      return { ref, key, set: set ? decodeFields(set) : setOf(values), issues, ...rest, ...own };
    },
  };
}

function mapValues<A, B>(by: Readonly<Record<string, A>>, make: (one: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(by).map(([field, one]) => [field, make(one)]));
}

/** Whether a field is not set. */
const isAbsent = (raw: object): boolean => !Array.isArray(raw) && Object.keys(raw).length === 0;

/** A value as plain JSON: a Decimal is `{"d":"12.5"}`, so that it comes back as one. */
function encodeValue(value: StagedValue): unknown {
  return value instanceof Decimal ? { d: value.text } : value;
}

function decodeValue(raw: unknown): Value {
  return typeof raw === 'object' && raw !== null && 'd' in raw ? Decimal.of(String(raw.d)) : (raw as Value);
}

/** Fields as plain JSON. The fields themselves where none is a Decimal. */
export function encodeFields(fields: Readonly<Record<string, StagedValue>>): Readonly<Record<string, unknown>> {
  return Object.values(fields).some((value) => value instanceof Decimal) ? mapValues(fields, encodeValue) : fields;
}

export function decodeFields(fields: Readonly<Record<string, unknown>>): Record<string, Value> {
  return mapValues(fields, decodeValue);
}
