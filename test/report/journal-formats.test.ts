import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RunError } from '../../src/model/error.js';
import { type Entry, JOURNAL_VERSION, openJournal, readJournal } from '../../src/report/journal.js';
import { runFolder } from '../../src/runs/layout.js';
import { readPast } from '../../src/runs/past.js';

const RUN = '20260101T020000000Z-1a2b';

let home: string;
let path: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'rowferry-journal-'));
  path = runFolder(home, RUN).journal;
  await mkdir(dirname(path), { recursive: true });
});
afterEach(() => rm(home, { recursive: true, force: true }));

async function entries(): Promise<Entry[]> {
  const all: Entry[] = [];
  for await (const { entry } of readJournal(path)) all.push(entry);
  return all;
}

/** What keeps a journal from being read; undefined where nothing does. */
const refusal = () =>
  entries().then(
    () => undefined,
    (error: unknown) => error as RunError,
  );

/**
 * Format 1, byte for byte as rowferry 0.1.0 wrote it. It stands for the journals on the disks of users and never changes: a
 * later version reads it, or refuses it by name.
 */
const FORMAT_1 = `\
369cbb4b {"t":"run","v":1,"run":"20260101T020000000Z-1a2b","data":{"resumed":false}}
430b62c2 {"t":"outcome","outcome":{"ref":{"row":2},"kind":"invalid","key":"K-2","attempts":0,"issues":[{"code":"required","severity":"error","field":"name","column":"Name","message":"Name is empty."}],"changed":[]}}
4d00a306 {"t":"phase","phase":"passed"}
28da7cbd {"t":"intent","row":3,"op":"create","key":"K-3","hash":"9f86d081884c7d65","at":1767232800000}
130724e9 {"t":"intent","row":4,"op":"update","key":"K-4","id":41,"hash":"60303ae22b998861","at":1767232800001}
ba027904 {"t":"outcome","outcome":{"ref":{"row":4},"kind":"updated","key":"K-4","id":41,"attempts":1,"issues":[],"changed":["original_cost"]},"diff":[{"field":"original_cost","old":"5.00","new":"11.00","kind":"set"}]}
d9016808 {"t":"intent","row":5,"op":"create","key":"Zoë „5“","hash":"fd61a03af4f77d87","at":1767232800002}
753550ac {"t":"outcome","outcome":{"ref":{"row":5},"kind":"created","key":"Zoë „5“","attempts":1,"issues":[],"changed":["name"]}}
66e50ac8 {"t":"ids","ids":[[5,77]]}
5d5dbf95 {"t":"phase","phase":"requests","data":{"total":4,"reads":1,"writes":3,"retries":0}}
`;

const asLine = (entry: unknown) => {
  const json = JSON.stringify(entry);
  return `${crc32(json).toString(16).padStart(8, '0')} ${json}\n`;
};

describe('journals of other versions', () => {
  it('one of format 1 is read: what is done, what is open, what was learned (48)', async () => {
    await writeFile(path, FORMAT_1);
    const past = await readPast(runFolder(home, RUN));
    expect([past.begun, past.sent, past.passed]).toEqual([true, true, true]);
    expect([2, 3, 4, 5].map(past.outcomes.get)).toEqual(['invalid', undefined, 'updated', 'created']);
    expect(past.outcomes.size).toBe(3);
    expect([...past.open]).toEqual([[3, { op: 'create', at: 1767232800000 }]]);
    expect([2, 3, 4, 5].map(past.ids.get)).toEqual([undefined, undefined, 41, 77]);
    expect(past.requests).toEqual({ total: 4, reads: 1, writes: 3, retries: 0 });
  });

  it('what is written today is of the format that it says, so that today’s journals are that fixture (48)', async () => {
    await writeFile(path, FORMAT_1);
    const read = await entries();
    await rm(path);
    const journal = await openJournal(path);
    journal.append(read);
    await journal.close();
    expect(await readFile(path, 'utf8')).toBe(FORMAT_1);
    expect(JOURNAL_VERSION).toBe(1);
  });

  it('a newer one is refused by name, wherever it begins, and is not touched (48)', async () => {
    const newer = { t: 'run', v: JOURNAL_VERSION + 1, run: RUN };
    const unknown = { t: 'mark', row: 3 };
    for (const [text, words] of [
      [asLine(newer), 'format 2 in line 1'],
      [FORMAT_1 + asLine(newer), 'format 2 in line 11'],
      [FORMAT_1 + asLine(unknown), 'entries of kind "mark" in line 11'],
    ] as const) {
      await writeFile(path, text);
      for (const read of [entries, () => openJournal(path), () => readPast(runFolder(home, RUN))]) {
        const error = await read().then(
          () => undefined,
          (reason: unknown) => reason,
        );
        expect(error).toBeInstanceOf(RunError);
        expect((error as RunError).message).toContain(words);
        expect((error as RunError).message).toContain(path);
        expect((error as RunError).message).toContain('Continue the run with the version that began it.');
      }
      expect(await readFile(path, 'utf8')).toBe(text);
    }
  });
});

