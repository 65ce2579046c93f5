import { afterAll, describe, expect, it } from 'vitest';
import type { Job, JobFile } from '../../src/api/schema.js';
import { closeBrowser, hasBrowser } from './browser.js';
import * as sample from './samples.js';
import { type Answers, SESSION, type Stage, stage } from './stage.js';

const TEXT = `kind: import
resource: asset

match: { key: serial_number }
columns:
  Serial: serial_number
  Price: orignal_cost   # ${'a remark that goes on and on '.repeat(6)}
`;
const FAULT = {
  line: 7,
  column: 10,
  severity: 'error',
  message: 'orignal_cost is no field of an asset <b>. Did you mean original_cost?',
} as const;
const REMARK = { line: null, column: null, severity: 'warning', message: 'No unique_field is named.' } as const;
const job = (name: string, change: Partial<Job> = {}): Job => ({
  name,
  kind: 'import',
  resource: 'asset',
  schedule: null,
  inbox: { waiting: 2, folder: `inbox/${name}` },
  last: sample.run(),
  problems: [],
  ...change,
});
const FILE: JobFile = { ...job('assets'), text: TEXT.replace('orignal', 'original'), etag: '"a"' };
const WRONG: JobFile = { ...job('assets', { problems: [FAULT, REMARK] }), text: TEXT, etag: '"a"' };
const checked = (problems: Job['problems']) => ({ kind: 'import', resource: 'asset', problems, text: '' });
const GOOD: Answers = { 'GET /jobs/assets': FILE, 'POST /jobs/check': checked([]) };
const BAD: Answers = { 'GET /jobs/assets': WRONG, 'POST /jobs/check': checked([FAULT, REMARK]) };
const THEIRS: JobFile = { ...FILE, text: '# somebody else\nkind: import\n', etag: '"b"' };

async function conflict({ page, answers }: Stage): Promise<void> {
  await page.getByRole('textbox', { name: /^Text of/ }).fill(`${FILE.text}# mine\n`);
  await page.getByText('Nothing is wrong with it').waitFor();
  answers['PUT /jobs/assets'] = 412;
  answers['GET /jobs/assets'] = THEIRS;
  await page.getByRole('button', { name: 'Save' }).click();
}

const STATES: readonly {
  name: string;
  path: string;
  answers: Answers;
  says: string | RegExp;
  act?: (one: Stage) => Promise<unknown>;
}[] = [
  {
    name: 'jobs',
    path: '/jobs',
    answers: {
      'GET /jobs': {
        jobs: [
          job('assets', {
            schedule: { cron: '0 2 * * 1-5', timezone: 'UTC', file: null, next: '2026-04-01T02:00:00Z' },
          }),
          job('erp-of-all-sites-with-a-rather-long-name', { kind: 'reconcile', inbox: null, last: null }),
          job('broken', { kind: null, resource: null, problems: [FAULT, REMARK] }),
        ],
      },
    },
    says: '1 of 3 jobs cannot run: the file has faults',
  },
  { name: 'jobs-none', path: '/jobs', answers: {}, says: 'There is no job file yet' },
  { name: 'jobs-failed', path: '/jobs', answers: { 'GET /jobs': 500 }, says: 'That did not work' },
  { name: 'job', path: '/jobs/assets', answers: GOOD, says: 'Nothing is wrong with it' },
  { name: 'job-faulty', path: '/jobs/assets', answers: BAD, says: '1 fault, 1 remark' },
  {
    name: 'job-viewer',
    path: '/jobs/assets',
    answers: { ...GOOD, 'GET /session': { ...SESSION, role: 'viewer' } },
    says: 'Nothing is wrong with it',
  },
  {
    name: 'job-conflict',
    path: '/jobs/assets',
    answers: GOOD,
    says: 'There is nothing at PUT /jobs/assets',
    act: conflict,
  },
  { name: 'job-gone', path: '/jobs/assets', answers: {}, says: 'There is no such thing here' },
];

afterAll(closeBrowser);

