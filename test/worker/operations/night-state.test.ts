import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import type { EndedRun } from '../../../src/worker/operations/ended.js';
import { noteNight } from '../../../src/worker/operations/night-state.js';
import type { Notification } from '../../../src/worker/operations/notification.js';
import { type NotifierOptions, openNotifier } from '../../../src/worker/operations/notifier.js';
import type { NotifierState } from '../../../src/worker/operations/notifier-port.js';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

/** A night on which orphans could not be dealt with. */
const OPEN = { status: 'partial' } as const;
const DAY = 86_400_000;
const START = Date.UTC(2026, 10, 21, 2, 0);

/** Faithful to the store: a swap is one step. */
function memory(): NotifierState & { texts: Map<string, string> } {
  const texts = new Map<string, string>();
  return {
    texts,
    read: async (name) => texts.get(name),
    swap: async (name, text) => {
      const before = texts.get(name);
      texts.set(name, text);
      return before;
    },
  };
}

/** A night: rows that need a person, and orphans, undefined where the run could not tell them. */
type Night = readonly [needsPerson: number, orphans?: number, more?: Partial<EndedRun>];

function night(index: number, [needsPerson, orphans, more = {}]: Night): EndedRun {
  return {
    kind: 'reconcile',
    job: 'erp',
    trigger: 'schedule',
    status: needsPerson > 0 ? 'partial' : 'succeeded',
    run: `run-${index}`,
    company: 1,
    counts: { unchanged: 100, invalid: needsPerson },
    ...(orphans !== undefined && { orphans }),
    reports: `/data/runs/run-${index}`,
    endedAt: START + index * DAY,
    ...more,
  };
}

async function told(nights: readonly Night[], options: Partial<NotifierOptions> = {}): Promise<Notification[]> {
  const dir = await mkdtemp(join(tmpdir(), 'rowferry-nights-'));
  cleanups.push(() => rm(dir, { recursive: true, force: true }));
  const file = join(dir, 'events.ndjson');
  const state = memory();
  const log = pino({ level: 'silent' });
  const notifier = openNotifier({ state, log, userAgent: 'rowferry/test', file, ...options });
  for (const [index, one] of nights.entries()) notifier.ended(night(index, one));
  await notifier.close();
  const text = await readFile(file, 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Notification);
}

const brief = (all: readonly Notification[]): string[] => all.map(({ event, run }) => `${event} ${run}`);

