import { normaliseKey } from '../model/value.js';
import { countryByCode, findCountry } from '../resources/countries.js';
import type { ReferenceTarget } from '../resources/spec.js';
import type { BlankColumn } from './columns.js';

/** What drop-down lists offer. Every text is read by the import as exactly the value it stands for. */

/** The names of one kind of record of the service. */
export interface OfferedNames {
  readonly names: readonly string[];
  /** Names that several records share, or that would be read as something else; they are in no list. */
  readonly leftOut: number;
  /** `known`: only what earlier runs learned, because the service has no list of them. */
  readonly source: 'service' | 'known';
}

/** What the service knows, as far as it was asked and answered. */
export interface ServiceNames {
  readonly names: ReadonlyMap<ReferenceTarget, OfferedNames>;
  /** By the name of the category, as it stands in its list. */
  readonly subcategories: ReadonlyMap<string, readonly string[]>;
}

export const NO_NAMES: ServiceNames = { names: new Map(), subcategories: new Map() };

export interface DropDown {
  /** Name of the range in the workbook, and the list's heading in the sheet of lists. */
  readonly name: string;
  /** For people: `Supplier`. */
  readonly title: string;
  readonly values: readonly string[];
  /** Whether nothing else can be right; else the list is a help, and other values may be typed. */
  readonly closed: boolean;
  /** What must be said of it, e.g. that it is not whole. */
  readonly remark?: string;
}

const TITLES: Readonly<Record<ReferenceTarget, string>> = {
  'asset-owner': 'Owners',
  'business-unit': 'Business units',
  category: 'Categories',
  contract: 'Contracts',
  customer: 'Customers',
  'hardware-model': 'Hardware models',
  make: 'Makes',
  supplier: 'Suppliers',
  'usage-status': 'Usage statuses',
};

/** The drop-down list of each column that has one, by field; columns that take the same values share one. */
export function dropDowns(columns: readonly BlankColumn[], service: ServiceNames): Map<string, DropDown> {
  const lists = new Map<string, DropDown>();
  const known = new Map<ReferenceTarget | 'country' | 'boolean', DropDown>();
  for (const { field, spec } of columns) {
    const { type } = spec;
    if (type.kind === 'enum') {
      lists.set(field, { name: rangeName(field), title: spec.label, values: type.values, closed: true });
    } else if (type.kind === 'boolean') {
      lists.set(
        field,
        share(known, 'boolean', () => ({ title: 'Yes or no', values: ['yes', 'no'], closed: true })),
      );
    } else if (type.kind === 'country') {
      lists.set(
        field,
        share(known, 'country', () => ({ title: 'Countries', values: countries(), closed: false })),
      );
    } else if (type.kind === 'reference') {
      const offered = service.names.get(type.to);
      if (offered && offered.names.length > 0)
        lists.set(
          field,
          share(known, type.to, () => referenceList(type.to, offered)),
        );
    }
  }
  return lists;
}

function share<K extends string>(known: Map<K, DropDown>, key: K, make: () => Omit<DropDown, 'name'>): DropDown {
  const list = known.get(key) ?? { name: rangeName(key), ...make() };
  known.set(key, list);
  return list;
}

function referenceList(to: ReferenceTarget, { names, leftOut, source }: OfferedNames): Omit<DropDown, 'name'> {
  const remarks = [
    ...(source === 'known' ? ['Only names that earlier runs learned: the service has no list of them.'] : []),
    ...(leftOut > 0
      ? [
          `${leftOut} ${leftOut === 1 ? 'name is' : 'names are'} left out, being shared by several records or open to another reading: write the id, as id:17, instead.`,
        ]
      : []),
  ];
  const remark = remarks.length > 0 ? { remark: remarks.join(' ') } : {};
  return { title: TITLES[to], values: names, closed: false, ...remark };
}

const rangeName = (text: string) => `list_${text.replace(/[^a-z0-9]+/gi, '_')}`;

let allCountries: readonly string[] | undefined;

/** English names in alphabetical order, each read back as its own country. */
function countries(): readonly string[] {
  allCountries ??= Array.from({ length: 999 }, (_, code) => countryByCode(code + 1))
    .flatMap((country) => (country && findCountry(country.name) === country ? [country.name] : []))
    .sort((a, b) => a.localeCompare(b, 'en'));
  return allCountries;
}

/** Longer than a person can choose from at a glance, and than names of the service may be. */
const LONGEST = 200;
const UNFIT =
  /[\p{Cc}\p{Surrogate}\ufffe\uffff]|^[\u00ad\u200b\u2060\ufeff]|[\u00ad\u200b\u2060\ufeff]$|_x[0-9a-f]{4}_/iu;
/** Whole numbers are read as ids, `id:17` too; `1.2E+10` is what is left of a long number. */
const ANOTHER_READING = /^\d+$|^id\s*:|^-?\d[.,]\d+E\+\d{2,3}$/i;

/**
 * The texts that stand for one record each. A record may have several spellings (an owner's name and e-mail address):
 * the first that is its alone is offered.
 */
export function offer(
  records: readonly (readonly string[])[],
  source: OfferedNames['source'] = 'service',
): OfferedNames {
  const holders = new Map<string, number>();
  const keyed = records.map((spellings) => [...new Set(spellings.map(normaliseKey).filter((text) => text !== ''))]);
  for (const spellings of keyed) for (const text of spellings) holders.set(text, (holders.get(text) ?? 0) + 1);
  const names: string[] = [];
  let leftOut = 0;
  for (const spellings of keyed) {
    const fit = spellings.find(
      (text) => holders.get(text) === 1 && text.length <= LONGEST && !UNFIT.test(text) && !ANOTHER_READING.test(text),
    );
    if (fit !== undefined) names.push(fit);
    else if (spellings.length > 0) leftOut++;
  }
  return { names: names.sort((a, b) => a.localeCompare(b, 'en')), leftOut, source };
}
