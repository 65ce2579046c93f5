import { link, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resolveSettings } from '../../../src/runs/settings.js';
import { FileUnavailable, fileBelowRoots } from '../../../src/worker/jobs/roots.js';

let dir: string;
let folders: Parameters<typeof fileBelowRoots>[1];
const at = (...parts: string[]) => join(dir, ...parts);

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rowferry-roots-'));
  await mkdir(at('work'));
  await writeFile(at('work', 'token.txt'), 'token');
  folders = resolveSettings(
    {
      ROWFERRY_HOME: at('work', '.home'),
      ROWFERRY_INBOX: at('drop'),
      ROWFERRY_ROOTS: at('work'),
      ROWFERRY_USERS_FILE: at('work', 'people.txt'),
      ROWFERRY_API_TOKEN_FILE: at('work', 'token.txt'),
    },
    {},
    dir,
    { envFile: false },
  );
  for (const folder of ['work/.home/uploads', 'work/.git', 'work/data', 'drop/assets', 'secret', 'worker']) {
    await mkdir(at(folder), { recursive: true });
  }
  const files = ['work/a.csv', 'work/data/a.csv', 'work/.env', 'work/.git/config', 'work/.home/uploads/u.csv'];
  files.push('work/.home/a.csv', 'drop/assets/d.csv', 'secret/s.csv', 'worker/w.csv', 'drop/.ledger');
  for (const file of files) await writeFile(at(file), 'x');
  await symlink(at('secret/s.csv'), at('work/out.csv'));
  await symlink(at('secret/none.csv'), at('work/out-none.csv'));
  await symlink('../secret', at('work/out'));
  await symlink('data/a.csv', at('work/in.csv'));
  await symlink(at('work/.env'), at('work/env.csv'));
  await symlink('circle.csv', at('work/circle.csv'));
  await symlink(at('drop'), at('work/drops'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

const found = (file: string) => fileBelowRoots(file, folders);
const refusal = (file: string) =>
  found(file).then(
    (path) => `found ${path}`,
    (error: Error) => (error instanceof FileUnavailable ? 'away' : error.message),
  );

describe('a file that job data name', () => {
  it('is found below the roots, the first of them first', async () => {
    expect(await found('a.csv')).toBe(at('work/.home/a.csv'));
    expect(await found('data/a.csv')).toBe(at('work/data/a.csv'));
    expect(await found(at('work/data/a.csv'))).toBe(at('work/data/a.csv'));
    expect(await found('data/../data//a.csv')).toBe(at('work/data/a.csv'));
    expect(await found(at('work/.home/uploads/u.csv'))).toBe(at('work/.home/uploads/u.csv'));
  });

  it('is none of those that say who may sign in and with what, by whatever name', async () => {
    const own = ['people.txt', 'token.txt', '.home/keys.json', '.home/home.db', '.home/audit.ndjson'];
    for (const [i, name] of own.entries()) {
      await writeFile(at('work', name), 'x');
      await symlink(at('work', name), at(`work/symbolic-${i}.csv`));
      await link(at('work', name), at(`work/data/hard-${i}.csv`));
      for (const named of [at('work', name), `symbolic-${i}.csv`, `data/hard-${i}.csv`])
        expect([named, await refusal(named)]).toEqual([named, expect.stringContaining('rowferry’s own')]);
    }
    await writeFile(at('work/data/keys.json'), 'x');
    expect(await found('data/keys.json')).toBe(at('work/data/keys.json'));
  });

  it('below inbox/ is meant in the drop folder, wherever that is', async () => {
    expect(await found('inbox/assets/d.csv')).toBe(at('drop/assets/d.csv'));
  });

  it('may be a link that stays inside (84)', async () => {
    expect(await found('in.csv')).toBe(at('work/data/a.csv'));
    expect(await found('drops/assets/d.csv')).toBe(at('drop/assets/d.csv'));
  });

  it.each(['secret/s.csv', 'worker/w.csv', 'secret/none.csv', 'secret', ''])(
    'outside is refused, whether it exists or not: %s (84)',
    async (file) => {
      expect(await refusal(at(file))).toContain('is not below a folder that this worker may read');
      expect(await refusal(`../${file}`)).toContain('is not below a folder');
    },
  );

  it.each(['out.csv', 'out-none.csv', 'out/s.csv', 'out/none.csv'])(
    'is refused where a link leads out, whether anything is there or not: %s (84)',
    async (file) => expect(await refusal(file)).toContain('is not below a folder'),
  );

  it.each(['.env', '.git/config', 'data/.x', 'inbox/.ledger', 'env.csv'])(
    'hidden is refused: %s (84)',
    async (file) => {
      expect(await refusal(file)).toMatch(/hidden|not below a folder/);
    },
  );

  it.each([
    '..%2fsecret%2fs.csv',
    '%2e%2e/secret/s.csv',
    'data/%2e%2e/%2e%2e/secret/s.csv',
    '..\\secret\\s.csv',
    'data\\..\\..\\secret\\s.csv',
    'file:../secret/s.csv',
    '~/s.csv',
    '$HOME/s.csv',
    '\u2024\u2024/secret/s.csv',
    '\uff0e\uff0e\uff0fsecret\uff0fs.csv',
  ])('is meant letter by letter: nothing is decoded into a way out: %j (84)', async (file) => {
    expect(await refusal(file)).toMatch(/^away$|hidden|not below a folder/);
    expect(await refusal(`inbox/${file}`)).toMatch(/^away$|hidden|not below a folder/);
    expect(await refusal(at(file))).toMatch(/^away$|hidden|not below a folder/);
  });

  it.each(['a\0.csv', 'data/a.csv\0', '\0/../../secret/s.csv'])('with a NUL is no path: %j (84)', async (file) => {
    for (const one of [file, `${at('work')}/${file}`, `inbox/${file}`])
      expect(await refusal(one)).toContain('is no path');
  });

  it('must be a file (84)', async () => {
    expect(await refusal('data')).toContain('is a folder');
    expect(await refusal('drops')).toContain('is a folder');
    expect(await refusal('/dev/null')).toContain('is not below');
    expect(await refusal('circle.csv')).toContain('circle');
    expect(await refusal('a\0.csv')).toContain('is no path');
  });

  it('that is not there may be on another machine', async () => {
    expect(await refusal('data/none.csv')).toBe('away');
    expect(await refusal('inbox/none/d.csv')).toBe('away');
    expect(await refusal(at('work/none.csv'))).toBe('away');
    expect(await refusal('a.csv/b')).toBe('away');
  });
});
