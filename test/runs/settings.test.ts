import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RunError } from '../../src/model/error.js';
import { requireService, resolveSettings, SETTINGS, type SettingFlags } from '../../src/runs/settings.js';

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(path.join(tmpdir(), 'rowferry-settings-'));
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

const resolve = (env: Record<string, string> = {}, flags: SettingFlags = {}) => resolveSettings(env, flags, cwd);

function faultsOf(env: Record<string, string>, flags: SettingFlags = {}): readonly string[] {
  try {
    resolve(env, flags);
  } catch (error) {
    if (error instanceof RunError && error.kind === 'usage') return error.details;
    throw error;
  }
  throw new Error('no fault was found');
}

describe('settings', () => {
  it('have the documented defaults', () => {
    const settings = resolve({ PATH: '/bin', OTHER: 'x' });
    const { ownFiles, ...others } = settings;
    expect(ownFiles).toContain(path.join(cwd, '.rowferry/users.json'));
    expect(others).toEqual({
      company: 1,
      home: path.join(cwd, '.rowferry'),
      inbox: path.join(cwd, '.rowferry/inbox'),
      roots: [path.join(cwd, '.rowferry'), path.join(cwd, '.rowferry/inbox'), cwd],
      leaseMs: 15_000,
      http: { host: '127.0.0.1', port: 8720, stated: false },
      usersFile: path.join(cwd, '.rowferry/users.json'),
      maxUpload: 200 * 2 ** 20,
      jobsDir: path.join(cwd, 'jobs'),
      concurrency: 16,
      timeoutMs: 30_000,
      patienceMs: 900_000,
      firstAnswerMs: 30_000,
      settleWindowMs: [1000, 5000, 15_000, 45_000],
      strict: false,
      logLevel: 'info',
      warnings: [],
      secrets: [],
    });
    expect(SETTINGS.find(({ name }) => name === 'ROWFERRY_CONCURRENCY')?.fallback).toBe('16');
  });

  it('flags win over the shell, the shell over .env, and blank values count as not set', async () => {
    await writeFile(
      path.join(cwd, '.env'),
      'ROWFERRY_COMPANY=5\nROWFERRY_CONCURRENCY=3\nROWFERRY_MAX_RPS=7.5\nexport ROWFERRY_HOME="my home"\nOTHER=1\n',
    );
    const settings = resolve(
      { ROWFERRY_COMPANY: '6', ROWFERRY_CONCURRENCY: '4', ROWFERRY_LOG_LEVEL: ' ' },
      { company: 7 },
    );
    expect(settings).toMatchObject({ company: 7, concurrency: 4, maxRps: 7.5, home: path.join(cwd, 'my home') });
    expect(settings.logLevel).toBe('info');
  });

  it('reads every variable of the table', () => {
    const settings = resolve({
      ROWFERRY_API_URL: 'https://records.example/base/api/v2/',
      ROWFERRY_API_TOKEN: 'secret-token',
      ROWFERRY_COMPANY: '2',
      ROWFERRY_HOME: '/data',
      ROWFERRY_JOBS_DIR: 'my/jobs',
      ROWFERRY_QUEUE_URL: 'rediss://u:p%40ss@queue.example:6380/2',
      ROWFERRY_CONCURRENCY: '64',
      ROWFERRY_MAX_RPS: '0.5',
      ROWFERRY_TIMEOUT: '2.5',
      ROWFERRY_PATIENCE: '0.1',
      ROWFERRY_SETTLE_WINDOW: '0.05, 0.2,1',
      ROWFERRY_STRICT: '1',
      ROWFERRY_LOG_LEVEL: 'DEBUG',
      ROWFERRY_USERS_FILE: '/etc/users.json',
      ROWFERRY_MAX_UPLOAD: '5 MB',
    });
    const { ownFiles, ...others } = settings;
    expect(ownFiles).toContain('/etc/users.json');
    expect(others).toEqual({
      apiUrl: 'https://records.example/base',
      auth: { kind: 'token', token: 'secret-token' },
      company: 2,
      home: '/data',
      inbox: '/data/inbox',
      roots: ['/data', '/data/inbox', cwd],
      leaseMs: 15_000,
      http: { host: '127.0.0.1', port: 8720, stated: false },
      usersFile: '/etc/users.json',
      maxUpload: 5 * 2 ** 20,
      jobsDir: path.join(cwd, 'my/jobs'),
      queueUrl: 'rediss://u:p%40ss@queue.example:6380/2',
      concurrency: 64,
      maxRps: 0.5,
      timeoutMs: 2500,
      patienceMs: 6000,
      firstAnswerMs: 6000,
      settleWindowMs: [50, 200, 1000],
      strict: true,
      logLevel: 'debug',
      warnings: [],
      secrets: ['secret-token', 'p%40ss', 'p@ss'],
    });
    expect(requireService(settings)).toEqual({ apiUrl: settings.apiUrl, auth: settings.auth });
  });

  it('take the service address with or without /api/v2 and slashes', () => {
    for (const [given, wanted] of [
      ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
      ['http://127.0.0.1:8080/', 'http://127.0.0.1:8080'],
      ['https://x.example/api/v2', 'https://x.example'],
      ['https://x.example/tenant/api/v2//', 'https://x.example/tenant'],
    ] as const) {
      expect(resolve({ ROWFERRY_API_URL: given }).apiUrl).toBe(wanted);
    }
  });

  it.each([
    ['ROWFERRY_API_URL', 'records.example', 'an address such as'],
    ['ROWFERRY_API_URL', 'ftp://records.example', 'https:// or http://'],
    ['ROWFERRY_API_URL', 'https://me:hunter22@records.example', 'user name or password'],
    ['ROWFERRY_API_URL', 'https://records.example/?key=hunter22', 'before any ?'],
    ['ROWFERRY_API_TOKEN', 'hunter22 hunter22', 'one word'],
    ['ROWFERRY_QUEUE_URL', 'amqp://u:hunter22@h', 'redis://'],
    ['ROWFERRY_COMPANY', 'one', '"one"; it must be a whole number from 1'],
    ['ROWFERRY_COMPANY', '0', 'from 1'],
    ['ROWFERRY_CONCURRENCY', '1.5', 'whole number from 1 to 1000'],
    ['ROWFERRY_CONCURRENCY', '1001', '1 to 1000'],
    ['ROWFERRY_MAX_RPS', '-1', 'number from'],
    ['ROWFERRY_TIMEOUT', '0', 'number from'],
    ['ROWFERRY_PATIENCE', 'long', 'number from'],
    ['ROWFERRY_SETTLE_WINDOW', '1;2', 'seconds parted by commas'],
    ['ROWFERRY_SETTLE_WINDOW', '5,1', 'must ascend'],
    ['ROWFERRY_SETTLE_WINDOW', '1,1', 'must ascend'],
    ['ROWFERRY_STRICT', 'maybe', '1 or 0'],
    ['ROWFERRY_SMTP_URL', 'smtp://', 'must be an address such as'],
    ['ROWFERRY_SMTP_URL', 'smtp://u:22/hunter22@mail.example', 'in a password as %2F'],
    ['ROWFERRY_LOG_LEVEL', 'loud', 'one of: fatal'],
  ])('refuse %s=%s and never quote a secret (86)', (name, value, words) => {
    const faults = faultsOf({ [name]: value });
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain(name);
    expect(faults[0]).toContain(words);
    expect(faults.join()).not.toContain('hunter22');
  });

  it('list all faults at once, unknown variables with the nearest name, flags by their flag', async () => {
    await writeFile(path.join(cwd, '.env'), 'ROWFERRY_QUEU_URL=redis://h\n');
    const faults = faultsOf({ ROWFERRY_API_TOKN: 'abc', ROWFERRY_STRICT: 'x' }, { concurrency: 'many' });
    expect(faults).toHaveLength(4);
    expect(faults.join('\n')).toContain(
      'ROWFERRY_API_TOKN is no variable of rowferry, did you mean `ROWFERRY_API_TOKEN`?',
    );
    expect(faults.join('\n')).toContain('ROWFERRY_QUEU_URL (in .env)');
    expect(faults.join('\n')).toContain('--concurrency is "many"');
  });

  it('know three ways to sign in, one at a time', async () => {
    await writeFile(path.join(cwd, 'token.txt'), 'Bearer abcd\n');
    expect(resolve({ ROWFERRY_API_TOKEN_FILE: 'token.txt' }).auth).toEqual({
      kind: 'file',
      path: path.join(cwd, 'token.txt'),
    });
    const oauth = {
      ROWFERRY_OAUTH_TOKEN_URL: 'https://login.example/oauth/token/',
      ROWFERRY_OAUTH_CLIENT_ID: 'me',
      ROWFERRY_OAUTH_CLIENT_SECRET: 'hunter22',
    };
    expect(resolve(oauth).auth).toEqual({
      kind: 'oauth',
      tokenUrl: 'https://login.example/oauth/token/',
      clientId: 'me',
      clientSecret: 'hunter22',
    });
    const tokenUrl = 'https://login.example/token?tenant=7';
    expect(resolve({ ...oauth, ROWFERRY_OAUTH_TOKEN_URL: tokenUrl }).auth).toMatchObject({ tokenUrl });
    expect(faultsOf({ ...oauth, ROWFERRY_OAUTH_TOKEN_URL: `${tokenUrl}#a` })).toEqual([
      'ROWFERRY_OAUTH_TOKEN_URL must end before any #',
    ]);
    expect(resolve({ ...oauth, ROWFERRY_OAUTH_SCOPE: 'a b' }).auth).toMatchObject({ scope: 'a b' });
    expect(faultsOf({ ROWFERRY_OAUTH_CLIENT_ID: 'me' })[0]).toContain(
      'ROWFERRY_OAUTH_TOKEN_URL, ROWFERRY_OAUTH_CLIENT_SECRET are needed too',
    );
    expect(faultsOf({ ...oauth, ROWFERRY_API_TOKEN: 'abcd' })[0]).toContain('different ways to sign in');
    // What the shell says replaces the other way in the file.
    await writeFile(path.join(cwd, '.env'), 'ROWFERRY_API_TOKEN=from-file\n');
    expect(resolve(oauth).auth).toMatchObject({ kind: 'oauth' });
    expect(resolve({ ROWFERRY_API_TOKEN: 'from-shell' }).auth).toEqual({ kind: 'token', token: 'from-shell' });
  });

  it('look at the token file as at every other', async () => {
    const said = (file: string) => faultsOf({ ROWFERRY_API_TOKEN_FILE: file });
    await writeFile(path.join(cwd, 'blank'), ' \n');
    await writeFile(path.join(cwd, 'words'), 'two words');
    await writeFile(path.join(cwd, 'quoted'), '"abcd"');
    await writeFile(path.join(cwd, 'wide'), '\uFEFFabcd\r\n', 'utf16le');
    await writeFile(path.join(cwd, 'large'), 'x'.repeat(70_000));
    expect(said('none')).toEqual(['ROWFERRY_API_TOKEN_FILE: the file none cannot be read (ENOENT)']);
    expect(said('blank')).toEqual(['ROWFERRY_API_TOKEN_FILE: the file blank is empty']);
    for (const odd of ['words', 'quoted'])
      expect(said(odd)[0]).toContain(`ROWFERRY_API_TOKEN_FILE: the token in ${odd} must be one word`);
    expect(said('wide')[0]).toContain('the file wide is no UTF-8 text; save it as UTF-8');
    for (const odd of ['large', '.', '/dev/zero'])
      expect(said(odd)).toEqual([
        `ROWFERRY_API_TOKEN_FILE: the file ${odd} is no plain file of at most 64 KB, and holds no secret`,
      ]);
  });

  it('say what of .env counts for nothing', async () => {
    const dotEnv = path.join(cwd, '.env');
    const written = async (content: string | Buffer) => {
      await writeFile(dotEnv, content);
      return resolve();
    };
    const settings = await written('\uFEFF# remark\nHTTPS_PROXY=http://p:1\nNODE_EXTRA_CA_CERTS=ca.pem\n');
    expect(settings.warnings).toEqual([
      'HTTPS_PROXY stands in .env, where it counts for nothing: it is set in the environment alone',
      'NODE_EXTRA_CA_CERTS stands in .env, where it counts for nothing: it is set in the environment alone',
    ]);
    expect(resolve({ HTTPS_PROXY: 'http://p:1', NODE_EXTRA_CA_CERTS: 'ca.pem' }).warnings).toEqual([]);
    const wide = written(Buffer.from('\uFEFFROWFERRY_COMPANY=5\r\n', 'utf16le'));
    await expect(wide).rejects.toThrow(`${dotEnv} is UTF-16, or no text at all. Save it as UTF-8.`);
    const ansi = (text: string) => written(Buffer.from(text, 'latin1'));
    expect((await ansi('# Schlüssel\nROWFERRY_COMPANY=5\n')).company).toBe(5);
    const fault = `ROWFERRY_HOME in ${dotEnv} holds a character that is no UTF-8. Save the file as UTF-8.`;
    await expect(ansi('ROWFERRY_HOME=Geschäft\n')).rejects.toThrow(fault);
  });

  it('ask for no file of .env where the shell states the secret', async () => {
    await writeFile(path.join(cwd, '.env'), 'ROWFERRY_QUEUE_URL_FILE=none\n');
    expect(resolve({ ROWFERRY_QUEUE_URL: 'redis://localhost' }).queueUrl).toBe('redis://localhost');
    expect(faultsOf({})).toEqual(['ROWFERRY_QUEUE_URL_FILE: the file none cannot be read (ENOENT)']);
  });

  it('warn of readable traffic, and refuse it when strict (87)', () => {
    const remote = { ROWFERRY_API_URL: 'http://records.example', ROWFERRY_QUEUE_URL: 'redis://queue.example:6379' };
    expect(resolve(remote).warnings).toHaveLength(3);
    expect(faultsOf({ ...remote, ROWFERRY_STRICT: '1' }).join('\n')).toContain('no password');
    const local = { ROWFERRY_API_URL: 'http://[::1]:80', ROWFERRY_QUEUE_URL: 'redis://127.0.0.1:6379,localhost:6380' };
    expect(resolve({ ...local, ROWFERRY_STRICT: '1' }).warnings).toEqual([]);
    const safe = { ROWFERRY_QUEUE_URL: 'rediss+sentinel://:pw@a.example:1,b.example:2/main' };
    expect(resolve(safe).warnings).toEqual([]);
  });

  it('say which variables lack when a command needs the service', () => {
    const lacking = (env: Record<string, string>) => {
      try {
        requireService(resolve(env));
      } catch (error) {
        if (error instanceof RunError) return `${error.message} ${error.details.join(' ')}`;
      }
      return '';
    };
    expect(lacking({})).toMatch(/rowferry sandbox.*ROWFERRY_API_URL.*ROWFERRY_API_TOKEN/);
    expect(lacking({ ROWFERRY_API_TOKEN: 'abcd' })).toContain('ROWFERRY_API_URL');
    expect(lacking({ ROWFERRY_API_TOKEN: 'abcd' })).not.toContain('ROWFERRY_API_TOKEN is not');
  });
});
