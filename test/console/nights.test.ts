import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Job, Night } from '../../src/api/schema.js';
import { openApiBench } from '../api/worker.js';
import { consolePath } from '../support/build.js';
import { closeBrowser, hasBrowser, visitor } from './browser.js';
import * as sample from './samples.js';
import { type Answers, SESSION, type Stage, stage } from './stage.js';

const id = (at: number) => `202603${String(at).padStart(2, '0')}T020000000Z-00aa`;
const night = (at: number, change: Partial<Night> = {}): Night => ({
  run: id(at),
  started_at: `2026-03-${String(at).padStart(2, '0')}T02:00:00Z`,
  status: 'succeeded',
  apply: true,
  rows: 1_200 + at,
  differences: at % 5,
  put_right: at % 4,
  created: at % 2,
  orphans: 12,
  new_orphans: at % 3,
  orphans_acted: 0,
  reason: null,
  approved_by: null,
  ...change,
});
const STOPPED = night(31, {
  status: 'braked',
  rows: 812,
  differences: 98,
  new_orphans: 390,
  orphans: 402,
  put_right: 0,
});
const NIGHTS = [
  STOPPED,
  ...Array.from({ length: 29 }, (_, at) => night(30 - at, at === 9 ? { approved_by: 'Ann' } : {})),
];
const ORPHANS = {
  ...{ total: 402, fresh: 390, acted: 0, waiting: 402, settled: 0, held: 0, action: 'set', after: 2 },
  first: [
    { id: 60, key: 'SN-100060', name: '14" screen, <b>spare</b>', since: '2026-03-31', absences: 1, state: 'wait' },
    { id: 61, key: 'SN-100061', name: '', since: '2026-03-30', absences: 2, state: 'act' },
  ],
};
const detailOf = (status: Night['status']) =>
  sample.detail({
    id: id(31),
    status,
    kind: 'reconcile',
    job: 'erp',
    outcomes: sample.counts({ not_attempted: 98, unchanged: 714 }),
    summary: sample.summary({
      status,
      kind: 'reconcile',
      rows: sample.counts({ not_attempted: 98, unchanged: 714 }),
      reconcile: { orphans: ORPHANS },
    }),
    actions: { ...sample.ACTIONS, approve: { allowed: true } },
  });
const job = (name: string, change: Partial<Job> = {}): Job => ({
  name,
  kind: 'reconcile',
  resource: 'asset',
  schedule: { cron: '0 2 * * *', timezone: 'Europe/Berlin', file: 'inbox/erp.csv', next: '2026-04-01T00:00:00Z' },
  inbox: { waiting: 0, folder: `inbox/${name}` },
  last: sample.run({ status: 'braked', kind: 'reconcile' }),
  problems: [],
  ...change,
});
const ERP: Answers = {
  'GET /nights/erp': { nights: NIGHTS, next: null },
  [`GET /runs/${id(31)}`]: detailOf('braked'),
  [`GET /runs/${id(31)}/plan`]: sample.PLAN,
  [`GET /runs/${id(30)}`]: { ...detailOf('succeeded'), id: id(30), actions: sample.ACTIONS },
  [`GET /runs/${id(30)}/plan`]: { ...sample.PLAN, brakes: [], fields: [] },
};
const STATES: readonly {
  name: string;
  path: string;
  answers: Answers;
  says: string | RegExp;
  act?: (one: Stage) => Promise<unknown>;
}[] = [
  { name: 'nights-stopped', path: '/nights/erp', answers: ERP, says: 'Why it was stopped' },
  {
    name: 'nights-viewer',
    path: '/nights/erp',
    answers: { ...ERP, 'GET /session': { ...SESSION, role: 'operator' } },
    says: 'An approver may let it through: send this address to one.',
  },
  {
    name: 'nights-open',
    path: `/nights/erp?run=${id(30)}`,
    answers: ERP,
    says: 'Stopped by a brake',
    act: ({ page }) => page.getByText('The same as a table').click(),
  },
  {
    name: 'nights-elsewhere',
    path: '/nights/erp',
    answers: { ...ERP, [`GET /runs/${id(31)}`]: { ...detailOf('braked'), here: false } },
    says: 'Its rows lie elsewhere',
  },
  {
    name: 'nights-jobs',
    path: '/nights',
    answers: { 'GET /jobs': { jobs: [job('erp'), job('crm', { last: null, schedule: null })] } },
    says: 'The last night of 1 of 2 jobs was stopped, and waits for you',
  },
  {
    name: 'nights-none',
    path: '/nights',
    answers: { 'GET /jobs': { jobs: [job('assets', { kind: 'import' })] } },
    says: 'No job compares a file with the service',
  },
  {
    name: 'nights-empty',
    path: '/nights/erp',
    answers: { 'GET /nights/erp': { nights: [], next: null } },
    says: 'erp has had no night yet',
  },
  { name: 'nights-gone', path: '/nights/erp', answers: {}, says: 'There is no such thing here' },
  { name: 'nights-failed', path: '/nights/erp', answers: { 'GET /nights/erp': 500 }, says: 'That did not work' },
];

afterAll(closeBrowser);

