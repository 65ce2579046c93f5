import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { client, json, refusal, serve } from './server.js';

test('a token file is read again on 401, once for everybody, and each request goes out again (15)', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'rowferry-token-'));
  const path = join(dir, 'token');
  await writeFile(path, 'old-token-0001\n');
  const accepted: string[] = [];
  const { url, seen } = await serve(async (response, { headers, body }) => {
    if (headers.authorization === 'Bearer new-token-0002') {
      accepted.push(body);
      json(response, 201, { id: accepted.length });
    } else {
      await writeFile(path, 'new-token-0002\n');
      json(response, 401, { detail: 'expired' });
    }
  });
  const service = client(url, { token: { kind: 'file', path } });
  const answers = await Promise.all(Array.from({ length: 30 }, (_, i) => service.create('asset', { name: `n${i}` })));
  await rm(dir, { recursive: true });
  expect(new Set(answers.map((answer) => answer.kind))).toEqual(new Set(['done']));
  expect(new Set(accepted).size).toBe(30);
  expect(accepted.length).toBe(30);
  // Eight may be in flight at first; nobody else went out with the old token.
  expect(seen.length).toBeLessThanOrEqual(38);
});

test('client credentials: one token for all, a new one after 401, the secret only at the token address (15)', async () => {
  let given = 0;
  const oauth = await serve((response) =>
    json(response, 200, { access_token: `access-${++given}`, token_type: 'Bearer' }),
  );
  let calls = 0;
  const api = await serve((response, { headers }) => {
    if (headers.authorization === 'Bearer access-1' && ++calls > 5) json(response, 401, {});
    else json(response, 200, { id: 1 });
  });
  const service = client(api.url, {
    token: {
      kind: 'oauth',
      tokenUrl: `${oauth.url}/token`,
      clientId: 'ferry',
      clientSecret: 'very secret/1',
      scope: 'a b',
    },
  });
  for (let i = 0; i < 20; i++) expect(await service.get('asset', 1)).toEqual({ id: 1 });
  expect(given).toBe(2);
  expect(oauth.seen[0]?.body).toBe('grant_type=client_credentials&scope=a+b');
  const basic = Buffer.from(oauth.seen[0]?.headers.authorization?.slice(6) ?? '', 'base64').toString();
  expect(basic).toBe('ferry:very%20secret%2F1');
  expect(JSON.stringify(api.seen)).not.toContain('secret');
});

test('a token that is about to expire is renewed before it is refused', async () => {
  let given = 0;
  const oauth = await serve((response) =>
    json(response, 200, { access_token: `access-${++given}`, expires_in: given === 1 ? 0.0001 : 3600 }),
  );
  const api = await serve((response) => json(response, 200, { id: 1 }));
  const service = client(api.url, {
    token: { kind: 'oauth', tokenUrl: oauth.url, clientId: 'ferry', clientSecret: 'very-secret' },
  });
  await service.get('asset', 1);
  await service.get('asset', 1);
  await service.get('asset', 1);
  expect(api.seen.map((one) => one.headers.authorization)).toEqual([
    'Bearer access-1',
    'Bearer access-2',
    'Bearer access-2',
  ]);
});

test('a token service that knows only the body form gets it; one that refuses is quoted without the secret', async () => {
  const oauth = await serve((response, { body }) => {
    if (body.includes('client_secret=very-secret')) json(response, 200, { access_token: 'access-1' });
    else json(response, 401, { error: 'invalid_client' });
  });
  const api = await serve((response) => json(response, 200, { id: 1 }));
  const token = { kind: 'oauth', tokenUrl: oauth.url, clientId: 'ferry', clientSecret: 'very-secret' } as const;
  expect(await client(api.url, { token }).get('asset', 1)).toEqual({ id: 1 });

  const strict = await serve((response) =>
    json(response, 400, { error: 'no', error_description: 'very-secret is wrong' }),
  );
  const text = await refusal(client(api.url, { token: { ...token, tokenUrl: strict.url } }).get('asset', 1));
  expect(text).toContain('*** is wrong');
  expect(text).not.toContain('very-secret');
});

test('a token that is given with another status of success is used, and shown nowhere (86)', async () => {
  const given: object[] = [{ access_token: 'planted-access-token' }, { accessToken: 'planted-access-token' }];
  const oauth = await serve((response) => json(response, 201, given.shift()));
  const api = await serve((response) => json(response, 200, { id: 1 }));
  const token = { kind: 'oauth', tokenUrl: oauth.url, clientId: 'ferry', clientSecret: 'very-secret' } as const;
  expect(await client(api.url, { token }).get('asset', 1)).toEqual({ id: 1 });
  const text = await refusal(client(api.url, { token }).get('asset', 1));
  expect(text).toContain('answered without an access_token');
  expect(text).not.toContain('planted-access-token');
});

