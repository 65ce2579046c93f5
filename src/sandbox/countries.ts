import { createRequire } from 'node:module';
import countries, { type LocaleData } from 'i18n-iso-countries/index.js';

/** Countries by ISO 3166-1 numeric code. The interface does not list them; English names are assumed. */
export interface Country {
  readonly name: string;
  readonly alpha2: string;
  readonly alpha3: string;
}

const load = createRequire(import.meta.url);
countries.registerLocale(load('i18n-iso-countries/langs/en.json') as LocaleData);

const byCode = new Map<number, Country>();
for (const [numeric, alpha2] of Object.entries(countries.getNumericCodes())) {
  const name = countries.getName(alpha2, 'en');
  const alpha3 = countries.alpha2ToAlpha3(alpha2);
  if (name && alpha3) byCode.set(Number(numeric), { name, alpha2, alpha3 });
}

/** The country of a numeric code (840, 56), if there is one. */
export function countryOf(code: number): Country | undefined {
  return byCode.get(code);
}
