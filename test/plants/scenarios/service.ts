import type { Scenario } from '../scenario.js';
import type { Sheet } from '../stage.js';
import { ASSET_COLUMNS, ASSET_JOB, ASSET_STANDS, HEADING, richAsset } from './plain.js';

const sheetOf = (name: string, lines: readonly string[], more: Partial<Sheet> = {}): Sheet => ({
  name,
  resource: 'asset',
  keyField: 'serial_number',
  job: ASSET_JOB,
  columns: ASSET_COLUMNS,
  stands: ASSET_STANDS,
  lines: [HEADING, ...lines],
  ...more,
});

const updates = (count: number) => Array.from({ length: count }, (_, at) => `Old ${at},OLD-${at},7.${at}0,Deployed,`);

/** A service whose PUT drops a field that no row sets: the run stops after one. */
export const lossy: Scenario = {
  name: 'lossy',
  title: 'a PUT that drops a field (29)',
  async play(stage) {
    stage.sandbox.insert(
      'asset',
      Array.from({ length: 6 }, (_, at) => richAsset(at)),
    );
    stage.sandbox.setFaults(['PUT /asset drop_field=asset_notes']);
    await stage.play(sheetOf('lossy', updates(6), { mayLose: ['asset_notes'] }), {
      codes: [1],
      outcomes: Array.from({ length: 6 }, () => 'updated|not_attempted'),
      also: () => {
        const puts = stage.sandbox.commits.length;
        return puts === 1 ? [] : [`${puts} updates were sent to a service that loses a field`];
      },
    });
  },
};

/** The service names a pause, by seconds and by date: nobody sends before. */
export const throttled: Scenario = {
  name: 'throttled',
  title: '429 with Retry-After: nobody sends before (7)',
  async play(stage) {
    stage.sandbox.setFaults([
      'POST /asset nth=2 status=429 retry_after=1',
      'POST /asset nth=5 status=429 retry_after=1',
    ]);
    const rows = Array.from({ length: 6 }, (_, at) => `New ${at},NEW-${at},${at + 1}.50,Stock,Laptop`);
    await stage.play(sheetOf('throttled', rows), {
      argv: ['--concurrency', '1'],
      outcomes: rows.map(() => 'created'),
      also: ({ requests, answers }) =>
        answers
          .filter(({ status }) => status === 429)
          .flatMap(({ at }) => {
            const early = requests.filter((one) => one.at > at && one.at < at + 700);
            return early.length === 0
              ? []
              : [`${early.length} requests within the pause of a second that the service named`];
          }),
    });
  },
};

/** The token is refused in the middle, and writes are redirected: the run stops, and nothing is told that was not done. */
export const redirected: Scenario = {
  name: 'redirected',
  title: 'writes are redirected (17)',
  async play(stage) {
    stage.sandbox.setFaults(['POST /asset from=3 redirect=307 location=/elsewhere']);
    const rows = Array.from({ length: 6 }, (_, at) => `New ${at},NEW-${at},${at + 1}.50,Stock,Laptop`);
    await stage.play(sheetOf('redirected', rows), {
      argv: ['--concurrency', '1'],
      codes: [1],
      outcomes: rows.map((_, at) => (at < 2 ? 'created' : 'not_attempted|failed|unknown')),
      open: 1,
    });
  },
};

/** What reads do not show is known from our own last write: a later update of other fields keeps it. */
export const hidden: Scenario = {
  name: 'hidden',
  title: 'what reads never show is kept by a later update',
  async play(stage) {
    const first = sheetOf('hidden', [], {
      job: `${ASSET_JOB}  Mac: mac_address\n`,
      columns: { ...ASSET_COLUMNS, Mac: 'mac_address' },
      lines: [
        `${HEADING},Mac`,
        ...Array.from({ length: 5 }, (_, at) => `New ${at},NEW-${at},1.00,Stock,Laptop,aa:0${at}`),
      ],
    });
    await stage.play(first, { outcomes: Array.from({ length: 5 }, () => 'created') });
    const rows = Array.from({ length: 5 }, (_, at) => `New ${at},NEW-${at},2.00,Stock,Laptop`);
    await stage.play(sheetOf('later', rows), { outcomes: rows.map(() => 'updated') });
  },
};

/** Two processes, one file: one of them waits, and finds everything there. */
export const together: Scenario = {
  name: 'together',
  title: 'two processes, one file',
  apart: true,
  service: () => ({ switches: { uniqueField: 'ignored' } }),
  async play(stage) {
    let companies = 0;
    let both: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => {
      both = resolve;
    });
    let seconds = 0;
    stage.onRequest(({ method, path }) => {
      if (path.startsWith('/company') && ++companies === 2) both();
      // Once both have begun, the one that is ahead is held for as long as the other needs to look up.
      if (method === 'POST' && seconds++ === 0)
        return begun.then(() => new Promise((resolve) => setTimeout(resolve, 1_500)));
      return undefined;
    });
    const rows = Array.from({ length: 4 }, (_, at) => `New ${at},NEW-${at},${at + 1}.50,Stock,Laptop`);
    await stage.playTwice(sheetOf('together', rows), { argv: ['--concurrency', '1'], env: { ROWFERRY_TIMEOUT: '15' } });
  },
};