describe.skipIf(!hasBrowser)('the job files', () => {
  it.each(STATES)('$name', async ({ name, path, answers, says, act }) => {
    const one = await stage(answers, /status of \d+/);
    try {
      await one.page.goto(path);
      await act?.(one);
      await one.page.getByText(says).first().waitFor();
      expect(await one.look(name)).toEqual([]);
      expect(one.faults).toEqual([]);
    } finally {
      await one.close();
    }
  });

  it('are checked while they are typed; a fault leads to its line, and what has faults is not saved', async () => {
    const { page, answers, sent, close } = await stage({ ...GOOD, 'PUT /jobs/assets': { ...FILE, etag: '"c"' } });
    const text = page.getByRole('textbox', { name: 'Text of the job assets' });
    const save = page.getByRole('button', { name: 'Save' });
    try {
      await page.goto('/jobs/assets');
      expect(await text.inputValue()).toBe(FILE.text);
      answers['POST /jobs/check'] = checked([FAULT]);
      await text.fill(TEXT);
      await page.getByRole('button', { name: 'Line 7' }).press('Enter');
      const chosen =
        '[document.activeElement.selectionStart, document.activeElement.value.slice(0, document.activeElement.selectionStart).split("\\n").length]';
      expect(await page.evaluate(chosen)).toEqual([TEXT.indexOf('orignal'), 7]);
      expect(await text.getAttribute('aria-invalid')).toBe('true');
      await save.click({ force: true });
      await page.getByText('Correct the faults first').waitFor();
      expect(sent.filter(({ what }) => what.startsWith('PUT'))).toEqual([]);

      answers['POST /jobs/check'] = checked([]);
      await text.fill(`${FILE.text}# done\n`);
      await page.getByText('Nothing is wrong with it').waitFor();
      const [request] = await Promise.all([page.waitForRequest((one) => one.method() === 'PUT'), save.click()]);
      expect(request.headers()['if-match']).toBe('"a"');
      expect(request.postDataJSON()).toEqual({ text: `${FILE.text}# done\n` });
      await page.getByText('assets is saved.').waitFor();
    } finally {
      await close();
    }
  });

  it('are tried with a file on the page of the import, where they are chosen', async () => {
    const table = { format: 'csv', encoding: null, delimiter: null, sheet: null, sheets: [], header_row: 1 };
    const { page, close } = await stage({
      ...GOOD,
      'GET /jobs': { jobs: [job('assets')] },
      'GET /resources': { resources: [] },
      'GET /files/u1': { id: 'u1', file: 'u1', name: 'a.csv', bytes: 12, sha256: '' },
      'POST /tables': { ...table, headings: ['Serial'], first: [], evidence: [], warnings: [] },
    });
    try {
      await page.goto('/jobs/assets');
      await page.getByRole('link', { name: 'Try it with a file' }).press('Enter');
      await page.getByText('Which file shall the job assets be tried with?').waitFor();
      // Where the upload leads.
      await page.goto('/import/u1?step=table&job=assets');
      await page.getByRole('button', { name: 'Check with assets' }).waitFor();
    } finally {
      await close();
    }
  });

  it('are there as they were typed after another page, a reload and a new sign-in, until they are saved', async () => {
    const one = await stage({ ...GOOD, 'POST /session': SESSION, 'PUT /jobs/assets': 401 });
    const { page, answers, sent } = one;
    const mine = `${FILE.text}# mine\n`;
    const text = page.getByRole('textbox', { name: /^Text of/ });
    const save = page.getByRole('button', { name: 'Save' });
    try {
      await page.goto('/jobs/assets');
      await text.fill(mine);
      await page.getByRole('link', { name: 'Queue' }).click();
      await page.goBack();
      await expect.poll(() => text.inputValue()).toBe(mine);
      await page.reload();
      await expect.poll(() => text.inputValue()).toBe(mine);
      answers['GET /session'] = 401;
      await save.click();
      await page.getByLabel('Name').fill('mara');
      await page.getByLabel('Password').fill('let me in');
      Object.assign(answers, { 'GET /session': SESSION, 'PUT /jobs/assets': { ...FILE, text: mine, etag: '"c"' } });
      await page.keyboard.press('Enter');
      await expect.poll(() => text.inputValue()).toBe(mine);
      await save.click();
      await page.getByText('assets is saved.').waitFor();
      expect(sent.at(-1)).toEqual({ what: 'PUT /jobs/assets', body: { text: mine } });
      answers['GET /jobs/assets'] = FILE;
      await page.reload();
      await expect.poll(() => text.inputValue()).toBe(FILE.text);
    } finally {
      await one.close();
    }
  });

  it('that somebody else saved meanwhile are not written over; what was typed stays until it is thrown away', async () => {
    const one = await stage(GOOD);
    const { page } = one;
    try {
      await page.goto('/jobs/assets');
      await conflict(one);
      await page.getByText('There is nothing at PUT /jobs/assets').waitFor();
      const text = page.getByRole('textbox', { name: /^Text of/ });
      expect(await text.inputValue()).toContain('# mine');
      await page.getByRole('button', { name: 'Throw my changes away' }).click();
      await expect.poll(() => text.inputValue()).toContain('# somebody else');
      expect(await page.getByText('There is nothing at PUT /jobs/assets').count()).toBe(0);
    } finally {
      await one.close();
    }
  });
});
