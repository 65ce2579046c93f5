import { afterAll, describe, expect, it } from 'vitest';
import type { Queue } from '../../src/api/schema.js';
import { closeBrowser, hasBrowser } from './browser.js';
import * as sample from './samples.js';
import { type Answers, SESSION, type Stage, stage } from './stage.js';

type Queued = Queue['active'][number];
const { ID } = sample;
const queued = (change: Partial<Queued> = {}): Queued => ({
  id: `run.${ID}`,
  run: ID,
  kind: 'import',
  job: 'assets',
  file: 'inventory-of-all-sites-2026-03-31-final-corrected-2.xlsx',
  at: '2026-03-31T06:00:00Z',
  progress: null,
  reason: null,
  ...change,
});
const progress = (done: number) => ({
  phase: 'writing',
  done,
  total: 240,
  outcomes: sample.counts({ created: done - 5, invalid: 5 }),
});
const queue = (change: Partial<Queue> = {}): Queue => ({
  address: 'embedded, in /srv/rowferry',
  workers: 1,
  counts: { waiting: 480, active: 1, delayed: 1, failed: 1, completed: 204 },
  waiting: [queued({ id: 'w1' }), queued({ id: 'w2', run: null, job: 'inline', kind: 'export', file: null })],
  active: [queued({ progress: progress(96) })],
  failed: [
    queued({ id: 'f1', reason: 'The job file `assets` has 2 faults. Nothing was sent; correct what is listed.' }),
  ],
  ...change,
});
const NONE = { waiting: 0, active: 0, delayed: 0, failed: 0, completed: 0 };
const LIVE = sample.detail({
  status: 'running',
  summary: null,
  progress: progress(96),
  host: 'erp-2',
  actions: { ...sample.ACTIONS, stop: { allowed: true } },
});
const BUSY: Answers = { 'GET /queue': queue(), [`GET /runs/${ID}`]: LIVE };

const STATES: readonly {
  name: string;
  answers: Answers;
  says: string | RegExp;
  act?: (one: Stage) => Promise<unknown>;
}[] = [
  { name: 'queue', answers: BUSY, says: 'Waiting: 2 of 481' },
  {
    name: 'queue-viewer',
    answers: { ...BUSY, 'GET /session': { ...SESSION, role: 'viewer' } },
    says: 'You are signed in as viewer',
  },
  {
    name: 'queue-empty',
    answers: { 'GET /queue': queue({ counts: NONE, waiting: [], active: [], failed: [] }) },
    says: 'Nothing runs, waits or has failed',
  },
  {
    name: 'queue-nobody',
    answers: { 'GET /queue': queue({ workers: 0, active: [] }) },
    says: 'Nobody works on this queue',
  },
  {
    name: 'queue-cut-off',
    answers: BUSY,
    says: /The run does not need this page. Last seen \d\d:\d\d/,
    async act({ page, answers }) {
      await page.getByText('96 of 240 rows are through').waitFor();
      answers['GET /queue'] = 500;
    },
  },
  { name: 'queue-failed', answers: { 'GET /queue': 500 }, says: 'That did not work' },
  { name: 'queue-loading', answers: { 'GET /queue': undefined }, says: 'Queue' },
];

afterAll(closeBrowser);

describe.skipIf(!hasBrowser)('the queue', () => {
  it.each(STATES)('$name', async ({ name, answers, says, act }) => {
    const one = await stage(answers);
    try {
      await one.page.goto('/queue');
      await act?.(one);
      await one.page
        .getByText(says)
        .first()
        .waitFor({ state: name === 'queue-viewer' ? 'attached' : 'visible' });
      await one.page.locator('h1').waitFor();
      expect(await one.look(name)).toEqual([]);
      expect(one.faults).toEqual([]);
    } finally {
      await one.close();
    }
  });

  it('changes in place, and stops what works once it was said what that does', async () => {
    const { page, answers, sent, close } = await stage({ ...BUSY, [`POST /runs/${ID}/stop`]: { id: ID } });
    try {
      await page.goto('/queue');
      await page.getByText('96 of 240 rows are through').waitFor();
      answers['GET /queue'] = queue({ active: [queued({ progress: progress(120) })] });
      await page.getByText('120 of 240 rows are through').waitFor();
      expect(await page.getByText('on erp-2').count()).toBe(1);
      await page.getByRole('button', { name: 'Stop' }).focus();
      await page.keyboard.press('Enter');
      await page.getByText(/The \d+ rows not come to stay as they are/).waitFor();
      expect(sent).toEqual([]);
      await page.getByRole('button', { name: 'Stop the run' }).click();
      await page.getByRole('dialog').waitFor({ state: 'hidden' });
      expect(sent).toEqual([{ what: `POST /runs/${ID}/stop`, body: {} }]);
    } finally {
      await close();
    }
  });
});
