import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Browser, type BrowserContext, type CDPSession, chromium as driver, type Page } from 'playwright-core';
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
    args: [
      ...['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--hide-scrollbars'],
      // Pages that a test writes down are served by the test, under a name that is not this machine's own: see stage.ts.
      ...['--proxy-server=direct://', '--host-resolver-rules=MAP console.test 127.0.0.1'],
    ],
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
  /** As somebody who was never here: nothing kept, no fault seen, a desk by day. What it is told to expect holds from now on. */
  anew(expected?: RegExp): Promise<void>;
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
  let foreseen = expected;
  const keep = (text: string) => {
    if (!foreseen?.test(text)) faults.push(text);
  };
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') keep(message.text());
  });
  page.on('pageerror', (error) => keep(String(error)));
  page.on('request', (request) => {
    if (!request.url().startsWith(`${origin}/`) && !/^(?:data|blob|about):/.test(request.url()))
      keep(`asked ${request.url()}`);
  });
  const protocol = await context.newCDPSession(page);
  let place = '';
  const go = async (size: keyof typeof WIDTHS, colorScheme: 'light' | 'dark') => {
    if (place === `${size} ${colorScheme}`) return;
    if (!place.startsWith(size)) await page.setViewportSize({ width: WIDTHS[size], height: HEIGHTS[size] });
    if (!place.endsWith(colorScheme)) await page.emulateMedia({ colorScheme });
    place = `${size} ${colorScheme}`;
  };
  await go('desk', 'light');
  return {
    page,
    context,
    faults,
    async look(name) {
      const wrong: string[] = [];
      for (const [size, colours, rules] of LOOKS) {
        if (rules === undefined && colours === 'dark' && !SHOTS) continue;
        await go(size, colours);
        const wide = (await page.evaluate('document.documentElement.scrollWidth')) as number;
        if (wide > WIDTHS[size]) wrong.push(`${name} ${place}: ${wide} px wide`);
        if (rules)
          wrong.push(...(await violations(page, protocol, rules)).map((fault) => `${name} ${place}: ${fault}`));
        if (SHOTS) await page.screenshot({ path: join(SHOTS, `${name}-${size}-${colours}.png`) });
      }
      await go('desk', 'light');
      return wrong;
    },
    async anew(next) {
      await page.goto('about:blank');
      await go('desk', 'light');
      await context.clearCookies();
      await protocol.send('Storage.clearDataForOrigin', { origin, storageTypes: 'local_storage,session_storage' });
      [foreseen, faults.length] = [next, 0];
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

/** In the dark only colours are others, and colours are the same at every width. */
const LOOKS: readonly (readonly [keyof typeof WIDTHS, 'light' | 'dark', string?])[] = [
  ['desk', 'light', RULES],
  ['desk', 'dark', COLOURS],
  ['wall', 'dark'],
  ['wall', 'light'],
  ['phone', 'light', TOUCH],
  ['phone', 'dark'],
];

/** Axe, on the page that is there now. Scripts that a page is given to evaluate by itself are compiled anew each time; this way once. */
async function violations(page: Page, protocol: CDPSession, rules: string): Promise<string[]> {
  if (!(await page.evaluate("typeof axe === 'object'"))) await protocol.send('Runtime.evaluate', { expression: axe });
  return (await page.evaluate(
    `axe.run(document, { resultTypes: ['violations'], ...${rules} }).then(({ violations }) =>
      violations.map(({ id, nodes }) =>
        id + ': ' + nodes.slice(0, 3).map(({ html, any }) => html.slice(0, 160) + ' ' + (any[0]?.message ?? '')).join(' | ')))`,
  )) as string[];
}
