import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import exceljs from 'exceljs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { mapCommand } from '../../src/cli/commands/jobs.js';
import { presentFailure } from '../../src/cli/io.js';
import { openCli } from '../../src/cli/program.js';
import { checkJobText } from '../../src/runs/job-file.js';
import { capture } from './fake-io.js';

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'rowferry-map-'));
  await writeFile(join(cwd, 'vendors.csv'), 'Vendor,Town,DUNS\nGlobex,Ely,150483782\nInitech,Hull,150483799\n');
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

/** The command by itself, without a service and without settings. */
async function map(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  const [stdout, stderr] = [capture(), capture()];
  const cli = openCli({ env: {}, cwd, stdin: new PassThrough(), stdout: stdout.stream, stderr: stderr.stream });
  try {
    await mapCommand(cli).exitOverride().parseAsync(argv, { from: 'user' });
  } catch (error) {
    cli.code = presentFailure(error, cli, { json: argv.includes('--json') });
  }
  return { code: cli.code, out: stdout.text(), err: stderr.text() };
}

it('prints the job and nothing else on stdout, the table on stderr', async () => {
  const { code, out, err } = await map('vendors.csv', '--resource', 'supplier');
  expect(code).toBe(0);
  expect(checkJobText(out).job).toMatchObject({ kind: 'import', resource: 'supplier' });
  expect(err).toMatch(/^HEADING +FIELD +CONFIDENCE +WHY\nVendor +name +high/);
  expect(err).toContain('2 rows; 2 of 3 columns mapped to fields of supplier.');
});

it('names the files in its commands as they are found from the working folder', async () => {
  await mkdir(join(cwd, 'jobs'));
  await mkdir(join(cwd, 'in box'));
  await writeFile(join(cwd, 'in box', 'v.csv'), 'Vendor\nGlobex\nInitech\n');
  expect((await map('in box/v.csv', '--resource', 'supplier', '-o', 'jobs/v.yaml')).code).toBe(0);
  const { out } = await map('in box/v.csv', '--resource', 'supplier', '-o', 'in box/v.yaml');
  expect(out).toMatch(/The job is in in box\/v\.yaml\. Look at it, then: rowferry check "in box\/v\.yaml"$/m);
  const job = await readFile(join(cwd, 'jobs', 'v.yaml'), 'utf8');
  expect(job).toContain('from v.csv: 2 rows');
  expect(job).toContain(
    '#   rowferry check jobs/v.yaml\n#   rowferry import "in box/v.csv" --job jobs/v.yaml --dry-run',
  );
});

it('writes the job with -o, the table on stdout, and does not replace a file unasked', async () => {
  const { code, out, err } = await map('vendors.csv', '--resource', 'supplier', '-o', 'job.yaml');
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toContain('The job is in job.yaml. Look at it, then: rowferry check job.yaml');
  const job = await readFile(join(cwd, 'job.yaml'), 'utf8');
  expect(job).toContain('#   rowferry import vendors.csv --job job.yaml --dry-run');
  const again = await map('vendors.csv', '--resource', 'supplier', '-o', 'job.yaml');
  expect(again.code).toBe(2);
  expect(again.err).toContain('exists already');
  expect((await map('vendors.csv', '--resource', 'supplier', '-o', 'job.yaml', '--force')).code).toBe(0);
});

it('prints one object with --json', async () => {
  const { code, out, err } = await map('vendors.csv', '--resource', 'supplier', '--json');
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out.trimEnd().split('\n')).toHaveLength(1);
  const found = JSON.parse(out) as {
    columns: { heading: string; field: string | null; confidence: string; evidence: string[] }[];
    key: object;
    job: string;
  };
  expect(found).toMatchObject({
    resource: 'supplier',
    rows: 2,
    source: { format: 'csv', header_row: 1 },
    key: { field: 'name', fits: true, blank: 0, repeats: 0 },
  });
  expect(found.columns.map(({ heading, field, confidence }) => [heading, field, confidence])).toEqual([
    ['Vendor', 'name', 'high'],
    ['Town', 'city', 'high'],
    ['DUNS', null, 'none'],
  ]);
  expect(found.columns[0]?.evidence.length).toBeGreaterThan(0);
  expect(checkJobText(found.job).job).toBeDefined();
});

