import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noOutcomes } from '../../src/model/outcome.js';
import { cli } from './fake-io.js';

const TOKEN = 'planted-token-4711';
const service = { ROWFERRY_API_URL: 'http://127.0.0.1:9', ROWFERRY_API_TOKEN: TOKEN };

let cwd: string;
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'rowferry-usage-'));
  await mkdir(join(cwd, 'jobs'));
  await writeFile(
    join(cwd, 'jobs', 'assets.yaml'),
    'kind: import\nresource: asset\nmatch: { key: serial_number }\ncolumns:\n  Name: name\n  Serial: serial_number\n',
  );
  await writeFile(join(cwd, 'assets-2026.csv'), 'Name,Serial\nA,1\n');
});
afterAll(() => rm(cwd, { recursive: true, force: true }));

const run = (argv: string[], env: Record<string, string> = {}) => cli(argv, { cwd, env });

describe('help', () => {
  it('comes with exit code 2 on stderr where no command is named', async () => {
    const { code, out, err } = await run([]);
    expect(code).toBe(2);
    expect(out).toBe('');
    expect(err).toContain('Usage: rowferry');
  });

  it.each([['help'], ['--help'], ['-h']])('comes with exit code 0 on stdout for %s', async (word) => {
    const { code, out, err } = await run([word]);
    expect(code).toBe(0);
    expect(out).toContain('Exit codes: 0');
    expect(err).toBe('');
  });

  const commands = [
    'import',
    'check',
    'runs',
    'sandbox',
    'doctor',
    'demo',
    'export',
    'reconcile',
    'map',
    'template',
    'worker',
    'enqueue',
  ];
  it.each(commands)('explains %s', async (command) => {
    const { code, out } = await run([command, '--help']);
    expect(code).toBe(0);
    expect(out).toContain(`Usage: rowferry ${command}`);
    expect((await run(['help', command])).out).toBe(out);
  });

  it('prints the version', async () => {
    const { code, out } = await run(['--version']);
    expect(code).toBe(0);
    expect(out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

describe('wrong usage', () => {
  it('names the command that was probably meant', async () => {
    const { code, err } = await run(['imprt', 'x.csv']);
    expect(code).toBe(2);
    expect(err).toContain("unknown command 'imprt'");
    expect(err).toContain('Did you mean import?');
  });

  it('names the option that was probably meant', async () => {
    const { code, err } = await run(['import', 'x.csv', '--jb', 'assets']);
    expect(code).toBe(2);
    expect(err).toContain("unknown option '--jb'");
    expect(err).toContain('Did you mean --job?');
  });

  it.each([
    ['import', 'assets-2026.csv', '--job', 'assets', '--report', ''],
    ['runs', 'list', '--home', ''],
  ])('an option with a blank value, which is no folder: %s', async (...argv) => {
    const { code, err } = await run(argv);
    expect(code).toBe(2);
    expect(err).toContain(`option '${argv.at(-2)} <dir>' has a blank value; give it one, or leave the option out`);
  });

  it('names the command of `runs` that was probably meant', async () => {
    const { code, err } = await run(['runs', 'sho', 'last']);
    expect(code).toBe(2);
    expect(err).toContain('has no command `sho`, did you mean `show`?');
    expect(err).toContain('list, show, resume');
  });

  it('names the commands of `console`, and refuses a filter without a value before anything is asked', async () => {
    expect(await run(['console', 'usr'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('`rowferry console` has no command `usr`, did you mean `user`? It has: user, key.'),
    });
    expect(await run(['export', 'asset', '-o', 'a.csv', '--filter', 'nope'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('--filter "nope" is not of the form field=value.'),
    });
  });

  it('says what --job is for where it is missing', async () => {
    const { code, err } = await run(['import', 'x.csv']);
    expect(code).toBe(2);
    expect(err).toContain('--job is missing');
  });

  it('says which argument is missing and how to learn more', async () => {
    const { code, err } = await run(['runs', 'resume']);
    expect(code).toBe(2);
    expect(err).toContain("missing required argument 'run'");
    expect(err).toContain('rowferry runs resume --help');
  });

  it('names the variables that are missing, where to set them, and the sandbox', async () => {
    const { code, err } = await run(['import', 'assets-2026.csv', '--job', 'assets']);
    expect(code).toBe(2);
    expect(err).toContain('ROWFERRY_API_URL');
    expect(err).toContain('ROWFERRY_API_TOKEN');
    expect(err).toContain('.env');
    expect(err).toContain('rowferry sandbox');
  });

  it('lists every wrong setting, and never a secret', async () => {
    const env = { ...service, ROWFERRY_CONCURENCY: '3', ROWFERRY_MAX_RPS: 'many' };
    const { code, err, out } = await run(['import', 'assets-2026.csv', '--job', 'assets'], env);
    expect(code).toBe(2);
    expect(err).toContain('ROWFERRY_CONCURENCY');
    expect(err).toContain('ROWFERRY_CONCURRENCY');
    expect(err).toContain('ROWFERRY_MAX_RPS');
    expect(err + out).not.toContain(TOKEN);
  });

  it('refuses a flag with a wrong value by its own name', async () => {
    const { code, err } = await run(['import', 'assets-2026.csv', '--job', 'assets', '--company', 'one'], service);
    expect(code).toBe(2);
    expect(err).toContain('--company');
  });

  it('names the nearest job', async () => {
    const { code, err } = await run(['import', 'assets-2026.csv', '--job', 'asets'], service);
    expect(code).toBe(2);
    expect(err).toContain('`assets`');
  });

  it('ends with exit code 1 where the file does not exist', async () => {
    const { code, err } = await run(['import', 'assets-2062.csv', '--job', 'assets'], service);
    expect(code).toBe(1);
    expect(err).toContain('There is no file assets-2062.csv');
    const folder = await run(['import', 'nowhere/a.csv', '--job', 'assets'], service);
    expect(folder.code).toBe(1);
    expect(folder.err).toContain('does not exist');
  });

  it('ends with exit code 1 where the file is a folder', async () => {
    const { code, err } = await run(['import', 'jobs', '--job', 'assets'], service);
    expect(code).toBe(1);
    expect(err).toBe('error: jobs is a folder; give the path of a spreadsheet.\n');
  });

  it.each([
    ['--report', 'report folder'],
    ['--home', 'data folder'],
  ])('says before anything is sent that %s names a file', async (flag, what) => {
    await writeFile(join(cwd, 'taken'), 'mine');
    for (const path of ['taken', 'taken/below']) {
      const argv = ['import', 'assets-2026.csv', '--job', 'assets', flag, path];
      const { code, err } = await run(argv, service);
      expect(code).toBe(1);
      expect(err).toContain(
        `The ${what} ${join(cwd, 'taken')} cannot be made: something on the way is no folder. Name another folder with ${flag}`,
      );
    }
    expect(await readFile(join(cwd, 'taken'), 'utf8')).toBe('mine');
    expect((await run(['runs', 'list'])).out).not.toContain('assets-2026');
  });

  it.runIf(process.platform === 'linux').each([
    ['--report', '/proc/rowferry/reports'],
    ['--home', '/proc/rowferry/home'],
  ])('ends where %s can never be made', async (flag, path) => {
    const { code, err } = await run(['import', 'assets-2026.csv', '--job', 'assets', flag, path], service);
    expect(code).toBe(1);
    expect(err).toContain('/proc/rowferry cannot be made');
    expect(err).toContain(`Name another folder with ${flag}`);
  });

  it('refuses a sandbox it does not understand', async () => {
    for (const [argv, named] of [
      [['--fault', 'POST /asset nth=one status=503'], 'nth'],
      [['--port', 'many'], '--port'],
      [['--seed', 'large'], '--seed'],
      [['--responses', 'none'], '--responses'],
    ] as const) {
      const { code, err } = await run(['sandbox', ...argv]);
      expect(code).toBe(2);
      expect(err).toContain(named);
    }
  });

  it('never shows a stack trace', async () => {
    for (const argv of [
      ['import'],
      ['import', 'x', '--job', 'assets'],
      ['runs', 'show', 'last'],
      ['check', 'nope.yaml'],
    ]) {
      const { err } = await run(argv, service);
      expect(err).not.toMatch(/^\s+at /m);
      expect(err).not.toContain('unexpected');
    }
  });
});

describe('--json', () => {
  const failing = [
    [2, ['import', 'assets-2026.csv', '--json']],
    [2, ['import', 'assets-2026.csv', '--job', 'assets', '--json', '--nonsense']],
    [1, ['import', 'nowhere.csv', '--job', 'assets', '--json']],
    [2, ['runs', 'show', 'last', '--json']],
    [2, ['export', 'asset', '-o', 'x.ods', '--json']],
  ] as const;
  it.each(failing)('prints one object with exit code %i also where there is no summary: %j', async (expected, argv) => {
    const { code, out, err } = await run([...argv], service);
    expect(code).toBe(expected);
    const object: unknown = JSON.parse(out);
    expect(object).toMatchObject({ status: 'failed', exit_code: expected, error: expect.stringMatching(/\w/) });
    expect(out.trimEnd()).not.toContain('\n');
    expect(err).toContain('error: ');
    // What scripts read in a summary is there too.
    const { error, reason, rows } = object as { error: string; reason: string; rows: Record<string, number> };
    expect(reason).toBe(error);
    expect(rows).toEqual({ ...noOutcomes(), total: 0 });
  });
});

describe('worker and enqueue', () => {
  it.each([
    ['no service', ['worker'], 'ROWFERRY_API_URL'],
    ['two kinds of worker', ['worker', '--queue-only', '--inbox', 'x'], '--queue-only and --inbox'],
    ['no job', ['enqueue', 'import', '--file', 'x.csv'], '--job'],
    ['no file', ['enqueue', 'import', '--job', 'assets'], '--file'],
    ['another kind', ['enqueue', 'delete', '--job', 'assets'], 'delete'],
  ])('%s: exit code 2, and it is named', async (_, argv, named) => {
    const { code, err } = await run(argv);
    expect([code, err]).toEqual([2, expect.stringContaining(named)]);
    expect(err).not.toMatch(/\n\s+at /);
  });
});
