import { type OfferedNames, offer, type ServiceNames } from '../../blank-workbook/columns.js';
import { RunError } from '../../model/error.js';
import { normaliseName } from '../../model/value.js';
import type { Catalogue } from '../../pipeline/map/targets.js';
import { PAGE_SIZE } from '../../pipeline/match/filter.js';
import { parseForm, parseTemplate } from '../../resources/custom.js';
import type { CustomTemplate, ReferenceTarget, ResourceSpec } from '../../resources/spec.js';
import { openKnownIds } from '../../service/known-ids.js';
import { readAll } from '../../service/lists/pages.js';
import type { Json, KnownKind, Readable, Service } from '../../service/port.js';
import { isHome } from '../../store/home.js';

/** What blank workbooks offer of the service; each list is read once. A list that cannot be read becomes a warning. */

/** More names than this are no help in a drop-down list, and take many requests. */
const MOST_NAMES = 5_000;

export interface Asking {
  readonly service: Service;
  readonly signal: AbortSignal;
  readonly warn: (text: string) => void;
}

/** Lists by what they name, and the spellings by which a record of them is found. */
const LISTS: Partial<Record<ReferenceTarget, { readonly list: Readable; readonly spellings: readonly string[] }>> = {
  'asset-owner': { list: 'asset-owner', spellings: ['name', 'email'] },
  category: { list: 'category', spellings: ['category'] },
  supplier: { list: 'supplier', spellings: ['name'] },
  'usage-status': { list: 'usage-status', spellings: ['name'] },
};

const LEARNED: readonly KnownKind[] = ['customer', 'business-unit', 'hardware-model'];

/** The custom field templates and forms. */
export async function readCatalogue(spec: ResourceSpec, asking: Asking): Promise<Catalogue> {
  const read = async (list: Readable, parse: (record: Json) => CustomTemplate | undefined) => {
    const records = await readList(list, asking, 'no custom fields of it are in the workbook');
    return (records ?? []).flatMap((record) => parse(record) ?? []);
  };
  const [templates, forms] = await Promise.all([
    read('custom-field-template', parseTemplate),
    spec.form ? read('custom-form-template', parseForm) : [],
  ]);
  return { templates, forms };
}

/** Where what earlier runs learned of a service and company is kept. */
export interface Learned {
  readonly home: string;
  /** `serviceName`. */
  readonly service: string;
}

/** Names for the drop-down lists. */
export async function readNames(
  targets: Iterable<ReferenceTarget>,
  from: Learned,
  asking: Asking,
): Promise<ServiceNames> {
  const names = new Map<ReferenceTarget, OfferedNames>();
  const subcategories = new Map<string, readonly string[]>();
  const wanted = [...new Set(targets)];
  await Promise.all(
    wanted.map(async (target) => {
      const source = LISTS[target];
      if (!source) return;
      const records = await readList(source.list, asking, 'its columns have no drop-down list');
      if (!records) return;
      names.set(target, offer(records.map((record) => source.spellings.map((field) => textOf(record[field])))));
      if (target === 'category') for (const record of records) addSubcategories(record, subcategories);
    }),
  );
  for (const [target, known] of await learned(wanted, from)) names.set(target, known);
  return { names, subcategories };
}

/** Undefined where the list could not be read, or is too long; `lack` says what follows from that. */
async function readList(list: Readable, { service, signal, warn }: Asking, lack: string): Promise<Json[] | undefined> {
  try {
    const first = await service.page(list, 1);
    if (first.count > MOST_NAMES) {
      warn(
        `The list of ${list} has ${first.count.toLocaleString('en-US')} entries; ${lack}: the most that is offered is ${MOST_NAMES.toLocaleString('en-US')}. Names can be typed.`,
      );
      return undefined;
    }
    if (first.results.length >= first.count && first.count <= PAGE_SIZE) return [...first.results];
    const records: Json[] = [];
    for await (const page of readAll(service, list, {}, { first })) records.push(...page.records);
    return records;
  } catch (error) {
    if (signal.aborted || !(error instanceof RunError)) throw error;
    const why =
      error.status === 403 ? 'the token may not read it (403)' : error.message.replace(', then resume the run', '');
    warn(`The list of ${list} could not be read, so ${lack}: ${why}`);
    return undefined;
  }
}

const textOf = (value: unknown) => (typeof value === 'string' || typeof value === 'number' ? String(value) : '');

/** Subcategories that are read back as themselves; a category that shares its name is in no list, and neither are its own. */
function addSubcategories(record: Json, subcategories: Map<string, readonly string[]>): void {
  const parts: unknown = record['subcategories'];
  if (!Array.isArray(parts)) return;
  const texts = offer(parts.map((part) => [textOf(part)])).names;
  if (texts.length > 0) subcategories.set(normaliseName(textOf(record['category'])), texts);
}

async function learned(
  wanted: readonly ReferenceTarget[],
  { home, service }: Learned,
): Promise<ReadonlyMap<ReferenceTarget, OfferedNames>> {
  const found = new Map<ReferenceTarget, OfferedNames>();
  const kinds = LEARNED.filter((kind) => wanted.some((target) => target === kind));
  // Where nothing was learned yet, nothing is left behind.
  if (kinds.length === 0 || !isHome(home)) return found;
  const known = openKnownIds(home, service);
  try {
    for (const kind of kinds) {
      if (kind === 'country') continue;
      const records = [...known.names(kind)].flatMap((name) => known.ids(kind, name).map(() => [name]));
      if (records.length > 0 && records.length <= MOST_NAMES) found.set(kind, offer(records, 'known'));
    }
  } finally {
    await known.close();
  }
  return found;
}