it('ends with 3 where nothing can be mapped: the job leaves all of it out, and asks', async () => {
  await writeFile(join(cwd, 'odd.csv'), 'foo,bar\n1,2\n');
  const { code, out } = await map('odd.csv', '--resource', 'asset');
  expect(code).toBe(3);
  expect(out).toMatch(/^ {2}foo: ~ +#.*\n {2}bar: ~ +#/m);
  expect(out).toContain('# NEXT: Which column holds the name of each asset?');
  const json = await map('odd.csv', '--resource', 'asset', '--json');
  expect(json.code).toBe(3);
  expect(JSON.parse(json.out)).toMatchObject({
    job: out,
    next: expect.stringContaining('Which column holds the name'),
  });
});

it('takes the sheet whose headings fit, of a workbook that begins with a cover', async () => {
  const book = new exceljs.Workbook();
  book.addWorksheet('Cover').addRows([['Register 2026'], ['Prepared by IT']]);
  const table = [
    ['Name', 'Serial number'],
    ['Laptop', 'S-1'],
  ];
  book.addWorksheet('Inventory').addRows(table);
  await book.xlsx.writeFile(join(cwd, 'register.xlsx'));
  const { code, out } = await map('register.xlsx', '--resource', 'asset');
  expect(code).toBe(0);
  expect(out).toContain('  sheet: Inventory');
  expect((await map('register.xlsx', '--resource', 'asset', '--sheet', 'Cover')).code).toBe(3);
});

it('says what is wrong with the call', async () => {
  for (const [argv, code, words] of [
    [['vendors.csv'], 2, '--resource is missing'],
    [['vendors.csv', '--resource', 'vendor'], 2, 'There is no resource `vendor`'],
    [['vendors.csv', '--resource', 'user'], 2, 'can only be read'],
    [['vendor.csv', '--resource', 'supplier'], 1, 'There is no file vendor.csv'],
    [['vendors.csv', '--resource', 'supplier', '-o', 'no/such/job.yaml'], 1, 'does not exist'],
    [['vendors.csv', '--resource', 'supplier', '--header-row', 'first'], 2, '--header-row is "first"'],
    [['vendors.csv', '--resource', 'supplier', '-o', '-'], 2, 'stdout'],
  ] as const) {
    const { code: ended, err } = await map(...argv);
    expect(err).toContain(words);
    expect(ended).toBe(code);
  }
});

it('shows what headings hold without letting it steer the terminal', async () => {
  await writeFile(join(cwd, 'esc.csv'), 'Vendor,a\u001b[31mred\u0007\nGlobex,\u001b]0;x\u0007\n');
  const { out, err } = await map('esc.csv', '--resource', 'supplier');
  expect([...`${out}${err}`].filter((char) => char < ' ' && char !== '\n')).toEqual([]);
  expect(checkJobText(out).job).toBeDefined();
});

it('never replaces the spreadsheet itself, by whatever name', async () => {
  const sheet = await readFile(join(cwd, 'vendors.csv'), 'utf8');
  await symlink('vendors.csv', join(cwd, 'link.csv'));
  for (const output of ['vendors.csv', './vendors.csv', 'link.csv']) {
    const { code, err } = await map('vendors.csv', '--resource', 'supplier', '-o', output, '--force');
    expect({ output, code }).toEqual({ output, code: 2 });
    expect(err).toContain('is the spreadsheet itself; name the job file to write.');
  }
  expect(await readFile(join(cwd, 'vendors.csv'), 'utf8')).toBe(sheet);
});
