import { createBody } from '../resources/write.js';
import type { Json } from '../service/port.js';
import { decodeFields, encodeFields } from './codec.js';
import { lastWritten } from './memory.js';
import { changesOf, mergeRow } from './merge.js';
import type { Before, Update, WriteContext } from './writing.js';

/**
 * The record as it is before its update, with the fields that the update changes in it. What the row sets and the record
 * holds already, and where the service's value stands, is no work of the run: an undo must not take it for that. Undefined where nothing
 * is known of the record, and where it holds all of it already: an earlier line, of a request whose effect was open, then stands.
 */
export function beforeOf({ ref, id, set, base }: Update, context: WriteContext): Before | undefined {
  const { spec, company, lexicon } = context;
  const known = (base.record ?? undefined) as Json | undefined;
  const ours = lastWritten(id, set, known, context);
  const record = known ?? (ours && { id, ...createBody(spec, company, decodeFields(ours), lexicon).body });
  if (!record) return undefined;
  const changes = changesOf(mergeRow(set, known, ours, context).diff);
  if (changes.length === 0) return undefined;
  const changed = Object.fromEntries(changes.map((one) => [one.field, one.new]));
  return { row: ref.row, id, record, set: encodeFields(changed), ...(ours ? { ours } : {}) };
}
