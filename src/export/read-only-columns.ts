import type { TableKind } from '../model/table.js';
import { readDate } from '../resources/calendar.js';
import { valueAt } from '../resources/path.js';
import type { ReadOnlyField, ReadOnlySpec } from '../resources/registry.js';
import type { Lexicon } from '../resources/spec.js';
import type { ExportColumn } from './column.js';
import { listText, rawText } from './raw-text.js';

/** Whole numbers that name something. */
const IDS = ['company_id', 'public_license_id', 'issuer'];

/** A time of day: what is more than a date stays as it is. */
const TIME = /\d:\d/;

/**
 * The columns of a resource that can only be read, as the service shows it: interface, sections 2.6 and 2.7. Objects with
 * keys of their own have no columns before the records are seen.
 */
export function readOnlyColumns(spec: ReadOnlySpec, lexicon: Lexicon): readonly ExportColumn[] {
  return spec.fields.flatMap((field) => {
    if (field.kind === 'object') return [];
    const { name } = field;
    const show = shower(field, lexicon);
    return [
      {
        heading: name,
        kind: kindOf(field, spec),
        source: { kind: 'path' as const, path: name },
        ...(field.values && !field.open ? { choices: field.values } : {}),
        text: ({ json }) => show(valueAt(json, name)),
      },
    ];
  });
}

function kindOf({ name, kind }: ReadOnlyField, spec: ReadOnlySpec): TableKind {
  switch (kind) {
    case 'integer':
      return name === spec.idField || IDS.includes(name) ? 'id' : 'integer';
    case 'boolean':
      return 'boolean';
    case 'date text':
      return 'date';
    case 'objects':
      return 'json';
    default:
      return 'text';
  }
}

function shower({ kind }: ReadOnlyField, lexicon: Lexicon): (raw: unknown) => string {
  if (kind === 'texts' || kind === 'integers') return (raw) => (Array.isArray(raw) ? listText(raw) : rawText(raw));
  if (kind !== 'date text') return rawText;
  return (raw) => {
    const text = rawText(raw);
    return typeof raw !== 'string' || TIME.test(raw) ? text : (readDate(raw, lexicon.dateOrder) ?? text);
  };
}
