import { describe, expect, it } from 'vitest';
import { rowSemaphore } from '../../src/pipeline/apply/apply.js';
import type { Permit } from '../../src/pipeline/apply/write.js';

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Places, and the names of those who have got room, in order. */
function openHall(count: number, mostAside = 0) {
  const size = { atWork: count, aside: mostAside };
  const hall = rowSemaphore(size);
  const inside: string[] = [];
  const held = new Map<string, Permit[]>();
  return {
    size,
    inside,
    ask(name: string, rows: number): void {
      void hall.reserve(rows).then(() => {
        inside.push(name);
        held.set(
          name,
          Array.from({ length: rows }, () => hall.acquire()),
        );
      });
    },
    /** So many rows of one who is inside end. */
    async end(name: string, rows: number): Promise<void> {
      for (const place of held.get(name)?.splice(0, rows) ?? []) place.release();
      await settled();
    },
    async stepAside(name: string): Promise<void> {
      for (const place of held.get(name) ?? []) place.park();
      await settled();
    },
  };
}

describe('room for rows', () => {
  it('is given in the order of asking: few do not overtake many', async () => {
    const hall = openHall(10);
    hall.ask('a', 6);
    hall.ask('many', 6);
    hall.ask('few', 1);
    await settled();
    expect(hall.inside).toEqual(['a']);
    await hall.end('a', 2);
    expect(hall.inside).toEqual(['a', 'many']);
    await hall.end('a', 1);
    expect(hall.inside).toEqual(['a', 'many', 'few']);
  });

  it('is given to more than there are places once nobody is at work', async () => {
    const hall = openHall(10);
    hall.ask('a', 3);
    hall.ask('many', 8);
    await settled();
    hall.size.atWork = 2;
    await hall.end('a', 2);
    expect(hall.inside).toEqual(['a']);
    await hall.end('a', 1);
    expect(hall.inside).toEqual(['a', 'many']);
  });

  it('is made by rows that step aside, as many as may', async () => {
    const hall = openHall(2, 3);
    hall.ask('a', 2);
    hall.ask('b', 2);
    hall.ask('c', 1);
    await settled();
    await hall.stepAside('a');
    expect(hall.inside).toEqual(['a', 'b']);
    // One more may stand aside; the other row keeps its place until it ends.
    await hall.stepAside('b');
    expect(hall.inside).toEqual(['a', 'b', 'c']);
    hall.ask('d', 1);
    await hall.end('a', 2);
    expect(hall.inside).toEqual(['a', 'b', 'c']);
    await hall.end('b', 2);
    expect(hall.inside).toEqual(['a', 'b', 'c', 'd']);
  });
});
