import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { RunError } from '../../src/model/error.js';
import { resolveSettings } from '../../src/runs/settings.js';

const cwd = path.resolve('/srv/ferry');
const resolve = (env: Record<string, string>, flags = {}) => resolveSettings(env, flags, cwd);

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
    expect(resolveSettings({}, {}, '/').roots).toEqual(['/.rowferry', '/.rowferry/inbox']);
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

describe('settings of the console', () => {
  const resolveConsole = (env: Record<string, string>) => resolveSettings(env, {}, cwd);

  it('lie in the data folder, and take 200 MB, where nothing is stated', () => {
    expect(resolveConsole({})).toMatchObject({
      usersFile: `${cwd}/.rowferry/users.json`,
      maxUpload: 200 * 1024 * 1024,
    });
  });

  it.each([
    ['1 GB', 1024 ** 3],
    ['1.5mb', 1.5 * 1024 ** 2],
    ['500000', 500_000],
  ])('take an upload of %s', (text, wanted) => {
    expect(resolveConsole({ ROWFERRY_MAX_UPLOAD: text }).maxUpload).toBe(wanted);
  });

  it('know the address and the header of a proxy', () => {
    const env = {
      ROWFERRY_PUBLIC_URL: 'https://Rowferry.example/',
      ROWFERRY_TRUSTED_PROXY: 'X-Forwarded-For',
      ROWFERRY_USERS_FILE: 'people.json',
    };
    expect(resolveConsole(env)).toMatchObject({
      publicUrl: 'https://rowferry.example',
      trustedProxy: 'x-forwarded-for',
      usersFile: `${cwd}/people.json`,
    });
  });

  it('name what is wrong', () => {
    const faults = faultsOf({
      ROWFERRY_MAX_UPLOAD: 'lots',
      ROWFERRY_PUBLIC_URL: 'https://rowferry.example/console',
      ROWFERRY_TRUSTED_PROXY: 'yes, please',
    });
    expect(faults).toMatch(/ROWFERRY_MAX_UPLOAD is "lots"; it must be a number of bytes/);
    expect(faults).toMatch(/ROWFERRY_PUBLIC_URL must be an address without a path/);
    expect(faults).toMatch(/ROWFERRY_TRUSTED_PROXY is "yes, please"; it must be the name of a header/);
  });
});
