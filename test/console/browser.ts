import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium as driver, type Page } from 'playwright-core';
import { it } from 'vitest';
import { chromium } from '../support/binaries.js';

/** One browser for the tests of a file. CONSOLE_SHOTS=<folder> in the environment of the tests keeps a picture of each state. */

const found = await chromium();
if ('missing' in found) it.skip(found.missing, () => undefined);
/** False where there is no browser: `describe.skipIf(!hasBrowser)`. */
export const hasBrowser = 'path' in found;

export const WIDTHS = { phone: 380, desk: 1280, wall: 2560 } as const;
const HEIGHTS = { phone: 780, desk: 860, wall: 1300 } as const;
/** For one step of a test; its own limit bounds them all. On a machine with much else to do the usual 30 s are too short. */
const STEP_MS = 90_000;
const SHOTS = process.env['CONSOLE_SHOTS'];
const require = createRequire(import.meta.url);
const axe = await readFile(require.resolve('axe-core/axe.min.js'), 'utf8');

let browser: Browser | undefined;

export async function openBrowser(): Promise<Browser> {
  if ('missing' in found) throw new Error(found.missing);
  browser ??= await driver.launch({
    executablePath: found.path,
    // Who runs tests as root has no sandbox of the system; what is loaded is ours.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--hide-scrollbars'],
  });
  return browser;
}

export async function closeBrowser(): Promise<void> {
  const open = browser;
  browser = undefined;
  await open?.close();
}

/** Somebody who looks at the console: what goes wrong in their browser is kept. */
export interface Visitor {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors on its console (violations of the policy among them), exceptions, and requests to elsewhere. */
  readonly faults: string[];
  /**
   * The page as it is now, on a phone, a desk and a wall, light and dark: nothing wider than the window, no violation that axe
   * finds. Answers what is wrong.
   */
  look(name: string): Promise<string[]>;
  close(): Promise<void>;
}

/** `origin`: the only one that is to be asked. `expected`: faults that the test itself makes. */
export async function visitor(origin: string, expected?: RegExp): Promise<Visitor> {
  const context = await (await openBrowser()).newContext({
    viewport: { width: WIDTHS.desk, height: HEIGHTS.desk },
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    reducedMotion: 'reduce',
    baseURL: origin,
  });
  context.setDefaultTimeout(STEP_MS);
  const page = await context.newPage();
  // Choosers of files come to the test only after the page was told so, which keys and clicks overtake: from the beginning, then.
  page.on('filechooser', () => undefined);
  const faults: string[] = [];
  const keep = (text: string) => {
    if (!expected?.test(text)) faults.push(text);
  };
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') keep(message.text());
  });
  page.on('pageerror', (error) => keep(String(error)));
  page.on('request', (request) => {
    if (!request.url().startsWith(`${origin}/`) && !/^(?:data|blob):/.test(request.url()))
      keep(`asked ${request.url()}`);
  });
  return {
    page,
    context,
    faults,
    async look(name) {
      const wrong: string[] = [];
      for (const [size, width] of Object.entries(WIDTHS)) {
        await page.setViewportSize({ width, height: HEIGHTS[size as keyof typeof WIDTHS] });
        for (const colorScheme of ['light', 'dark'] as const) {
          // In the dark only colours are others, and colours are the same at every width.
          const dark = colorScheme === 'dark';
          if (dark && size !== 'desk' && !SHOTS) continue;
          await page.emulateMedia({ colorScheme });
          const place = `${name} ${size} ${colorScheme}`;
          const wide = (await page.evaluate('document.documentElement.scrollWidth')) as number;
          if (wide > width) wrong.push(`${place}: ${wide} px wide`);
          const rules = size === 'desk' ? (dark ? COLOURS : RULES) : size === 'phone' && !dark ? TOUCH : undefined;
          if (rules) wrong.push(...(await violations(page, rules)).map((fault) => `${place}: ${fault}`));
          if (SHOTS) await page.screenshot({ path: join(SHOTS, `${name}-${size}-${colorScheme}.png`) });
        }
      }
      await page.setViewportSize({ width: WIDTHS.desk, height: HEIGHTS.desk });
      await page.emulateMedia({ colorScheme: 'light' });
      return wrong;
    },
    close: () => context.close(),
  };
}

/** Two keys one after the other, the second before the first is up: what comes between them is no time of the machine. */
export async function together({ keyboard }: Page, first: string, second: string): Promise<void> {
  await Promise.all([keyboard.press(first), keyboard.press(second)]);
}

const COLOURS = '{ runOnly: ["color-contrast"] }';
/** What the width changes. */
const TOUCH = '{ runOnly: ["target-size", "scrollable-region-focusable", "page-has-heading-one", "region"] }';
const RULES = "{ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }";

async function violations(page: Page, rules: string): Promise<string[]> {
  await page.evaluate(`typeof axe === 'object' || (() => { ${axe} })()`);
  return (await page.evaluate(
    `axe.run(document, { resultTypes: ['violations'], ...${rules} }).then(({ violations }) =>
      violations.map(({ id, nodes }) =>
        id + ': ' + nodes.slice(0, 3).map(({ html, any }) => html.slice(0, 160) + ' ' + (any[0]?.message ?? '')).join(' | ')))`,
  )) as string[];
}
