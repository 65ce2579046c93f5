import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cliPath } from '../support/build.js';
import { QUICK } from '../support/process.js';

/**
 * Every command of the README and the tutorials, typed into a shell as it stands there, in a folder that holds what a
 * checkout holds. What they come to is compared with the pages in test/docs.test.ts.
 */

const PAGES = [
  'README.md',
  'docs/tutorials/import.md',
  'docs/tutorials/edit-an-export.md',
  'docs/tutorials/blank-workbook.md',
  'docs/tutorials/map.md',
  'docs/tutorials/nightly.md',
  'docs/tutorials/worker.md',
];
/** Typed by whoever builds it; `.ci/run` does that. */
const NOT_HERE = /^npm (ci|test)$/;
/** Stay until they are told to end, and say this when they are ready. */
const SERVERS = [
  [/rowferry sandbox/, 'To use it'],
  [/rowferry worker/, 'Drop folder: '],
] as const;
/** The rows were brought, some need a person, or a brake stopped them: what the pages tell of. */
const FINE = [0, 3, 4];

describe.each(PAGES)('%s', (page) => {
  it('has commands that work as they are typed', async () => {
    const text = await readFile(page, 'utf8');
    const place = await openPlace(text);
    try {
      if (!text.includes('rowferry sandbox --port')) {
        const first = await readFile('docs/tutorials/import.md', 'utf8');
        for (const line of linesOf(first).slice(0, 2)) await place.type(line);
      }
      const ran: string[] = [];
      for (const line of linesOf(text)) {
        if (NOT_HERE.test(line)) continue;
        await place.type(line);
        ran.push(line);
      }
      expect(ran.length).toBeGreaterThan(0);
    } finally {
      await place.close();
    }
  });
});

const linesOf = (text: string): string[] =>
  [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) => block.trim().split('\n'));

/** Where a reader types: the folder, the shell's variables, and what runs in other terminals. */
async function openPlace(text: string) {
  const dir = await mkdtemp(join(tmpdir(), 'rowferry-typed-'));
  const bin = join(dir, '.bin');
  const cwd = join(dir, 'checkout');
  const [service, health] = [await freePort(), await freePort()];
  const env: Record<string, string> = { PATH: `${bin}:${process.env['PATH']}`, HOME: dir };
  const others: ChildProcess[] = [];

  for (const folder of ['jobs', 'fixtures']) await cp(folder, join(cwd, folder), { recursive: true });
  await mkdir(bin);
  const command = `exec "${process.execPath}" ${QUICK.join(' ')} "${await cliPath()}"`;
  await script(join(bin, 'npx'), `shift; ${command} "$@"`);
  await script(join(bin, 'npm'), `[ "$*" = "run demo" ] && ${command} demo`);
  for (const [path, content] of savedFiles(text)) {
    await mkdir(dirname(join(cwd, path)), { recursive: true });
    await writeFile(join(cwd, path), content);
  }
  const row = { 'Item Name': 'ThinkPad T14', 'Serial number': 'LT-7001', Category: 'Laptop', Sub: 'Business' };
  await writeFile(join(cwd, 'rows.ndjson'), `${JSON.stringify(row)}\n`);

  const shell = (line: string) =>
    spawn('bash', ['-o', 'pipefail', '-c', line], {
      cwd,
      env: { ...env, ROWFERRY_HTTP: `127.0.0.1:${health}` },
      stdio: ['ignore', 'pipe', 'pipe'],
    });

  async function run(line: string): Promise<string> {
    const child = shell(line);
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => {
      out += String(chunk);
    });
    child.stderr.on('data', (chunk: Buffer) => {
      err += String(chunk);
    });
    const code = await new Promise<number | null>((done) => child.on('close', done));
    expect(FINE, `${line}: ${code}\n${out}\n${err}`).toContain(code);
    return out;
  }

  return {
    async type(typed: string): Promise<void> {
      let line = typed.replaceAll('4010', String(service)).replaceAll('8720', String(health));
      if (line.includes(' RUN')) {
        const { runs } = JSON.parse(await run('npx rowferry runs --json')) as {
          runs: { run: string; dry_run: boolean }[];
        };
        line = line.replace(' RUN', ` ${runs.find(({ dry_run }) => !dry_run)?.run}`);
      }
      if (line.startsWith('export ')) {
        for (const [, name = '', value = ''] of line.matchAll(/(\w+)=(\S+)/g)) env[name] = value;
        return;
      }
      const ready = SERVERS.find(([server]) => server.test(line))?.[1];
      if (ready === undefined) return void (await run(line));
      const child = shell(`exec ${line}`);
      others.push(child);
      await new Promise<void>((done, fail) => {
        let said = '';
        const listen = (chunk: Buffer) => {
          said += String(chunk);
          if (said.includes(ready)) done();
        };
        child.stdout.on('data', listen);
        child.stderr.on('data', listen);
        child.on('close', (code) => fail(new Error(`${line} ended with ${code}: ${said}`)));
      });
    },
    async close(): Promise<void> {
      for (const child of others.reverse()) {
        const ended = new Promise((done) => child.on('close', done));
        child.kill('SIGTERM');
        await ended;
      }
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** Blocks that the text before them tells to save: "Save this as `laptops.csv`:". */
function savedFiles(text: string): [path: string, content: string][] {
  const found: [string, string][] = [];
  const blocks = [...text.matchAll(/^```(csv|yaml)\n([\s\S]*?)^```$/gm)];
  for (const [name] of text.matchAll(/(?<=[Ss]ave [^`]*(?:`[^`]*`[^`.]*)?)`[^`\n]+\.(?:csv|yaml)`/g)) {
    const path = name.replaceAll('`', '');
    const kind = path.endsWith('.csv') ? 'csv' : 'yaml';
    const block = blocks.find((one) => one[1] === kind);
    if (block?.[2] !== undefined) found.push([path, block[2]]);
  }
  return found;
}

async function script(path: string, body: string): Promise<void> {
  await writeFile(path, `#!/bin/sh\n${body}\n`);
  await chmod(path, 0o755);
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as { port: number };
  await new Promise((done) => server.close(done));
  return port;
}
