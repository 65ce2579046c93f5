import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { RunError } from '../../src/model/error.js';
import { resolveSettings } from '../../src/runs/settings.js';

const cwd = path.resolve('/srv/ferry');
const resolve = (env: Record<string, string>, flags = {}) => resolveSettings(env, flags, cwd).worker;

function faultsOf(env: Record<string, string>): string {
  try {
    resolve(env);
  } catch (error) {
    if (error instanceof RunError) return error.details.join('\n');
  }
  return '';
}

describe('settings of the worker', () => {
  it('roots: data folder and drop folder always, the working folder where nothing is stated', () => {
    expect(resolve({}).roots).toEqual([`${cwd}/.rowferry`, `${cwd}/.rowferry/inbox`, cwd]);
    expect(resolve({ ROWFERRY_ROOTS: `/mnt/erp${path.delimiter}share` }).roots).toEqual([
      `${cwd}/.rowferry`,
      `${cwd}/.rowferry/inbox`,
      '/mnt/erp',
      `${cwd}/share`,
    ]);
    expect(resolveSettings({}, {}, '/').worker.roots).toEqual(['/.rowferry', '/.rowferry/inbox']);
  });

  it.each([
    ['9000', { host: '127.0.0.1', port: 9000, stated: true }],
    ['0.0.0.0:9000', { host: '0.0.0.0', port: 9000, stated: true }],
    ['[::1]:0', { host: '::1', port: 0, stated: true }],
    ['off', undefined],
  ])('answers HTTP at %s', (text, wanted) => {
    expect(resolve({ ROWFERRY_HTTP: text }).http).toEqual(wanted);
  });

  it('a flag wins over the variable', () => {
    expect(resolve({ ROWFERRY_INBOX: '/a' }, { inbox: '/b' }).inbox).toBe('/b');
    expect(resolve({ ROWFERRY_HTTP: '1' }, { http: 'off' }).http).toBeUndefined();
  });

  it('names what is wrong, never what is secret (86)', () => {
    const faults = faultsOf({
      ROWFERRY_HTTP: '70000',
      ROWFERRY_LEASE: '0',
      ROWFERRY_NOTIFY_URL: 'ftp://hooks.example/secret',
    });
    for (const name of ['HTTP', 'LEASE', 'NOTIFY_URL']) expect(faults).toContain(`ROWFERRY_${name}`);
    expect(faults).not.toMatch(/secret/);
  });
});
