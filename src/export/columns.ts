import { readOnlySpec, resourceSpec } from '../resources/registry.js';
import type { Exportable, ExportColumn, ExportContext } from './column.js';
import { customColumns } from './custom-columns.js';
import { headingsOf } from './headings.js';
import { ownColumns } from './own-columns.js';
import { rawText } from './raw-text.js';
import { readOnlyColumns } from './read-only-columns.js';
import { isWritable } from './record.js';

export type { Exportable, ExportColumn, ExportContext, ExportRecord } from './column.js';

/** How a customer came to be known: customers cannot be listed (interface, section 4.1). */
export const KNOWN_FROM = '_known_from';

const knownFrom: ExportColumn = {
  heading: KNOWN_FROM,
  kind: 'text',
  source: { kind: 'path', path: KNOWN_FROM },
  note: 'How this customer is known: the service has no list of customers. For information.',
  text: ({ json }) => rawText(json[KNOWN_FROM]),
};

/**
 * The columns of a resource, known before its first record: its fields as its description has them, then its custom field
 * templates, then its custom forms. Headings are dotted paths of the read form, unique as imports compare them.
 */
export function exportColumns(resource: Exportable, context: ExportContext): readonly ExportColumn[] {
  if (!isWritable(resource)) return readOnlyColumns(readOnlySpec(resource), context.lexicon);
  const spec = resourceSpec(resource);
  const own = ownColumns(spec);
  const headings = headingsOf(own);
  const custom = customColumns(spec, context).map(({ heading, ...column }) =>
    headings.give({ ...column, headings: [heading] }),
  );
  return [...own, ...custom, ...(resource === 'customer' ? [knownFrom] : [])];
}
