import { type CustomColumn, chooseNames, type NameChoices, type ServiceNames } from '../blank-workbook/columns.js';
import { formatNumber } from '../model/count-text.js';
import { RunError } from '../model/error.js';
import { customFieldName } from '../model/job.js';
import { foldText } from '../model/value.js';
import { type Catalogue, findCustom } from '../pipeline/map/targets.js';
import { LEARNED, NAME_SOURCES, nameText, spellingsOf } from '../pipeline/resolve/directory.js';
import { parseTemplate } from '../resources/custom.js';
import { resourceSpec } from '../resources/registry.js';
import type { FieldSpec, ReferenceTarget, ResourceName, ResourceSpec } from '../resources/spec.js';
import { serviceName } from '../service/address.js';
import { openKnownIds } from '../service/known-ids.js';
import { walkList } from '../service/lists/walk-list.js';
import type { Json, Readable, Service } from '../service/port.js';
import { homeExists } from '../store/home.js';
import { type Channel, withService } from './run/open-service.js';
import { requireService, type Settings } from './settings.js';

/** What blank workbooks have of the service; each list is read once. A list that cannot be read becomes a warning. */

/** More names than this are no help in a drop-down list, and take many requests. */
const MAX_NAMES = 5_000;

export interface ListOptions {
  readonly service: Service;
  readonly signal: AbortSignal;
  readonly warn: (text: string) => void;
  /** Longer lists are not read. */
  readonly maxEntries?: number;
}

/** The custom field templates and forms. */
export async function readCatalogue(spec: ResourceSpec, options: ListOptions): Promise<Catalogue> {
  const read = async (list: Readable) => {
    const records = await readList(list, options, 'no custom fields of it are in the workbook');
    return (records ?? []).flatMap((record) => parseTemplate(record) ?? []);
  };
  const [templates, forms] = await Promise.all([
    read('custom-field-template'),
    spec.form ? read('custom-form-template') : [],
  ]);
  return { templates, forms };
}

/**
 * Every custom field that an import can set, under its name where a job means it alone by that, else under its ids. What the
 * import would refuse (inactive, of another resource, attachments) is left out.
 */
export function customColumns(spec: ResourceSpec, catalogue: Catalogue): CustomColumn[] {
  const found = (['template', 'form'] as const).flatMap((kind) =>
    catalogue[`${kind}s`].flatMap((owner) =>
      owner.fields.flatMap((field) => {
        const byId = `${kind}.${owner.id}.${field.id}`;
        const byName = `${kind}.${owner.name}.${field.name}`;
        const idSpec = customSpec(byId, spec, catalogue);
        if (!idSpec) return [];
        const isNamed = PLAIN.test(byName) && customSpec(byName, spec, catalogue)?.name === idSpec.name;
        return [{ byId, byName: isNamed ? byName : byId, spec: idSpec }];
      }),
    ),
  );
  // A job compares the names of its fields without case.
  const isUnique = (name: string) => found.filter(({ byName }) => foldText(byName) === foldText(name)).length === 1;
  return found.map(({ byId, byName, spec: own }) => ({ field: isUnique(byName) ? byName : byId, spec: own }));
}

/** Names that a person can read and type in a job file. */
const PLAIN = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]+$/u;

/** The custom field that a job means by a text; undefined where it can set none. */
export function customSpec(text: string, spec: ResourceSpec, catalogue: Catalogue): FieldSpec | undefined {
  const name = customFieldName(text);
  const found = name && findCustom(name, spec, catalogue);
  return found && 'spec' in found ? found.spec : undefined;
}

