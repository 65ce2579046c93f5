import { join } from 'node:path';
import { formNames, templateNames } from '../../export/custom-columns.js';
import { isRefused, RunError, runFailure } from '../../model/error.js';
import { parseJson, stringifyBody } from '../../model/json.js';
import type { SharedPace } from '../../model/pace.js';
import type { ExportableName } from '../../model/resource-names.js';
import type { Catalogue, customFieldsIn } from '../../pipeline/map/targets.js';
import { PAGE_SIZE } from '../../pipeline/match/filter.js';
import type { ReadAll } from '../../pipeline/match/match.js';
import type { Directory } from '../../pipeline/resolve/directory.js';
import { parseTemplate } from '../../resources/custom.js';
import type { ReadConventions } from '../../resources/read-conventions.js';
import { recordId } from '../../resources/read-value.js';
import type { CustomTemplate, Lexicon, ReferenceTarget } from '../../resources/spec.js';
import { serviceName } from '../../service/address.js';
import { type Clock, readingClock, systemClock } from '../../service/clock.js';
import { openKnownIds } from '../../service/known-ids.js';
import { walkList as walk } from '../../service/lists/walk-list.js';
import type { OnOutage } from '../../service/pace/breaker.js';
import type { Json, KnownIds, KnownKind, Page, Readable, Service } from '../../service/port.js';
import { openService, type ServiceOptions } from '../../service/service.js';
import { recordIdOf } from '../../service/transport/answer.js';
import { type Channel, openChannel } from '../../service/transport/channel.js';
import { lineWriter, readLines } from '../rows/row-files.js';
import { requireService, type Settings } from '../settings.js';
import type { WorkerContext } from './context.js';
import type { RunCore, StoredRun } from './core.js';

/** How the service is opened, as the settings say. Throws `RunError('usage')` where address or token lack. */
export function serviceOptions(settings: Settings, company: number): ServiceOptions {
  const { apiUrl, auth } = requireService(settings);
  return {
    baseUrl: apiUrl,
    company,
    token: auth,
    maxInFlight: settings.concurrency,
    timeouts: { requestMs: settings.timeoutMs },
    patienceMs: settings.patienceMs,
    firstAnswerMs: settings.firstAnswerMs,
    ...(settings.maxRps === undefined ? {} : { maxRps: settings.maxRps }),
  };
}

