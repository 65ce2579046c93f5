import { chmod, readFile, stat, symlink } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openKeys, openUsers } from '../../../src/api/access/credentials.js';
import { makeLinkKey } from '../../../src/api/access/links.js';
import { cookieIn, INDEX, openConsole, PASSWORD, SCRIPT } from './support.js';

describe('signing in', () => {
  it('by name and password: a cookie that scripts and other sites do not get', async () => {
    const console = await openConsole({ users: { mara: 'operator' } });
    const answer = await console.signIn('mara');
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text)).toMatchObject({
      name: 'mara',
      role: 'operator',
      via: 'user',
      service: 'https://records.example',
      production: true,
      version: '9.9.9',
      max_upload: 200 * 1024 ** 2,
    });
    const [cookie = ''] = answer.headers['set-cookie'] ?? [];
    expect(cookie).toMatch(
      new RegExp(`^rowferry-${console.port}=[\\w-]{43}; Max-Age=43200; Path=/; HttpOnly; SameSite=Strict$`),
    );
    const signedIn = { cookie: cookieIn(answer.headers) };
    expect((await console.ask('GET', '/api/v1/session', signedIn)).status).toBe(200);
    expect((await console.ask('POST', '/api/v1/operator', { ...console.own, ...signedIn }, '{}')).status).toBe(200);
    expect((await console.ask('DELETE', '/api/v1/session', { ...console.own, ...signedIn })).status).toBe(204);
    expect((await console.ask('GET', '/api/v1/session', signedIn)).status).toBe(401);
    expect((await console.audited()).map(({ who, via, what, run }) => [who, via, what, run])).toEqual([
      ['mara', 'user', 'sign-in', undefined],
      ['mara', 'user', 'operator', 'R1'],
      ['mara', 'user', 'sign-out', undefined],
    ]);
  });

  it('by a link, once: the key does not stay in the address', async () => {
    const console = await openConsole();
    const path = `/sign-in?key=${makeLinkKey(console.home)}`;
    const first = await console.ask('GET', path);
    expect([first.status, first.headers.location]).toEqual([303, '/']);
    const signedIn = { ...console.own, cookie: cookieIn(first.headers) };
    const session = await console.ask('GET', '/api/v1/session', signedIn);
    expect(JSON.parse(session.text)).toMatchObject({ role: 'approver', via: 'link' });
    expect((await console.ask('DELETE', '/api/v1/session', signedIn)).status).toBe(204);
    expect((await console.ask('GET', '/api/v1/session', signedIn)).status).toBe(401);
    const again = await console.ask('GET', path);
    expect([again.status, again.headers.location, again.headers['set-cookie']]).toEqual([
      303,
      '/sign-in?expired',
      undefined,
    ]);
    const old = makeLinkKey(console.home, Date.now() - 11 * 60_000);
    expect((await console.ask('GET', `/sign-in?key=${old}`)).headers.location).toBe('/sign-in?expired');
  });

  it('by a key, until it is removed', async () => {
    const console = await openConsole();
    const authorization = `Bearer ${await console.key('operator', 'nightly')}`;
    const who = await console.ask('GET', '/api/v1/session', { authorization });
    expect(JSON.parse(who.text)).toMatchObject({ name: 'nightly', role: 'operator', via: 'key' });
    expect((await console.ask('POST', '/api/v1/operator', { authorization }, '{}')).status).toBe(200);
    await openKeys(console.home).remove('nightly');
    expect((await console.ask('GET', '/api/v1/session', { authorization })).status).toBe(401);
  });

  it('ends with its 12 hours, and with its user', async () => {
    let now = Date.now();
    const console = await openConsole({ users: { mara: 'viewer', tom: 'viewer' }, now: () => now });
    const cookies = { mara: await console.cookieOf('mara'), tom: await console.cookieOf('tom') };
    const statusOf = async (name: keyof typeof cookies) =>
      (await console.ask('GET', '/api/v1/read', { cookie: cookies[name] })).status;
    expect([await statusOf('mara'), await statusOf('tom')]).toEqual([200, 200]);
    await openUsers(console.settings.usersFile).remove('mara');
    expect([await statusOf('mara'), await statusOf('tom')]).toEqual([401, 200]);
    now += 12 * 3_600_000;
    expect(await statusOf('tom')).toBe(401);
  });

  it('over TLS the cookie is sent over TLS alone', async () => {
    const console = await openConsole({
      users: { mara: 'viewer' },
      env: { ROWFERRY_PUBLIC_URL: 'https://rowferry.example' },
    });
    const proxied = { host: 'rowferry.example', origin: 'https://rowferry.example' };
    const answer = await console.signIn('mara', PASSWORD, proxied);
    expect(answer.headers['set-cookie']?.[0]).toMatch(/^__Host-rowferry-\d+=.*; HttpOnly; Secure; SameSite=Strict$/);
  });
});

