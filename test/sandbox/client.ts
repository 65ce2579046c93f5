import { request } from 'undici';
import { afterEach } from 'vitest';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/index.js';

const open: Sandbox[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((sandbox) => sandbox.close()));
});

/** A sandbox that is closed after the test. */
export async function sandboxWith(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await startSandbox(options);
  open.push(sandbox);
  return sandbox;
}

export interface Reply {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
  /** The body as JSON; its shape is what each test says it is. */
  readonly json: Record<string, unknown> & { readonly results: Record<string, unknown>[]; readonly count: number };
}

export interface CallOptions {
  readonly token?: string | undefined;
  readonly headers?: Record<string, string>;
  readonly timeoutMs?: number;
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** One request, `path` after `/api/v2`. A string body goes as it stands. */
export async function call(
  sandbox: Sandbox,
  method: Method,
  path: string,
  body?: unknown,
  options: CallOptions = {},
): Promise<Reply> {
  const answer = await request(`${sandbox.url}/api/v2${path}`, {
    method,
    headers: {
      authorization: `Bearer ${options.token ?? sandbox.token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...options.headers,
    },
    body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
    headersTimeout: options.timeoutMs ?? 10_000,
    bodyTimeout: options.timeoutMs ?? 10_000,
  });
  const text = await answer.body.text();
  return {
    status: answer.statusCode,
    headers: answer.headers,
    text,
    get json() {
      return JSON.parse(text) as Reply['json'];
    },
  };
}

/** Waits for something to become true; fails after five seconds. */
export async function until(condition: () => boolean): Promise<void> {
  const end = Date.now() + 5_000;
  while (!condition()) {
    if (Date.now() > end) throw new Error('the condition did not come true');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

export const CONTRACT = {
  company: 1,
  contract_type: 'buy_side',
  name: 'Fleet',
  number: 'F-1',
  supplier: 1,
  country: 840,
  status: 'active',
  contract_start_date: '2024-01-01',
  contract_end_date: '2025-01-01',
  total_contract_spend_value: 1000,
};
