import { parseJson } from '../../model/json.js';
import { recordId } from '../../resources/read-value.js';
import type { Json, Page } from '../port.js';

/** What the bodies of clear answers hold. Shapes that make no sense are a `string` that says why. */

/** Undefined where the text is no JSON. */
export function jsonIn(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !('isLosslessNumber' in value);
}

/** `{count, results}` (interface, section 8), or a bare list, which is then all there is. */
export function readPage(json: unknown, page: number): Page | string {
  if (Array.isArray(json)) {
    if (!json.every(isRecord)) return 'the list holds something that is not a record';
    return { count: json.length, results: page === 1 ? json.map(numbered) : [] };
  }
  if (!isRecord(json)) return 'the answer is not a list';
  const { results } = json;
  const count = countOf(json['count']);
  if (count === undefined) return `"count" is ${short(json['count'])}, not a number of records`;
  if (!Array.isArray(results)) return '"results" is not a list';
  if (!results.every(isRecord)) return '"results" holds something that is not a record';
  return { count, results: results.map(numbered) };
}

/** The record with its id as a number, also where it was sent as a text. */
function numbered(record: Json): Json {
  if (typeof record['id'] !== 'string') return record;
  const id = recordId(record['id']);
  return id === undefined ? record : { ...record, id };
}

/** A number of records, also as a text of digits. */
export function countOf(value: unknown): number | undefined {
  const count = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : undefined;
}

/** The record asked for; undefined where an enveloped answer does not hold it. */
export function readRecord(json: unknown, id: number): Json | undefined | string {
  const list = Array.isArray(json)
    ? json
    : isRecord(json) && Array.isArray(json['results'])
      ? json['results']
      : undefined;
  if (list) {
    const item = list.find((one): one is Json => isRecord(one) && idOf(one) === id);
    return item && numbered(item);
  }
  if (!isRecord(json)) return 'the answer is not a record';
  const record = idOf(json) === undefined && isRecord(json['data']) ? json['data'] : json;
  const found = idOf(record);
  if (found !== undefined && found !== id) return `the answer is the record with id ${found}`;
  return numbered(record);
}

/** Id and record from the answer to a write; their place is not documented, so every usual one is looked at. */
export function readWritten(json: unknown, resource: string): { readonly id?: number; readonly record?: Json } {
  const bare = recordId(json);
  if (bare !== undefined) return { id: bare };
  const outer = Array.isArray(json) && json.length === 1 ? json[0] : json;
  if (!isRecord(outer)) return {};
  const own = idOf(outer);
  if (own !== undefined) return { id: own, record: outer };
  const nested = [outer[resource], outer['data'], outer['result'], outer['record'], outer['results']]
    .flat()
    .find(isRecord);
  const inner = nested && idOf(nested);
  if (nested && inner !== undefined) return { id: inner, record: nested };
  const elsewhere = [outer[`${resource}_id`], outer['pk'], outer['data'], outer[resource]];
  const named = elsewhere.map(recordId).find((id) => id !== undefined);
  const record = nested ?? outer;
  return { ...(named === undefined ? {} : { id: named }), ...(Object.keys(record).length > 0 ? { record } : {}) };
}

/** A record's own id; licenses call it `license_id` (interface, section 2.6). */
export function idOf(record: Json): number | undefined {
  return recordId(record['id']) ?? recordId(record['license_id']);
}

function short(value: unknown): string {
  const text = JSON.stringify(value) ?? 'absent';
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}
