import { excerpt } from '../pipeline/nearest.js';
import type { ResourceName, ResourceSpec } from '../resources/spec.js';
import type { Assigned } from './assign.js';
import { counted } from './column.js';
import { partnersOf } from './partners.js';
import { wordsOf } from './words.js';

/** What is odd about the columns taken together. */
export function warningsOf(spec: ResourceSpec, assigned: readonly Assigned[]): string[] {
  return [
    ...otherParty(spec, assigned),
    ...quantities(spec, assigned),
    ...halfPairs(spec, assigned),
    ...twins(assigned),
  ];
}

/** Names that the heading gives to the other side: a list of customers is easily taken for one of suppliers. */
function otherParty(spec: ResourceSpec, assigned: readonly Assigned[]): string[] {
  const other = OTHER_PARTY[spec.name];
  const named = assigned.find(({ mapped }) => mapped?.field.name === 'name');
  if (!other || !named?.column.words.words.some((word) => other.words.has(word))) return [];
  return [
    `The names come from "${excerpt(named.column.profile.heading)}", a heading for ${other.are}: are these rows ${spec.name}s? If not, run map again with --resource ${other.resource}.`,
  ];
}

const OTHER_PARTY: Partial<
  Record<ResourceName, { readonly are: string; readonly resource: ResourceName; readonly words: ReadonlySet<string> }>
> = {
  supplier: {
    are: 'customers',
    resource: 'customer',
    words: new Set(wordsOf('customer client kunde kundenname cliente').words),
  },
  customer: {
    are: 'suppliers',
    resource: 'supplier',
    words: new Set(wordsOf('supplier vendor lieferant lieferantenname fournisseur proveedor').words),
  },
};

/** A record of an asset is one thing. */
function quantities(spec: ResourceSpec, assigned: readonly Assigned[]): string[] {
  if (spec.name !== 'asset') return [];
  return assigned.flatMap(({ column, mapped }) => {
    if (mapped || !column.words.words.includes('quantity')) return [];
    const more = column.sampled.cells.filter(({ text }) => /^\d{1,9}$/.test(text) && Number(text) > 1).length;
    return more === 0
      ? []
      : [
          `"${excerpt(column.profile.heading)}" is more than 1 in ${counted(more, 'row')}: each row becomes one asset all the same, because the service keeps no quantity.`,
        ];
  });
}

/** Rows that fill one of two fields which the service takes together only. */
function halfPairs(spec: ResourceSpec, assigned: readonly Assigned[]): string[] {
  return assigned.flatMap(({ column, mapped }) => {
    if (!mapped) return [];
    return partnersOf(spec, mapped.field.name).flatMap((name) => {
      const partner = assigned.find((other) => other.mapped?.field.name === name);
      if (!partner) return [];
      const there = new Set(partner.column.sampled.cells.map(({ row }) => row));
      const lonely = column.sampled.cells.filter(({ row }) => !there.has(row)).length;
      if (lonely === 0) return [];
      const [one, other] = [column, partner.column].map(({ profile }) => `"${excerpt(profile.heading)}"`);
      return `In ${counted(lonely, 'row')} ${one} is filled and ${other} is blank: the service needs both, so ${lonely === 1 ? 'that row' : 'those rows'} will be invalid.`;
    });
  });
}

/** Two mapped columns with the same values: one of them is probably not what its heading says. */
function twins(assigned: readonly Assigned[]): string[] {
  const texts = assigned.filter(({ mapped, column }) => {
    const kind = mapped?.field.type.kind;
    return kind === 'text' && column.sampled.cells.length >= 5 && (column.profile.distinct ?? 2) > 1;
  });
  const found: string[] = [];
  for (const [at, one] of texts.entries()) {
    for (const other of texts.slice(at + 1)) {
      const [a, b] = [one.column.sampled.cells, other.column.sampled.cells];
      if (a.length !== b.length || !a.every((cell, i) => cell.row === b[i]!.row && cell.text === b[i]!.text)) continue;
      const [first, second] = [one, other].map(({ column }) => `"${excerpt(column.profile.heading)}"`);
      found.push(
        `${first} and ${second} hold the same values in every row; one of the two fields is probably not meant.`,
      );
      if (found.length >= 5) return found;
    }
  }
  return found;
}
