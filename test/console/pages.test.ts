import { afterAll, describe, expect, it } from 'vitest';
import { until } from '../support/until.js';
import { closeBrowser, hasBrowser } from './browser.js';
import * as sample from './samples.js';
import { type Answers, SESSION, type Stage, stage } from './stage.js';

const { ID } = sample;
const RUN: Answers = {
  [`GET /runs/${ID}`]: sample.detail(),
  [`GET /runs/${ID}/rows`]: sample.rowsOf(240),
  [`GET /runs/${ID}/rows/7`]: sample.STORY,
  [`GET /runs/${ID}/faults`]: sample.FAULTS,
  [`GET /runs/${ID}/plan`]: sample.PLAN,
};
const FIELD = { group: 'Texts', type: 'text', required: false, choices: [], of: null, written: true, updated: true };
const RESOURCES = {
  resources: [
    {
      ...{ name: 'asset', imported: true, exported: true },
      fields: [
        { ...FIELD, name: 'name', label: 'Name' },
        {
          ...FIELD,
          name: 'lifecycle_stage',
          label: 'Lifecycle stage',
          type: 'choice',
          choices: ['Deployed', 'Retired'],
        },
      ],
    },
  ],
};
const LIVE = sample.detail({
  actions: { ...sample.ACTIONS, stop: { allowed: true }, retry: { allowed: false }, undo: { allowed: false } },
  status: 'running',
  summary: null,
  reports: [],
  outcomes: null,
  needs_person: null,
});
const BRAKED = sample.detail({
  status: 'braked',
  kind: 'reconcile',
  reason: 'max_updates: 98 of 240 rows (41%) would be updated; the limit is 25%.',
  outcomes: sample.counts({ not_attempted: 98, unchanged: 142 }),
  summary: sample.summary({
    status: 'braked',
    kind: 'reconcile',
    rows: sample.counts({ not_attempted: 98, unchanged: 142 }),
    reconcile: { orphans: { total: 0, fresh: 0, acted: 0, waiting: 0, settled: 0, held: 0 } },
  }),
  actions: { ...sample.ACTIONS, approve: { allowed: true } },
});
const progress = (done: number, more: object = {}) => ({
  phase: 'writing',
  done,
  total: 240,
  outcomes: sample.counts({ created: done }),
  ...more,
});