interface ServiceUse {
  readonly company?: number;
  readonly patienceMs: number;
  readonly channel?: Channel | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Asks the service of the settings something that is no run, and closes it. A shorter patience of the settings counts. */
export async function withService<T>(
  settings: Settings,
  { company = settings.company, patienceMs, channel, signal }: ServiceUse,
  work: (service: Service) => Promise<T>,
): Promise<T> {
  const service = openService({
    ...serviceOptions(settings, company),
    patienceMs: Math.min(settings.patienceMs, patienceMs),
    ...(channel && { channel }),
    ...(signal && { signal }),
  });
  try {
    return await work(service);
  } finally {
    await service.close();
  }
}

export type { Channel } from '../../service/transport/channel.js';

/**
 * What all runs of a process share: connections, the gate, the token. Throws `RunError('usage')` where address or token lack.
 */
export function runChannel(settings: Settings, shared: SharedPace, signal: AbortSignal): Channel {
  // A channel serves every company; each run names its own.
  const { company: _, ...options } = serviceOptions({ ...settings, ...requireService(settings) }, settings.company);
  return openChannel({ ...options, shared, signal });
}

/** A long outage is spoken of this often. */
const NOTICE_EVERY_MS = 60_000;

/** Says that the service does not answer, now and then while that lasts, and once that it is back. */
function outageNotifier(info: (text: string) => void, clock: Clock = systemClock): OnOutage {
  let notifiedAt: number | undefined;
  return (outage) => {
    if (!outage) {
      if (notifiedAt !== undefined) info('The service answers again: the run goes on.');
      notifiedAt = undefined;
      return;
    }
    const now = clock.now();
    if (notifiedAt !== undefined && now - notifiedAt < NOTICE_EVERY_MS) return;
    notifiedAt = now;
    info(outage);
  };
}

/** For whom a run works, as its first lines say. */
interface ActingFor {
  readonly company: number;
  readonly address: string;
  /** `Importing into`, `Exporting from` */
  readonly verb: string;
  /** An archived company is worth a warning only: nothing is written, or it was said that this is meant. */
  readonly mayBeArchived: boolean;
}

interface Notifier {
  warn(text: string): void;
  info(text: string): void;
}

/**
 * Says whose data is about to be read or changed, and returns the company's name where it could be read.
 * Throws a `RunError` where the company is not there, or is archived and may not be.
 */
export async function announceCompany(
  service: Service,
  about: ActingFor,
  notify: Notifier,
): Promise<string | undefined> {
  const { company, address, verb } = about;
  let record: Json | undefined;
  try {
    record = await findCompany(service, company);
  } catch (error) {
    // A token may be allowed to work for a company without being allowed to look at it.
    if (!(error instanceof RunError) || error.status !== 403) throw error;
    notify.warn(
      `The name of company ${company} could not be checked, nor whether it is archived: the token may not read it (403). Make sure that ${company} is the company meant.`,
    );
    notify.info(`${verb} company ${company} at ${address}`);
    return undefined;
  }
  if (!record) {
    throw runFailure(
      `There is no company ${company} at ${address}, or the token may not see it. Nothing was sent. Check --company, the job's \`company\` and ROWFERRY_COMPANY.`,
    );
  }
  const name = String(record['name'] ?? '');
  if (record['status'] === 'archived') {
    if (!about.mayBeArchived) {
      throw runFailure(
        `The company ${company} (${name}) is archived. Nothing was sent. If its data is really to be changed, begin anew with --force.`,
      );
    }
    notify.warn(`The company ${company} (${name}) is archived.`);
  }
  // Without quotation marks: what stands in them is taken for a cell, and left out of logs.
  notify.info(`${verb} ${name} (company ${company}) at ${address}`);
  return name;
}

/** The name of the settings' company, asked through a channel that is open; undefined where it cannot be read now. */
export async function companyName(
  settings: Settings,
  channel: Channel,
  patienceMs: number,
): Promise<string | undefined> {
  const { company } = settings;
  const record = await withService(settings, { channel, patienceMs }, (service) => findCompany(service, company)).catch(
    (error: unknown) => {
      if (!(error instanceof RunError)) throw error;
      return undefined;
    },
  );
  return typeof record?.['name'] === 'string' ? record['name'] : undefined;
}

/** Not every service shows a company by its id. Undefined also where there is no list to look into. */
async function findCompany(service: Service, company: number): Promise<Json | undefined> {
  const own = await service.get('company', company);
  if (own) return own;
  try {
    for (let page = 1; ; page++) {
      const { count, results } = await service.page('company', page);
      const found = results.find((one) => recordIdOf(one) === company);
      if (found || results.length === 0 || page * PAGE_SIZE >= count) return found;
    }
  } catch (error) {
    if (!isRefused(error)) throw error;
    return undefined;
  }
}

/** The service of a run, and what is known of it. */
export type ReadConnection = Awaited<ReturnType<typeof openConnection>>;

/**
 * Opens the service and says whose data is read or about to change; names are learned from whatever is read. Throws a
 * `RunError` where the company is not there, or archived and may not be.
 */
export async function openConnection(
  run: RunCore<StoredRun> & { readonly now?: () => number },
  about: { readonly verb: string; readonly mayBeArchived: boolean },
  {
    mayWrite = () => false,
    onNames,
  }: Pick<ServiceOptions, 'mayWrite'> & { onNames?: Parameters<typeof createLexicon>[2] } = {},
) {
  const { settings, request, folder } = run;
  const service = openService({
    ...serviceOptions(settings, request.company),
    maxInFlight: request.concurrency,
    signal: run.signal,
    mayWrite,
    onOutage: outageNotifier(run.info, run.clock),
    ...sharedOptions(run.worker),
    log: (level, event, fields) => run.log[level](fields, event),
  });
  run.closers.push(() => service.close());
  run.counters.push(() => service.counts);
  const known = openKnownIds(settings.home, serviceName(settings.apiUrl, request.company));
  run.closers.push(() => known.close());
  const readAll = openLists(
    service,
    (resource) => join(folder.dir, 'work', `list-${resource}.ndjson`),
    (resource, records) => {
      for (const record of records) learnNames(resource, record, known);
    },
    run.now,
  );
  const { company, service: address } = request;
  /** Where the token may read it. */
  const companyName = await announceCompany(service, { ...about, company, address }, run);
  const lexicon = createLexicon(known, readAll, onNames);
  return { service, known, readAll, lexicon, warn: run.warn, ...(companyName === undefined ? {} : { companyName }) };
}

/** What a run shares with others of its process. */
export function sharedOptions(
  worker: Pick<WorkerContext, 'channel' | 'observe'> | undefined,
): Pick<ServiceOptions, 'channel' | 'observe'> {
  return { ...(worker?.channel && { channel: worker.channel }), ...(worker?.observe && { observe: worker.observe }) };
}

/** Contracts and assets show the customers and business units they belong to, which cannot be listed. */
export function learnNames(resource: ExportableName, record: Json, known: Pick<KnownIds, 'learn'>): void {
  if (resource !== 'contract' && resource !== 'asset') return;
  for (const [key, kind] of [
    ['customer', 'customer'],
    ['business_unit', 'business-unit'],
  ] as const) {
    const value = record[key];
    if (typeof value !== 'object' || value === null || !('id' in value) || !('name' in value)) continue;
    const id = recordId(value.id);
    if (id !== undefined && typeof value.name === 'string' && value.name !== '') known.learn(kind, id, value.name);
  }
}

export type RunLexicon = ReturnType<typeof createLexicon>;

/** What a run knows of names and custom fields; grows while it goes on. `onNames`: told how job files name the fields, once known. */
export function createLexicon(
  known: KnownIds,
  readAll: ReadAll,
  onNames: (names: Readonly<Record<string, string>>) => void = () => undefined,
) {
  const templates: CustomTemplate[] = [];
  const forms: CustomTemplate[] = [];
  let directory: Directory | undefined;
  let habits: ReadConventions = {};
  let templatesLoaded: Promise<void> | undefined;
  let formsLoaded: Promise<void> | undefined;
  const load = async (resource: 'custom-field-template' | 'custom-form-template') => {
    const form = resource === 'custom-form-template';
    await readAll(resource, (records) => {
      for (const record of records) {
        const template = parseTemplate(record);
        if (template) (form ? forms : templates).push(template);
      }
    });
    onNames(form ? formNames(forms) : templateNames(templates));
  };
  const lexicon: Lexicon = {
    get dateOrder() {
      return habits.dateOrder;
    },
    template: (id) => templates.find((one) => one.id === id),
    form: (id) => forms.find((one) => one.id === id),
    idOf: (target, name) => learnedId(target, name, known),
    nameOf: (target, id) => directory?.nameOf(target, id),
    learnCountry: (code, spelling) => known.learn('country', code, spelling),
  };
  return Object.assign(lexicon, {
    templates: templates as readonly CustomTemplate[],
    forms: forms as readonly CustomTemplate[],
    /** Fetch the custom field templates and forms, once. */
    loadTemplates: () => (templatesLoaded ??= load('custom-field-template')),
    loadForms: () => (formsLoaded ??= load('custom-form-template')),
    /** Names that were looked up for the file. */
    useDirectory(one: Directory) {
      directory = one;
    },
    /** How the service writes dates, as its records told. */
    useHabits(learned: ReadConventions) {
      habits = learned;
    },
  });
}

/** The custom field templates and forms of the service, as far as they are wanted. */
export async function loadCustomFields(
  wanted: ReturnType<typeof customFieldsIn>,
  lexicon: RunLexicon,
): Promise<Catalogue> {
  await Promise.all([wanted.templates && lexicon.loadTemplates(), wanted.forms && lexicon.loadForms()]);
  return { templates: lexicon.templates, forms: lexicon.forms };
}

function learnedId(target: ReferenceTarget | 'country', name: string, known: KnownIds): number | undefined {
  if (!isKnownKind(target)) return undefined;
  const [only, other] = known.ids(target, name);
  return other === undefined ? only : undefined;
}

const isKnownKind = (target: string): target is KnownKind =>
  ['hardware-model', 'business-unit', 'customer', 'country'].includes(target);

/** Milliseconds for which page 1 stands for the list's beginning: long enough to decide how to read the rest. */
const FIRST_PAGE_MS = 10_000;

interface SavedList {
  readonly file: string;
  readonly first: Page;
}

/**
 * Reads lists for one run, each at most once: page 1 is asked for once by whoever decides how to read a list, and a list
 * that is kept stands in a file until the run ends. `onRecords` sees every record that comes from the service.
 */
export function openLists(
  service: Service,
  fileOf: (resource: Readable) => string,
  onRecords: (resource: Readable, records: readonly Json[]) => void,
  now: () => number = readingClock(systemClock),
): ReadAll {
  const saved = new Map<Readable, SavedList>();
  const firstPages = new Map<Readable, { readonly at: number; readonly page: Promise<Page> }>();

  function first(resource: Readable): Promise<Page> {
    const known = saved.get(resource);
    if (known) return Promise.resolve(known.first);
    const recent = firstPages.get(resource);
    if (recent && now() - recent.at < FIRST_PAGE_MS) return recent.page;
    const page = service.page(resource, 1);
    firstPages.set(resource, { at: now(), page });
    return page;
  }

  const all: (...args: Parameters<ReadAll>) => ReturnType<ReadAll> = async (
    resource,
    visit,
    { keep = false, backward = false } = {},
  ) => {
    const known = saved.get(resource);
    if (known) {
      for await (const line of readLines(known.file)) {
        const [at, records] = parseJson(line) as [number, Json[]];
        visit(records, at);
      }
      return { certified: true, unshown: 0, confirm: async () => false };
    }
    const firstPage = await first(resource);
    firstPages.delete(resource);
    const pages = walk(service, resource, { first: firstPage, direction: backward ? 'backward' : 'forward' });
    const file = fileOf(resource);
    const out = keep ? lineWriter(file) : undefined;
    for await (const { records } of pages) {
      const at = now();
      onRecords(resource, records);
      out?.write(`${stringifyBody([at, records])}\n`);
      visit(records, at);
    }
    out?.close();
    if (keep && pages.certified) saved.set(resource, { file, first: firstPage });
    return { certified: pages.certified, unshown: pages.unshown, confirm: () => pages.confirm() };
  };

  return Object.assign(all, { first, has: (resource: Readable) => saved.has(resource) });
}
