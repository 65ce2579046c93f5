import { z } from 'zod';
import { foldText } from '../model/value.js';
import { type ReadOnlyField, readOnlySpec, resourceSpec } from '../resources/registry.js';
import { type FieldSpec, type FieldType, READ_ONLY, WRITABLE } from '../resources/spec.js';
import { fixedChoices } from '../resources/value-check.js';
import { findNames, type NamesFound, type NamesRequest } from '../runs/service-names.js';
import type { ApiParts } from './app.js';
import { Cache } from './cache.js';
import { type Operation, operation } from './operation.js';
import { type Field, names, type Resource, resources } from './schema.js';

/** So long names are answered as they were read, and so long it is left at that they could not be. */
const FRESH_MS = 5 * 60_000;
const RETRY_AFTER_MS = 15_000;
/** Lists that are kept. */
const MOST_LISTS = 200;

/** What `GET /names?of=` takes. */
const NAME_LISTS = [
  'asset-owner',
  'business-unit',
  'category',
  'contract',
  'customer',
  'hardware-model',
  'make',
  'subcategory',
  'supplier',
  'usage-status',
  // Custom fields of a resource.
  ...WRITABLE.map((name) => `${name}-field` as const),
] as const satisfies readonly NamesRequest['of'][];

export function listOperations({ settings, channel, stopping }: ApiParts): Operation[] {
  const lists = new Cache<NamesFound>(MOST_LISTS);
  return [
    operation(
      'GET /resources',
      { summary: 'What can be imported and exported, with the fields.', answer: resources },
      () => ({ resources: resourceList() }),
    ),
    operation(
      'GET /names',
      {
        summary: 'Names that the service has, for a cell that refers to a record.',
        query: z.object({
          of: z.enum(NAME_LISTS),
          q: z.string().max(200).default('').describe('What the names hold; those that begin with it come first.'),
          limit: z.coerce.number().int().min(1).max(200).default(20),
          company: z.coerce.number().int().min(1).optional(),
        }),
        answer: names,
      },
      async ({ query: { of, q, limit, company = settings.company } }) => {
        const { names: all, lack = null } = await lists.get(
          `${of} ${company}`,
          () => findNames({ of, settings: { ...settings, company }, channel, signal: stopping }),
          (found) => (found.lack === undefined ? FRESH_MS : RETRY_AFTER_MS),
        );
        const wanted = foldText(q);
        const fit = all.filter((name) => foldText(name).includes(wanted));
        const begins = (name: string) => (foldText(name).startsWith(wanted) ? 0 : 1);
        const best = fit.sort((one, other) => begins(one) - begins(other)).slice(0, limit);
        return { names: best, more: fit.length > limit, lack };
      },
    ),
  ];
}

const resourceList = (): Resource[] => [
  ...WRITABLE.map((name) => ({
    name,
    imported: true,
    exported: resourceSpec(name).readable,
    fields: resourceSpec(name).fields.map(describeField),
  })),
  ...READ_ONLY.map((name) => ({
    name,
    imported: false,
    exported: true,
    fields: readOnlySpec(name).fields.map(describeReadOnly),
  })),
];

const TYPES: Readonly<Record<FieldType['kind'], Field['type']>> = {
  text: 'text',
  email: 'text',
  texts: 'text',
  integer: 'number',
  decimal: 'number',
  date: 'date',
  boolean: 'boolean',
  enum: 'choice',
  country: 'choice',
  reference: 'reference',
};

const GROUPS: Readonly<Record<Field['type'], string>> = {
  text: 'Texts',
  number: 'Numbers',
  date: 'Dates',
  boolean: 'Choices',
  choice: 'Choices',
  reference: 'Other records',
};

function describeField({ name, label, type, required, create, update }: FieldSpec): Field {
  const kind = TYPES[type.kind];
  const [part, inner] = name.split('.');
  return {
    name,
    label,
    group: inner === undefined ? GROUPS[kind] : words(part ?? ''),
    type: kind,
    required: required === true,
    choices: [...fixedChoices(type)],
    of: name === 'category.subcategory' ? 'subcategory' : type.kind === 'reference' ? type.to : null,
    written: create !== undefined || update !== undefined,
    updated: update !== undefined,
  };
}

function describeReadOnly({ name, kind, values }: ReadOnlyField): Field {
  const type = kind === 'integer' ? 'number' : kind === 'boolean' ? 'boolean' : 'text';
  const choices = [...(values ?? [])];
  const use = { required: false, of: null, written: false, updated: false };
  return { name, label: words(name), group: GROUPS[type], type, choices, ...use };
}

/** `contact_person` → `Contact person` */
const words = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' ');
