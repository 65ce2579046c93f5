import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Role } from '../../src/api/schema.js';
import { type ApiBench, openApiBench } from '../api/worker.js';
import { consolePath } from '../support/build.js';
import { closeBrowser, hasBrowser, type Visitor, visitor } from './browser.js';

/** The import page in a browser, with a worker and the service behind it. */

/** Each goes through five steps, with a page that is loaded anew in each. */
const LONG_MS = 240_000;

const SUPPLIERS = 6;
const DATES = 5;
const COSTS = ['12x5', 'about 900', '1.2.3'];
const MARKUP = '<img src=x onerror=alert(1)>"\'&amp;';

/** 240 rows with 14 faults of 3 kinds; in one name there is markup. */
function inventory(rows = 240, from = 1): string {
  const lines = Array.from({ length: rows }, (_, i) => {
    const fault = i % 16 === 7 ? Math.floor(i / 16) : -1;
    const supplier = fault >= 0 && fault < SUPPLIERS ? 'Acme Computer' : 'Acme Computers';
    const bought = fault >= SUPPLIERS && fault < SUPPLIERS + DATES ? '2024-02-31' : '2024-02-28';
    const cost = COSTS[fault - SUPPLIERS - DATES] ?? `${900 + i}.50`;
    const name = i === 3 ? MARKUP : `Notebook ${i}`;
    return [name, `KB-${from + i}`, supplier, cost, bought, `note ${i}`]
      .map((cell) => `"${cell.replaceAll('"', '""')}"`)
      .join(',');
  });
  return ['Name,Serial number,Supplier,Purchase cost,Service start,Remarks', ...lines, ''].join('\r\n');
}

let bench: ApiBench;
let folder: string;
let file: string;

async function signedIn(role: Role = 'operator'): Promise<Visitor> {
  const who = await visitor(bench.url);
  await who.context.setExtraHTTPHeaders({ authorization: `Bearer ${bench.keys[role]}` });
  return who;
}

/** Chooses a file as somebody does who presses the button. */
async function choose({ page }: Visitor, path: string, press: () => Promise<void>): Promise<void> {
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), press()]);
  await chooser.setFiles(path);
}

const heading = ({ page }: Visitor) => page.getByRole('heading', { level: 1 });
const says = (who: Visitor, text: string | RegExp) => heading(who).filter({ hasText: text }).waitFor();
const grid = ({ page }: Visitor) => page.getByRole('grid');

/** From the file to the first check. */
async function check(who: Visitor, path: string): Promise<void> {
  await who.page.goto('/import');
  await choose(who, path, () => who.page.getByRole('button', { name: 'Choose a file' }).click());
  await who.page.getByRole('button', { name: /^Match \d+ columns/ }).click();
  await who.page.getByRole('button', { name: /^Check [\d,]+ rows/ }).click();
  await grid(who).waitFor();
}

