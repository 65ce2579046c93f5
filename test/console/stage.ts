import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { Session } from '../../src/api/schema.js';
import { consolePath } from '../support/build.js';
import { until } from '../support/until.js';
import { type Visitor, visitor } from './browser.js';

/** Pages over answers that a test writes down: every state can be had, and no process is needed. */

const ORIGIN = 'http://console.test';
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.html': 'text/html',
};

export const SESSION: Session = {
  name: 'mara',
  role: 'approver',
  via: 'user',
  service: 'https://northwind.example/api',
  company: 7,
  company_name: 'Northwind Operations',
  production: true,
  version: '0.1.0',
  max_upload: 200_000_000,
};

/** What the API answers: by `GET /path`, with or without its search. A number is a status, a text a report; `undefined` never answers. */
export type Answers = Record<string, unknown>;

export interface Stage extends Visitor {
  /** May be changed while the page is there. */
  readonly answers: Answers;
  /** Requests that change something, as they came. */
  readonly sent: { readonly what: string; readonly body: unknown }[];
  /** Has an event come from the run that the page follows; `lost` cuts the connection. */
  event(name: 'open' | 'progress' | 'end' | 'lost', data?: unknown): Promise<void>;
}

/** In place of the browser's own, which no answer of a test can keep open. */
const EVENTS = `
  window.sources = [];
  window.EventSource = class extends EventTarget {
    static CLOSED = 2;
    readyState = 0;
    constructor(address) { super(); this.address = address; window.sources.push(this); }
    close() { this.readyState = 2; }
  };
`;

export async function stage(answers: Answers, expected = /status of (?:40\d|50\d)/): Promise<Stage> {
  const [folder, who] = await Promise.all([consolePath(), visitor(ORIGIN, expected)]);
  const sent: { what: string; body: unknown }[] = [];
  const all: Answers = { 'GET /session': SESSION, 'GET /jobs': { jobs: [] }, ...answers };
  await who.context.addInitScript(EVENTS);
  await who.context.route(`${ORIGIN}/**`, async (route) => {
    const request = route.request();
    const { pathname, search } = new URL(request.url());
    if (!pathname.startsWith('/api/v1/')) {
      const asset = extname(pathname) in TYPES ? pathname : '/index.html';
      const body = await readFile(join(folder, asset)).catch(() => undefined);
      if (!body) return route.fulfill({ status: 404 });
      return route.fulfill({
        body,
        headers: { 'content-type': TYPES[extname(asset)] ?? '', 'content-security-policy': POLICY },
      });
    }
    const path = `${request.method()} ${pathname.slice('/api/v1'.length)}`;
    if (request.method() !== 'GET') sent.push({ what: path, body: request.postDataJSON() });
    const key = [`${path}${search}`, path].find((one) => one in all);
    const answer = key === undefined ? 404 : all[key];
    if (answer === undefined) return;
    if (typeof answer === 'number') {
      const detail = answer === 503 ? 'The worker is about to end.' : `There is nothing at ${path}${search}.`;
      return route.fulfill({ status: answer, json: { type: 'about:blank', status: answer, code: 'failed', detail } });
    }
    if (typeof answer === 'string') return route.fulfill({ body: answer });
    const json = typeof answer === 'function' ? answer(new URLSearchParams(search)) : answer;
    return route.fulfill({ json });
  });
  return {
    ...who,
    answers: all,
    sent,
    async event(name, data) {
      const text =
        name === 'lost'
          ? 'new Event("error")'
          : `new MessageEvent('${name}', { data: ${JSON.stringify(JSON.stringify(data ?? null))} })`;
      await until(async () => ((await who.page.evaluate('window.sources.length')) as number) > 0, {
        what: 'a page that listens',
      });
      await who.page.evaluate(`window.sources.at(-1).dispatchEvent(${text})`);
    },
  };
}
