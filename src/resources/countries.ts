import { createRequire } from 'node:module';

/** A country of ISO 3166-1: `id` is the numeric code as a number (36 for Australia's 036). */
export interface Country {
  readonly id: number;
  /** English name. */
  readonly name: string;
}

/** The country with this numeric code. */
export function countryByCode(code: number): Country | undefined {
  return index().byCode.get(code);
}

/**
 * The country a person means: a name in English, German, French, Spanish, Italian, Dutch or Portuguese, alpha-2, alpha-3 or
 * the numeric code, with or without leading zeros. A name that several countries have is not found.
 */
export function findCountry(text: string): Country | undefined {
  const { byCode, byAlpha, byName } = index();
  const trimmed = text.normalize('NFKC').trim();
  if (/^\d{1,3}$/.test(trimmed)) return byCode.get(Number(trimmed));
  const alpha = byAlpha.get(trimmed.toUpperCase());
  if (alpha) return alpha;
  const name = folded(trimmed);
  return name === '' || SUGGESTED_FOR.has(name) ? undefined : (byName.get(name) ?? undefined);
}

/** English names in alphabetical order, each read back as its own country. */
export function countryNames(): readonly string[] {
  names ??= [...index().byCode.values()]
    .flatMap((country) => (findCountry(country.name) === country ? [country.name] : []))
    .sort((a, b) => a.localeCompare(b, 'en'));
  return names;
}

let names: readonly string[] | undefined;

/** What people may mean who write the name of no country: the English names, or alpha-2 where a name is what is refused. */
export function suggestCountry(text: string): readonly string[] {
  const alphas = SUGGESTED_FOR.get(folded(text)) ?? [];
  const names = alphas.map((alpha) => index().byAlpha.get(alpha)!.name);
  return names.every(findCountry) ? names : alphas;
}

/** A suggestion as messages show it: `"Germany"`, `"CG" (Congo)`. */
export function countryWords(suggestion: string): string {
  const name = findCountry(suggestion)?.name ?? suggestion;
  return name === suggestion ? `"${name}"` : `"${suggestion}" (${name})`;
}

interface Index {
  readonly byCode: ReadonlyMap<number, Country>;
  readonly byAlpha: ReadonlyMap<string, Country>;
  /** Folded name → country; null: several countries have the name. */
  readonly byName: ReadonlyMap<string, Country | null>;
}

let cachedIndex: Index | undefined;

/** Built on first use: many runs have no country column. */
function index(): Index {
  cachedIndex ??= buildIndex();
  return cachedIndex;
}

/** Lists of the library `i18n-iso-countries`, loaded when the first country is asked for: few jobs have one. */
function namesIn(language: string): Names {
  return (createRequire(import.meta.url)(`i18n-iso-countries/langs/${language}.json`) as { countries: Names })
    .countries;
}

function buildIndex(): Index {
  const codes = createRequire(import.meta.url)('i18n-iso-countries/codes.json') as readonly (readonly string[])[];
  const english = namesIn('en');
  const byCode = new Map<number, Country>();
  const byAlpha = new Map<string, Country>();
  for (const [alpha2 = '', alpha3 = '', numeric = ''] of codes) {
    if (!numeric) continue;
    const country = {
      id: Number(numeric),
      name: SHORT_NAMES[alpha2] ?? namesOf(english, alpha2)[0] ?? alpha2,
    };
    byCode.set(country.id, country);
    byAlpha.set(alpha2, country);
    byAlpha.set(alpha3, country);
  }
  const byName = new Map<string, Country | null>();
  // A name is settled by the first group that has it: aliases, then English, then all other languages together.
  addNames(
    byName,
    byAlpha,
    Object.entries(COUNTRY_ALIASES).flatMap(([alpha, names]) =>
      names.split('; ').map((name) => [name, alpha] as const),
    ),
  );
  addNames(byName, byAlpha, namePairs([english]));
  addNames(byName, byAlpha, namePairs(['de', 'fr', 'es', 'it', 'nl', 'pt'].map(namesIn)));
  return { byCode, byAlpha, byName };
}

type Names = Readonly<Record<string, string | string[]>>;

function namesOf(names: Names, alpha: string): readonly string[] {
  const found = names[alpha];
  return found === undefined ? [] : typeof found === 'string' ? [found] : found;
}