describe.skipIf(!hasBrowser)('the import page', () => {
  beforeAll(async () => {
    bench = await openApiBench({ seed: 'demo' }, {}, 'redis', await consolePath());
    folder = await mkdtemp(join(tmpdir(), 'rowferry-import-page-'));
    file = join(folder, 'inventory.csv');
    await writeFile(file, inventory());
  });
  afterAll(async () => {
    await closeBrowser();
    await bench?.close();
    await rm(folder, { recursive: true, force: true });
  }, LONG_MS);

  it(
    'takes 240 rows with 14 faults of 3 kinds from the file to the service in at most 40 key strokes',
    async () => {
      const who = await signedIn();
      const { page } = who;
      let strokes = 0;
      const press = async (...keys: string[]) => {
        for (const key of keys) await page.keyboard.press(key);
        strokes += keys.length;
      };
      const type = async (text: string) => {
        await page.keyboard.type(text);
        strokes += text.length;
      };
      const focused = (name: RegExp) => page.locator(':focus').filter({ hasText: name }).waitFor();
      await page.goto('/import');
      await page.locator('[aria-label="Choose a file"]:focus').waitFor();
      await choose(who, file, () => press('Enter'));
      await focused(/Match 6 columns/);
      await press('Enter');
      await focused(/Check 240 rows/);
      await press('Enter');
      await says(who, '226 rows are fine · 14 to correct');
      // At the first fault: the names that may be meant, one of them for all rows.
      const strip = page.locator('.strip');
      await strip.getByText(/There is no supplier "Acme Computer"/).waitFor();
      await press('Enter');
      await page.getByRole('option', { name: /Acme Computers/ }).waitFor();
      await press('ArrowDown', 'Control+Enter');
      await page.getByRole('button', { name: 'Check again with 1 correction' }).waitFor();
      await strip.getByText('"2024-02-31"').waitFor();
      await type('2024-02-28');
      await press('Control+Enter');
      for (const [at, cost] of ['900', '901', '902'].entries()) {
        await strip.getByText(`"${COSTS[at]}"`).waitFor();
        await type(cost);
        await press('Enter');
      }
      await page.getByRole('button', { name: 'Check again with 5 corrections' }).waitFor();
      await press('Control+Enter');
      await says(who, 'All 240 rows are fine');
      await focused(/See the plan/);
      await press('Enter');
      await says(who, '240 rows would be written to Northwind Operations');
      await focused(/would be written/);
      await press('Tab');
      await focused(/Write 240 rows/);
      await press('Enter');
      await says(who, 'All 240 rows are in.');
      await page.getByRole('button', { name: 'Undo' }).waitFor();
      expect(strokes).toBeLessThanOrEqual(40);
      expect(who.faults).toEqual([]);
      // The file is as it was; the corrected copy lies with the run.
      expect(await readFile(file, 'utf8')).toBe(inventory());
      const run = new URL(page.url()).searchParams.get('write') ?? '';
      const corrected = await bench.call('GET', `/runs/${run}/reports/corrected.csv`);
      expect(corrected.body).not.toMatch(/2024-02-31|Acme Computer\b|12x5/);
      await who.close();
    },
    LONG_MS,
  );

  it(
    'finds each step as it was after a reload, and lets somebody else take it up',
    async () => {
      const [mara, ines] = [await signedIn(), await signedIn('approver')];
      const { page } = mara;
      const second = join(folder, 'second.csv');
      await writeFile(second, inventory(48, 1_000));
      await page.goto('/import');
      await choose(mara, second, () => page.getByRole('button', { name: 'Choose a file' }).click());
      await page.getByRole('cell', { name: MARKUP }).waitFor();
      await page.reload();
      await page.getByRole('cell', { name: MARKUP }).waitFor();
      await page.getByRole('button', { name: 'Match 6 columns' }).click();
      await page.getByRole('combobox', { name: 'Field for Remarks' }).fill('asset notes');
      await page.getByRole('option', { name: 'Asset notes asset_notes' }).click();
      await page.reload();
      await expect
        .poll(() => page.getByRole('combobox', { name: 'Field for Remarks' }).inputValue())
        .toBe('Asset notes');
      await page.getByRole('button', { name: 'Check 48 rows' }).click();
      await says(mara, '45 rows are fine · 3 to correct');
      await page.getByRole('button', { name: 'Take Acme Computers for 3 rows' }).click();
      await page.getByRole('button', { name: 'Check again with 1 correction' }).waitFor();
      await page.reload();
      // What was not sent yet is hers alone; the check is there for both.
      await page.getByRole('button', { name: 'Check again with 1 correction' }).click();
      await says(mara, 'All 48 rows are fine');
      const address = page.url();
      await ines.page.goto(address);
      await says(ines, 'All 48 rows are fine');
      for (const who of [mara, ines]) {
        await who.page.getByRole('button', { name: 'See the plan' }).click();
        await says(who, '48 rows would be written');
        await who.page.reload();
        await says(who, '48 rows would be written');
      }
      // Both press the button: it is one run.
      await Promise.all([mara, ines].map((who) => who.page.getByRole('button', { name: 'Write 48 rows' }).click()));
      await Promise.all([mara, ines].map((who) => says(who, 'All 48 rows are in.')));
      const runs = [mara, ines].map((who) => new URL(who.page.url()).searchParams.get('write'));
      expect(runs[0]).toBe(runs[1]);
      await page.reload();
      await says(mara, 'All 48 rows are in.');
      await page.getByRole('button', { name: 'Save as job' }).click();
      await page.getByText('Saved.', { exact: true }).waitFor();
      const saved = await bench.call('GET', '/jobs/second');
      expect(saved.body).toMatchObject({ kind: 'import', problems: [] });
      await page.getByRole('textbox', { name: 'Name of the job' }).fill('third');
      await page.getByText('Saved.', { exact: true }).waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Undo' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Undo' }).click();
      await page.waitForURL(/\/runs\//);
      expect([...mara.faults, ...ines.faults]).toEqual([]);
      await Promise.all([mara.close(), ines.close()]);
    },
    LONG_MS,
  );

  it(
    'reads a file with a saved job as the table page shows it, checks that, and writes that',
    async () => {
      const who = await signedIn();
      const { page } = who;
      const twice = join(folder, 'twice.csv');
      const heading = ['Name', 'Serial number', 'Supplier'];
      const lines = [heading, ['Upper', 'TW-1', 'Acme Computers'], heading, ['Lower', 'TW-2', 'Acme Computers']];
      await writeFile(twice, lines.map((cells) => `${cells.join(',')}\r\n`).join(''));
      const job = {
        ...{ kind: 'import', resource: 'asset', match: { key: 'serial_number' }, source: { header_row: 1 } },
        columns: { Name: 'name', 'Serial number': 'serial_number', Supplier: null },
        ...{ schedule: { cron: '0 2 1 1 *', file: 'in.csv' }, notify: { webhook: 'http://127.0.0.1:9/told' } },
      };
      const made = await bench.call('PUT', '/jobs/kept', { job }, { headers: { 'if-none-match': '*' } });
      expect(made.status).toBe(200);
      await page.goto('/import');
      await choose(who, twice, () => page.getByRole('button', { name: 'Choose a file' }).click());
      await page.getByRole('cell', { name: 'Upper' }).waitFor();
      await page.getByRole('combobox', { name: 'Headings' }).selectOption('in row 3');
      await page.getByRole('cell', { name: 'Upper' }).waitFor({ state: 'detached' });
      await page.getByRole('combobox', { name: 'Saved job' }).selectOption('kept (asset)');
      await page.getByRole('button', { name: 'Check with kept' }).click();
      await says(who, 'The only row is fine');
      await grid(who).getByText('Lower').waitFor();
      await page.getByText('1 row · headings in row 3').waitFor();
      await page.getByRole('button', { name: 'See the plan' }).click();
      await page.getByRole('button', { name: 'Write 1 row' }).click();
      await says(who, /is in\.$/);
      const run = new URL(page.url()).searchParams.get('write') ?? '';
      const { body } = await bench.call('GET', `/runs/${run}/rows`);
      expect(body.rows.map(({ key }: { key: string }) => key)).toEqual(['TW-2']);
      expect(who.faults).toEqual([]);
      await who.close();
    },
    LONG_MS,
  );

  it(
    'shows markup as text in every step',
    async () => {
      const who = await signedIn();
      const { page } = who;
      const cells = [MARKUP, `KB-${MARKUP}`.slice(0, 30), MARKUP, MARKUP].map(
        (cell) => `"${cell.replaceAll('"', '""')}"`,
      );
      const content = ['Name,Serial number,Supplier,"<b>Purchase</b> cost"', cells.join(','), ''].join('\r\n');
      const dropped = join(folder, 'markup <b>.csv');
      await writeFile(dropped, content);
      await page.goto('/import');
      const place = (await page.locator('.drop').boundingBox())!;
      const protocol = await who.context.newCDPSession(page);
      // Beside its place it would take the place of the page.
      for (const at of [
        { x: place.x + 8, y: place.y - 20 },
        { x: place.x + 8, y: place.y + 8 },
      ])
        for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
          await protocol.send('Input.dispatchDragEvent', {
            ...{ type, ...at },
            data: { items: [], files: [dropped], dragOperationsMask: 1 },
          });
      await page.getByRole('cell', { name: MARKUP }).first().waitFor();
      await page.getByRole('button', { name: /^Match/ }).click();
      await page.getByRole('button', { name: 'Check 1 row' }).click();
      await says(who, '1 to correct');
      await grid(who).getByText(MARKUP).first().waitFor();
      await page.getByRole('button', { name: /^Go on without/ }).click();
      await says(who, 'There is nothing to write');
      expect(await page.locator('main img, main b').count()).toBe(0);
      expect(who.faults).toEqual([]);
      await who.close();
    },
    LONG_MS,
  );

  it(
    'copies, pastes, fills and takes back ranges as a spreadsheet does',
    async () => {
      const who = await signedIn();
      const { page } = who;
      await who.context.grantPermissions(['clipboard-read', 'clipboard-write']);
      await check(who, file);
      await page
        .locator('.strip')
        .getByText(/Row 9 · Supplier/)
        .waitFor();
      const keys = async (...all: string[]) => {
        for (const key of all) await page.keyboard.press(key);
      };
      const cell = (row: number, column: number) => page.locator(`#cell-${row}-${column}`);
      await keys('F2', 'Control+A');
      await page.keyboard.type('Globex Networks');
      await keys('Enter', 'ArrowUp', 'Control+C', 'Shift+ArrowDown', 'Shift+ArrowDown', 'Control+V');
      for (const row of [0, 1, 2]) await cell(row, 2).getByText('Globex Networks', { exact: true }).waitFor();
      await keys('Control+Z');
      await cell(1, 2).getByText('Acme Computer', { exact: true }).waitFor();
      await keys('Control+V', 'Control+C');
      await expect
        .poll(() => page.evaluate('navigator.clipboard.readText()'))
        .toBe(Array(3).fill('Globex Networks').join('\n'));
      await keys('Delete');
      await page.getByRole('button', { name: 'Check again with 3 corrections' }).waitFor();
      await keys('Escape', 'Control+End');
      await page
        .locator('.strip')
        .getByText(/Remarks/)
        .waitFor();
      expect(who.faults).toEqual([]);
      await who.close();
    },
    LONG_MS,
  );
});
