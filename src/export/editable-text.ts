import { isRef } from '../model/value.js';
import type { Catalogue } from '../pipeline/custom-names.js';
import { isOwnHeading } from '../pipeline/headings.js';
import { findField, resourceSpec } from '../resources/registry.js';
import type { ResourceName } from '../resources/spec.js';
import type { ExportColumn, ExportRecord } from './column.js';
import { importField, isId } from './editable-field.js';
import type { ReferenceTexts } from './reference-text.js';

/**
 * The columns of a file that is made to be imported again. What cannot be imported is marked read-only, and its note says
 * why; cells of the others say what the import reads back: references are names only where a name finds the record, and what
 * could not be read stands in the service's own words, which an import takes for no change (pipeline/repeats.ts).
 */
export function editableColumns(
  resource: ResourceName,
  columns: readonly ExportColumn[],
  catalogue: Catalogue,
  references: ReferenceTexts,
): readonly ExportColumn[] {
  return columns.map((column) => {
    if (isId(column))
      return { ...column, readOnly: true, note: 'Says which record the row changes. Leave it as it is.' };
    const found = importField(resource, column, columns, catalogue);
    if ('field' in found && !isOwnHeading(column.heading))
      return { ...column, text: editableText(resource, column, references) };
    const why = 'why' in found ? found.why : 'for information';
    return { ...column, readOnly: true, note: [column.note, `Not imported: ${why}.`].filter(Boolean).join(' ') };
  });
}

/** The cell of a column that can be imported. */
function editableText(
  resource: ResourceName,
  column: ExportColumn,
  references: ReferenceTexts,
): (record: ExportRecord) => string {
  const own = findField(resourceSpec(resource), column.field ?? '');
  const name = own?.name ?? (column.source.kind === 'custom' ? column.source.name : column.field);
  return (record) => {
    const { read } = record;
    const lost = read?.losses.find((loss) => loss.field === name);
    if (lost) return lost.text;
    const value = own && read?.fields[own.name];
    if (own?.type.kind !== 'reference' || !isRef(value)) return column.text(record);
    const subcategory = read?.fields['category.subcategory'];
    return references.text(own.type.to, value, typeof subcategory === 'string' ? subcategory : undefined);
  };
}