function namePairs(languages: readonly Names[]): [string, string][] {
  return languages.flatMap((names) =>
    Object.keys(names).flatMap((alpha) => namesOf(names, alpha).map((name): [string, string] => [name, alpha])),
  );
}

function addNames(
  byName: Map<string, Country | null>,
  byAlpha: ReadonlyMap<string, Country>,
  pairs: readonly (readonly [string, string])[],
): void {
  const group = new Map<string, Country | null>();
  for (const [name, alpha] of pairs) {
    const country = byAlpha.get(alpha);
    const key = folded(name);
    if (!country || key === '' || byName.has(key)) continue;
    const before = group.get(key);
    group.set(key, before === undefined || before?.id === country.id ? country : null);
  }
  for (const [key, country] of group) byName.set(key, country);
}

/** The form in which names are compared: no case, marks, punctuation or article; `&` is "and", `St` is "saint". */
function folded(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/&/g, ' and ')
    .replace(/(?<=\p{L})\.(?=\p{L})/gu, '')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .replace(/^the | the$/g, '')
    .replace(/\bst\b/g, 'saint');
}

/** What people call countries beside the names of ISO 3166-1; keys are compared as country names are. */

/** Alpha-2 → names that the library lacks, parted by semicolons. Only names that can mean one country. */
const COUNTRY_ALIASES: Readonly<Record<string, string>> = {
  US: 'U S A; U S; États-Unis; EEUU; EE UU',
  GB: 'U K; United Kingdom of Great Britain and Northern Ireland',
  BO: 'Bolivia, Plurinational State of; Bolivia (Plurinational State of)',
  BA: 'Bosnia',
  MM: 'Burma',
  CN: "China, People's Republic of; PRC; Mainland China",
  CD: 'Congo, Democratic Republic of the; Congo, The Democratic Republic of the; DR Congo; DRC',
  CG: 'Congo, Republic of the; Congo Republic',
  CC: 'Cocos Islands',
  TL: 'East Timor',
  IE: 'Eire; Republic of Ireland',
  FK: 'Falkland Islands',
  VA: 'Holy See; Vatican City; Vatican',
  NL: 'Holland',
  HK: 'Hong Kong SAR; Hong Kong SAR China',
  IR: 'Iran, Islamic Republic of; Iran (Islamic Republic of)',
  KR: 'Korea, South',
  KP: "Korea, North; Korea, Democratic People's Republic of; Democratic People's Republic of Korea",
  LA: 'Lao PDR',
  MO: 'Macau SAR',
  MK: 'Macedonia',
  MD: 'Moldova; Republic of Moldova',
  PS: 'Palestine, State of; Palestinian Territory',
  SH: 'Saint Helena, Ascension and Tristan da Cunha',
  SK: 'Slovak Republic',
  SY: 'Syria',
  TZ: 'Tanzania, United Republic of',
  AE: 'U A E; Emirates',
  VE: 'Venezuela, Bolivarian Republic of; Venezuela (Bolivarian Republic of)',
  VN: 'Viet Nam',
  VG: 'British Virgin Islands',
  VI: 'US Virgin Islands; United States Virgin Islands',
};

/** Alpha-2 → the English short name, where the names of the library start with a longer one. */
const SHORT_NAMES: Readonly<Record<string, string>> = {
  CG: 'Congo',
  CN: 'China',
  GM: 'Gambia',
  IR: 'Iran',
  MK: 'North Macedonia',
  PS: 'Palestine',
  TZ: 'Tanzania',
};

/**
 * Folded name that is no country of ISO 3166-1, or that people give to several → alpha-2 of what may be meant; written the
 * other way round.
 * None of these names is ever found, whatever a language's list says.
 */
const SUGGESTED_FOR: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    GB: 'england; angleterre; inglaterra; inghilterra; scotland; schottland; wales; northern ireland; nordirland; britain',
    'GB IE': 'british isles',
    US: 'america; hawaii',
    'CG CD': 'congo; kongo',
    'KR KP': 'korea; coree; corea',
    'VG VI': 'virgin islands',
    'JE GG': 'channel islands',
    'CW SX BQ': 'netherlands antilles',
    'RS ME': 'serbia and montenegro',
    'RS HR SI': 'yugoslavia',
    'CZ SK': 'czechoslovakia',
    RU: 'ussr; soviet union',
  }).flatMap(([countries, names]) => names.split('; ').map((name) => [name, countries.split(' ')] as const)),
);
