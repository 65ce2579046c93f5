import { describe, expect, it } from 'vitest';
import { FAULT_ACTIONS, type Fault, parseFault, parseFaultPlan } from '../../src/sandbox/index.js';
import { call, sandboxWith } from './client.js';

const one = (text: string): Fault => parseFaultPlan(text)[0]!;

describe('a fault plan', () => {
  it('is YAML or JSON, and each form of a fault says the same', () => {
    const wanted = parseFault('POST /asset nth=3 status=503 retry_after=2 execute');
    const forms = [
      '- POST /asset nth=3 status=503 retry_after=2 execute',
      '- match: { method: post, path: /asset, nth: 3 }\n  action: { status: 503, retry_after: 2, execute: true }',
      '- match: { method: POST, path: /asset, nth: 3 }\n  action: { kind: status, status: 503, retryAfter: 2, execute: true }',
      JSON.stringify([
        { match: { method: 'POST', path: '/asset', nth: 3 }, action: { status: 503, retry_after: '2', execute: true } },
      ]),
    ];
    for (const form of forms) expect(one(form)).toEqual(wanted);
    expect(one('- action: close_after')).toEqual(parseFault('* * close_after'));
    expect(one('- match: { path: "/^\\\\/asset\\\\?/i" }\n  action: { late_commit: 400 }')).toEqual(
      parseFault('* /^\\/asset\\?/i late_commit=400'),
    );
    expect(one('- action: { kind: redirect, status: 308, location: /b }')).toEqual(
      parseFault('* * redirect=308 location=/b'),
    );
    expect(one('- action: { kind: huge, megabytes: 2 }')).toEqual(parseFault('* * huge=2'));
    expect(one('- action: { status: 503, execute: false }')).toEqual(parseFault('* * status=503'));
  });

  it('knows every action by its name alone', () => {
    const plain = FAULT_ACTIONS.filter((name) => name !== 'status' && name !== 'drop_field');
    expect(
      parseFaultPlan(JSON.stringify(plain.map((action) => ({ action })))).map((fault) => fault.action.kind),
    ).toEqual(plain);
  });

  it('has one seed for all its lots: each fault draws its own, and the same every time', async () => {
    const text = `seed: 11
faults:
  - match: { method: GET, path: /user, probability: 0.5 }
    action: { status: 503 }
  - match: { method: GET, path: /company, probability: 0.5 }
    action: { status: 503 }
  - GET /category probability=0.5 seed=4 status=503`;
    const plan = parseFaultPlan(text);
    expect(new Set(plan.map(({ match }) => match.seed)).size).toBe(3);
    expect(plan[2]?.match.seed).toBe(4);
    const draw = async (faults: readonly Fault[]): Promise<string[]> => {
      const sandbox = await sandboxWith({ faults });
      const drawn: string[] = [];
      for (const path of ['/user', '/company']) {
        let lots = '';
        for (let at = 0; at < 24; at++) lots += (await call(sandbox, 'GET', path)).status === 503 ? 'x' : '.';
        drawn.push(lots);
      }
      return drawn;
    };
    const [users, companies] = await draw(plan);
    expect(users).toMatch(/x.*\.|\..*x/);
    expect(users).not.toBe(companies);
    expect(await draw(parseFaultPlan(text))).toEqual([users, companies]);
    expect(await draw(parseFaultPlan(text.replace('seed: 11', 'seed: 12')))).not.toEqual([users, companies]);
  });

  it.each([
    ['seed: 7', /is a list of faults/],
    ['seed: 1.5\nfaults: []', /seed .* whole number/],
    ['seeds: 7\nfaults: []', /cannot hold "seeds", did you mean "seed"\?/],
    ['- POST /asset nth=3', /Fault 1 of the plan: .*names no action/],
    ['- GET * status=500\n- match: { pth: /asset }\n  action: close_after', /Fault 2 .*"pth", did you mean "path"\?/],
    ['- action: close_aftr', /no action "close_aftr", did you mean "close_after"\?/],
    ['- match: { method: GET }', /needs an action/],
    ['- action: { kind: drip, ms: soon }', /ms needs a number/],
    ['- match: { nth: 0 }\n  action: close_after', /nth=0 must be at least 1/],
    ['- match: { path: asset }\n  action: close_after', /must be a path/],
    ['- action: { kind: drip, megabytes: 2 }', /"mb" means nothing for drip/],
    ['- 7', /Fault 1 .*must be a text/],
    ['- a: [\n', /Line \d+ of the fault plan cannot be read/],
    ['- &a GET * status=500\n- *a', /alias/i],
  ])('that is wrong is refused in words: %s', (text, words) => {
    expect(() => parseFaultPlan(text)).toThrow(words);
  });
});
