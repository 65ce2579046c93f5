import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { RunError } from '../../src/model/error.js';
import { resolveSettings } from '../../src/runs/settings.js';
import { parseAddress } from '../../src/runs/settings-address.js';

const cwd = path.resolve('/srv/ferry');
const PASSWORD = 'c0rrect-h0rse';

const resolve = (url: string, more: Record<string, string> = {}) =>
  resolveSettings({ ROWFERRY_QUEUE_URL: url, ...more }, {}, cwd);

function faultsOf(url: string, more: Record<string, string> = {}): string {
  try {
    resolve(url, more);
  } catch (error) {
    if (error instanceof RunError) return [error.message, ...error.details].join('\n');
    throw error;
  }
  return '';
}

describe('a queue', () => {
  it.each([
    ['redis://127.0.0.1', []],
    ['redis://localhost:6379/2', []],
    ['redis://[::1]:7000', []],
    ['redis+sentinel://127.0.0.1:1,[::1]:2/main', []],
    ['postgres://u@localhost/jobs', []],
    ['postgres://u@%2Fvar%2Frun%2Fpostgresql/jobs', []],
    ['postgres://u@placeholder/jobs?host=/var/run/postgresql', []],
    ['rediss://:pw@cache.example', []],
    ['rediss+cluster://u:pw@a.example,b.example', []],
    ['postgres://u:pw@db.example/jobs?sslmode=verify-full', []],
    ['postgres://u@db.example/jobs?sslmode=verify-full&sslcert=c.pem', []],
    ['redis://:pw@10.0.0.5', ['TLS']],
    ['redis://:pw@192.168.1.9:6379', ['TLS']],
    ['redis://:pw@172.17.0.1', ['TLS']],
    ['redis://:pw@[fd00::1]', ['TLS']],
    ['redis://:pw@0.0.0.0', ['TLS']],
    ['redis://:pw@127.0.0.1.example', ['TLS']],
    ['redis://:pw@localhost.example', ['TLS']],
    ['redis://:pw@127.0.0.1@cache.example', ['TLS']],
    ['redis://cache.example', ['TLS', 'password']],
    ['redis://:@cache.example', ['TLS', 'password']],
    ['redis://user@cache.example', ['TLS', 'password']],
    ['rediss://cache.example', ['password']],
    ['REDIS://CACHE.EXAMPLE', ['TLS', 'password']],
    ['redis+sentinel://:pw@127.0.0.1,cache.example/main', ['TLS']],
    ['redis+cluster://a.example,b.example', ['TLS', 'password']],
    ['rediss+sentinel://s.example/main', ['password']],
    ['postgres://u:pw@db.example/jobs', ['TLS']],
    ['postgres://u:pw@db.example/jobs?sslmode=disable', ['TLS']],
    ['postgres://u@db.example/jobs', ['TLS', 'password']],
    ['postgresql://u:pw@db.example/jobs?ssl=0', ['TLS']],
    ['postgres://u:pw@localhost/jobs?host=db.example', ['TLS']],
    ['postgres://u:pw@db.example/jobs?sslmode=no-verify', ['certificate']],
    ['postgres://u:pw@db.example/jobs?sslmode=require&uselibpqcompat=true', ['certificate']],
  ])('at %s: warned of at the start %j, and refused with ROWFERRY_STRICT=1 (87)', (url, wanted) => {
    const words = { TLS: /readable/, password: /no password/, certificate: /not checked/ } as const;
    const found = resolve(url).warnings;
    expect(found).toHaveLength(wanted.length);
    for (const one of wanted) expect(found.join('\n')).toMatch(words[one as keyof typeof words]);
    const refusal = faultsOf(url, { ROWFERRY_STRICT: '1' });
    if (wanted.length === 0) expect(refusal).toBe('');
    else expect(refusal).toMatch(/ROWFERRY_STRICT: ROWFERRY_QUEUE_URL/);
    expect(found.join() + refusal).not.toMatch(/\bpw\b/);
  });

  it.each([
    [`redis://:${PASSWORD}/x@cache.example`],
    [`redis://:x/${PASSWORD}@cache.example`],
    [`redis://u:a?b/${PASSWORD}@cache.example`],
    [`postgres://u:${PASSWORD}/x@db.example/jobs`],
    [`postgres://u:${PASSWORD}#x@db.example/jobs`],
    [`postgres://u:${PASSWORD}?x@db.example/jobs`],
    [`redis://:${PASSWORD} x@cache.example`],
    [`redis://:${PASSWORD}@`],
    [`redis://:${PASSWORD}@h:99999999`],
    [`amqp://:${PASSWORD}@h`],
  ])('whose address is wrong is refused without a word of its password: %s (86, 87)', (url) => {
    const refusal = faultsOf(url);
    expect(refusal).toContain('ROWFERRY_QUEUE_URL');
    expect(refusal).toContain('%2F');
    expect(refusal).not.toMatch(/c0rrect|h0rse|cache\.example/);
  });

  it.each([
    [`redis://:${PASSWORD}@h`, [PASSWORD]],
    [`redis://u:a%40${PASSWORD}@h`, [`a%40${PASSWORD}`, `a@${PASSWORD}`]],
    [`redis://u:a@b${PASSWORD}@h`, [`a@b${PASSWORD}`]],
    [`redis://${PASSWORD}@h`, [PASSWORD]],
    [
      `redis+sentinel://:pw-one-1@h/main?sentinel_password=${PASSWORD}%2B`,
      [`${PASSWORD}%2B`, `${PASSWORD}+`, 'pw-one-1'],
    ],
    [`postgres://u@h/jobs?password=${PASSWORD}`, [PASSWORD]],
  ])('in %s has its passwords among the texts that are shown nowhere (86)', (url, secrets) => {
    expect(resolve(url).secrets).toEqual(expect.arrayContaining([...secrets]));
    expect(parseAddress(url).displayUrl).not.toMatch(/c0rrect|h0rse|pw-one/);
  });

  it('of PostgreSQL has a user name, which is no secret', () => {
    expect(resolve('postgres://postgres@localhost/jobs').secrets).toEqual([]);
    // Nor is it one where it is the password, too: `.rowferry/runs` would be shown as `.[secret]/runs`.
    expect(resolve('postgres://rowferry:rowferry@localhost/jobs').secrets).toEqual([]);
  });

  it('a proxy in the environment is another (86)', () => {
    const { secrets } = resolveSettings({ HTTPS_PROXY: 'http://ann:pass%20word@proxy.example:3128' }, {}, cwd);
    const sent = Buffer.from('ann:pass word').toString('base64');
    expect(secrets).toEqual(['pass%20word', 'pass word', sent]);
  });

  it('no webhook shows its parts either (86)', () => {
    const url = 'https://ann:pass-word-9@hooks.example/services/T0/0123456789abcdefXYZ?key=k-e-y-1234';
    const { secrets } = resolveSettings({ ROWFERRY_NOTIFY_URL: url }, {}, cwd);
    expect(secrets).toEqual(expect.arrayContaining([url, 'pass-word-9', '0123456789abcdefXYZ', 'k-e-y-1234']));
    expect(secrets).not.toContain('services');
  });
});

