import { createHash } from 'node:crypto';
import { Fault } from './operation.js';

/** Where a list goes on, as a text that is good for the same list with the same filters alone. */
export function cursorOf(list: string, place: string): string {
  const seal = createHash('sha256').update(`${list}\n${place}`).digest('base64url').slice(0, 22);
  return `${Buffer.from(place).toString('base64url')}.${seal}`;
}

/** Undefined for the first page. Throws a problem (400) for a text that was not handed out for this list. */
export function placeOf(list: string, cursor: string | undefined): string | undefined {
  if (cursor === undefined) return undefined;
  const place = Buffer.from(cursor.split('.', 1)[0] ?? '', 'base64url').toString();
  if (cursorOf(list, place) === cursor) return place;
  throw new Fault(
    400,
    '`after` is none of the cursors of this list. Take `next` of its page before, with the same filters.',
  );
}

/** A page of what was begun at some time, by the ids of runs, the newest first. */
export function newestFirst<T>(
  list: string,
  all: readonly T[],
  idOf: (one: T) => string,
  { after, limit }: { readonly after?: string | undefined; readonly limit: number },
): { readonly page: readonly T[]; readonly next: string | null } {
  const place = placeOf(list, after);
  const left = all
    .filter((one) => place === undefined || idOf(one) < place)
    .sort((one, other) => (idOf(one) < idOf(other) ? 1 : -1));
  const page = left.slice(0, limit);
  const last = page.at(-1);
  return { page, next: left.length > limit && last !== undefined ? cursorOf(list, idOf(last)) : null };
}
