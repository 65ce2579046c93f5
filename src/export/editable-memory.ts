import { isEmpty } from '../model/value.js';
import { decodeFields } from '../pipeline/codec.js';
import { isNarrowEnum } from '../pipeline/merge.js';
import type { ReadRecord } from '../resources/read.js';
import { resourceSpec } from '../resources/registry.js';
import type { ResourceName } from '../resources/spec.js';
import type { Json } from '../service/port.js';

/**
 * A record with what our last write left where reads show `none` or nothing because they know fewer values (interface,
 * section 2.5, warranty_type): an editable file that said `none` there would take the value away. `written`: the home's
 * memory of the record (`KnownIds.lastWritten`).
 */
export function withMemory(resource: ResourceName, read: ReadRecord, written: Json | undefined): ReadRecord {
  if (!written) return read;
  const ours = decodeFields(written);
  const better = resourceSpec(resource).fields.filter((field) => {
    const shown = read.fields[field.name];
    return isNarrowEnum(field) && !isEmpty(ours[field.name]) && (isEmpty(shown) || shown === 'none');
  });
  if (better.length === 0) return read;
  const remembered = Object.fromEntries(better.map(({ name }) => [name, ours[name] ?? null]));
  return { ...read, fields: { ...read.fields, ...remembered } };
}
