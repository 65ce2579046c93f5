import { createHmac, timingSafeEqual } from 'node:crypto';
import { homeId } from '../worker/jobs/home.js';
import { Fault } from './operation.js';

/**
 * Where a list goes on, as a text that says nothing to whoever holds it: sealed, so that what comes back is what was handed out, for
 * the same list with the same filters.
 */
export class Cursors {
  private key: string | undefined;

  constructor(private readonly home: string) {}

  seal(list: string, place: string): string {
    const text = Buffer.from(place).toString('base64url');
    return `${text}.${this.sign(list, text)}`;
  }

  /** Undefined for the first page. Throws a problem (400) for a text that was not handed out for this list. */
  open(list: string, cursor: string | undefined): string | undefined {
    if (cursor === undefined) return undefined;
    const [text = '', seal = ''] = cursor.split('.');
    const [one, other] = [Buffer.from(seal), Buffer.from(this.sign(list, text))];
    if (one.length === other.length && timingSafeEqual(one, other)) return Buffer.from(text, 'base64url').toString();
    throw new Fault(
      400,
      '`after` is none of the cursors of this list. Take `next` of its page before, with the same filters.',
    );
  }

  /** A page of what was begun at some time, by the ids of runs, the newest first. */
  newestFirst<T>(
    list: string,
    all: readonly T[],
    idOf: (one: T) => string,
    { after, limit }: { readonly after?: string | undefined; readonly limit: number },
  ): { readonly page: readonly T[]; readonly next: string | null } {
    const place = this.open(list, after);
    const left = all
      .filter((one) => place === undefined || idOf(one) < place)
      .sort((one, other) => (idOf(one) < idOf(other) ? 1 : -1));
    const page = left.slice(0, limit);
    const last = page.at(-1);
    return { page, next: left.length > limit && last !== undefined ? this.seal(list, idOf(last)) : null };
  }

  private sign(list: string, text: string): string {
    this.key ??= homeId(this.home);
    return createHmac('sha256', this.key).update(`${list}\n${text}`).digest('base64url').slice(0, 22);
  }
}
