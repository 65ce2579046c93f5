import { describe, expect, it } from 'vitest';
import { parseAddress } from '../../src/runs/settings-address.js';

const HIDDEN = 'c0rrect-h0rse';

describe('the address of a queue', () => {
  it.each([
    ['redis://localhost', { mode: 'single', tls: false, hosts: [{ host: 'localhost', port: 6379 }], db: 0 }],
    [
      `rediss://ann:${HIDDEN}%40x@cache.example:6380/3`,
      { tls: true, username: 'ann', password: `${HIDDEN}@x`, db: 3, hosts: [{ host: 'cache.example', port: 6380 }] },
    ],
    [`redis://:${HIDDEN}@[::1]:7000`, { password: HIDDEN, hosts: [{ host: '::1', port: 7000 }] }],
    [`redis://:a@b${HIDDEN}@h`, { password: `a@b${HIDDEN}` }],
    [
      `redis+sentinel://ann:${HIDDEN}@s1,s2:26380/mymaster/2?sentinel_password=${HIDDEN}`,
      {
        mode: 'sentinel',
        hosts: [
          { host: 's1', port: 26_379 },
          { host: 's2', port: 26_380 },
        ],
        master: 'mymaster',
        db: 2,
        sentinelPassword: HIDDEN,
      },
    ],
    ['rediss+cluster://a:1,b:2', { mode: 'cluster', tls: true, db: 0 }],
  ])('reads %s', (url, expected) => {
    const address = parseAddress(url);
    expect(address).toMatchObject({ kind: 'redis', ...expected });
    expect(address.displayUrl).not.toContain(HIDDEN);
  });

  it('shows where PostgreSQL is, and nothing else', () => {
    const address = parseAddress(
      `postgresql://ann:${HIDDEN}@db.example:5433/jobs?sslmode=verify-full&password=${HIDDEN}`,
    );
    expect(address).toMatchObject({ kind: 'postgres', displayUrl: 'postgresql://db.example:5433/jobs' });
  });

  it.each([
    [`redis://:${HIDDEN}@a,b`, /several hosts/],
    [`redis+sentinel://:${HIDDEN}@a`, /name of the master/],
    [`redis://:${HIDDEN}@a/mymaster`, /number of a database/],
    [`redis+cluster://:${HIDDEN}@a/1`, /database 0/],
    [`redis://:${HIDDEN}@a:99999`, /no host/],
    [`redis://:${HIDDEN}%zz@a`, /%25/],
    [`mysql://:${HIDDEN}@a`, /mysql:/],
  ])('refuses %s without quoting it', (url, why) => {
    expect(() => parseAddress(url)).toThrow(why);
    expect(() => parseAddress(url)).toThrow(expect.not.stringContaining(HIDDEN) as unknown as string);
  });
});
