import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeLinkKey } from '../../src/api/access/links.js';
import { type ApiBench, openApiBench, sheet } from '../api/worker.js';
import { consolePath } from '../support/build.js';
import { closeBrowser, hasBrowser, type Visitor, visitor } from './browser.js';

/** The console as people have it: a worker, its queue, the sandbox, and a browser that signed in by the link. */

const ROWS = 90;
let bench: ApiBench;

/** Updates that the service takes before it lets everybody wait: the run can be looked at in its middle. */
const LET_THROUGH = 12;
let gate: { seen: number; readonly open: Promise<void> } | undefined;

/** Closes the gate, and answers what opens it. */
function closeGate(): () => void {
  let release: () => void = () => undefined;
  gate = { seen: 0, open: new Promise((resolve) => (release = resolve)) };
  return () => {
    gate = undefined;
    release();
  };
}

async function signedIn(): Promise<Visitor> {
  // A download begins by leaving the page for it, which the browser then takes back.
  const who = await visitor(bench.url, /net::ERR_ABORTED/);
  await who.page.goto(`/sign-in?key=${makeLinkKey(bench.home)}`);
  await who.page.getByRole('heading', { level: 1, name: /for you/ }).waitFor();
  return who;
}

describe.skipIf(!hasBrowser)('a run in the console', () => {
  beforeAll(async () => {
    const onRequest = async ({ method }: { method: string }) => {
      if (method === 'PUT' && gate && ++gate.seen > LET_THROUGH) await gate.open;
    };
    bench = await openApiBench({ onRequest }, { ROWFERRY_TIMEOUT: '60' }, 'redis', await consolePath());
    await bench.ended(
      await bench.order({ kind: 'import', job: 'assets', file: await bench.file('first.csv', sheet(ROWS)) }),
    );
  });
  afterAll(async () => {
    await closeBrowser();
    await bench?.close();
  });

  it('is found, followed, stopped, resumed, read row by row and taken back, with the keyboard alone', async () => {
    const mara = await signedIn();
    const { page } = mara;
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    const headed = (name: RegExp) => page.getByRole('heading', { level: 1, name }).waitFor();
    /** As somebody does who goes there by Tab. */
    const choose = async (role: 'button' | 'link', name: string | RegExp) => {
      const found = page.getByRole(role, { name, exact: typeof name === 'string' }).last();
      await found.focus();
      await press('Enter');
    };
    const file = await bench.file(
      'second.csv',
      sheet(ROWS, (i) => (i % 10 === 9 ? 'n/a' : `${i}.75`)),
    );
    const openGate = closeGate();
    const run = await bench.order({ kind: 'import', job: 'assets', file });

    await choose('link', 'Runs');
    await headed(/latest/);
    await press('/');
    await page.keyboard.type('second');
    await press('Enter');
    await headed(/^1 run matches/);
    await choose('link', 'second.csv');
    await headed(/^[1-9]\d* of 90 rows are through/);
    expect(new URL(page.url()).pathname).toBe(`/runs/${run}`);

    await page.reload();
    await headed(/of 90 rows are through/);
    await choose('button', 'Stop');
    await choose('button', 'Stop the run');
    await page.getByText('The run stops.').waitFor();
    openGate();
    await headed(/^The run was interrupted/);

    // Somebody else looks on.
    const tom = await signedIn();
    await tom.page.goto(`/runs/${run}?outcome=to_look_at`);
    await tom.page.getByText('Not reached').first().waitFor();

    await choose('button', 'Resume');
    await page.getByText('Nothing is written twice').last().waitFor();
    await choose('button', 'Resume');
    for (const who of [mara, tom])
      await who.page.getByRole('heading', { level: 1, name: '81 of 90 rows are in; 9 need you.' }).waitFor();
    await tom.close();
    expect(tom.faults).toEqual([]);

    await choose('link', /To correct$/);
    const grid = page.getByRole('grid', { name: '9 rows' });
    await grid.waitFor();
    await grid.focus();
    await press('ArrowDown', 'Enter');
    const story = page.getByRole('complementary', { name: 'Row 21' });
    await story.getByText('cannot be read as a number').first().waitFor();
    await page.reload();
    await story.getByText('not_a_number').waitFor();
    await press('Escape');
    await story.waitFor({ state: 'detached' });
    const download = page.waitForEvent('download');
    await choose('link', 'rejected.csv');
    expect((await download).suggestedFilename()).toBe('rejected.csv');

    await choose('button', 'Undo');
    await page.getByText('Original cost goes back in 81 records').waitFor();
    await choose('button', 'Undo');
    await headed(/^Put back all 81 records/);
    expect(new URL(page.url()).pathname).not.toBe(`/runs/${run}`);
    expect(await mara.look('flow-undone')).toEqual([]);
    expect(mara.faults).toEqual([]);
    await mara.close();
  });

  it('a corrected file goes in with the job of its run, which no job file holds', async () => {
    const job = {
      ...{ kind: 'import', resource: 'supplier', match: { key: 'name' } },
      ...{ columns: { Firm: 'name', Ort: 'city' }, constants: { phone: '123' } },
    };
    const file = await bench.file('firms.csv', `Firm,Ort\n${'x'.repeat(60)},Oslo\n`);
    const run = await bench.order({ kind: 'import', job, file });
    await bench.ended(run);
    const mara = await signedIn();
    const { page } = mara;
    const press = (name: string) => page.getByRole('button', { name }).click();
    await page.goto(`/runs/${run}`);
    await page.getByRole('link', { name: 'Import the corrected file' }).click();
    await page.getByRole('heading', { level: 1, name: 'Which file holds the corrected rows?' }).waitFor();
    const buffer = Buffer.from('Firm,Ort,_row,_outcome,_codes,_message\nShort,Oslo,2,invalid,too_long,x\n');
    await page.locator('input[type=file]').setInputFiles({ name: 'rejected.csv', mimeType: 'text/csv', buffer });
    await press('Match 6 columns');
    await page.getByRole('heading', { name: '2 of 6 columns go in' }).waitFor();
    await press('Check 1 row');
    await press('See the plan');
    await press('Write 1 row');
    await page.getByRole('heading', { level: 1, name: /is in\.$/ }).waitFor();
    const [short] = bench.sandbox.raw('supplier').filter(({ name }) => name === 'Short');
    expect(short).toMatchObject({ city: 'Oslo', phone: '123' });
    expect(mara.faults).toEqual([]);
    await mara.close();
  });

  it('rows that a run of somewhere else handed back are corrected in the grid, and go in with its job', async () => {
    const file = await bench.file('drop.csv', 'Name,Serial,Cost\nFirst,D-1,10\nSecond,D-2,ten\n');
    const run = await bench.order({ kind: 'import', job: 'assets', file });
    await bench.ended(run);
    const mara = await signedIn();
    const { page } = mara;
    await page.goto(`/runs/${run}`);
    await page.getByRole('button', { name: 'Correct them here' }).click();
    await page.getByRole('heading', { level: 1, name: '0 rows are fine · 1 to correct' }).waitFor();
    expect(await mara.look('flow-handed-back')).toEqual([]);
    await page.reload();
    await page.getByRole('gridcell', { name: 'ten' }).first().click();
    await page.keyboard.type('20.5');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Check again with 1 correction' }).click();
    await page.getByRole('button', { name: 'See the plan' }).click();
    await page.getByRole('button', { name: 'Write 1 row' }).click();
    await page.getByRole('heading', { level: 1, name: /is in\.$/ }).waitFor();
    const [second] = bench.sandbox.raw('asset').filter(({ serial_number: serial }) => serial === 'D-2');
    expect(second).toMatchObject({ name: 'Second', original_cost: '20.50' });
    expect(mara.faults).toEqual([]);
    await mara.close();
  });

  it('a plan that a correction has overtaken is not written, and corrections outlast another look at the columns', async () => {
    const mara = await signedIn();
    const { page } = mara;
    const press = (name: string | RegExp) => page.getByRole('button', { name }).click();
    const step = (name: string) => page.getByRole('navigation', { name: 'Steps' }).getByRole('link', { name }).click();
    const buffer = Buffer.from('Company,Town\nOvertaken,Oslo\nOther,Bern\n');
    await page.goto('/import');
    await page.locator('input[type=file]').setInputFiles({ name: 'overtaken.csv', mimeType: 'text/csv', buffer });
    await press('Match 2 columns');
    await page.getByLabel('The rows are').selectOption('supplier');
    await press('Check 2 rows');
    await page.getByRole('gridcell', { name: 'Oslo' }).click();
    await page.keyboard.type('Bergen');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Check again with 1 correction' }).waitFor();
    await step('Plan');
    await page.getByRole('heading', { level: 1, name: 'The plan is not up to date' }).waitFor();
    await page.getByText('1 correction is not checked yet.').waitFor();
    await press('Check again');
    await page.getByRole('button', { name: 'See the plan' }).waitFor();
    await step('Columns');
    await press('Check 2 rows');
    await press('See the plan');
    await press('Write 2 rows');
    const result = page.getByRole('heading', { level: 1, name: /are in\.$/ });
    await result.waitFor();
    // The rows stand below what searches them.
    const field = await page.getByRole('searchbox', { name: 'Search by key' }).boundingBox();
    const grid = await page.getByRole('grid').boundingBox();
    expect(grid?.y).toBeGreaterThan((field?.y ?? 0) + (field?.height ?? 0));
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'This plan was carried out' }).waitFor();
    await page.goForward();
    await result.waitFor();
    await step('Plan');
    await page.getByRole('heading', { level: 1, name: 'This plan was carried out' }).waitFor();
    const towns = bench.sandbox.raw('supplier').map(({ name, city }) => `${name} ${city}`);
    expect(towns).toEqual(expect.arrayContaining(['Overtaken Bergen', 'Other Bern']));
    expect(mara.faults).toEqual([]);
    await mara.close();
  });

  it('shows markup of a file as text, wherever it is shown', async () => {
    const markup = '<img src=x onerror=alert(1)>';
    const file = await bench.file(`a ${'<b>bold<'}.csv`, `Name,Serial,Cost\n${markup},M-1,${markup}\n`);
    const run = await bench.order({ kind: 'import', job: 'assets', file });
    await bench.ended(run);
    const mara = await signedIn();
    for (const path of ['/', '/runs', `/runs/${run}`, `/runs/${run}?row=2`]) {
      await mara.page.goto(path);
      await mara.page.getByText('<b>bold<').first().waitFor();
      expect(await mara.page.locator('main b, main img').count()).toBe(0);
    }
    await mara.page.getByText(markup).first().waitFor();
    expect(mara.faults).toEqual([]);
    await mara.close();
  });
});
