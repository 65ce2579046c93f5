import { distance } from 'fastest-levenshtein';
import { resourceSpec } from '../resources/registry.js';
import type { ExportColumn } from './column.js';
import { customNamed, fieldNamed, memberColumn, type Naming } from './names.js';
import { isWritable } from './record.js';

/** Names of members that the interface does not list: whether there are such, only the records tell. */

/** `rack`, `location.floor`: what a member can look like. */
const MEMBER = /^[\p{L}_][\p{L}\p{N}_-]*(?:\.[\p{L}\p{N}_][\p{L}\p{N}_ -]*)*$/u;

/** Custom fields are all known before the first record. */
const CUSTOM = /^(?:template|form)(?:\.|$)/i;

/**
 * Whether an unknown name may be that of a member which the records show and nobody described. A name that is near to a
 * known one is taken for a misspelling of it.
 */
export function mayBeMember(name: string, naming: Naming): boolean {
  const text = name.trim();
  if (!MEMBER.test(text) || CUSTOM.test(text) || customNamed(text, naming) || fieldNamed(text, naming)) return false;
  const known = knownNames(naming);
  if (known.has(squeeze(text))) return false;
  const [head = '', ...parts] = text.split('.');
  const begin = `${squeeze(head)}.`;
  const below = [...known].filter((one) => one.startsWith(begin)).map((one) => one.slice(begin.length));
  // Below a member that is known, its own parts are what may be meant.
  if (parts.length > 0 && below.length > 0) return !isNear(parts.join('.'), below);
  if (isNear(text, known)) return false;
  const heads = new Set([...known].map((one) => one.split('.')[0]!));
  const own = squeeze(head);
  return parts.length === 0 || heads.has(own) || ![...heads].some((one) => isMisspelt(own, one));
}

/** The column of such a member, before it is known whether there is one. */
export function guessedColumn(name: string, naming: Naming): ExportColumn | undefined {
  return naming.unlisted && mayBeMember(name, naming) ? memberColumn(name) : undefined;
}

function knownNames({ resource, columns }: Naming): ReadonlySet<string> {
  const names = columns.map(({ heading }) => heading);
  if (isWritable(resource)) {
    for (const { name, aliases } of resourceSpec(resource).fields) names.push(name, ...(aliases ?? []));
  }
  return new Set(names.map(squeeze));
}

/** Also a part of a name is near to it. */
function isNear(text: string, names: Iterable<string>): boolean {
  const wanted = squeeze(text);
  return [...names].some((name) => isMisspelt(wanted, name) || (wanted.length > 3 && name.includes(wanted)));
}

/** Two steps are two letters changed places. Stricter than suggestions are: what is refused here cannot be had at all. */
function isMisspelt(wanted: string, name: string): boolean {
  return distance(wanted, name) <= Math.max(wanted.length < 5 ? 1 : 2, Math.floor(wanted.length / 4));
}

const squeeze = (text: string) =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s_-]+/gu, '');
