import pg from 'pg';

/** The types whose values PGlite would give otherwise than pg does: BullMQ expects pg's. Arrays of them follow. */
const AS_PG = [17, 20, 21, 23, 26, 114, 700, 701, 1082, 1114, 1184, 1700, 3802];

/** Readers of results, for PGlite's option `parsers`: 64-bit integers and decimals stay text, as in pg. */
export function parsersOfPg(): Record<number, (text: string) => unknown> {
  return Object.fromEntries(AS_PG.map((oid) => [oid, pg.types.getTypeParser(oid, 'text')]));
}

/** A parameter as PGlite takes it, for what pg would have turned into text by itself. */
export function parameter(value: unknown): unknown {
  if (value === undefined) return null;
  if (typeof value !== 'object' || value === null || value instanceof Date || ArrayBuffer.isView(value)) return value;
  if (Array.isArray(value)) return value.map(parameter);
  return JSON.stringify(value);
}
