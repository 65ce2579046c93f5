import { Decimal } from '../model/decimal.js';
import { stringifyBody } from '../model/json.js';
import type { TableKind } from '../model/table.js';
import { isRef, type Value } from '../model/value.js';
import { isCalendarDate } from '../resources/calendar.js';
import { isEmptyJson } from '../resources/path.js';
import { numberText } from '../resources/read-value.js';

/** Values of a record as the text of one cell. Nothing is cut, and no number passes through a float. */

/** What an import splits a list of text at: pipeline/map/convert.ts. */
const LIST_SEPARATORS = /[\s,;]/;

/** An object of JSON; numbers with all their digits are none. */
export function isJsonObject(json: unknown): json is Readonly<Record<string, unknown>> {
  return typeof json === 'object' && json !== null && !Array.isArray(json) && !(json instanceof Decimal);
}

/** JSON as the service sent it: plain values as they are, lists and objects as JSON text. */
export function rawText(json: unknown): string {
  if (isEmptyJson(json)) return '';
  if (typeof json === 'string') return json;
  if (typeof json === 'number') return numberText(json);
  return typeof json === 'boolean' ? String(json) : stringifyBody(json);
}

/** A canonical value. Of a reference the name, or the id where the name is not known. */
export function exportedText(value: Value): string {
  if (value === null) return '';
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return listText(value, LIST_SEPARATORS);
  if (isRef(value)) return value.name ?? String(value.id);
  return value instanceof Decimal ? value.text : rawText(value);
}

/**
 * A list of plain values, joined by `, ` where it can be taken apart again; else as JSON text, as a list that holds
 * `separators`, blank items or objects.
 */
export function listText(list: readonly unknown[], separators: RegExp = /,/): string {
  if (list.length === 0) return '';
  const texts = list.map((item) => (isPlain(item) ? rawText(item) : undefined));
  const joinable = texts.every(
    (text): text is string => text !== undefined && text.trim() === text && text !== '' && !separators.test(text),
  );
  return joinable && !texts[0]?.startsWith('[') ? texts.join(', ') : stringifyBody(list);
}

function isPlain(item: unknown): boolean {
  return typeof item !== 'object' || item instanceof Decimal;
}

/** What a value is that nobody described. */
export type Shape = 'boolean' | 'integer' | 'decimal' | 'date' | 'text' | 'json';

export function shapeOf(value: unknown): Shape {
  if (typeof value === 'boolean') return 'boolean';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'decimal';
  if (value instanceof Decimal) return value.scale === 0 ? 'integer' : 'decimal';
  if (typeof value === 'string') return isCalendarDate(value) ? 'date' : 'text';
  return 'json';
}

/** The kind of column that fits every value that was seen under a key. */
export function columnKind(shapes: ReadonlySet<Shape>, key: string): TableKind {
  const [only = 'text', ...others] = shapes;
  if (others.length === 0) return only === 'integer' && /(^|_)id$/.test(key) ? 'id' : only;
  return [...shapes].every((shape) => shape === 'integer' || shape === 'decimal') ? 'decimal' : 'text';
}
