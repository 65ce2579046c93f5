import { Decimal } from '../model/decimal.js';
import type { Value } from '../model/value.js';
import type { StagedRow, StagedValue } from './staged.js';

/** Rows between two stages lie on disk as JSON lines; a Decimal is `{"d":"12.50"}` so that it comes back as one. */
export function encodeRow(row: StagedRow): string {
  const { set, ...rest } = row;
  return `${JSON.stringify({ ...rest, set: encodeFields(set) })}\n`;
}

export function decodeRow(line: string): StagedRow {
  const row = JSON.parse(line) as StagedRow & { readonly set: Record<string, unknown> };
  return { ...row, set: decodeFields(row.set) };
}

export function encodeFields(fields: Readonly<Record<string, StagedValue>>): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    out[name] = value instanceof Decimal ? { d: value.text } : value;
  }
  return out;
}

export function decodeFields(fields: Readonly<Record<string, unknown>>): Record<string, Value> {
  const out: Record<string, Value> = {};
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    out[name] =
      typeof value === 'object' && value !== null && 'd' in value ? Decimal.of(String(value.d)) : (value as Value);
  }
  return out;
}
