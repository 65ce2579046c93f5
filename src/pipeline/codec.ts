import { Decimal } from '../model/decimal.js';
import type { Issue } from '../model/issue.js';
import type { Value } from '../model/value.js';
import type { ResolvedRow } from './resolve/resolve.js';
import { type Exported, type StagedRow, type StagedValue, setMaker } from './rows.js';

/** What stands in a line before the values. */
export interface RowHead extends Pick<ResolvedRow, 'ref' | 'key' | 'issues'> {
  /** Undefined where the row has none. */
  readonly fingerprint: number | undefined;
}

export function decodeHead(line: readonly unknown[]): RowHead {
  const [row, sheet, key, more, fingerprint] = line as [number, string | 0, string, More | 0, number | -1];
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
interface More extends Partial<Pick<ResolvedRow, 'issues' | 'cells' | 'escaped' | 'duplicateOf' | 'after'>> {
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
      values[i] = typeof value === 'string' ? value : value === undefined ? ABSENT : encoded(value);
    }
    lastSet = set;
    lastText = JSON.stringify(values);
    return lastText;
  }

  function moreOf(row: StoredRow): More | undefined {
    const { issues, cells, escaped, edited, duplicateOf, after } = row;
    if (width > 0 && issues.length === 0 && !cells && !escaped && !edited && duplicateOf === undefined && !after)
      return undefined;
    return {
      ...(issues.length > 0 ? { issues } : {}),
      ...(cells ? { cells } : {}),
      ...(escaped ? { escaped } : {}),
      ...(edited ? { edited: mapped(edited, (one) => encodeFields({ ...one })) } : {}),
      ...(duplicateOf === undefined ? {} : { duplicateOf }),
      ...(after ? { after } : {}),
      ...(width > 0 ? {} : { set: encodeFields(row.set) }),
    };
  }

  const makeSet = setMaker<Value>(fields);

  function setOf(values: unknown[]): Record<string, Value> {
    for (let i = 0; i < width; i++) {
      const value = values[i];
      if (typeof value === 'object' && value !== null) values[i] = isAbsent(value) ? undefined : decoded(value);
    }
    return makeSet(values as (Value | undefined)[]) as Record<string, Value>;
  }

  return {
    textOf,
    /** The row as a line, its end included. `fingerprint`: of what it sets, where that is all there is to decide by. */
    encode(row: StoredRow, fingerprint = NO_FINGERPRINT): string {
      const { sheet } = row.ref;
      const more = moreOf(row);
      return `[${row.ref.row},${sheet === undefined ? 0 : JSON.stringify(sheet)},${JSON.stringify(row.key ?? '')},${more ? JSON.stringify(more) : 0},${fingerprint}\t,${textOf(row.set)}]\n`;
    },
    decode(line: readonly unknown[]): ResolvedRow {
      const [row, sheet, key, more, , values] = line as [number, string | 0, string, More | 0, number, unknown[]];
      const ref = sheet === 0 ? { row } : { sheet, row };
      if (more === 0) return { ref, key, set: setOf(values), issues: NO_ISSUES };
      const { set, issues = NO_ISSUES, edited, ...rest } = more;
      const own = edited ? { edited: mapped(edited, (one) => decodeFields(one) as unknown as Exported) } : {};
      return { ref, key, set: set ? decodeFields(set) : setOf(values), issues, ...rest, ...own };
    },
  };
}

function mapped<A, B>(by: Readonly<Record<string, A>>, make: (one: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(by).map(([field, one]) => [field, make(one)]));
}

/** Whether a field is not set. */
const isAbsent = (raw: object): boolean => !Array.isArray(raw) && Object.keys(raw).length === 0;

/** A value as plain JSON: a Decimal is `{"d":"12.5"}`, so that it comes back as one. */
function encoded(value: StagedValue): unknown {
  return value instanceof Decimal ? { d: value.text } : value;
}

function decoded(raw: unknown): Value {
  return typeof raw === 'object' && raw !== null && 'd' in raw ? Decimal.of(String(raw.d)) : (raw as Value);
}

/** Fields as plain JSON. The fields themselves where none is a Decimal. */
export function encodeFields(fields: Readonly<Record<string, StagedValue>>): Readonly<Record<string, unknown>> {
  return Object.values(fields).some((value) => value instanceof Decimal) ? mapped(fields, encoded) : fields;
}

export function decodeFields(fields: Readonly<Record<string, unknown>>): Record<string, Value> {
  return mapped(fields, decoded);
}
