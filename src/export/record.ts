import { type ReadRecord, readRecord } from '../resources/read.js';
import { recordId } from '../resources/read-value.js';
import { resourceSpec } from '../resources/registry.js';
import { type ResourceName, WRITABLE } from '../resources/spec.js';
import type { Json } from '../service/port.js';
import type { Exportable, ExportContext, ExportRecord } from './column.js';

export function isWritable(resource: Exportable): resource is ResourceName {
  return (WRITABLE as readonly string[]).includes(resource);
}

/**
 * A record as the service sent it, read where its resource has a canonical form. One without a usable id is no record that
 * could be changed: it is shown as it came.
 */
export function exportRecord(
  resource: Exportable,
  json: Json,
  { lexicon }: Pick<ExportContext, 'lexicon'>,
): ExportRecord {
  if (!isWritable(resource) || recordId(json['id']) === undefined) return { json };
  let read: ReadRecord | undefined;
  return {
    json,
    asSent: true,
    get read() {
      read ??= readRecord(resourceSpec(resource), json, lexicon);
      return read;
    },
  };
}
