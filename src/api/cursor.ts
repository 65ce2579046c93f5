import { createHmac, timingSafeEqual } from 'node:crypto';
import { Fault } from './operation.js';

/**
 * Where a list goes on, as a text that says nothing to whoever holds it: sealed, so that what comes back is what was handed out, for
 * the same list with the same filters.
 */
export class Cursors {
  constructor(private readonly secret: () => string) {}

  seal(list: string, place: string): string {
    const text = Buffer.from(place).toString('base64url');
    return `${text}.${this.sign(list, text)}`;
  }

  /** Throws a problem (400) for a text that was not handed out for this list. */
  open(list: string, cursor: string): string {
    const [text = '', seal = ''] = cursor.split('.');
    const [one, other] = [Buffer.from(seal), Buffer.from(this.sign(list, text))];
    if (one.length === other.length && timingSafeEqual(one, other)) return Buffer.from(text, 'base64url').toString();
    throw new Fault(
      400,
      '`after` is none of the cursors of this list. Take `next` of its page before, with the same filters.',
    );
  }

  private sign(list: string, text: string): string {
    return createHmac('sha256', this.secret()).update(`${list}\n${text}`).digest('base64url').slice(0, 22);
  }
}
