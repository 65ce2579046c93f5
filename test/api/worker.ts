import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pino from 'pino';
import { addKey, openKeys } from '../../src/api/access/credentials.js';
import type { Role, RunDetail } from '../../src/api/schema.js';
import { resolveSettings } from '../../src/runs/settings.js';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/index.js';
import { runWorker } from '../../src/worker/worker.js';
import { availableStores } from '../support/servers.js';
import { until } from '../support/until.js';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every form
  readonly body: any;
}

/** A worker with its API over HTTP, the sandbox, and a key of each role. */
export interface ApiBench {
  readonly home: string;
  readonly dir: string;
  readonly url: string;
  /** Undefined where the queue is embedded. */
  readonly queueUrl: string | undefined;
  readonly sandbox: Sandbox;
  readonly keys: Readonly<Record<Role, string>>;
  call(
    method: string,
    path: string,
    body?: unknown,
    more?: { role?: Role; headers?: Record<string, string> },
  ): Promise<Answer>;
  /** Orders a run and answers its id. */
  order(body: object, headers?: Record<string, string>): Promise<string>;
  /** Its detail, once it has ended. */
  ended(run: string): Promise<RunDetail>;
  file(name: string, content: string): Promise<string>;
  close(): Promise<void>;
}

export const JOB = {
  kind: 'import',
  resource: 'asset',
  match: { key: 'serial_number' },
  columns: {
    Name: 'name',
    Serial: { field: 'serial_number', required: true },
    Cost: { field: 'original_cost', optional: true },
  },
};

export const sheet = (rows: number, cost: (i: number) => string = (i) => `${i}.50`): string =>
  ['Name,Serial,Cost', ...Array.from({ length: rows }, (_, i) => `n${i},S-${i},${cost(i)}`), ''].join('\r\n');

export async function openApiBench(
  options: SandboxOptions = {},
  env: Readonly<Record<string, string>> = {},
  wanted: 'redis' | 'embedded' = 'redis',
  /** Folder of the console as it was built. */
  pages?: string,
): Promise<ApiBench> {
  const stores = await availableStores();
  // Redis is the quickest to start.
  const queue = await (stores.find(({ name }) => name === wanted) ?? stores[0]!).start();
  const sandbox = await startSandbox({ seed: 'empty', token: 'test-token', ...options });
  const dir = await mkdtemp(path.join(tmpdir(), 'rowferry-api-'));
  const { home } = queue;
  await mkdir(path.join(dir, 'jobs'), { recursive: true });
  await writeFile(path.join(dir, 'jobs', 'assets.yaml'), JSON.stringify(JOB));
  const roles = ['viewer', 'operator', 'approver'] as const;
  const keys = Object.fromEntries(await Promise.all(roles.map(async (role) => [role, ''] as const))) as Record<
    Role,
    string
  >;
  for (const role of roles) keys[role] = await addKey(openKeys(home), role, role);
  const ending = new AbortController();
  let url = '';
  const worker = runWorker({
    settings: resolveSettings(
      {
        ROWFERRY_API_URL: sandbox.url,
        ROWFERRY_API_TOKEN: 'test-token',
        ROWFERRY_HOME: home,
        ROWFERRY_HTTP: '127.0.0.1:0',
        ROWFERRY_ROOTS: dir,
        ROWFERRY_SETTLE_WINDOW: '0.05,0.1,0.2',
        ...(queue.url !== undefined && { ROWFERRY_QUEUE_URL: queue.url }),
        ROWFERRY_TIMEOUT: '2',
        ROWFERRY_PATIENCE: '0.01',
        ...env,
      },
      {},
      dir,
    ),
    queueOnly: true,
    pages: pages ?? path.join(dir, 'pages'),
    log: pino({ level: process.env['API_LOG'] ?? 'silent' }),
    notice: (level, text) => {
      if (process.env['API_LOG']) console.log(level, text);
    },
    clean: (text) => text,
    signal: ending.signal,
    onConsole: async (found) => {
      url = found;
    },
  });
  let failed: unknown;
  worker.catch((error: unknown) => {
    failed = error;
  });
  await until(() => url !== '' || failed !== undefined);
  if (failed !== undefined) throw failed;

  const call: ApiBench['call'] = async (method, at, body, { role = 'approver', headers = {} } = {}) => {
    const answer = await fetch(`${url}/api/v1${at}`, {
      method,
      headers: {
        authorization: `Bearer ${keys[role]}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    const isJson = answer.headers.get('content-type')?.includes('json') && !answer.headers.get('content-disposition');
    return { status: answer.status, headers: answer.headers, body: isJson ? JSON.parse(text) : text };
  };
  return {
    ...{ home, dir, url, queueUrl: queue.url, sandbox, keys, call },
    async order(body, headers = {}) {
      const { status, body: told } = await call('POST', '/runs', body, { headers });
      if (status !== 202) throw new Error(JSON.stringify(told));
      return told.id;
    },
    async ended(run) {
      let detail: RunDetail | undefined;
      await until(
        async () => {
          const { status, body } = await call('GET', `/runs/${run}`);
          if (status !== 200) throw new Error(JSON.stringify(body));
          detail = body;
          return !['waiting', 'running'].includes(body.status);
        },
        { what: `the end of ${run}` },
      );
      return detail as RunDetail;
    },
    async file(name, content) {
      await writeFile(path.join(dir, name), content);
      return path.join(dir, name);
    },
    async close() {
      ending.abort();
      await worker;
      await sandbox.close();
      await queue.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