describe('attacks', () => {
  it('a form, a script and an image of another site change nothing', async () => {
    const console = await openConsole({ users: { mara: 'approver' } });
    const cookie = await console.cookieOf('mara');
    const form = { cookie, 'content-type': 'application/x-www-form-urlencoded' };
    const evil = 'https://evil.example';
    const asked: readonly (readonly [Record<string, string>, number])[] = [
      [{ ...form, origin: evil, 'sec-fetch-site': 'cross-site' }, 403],
      [{ ...form, origin: evil }, 403],
      [{ ...form, origin: 'null' }, 403],
      [form, 403],
      [{ ...console.own, cookie, origin: evil }, 403],
      // Another port of this machine is the same site, and another origin.
      [{ ...console.own, cookie, origin: 'http://127.0.0.1:1', 'sec-fetch-site': 'same-site' }, 403],
      [{ ...console.own, cookie, 'content-type': 'text/plain' }, 415],
      [{ ...console.own, ...form }, 415],
      [{ ...console.own, cookie }, 200],
    ];
    for (const [headers, status] of asked) {
      const answer = await console.ask('POST', '/api/v1/approver', headers, '{}');
      expect([answer.status, headers]).toEqual([status, headers]);
      expect(answer.headers['access-control-allow-origin']).toBeUndefined();
    }
    expect(console.done).toEqual(['approver']);
    const read = await console.ask('GET', '/api/v1/read', { cookie, 'sec-fetch-site': 'cross-site' });
    expect(read.status).toBe(403);
    // Signing somebody in to an account of the attacker's.
    const foisted = await console.signIn('mara', PASSWORD, { origin: evil, 'sec-fetch-site': 'cross-site' });
    expect([foisted.status, foisted.headers['set-cookie']]).toEqual([403, undefined]);
    expect((await console.ask('DELETE', '/api/v1/session', { cookie, origin: evil })).status).toBe(403);
  });

  it('a name that was made to point here (DNS rebinding) is not answered', async () => {
    const console = await openConsole({ users: { mara: 'viewer' } });
    const cookie = await console.cookieOf('mara');
    for (const path of ['/', '/api/v1/session', '/sign-in?key=x', '/healthz', '/assets/main-1a2b.js']) {
      const answer = await console.ask('GET', path, { host: `evil.example:${console.port}`, cookie });
      expect([path, answer.status]).toEqual([path, 421]);
    }
    const rebound = { host: 'evil.example', origin: 'http://evil.example', 'sec-fetch-site': 'same-origin' };
    expect((await console.ask('POST', '/api/v1/operator', { ...console.own, cookie, ...rebound }, '{}')).status).toBe(
      421,
    );
    expect(console.done).toEqual([]);
  });

  it('beyond loopback it answers to its public name, and to keys under any', async () => {
    const console = await openConsole({
      host: '0.0.0.0',
      users: { mara: 'viewer' },
      env: { ROWFERRY_PUBLIC_URL: 'https://rowferry.example' },
    });
    const authorization = `Bearer ${await console.key('viewer')}`;
    expect((await console.ask('GET', '/', { host: 'evil.example' })).status).toBe(421);
    expect((await console.ask('GET', '/', { host: 'rowferry.example' })).status).toBe(200);
    expect((await console.ask('GET', '/healthz', { host: '10.0.0.7:8720' })).status).toBe(200);
    expect((await console.ask('GET', '/api/v1/read', { host: 'worker-1:8720', authorization })).status).toBe(200);
  });

  it('a viewer who approves, and an operator who does, are refused, and nothing is written', async () => {
    const console = await openConsole({ users: { vera: 'viewer', otto: 'operator' } });
    const statuses: (number | undefined)[] = [];
    for (const name of ['vera', 'otto'])
      for (const path of ['operator', 'approver']) {
        const headers = { ...console.own, cookie: await console.cookieOf(name) };
        statuses.push((await console.ask('POST', `/api/v1/${path}`, headers, '{}')).status);
      }
    const authorization = `Bearer ${await console.key('viewer')}`;
    statuses.push((await console.ask('POST', '/api/v1/approver', { authorization }, '{}')).status);
    expect(statuses).toEqual([403, 403, 200, 403, 403]);
    expect(console.done).toEqual(['operator']);
    const changes = (await console.audited()).filter(({ what }) => what !== 'sign-in');
    expect(changes.map(({ who, what }) => [who, what])).toEqual([['otto', 'operator']]);
  });

  it('a session that was foisted on somebody is not the one they get (fixation)', async () => {
    const console = await openConsole({ users: { mara: 'viewer' } });
    const name = `rowferry-${console.port}`;
    const foisted = `${name}=${'A'.repeat(43)}`;
    const answer = await console.signIn('mara', PASSWORD, { cookie: foisted });
    const first = cookieIn(answer.headers);
    expect(first).not.toBe(foisted);
    expect((await console.ask('GET', '/api/v1/read', { cookie: foisted })).status).toBe(401);
    // Who signs in again has a new one, and the old one is worth nothing.
    const second = cookieIn((await console.signIn('mara', PASSWORD, { cookie: first })).headers);
    expect(second).not.toBe(first);
    expect((await console.ask('GET', '/api/v1/read', { cookie: first })).status).toBe(401);
    expect((await console.ask('GET', '/api/v1/read', { cookie: second })).status).toBe(200);
    const link = await console.ask('GET', `/sign-in?key=${makeLinkKey(console.home)}`, { cookie: second });
    expect(cookieIn(link.headers)).not.toBe(second);
    expect((await console.ask('GET', '/api/v1/read', { cookie: second })).status).toBe(401);
  });

  it('forged cookies, keys and headers let nobody in', async () => {
    const console = await openConsole({ users: { mara: 'viewer' } });
    const forged: Record<string, string>[] = [
      { cookie: `rowferry-${console.port}=` },
      { cookie: `rowferry-${console.port}=../../etc/passwd` },
      { cookie: `rowferry-${console.port}=__proto__` },
      { authorization: 'Bearer ' },
      { authorization: `Bearer rowferry_${'A'.repeat(43)}` },
      { authorization: `Basic ${Buffer.from(`mara:${PASSWORD}`).toString('base64')}` },
      { 'x-forwarded-user': 'mara' },
    ];
    for (const headers of forged) {
      expect([(await console.ask('GET', '/api/v1/read', headers)).status, headers]).toEqual([401, headers]);
    }
  });

  it('guessed passwords: ten a minute from one address, and then not the right one either', async () => {
    let now = Date.now();
    const console = await openConsole({ users: { mara: 'viewer' }, now: () => now });
    const guesses = await Promise.all(
      Array.from({ length: 14 }, (_, n) => console.signIn('mara', `guess number ${n}`)),
    );
    expect(guesses.map(({ status }) => status).sort()).toEqual([...Array(10).fill(401), ...Array(4).fill(429)]);
    const right = await console.signIn('mara');
    expect([right.status, right.headers['retry-after'], right.headers['set-cookie']]).toEqual([429, '60', undefined]);
    // Keys cannot be guessed: nobody can lock out a program.
    expect((await console.ask('GET', '/api/v1/read', { authorization: 'Bearer wrong' })).status).toBe(429);
    const authorization = `Bearer ${await console.key('viewer')}`;
    expect((await console.ask('GET', '/api/v1/read', { authorization })).status).toBe(200);
    expect(console.notices).toEqual([
      'A wrong password or key for the console came from 127.0.0.1.',
      '10 wrong passwords or keys came from 127.0.0.1: none is looked at for a minute.',
    ]);
    now += 61_000;
    expect((await console.signIn('mara')).status).toBe(200);
  });

  it('an address is taken from a proxy only if told which header, and only its last entry', async () => {
    const wrong = async (console: Awaited<ReturnType<typeof openConsole>>, forwarded: string) =>
      (await console.signIn('mara', 'a wrong password', { 'x-forwarded-for': forwarded })).status;
    const alone = await openConsole({ users: { mara: 'viewer' } });
    for (let n = 0; n < 10; n++) expect(await wrong(alone, `203.0.113.${n}`)).toBe(401);
    expect(await wrong(alone, '203.0.113.99')).toBe(429);

    const behind = await openConsole({ users: { mara: 'viewer' }, env: { ROWFERRY_TRUSTED_PROXY: 'X-Forwarded-For' } });
    // Whoever guesses puts other addresses in front; the proxy adds theirs.
    for (let n = 0; n < 10; n++) expect(await wrong(behind, `203.0.113.${n}, 198.51.100.7`)).toBe(401);
    expect(await wrong(behind, '203.0.113.99, 198.51.100.7')).toBe(429);
    expect(await wrong(behind, '198.51.100.7, 203.0.113.5')).toBe(401);
    // One machine has all addresses of a network of version 6.
    for (let n = 0; n < 10; n++) expect(await wrong(behind, `2001:db8:1:2::${n}`)).toBe(401);
    expect(await wrong(behind, '2001:db8:1:2:9:9:9:9')).toBe(429);
  });

  it.skipIf(process.platform === 'win32')('lists of keys and users that others may change let nobody in', async () => {
    const console = await openConsole({ users: { mara: 'viewer' } });
    const authorization = `Bearer ${await console.key('viewer')}`;
    const keys = join(console.home, 'keys.json');
    const { usersFile } = console.settings;
    const modes = await Promise.all([keys, usersFile].map(async (path) => (await stat(path)).mode & 0o777));
    expect(modes).toEqual([0o600, 0o600]);
    await chmod(keys, 0o644);
    expect((await console.ask('GET', '/api/v1/read', { authorization })).status).toBe(401);
    await chmod(keys, 0o600);
    expect((await console.ask('GET', '/api/v1/read', { authorization })).status).toBe(200);
    await chmod(usersFile, 0o666);
    expect((await console.signIn('mara')).status).toBe(401);
    expect(console.notices.join('\n')).toMatch(/keys\.json .*mode 0644.*chmod 600[\s\S]*users\.json .*mode 0666/);
  });

  it('no name of a file leads out of the pages', async () => {
    const console = await openConsole();
    await symlink(join(console.home, 'secret.txt'), join(console.home, 'pages', 'assets', 'link.json'));
    for (const path of [
      '/../secret.txt',
      '/assets/../../secret.txt',
      '/..%2fsecret.txt',
      '/%2e%2e/secret.txt',
      '/assets/..%5c..%5csecret.txt',
      '/assets/link.json',
      '//etc/passwd',
      '/assets/%00',
      '/assets/%ff',
      '/__proto__',
    ]) {
      const answer = await console.ask('GET', path);
      expect([path, answer.text.includes('SECRET-FILE')]).toEqual([path, false]);
      expect([200, 400, 404]).toContain(answer.status);
      if (answer.status === 200) expect(answer.text).toBe(INDEX);
    }
  });

  it('thousands of connections of strangers leave those who have signed in and the probes alone', async () => {
    const console = await openConsole();
    const authorization = `Bearer ${await console.key('viewer')}`;
    const kept = createConnection(Number(console.port), '127.0.0.1').on('error', () => undefined);
    onTestFinished(() => void kept.destroy());
    let heard = '';
    kept.setEncoding('utf8').on('data', (text: string) => {
      heard += text;
    });
    kept.write(`GET /api/v1/stream HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: ${authorization}\r\n\r\n`);
    await expect.poll(() => heard, { timeout: 20_000 }).toContain('begun');
    let cut = 0;
    for (let round = 0; round < 30; round++) {
      const sockets = Array.from({ length: 100 }, () =>
        createConnection(Number(console.port), '127.0.0.1').on('error', () => undefined),
      );
      await Promise.all(
        sockets.map((socket) => new Promise((resolve) => socket.once('connect', resolve).once('close', resolve))),
      );
      for (const socket of sockets) {
        socket.once('close', () => cut++);
        socket.write('GET /healthz HTTP/1.1\r\n');
        onTestFinished(() => void socket.destroy());
      }
    }
    expect((await console.ask('GET', '/healthz')).status).toBe(200);
    console.push('still there');
    await expect.poll(() => heard, { timeout: 20_000 }).toContain('still there');
    await expect.poll(() => cut, { timeout: 20_000 }).toBeGreaterThan(2_000);
  });

  it('an endless upload of a stranger is refused before it is read', async () => {
    const console = await openConsole();
    const socket = createConnection(Number(console.port), '127.0.0.1').on('error', () => undefined);
    onTestFinished(() => void socket.destroy());
    let heard = '';
    socket.setEncoding('utf8').on('data', (text: string) => {
      heard += text;
    });
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write('POST /api/v1/files HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000000000\r\n\r\n');
    const sending = setInterval(() => socket.write(Buffer.alloc(64 * 1024)), 5);
    onTestFinished(() => clearInterval(sending));
    await expect.poll(() => heard, { timeout: 20_000 }).toContain('HTTP/1.1 401');
    await closed;
  });

  it('no secret stands in what is written or said', async () => {
    const console = await openConsole({ users: { mara: 'operator' } });
    const key = await console.key('viewer');
    const link = makeLinkKey(console.home);
    const cookie = await console.cookieOf('mara');
    await console.ask('GET', `/sign-in?key=${link}`);
    await console.ask('POST', '/api/v1/operator', { ...console.own, cookie }, '{}');
    await console.signIn('mara', 'not the right one');
    const files = ['audit.ndjson', 'keys.json', 'users.json', 'home.db', 'home.db-wal'];
    const texts = await Promise.all(files.map((name) => readFile(join(console.home, name), 'latin1').catch(() => '')));
    const said = [...texts, ...console.notices].join('\n');
    for (const secret of [key, link, PASSWORD, 'not the right one', cookie.split('=')[1] ?? '?']) {
      expect(said).not.toContain(secret);
    }
  });
});

