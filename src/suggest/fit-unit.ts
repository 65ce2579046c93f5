import type { FieldSpec } from '../resources/spec.js';
import type { Column } from './column.js';

const SCALES = new Set([
  'thousand',
  '000',
  'k',
  'keur',
  'kusd',
  'tsd',
  'million',
  'mio',
  'mn',
  'm',
  'bn',
  'billion',
  'tausend',
  'millier',
  'millione',
  'millonar',
  'mil',
  'mile',
  'millone',
]);
const OTHER_PERIODS = new Set([
  'month',
  'week',
  'year',
  'monat',
  'monate',
  'woche',
  'wochen',
  'jahr',
  'jahre',
  'moi',
  'semaine',
  'mese',
  'semana',
  'year',
]);

/** A heading whose unit is not the field's: such numbers would pass every check and be wrong. */
export function wrongUnit({ words, profile }: Column, field: FieldSpec): string | undefined {
  if (field.name === 'notice_period') {
    const unit = [...words.words, ...words.aside].find((word) => OTHER_PERIODS.has(word));
    return unit ? `the field is in days, and the heading says "${unit}"` : undefined;
  }
  if (field.type.kind !== 'decimal') return undefined;
  const scale =
    words.aside.find((word) => SCALES.has(word)) ?? words.words.find((word) => word.length > 2 && SCALES.has(word));
  if (scale !== undefined || /[k€$£]\s*000|\bin 000/i.test(profile.heading))
    return `the heading says that the amounts are in another unit ("${scale ?? '000'}")`;
  return words.words.includes('percent') ? 'the heading says that these are percentages' : undefined;
}
