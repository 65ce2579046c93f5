import { findCountry } from '../resources/countries.js';
import type { ResourceSpec } from '../resources/spec.js';
import type { Assigned } from './assign.js';
import { type Column, number } from './column.js';
import { shapeOf, shareOf } from './shapes.js';

/** So many values must agree before it is worth a comment. */
const FEWEST = 3;
const NEARLY_ALL = 0.95;

/** What values alone suggest: a comment for a person, never a mapping. Undefined where they say nothing. */
export function guessFromValues(spec: ResourceSpec, column: Column, all: readonly Assigned[]): string | undefined {
  const { sampled } = column;
  const total = sampled.cells.length;
  if (total === 0) return 'no field has such a heading, and every cell is blank';
  if (total < FEWEST) return undefined;
  const free = (name: RegExp) =>
    spec.fields.find(
      (field) =>
        name.test(field.name) &&
        field.derived !== true &&
        field.create !== undefined &&
        !all.some(({ mapped }) => mapped?.field === field),
    )?.name;
  const of = (count: number) => `${number(count)} of ${number(total)} values`;
  const emails = shareOf(sampled, ({ text }) => shapeOf(text) === 'email');
  const email = free(/email$/);
  if (email && emails.share >= NEARLY_ALL)
    return `maybe: ${email}: ${of(emails.count)} are e-mail addresses, but the heading does not say whose`;
  const webs = shareOf(sampled, ({ text }) => shapeOf(text) === 'url');
  if (free(/^website$/) && webs.share >= NEARLY_ALL)
    return `maybe: website: ${of(webs.count)} are web addresses, but the heading does not say so`;
  const nine = shareOf(sampled, ({ text }) => /^\d{9}$/.test(text));
  if (free(/^ein$/) && nine.share >= NEARLY_ALL) {
    return `maybe: ein: ${of(nine.count)} have nine digits, but so have DUNS and other numbers; map it only if these are EINs`;
  }
  const phones = shareOf(sampled, ({ text }) => shapeOf(text) === 'phone' && /\D/.test(text));
  const phone = free(/^(?:phone|mobile)$/);
  if (phone && phones.share >= NEARLY_ALL)
    return `maybe: ${phone}: ${of(phones.count)} look like telephone numbers, but the heading does not say so`;
  const countries = shareOf(sampled, ({ text }) => /^\p{L}{4,}/u.test(text) && findCountry(text) !== undefined);
  if (free(/^country$/) && countries.share >= NEARLY_ALL)
    return `maybe: country: ${of(countries.count)} are countries, but the heading does not say so`;
  return undefined;
}