describe('the secret of the queue', () => {
  const SECRET = 'sixteen-letters!';

  it.each([
    [{ ROWFERRY_QUEUE_SECRET: SECRET, ROWFERRY_QUEUE_SECRET_FILE: 'secret' }, /are set; keep one/],
    [{ ROWFERRY_QUEUE_SECRET: SECRET.slice(1) }, /ROWFERRY_QUEUE_SECRET must have 16 characters at least/],
  ])('is refused where it cannot be meant so: %j', (env, fault) => {
    const faults = faultsOf('redis://localhost', env as Record<string, string>);
    expect(faults).toMatch(fault);
    expect(faults).not.toContain(SECRET.slice(1));
  });

  it('and every other secret may lie in a file', async () => {
    const dir = await mkdtemp(path.join(tmpdir(), 'rowferry-secret-'));
    const file = path.join(dir, 'secret');
    const refused = (text: string) => faultsOf('redis://localhost', { ROWFERRY_QUEUE_SECRET_FILE: text });
    try {
      expect(refused(file)).toMatch(/ROWFERRY_QUEUE_SECRET_FILE: the file .*secret cannot be read \(ENOENT\)/);
      await writeFile(file, '\n');
      expect(refused(file)).toMatch(/the file .* is empty/);
      await writeFile(file, `${SECRET.slice(1)}\n`);
      expect(refused(file)).toMatch(/ROWFERRY_QUEUE_SECRET must have 16 characters at least/);
      await writeFile(file, `${SECRET}\n`);
      const files = ['QUEUE_SECRET', 'OAUTH_CLIENT_SECRET'].map((name) => [`ROWFERRY_${name}_FILE`, file]);
      const settings = resolve('redis://localhost', {
        ...Object.fromEntries(files),
        ROWFERRY_OAUTH_TOKEN_URL: 'https://id.example',
        ROWFERRY_OAUTH_CLIENT_ID: 'me',
      });
      expect(settings).toMatchObject({
        queueSecret: SECRET,
        auth: { kind: 'oauth', clientSecret: SECRET },
      });
      expect(settings.secrets).toContain(SECRET);
      await writeFile(file, 'redis://:pass-w0rd@records.example\n');
      const { queueUrl, secrets } = resolveSettings({ ROWFERRY_QUEUE_URL_FILE: file }, {}, dir);
      expect([queueUrl, secrets]).toEqual(['redis://:pass-w0rd@records.example', ['pass-w0rd']]);
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  });
});
