import type { Page } from '../port.js';
import { idOf } from '../transport/answer.js';
import { formOf, type Held } from './held.js';

/** One page of so many is looked at. */
const SHARE = 400;
/** Moves the places from reading to reading, so that over time they are spread over the whole list. */
const GOLDEN = 0.618033988749895;

/**
 * Looks at a few pages of the list in its own order, other ones at every reading: do they hold just the records that are held
 * there? A service that writes records without moving them to the front is found out so, sooner or later. Returns what does
 * not fit, in words.
 */
export async function spotCheck(
  read: (page: number) => Promise<Page>,
  held: Held,
  pageSize: number,
  turn: number,
): Promise<string | undefined> {
  const pages = Math.ceil(held.size / pageSize);
  const looks = Math.ceil(pages / SHARE);
  for (let look = 0; look < looks; look++) {
    const number = 1 + Math.floor(((look + ((turn * GOLDEN) % 1)) * pages) / looks);
    const page = await read(number);
    if (page.count !== held.size) return `the service counts ${page.count} records, where ${held.size} are known`;
    const expected = held.slice((number - 1) * pageSize, number * pageSize);
    const fits =
      page.results.length === expected.length &&
      page.results.every((record, at) => {
        const id = idOf(record);
        return id !== undefined && id === expected[at] && held.look(id)?.hash === formOf(record).hash;
      });
    if (!fits) return `page ${number} of the list does not hold what is known of it`;
  }
  return undefined;
}
