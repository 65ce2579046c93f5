import { createBody } from '../resources/write.js';
import type { Json } from '../service/port.js';
import { decodeFields, encodeFields } from './codec.js';
import { lastWritten } from './memory.js';
import type { Before, Update, WriteContext } from './writing.js';

/** Undefined where nothing is known of the record. */
export function beforeOf({ ref, id, set, base }: Update, context: WriteContext): Before | undefined {
  const { spec, company, lexicon } = context;
  const known = base.record as Json | null;
  const ours = lastWritten(id, set, known ?? undefined, context);
  const record = known ?? (ours && { id, ...createBody(spec, company, decodeFields(ours), lexicon).body });
  if (!record) return undefined;
  return { row: ref.row, id, record, set: encodeFields(set), ...(ours ? { ours } : {}) };
}
