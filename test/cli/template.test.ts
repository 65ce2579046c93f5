import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { templateCommand } from '../../src/cli/commands/jobs.js';
import { presentFailure } from '../../src/cli/io.js';
import { openCli } from '../../src/cli/program.js';
import type { TemplateResult } from '../../src/runs/template.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { capture, type Ran } from './fake-io.js';

let cwd: string;
let sandbox: Sandbox;
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'rowferry-template-'));
  sandbox = await startSandbox({ seed: 'demo', token: 'secret-token-4711' });
});
afterAll(async () => {
  await sandbox.close();
  await rm(cwd, { recursive: true, force: true });
});

async function template(argv: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
  const [stdout, stderr] = [capture(), capture()];
  const io = { env, cwd, stdin: new PassThrough(), stdout: stdout.stream, stderr: stderr.stream };
  const cli = openCli(io);
  try {
    await templateCommand(cli).parseAsync([...argv], { from: 'user' });
  } catch (error) {
    cli.code = presentFailure(error, cli, { json: argv.includes('--json') });
  }
  return { code: cli.code, out: stdout.text(), err: stderr.text() };
}

const service = () => ({ ROWFERRY_API_URL: sandbox.url, ROWFERRY_API_TOKEN: 'secret-token-4711' });

describe('rowferry template', () => {
  it('writes the workbook and its job, and says how to go on', async () => {
    const { code, out, err } = await template(['asset', '-o', 'assets-template.xlsx'], service());
    expect(code).toBe(0);
    expect(out).toContain(
      'assets-template.xlsx: sheet "Assets" with 15 columns, 2 of them required; 70 more with --all\n',
    );
    expect(out).toContain('Suppliers (40)');
    expect(out).toContain('rowferry import assets-template.xlsx --job assets-template.yaml --dry-run');
    expect(err).toContain('Northwind Operations');
    expect(`${out}${err}`).not.toContain('secret-token-4711');
    expect((await readdir(cwd)).sort()).toEqual(['assets-template.xlsx', 'assets-template.yaml']);
  });

  it('has every field, custom ones too, with --all', async () => {
    const { out } = await template(['asset', '-o', 'all.xlsx', '--all', '--json'], service());
    const result = JSON.parse(out) as TemplateResult;
    expect([result.columns.length, result.more]).toEqual([85, 0]);
    expect(result.columns.some(({ field }) => field.startsWith('template.'))).toBe(true);
    await Promise.all(['all.xlsx', 'all.yaml'].map((name) => rm(join(cwd, name))));
  });

  it('prints one JSON object where that is asked for', async () => {
    const argv = ['customer', '-o', 'c.xlsx', '--json', '--company', '1'];
    const { code, out, err } = await template(argv);
    expect(code).toBe(0);
    const result = JSON.parse(out) as TemplateResult;
    expect(result).toMatchObject({
      resource: 'customer',
      file: 'c.xlsx',
      job: 'c.yaml',
      sheet: 'Customers',
      company: 1,
    });
    expect(result.lists).toContainEqual({ list: 'Countries', values: expect.any(Number), columns: ['Country'] });
    expect(result.warnings).toHaveLength(1);
    expect(err).toContain('ROWFERRY_API_URL');
    expect(await readFile(join(cwd, 'c.yaml'), 'utf8')).toContain('company: 1');
  });

  it('ends with 2 where the usage or the settings are wrong, and writes nothing', async () => {
    const before = await readdir(cwd);
    await writeFile(join(cwd, 'own.yaml'), '# mine\n');
    for (const [argv, env, words] of [
      [['assett', '-o', 'x.xlsx'], {}, 'did you mean `asset`?'],
      [['user', '-o', 'x.xlsx'], {}, 'can only be read'],
      [['asset', '-o', 'x.ods'], {}, '.xlsx'],
      [['asset', '-o', 'own.xlsx'], {}, 'own.yaml'],
      [['asset', '-o', 'x.xlsx'], { ROWFERRY_API_URL: sandbox.url }, 'ROWFERRY_API_TOKEN is not set'],
    ] as const) {
      const { code, err } = await template(argv, env);
      expect({ argv, code }).toEqual({ argv, code: 2 });
      expect(err).toContain(words);
    }
    expect((await readdir(cwd)).sort()).toEqual([...before, 'own.yaml'].sort());
  });

  it('ends with 1 where the service does not let it in', async () => {
    const { code, out } = await template(['asset', '-o', 'x.xlsx', '--json'], {
      ...service(),
      ROWFERRY_API_TOKEN: 'expired-token-1',
    });
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ status: 'failed', exit_code: 1 });
    expect(await readdir(cwd)).not.toContain('x.xlsx');
  });
});