describe('the pages', () => {
  it('are at every address, with a strict policy, and come packed where that is taken', async () => {
    const console = await openConsole();
    for (const path of ['/', '/runs/20261122T120000000Z-aaaa?outcome=invalid', '/jobs/a.b']) {
      const page = await console.ask('GET', path);
      expect([page.status, page.text]).toEqual([200, INDEX]);
      expect(page.headers).toMatchObject({
        'cache-control': 'no-cache',
        'content-security-policy': expect.stringMatching(/^default-src 'none'; script-src 'self'; style-src 'self'; /),
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      });
      expect(page.headers['content-security-policy']).not.toContain('unsafe');
      expect((await console.ask('GET', path, { 'if-none-match': String(page.headers.etag) })).status).toBe(304);
    }
    const script = await console.ask('GET', '/assets/main-1a2b.js');
    expect([script.text, script.headers['cache-control']]).toEqual([SCRIPT, 'public, max-age=31536000, immutable']);
    const packed = await console.ask('GET', '/assets/main-1a2b.js', { 'accept-encoding': 'br, gzip' });
    expect([packed.text, packed.headers['content-encoding']]).toEqual(['packed', 'gzip']);
    expect((await console.ask('GET', '/assets/gone-1a2b.js')).status).toBe(404);
    expect((await console.ask('POST', '/runs')).status).toBe(405);
  });

  it('are off beyond loopback while nobody may sign in; keys work', async () => {
    const console = await openConsole({ host: '0.0.0.0' });
    const page = await console.ask('GET', '/');
    expect([page.status, page.text]).toEqual([403, expect.stringContaining('rowferry console user add')]);
    expect((await console.ask('GET', `/sign-in?key=${makeLinkKey(console.home)}`)).status).toBe(403);
    const authorization = `Bearer ${await console.key('viewer')}`;
    expect((await console.ask('GET', '/api/v1/read', { authorization })).status).toBe(200);
    await openUsers(console.settings.usersFile).add({
      name: 'mara',
      role: 'viewer',
      password: 'scrypt$1$1$1$a$b',
    });
    expect((await console.ask('GET', '/')).status).toBe(200);
  });
});
