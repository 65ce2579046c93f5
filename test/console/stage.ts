import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { RunDetail, Session } from '../../src/api/schema.js';
import { consolePath } from '../support/build.js';
import { type Visitor, visitor } from './browser.js';

/** Pages over answers that a test writes down: every state can be had, and no process is needed. */

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
  /** The run that the page follows is as far as that from now on. */
  goesOn(progress: unknown): void;
  /** Nothing is heard of it until it goes on. */
  isLost(): void;
}

interface Scene {
  readonly answers: Answers;
  readonly sent: { what: string; body: unknown }[];
}

/** What the page is answered now. One browser page shows all scenes of a file, one after the other: each is loaded anew. */
let scene: Scene = { answers: {}, sent: [] };
let before: Visitor | undefined;
let served: Promise<string> | undefined;

/** Not a name of this machine, which browsers trust more than others. */
function serve(): Promise<string> {
  // A page that goes elsewhere leaves its requests in their middle.
  const server = createServer((request, response) => {
    answer(request, response, scene).catch(() => response.destroy());
  });
  server.keepAliveTimeout = 600_000;
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(`http://console.test:${(server.address() as AddressInfo).port}`));
    server.unref();
  });
}

async function answer(request: IncomingMessage, response: ServerResponse, { answers, sent }: Scene): Promise<void> {
  const { pathname, search, searchParams } = new URL(request.url ?? '/', 'http://console.test');
  if (!pathname.startsWith('/api/v1/')) {
    const asset = extname(pathname) in TYPES ? pathname : '/index.html';
    const body = await readFile(join(await consolePath(), asset)).catch(() => undefined);
    if (!body) return void response.writeHead(404).end();
    const headers = { 'content-type': TYPES[extname(asset)] ?? '', 'content-security-policy': POLICY };
    const kept = asset.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache';
    return void response.writeHead(200, { ...headers, 'cache-control': kept }).end(body);
  }
  const path = `${request.method} ${pathname.slice('/api/v1'.length)}`;
  const body = await text(request);
  const given: unknown = body === '' ? null : JSON.parse(body);
  if (request.method !== 'GET') sent.push({ what: path, body: given });
  const key = [`${path}${search}`, path].find((one) => one in answers);
  const found = key === undefined ? 404 : answers[key];
  const json = (status: number, value: unknown) =>
    response
      .writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
      .end(JSON.stringify(value));
  if (found === undefined) return;
  if (typeof found === 'number') {
    const detail = found === 503 ? 'The worker is about to end.' : `There is nothing at ${path}${search}.`;
    json(found, { type: 'about:blank', status: found, code: 'failed', detail });
  } else if (typeof found === 'string') response.writeHead(200, { 'cache-control': 'no-store' }).end(found);
  else json(200, typeof found === 'function' ? found(searchParams, given) : found);
}

export async function stage(answers: Answers, expected = /status of (?:4\d\d|50\d)/): Promise<Stage> {
  served ??= serve();
  const origin = await served;
  let who = before;
  if (who?.context.browser()?.isConnected() && !who.page.isClosed()) {
    scene = { answers: { 'GET /blank': ' ' }, sent: [] };
    await who.anew(expected, '/api/v1/blank');
  } else {
    who = before = await visitor(origin, expected);
  }
  const all: Answers = { 'GET /session': SESSION, 'GET /jobs': { jobs: [] }, ...answers };
  const sent: Scene['sent'] = [];
  scene = { answers: all, sent };
  const isAtWork = ([what, run]: [string, unknown]) =>
    /^GET \/runs\/[^/]+$/.test(what) && ['running', 'waiting'].includes((run as RunDetail).status);
  const [followed, run] = (Object.entries(all).find(isAtWork) ?? ['', {}]) as [string, object];
  return {
    ...who,
    answers: all,
    sent,
    goesOn(progress) {
      all[followed] = { ...run, progress };
    },
    isLost() {
      all[followed] = 503;
    },
    close: async () => undefined,
  };
}