test('a token service that is down is waited for', async () => {
  const oauth = await serve((response, _seen, nth) => {
    if (nth < 3) json(response, 503, {});
    else json(response, 200, { access_token: 'access-1' });
  });
  const api = await serve((response) => json(response, 200, { id: 1 }));
  const token = { kind: 'oauth', tokenUrl: oauth.url, clientId: 'ferry', clientSecret: 'very-secret' } as const;
  expect(await client(api.url, { token, patienceMs: 10_000 }).get('asset', 1)).toEqual({ id: 1 });
  expect(oauth.seen.length).toBe(3);
});

test('a second 401 says that the token was refused, and not which token', async () => {
  const { url, seen } = await serve((response) => json(response, 401, { detail: 'bad token planted-secret-token' }));
  const text = await refusal(client(url).create('asset', { name: 'x' }));
  expect(text).toMatch(/^RunError: The token was refused \(401\)/);
  expect(text).not.toContain('planted-secret-token');
  expect(seen.length).toBe(2);
  // A fixed token is fetched from nowhere.
  expect(text).not.toMatch(/again|fetched|OAUTH|TOKEN_FILE/);
  expect(text).toContain('Check ROWFERRY_API_TOKEN:');
});

test('a second 401 names what the other kinds of token did about the first', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'rowferry-token-'));
  const path = join(dir, 'token');
  const { url } = await serve(async (response) => {
    await writeFile(path, `token-${Math.random()}`);
    json(response, 401, {});
  });
  await writeFile(path, 'token-0');
  const file = await refusal(client(url, { token: { kind: 'file', path } }).create('asset', { name: 'x' }));
  expect(file).toMatch(/also after the token file was read again\. .*ROWFERRY_API_TOKEN_FILE/);
  const oauth = await serve((response) => json(response, 200, { access_token: 'access-1' }));
  const token = { kind: 'oauth', tokenUrl: oauth.url, clientId: 'ferry', clientSecret: 'very-secret' } as const;
  const fetched = await refusal(client(url, { token }).create('asset', { name: 'x' }));
  expect(fetched).toMatch(/also after a new one was fetched\. .*ROWFERRY_OAUTH_/);
  await rm(dir, { recursive: true });
});

test.each([
  ['', 'holds no token'],
  ['two words', 'blanks, line breaks'],
  ['line\nbreak', 'blanks, line breaks'],
])('the token %j is refused before anything is sent', async (token, words) => {
  const { url, seen } = await serve((response) => json(response, 200, {}));
  const text = await refusal(client(url, { token: { kind: 'token', token } }).get('asset', 1));
  expect(text).toContain(words);
  expect(seen.length).toBe(0);
});

test('a token file that is late, or gone for a moment, is waited for, a short while', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'rowferry-token-'));
  const path = join(dir, 'token');
  await writeFile(path, 'old-token-0001');
  const { url, seen } = await serve((response, { headers }) => {
    if (headers.authorization === 'Bearer new-token-0002') json(response, 200, { id: 1 });
    else {
      json(response, 401, {});
      setTimeout(() => void rm(path), 100);
      setTimeout(() => void writeFile(path, 'new-token-0002'), 600);
    }
  });
  expect(await client(url, { token: { kind: 'file', path } }).get('asset', 1)).toEqual({ id: 1 });
  expect(seen.length).toBe(2);
  await rm(dir, { recursive: true });
});

test('a token file that is missing is named', async () => {
  const text = await refusal(
    client('http://127.0.0.1:9', { token: { kind: 'file', path: '/nowhere/token' } }).get('asset', 1),
  );
  expect(text).toContain('"/nowhere/token" cannot be read (ENOENT)');
});

test('a token service that never was there is not waited for', async () => {
  const token = { kind: 'oauth', clientId: 'ferry', clientSecret: 'very-secret' } as const;
  const api = await serve((response) => json(response, 200, { id: 1 }));
  const tokenUrl = api.url.replace('http:', 'https:');
  const asked = client(api.url, { token: { ...token, tokenUrl }, patienceMs: 60_000 }).get('asset', 1);
  await expect(asked).rejects.toMatchObject({
    code: 'token_unavailable',
    message: expect.stringContaining('cannot be reached: nothing speaks TLS at this port'),
  });
});
