import { Decimal } from '../model/decimal.js';
import type { TableKind } from '../model/table.js';
import { isCalendarDate } from '../resources/calendar.js';

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
export function kindOf(shapes: ReadonlySet<Shape>, key: string): TableKind {
  const [only = 'text', ...others] = shapes;
  if (others.length === 0) return only === 'integer' && /(^|_)id$/.test(key) ? 'id' : only;
  return [...shapes].every((shape) => shape === 'integer' || shape === 'decimal') ? 'decimal' : 'text';
}
