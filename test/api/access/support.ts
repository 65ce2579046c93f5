import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OpenAPIHono, z } from '@hono/zod-openapi';
import { Hono } from 'hono';
import { onTestFinished } from 'vitest';
import { openAudit } from '../../../src/api/access/audit.js';
import { addKey, hashPassword, openKeys, openUsers } from '../../../src/api/access/credentials.js';
import { openPages } from '../../../src/api/access/pages.js';
import { sessionOperations } from '../../../src/api/access/session.js';
import { openAccess } from '../../../src/api/access/sign-in.js';
import type { ApiParts } from '../../../src/api/app.js';
import { API_PATH, answerFault, type Env, operation } from '../../../src/api/operation.js';
import type { Role } from '../../../src/api/schema.js';
import { resolveSettings } from '../../../src/runs/settings.js';
import { openOperations } from '../../../src/worker/operations/http.js';
import { openMetrics } from '../../../src/worker/operations/metrics.js';
import { freePort } from '../../support/server-process.js';

export const PASSWORD = 'correct horse battery';
export const INDEX = '<!doctype html><title>console</title>';
export const SCRIPT = 'console.log("the console")'.repeat(20);

/** Cheaper than it is for people: many tests sign in. */
let hashed: Promise<string> | undefined;

export interface ConsoleOptions {
  readonly host?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Names of users, who have `PASSWORD`. */
  readonly users?: Readonly<Record<string, Role>>;
  readonly now?: () => number;
}

/** What a worker answers over HTTP: real pages and sign-in, and an API that counts what is changed. */
export async function openConsole({ host = '127.0.0.1', env = {}, users = {}, now }: ConsoleOptions = {}) {
  const home = await mkdtemp(join(tmpdir(), 'rowferry-access-'));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  const pages = join(home, 'pages');
  await mkdir(join(pages, 'assets'), { recursive: true });
  await writeFile(join(pages, 'index.html'), INDEX);
  await writeFile(join(pages, 'assets', 'main-1a2b.js'), SCRIPT);
  await writeFile(join(pages, 'assets', 'main-1a2b.js.gz'), Buffer.from('packed'));
  await writeFile(join(home, 'secret.txt'), 'SECRET-FILE');
  const settings = resolveSettings(
    {
      ROWFERRY_API_URL: 'https://records.example',
      ROWFERRY_API_TOKEN: 'token-of-the-service',
      ROWFERRY_HOME: home,
      ...env,
    },
    {},
    home,
    { envFile: false },
  );
  for (const [name, role] of Object.entries(users)) {
    hashed ??= hashPassword(PASSWORD, { N: 1024, r: 8, p: 1 });
    await openUsers(settings.usersFile).add({ name, role, password: await hashed });
  }
  const notices: string[] = [];
  const notice = (_: string, text: string) => notices.push(text);
  const audit = openAudit(home);
  const done: string[] = [];
  const operations = await openOperations({
    http: { host, port: await freePort(), stated: true },
    ready: async () => ({ ok: true, details: {} }),
    live: () => ({ ok: true, details: {} }),
    metrics: openMetrics(),
    gateway: {
      access: openAccess({ home, usersFile: settings.usersFile, notice, ...(now && { now }) }),
      audit,
      pages: openPages(pages),
      publicUrl: settings.publicUrl,
      proxyHeader: settings.trustedProxy,
    },
    notice,
  });
  onTestFinished(() => operations.close());
  const api = new OpenAPIHono<Env>();
  api.onError(answerFault({ error: () => undefined }));
  const parts = { settings, version: '9.9.9', channel: undefined } as unknown as ApiParts;
  for (const one of sessionOperations(parts)) one.register(api);
  api.get('/read', (c) => c.json({ done }));
  for (const role of ['operator', 'approver'] as const) {
    operation(`POST /${role}`, { summary: role, role, answer: z.object({}) }, async ({ who }) => {
      await audit(who, role, { run: 'R1' });
      done.push(role);
      return {};
    }).register(api);
  }
  let push = (_: string): void => undefined;
  api.get('/stream', (c) => {
    const stream = new TransformStream<Uint8Array, Uint8Array>();
    const writer = stream.writable.getWriter();
    push = (text) => void writer.write(Buffer.from(text)).catch(() => undefined);
    push('begun');
    return c.body(stream.readable);
  });
  operations.serve(new Hono<Env>().route(API_PATH, api));
  const { port } = new URL(operations.url ?? '');
  const url = `http://127.0.0.1:${port}`;

  /** With headers of one's choice, `Host` among them, and a path that nobody tidies. */
  async function ask(method: string, path: string, headers: Record<string, string> = {}, body?: string) {
    const sent = request({ host: '127.0.0.1', port, method, path, headers, agent: false });
    sent.end(body);
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of answer) chunks.push(chunk as Buffer);
    return { status: answer.statusCode, text: Buffer.concat(chunks).toString('utf8'), headers: answer.headers };
  }
  /** As a page of the console does. */
  const own = { origin: url, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' };
  const signIn = (name: string, password = PASSWORD, headers: Record<string, string> = {}) =>
    ask('POST', '/api/v1/session', { ...own, ...headers }, JSON.stringify({ name, password }));

  return {
    home,
    url,
    port,
    settings,
    notices,
    done,
    operations,
    own,
    /** On the event stream that was opened last. */
    push: (text: string) => push(text),
    ask,
    signIn,
    /** The cookie of a user who signs in. */
    cookieOf: async (name: string) => cookieIn((await signIn(name)).headers),
    key: (role: Role, name = `key of ${role}`) => addKey(openKeys(home), name, role),
    audited: async () =>
      (await readFile(join(home, 'audit.ndjson'), 'utf8').catch(() => ''))
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Record<string, string>),
  };
}

export function cookieIn(headers: { readonly 'set-cookie'?: string[] | undefined }): string {
  return headers['set-cookie']?.[0]?.split(';')[0] ?? '';
}