describe('nights of a reconcile job', () => {
  it.each<[string, Night[], string[]]>([
    ['nothing to tell at first', [[0, 5]], []],
    ['rows that need a person at first', [[2, 5]], ['worse run-0']],
    [
      'nothing changed',
      [
        [2, 5],
        [2, 5],
        [2, 5],
      ],
      ['worse run-0'],
    ],
    [
      'better, but not well',
      [
        [5, 5],
        [2, 3],
      ],
      ['worse run-0'],
    ],
    [
      'more rows',
      [
        [0, 0],
        [1, 0],
        [2, 0],
      ],
      ['worse run-1', 'worse run-2'],
    ],
    [
      'more orphans',
      [
        [0, 5],
        [0, 6],
        [0, 6],
      ],
      ['worse run-1'],
    ],
    [
      'fewer orphans',
      [
        [0, 5],
        [0, 4],
        [0, 0],
      ],
      [],
    ],
    [
      'well again',
      [
        [3, 1],
        [0, 1],
        [0, 1],
      ],
      ['worse run-0', 'recovered run-1'],
    ],
    [
      'well in the rows, worse in the orphans',
      [
        [3, 1],
        [0, 2],
      ],
      ['worse run-0', 'worse run-1', 'recovered run-1'],
    ],
    [
      'orphans that need a person',
      [
        [0, 5],
        [0, 5, OPEN],
        [0, 5, OPEN],
        [0, 5],
      ],
      ['worse run-1', 'recovered run-3'],
    ],
    [
      'rows first, then orphans that need one',
      [
        [2, 5],
        [0, 5, OPEN],
        [0, 5],
      ],
      ['worse run-0', 'recovered run-2'],
    ],
    ['worse after better', [[3], [1], [2]], ['worse run-0', 'worse run-2']],
    ['orphans that could not be told', [[0, 5], [0], [0, 5], [0, 6]], ['worse run-3']],
    ['orphans told late', [[0], [0, 9], [0, 9]], []],
    [
      'nights that did not finish',
      [
        [0, 5],
        [9, 9, { status: 'interrupted' }],
        [0, 5],
      ],
      [],
    ],
    [
      'a rehearsal',
      [
        [0, 5],
        [9, 9, { dryRun: true }],
        [0, 5],
      ],
      [],
    ],
    ['data of its own', [[9, 9, { inline: true }]], []],
    [
      'another company',
      [
        [0, 5],
        [2, 9, { company: 2 }],
        [0, 5],
      ],
      ['worse run-1'],
    ],
    [
      'imports',
      [
        [2, 5, { kind: 'import' }],
        [3, 5, { kind: 'import' }],
      ],
      [],
    ],
  ])('%s', async (_, nights, expected) => {
    expect(brief(await told(nights))).toEqual(expected);
  });

  it('say in a sentence what was and what is, and where the report lies', async () => {
    const bodies = await told([[3, 5], [12, 5], [0, 7], [1]]);
    expect(bodies.map(({ event, text }) => `${event}: ${text}`)).toEqual([
      'worse: erp needs a look after its first run: 3 rows need a person, 5 orphans. Run run-0. Reports: /data/runs/run-0',
      'worse: erp is worse than at its last run: 12 rows need a person (before: 3), 5 orphans. Run run-1. Reports: /data/runs/run-1',
      'worse: erp is worse than at its last run: no row needs a person (before: 12), 7 orphans (before: 5). Run run-2. Reports: /data/runs/run-2',
      'recovered: erp is well again: no row needs a person (before: 12), 7 orphans (before: 5). Run run-2. Reports: /data/runs/run-2',
      'worse: erp is worse than at its last run: 1 row needs a person (before: 0), 7 orphans. Run run-3. Reports: /data/runs/run-3',
    ]);
    expect(bodies[1]).toEqual({
      id: expect.any(String),
      event: 'worse',
      job: 'erp',
      at: '2026-11-22T02:00:00.000Z',
      text: expect.any(String),
      run: 'run-1',
      status: 'partial',
      trigger: 'schedule',
      company: 1,
      rows: { unchanged: 100, invalid: 12 },
      reports: '/data/runs/run-1',
      needs_person: 12,
      needs_person_before: 3,
      orphans: 5,
      orphans_before: 5,
    });
    expect(bodies[0]).not.toHaveProperty('needs_person_before');
  });

  it('say that orphans need a person', async () => {
    const [worse] = await told([
      [0, 5],
      [0, 5, OPEN],
    ]);
    expect(worse?.text).toContain(
      'worse than at its last run: no row needs a person, 5 orphans, some of which need a person. Run',
    );
  });

  it('tell a job that a brake stopped as failing, and leave the numbers as they were', async () => {
    const braked = { status: 'braked', reason: 'Too many orphans.' } as const;
    const bodies = await told([
      [2, 5],
      [0, 90, braked],
      [0, 90, braked],
      [2, 5],
      [3, 5],
    ]);
    expect(brief(bodies)).toEqual(['worse run-0', 'failing run-1', 'recovered run-3', 'worse run-4']);
  });

  it('are told once, whichever of several workers, and also where the end of a run is told twice', async () => {
    const state = memory();
    const runs = [night(0, [0, 5]), night(1, [3, 5])] as const;
    const first = await Promise.all([noteNight(state, runs[0], START), noteNight(state, runs[0], START)]);
    expect(first.flat()).toEqual([]);
    const ends = await Promise.all(Array.from({ length: 4 }, () => noteNight(state, runs[1], START)));
    expect(ends.flat()).toMatchObject([{ event: 'worse', before: { needsPerson: 0, orphans: 5 } }]);
    await ends.flat()[0]?.told();
    expect(await noteNight(state, runs[1], START + DAY)).toEqual([]);
    expect(await noteNight(state, night(2, [3, 5]), START + 2 * DAY)).toEqual([]);
  });

  it('are told by the next run where nobody did, if it still holds', async () => {
    const state = memory();
    await noteNight(state, night(0, [0, 5]), START);
    expect(await noteNight(state, night(1, [3, 5]), START + DAY)).toHaveLength(1);
    expect(await noteNight(state, night(2, [3, 5]), START + DAY + 1_000)).toEqual([]);
    const [again] = await noteNight(state, night(3, [3, 4]), START + 2 * DAY);
    expect(again).toMatchObject({ event: 'worse', before: { needsPerson: 0, orphans: 5 }, now: { needsPerson: 3 } });
    const next = await noteNight(state, night(4, [0, 4]), START + 3 * DAY);
    expect(next).toMatchObject([{ event: 'recovered', before: { needsPerson: 3 } }]);
    const late = await noteNight(state, night(5, [0, 4]), START + 4 * DAY);
    expect(late).toMatchObject([{ event: 'recovered', before: { needsPerson: 3 } }]);
    await late[0]?.told();
    expect(await noteNight(state, night(6, [0, 4]), START + 5 * DAY)).toEqual([]);
  });

  it('of a state that another version wrote begin anew', async () => {
    const state = memory();
    for (const text of ['no json', '{"run":1}', '[]', 'null']) {
      state.texts.set('notify.night.1.erp', text);
      expect(await noteNight(state, night(1, [1, 5]), START)).toHaveLength(1);
    }
  });
});
