import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Browser, type BrowserContext, type CDPSession, chromium as driver, type Page } from 'playwright-core';
import { it } from 'vitest';
import { chromium } from '../support/binaries.js';

/** One browser for the tests of a process. CONSOLE_SHOTS=<folder> in the environment of the tests keeps a picture of each state. */

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
      // What draws without a graphics card needs no process of its own, and no page here has extensions.
      ...['--in-process-gpu', '--disable-extensions'],
      // Pages live for a second: what is optimised in it costs more than it gains.
      '--js-flags=--no-opt,--no-maglev',
      // Pages that a test writes down are served by the test, under a name that is not this machine's own: see stage.ts.
      ...['--proxy-server=direct://', '--host-resolver-rules=MAP console.test 127.0.0.1'],
    ],
  });
  return browser;
}

/** Ends what the tests of a file opened. The browser itself serves the next file, and ends with the process. */
export async function closeBrowser(): Promise<void> {
  await Promise.all((browser?.contexts() ?? []).map((context) => context.close()));
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
  anew(expected: RegExp | undefined, blank: string): Promise<void>;
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
      // What a test waits for may stand beside a page that is still on its way.
      await page.locator('h1').first().waitFor({ state: 'attached' });
      for (const [size, colours, rules] of LOOKS) {
        if (colours === 'dark' && size !== 'desk' && !SHOTS) continue;
        await go(size, colours);
        const wide = (await page.evaluate('document.documentElement.scrollWidth')) as number;
        if (wide > WIDTHS[size]) wrong.push(`${name} ${place}: ${wide} px wide`);
        const found = rules
          ? await violations(page, protocol, rules)
          : place === 'desk dark'
            ? await darkness(page, protocol)
            : [];
        wrong.push(...found.map((fault) => `${name} ${place}: ${fault}`));
        if (SHOTS) await page.screenshot({ path: join(SHOTS, `${name}-${size}-${colours}.png`) });
      }
      await go('desk', 'light');
      return wrong;
    },
    async anew(next, blank) {
      // Emptied from a page of the same origin: from elsewhere what the page before wrote last may come after it.
      await page.goto(blank);
      await page.evaluate('localStorage.clear(); sessionStorage.clear()');
      await go('desk', 'light');
      await context.clearCookies();
      [foreseen, faults.length] = [next, 0];
    },
    close: () => context.close(),
  };
}

/** What the width changes. */
const TOUCH = '{ runOnly: ["target-size", "scrollable-region-focusable", "page-has-heading-one", "region"] }';
const RULES = "{ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }";

/** In the dark only colours are others, and colours are the same at every width. */
const LOOKS: readonly (readonly [keyof typeof WIDTHS, 'light' | 'dark', string?])[] = [
  ['desk', 'light', RULES],
  ['desk', 'dark'],
  ['wall', 'dark'],
  ['wall', 'light'],
  ['phone', 'light', TOUCH],
  ['phone', 'dark'],
];

/** Axe, on the page that is there now. Scripts that a page is given to evaluate by itself are compiled anew each time; this way once. */
async function arm(page: Page, protocol: CDPSession): Promise<void> {
  if (!(await page.evaluate("typeof axe === 'object'"))) await protocol.send('Runtime.evaluate', { expression: axe });
}

/** What is wrong, in one line for each rule. */
const WORDS = `(violations) => violations.map(({ id, nodes }) =>
  id + ': ' + nodes.slice(0, 3).map(({ html, any }) => html.slice(0, 160) + ' ' + (any[0]?.message ?? '')).join(' | '))`;

async function violations(page: Page, protocol: CDPSession, rules: string): Promise<string[]> {
  await arm(page, protocol);
  const found = await page.evaluate(
    `axe.run(document, { resultTypes: ['violations'], ...${rules} }).then(({ violations }) => (${WORDS})(violations))`,
  );
  return found as string[];
}

/** Kinds of text, as style sheets tell them apart: by what it and all around it are, not by what it says. Of each the first in sight. */
const KINDS = `(() => {
  const told = ['class', 'style', 'role', 'type', 'open', 'disabled', 'popover', 'lang'];
  const kindOf = (element) => element.localName
    + element.getAttributeNames().filter((name) => told.includes(name) || /^(?:aria-(?!label|describedby|controls|owns|activedescendant|rowindex|colindex)|data-)/.test(name))
      .map((name) => name + '=' + element.getAttribute(name)).join()
    + [':focus', ':focus-within', ':hover', ':checked', ':placeholder-shown'].filter((state) => element.matches(state));
  const held = new Map([[document, '']]);
  const pathOf = (element) => {
    if (!held.has(element)) held.set(element, pathOf(element.parentNode) + '>' + kindOf(element));
    return held.get(element);
  };
  globalThis.kinds = new Map();
  for (const element of document.querySelectorAll('body *')) {
    const says = element.matches('input, select, textarea') || [...element.childNodes].some(({ nodeType, data }) => nodeType === 3 && data.trim() !== '');
    if (!says || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const { left, top, right, bottom } = element.getBoundingClientRect();
    if (right - left < 2) continue;
    const inSight = left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
    const [kind, one] = [pathOf(element), kinds.get(pathOf(element))];
    if (!one || (inSight && !one.inSight)) kinds.set(kind, { element, inSight });
  }
  return [...kinds.keys()];
})()`;

/** Kinds that were found in the dark as they should be, by any test of this process. */
const fine = new Set<string>();

/** By day everything on every page is looked at; what is the same in the dark as on another page is looked at there. */
async function darkness(page: Page, protocol: CDPSession): Promise<string[]> {
  const kinds = (await page.evaluate(KINDS)) as string[];
  const fresh = kinds.flatMap((kind, at) => (fine.has(kind) ? [] : [at]));
  if (fresh.length === 0) return [];
  await arm(page, protocol);
  const { wrong, seen } = (await page.evaluate(`(() => {
    const chosen = ((all) => [${fresh}].map((at) => all[at].element))([...kinds.values()]);
    // The page may have drawn itself anew.
    const include = chosen.filter((element) => element.isConnected);
    if (include.length === 0) return { wrong: [], seen: [] };
    const options = { runOnly: ['color-contrast'], resultTypes: ['violations', 'passes'], elementRef: true };
    return axe.run({ include }, options).then(({ violations, passes }) => {
      const judged = new Set(passes.flatMap(({ nodes }) => nodes.map(({ element }) => element)));
      return { wrong: (${WORDS})(violations), seen: chosen.map((element) => judged.has(element)) };
    });
  })()`)) as { wrong: string[]; seen: boolean[] };
  // What axe could not see here it may see elsewhere.
  for (const [at, place] of fresh.entries()) if (seen[at]) fine.add(kinds[place] ?? '');
  return wrong;
}
