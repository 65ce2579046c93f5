import { formNames, templateNames } from '../../export/custom-columns.js';
import { customFieldName } from '../../model/job.js';
import { parseJson, stringifyBody } from '../../model/json.js';
import type { Catalogue } from '../../pipeline/map/targets.js';
import type { ReadAll } from '../../pipeline/match/match.js';
import type { Directory } from '../../pipeline/resolve/directory.js';
import { findCountry } from '../../resources/countries.js';
import { parseTemplate } from '../../resources/custom.js';
import type { Habits } from '../../resources/read-habits.js';
import type { CustomTemplate, Lexicon, ReferenceTarget } from '../../resources/spec.js';
import { readingClock, systemClock } from '../../service/clock.js';
import { readAll as walk } from '../../service/lists/pages.js';
import type { Json, KnownIds, Page, Readable, Service } from '../../service/port.js';
import { lines, lineWriter } from './row-files.js';

/** What a run knows of names and custom fields; grows while it goes on. */
export interface RunLexicon extends Lexicon {
  readonly templates: readonly CustomTemplate[];
  readonly forms: readonly CustomTemplate[];
  /** Fetches the custom field templates, once. */
  loadTemplates(): Promise<void>;
  /** Fetches the custom form templates, once. */
  loadForms(): Promise<void>;
  /** Names that were looked up for the file. */
  useDirectory(directory: Directory): void;
  /** How the service shows dates and amounts, as its records told. */
  useHabits(habits: Habits): void;
}

/** `named`: told how job files name the custom fields, once they are known. */
export function runLexicon(
  known: KnownIds,
  readAll: ReadAll,
  named: (names: Readonly<Record<string, string>>) => void = () => undefined,
): RunLexicon {
  const templates: CustomTemplate[] = [];
  const forms: CustomTemplate[] = [];
  let directory: Directory | undefined;
  let habits: Habits = {};
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
    named(form ? formNames(forms) : templateNames(templates));
  };
  return {
    templates,
    forms,
    loadTemplates: () => (templatesLoaded ??= load('custom-field-template')),
    loadForms: () => (formsLoaded ??= load('custom-form-template')),
    useDirectory(one) {
      directory = one;
    },
    useHabits(learned) {
      habits = learned;
    },
    get dateOrder() {
      return habits.dateOrder;
    },
    get decimalSign() {
      return habits.decimalSign;
    },
    countryCode: (spelling) => findCountry(spelling)?.id ?? known.ids('country', spelling)[0],
    template: (id) => templates.find((one) => one.id === id),
    form: (id) => forms.find((one) => one.id === id),
    idOf: (target, name) => idOf(target, name, known),
    nameOf: (target, id) => directory?.nameOf(target, id),
  };
}

/** The custom field templates and forms of the service, as far as they are wanted. */
export async function loadCustomFields(
  wanted: { readonly templates: boolean; readonly forms: boolean },
  lexicon: RunLexicon,
): Promise<Catalogue> {
  await Promise.all([wanted.templates && lexicon.loadTemplates(), wanted.forms && lexicon.loadForms()]);
  return { templates: lexicon.templates, forms: lexicon.forms };
}

/** Which of them names of fields mean. */
export function customFieldsIn(names: Iterable<string>): { readonly templates: boolean; readonly forms: boolean } {
  const kinds = new Set([...names].map((name) => customFieldName(name)?.kind));
  return { templates: kinds.has('template'), forms: kinds.has('form') };
}

function idOf(target: ReferenceTarget, name: string, known: KnownIds): number | undefined {
  if (target !== 'hardware-model' && target !== 'business-unit' && target !== 'customer') return undefined;
  const [only, other] = known.ids(target, name);
  return other === undefined ? only : undefined;
}

/** Milliseconds for which page 1 stands for the list's beginning: long enough to decide how to read the rest. */
const FIRST_PAGE_HOLDS = 10_000;

interface Kept {
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
  const kept = new Map<Readable, Kept>();
  const firsts = new Map<Readable, { readonly at: number; readonly page: Promise<Page> }>();

  function first(resource: Readable): Promise<Page> {
    const known = kept.get(resource);
    if (known) return Promise.resolve(known.first);
    const recent = firsts.get(resource);
    if (recent && now() - recent.at < FIRST_PAGE_HOLDS) return recent.page;
    const page = service.page(resource, 1);
    firsts.set(resource, { at: now(), page });
    return page;
  }

  const all: (...given: Parameters<ReadAll>) => ReturnType<ReadAll> = async (
    resource,
    visit,
    { keep = false, backward = false } = {},
  ) => {
    const known = kept.get(resource);
    if (known) {
      for await (const line of lines(known.file)) {
        const [at, records] = parseJson(line) as [number, Json[]];
        visit(records, at);
      }
      return { certified: true, confirm: async () => false };
    }
    const beginning = await first(resource);
    firsts.delete(resource);
    const pages = walk(service, resource, { first: beginning, direction: backward ? 'backward' : 'forward' });
    const file = fileOf(resource);
    const out = keep ? lineWriter(file) : undefined;
    for await (const { records } of pages) {
      const at = now();
      onRecords(resource, records);
      out?.write(`${stringifyBody([at, records])}\n`);
      visit(records, at);
    }
    out?.close();
    if (keep && pages.certified) kept.set(resource, { file, first: beginning });
    return { certified: pages.certified, confirm: () => pages.confirm() };
  };

  return Object.assign(all, { first, has: (resource: Readable) => kept.has(resource) });
}
