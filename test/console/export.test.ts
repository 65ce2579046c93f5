import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { makeLinkKey } from '../../src/api/access/links.js';
import { openApiBench, sheet } from '../api/worker.js';
import { consolePath } from '../support/build.js';
import { closeBrowser, hasBrowser, visitor } from './browser.js';
import * as sample from './samples.js';
import { type Answers, SESSION, type Stage, stage } from './stage.js';

const { ID } = sample;
const FILE = 'assets-20260331-060000123.xlsx';
const field = (name: string, label: string, type: string, change: object = {}) => ({
  ...{ name, label, type, group: 'Texts', required: false, choices: [], of: null, written: true, updated: true },
  ...change,
});
const RESOURCES = {
  resources: [
    {
      name: 'asset',
      imported: true,
      exported: true,
      fields: [
        field('name', 'Name', 'text'),
        field('serial_number', 'Serial number', 'text'),
        field('lifecycle_stage', 'Stage', 'choice', { choices: ['Deployed', 'Stock'] }),
        field('attached_supplier', 'Supplier', 'reference', { of: 'supplier' }),
      ],
    },
    { name: 'asset-owner', imported: false, exported: true, fields: [field('name', 'Name', 'text')] },
  ],
};
const summary = (change: object = {}) => ({
  ...sample.summary({ kind: 'export', resource: 'asset', status: 'succeeded', rows: sample.counts({}) }),
  ...{ records: 1204, passes: 2, consistency: 'verified' },
  target: { path: `/srv/exports/${FILE}`, format: 'xlsx', gzip: false, bytes: 184_300, columns: 41 },
  ...change,
});
const ended = (change: object = {}) =>
  sample.detail({
    kind: 'export',
    status: 'succeeded',
    file: FILE,
    reports: ['summary.json', FILE],
    summary: summary(),
    ...change,
  });
const LIVE = ended({
  status: 'running',
  summary: null,
  reports: [],
  actions: { ...sample.ACTIONS, stop: { allowed: true } },
});
const HOME: Answers = {
  'GET /resources': RESOURCES,
  'GET /names': { names: ['Acme <b>', 'Dell'], more: false, lack: null },
  'GET /queue': { roots: ['/srv/rowferry', '/srv/rowferry/inbox'] },
};
const at = (run: object): Answers => ({ ...HOME, [`GET /runs/${ID}`]: run });
const WARNING =
  'The list changed while it was read 4 times, and no two passes agreed. Export again when fewer changes are made.';

const STATES: readonly {
  name: string;
  path: string;
  answers: Answers;
  says: string | RegExp;
  act?: (one: Stage) => Promise<unknown>;
}[] = [
  { name: 'export', path: '/export', answers: HOME, says: 'Assets of Northwind Operations: all records, all columns' },
  {
    name: 'export-chosen',
    path: '/export?resource=asset&format=csv&column=serial_number&column=name&filter=lifecycle_stage%3DStock&filter=attached_supplier%3DAcme+%3Cb%3E&editable=yes',
    answers: HOME,
    says: 'Assets of Northwind Operations: those that fit, 2 columns',
  },
  {
    name: 'export-viewer',
    path: '/export',
    answers: { ...HOME, 'GET /session': { ...SESSION, role: 'viewer' } },
    says: 'You are signed in as viewer; this needs the role operator.',
  },
  {
    name: 'export-live',
    path: `/runs/${ID}`,
    answers: at(LIVE),
    says: '640 of 1,204 records are read.',
    act: async ({ goesOn }) => goesOn({ phase: 'reading', done: 640, total: 1204, outcomes: sample.counts({}) }),
  },
  {
    name: 'export-lost',
    path: `/runs/${ID}`,
    answers: at(LIVE),
    says: 'Connection lost',
    act: async ({ page, isLost }) => {
      await page.locator('.meta').waitFor();
      isLost();
    },
  },
  {
    name: 'export-done',
    path: `/runs/${ID}`,
    answers: at(ended()),
    says: '1,204 records are in the file, and it is complete.',
  },
  {
    name: 'export-partial',
    path: `/runs/${ID}`,
    answers: at(
      ended({ status: 'partial', summary: summary({ consistency: 'partial', passes: 4, warnings: [WARNING] }) }),
    ),
    says: 'It may not be complete',
  },
  {
    name: 'export-broken',
    path: `/runs/${ID}`,
    answers: at(
      ended({
        status: 'failed',
        reports: [],
        actions: { ...sample.ACTIONS, resume: { allowed: true } },
        summary: summary({
          status: 'failed',
          records: undefined,
          target: undefined,
          reason: 'The service does not answer.',
        }),
      }),
    ),
    says: 'Go on where it stopped. Nothing is written twice.',
  },
  { name: 'export-none', path: '/export', answers: { 'GET /runs': 500 }, says: 'There is no such thing here' },
];