const someEntry = fc.oneof(
  fc.record({
    t: fc.constant('intent' as const),
    row: fc.nat(99_999),
    op: fc.constantFrom('create' as const, 'update' as const),
    key: fc.string({ unit: 'grapheme', maxLength: 60 }),
    hash: fc.constant('9f86d081884c7d65'),
    at: fc.nat(),
  }),
  fc.record({ t: fc.constant('phase' as const), phase: fc.string({ maxLength: 12 }), data: fc.jsonValue() }),
  fc.record({
    t: fc.constant('ids' as const),
    ids: fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 40 }),
  }),
) as fc.Arbitrary<Entry>;

describe('journals that a crash or the disk has damaged', () => {
  it('over several processes, each cut off at any byte: whole lines are kept, torn ones are never half read (48)', async () => {
    const sessions = fc.array(
      fc.tuple(fc.array(someEntry, { minLength: 1, maxLength: 8 }), fc.double({ min: 0, max: 1, noNaN: true })),
      {
        minLength: 1,
        maxLength: 5,
      },
    );
    await fc.assert(
      fc.asyncProperty(sessions, async (given) => {
        await rm(path, { force: true });
        let whole: Entry[] = [];
        for (const [more, where] of given) {
          const journal = await openJournal(path);
          journal.append(more);
          await journal.close();
          const sent = JSON.parse(JSON.stringify([...whole, ...more])) as Entry[];
          expect(await entries()).toEqual(sent);
          const bytes = await readFile(path);
          const cut = Math.round(where * bytes.length);
          await writeFile(path, bytes.subarray(0, cut));
          // Every line that ends before the cut was durable, and stays.
          whole = sent.slice(0, bytes.subarray(0, cut).filter((byte) => byte === 10).length);
          expect(await entries()).toEqual(whole);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('a byte that is not what was written is refused with file and line, also far behind the first block that is read (48)', async () => {
    const list = Array.from(
      { length: 4_000 },
      (_, row): Entry => ({
        t: 'intent',
        row,
        op: 'create',
        key: `K-${row}-${'x'.repeat(row % 97)}`,
        hash: '9f86d081884c7d65',
        at: 1,
      }),
    );
    const journal = await openJournal(path);
    journal.append(list);
    await journal.close();
    const bytes = await readFile(path);
    expect(bytes.length).toBeGreaterThan(2 * 256 * 1024);
    const ends = [...bytes.entries()].filter(([, byte]) => byte === 10).map(([at]) => at);
    // What stands at the very end may be torn. A damaged line end joins two lines, so the last two are left alone.
    const last = ends.at(-3) ?? 0;
    await fc.assert(
      fc.asyncProperty(fc.nat(last - 1), fc.integer({ min: 1, max: 255 }), async (at, mask) => {
        const damaged = Buffer.from(bytes);
        damaged[at] = (damaged[at] ?? 0) ^ mask;
        await writeFile(path, damaged);
        const number = ends.findIndex((end) => end >= at) + 1;
        expect((await refusal())?.message).toContain(`${path} is damaged in line ${number}:`);
      }),
      { numRuns: 40 },
    );
  });
});
