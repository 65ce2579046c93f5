import { describe, expect, it } from 'vitest';
import { FAULT_ACTIONS, parseFault } from '../../src/sandbox/index.js';
import { call, type Reply, sandboxWith, until } from './client.js';

const BODY = { company: 1, name: 'A', serial_number: 'S-1' };

/** The code of the error that a request ended with. */
const failure = async (request: Promise<Reply>): Promise<string> => {
  try {
    return `answered ${(await request).status}`;
  } catch (error) {
    return String((error as { code?: unknown }).code);
  }
};

const RESET = ['ECONNRESET', 'UND_ERR_SOCKET'];
const TIMED_OUT = ['UND_ERR_HEADERS_TIMEOUT'];

describe('faults', () => {
  it('status: a body, Retry-After in seconds and as a date, executed or not', async () => {
    const sandbox = await sandboxWith({
      faults: ['POST /asset nth=1 status=503', 'POST * nth=2 status=429 retry_after=7'],
    });
    const post = () => call(sandbox, 'POST', '/asset', BODY);
    const down = await post();
    expect([down.status, down.headers['retry-after']]).toEqual([503, undefined]);
    expect((await post()).headers['retry-after']).toBe('7');
    expect(sandbox.commits).toHaveLength(0);
    sandbox.setFaults(['* * status=503 retry_after_date=60 body="<h1>Busy now</h1>" execute']);
    const dated = await post();
    expect(Date.parse(String(dated.headers['retry-after']))).toBeGreaterThan(Date.now() + 30_000);
    expect([dated.text, dated.headers['content-type']]).toEqual(['<h1>Busy now</h1>', 'text/html; charset=utf-8']);
    expect(sandbox.commits).toHaveLength(1);
    sandbox.setFaults([]);
    expect((await post()).status).toBe(201);
  });

  it('close_before and close_after: a reset, without and with the effect', async () => {
    const sandbox = await sandboxWith({ faults: ['POST * nth=1 close_before', 'POST * nth=2 close_after'] });
    expect(RESET).toContain(await failure(call(sandbox, 'POST', '/asset', BODY)));
    expect(sandbox.commits).toHaveLength(0);
    expect(RESET).toContain(await failure(call(sandbox, 'POST', '/asset', BODY)));
    expect(sandbox.commits).toHaveLength(1);
  });

  it('timeout_before and timeout_after: no answer, without and with the effect', async () => {
    const sandbox = await sandboxWith({ faults: ['POST * nth=1 timeout_before', 'POST * nth=2 timeout_after'] });
    const post = () => failure(call(sandbox, 'POST', '/asset', BODY, { timeoutMs: 200 }));
    expect(TIMED_OUT).toContain(await post());
    expect(sandbox.commits).toHaveLength(0);
    expect(TIMED_OUT).toContain(await post());
    expect(sandbox.commits).toHaveLength(1);
  });

  it('late_commit: no answer, the effect comes later', async () => {
    const sandbox = await sandboxWith({ faults: ['POST * late_commit=150'] });
    const answer = failure(call(sandbox, 'POST', '/asset', BODY, { timeoutMs: 500 }));
    await until(() => sandbox.requests.inFlight === 1);
    expect(sandbox.commits).toHaveLength(0);
    await until(() => sandbox.commits.length === 1);
    expect(TIMED_OUT).toContain(await answer);
    expect(sandbox.requests.statuses).not.toHaveProperty('201');
  });

  it('reset_after_status: the status arrives, the body does not', async () => {
    const sandbox = await sandboxWith({ faults: ['POST * reset_after_status'] });
    expect(RESET).toContain(await failure(call(sandbox, 'POST', '/asset', BODY)));
    expect(sandbox.commits).toHaveLength(1);
    expect(sandbox.requests.statuses).toEqual({ 201: 1 });
  });

  it('html_login and redirect: nothing takes effect', async () => {
    const sandbox = await sandboxWith({
      faults: ['POST * nth=1 html_login', 'POST * nth=2 redirect=308 location=http://other.example/x'],
    });
    const login = await call(sandbox, 'POST', '/asset', BODY);
    expect([login.status, login.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    const moved = await call(sandbox, 'POST', '/asset', BODY);
    expect([moved.status, moved.headers['location']]).toEqual([308, 'http://other.example/x']);
    expect(sandbox.commits).toHaveLength(0);
  });

  it('truncated_json and malformed_json: the effect, and no JSON', async () => {
    const sandbox = await sandboxWith({ faults: ['POST * nth=1 truncated_json', 'POST * nth=2 malformed_json'] });
    for (const count of [1, 2]) {
      const answer = await call(sandbox, 'POST', '/asset', BODY);
      expect(answer.status).toBe(201);
      expect(() => answer.json).toThrow(SyntaxError);
      expect(sandbox.commits).toHaveLength(count);
    }
  });

  it('drip: slow, but whole', async () => {
    const sandbox = await sandboxWith({ faults: ['GET /company drip=5'] });
    const from = performance.now();
    const { json, text } = await call(sandbox, 'GET', '/company/1');
    expect(json['name']).toBe('Northwind Operations');
    expect(performance.now() - from).toBeGreaterThan(text.length * 3);
  });

  it('huge: so many megabytes of JSON', async () => {
    const sandbox = await sandboxWith({ faults: ['GET * huge=3'] });
    const { text, json } = await call(sandbox, 'GET', '/company/1');
    expect(text.length).toBeGreaterThan(3 * 1024 * 1024);
    expect(json.results).toHaveLength(1);
  });

  it('wrong_count and next: lists that lie', async () => {
    const sandbox = await sandboxWith({
      seed: 'demo',
      faults: ['GET * nth=1 wrong_count=-3', 'GET * nth=2 next', 'GET * nth=3 next=http://other.example/'],
    });
    const list = async () => (await call(sandbox, 'GET', '/supplier/?company=1&page=2')).json;
    expect((await list()).count).toBe(37);
    expect((await list())['next']).toBe(`${sandbox.url}/api/v2/supplier/?company=1&page=2`);
    expect((await list())['next']).toBe('http://other.example/');
    expect(await list()).toMatchObject({ count: 40, next: null });
  });

  it('drop_field: a write that loses a field', async () => {
    const sandbox = await sandboxWith({ faults: ['PUT * drop_field=room'] });
    sandbox.insert('asset', [BODY]);
    const { json } = await call(sandbox, 'PUT', '/asset/1', { ...BODY, room: 'R1', floor: '2' });
    expect(json).toMatchObject({ room: null, floor: '2' });
  });

  it('delay: late, and right', async () => {
    const sandbox = await sandboxWith({ faults: ['GET * delay=120'] });
    const from = performance.now();
    expect((await call(sandbox, 'GET', '/company/1')).status).toBe(200);
    expect(performance.now() - from).toBeGreaterThan(110);
  });

  it('befall the requests that they name', async () => {
    const sandbox = await sandboxWith({ seed: 'demo' });
    const hits = async (fault: Parameters<typeof sandbox.setFaults>[0][number], ...paths: string[]) => {
      sandbox.setFaults([fault]);
      const statuses: number[] = [];
      for (const path of paths) statuses.push((await call(sandbox, 'GET', path)).status);
      return statuses.map((status) => (status === 418 ? 'x' : '.')).join('');
    };
    const users = Array.from({ length: 8 }, () => '/user/');
    expect(await hits('GET * nth=3 status=418', ...users)).toBe('..x.....');
    expect(await hits('GET * every=3 status=418', ...users)).toBe('..x..x..');
    expect(await hits('GET * from=3 to=5 status=418', ...users)).toBe('..xxx...');
    expect(await hits('POST * status=418', ...users)).toBe('........');
    const paths = ['/asset/?company=1', '/asset-owner/?company=1', '/asset/7/?company=1', '/asset?company=1&page=2'];
    expect(await hits('GET /asset status=418', ...paths)).toBe('x.xx');
    expect(await hits('GET /asset/ status=418', ...paths)).toBe('x.x.');
    expect(await hits('GET page=2 status=418'.replace('page', '/asset?company=1&page'), ...paths)).toBe('...x');
    expect(await hits('GET /asset/[0-9]+/ status=418', ...paths)).toBe('..x.');
    const byExpression = { match: { path: /^\/asset-/g }, action: { kind: 'status', status: 418 } } as const;
    expect(await hits(byExpression, ...paths, ...paths)).toBe('.x...x..');
  });

  it('draw the same lots from the same seed', async () => {
    const sandbox = await sandboxWith();
    const draw = async (seed: number) => {
      sandbox.setFaults([`GET * probability=0.5 seed=${seed} status=500`]);
      let drawn = '';
      for (let n = 0; n < 40; n++) drawn += (await call(sandbox, 'GET', '/company/1')).status === 500 ? 'x' : '.';
      return drawn;
    };
    const first = await draw(7);
    expect(await draw(7)).toBe(first);
    expect(await draw(8)).not.toBe(first);
    expect(first.replaceAll('.', '').length).toBeGreaterThan(8);
    expect(first.replaceAll('x', '').length).toBeGreaterThan(8);
  });

  it('count for each fault alone; the first that is due wins', async () => {
    const sandbox = await sandboxWith({ faults: ['GET * nth=1 status=500', 'GET * from=1 to=2 status=502'] });
    const status = async () => (await call(sandbox, 'GET', '/company/1')).status;
    expect([await status(), await status(), await status()]).toEqual([500, 502, 200]);
  });

  it('leave nothing behind when the sandbox closes', async () => {
    const sandbox = await sandboxWith({ faults: ['POST * nth=1 late_commit=60000', 'POST * nth=2 timeout_before'] });
    const held = [1, 2].map(() => failure(call(sandbox, 'POST', '/asset', BODY)));
    await until(() => sandbox.requests.inFlight === 2);
    await sandbox.close();
    for (const one of await Promise.all(held)) expect(RESET).toContain(one);
    expect(sandbox.commits).toHaveLength(0);
  });
});

describe('the text form of a fault', () => {
  it('is read', () => {
    expect(parseFault('POST /asset nth=3 status=503')).toEqual({
      match: { method: 'POST', path: '/asset', nth: 3 },
      action: { kind: 'status', status: 503 },
    });
    expect(parseFault('get * every=10 probability=0.5 seed=0 status=429 retry_after=-1')).toEqual({
      match: { method: 'GET', path: '*', every: 10, probability: 0.5, seed: 0 },
      action: { kind: 'status', status: 429, retryAfter: '-1' },
    });
    expect(parseFault('* "/asset/?name=a b" late_commit=20')).toEqual({
      match: { method: '*', path: '/asset/?name=a b' },
      action: { kind: 'late_commit', ms: 20 },
    });
    expect(parseFault('PUT /^.asset.[0-9]+$/i redirect location=/x')).toEqual({
      match: { method: 'PUT', path: /^.asset.[0-9]+$/i },
      action: { kind: 'redirect', status: 307, location: '/x' },
    });
  });

  it('knows every action', () => {
    const needs: Record<string, string> = { status: 'status=500', drop_field: 'drop_field=city' };
    expect(FAULT_ACTIONS.map((name) => parseFault(`* * ${needs[name] ?? name}`).action.kind)).toEqual(FAULT_ACTIONS);
  });

  it.each([
    ['', /begin with a method/],
    ['P0ST * timeout_after', /begin with a method/],
    ['POST asset timeout_after', /second word must be a path/],
    ['POST /asset', /names no action \(one of status, close_before/],
    ['POST /asset explode', /names no action/],
    ['POST /asset status', /status needs a number/],
    ['POST /asset status=9', /status needs a number/],
    ['POST /asset nth=0 timeout_after', /at least 1/],
    ['POST /asset nth=x timeout_after', /nth needs a number/],
    ['POST /asset probability=2 timeout_after', /from 0 to 1/],
    ['POST /asset timeout_after close_after', /more than one action: close_after, timeout_after/],
    ['POST /asset timeout_after retry_after=2', /"retry_after" means nothing for timeout_after/],
    ['POST /asset nth=1 nth=2 timeout_after', /stands twice/],
    ['POST /asset 503', /neither an action nor an option/],
    ['POST /asset redirect=200', /301, 302/],
    ['POST /asset drop_field', /name of a field/],
    ['POST /asset[/ timeout_after', /no regular expression/],
  ])('%j is refused with the reason', (text, reason) => {
    expect(() => parseFault(text)).toThrow(reason);
    expect(() => parseFault(text)).toThrow(/Example: POST \/asset nth=3 status=503/);
  });
});
