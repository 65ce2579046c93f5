import { distance } from 'fastest-levenshtein';
import { customFieldName } from '../../model/job.js';
import { nearestNames } from '../../pipeline/nearest.js';
import { findField, readOnlySpec, resourceSpec } from '../../resources/registry.js';
import {
  type FieldSpec,
  type ReadOnlyName,
  type ResourceName,
  type ResourceSpec,
  WRITABLE,
} from '../../resources/spec.js';
import { didYouMean } from '../nearest.js';
import { type Report, withArticle } from './names.js';
import type { KeyPath } from './yaml.js';

/** A field of which values are known, whatever resource it is of. */
export interface FilteredField {
  readonly spec?: FieldSpec;
  /** Values that the interface lists. */
  readonly values?: readonly string[];
}

/**
 * Looks up the names that an export job writes; what is wrong with a name is reported. A name that is a keystroke or two
 * off one of the interface is a misspelling. Any other may be a field that the service shows without its being described.
 */
export interface ExportNames {
  column(text: string, path: KeyPath): void;
  /** Undefined where nothing is known of the field. */
  filter(text: string, path: KeyPath): FilteredField | undefined;
  /** `text` without the minus sign. */
  order(text: string, path: KeyPath): void;
}

/** Query parameters of the list of assets that are no fields: interface, section 4.4. */
const ASSET_FILTERS = ['req', 'custom_form_id', 'custom_form_name', 'custom_form_value'];
const ASSET_ORDERS = [
  'asset_id',
  'asset_name',
  'created_date',
  'modified_date',
  'support_start_date',
  'support_end_date',
  'warranty_start_date',
  'warranty_end_date',
];

/** Columns that are no fields of the description. */
const MORE_COLUMNS: Readonly<Record<string, readonly string[]>> = {
  asset: ['created_date', 'modified_date'],
  customer: ['_known_from'],
};

/** Keystrokes that turn a name into another one by mistake. */
const MISSPELT = 2;

export function exportNames(resource: ResourceName | ReadOnlyName, report: Report): ExportNames {
  const writable = WRITABLE.find((name) => name === resource);
  const known = writable ? writableNames(resourceSpec(writable)) : readOnlyNames(resource as ReadOnlyName);

  const look = (
    text: string,
    path: KeyPath,
    part: 'key' | 'value',
    more: readonly string[],
  ): FilteredField | undefined => {
    const name = text.trim();
    const custom = customFieldName(name);
    if (custom && writable) {
      const one = withArticle(resource);
      const parts = custom.kind === 'form' ? '<form>.<column>' : '<template>.<field>';
      if (custom.kind === 'form' && !resourceSpec(writable).form)
        report(path, `\`${text}\`: ${one} has no custom forms`, { part });
      else if (custom.cuts.length === 0)
        report(path, `\`${text}\` is incomplete; write ${custom.kind}.${parts}`, { part });
      return undefined;
    }
    const found = known.find(name);
    if (found) return found;
    if (more.includes(name)) return undefined;
    const names = [...known.names, ...more];
    const near = didYouMean(name, names);
    const misspelt = nearestNames(name, names).some((near) => distance(near, name) <= MISSPELT);
    const one = withArticle(resource);
    if (misspelt) report(path, `${one} has no field \`${text}\`${near}`, { part });
    else {
      const message = `the interface shows no field \`${text}\` of ${one}${near || '; the run is refused where records do not hold it either'}`;
      report(path, message, { part, severity: 'warning' });
    }
    return undefined;
  };
  const isAsset = resource === 'asset';
  return {
    column: (text, path) => void look(text, path, 'value', MORE_COLUMNS[resource] ?? []),
    filter: (text, path) => look(text, path, 'key', [...known.parameters, ...(isAsset ? ASSET_FILTERS : [])]),
    order: (text, path) => void look(text, path, 'value', isAsset ? ASSET_ORDERS : []),
  };
}

interface KnownNames {
  find(name: string): FilteredField | undefined;
  readonly names: readonly string[];
  /** Query parameters of the service by which its list is filtered. */
  readonly parameters: readonly string[];
}

function writableNames(spec: ResourceSpec): KnownNames {
  const read = spec.fields.flatMap(({ read: path, readElse = [] }) => (path === undefined ? [] : [path, ...readElse]));
  // Parts of what reads show as an object, such as `supplier.id`, are headings too.
  const heads = new Set([...read, ...spec.fields.flatMap(({ name, aliases = [] }) => [name, ...aliases])].map(headOf));
  return {
    find(name) {
      const field = findField(spec, name);
      if (field) return { spec: field };
      if (name.toLowerCase() === 'id' || read.includes(name)) return {};
      return name.includes('.') && heads.has(headOf(name)) ? {} : undefined;
    },
    names: ['id', ...spec.fields.flatMap(({ name, aliases = [] }) => [name, ...aliases]), ...read],
    parameters: Object.values(spec.filters),
  };
}

function readOnlyNames(name: ReadOnlyName): KnownNames {
  const { fields, filters } = readOnlySpec(name);
  return {
    find(text) {
      const field = fields.find((one) => one.name === text || one.name === headOf(text));
      return field && { ...(field.values && field.open !== true && { values: field.values }) };
    },
    names: fields.map((field) => field.name),
    parameters: Object.values(filters),
  };
}

const headOf = (name: string): string => name.split('.', 1)[0] ?? name;
