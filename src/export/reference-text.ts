import { isRef, normaliseKey, type Ref } from '../model/value.js';
import { isRefusal, trimText } from '../pipeline/map/cell-text.js';
import { makeConverter } from '../pipeline/map/convert.js';
import { type DirectoryOptions, loadDirectory } from '../pipeline/resolve/directory.js';
import { isId, isNamed } from '../pipeline/rows.js';
import type { ReadRecord } from '../resources/read.js';
import type { ReferenceTarget, ResourceSpec } from '../resources/spec.js';

/**
 * The cell of a reference that an import reads back as the same record: the name where the import finds exactly this record
 * by it, else `id:17`. Categories are found by their subcategory, too, where several have the name.
 */
export type ReferenceTexts = (target: ReferenceTarget, ref: Ref, subcategory?: string) => string;

/** Names by what they refer to, as `loadDirectory` wants them. */
export type ReferenceNames = ReadonlyMap<ReferenceTarget, ReadonlySet<string>>;

/** Collects the names that records refer to, one record after another. Memory: each name once. */
export class ReferenceCollector {
  readonly names = new Map<ReferenceTarget, Set<string>>();
  readonly #fields: readonly (readonly [field: string, target: ReferenceTarget])[];

  constructor(spec: ResourceSpec) {
    this.#fields = spec.fields.flatMap(({ name, type, derived }) =>
      type.kind === 'reference' && !derived ? [[name, type.to] as const] : [],
    );
  }

  add({ fields }: ReadRecord): void {
    for (const [field, target] of this.#fields) {
      const value = fields[field];
      if (!isRef(value) || value.name === undefined || !isName(target, value.name)) continue;
      const names = this.names.get(target) ?? new Set();
      this.names.set(target, names);
      names.add(normaliseKey(value.name));
    }
  }
}

/**
 * Looks up the names that the records of an export refer to, as an import of the file would: each list once, contracts by
 * number where that is cheaper. Customers, business units and hardware models are known from the records themselves.
 */
export async function loadReferenceTexts(names: ReferenceNames, options: DirectoryOptions): Promise<ReferenceTexts> {
  const directory = await loadDirectory(names, options);
  return (target, { id, name }, subcategory) => {
    if (name !== undefined && isName(target, name)) {
      const found = target === 'category' ? directory.category(name, subcategory) : directory.lookup(target, name);
      if (found.kind === 'found' && found.ref.id === id) return name;
    }
    return `id:${id}`;
  };
}

/** Whether an import takes the text for a name, whatever ids there will be, and not for a code that a spreadsheet has shortened. */
function isName(target: ReferenceTarget, name: string): boolean {
  if (target !== 'contract' && isId(normaliseKey(name))) return false;
  const value = convert(target, name);
  return !isRefusal(value) && isNamed(value) && value.name !== '';
}

function convert(to: ReferenceTarget, cell: string) {
  let converter = converters.get(to);
  if (!converter) {
    const field = { name: to, label: to, type: { kind: 'reference', to } } as const;
    converter = makeConverter(field, { decimal: { sign: '.', why: '' }, format: 'csv' });
    converters.set(to, converter);
  }
  return converter(trimText(cell));
}

const converters = new Map<ReferenceTarget, ReturnType<typeof makeConverter>>();