/** Every page in every state: what its first line says, and how it looks. */
const STATES: readonly {
  name: string;
  path: string;
  answers: Answers;
  says: string | RegExp;
  /** What it does not say. */
  never?: string;
  act?: (one: Awaited<ReturnType<typeof stage>>) => Promise<void>;
}[] = [
  { name: 'sign-in', path: '/runs', answers: { 'GET /session': 401 }, says: 'Sign in to rowferry' },
  { name: 'unreachable', path: '/', answers: { 'GET /session': 500 }, says: 'That did not work' },
  {
    name: 'overview',
    path: '/',
    answers: { 'GET /overview': sample.overview() },
    says: '2 runs wait for you; 1 run is at work.',
  },
  {
    name: 'overview-empty',
    path: '/',
    answers: {
      'GET /overview': sample.overview({
        needs_person: [],
        running: [],
        next: [],
        days: [],
        service: { ok: null, rate: null, waiting: 0, paused_until: null },
      }),
    },
    says: 'Nothing waits for you.',
  },
  { name: 'overview-loading', path: '/', answers: { 'GET /overview': undefined }, says: 'Overview' },
  { name: 'not-allowed', path: '/', answers: { 'GET /overview': 403 }, says: 'You may not see this' },
  {
    name: 'test-service',
    path: '/',
    answers: {
      'GET /session': { ...SESSION, production: false, service: 'http://localhost:4010' },
      'GET /overview': sample.overview({ service: { ok: false, rate: null, waiting: 0, paused_until: null } }),
    },
    says: 'test',
  },
  {
    name: 'runs',
    path: '/runs',
    answers: {
      'GET /runs': {
        runs: [
          sample.run({
            id: `${ID}a`,
            status: 'running',
            needs_person: null,
            outcomes: sample.counts({ created: 80 }),
            file: 'inventory-of-all-sites-2026-03-31-final-corrected-2.xlsx',
          }),
          sample.run(),
          sample.run({ id: `${ID}c`, status: 'braked', kind: 'reconcile', job: 'erp-assets' }),
          sample.run({
            id: `${ID}d`,
            status: 'succeeded',
            dry_run: true,
            needs_person: 0,
            outcomes: sample.counts({ created: 240 }),
          }),
          sample.run({
            id: `${ID}e`,
            status: 'failed',
            kind: 'export',
            outcomes: null,
            rows: null,
            needs_person: null,
          }),
          sample.run({ id: `${ID}f`, status: 'waiting', outcomes: null, rows: null, needs_person: null }),
        ],
        next: 'cursor',
      },
    },
    says: '3 of the latest 6 runs left something for you.',
  },
  {
    name: 'runs-none',
    path: '/runs',
    answers: { 'GET /runs': { runs: [], next: null } },
    says: 'Nothing has run yet.',
  },
  {
    name: 'runs-no-match',
    path: '/runs?status=failed&q=SN-9',
    answers: { 'GET /runs': { runs: [], next: null } },
    says: 'No run matches.',
  },
  { name: 'run', path: `/runs/${ID}`, answers: RUN, says: '225 of 240 rows are in; 15 need you.' },
  {
    name: 'run-filtered',
    path: `/runs/${ID}?outcome=to_correct&code=reference_not_found`,
    answers: RUN,
    says: '225 of 240 rows are in; 15 need you.',
  },
  {
    name: 'run-row',
    path: `/runs/${ID}?row=7`,
    answers: RUN,
    says: '225 of 240 rows are in; 15 need you.',
    act: async ({ page }) => {
      await page.getByText('price, Finance: Cost Centre').first().waitFor();
      await page.getByText('<b>not markup</b>').waitFor();
    },
  },
  {
    name: 'run-live',
    path: `/runs/${ID}`,
    answers: { ...RUN, [`GET /runs/${ID}`]: LIVE, [`GET /runs/${ID}/rows`]: sample.rowsOf(96) },
    says: '96 of 240 rows are through.',
    act: async ({ page, goesOn }) => {
      goesOn(progress(96, { paused_until: '2026-03-31T06:01:30Z', service_away: true }));
      await page.getByText('The service does not answer; the run waits for it.').waitFor();
    },
  },
  {
    name: 'run-lost',
    path: `/runs/${ID}`,
    answers: { ...RUN, [`GET /runs/${ID}`]: LIVE },
    says: /The run does not need this page. Last seen \d\d:\d\d/,
    act: async ({ page, goesOn, isLost }) => {
      goesOn(progress(96));
      await page.getByText('96 of 240 rows are through.').waitFor();
      isLost();
    },
  },
  {
    name: 'run-waiting',
    path: `/runs/${ID}`,
    answers: { ...RUN, [`GET /runs/${ID}`]: { ...LIVE, status: 'waiting' } },
    says: 'It waits for its turn on the queue.',
  },
  {
    name: 'run-braked',
    path: `/runs/${ID}`,
    answers: { ...RUN, [`GET /runs/${ID}`]: BRAKED },
    says: /^Stopped by a brake/,
  },
  {
    name: 'run-dry',
    path: `/runs/${ID}`,
    answers: {
      ...RUN,
      [`GET /runs/${ID}`]: sample.detail({
        dry_run: true,
        summary: sample.summary({ dry_run: true }),
        actions: { ...sample.ACTIONS, approve: { allowed: true }, undo: { allowed: false }, retry: { allowed: false } },
      }),
      [`GET /runs/${ID}/plan`]: { ...sample.PLAN, brakes: [] },
    },
    says: 'Write 210 rows',
    act: ({ page }) => page.getByText('Finance: Cost Centre changes in 2 records').waitFor(),
  },
  {
    name: 'run-export',
    path: `/runs/${ID}`,
    answers: {
      [`GET /runs/${ID}`]: sample.detail({
        kind: 'export',
        status: 'succeeded',
        outcomes: null,
        rows: 12_304,
        needs_person: null,
        file: 'assets-2026-03-31.xlsx',
        summary: sample.summary({
          kind: 'export',
          status: 'succeeded',
          records: 12_304,
          passes: 2,
          rows: sample.counts({}),
        }),
        reports: ['assets-2026-03-31.xlsx', 'summary.json'],
      }),
    },
    says: 'Take the file',
  },
  {
    name: 'run-failed',
    path: `/runs/${ID}`,
    answers: {
      ...RUN,
      [`GET /runs/${ID}`]: sample.detail({
        status: 'failed',
        reason: 'The service refused the token (401). Put a new one into `ROWFERRY_API_TOKEN`, then resume.',
        outcomes: sample.counts({ created: 40, not_attempted: 200 }),
        summary: sample.summary({ status: 'failed', rows: sample.counts({ created: 40, not_attempted: 200 }) }),
        actions: { ...sample.ACTIONS, resume: { allowed: true }, retry: { allowed: false } },
      }),
    },
    says: 'Why it failed',
  },
  {
    name: 'run-undo',
    path: `/runs/${ID}`,
    answers: RUN,
    says: 'Undo?',
    act: async ({ page }) => page.getByRole('button', { name: 'Undo' }).click(),
  },
  {
    name: 'run-exported',
    path: `/runs/${ID}`,
    answers: {
      [`GET /runs/${ID}`]: sample.detail({
        kind: 'export',
        outcomes: null,
        summary: sample.summary({ kind: 'export', records: 379, consistency: 'verified', passes: 2 }),
        reports: ['custom-field-templates-20261128-095831508.xlsx', 'summary.json'],
      }),
    },
    says: '379 records are in the file, and it is complete.',
  },
  {
    name: 'run-elsewhere',
    path: `/runs/${ID}`,
    answers: { ...RUN, [`GET /runs/${ID}`]: sample.detail({ here: false, reports: [] }) },
    says: 'Its rows lie elsewhere',
  },
  {
    name: 'run-begins',
    path: `/runs/${ID}`,
    answers: {
      [`GET /runs/${ID}`]: {
        ...sample.detail({ status: 'running', here: false, summary: null, reports: [] }),
        progress: { phase: 'waiting', done: 0, total: null, outcomes: sample.counts({}) },
      },
    },
    says: 'It is about to begin.',
    // Nobody knows yet where its rows will be.
    never: 'Its rows lie elsewhere',
  },
  {
    name: 'run-stopped-before',
    path: `/runs/${ID}`,
    answers: {
      [`GET /runs/${ID}`]: sample.detail({
        ...{ status: 'interrupted', rows: 0, outcomes: sample.counts({}), reports: ['summary.json'] },
        summary: sample.summary({ status: 'interrupted', file: 'a.csv', source: null, rows: sample.counts({}) }),
      }),
    },
    says: 'The run was interrupted before it began.',
    never: 'Checked',
  },
  { name: 'run-none', path: `/runs/${ID}`, answers: {}, says: 'There is no such thing here' },
  { name: 'no-page', path: '/nowhere', answers: {}, says: 'There is no such page' },
];