afterAll(closeBrowser);

describe.skipIf(!hasBrowser)('exports', () => {
  it.each(STATES)('$name', async ({ name, path, answers, says, act }) => {
    const one = await stage(answers);
    try {
      await one.page.goto(path);
      await act?.(one);
      await one.page.getByText(says).last().waitFor();
      expect(await one.look(name)).toEqual([]);
      expect(one.faults).toEqual([]);
    } finally {
      await one.close();
    }
  });

  it('are put together with the keyboard, and the address has all of it', async () => {
    const custom = 'template.Finance.Cost, net';
    const names = { names: [custom], more: false, lack: null };
    const { page, sent, close } = await stage({ ...at(LIVE), 'GET /names': names, 'POST /runs': { id: ID } });
    const add = async (label: string, text: string) => {
      await page.getByRole('combobox', { name: label }).focus();
      await page.keyboard.type(text);
      await page.keyboard.press('Enter');
    };
    try {
      await page.goto('/export');
      await add('Add a column', 'Name');
      await add('Add a column', 'serial');
      await add('Add a column', 'Cost, net');
      await add('Filter by a field', 'stage');
      // Left as it is, it would ask for records without a stage.
      await page.locator('[aria-label="Value of Stage"]:focus').waitFor();
      await page.keyboard.type('Stock');
      await page.keyboard.press('Tab');
      await page.getByRole('checkbox', { name: 'To be changed and imported again' }).press('Space');
      await page.getByRole('button', { name: 'Export' }).press('Enter');
      await page.waitForURL(`**/runs/${ID}`);
      // What was put together is where it was.
      await page.goBack();
      await page.waitForURL('**/export?**');
      expect(await page.getByRole('button', { name: 'Leave Serial number out' }).count()).toBe(1);
      const params = new URL(page.url()).searchParams;
      expect([params.getAll('column'), params.getAll('filter'), params.get('editable')]).toEqual([
        ['name', 'serial_number', custom],
        ['lifecycle_stage=Stock'],
        'yes',
      ]);
      expect(sent).toEqual([
        {
          what: 'POST /runs',
          body: {
            kind: 'export',
            job: {
              kind: 'export',
              resource: 'asset',
              columns: ['name', 'serial_number', custom],
              filter: { lifecycle_stage: ['Stock'] },
              editable: true,
              output: expect.stringMatching(/^\/srv\/rowferry\/exports\/assets-\d{8}-\d{9}\.xlsx$/),
            },
          },
        },
      ]);
    } finally {
      await close();
    }
  });

  it('end with the file, in the data folder and in the hands of who asked', async () => {
    const bench = await openApiBench({}, {}, 'redis', await consolePath());
    // A download begins by leaving the page for it, which the browser then takes back.
    const who = await visitor(bench.url, /net::ERR_ABORTED/);
    try {
      await bench.ended(
        await bench.order({ kind: 'import', job: 'assets', file: await bench.file('a.csv', sheet(12)) }),
      );
      const { page } = who;
      await page.goto(`/sign-in?key=${makeLinkKey(bench.home)}`);
      await page.goto('/export?format=csv&column=name&column=serial_number&editable=yes');
      await page.getByRole('button', { name: 'Export' }).click();
      await page.getByText('12 records are in the file').waitFor();
      await page.getByText('and it is complete').waitFor();
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page
          .getByRole('link', { name: /^assets-.*\.csv$/ })
          .first()
          .click(),
      ]);
      expect(download.suggestedFilename()).toMatch(/^assets-\d{8}-\d{9}\.csv$/);
      expect(await readFile(await download.path(), 'utf8')).toMatch(
        /^\uFEFF?id,name,serial_number\r?\n\d+,n0,S-0\r?\n/i,
      );
      const [job] = await Promise.all([
        page.waitForEvent('download'),
        page
          .getByRole('link', { name: /\.yaml$/ })
          .first()
          .click(),
      ]);
      expect(await readFile(await job.path(), 'utf8')).toMatch(/^kind: import$/m);
      expect((await readdir(join(bench.home, 'exports'))).sort()).toEqual(
        [download.suggestedFilename(), job.suggestedFilename()].sort(),
      );
      await page.goto('/runs');
      await page.getByRole('link', { name: download.suggestedFilename(), exact: true }).click();
      await page.getByText('and it is complete').waitFor();
      expect(who.faults).toEqual([]);
    } finally {
      await who.close();
      await bench.close();
    }
  });
});