/** Names for the drop-down lists. `known`: where what earlier runs learned of the service and company is kept. */
export async function readNames(
  targets: Iterable<ReferenceTarget>,
  known: { readonly home: string; readonly service: string },
  options: ListOptions,
): Promise<ServiceNames> {
  const names = new Map<ReferenceTarget | 'subcategory', NameChoices>();
  const wanted = [...new Set(targets)];
  await Promise.all(
    wanted.map(async (target) => {
      // Contracts have no drop-down list.
      const source = target === 'contract' ? undefined : NAME_SOURCES[target];
      const records = source && (await readList(source.list, options, 'its columns have no drop-down list'));
      if (!records) return;
      names.set(target, chooseNames(records.map((record) => spellingsOf(target, record))));
      if (target !== 'category') return;
      const parts = records.flatMap(({ subcategories }) => (Array.isArray(subcategories) ? subcategories : []));
      names.set('subcategory', chooseNames([...new Set(parts.map(nameText))].map((text) => [text])));
    }),
  );
  const kinds = LEARNED.filter((kind) => wanted.includes(kind));
  // Where nothing was learned yet, nothing is left behind.
  if (kinds.length === 0 || !homeExists(known.home)) return names;
  const learned = openKnownIds(known.home, known.service);
  try {
    for (const kind of kinds) {
      const records = [...learned.names(kind)].flatMap((name) => learned.ids(kind, name).map(() => [name]));
      if (records.length > 0 && records.length <= MAX_NAMES) names.set(kind, chooseNames(records, 'known'));
    }
  } finally {
    await learned.close();
  }
  return names;
}

/** Undefined where the list could not be read, or is too long; `lack` says what follows from that. */
async function readList(
  list: Readable,
  { service, signal, warn, maxEntries = MAX_NAMES }: ListOptions,
  lack: string,
): Promise<Json[] | undefined> {
  try {
    const first = await service.page(list, 1);
    if (first.count > maxEntries) {
      warn(
        `The list of ${list} has ${formatNumber(first.count)} entries; ${lack}: the most that is offered is ${formatNumber(maxEntries)}. Names can be typed.`,
      );
      return undefined;
    }
    if (first.results.length >= first.count) return [...first.results];
    const records: Json[] = [];
    for await (const page of walkList(service, list, { first })) records.push(...page.records);
    return records;
  } catch (error) {
    if (signal.aborted || !(error instanceof RunError)) throw error;
    const why = error.status === 403 ? 'the token may not read it (403)' : error.message;
    warn(`The list of ${list} could not be read, so ${lack}: ${why}`);
    return undefined;
  }
}

/** What the service has of one kind, by the names that a cell may hold. */
export interface NamesFound {
  readonly names: readonly string[];
  /** Why there are none, or not all, in a sentence. */
  readonly lack?: string;
}

export interface NamesRequest {
  /** `asset-field`: its custom fields, as job files name them. */
  readonly of: ReferenceTarget | 'subcategory' | `${ResourceName}-field`;
  readonly settings: Settings;
  readonly channel: Channel;
  readonly signal: AbortSignal;
}

/** More than this would take minutes to read. */
const MAX_LISTED = 20_000;
const PATIENCE_MS = 5_000;

/** Asks the service for the names of one kind. A list that it has not, or does not give, is a `lack`. */
export async function findNames({ of, settings, channel, signal }: NamesRequest): Promise<NamesFound> {
  const { company, home } = settings;
  const warnings: string[] = [];
  const warn = (text: string) => void warnings.push(text.replace(', so its columns have no drop-down list', ''));
  return withService(settings, { patienceMs: PATIENCE_MS, channel, signal }, async (service): Promise<NamesFound> => {
    const options = { service, signal, warn, maxEntries: MAX_LISTED };
    const owner = /^(.+)-field$/.exec(of)?.[1];
    if (owner !== undefined) {
      const spec = resourceSpec(owner as ResourceName);
      const fields = customColumns(spec, await readCatalogue(spec, options));
      return { names: fields.map(({ field }) => field), ...(warnings[0] && { lack: warnings[0] }) };
    }
    const target = of as ReferenceTarget | 'subcategory';
    const known = { home, service: serviceName(requireService(settings).apiUrl, company) };
    const found = (await readNames([target === 'subcategory' ? 'category' : target], known, options)).get(target);
    if (!found)
      return { names: [], lack: warnings[0] ?? `The service has no list of names (${of}) that could be read.` };
    if (found.source === 'known')
      return { names: found.names, lack: 'Only names that earlier runs learned: the service has no list of them.' };
    const { names, leftOut } = found;
    if (leftOut === 0) return { names };
    return {
      names,
      lack: `${leftOut} names are left out: several records bear them, or they would be read as something else. Write id:17 instead.`,
    };
  });
}
