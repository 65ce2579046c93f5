import type { ReadAll } from '../pipeline/match/match.js';
import type { Directory } from '../pipeline/resolve/directory.js';
import { findCountry } from '../resources/countries.js';
import { parseForm, parseTemplate } from '../resources/custom.js';
import type { Habits } from '../resources/read-habits.js';
import type { CustomTemplate, Lexicon, ReferenceTarget } from '../resources/spec.js';
import type { KnownIds } from '../service/port.js';

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

export function runLexicon(known: KnownIds, readAll: ReadAll): RunLexicon {
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
        const template = form ? parseForm(record) : parseTemplate(record);
        if (template) (form ? forms : templates).push(template);
      }
    });
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

function idOf(target: ReferenceTarget, name: string, known: KnownIds): number | undefined {
  if (target !== 'hardware-model' && target !== 'business-unit' && target !== 'customer') return undefined;
  const [only, other] = known.ids(target, name);
  return other === undefined ? only : undefined;
}