afterAll(closeBrowser);

describe.skipIf(!hasBrowser)('the pages, in every state', () => {
  it.each(STATES)('$name', async ({ name, path, answers, says, never, act }) => {
    const one = await stage(answers);
    try {
      await one.page.goto(path);
      await act?.(one);
      await one.page.getByText(says).first().waitFor();
      // The shell may say it before the page itself is loaded.
      await one.page.locator('h1').first().waitFor();
      if (never) expect(await one.page.getByText(never).count()).toBe(0);
      expect(await one.look(name)).toEqual([]);
      expect(one.faults).toEqual([]);
    } finally {
      await one.close();
    }
  });
});

describe.skipIf(!hasBrowser)('the pages, as they are used', () => {
  /** A stage that is left without faults. */
  async function on(answers: Answers, path: string, use: (one: Stage) => Promise<void>): Promise<void> {
    const one = await stage(answers);
    try {
      await one.page.goto(path);
      await use(one);
      expect(one.faults).toEqual([]);
    } finally {
      await one.close();
    }
  }

  it('lists that get longer stand still until somebody asks for what is new', () =>
    on({ 'GET /runs': { runs: [sample.run()], next: null } }, '/runs', async ({ page, answers }) => {
      await page.getByRole('link', { name: 'inventory.xlsx' }).waitFor();
      const fresh = [1, 2].map((n) => sample.run({ id: `${ID}${n}`, file: `new-${n}.csv` }));
      answers['GET /runs'] = { runs: [...fresh, sample.run({ file: 'inventory-2.xlsx' })], next: null };
      await page.getByRole('link', { name: 'inventory-2.xlsx' }).waitFor();
      expect(await page.getByRole('row').count()).toBe(2);
      await page.getByRole('button', { name: '2 new' }).click();
      await page.getByRole('link', { name: 'new-1.csv' }).waitFor();
      expect(await page.getByRole('row').count()).toBe(4);
    }));

  it('a filter shows its own list, not the one before under its name', () => {
    const runs = (params: URLSearchParams) => ({
      runs: params.get('status') === 'failed' ? [sample.run({ id: `${ID}9`, file: 'bad.csv' })] : [sample.run()],
      next: null,
    });
    return on({ 'GET /runs': runs }, '/runs', async ({ page }) => {
      await page.getByRole('link', { name: 'inventory.xlsx' }).waitFor();
      await page.getByRole('button', { name: 'Failed' }).click();
      await page.getByRole('link', { name: 'bad.csv' }).waitFor();
      expect(await page.getByRole('link', { name: 'inventory.xlsx' }).count()).toBe(0);
    });
  });

  it('a million rows are scrolled to their end, and few of them are ever in the page', () =>
    on({ ...RUN, [`GET /runs/${ID}/rows`]: sample.rowsOf(1_000_000) }, `/runs/${ID}`, async ({ page }) => {
      const grid = page.getByRole('grid', { name: '1,000,000 rows' });
      await grid.getByText('SN-200000').waitFor();
      await grid.focus();
      await page.keyboard.press('End');
      await grid.getByText('SN-1199999').waitFor();
      await page.keyboard.press('PageUp');
      await grid.getByText('SN-1199980').waitFor();
      await page.keyboard.press('Home');
      await grid.getByText('SN-200000').waitFor();
      expect(await grid.getByRole('row').count()).toBeLessThan(60);
    }));

  it('while they are scrolled only rows that come are drawn, and only pages where it rests are asked for', () => {
    const asked: number[] = [];
    const rows = (params: URLSearchParams) => {
      asked.push(Number(params.get('offset')));
      return sample.rowsOf(1_000_000)(params);
    };
    return on({ ...RUN, [`GET /runs/${ID}/rows`]: rows }, `/runs/${ID}`, async ({ page }) => {
      const first = page.getByRole('grid').getByText('SN-200000');
      await first.waitFor();
      await page.evaluate(`
        window.drawn = new Set();
        new MutationObserver((changes) => {
          for (const { target } of changes) drawn.add((target.closest ? target : target.parentElement).closest('[role=row]'));
        }).observe(document.querySelector('[role=rowgroup]'), { subtree: true, attributes: true, characterData: true, childList: true });
        window.scroll = (share) => {
          const box = document.querySelector('[role=grid]');
          box.scrollTop = share < 1 ? box.scrollHeight * share : share;
        };
      `);
      // Ten rows: the list is taller than a browser can.
      await page.evaluate('scroll(150)');
      await first.waitFor({ state: 'detached' });
      const drawn = (await page.evaluate('[...drawn].filter(Boolean).length')) as number;
      expect(drawn).toBeGreaterThan(0);
      expect(drawn).toBeLessThan(15);
      await page.clock.install();
      await page.clock.pauseAt(Date.now() + 3_600_000);
      for (const share of [0.2, 0.4, 0.6, 0.8]) {
        await page.evaluate(`scroll(${share})`);
        await page
          .locator(`[aria-rowindex^="${share * 10}000"]`)
          .first()
          .waitFor({ state: 'attached' });
      }
      expect(asked).toEqual([0]);
      await page.clock.resume();
      await page
        .getByText(/^SN-(?:999|1000)\d{3}$/)
        .first()
        .waitFor({ state: 'attached' });
      expect(asked.filter((from) => from > 0 && (from < 799_000 || from > 801_000))).toEqual([]);
    });
  });

  it('a viewer sees every button with the reason why it is not theirs', () =>
    on({ ...RUN, 'GET /session': { ...SESSION, role: 'viewer' } }, `/runs/${ID}`, async ({ page, sent }) => {
      const undo = page.getByRole('button', { name: 'Undo' });
      await undo.focus();
      await page
        .getByText('You are signed in as viewer; this needs the role operator.')
        .filter({ visible: true })
        .waitFor();
      await page.keyboard.press('Enter');
      expect(await page.getByRole('dialog').count()).toBe(0);
      expect(sent).toEqual([]);
    }));

  it('an approval goes out under the name that was given, once, and leads to its run', () =>
    on(
      {
        ...RUN,
        'GET /session': { ...SESSION, via: 'link', name: 'root' },
        [`GET /runs/${ID}`]: BRAKED,
        [`POST /runs/${ID}/approve`]: { id: `${ID}9` },
        [`GET /runs/${ID}9`]: sample.detail({ id: `${ID}9`, manner: 'approved', of_run: ID }),
      },
      `/runs/${ID}`,
      async ({ page, sent }) => {
        await page.getByRole('button', { name: 'Let it through' }).click();
        await page.getByRole('dialog').getByText('price changes in 28 records').waitFor();
        await page.getByLabel('Who lets it through').fill('Tom Ek');
        await page.getByRole('dialog').getByRole('button', { name: 'Let it through' }).dblclick();
        await page.getByText('Import, let through').waitFor();
        expect(sent).toEqual([{ what: `POST /runs/${ID}/approve`, body: { by: 'Tom Ek' } }]);
      },
    ));

  it('what an undo would do is found out by a dry run, whose page leads back', () =>
    on(
      {
        ...RUN,
        [`POST /runs/${ID}/undo`]: { id: `${ID}8` },
        [`GET /runs/${ID}8`]: sample.detail({
          id: `${ID}8`,
          kind: 'undo',
          dry_run: true,
          of_run: ID,
          summary: sample.summary({ kind: 'undo', dry_run: true, of_run: ID }),
        }),
      },
      `/runs/${ID}`,
      async ({ page, sent }) => {
        await page.getByRole('button', { name: 'Undo' }).click();
        await page.getByRole('button', { name: 'Dry run' }).click();
        await page.waitForURL(`**/runs/${ID}8`);
        expect(sent).toEqual([{ what: `POST /runs/${ID}/undo`, body: { dry_run: true } }]);
        await page.getByRole('link', { name: 'To the run' }).click();
        await page.waitForURL(`**/runs/${ID}`);
      },
    ));

  it('what a run warns of stands on its page, however well it ended', () => {
    const cut = '"Notes": 3 texts were longer than 1000 characters, and cut.';
    const summary = sample.summary({ status: 'succeeded', warnings: [cut] });
    return on(
      { ...RUN, [`GET /runs/${ID}`]: sample.detail({ status: 'succeeded', summary }) },
      `/runs/${ID}`,
      async ({ page }) => page.getByText(cut).waitFor(),
    );
  });

  it('an undo has the name of the run that it puts back, and its words stay in their column', () => {
    const undo = { kind: 'undo', dry_run: true, of_run: ID, file: 'source.ndjson' } as const;
    const run = sample.detail({ ...undo, summary: sample.summary({ kind: 'undo', dry_run: true, of_run: ID }) });
    return on(
      { ...RUN, [`GET /runs/${ID}`]: run, 'GET /runs': { runs: [sample.run(undo)], next: null } },
      `/runs/${ID}`,
      async ({ page }) => {
        const long = page.locator('.cell .badge').filter({ hasText: 'Would be put back' }).first();
        await long.waitFor();
        const over = await long.evaluate(
          (badge) => badge.getBoundingClientRect().right - badge.closest('.cell')!.getBoundingClientRect().right,
        );
        expect(over).toBeLessThan(0);
        expect(await page.getByText('source.ndjson').count()).toBe(0);
        await page.goto('/runs');
        await page.getByRole('link', { name: `Undo of ${ID.slice(0, 15)}` }).waitFor();
      },
    );
  });

  it('a page that does not come says what to do', async () => {
    const one = await stage({}, /Failed to (?:fetch|load)/);
    try {
      await one.page.goto('/');
      await one.page.route('**/assets/*.js', (route) => route.abort());
      await one.page.getByRole('link', { name: 'Queue' }).click();
      await one.page.getByText('The page cannot be shown').waitFor();
      await one.page.getByRole('button', { name: 'Load the page again' }).waitFor();
    } finally {
      await one.page.unroute('**/assets/*.js');
      await one.close();
    }
  });

  it('a run that waits for somebody is put aside, and waits again', () => {
    const run = sample.detail({ status: 'partial', needs_person: 3 });
    const key = `GET /runs/${ID}`;
    return on({ ...RUN, [key]: run, [`PUT /runs/${ID}/aside`]: {} }, `/runs/${ID}`, async ({ page, sent, answers }) => {
      const put = page.getByRole('button', { name: 'Put it aside' });
      await put.waitFor();
      answers[key] = { ...run, aside: true };
      await put.click();
      await page.getByRole('button', { name: 'Let it wait again' }).click();
      await expect
        .poll(() => sent)
        .toEqual([true, false].map((aside) => ({ what: `PUT /runs/${ID}/aside`, body: { aside } })));
    });
  });

  it('an undo gives the records that were created what somebody says', () =>
    on(
      { ...RUN, 'GET /resources': RESOURCES, [`POST /runs/${ID}/undo`]: { id: `${ID}8` } },
      `/runs/${ID}`,
      async ({ page, sent }) => {
        await page.getByRole('button', { name: 'Undo' }).click();
        await page.getByRole('combobox', { name: 'Records that it created get' }).selectOption('Lifecycle stage');
        await page.getByRole('combobox', { name: 'Lifecycle stage' }).fill('Retired');
        await page.getByRole('dialog').getByRole('button', { name: 'Undo' }).click();
        await expect
          .poll(() => sent)
          .toEqual([{ what: `POST /runs/${ID}/undo`, body: { retire: { lifecycle_stage: 'Retired' } } }]);
      },
    ));

  it('who came by a link can sign out, too', () =>
    on(
      { ...RUN, 'GET /session': { ...SESSION, via: 'link' }, 'DELETE /session': {} },
      `/runs/${ID}`,
      async ({ page, sent }) => {
        await page.getByRole('button', { name: 'Sign out' }).click();
        await page.waitForURL(/\/$/);
        expect(sent.map(({ what }) => what)).toEqual(['DELETE /session']);
      },
    ));

  it('what the API refuses stands beside the button, with its details', () =>
    on({ ...RUN, [`POST /runs/${ID}/retry`]: 503 }, `/runs/${ID}`, async ({ page }) => {
      await page.getByRole('button', { name: 'Take up 3 rows again' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Take up 3 rows again' }).click();
      await dialog.getByText('The worker is about to end.').waitFor();
    }));

  it('a dialog that is left gives the focus back, and is there again when asked for', () =>
    on(RUN, `/runs/${ID}`, async ({ page }) => {
      const opener = page.getByRole('button', { name: 'Take up 3 rows again' });
      const dialog = page.getByRole('dialog');
      const ways = [
        () => page.keyboard.press('Escape'),
        () => dialog.getByRole('button', { name: 'Close' }).click(),
        () => dialog.getByRole('button', { name: 'Leave it' }).click(),
        () => page.keyboard.press('Escape'),
      ];
      for (const leave of ways) {
        await opener.click();
        await dialog.waitFor();
        await leave();
        await dialog.waitFor({ state: 'hidden' });
        expect(await page.evaluate('document.activeElement.textContent')).toBe('Take up 3 rows again');
      }
    }));

  it('a lost connection is said, and heals by itself; the end is read anew', () =>
    on({ ...RUN, [`GET /runs/${ID}`]: LIVE }, `/runs/${ID}`, async ({ page, goesOn, isLost, answers }) => {
      goesOn(progress(96));
      await page.getByText('96 of 240 rows are through.').waitFor();
      isLost();
      await page.getByText('Connection lost').waitFor();
      goesOn(progress(120));
      await page.getByText('120 of 240 rows are through.').waitFor();
      expect(await page.getByText('Connection lost').count()).toBe(0);
      answers[`GET /runs/${ID}`] = sample.detail();
      await page.getByText('225 of 240 rows are in; 15 need you.').waitFor();
    }));

  it('keys are listed by ?, and can be turned off', () =>
    on({ 'GET /overview': sample.overview(), 'GET /runs': { runs: [], next: null } }, '/', async ({ page }) => {
      await page.getByRole('navigation', { name: 'Pages' }).waitFor();
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await page.locator('#page:focus').waitFor();
      await page.keyboard.press('?');
      await page.getByRole('dialog').getByText('Search').waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'hidden' });
      await page.keyboard.press('/');
      await page.keyboard.type('g o?');
      await page.keyboard.press('Enter');
      await page.waitForURL('**/runs?q=g%20o%3F');
      await page.keyboard.press('Escape');
      await page.keyboard.press('?');
      await page.getByLabel('Keys work without Ctrl').uncheck();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'hidden' });
      await page.keyboard.press('/');
      expect(await page.evaluate('document.activeElement.localName')).toBe('body');
      await page.keyboard.press('?');
      await page.getByRole('dialog').waitFor();
    }));

  it('somebody who signs in comes to the page of the address', () =>
    on({ ...RUN, 'GET /session': 401, 'POST /session': SESSION }, `/runs/${ID}?row=7`, async ({ page, sent }) => {
      await page.getByLabel('Name').fill('mara');
      await page.getByLabel('Password').fill('let me in');
      await page.keyboard.press('Enter');
      await page.getByRole('complementary', { name: 'Row 7' }).waitFor();
      expect(sent).toEqual([{ what: 'POST /session', body: { name: 'mara', password: 'let me in' } }]);
    }));

  it('whoever comes back to a window sees who has signed in since', () =>
    on(RUN, `/runs/${ID}`, async ({ page, answers }) => {
      await page.getByText('mara · approver').waitFor();
      answers['GET /session'] = { ...SESSION, name: 'vic', role: 'viewer' };
      await page.evaluate('Date.now = ((now) => () => now() + 10_000)(Date.now)');
      // The page listens some time after it has drawn.
      await until(async () => {
        await page.evaluate('document.dispatchEvent(new Event("visibilitychange", { bubbles: true }))');
        return page.getByText('vic · viewer').isVisible();
      });
    }));

  it('a session that ends while a run is followed is said, and the run goes on being followed after the sign-in', () =>
    on(
      { ...RUN, [`GET /runs/${ID}`]: LIVE, 'POST /session': SESSION },
      `/runs/${ID}`,
      async ({ page, goesOn, answers }) => {
        goesOn(progress(96));
        await page.getByText('96 of 240 rows are through.').waitFor();
        for (const what of ['GET /session', `GET /runs/${ID}`]) answers[what] = 401;
        await page.getByRole('heading', { name: 'Sign in to rowferry' }).waitFor();
        Object.assign(answers, { 'GET /session': SESSION, [`GET /runs/${ID}`]: LIVE });
        await page.getByLabel('Name').fill('mara');
        await page.getByLabel('Password').fill('let me in');
        await page.keyboard.press('Enter');
        goesOn(progress(120));
        await page.getByText('120 of 240 rows are through.').waitFor();
      },
    ));
});