describe.skipIf(!hasBrowser)('the nights of a job', () => {
  it.each(STATES)('$name', async ({ name, path, answers, says, act }) => {
    const one = await stage(answers);
    try {
      await one.page.goto(path);
      await act?.(one);
      // What stands beside a button for the keyboard stands on the page, too.
      await one.page.getByText(says).last().waitFor();
      expect(await one.look(name)).toEqual([]);
      expect(one.faults).toEqual([]);
    } finally {
      await one.close();
    }
  });

  it('are gone through with the keyboard; the address says which, and orphans are shown as the summary has them', async () => {
    const { page, close } = await stage(ERP);
    try {
      await page.goto('/nights/erp');
      await page.getByRole('cell', { name: '31 Mar 2026' }).waitFor();
      expect(await page.getByText('14" screen, <b>spare</b>').count()).toBe(1);
      expect(await page.getByText('Waits: not missing often enough yet').count()).toBe(1);
      await page.getByText('The same as a table').focus();
      await page.keyboard.press('Enter');
      const nights = page.getByRole('region', { name: 'Nights' }).getByRole('link');
      await nights.nth(1).focus();
      await page.keyboard.press('Enter');
      await page.waitForURL(`**/nights/erp?run=${id(30)}`);
      await page
        .getByRole('row', { name: /Stopped by a brake 812 98 390/ })
        .getByRole('link')
        .focus();
      await page.keyboard.press('Enter');
      await page.waitForURL(`**/nights/erp?run=${id(31)}`);
      await page.getByText('Why it was stopped').waitFor();
    } finally {
      await close();
    }
  });

  it('one that ends while somebody looks is shown as it ended, among the others, too', async () => {
    const { page, answers, close } = await stage({ ...ERP, 'GET /nights/erp': { nights: [], next: null } });
    const at = (status: Night['status']) => ({ nights: [night(31, { status }), ...NIGHTS.slice(1)], next: null });
    answers['GET /nights/erp'] = at('running');
    try {
      await page.goto('/nights/erp');
      await page.getByText('The same as a table').click();
      const last = page.getByRole('region', { name: 'Nights' }).getByRole('row').nth(1);
      await expect.poll(() => last.textContent()).toContain('Running');
      answers['GET /nights/erp'] = at('succeeded');
      await expect.poll(() => last.textContent()).not.toContain('Running');
    } finally {
      await close();
    }
  });

  it('before it is let through it says how many records that are not in the file change, too', async () => {
    const run = detailOf('braked');
    const orphans = { ...ORPHANS, acted: 3, waiting: 399 };
    const summary = sample.summary({ status: 'braked', kind: 'reconcile', dry_run: true, reconcile: { orphans } });
    const { page, close } = await stage({
      ...ERP,
      [`GET /runs/${id(31)}`]: { ...run, dry_run: true, summary },
    });
    try {
      await page.goto('/nights/erp');
      await page.getByRole('button', { name: 'Let it through' }).click();
      const tile = page.getByRole('dialog').locator('.tiles > div').filter({ hasText: 'not in the file, to change' });
      await expect.poll(() => tile.locator('dd').textContent()).toBe('3');
    } finally {
      await close();
    }
  });

  it('a stopped one is let through, by name, and its run shows what was done', async () => {
    const bench = await openApiBench({ seed: 'demo' }, {}, 'redis', await consolePath());
    const who = await visitor(bench.url);
    try {
      const fixtures = join(import.meta.dirname, '../..');
      const text = await readFile(join(fixtures, 'jobs/reconcile-assets.yaml'), 'utf8');
      const body = { text: text.replace('apply: false', 'apply: true') };
      const saved = await bench.call('PUT', '/jobs/erp', body, { headers: { 'if-none-match': '*' } });
      expect(saved.status).toBe(200);
      const monday = await readFile(join(fixtures, 'fixtures/erp-assets-monday.csv'), 'utf8');
      for (const [name, lines] of [
        ['whole.csv', 200],
        ['cut.csv', 60],
      ] as const) {
        const file = await bench.file(name, monday.split('\n').slice(0, lines).join('\n'));
        await bench.ended(await bench.order({ kind: 'reconcile', job: 'erp', file }));
      }
      await who.context.setExtraHTTPHeaders({ authorization: `Bearer ${bench.keys.approver}` });
      const { page } = who;
      await page.goto('/nights/erp');
      await page.getByText(/^Records missing from the file: \d+ of \d+ records \(\d+\.\d+%\)/).waitFor();
      await page.getByRole('button', { name: 'Let it through' }).click();
      await page.getByLabel('Who lets it through').fill('Ann Lee');
      await page.getByRole('dialog').getByRole('button', { name: 'Let it through' }).click();
      await page.waitForURL(/\/runs\/\d{8}T/);
      const run = page.url().split('/').at(-1) ?? '';
      expect((await bench.ended(run)).of_run).toBeDefined();
      await page.goto('/nights/erp');
      await page.getByText('Let through by Ann Lee').waitFor();
      expect(who.faults).toEqual([]);
    } finally {
      await who.close();
      await bench.close();
    }
  });
});
