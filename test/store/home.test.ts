import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { homeExists, openHome } from '../../src/store/home.js';
import { type Database, openDatabase } from '../../src/store/sqlite.js';
import { cliPath } from '../support/build.js';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'rowferry-home-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const names = (home: Database) => home.prepare('select count(*) as n from name').get()?.['n'];

const SCRIPT = `
const [module, home, from] = process.argv.slice(2);
const { openHome } = await import(module);
for (let id = Number(from); id < Number(from) + 30; id++) {
  const database = openHome(home);
  const insert = database.prepare("insert into name (service, kind, id, key, name) values ('s', 'customer', ?, 'k', 'n')");
  database.transaction(() => insert.run(id));
  database.close();
}
`;

it('is made by several processes at once, and loses nothing that one of them writes', {
  timeout: 300_000,
}, async () => {
  const script = join(home, 'write.mjs');
  await writeFile(script, SCRIPT);
  const module = pathToFileURL(join(dirname(await cliPath()), '..', 'store', 'home.js')).href;
  const codes = await Promise.all(
    [0, 100, 200, 300].map(async (from) => {
      const child = spawn(process.execPath, [script, module, home, String(from)], { stdio: 'inherit' });
      return (await once(child, 'exit'))[0] as number;
    }),
  );
  expect(codes).toEqual([0, 0, 0, 0]);
  const database = openHome(home);
  expect(names(database)).toBe(120);
  database.close();
});

const HOLDER = `
import { createRequire } from 'node:module';
const [module, file] = process.argv.slice(2);
const Driver = process.getBuiltinModule('node:sqlite')?.DatabaseSync ?? createRequire(module)('libsql');
const database = new Driver(file);
database.exec('begin immediate');
process.stdout.write('held');
setTimeout(() => {
  database.exec('rollback');
  database.close();
}, 300);
`;

it('waits for another process that is at a new file, whose form it is about to change', async () => {
  const script = join(home, 'hold.mjs');
  await writeFile(script, HOLDER);
  const child = spawn(process.execPath, [script, import.meta.url, join(home, 'home.db')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  await once(child.stdout, 'data');
  const database = openHome(home);
  expect(names(database)).toBe(0);
  database.close();
  expect(await ended).toEqual([0, null]);
});

it('is read while another writes', () => {
  const [one, other] = [openHome(home), openHome(home)];
  one.transaction(() => {
    one.prepare("insert into name (service, kind, id, key, name) values ('s', 'customer', 1, 'k', 'n')").run();
    expect(names(other)).toBe(0);
  });
  expect(names(other)).toBe(1);
  one.close();
  other.close();
});

it('is refused with a sentence where it is of another version, or no database', async () => {
  expect(homeExists(home)).toBe(false);
  const path = join(home, 'home.db');
  openDatabase(path, { label: '', schema: 'create table a (b)', version: 8, remedy: '' }).close();
  expect(homeExists(home)).toBe(true);
  expect(() => openHome(home)).toThrow(
    /^The memory of earlier runs .*home\.db has format 8; this version of rowferry reads format 7\. Restore the file/,
  );
  await writeFile(path, 'no database '.repeat(1_000));
  expect(() => openHome(home)).toThrow(/^The memory of earlier runs .*home\.db is damaged\. Restore the file/);
});
