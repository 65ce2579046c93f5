import codes from 'i18n-iso-countries/codes.json' with { type: 'json' };
import english from 'i18n-iso-countries/langs/en.json' with { type: 'json' };
import { describe, expect, it } from 'vitest';
import { countryByCode, countryWords, findCountry, suggestCountry } from '../../src/resources/countries.js';

describe('findCountry', () => {
  it('finds every country by each of its codes and by its English name', () => {
    expect(codes.length).toBeGreaterThan(240);
    for (const [alpha2 = '', alpha3 = '', numeric = ''] of codes) {
      const id = Number(numeric);
      const name = countryByCode(id)?.name ?? 'missing';
      for (const text of [alpha2, alpha3, alpha2.toLowerCase(), numeric, String(id)]) {
        expect(findCountry(text), text).toEqual({ id, name });
      }
      // "Congo" alone is the name of two countries.
      if (name !== 'Congo') expect(findCountry(name), name).toEqual({ id, name });
    }
  });

  it('finds other English names, except those that several countries have', () => {
    const names = Object.values(english.countries).flat();
    expect(names.filter((name) => !findCountry(name))).toEqual(['Congo', 'Congo']);
  });

  it.each<[string, number]>([
    ['USA', 840],
    ['u.s.a.', 840],
    ['The United States', 840],
    ['840', 840],
    ['036', 36],
    ['36', 36],
    ['UK', 826],
    ['Great Britain', 826],
    ['Deutschland', 276],
    ['Allemagne', 276],
    ['España', 724],
    ['Espana', 724],
    ['Pays-Bas', 528],
    ['Reino Unido', 826],
    ['Italia', 380],
    ['Brasil', 76],
    ['Österreich', 40],
    ['Côte d’Ivoire', 384],
    ['St. Lucia', 662],
    ['Trinidad & Tobago', 780],
    ['Korea, Republic of', 410],
    ['Niger', 562],
    ['Nigeria', 566],
    ['DR Congo', 180],
    ['  france ', 250],
    ['ＦＲＡＮＣＥ', 250],
  ])('%s', (text, id) => {
    expect(findCountry(text)?.id).toBe(id);
  });

  it.each([
    '',
    ' ',
    'Congo',
    'Korea',
    'England',
    'Scotland',
    'Wales',
    'Northern Ireland',
    'ZZ',
    '000',
    '999',
    '1840',
    'Atlantis',
    'constructor',
    '__proto__',
  ])('"%s" is none', (text) => {
    expect(findCountry(text)).toBeUndefined();
  });
});

describe('suggestCountry', () => {
  it.each<[string, string]>([
    ['England', 'United Kingdom'],
    ['SCOTLAND', 'United Kingdom'],
    ['Wales', 'United Kingdom'],
    ['Northern Ireland', 'United Kingdom'],
    ['Korea', 'South Korea'],
  ])('%s → %s', (text, expected) => {
    expect(suggestCountry(text)[0]).toBe(expected);
  });

  it('gives codes where the name that was meant is the one that is refused', () => {
    for (const text of ['Congo', 'CONGO', 'Kongo']) {
      expect(suggestCountry(text).map(countryWords), text).toEqual([
        '"CG" (Congo)',
        '"CD" (Democratic Republic of the Congo)',
      ]);
    }
    expect(suggestCountry('England').map(countryWords)).toEqual(['"United Kingdom"']);
  });

  it('only ever suggests what is found', () => {
    for (const text of ['Congo', 'Korea', 'Virgin Islands', 'Channel Islands']) {
      const near = suggestCountry(text);
      expect(near.length, text).toBeGreaterThan(0);
      for (const one of near) expect(findCountry(one), `${text} → ${one}`).toBeDefined();
    }
  });

  it('suggests nothing for other texts', () => {
    for (const text of ['', 'x', 'qqqqqqqq', 'constructor', '__proto__'])
      expect(suggestCountry(text), text).toEqual([]);
  });
});
