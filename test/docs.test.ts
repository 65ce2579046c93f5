import { readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { Command } from 'commander';
import ExcelJS from 'exceljs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { DEFAULT_LIMITS } from '../src/files/limits.js';
import { sizeText } from '../src/model/count-text.js';
import { ERROR_CODES, EXIT } from '../src/model/error.js';
import { ISSUE_CODES } from '../src/model/issue.js';
import { exportJob, importJob, reconcileBrakes, reconcileJob } from '../src/model/job.js';
import { GOOD_OUTCOMES, OUTCOMES } from '../src/model/outcome.js';
import { EXPORTABLE } from '../src/model/resource-names.js';
import { compileDateFormat } from '../src/pipeline/map/dates.js';
import { RECONCILE_LIMITS } from '../src/pipeline/plan/brakes.js';
import { summaryText } from '../src/report/console.js';
import { rejectedName } from '../src/report/rejected.js';
import {
  DIFFERENCE_COLUMNS,
  FAULT_COLUMNS,
  ORPHAN_COLUMNS,
  PLAN_COLUMNS,
  REFERENCE_COLUMNS,
  REJECTED_COLUMNS,
  RESULT_COLUMNS,
} from '../src/report/report-lines.js';
import { outcomeWords } from '../src/report/wording.js';
import { resourceSpec } from '../src/resources/registry.js';
import { WRITABLE } from '../src/resources/spec.js';
import { checkJobText } from '../src/runs/job-file.js';
import { PART_SIZE } from '../src/runs/rows/dispatch.js';
import { lastDue, nextDue } from '../src/runs/schedule/slots.js';
import { SETTINGS, type SettingRow } from '../src/runs/settings.js';
import { parseAddress } from '../src/runs/settings-address.js';
import { FAULT_ACTIONS } from '../src/sandbox/fault.js';
import { claimedName } from '../src/worker/inbox/claim.js';
import { isIgnored } from '../src/worker/inbox/folders.js';
import { DATA_LIMITS } from '../src/worker/jobs/data.js';
import { cli } from './cli/fake-io.js';
import { type Desk, openDesk } from './support/desk.js';
import { fieldTable, roundTripText } from './support/resource-tables.js';

/**
 * The pages against the program, both ways. Tables between markers are written by `npx vitest run test/docs.test.ts -u`.
 * Long, because everything here reads the same pages with the same few readers of Markdown.
 */

const FOLDERS = ['tutorials', 'reference', 'operate', 'design'];
/** Paths and texts of README, CONTRIBUTING and all below docs. */
const pages = new Map<string, string>();
let all: string;
let program: Command;

beforeAll(async () => {
  const docs = (await readdir('docs', { recursive: true })).filter((name) => name.endsWith('.md')).sort();
  for (const path of ['README.md', 'CONTRIBUTING.md', ...docs.map((name) => `docs/${name.replaceAll(sep, '/')}`)])
    pages.set(path, await readFile(path, 'utf8'));
  all = [...pages.values()].join('\n');
  program = await commandTree();
});

describe('the pages', () => {
  it('are short, and each is in the index', () => {
    expect(Buffer.byteLength(page('README.md'))).toBeLessThanOrEqual(16_384);
    expect(Buffer.byteLength(page('docs/for-people.md'))).toBeLessThanOrEqual(4_096);
    const index = 'docs/README.md';
    const linked = linksOf(page(index)).map((target) => join('docs', target));
    for (const [path, text] of pages) {
      expect(Buffer.byteLength(text), path).toBeLessThanOrEqual(40_960);
      expect(text.match(/^# .*$/m)?.index, `${path} begins with its title`).toBe(0);
      if (path.startsWith('docs/') && path !== index) expect(linked, path).toContain(path);
    }
  });

  it('lie in the tree, and nowhere else', async () => {
    const root = (await readdir('.')).filter((name) => name.endsWith('.md'));
    expect(root.sort()).toEqual(['CHANGELOG.md', 'CONTRIBUTING.md', 'README.md', 'SECURITY.md']);
    const folders = (await readdir('docs', { withFileTypes: true })).filter((entry) => entry.isDirectory());
    expect(folders.map(({ name }) => name).sort()).toEqual([...FOLDERS].sort());
    for (const path of pages.keys()) expect(path.split('/').length, path).toBeLessThanOrEqual(3);
  });

  it('speak to people without a command line, where they are for them', () => {
    const text = page('docs/for-people.md');
    expect(text).not.toMatch(/```|rowferry [a-z]+ |--[a-z]|ROWFERRY_/);
    const named = firstCells(text).flatMap((cell) => cell.split(', '));
    expect(named).toEqual(expect.arrayContaining([...OUTCOMES]));
    const reports = tableRows(section('Reports')).flatMap(([first = '']) => codeIn(first));
    for (const name of codeIn(text).filter((one) => /^[a-z]+\.(?:html|csv|xlsx)$/.test(one)))
      expect(reports).toContain(name);
  });
});

describe('generated tables', () => {
  it('are what the source says (-u writes them anew)', async () => {
    const made = new Map<string, string>();
    for (const [name, text] of Object.entries(generated())) {
      const between = new RegExp(`(<!-- generated: ${name} -->\n)[\\s\\S]*?(<!-- end of ${name} -->)`);
      const [path, ...others] = [...pages.keys()].filter((one) => between.test(page(one)));
      expect(others, `${name} is there once`).toEqual([]);
      const old = made.get(path ?? '') ?? page(path ?? `markers of ${name}`);
      made.set(
        path!,
        old.replace(between, (_, start: string, end: string) => `${start}\n${text}\n\n${end}`),
      );
    }
    for (const [path, text] of made) await expect(text).toMatchFileSnapshot(`../${path}`);
  });

  it('name every field of every resource', () => {
    for (const name of WRITABLE) {
      const table = between(`<!-- generated: ${name} -->`, `<!-- end of ${name} -->`);
      expect(firstCells(table)).toEqual(resourceSpec(name).fields.map((field) => field.name));
    }
  });
});

describe('commands', () => {
  it('are all in the pages, and all that they name exist', () => {
    const names = leaves(program).map(fullName);
    for (const name of names) expect(all, name).toContain(name);
    const mentioned = [...all.matchAll(/`rowferry ([a-z]+(?: [a-z]+)?)/g)].map((match) => match[1]!);
    expect(mentioned.length).toBeGreaterThan(10);
    for (const words of mentioned) {
      const [first = '', second] = words.split(' ');
      const command = program.commands.find((one) => one.name() === first);
      expect(command, `rowferry ${words}`).toBeDefined();
      if (command?.commands.length && second)
        expect(
          command.commands.map((one) => one.name()),
          `rowferry ${words}`,
        ).toContain(second);
    }
  });

  it('have all their flags there, and every flag there is one of them', () => {
    const flags = new Set([program, ...leaves(program)].flatMap((one) => one.options.map((option) => option.long)));
    flags.add('--help');
    for (const flag of flags) expect(all).toContain(`${flag}`);
    const mentioned = new Set(ours().match(/(?<=[\s`([|])--[a-z][a-z-]+/g));
    expect(mentioned.size).toBeGreaterThan(20);
    expect([...mentioned].filter((flag) => !flags.has(flag))).toEqual([]);
  });

  it('in code blocks and in running text can be parsed', async () => {
    const blocks = codeBlocks('(?:sh|text)', all);
    const lines = [...blocks.join('').matchAll(/^ *((?:npx )?rowferry [^\n]*)/gm)].map((match) => match[1]!);
    const inline = [...all.matchAll(/`(rowferry [^`]+)`/g)].map((match) => match[1]!);
    expect(lines.length).toBeGreaterThan(8);
    for (const line of [...lines, ...inline]) {
      const argv = shellWords(line).slice(line.startsWith('npx ') ? 2 : 1);
      // A command in running text may be named without what it takes.
      const named = line.split(' ').length <= 3 || leaves(program).map(fullName).includes(line);
      const bare = inline.includes(line) && !line.includes('-') && named;
      if (!bare) await expect(parsed(argv), line).resolves.toBe(true);
    }
    await expect(parsed(['import', 'a.csv', '--jop', 'x'])).rejects.toThrow('--jop');
  });

  it('have the exit codes that the table lists', () => {
    expect(firstCellsOf('Exit codes').map(Number)).toEqual(Object.values(EXIT));
  });

  it('has the fault actions of the sandbox', () => {
    const sentence = /^Actions: (.*)\.$/m.exec(all)?.[1] ?? '';
    expect([...sentence.matchAll(/`([a-z_]+)`/g)].map((match) => match[1])).toEqual(FAULT_ACTIONS);
  });
});

describe('settings, job files and codes', () => {
  it('names every variable, and none that does not exist', () => {
    const mentioned = new Set(ours().match(/ROWFERRY_[A-Z_]+[A-Z](?![A-Z_…])/g));
    const names = SETTINGS.map((row): string => row.name);
    const inFile = (name: string) => SETTINGS.some((row) => row.secret && `${row.name}_FILE` === name);
    expect([...mentioned].filter((name) => names.includes(name) || !inFile(name)).sort()).toEqual(names.sort());
  });

  it('names every key of a job file, and none that does not exist', () => {
    const keys = keysOf(importJob);
    expect(firstCellsOf('Job files').sort()).toEqual(keys.sort());
    expect(keys).toContain('columns.*.required');
  });

  it('states the defaults of a job file as they are', () => {
    const least = { kind: 'import', resource: 'asset', match: { key: 'name' }, columns: { Name: 'name' } };
    const filled = new Map(scalars(importJob.parse(least)));
    for (const given of ['kind', 'resource', 'match.key.0', 'columns.Name']) filled.delete(given);
    expect(filled.size).toBeGreaterThan(10);
    const stated = new Map(tableRows(section('Job files')).map(([key = '', , value = '']) => [key, value]));
    for (const [key, value] of filled) expect(stated.get(`\`${key}\``)?.replaceAll('`', ''), key).toBe(String(value));
  });

  it('names every key of an export job with its default, and none that does not exist', () => {
    expect(firstCellsOf('Export jobs').sort()).toEqual(keysOf(exportJob).sort());
    const stated = new Map(tableRows(section('Export jobs')).map(([key = '', , value = '']) => [key, value]));
    const filled = scalars(exportJob.parse({ kind: 'export', resource: 'asset', schedule: { cron: '0 2 * * *' } }));
    for (const [key, value] of filled.filter(([name]) => !['kind', 'resource', 'schedule.cron'].includes(name)))
      expect(stated.get(`\`${key}\``)?.replaceAll('`', ''), key).toBe(String(value));
    const [intro = ''] = section('Exporting').split('\n| ');
    for (const name of EXPORTABLE) expect(intro, name).toContain(name);
  });

  it('names every key that reconcile jobs add with its default, and none that does not exist', () => {
    expect(firstCellsOf('Reconcile jobs').sort()).toEqual(reconcileKeys().sort());
    const stated = new Map(tableRows(section('Reconcile jobs')).map(([key = '', , value = '']) => [key, value]));
    const least = { kind: 'reconcile', resource: 'asset', match: { key: 'name' }, columns: { Name: 'name' } };
    const filled = new Map(scalars(reconcileJob.parse(least)));
    for (const key of ['apply', 'orphans.action', 'orphans.after', 'read.full_every', 'brakes.same_file'])
      expect(filled.has(key), key).toBe(true);
    for (const [key, value] of filled)
      if (reconcileKeys().includes(key)) expect(stated.get(`\`${key}\``)?.replaceAll('`', ''), key).toBe(String(value));
  });

  it('states the brakes of a reconciliation and their defaults as they are', () => {
    const { min_rows, same_file, unknown_keys } = reconcileBrakes.parse({});
    const defaults = { ...RECONCILE_LIMITS, min_rows: String(min_rows), same_file, unknown_keys };
    const stated = tableRows(section('Brakes of a reconciliation')).map(([name = '', value = '']) => [
      name.replaceAll('`', ''),
      value.replaceAll('`', ''),
    ]);
    expect(Object.fromEntries(stated)).toEqual(defaults);
  });

  it('shows job files that are right, and of each kind every key', () => {
    const jobs = codeBlocks('yaml', all).filter((text) => text.startsWith('kind:'));
    expect(jobs).toHaveLength(7);
    for (const text of jobs)
      expect(checkJobText(text).problems.filter((problem) => problem.severity === 'error')).toEqual([]);
    for (const schema of [importJob, exportJob, reconcileJob]) {
      const own = jobs.filter((text) => text.includes(`kind: ${schema.shape.kind.value}\n`)).join('');
      const keys = schema === reconcileJob ? reconcileKeys() : keysOf(schema);
      for (const key of keys) expect(own, key).toMatch(new RegExp(`\\b${key.split('.').at(-1)}:`));
    }
  });

  it('speaks of no code or outcome that does not exist', () => {
    const known = new Set<string>([...Object.keys(ISSUE_CODES), ...OUTCOMES]);
    expect(firstCellsOf('Fault codes')).toEqual(Object.keys(ISSUE_CODES));
    expect(firstCellsOf('Outcomes')).toEqual([...OUTCOMES]);
    const words = [...all.matchAll(/`((?:rule|reference|number|duplicate|value|outcome|not|ambiguous)_[a-z_]+)`/g)];
    expect(words.length).toBeGreaterThan(5);
    for (const [, word] of words) expect(known, word).toContain(word);
  });

  it('lists the tokens of date formats', () => {
    const refusal = compileDateFormat('Q');
    const tokens =
      String(refusal)
        .match(/(?<=use ).*/)?.[0]
        .match(/[A-Za-z]+/g) ?? [];
    expect(firstCellsOf('Dates').sort()).toEqual(tokens.filter((token) => token !== 'or').sort());
    for (const token of ['yyyy-MM-dd', 'd MMM yyyy', "dd/MM/yy h:mm a 'UTC'"]) {
      expect(typeof compileDateFormat(token)).toBe('object');
    }
  });

  it('states the limits of files as they are', () => {
    const table = section('File formats and limits');
    const { columns, cellCharacters, zipEntries, ratio, ...sizes } = DEFAULT_LIMITS;
    for (const count of [columns, cellCharacters, zipEntries, ratio])
      expect(table).toContain(`| ${count.toLocaleString('en-US')} |`);
    for (const name of ['recordBytes', 'unpackedBytes', 'sharedStringBytes', 'gzippedWorkbookBytes'] as const)
      expect(table, name).toContain(`| ${sizeText(sizes[name])} |`);
    expect(table).toContain(sizeText(sizes.ratioFromBytes));
  });
});

describe('reports', () => {
  it('have the columns that the table lists', () => {
    const rows = tableRows(section('Reports'));
    rows.push(...tableRows(section('What a reconciliation leaves behind')));
    const columnsOf = (file: string) => columnsIn(rows, file);
    expect(columnsOf('differences.csv')).toEqual([...DIFFERENCE_COLUMNS]);
    expect(columnsOf('orphans.csv')).toEqual([...ORPHAN_COLUMNS]);
    expect(columnsOf('results.csv')).toEqual([...RESULT_COLUMNS]);
    expect(columnsOf('faults.csv')).toEqual([...FAULT_COLUMNS]);
    expect(columnsOf('references.csv')).toEqual([...REFERENCE_COLUMNS]);
    expect(columnsOf('plan.csv')).toEqual([...PLAN_COLUMNS]);
    for (const format of ['csv', 'xlsx', 'ndjson'] as const)
      expect(columnsOf(rejectedName(format))).toEqual([...REJECTED_COLUMNS]);
  });

  it('are the files and keys that a run leaves behind', async () => {
    const desk = await openDesk({ seed: 'demo' });
    try {
      const file = await desk.file(
        's.csv',
        'Name,City\nNew supplier,Ghent\nAcme Computers,Ghent\n,Ghent\n\nSource: register,\n',
      );
      const { summary, reportDir } = await desk.import(file, {
        kind: 'import',
        resource: 'supplier',
        match: { key: 'name' },
        columns: { Name: 'name', City: 'city' },
      });
      const rows = tableRows(section('Reports')).map(([first = '']) =>
        [...first.matchAll(/`([^`]+)`/g)].map((match) => match[1]!),
      );
      const named = rows.flat();
      for (const report of summary.reports) expect(named).toContain(report);
      expect(summary.reports).toContain('before.ndjson');
      const keys = named.filter(
        (name) =>
          /^[a-z_]+$/.test(name) &&
          !['reason', 'verdict', 'losses', 'references', 'append', 'existing', 'repeated', 'no_record'].includes(name),
      );
      expect(keys.sort()).toEqual(Object.keys(summary).sort());
      const before = JSON.parse((await readFile(join(reportDir, 'before.ndjson'), 'utf8')).split('\n')[0]!) as object;
      expect(Object.keys(before)).toEqual(columnsIn(tableRows(section('Reports')), 'before.ndjson'));
    } finally {
      await desk.close();
    }
  });
});

describe('the demo', () => {
  it('shows what it comes to', async () => {
    const desk = await openDesk({ seed: 'demo' });
    try {
      const { summary } = await desk.import('fixtures/assets-demo.xlsx', 'assets');
      expect(codeBlocks('text', page('README.md'))[0]).toContain(untilRequests(summaryText(summary)));
    } finally {
      await desk.close();
    }
  });
});

describe('the first import', () => {
  it('comes to what it shows', async () => {
    const heading = 'Your first import';
    const [sheet = '', rejected = ''] = blocksOf(heading, 'csv');
    const [job = ''] = blocksOf(heading, 'yaml');
    const [rehearsing = '', importing = '', correcting = ''] = commandsOf(heading).filter((line) =>
      line.startsWith('import '),
    );
    const desk = await openDesk({ seed: 'demo' });
    try {
      await desk.file('vendors.csv', sheet);
      await mkdir(join(desk.dir, 'jobs'));
      await desk.file('jobs/vendors.yaml', job);
      const rehearsed = await runIn(desk, rehearsing, EXIT.needsPerson);
      expect(untilRequests(rehearsed.out)).toContain(blocksOf(heading, 'text')[0]);
      expect(desk.sandbox.commits).toHaveLength(0);
      await runIn(desk, importing, EXIT.needsPerson);
      const path = join(desk.dir, 'reports/rejected.csv');
      const written = await readFile(path, 'utf8');
      expect(written).toBe(rejected);
      await desk.file('reports/rejected.csv', written.replace(',Norwey,', ',Norway,'));
      await runIn(desk, correcting, EXIT.ok);
      expect(desk.sandbox.commits).toHaveLength(3);
      const again = await runIn(desk, importing.replace('reports', 'again'), EXIT.needsPerson);
      expect(again.out).toMatch(/2 {2}unchanged/);
      expect(desk.sandbox.commits).toHaveLength(3);
    } finally {
      await desk.close();
    }
  });
});

describe('the tutorial', () => {
  it('comes to what it shows', async () => {
    const heading = 'Import from the command line';
    const [sheet = '', rejected = ''] = blocksOf(heading, 'csv');
    const [job = ''] = blocksOf(heading, 'yaml');
    const shown = blocksOf(heading, 'text').find((text) => text.startsWith('DRY RUN')) ?? '';
    const desk = await openDesk({ seed: 'demo' });
    try {
      const jobFile = await desk.file('laptops.yaml', job);
      const file = await desk.file('laptops.csv', sheet);
      const rehearsed = await desk.import(file, jobFile, { dryRun: true });
      expect(untilRequests(shown)).toBe(untilRequests(summaryText(rehearsed.summary)));
      const run = await desk.import(file, jobFile);
      expect(run.exitCode).toBe(EXIT.needsPerson);
      const written = await readFile(join(run.reportDir, 'rejected.csv'), 'utf8');
      expect(written).toBe(rejected);
      const corrected = written.replace('Acme Computer,', 'Acme Computers,').replace('about 1300', '1300');
      const again = await desk.import(await desk.file('rejected.csv', corrected), jobFile);
      expect(again.exitCode).toBe(EXIT.ok);
      const once = await desk.import(file, jobFile);
      expect(once.summary.rows).toMatchObject({ unchanged: 2, invalid: 2, created: 0 });
      expect(once.commits).toBe(0);
    } finally {
      await desk.close();
    }
  });
});

describe('the tutorials of export, template and map', () => {
  let desk: Desk;
  const run = async (line: string): Promise<string> => (await runIn(desk, line, EXIT.ok)).out;

  beforeAll(async () => {
    desk = await openDesk({ seed: 'demo' });
  });
  afterAll(() => desk.close());

  it('export, change three cells, import again', async () => {
    const heading = 'Export, change, import again';
    const [exporting = '', rehearsing = ''] = commandsOf(heading);
    const [shown = '', rehearsed = ''] = blocksOf(heading, 'text');
    expect(withoutSeconds(await run(exporting))).toBe(withoutSeconds(shown));

    const path = join(desk.dir, 'contracts.xlsx');
    const book = new ExcelJS.Workbook();
    await book.xlsx.readFile(path);
    const changes = [...section(heading).matchAll(/`([A-Z]\d+)` to ([\d.-]*\d)/g)];
    expect(changes).toHaveLength(3);
    for (const [, cell = '', value = ''] of changes)
      book.worksheets[0]!.getCell(cell).value = value.includes('-') ? new Date(`${value}T00:00:00Z`) : Number(value);
    await book.xlsx.writeFile(path);

    expect(await run(rehearsing)).toContain(rehearsed);
    const [latest = ''] = (await readdir(join(desk.home, 'runs'))).sort().reverse();
    const plan = await readFile(join(desk.home, 'runs', latest, 'plan.csv'), 'utf8');
    expect(plan.replaceAll('\r\n', '\n')).toBe(blocksOf(heading, 'csv')[0]);
    const before = desk.sandbox.commits.length;
    await run(rehearsing.replace(' --dry-run', ''));
    expect(desk.sandbox.commits.length - before).toBe(2);
    expect(await run(rehearsing.replace(' --dry-run', ''))).toContain('All 46 rows are in the service already');
    expect(desk.sandbox.commits.length - before).toBe(2);
  });

  it('a blank workbook, where the contracts have told their customers', async () => {
    const heading = 'A blank workbook to fill in';
    expect(await run(commandsOf(heading)[0]!)).toBe(blocksOf(heading, 'text')[0]);
  });

  it('a job file from a spreadsheet', async () => {
    const heading = "From somebody's spreadsheet to a job file";
    const [mapping = '', ...others] = commandsOf(heading).map((line) =>
      line.replace('fixtures/', `${resolve('fixtures')}/`).replaceAll('jobs/', ''),
    );
    const [table = '', part = ''] = blocksOf(heading, 'text');
    expect(await run(mapping)).toBe(table.replaceAll('jobs/', ''));
    const job = await readFile(join(desk.dir, 'vertraege.yaml'), 'utf8');
    expect(job).toContain(part);
    await desk.file('vertraege.yaml', job.replace(/^( *)archiviert: archived\n/m, '$&$1ruhend: suspended\n'));
    const [checking = '', rehearsing = ''] = others;
    await run(checking);
    expect(await run(rehearsing.replace('--job vertraege', '--job vertraege.yaml'))).toContain(
      'All 6 rows would go in.',
    );
  });

  it('summaries of exports have the keys that are listed', async () => {
    const { summary } = await desk.export('user', 'users.csv');
    const named = tableRows(section('Complete although records change')).map(([first]) => first);
    const listed = named.flatMap((text = '') => /^`(\w+)`$/.exec(text)?.[1] ?? []);
    const common = tableRows(section('Reports')).map(([first = '']) => first);
    const own = Object.keys(summary).filter((key) => !common.some((cell) => cell.includes(`\`${key}\``)));
    expect(own.sort()).toEqual(listed.sort());
  });
});

describe('the tutorial of the nightly ERP', () => {
  let desk: Desk;
  const command = (heading: string, at = 0) =>
    commandsOf(heading)
      [at]!.replace('fixtures/', `${resolve('fixtures')}/`)
      .replace('--job ', '--jobs-dir jobs --job ');
  const night = async (line: string, code: number, shown?: string) => {
    const { out, err } = await runIn(desk, line, code);
    const text = shown?.trimEnd() ?? '';
    expect(out.slice(0, text.length), err).toBe(text);
  };
  const latest = async () => (await readdir(join(desk.home, 'runs'))).sort().at(-1) ?? '';
  const shownIn = (heading: string) => blocksOf(heading, 'text')[0];

  beforeAll(async () => {
    desk = await openDesk({ seed: 'demo' });
    const [job = ''] = blocksOf('The job that compares', 'yaml');
    expect(reconcileJob.parse(parse(job))).toEqual(
      reconcileJob.parse(parse(await readFile('jobs/reconcile-assets.yaml', 'utf8'))),
    );
    await mkdir(join(desk.dir, 'jobs'));
    await desk.file('jobs/reconcile-assets.yaml', job);
  });
  afterAll(() => desk.close());

  it('comes to what it shows, night after night', async () => {
    await night(command('The first night: look'), EXIT.needsPerson, shownIn('The first night: look'));
    expect(desk.sandbox.commits).toHaveLength(0);
    await night(command('Apply'), EXIT.needsPerson, '6 records were put right; 2 were created;');
    await night(command('Apply', 1), EXIT.needsPerson, shownIn('Apply'));

    const wednesday = (await readFile('fixtures/erp-assets-monday.csv', 'utf8'))
      .split('\n')
      .filter((line) => !line.includes('SN-10009'))
      .map((line) => line.replace(';München;', ';Munich;'));
    await desk.file('wednesday.csv', wednesday.join('\n'));
    const [stopped, approved] = blocksOf('A night that is stopped', 'text');
    const before = desk.sandbox.commits.length;
    await night(command('A night that is stopped', 1), EXIT.braked, stopped);
    expect(desk.sandbox.commits).toHaveLength(before);
    await night(command('A night that is stopped', 2), EXIT.needsPerson, approved);

    const last = await latest();
    const { out } = await runIn(desk, `runs show ${last} --json`, EXIT.ok);
    const summary = JSON.parse(out) as Record<string, object>;
    const rows = tableRows(section('What a reconciliation leaves behind'));
    const named = [...tableRows(section('Reports')), ...rows].flatMap(([first = '']) =>
      [...first.matchAll(/`([^`]+)`/g)].map((match) => match[1]!),
    );
    for (const name of [...Object.keys(summary), ...(summary['reports'] as string[])]) expect(named).toContain(name);
    const facts = rows.find(([first]) => first === '`reconcile`')?.[1] ?? '';
    expect([...facts.matchAll(/`([^`]+)`/g)].map((match) => match[1]).sort()).toEqual(
      Object.keys(summary['reconcile']!).sort(),
    );

    const taken = 'Take a night back';
    await night(command(taken), EXIT.ok, 'DRY RUN, nothing was written. All 8 records would be put back.');
    await night(command(taken, 2).replace('RUN', last), EXIT.ok, shownIn(taken));
    expect(desk.sandbox.commits).toHaveLength(before + 16);
  });
});

describe('the worker', () => {
  it('is asked at addresses that there are', () => {
    for (const path of ['/healthz', '/readyz', '/metrics']) {
      expect(firstCellsOf('Health, readiness, metrics')).toContain(path);
    }
  });

  it('has alerts on metrics that there are', async () => {
    const rules = await readFile('examples/rowferry-alerts.yaml', 'utf8');
    expect(parse(rules)).toMatchObject({ groups: [{ name: 'rowferry' }] });
    const metrics = firstCells(section('Metrics'));
    const named = new Set(rules.match(/\browferry_[a-z_]+/g));
    expect(named.size).toBeGreaterThan(5);
    for (const name of named) expect(metrics, name).toContain(name);
  });

  it('has a dashboard on metrics that there are', async () => {
    const text = await readFile('examples/rowferry-dashboard.json', 'utf8');
    const { panels } = JSON.parse(text) as { panels: { title: string; targets: { expr: string }[] }[] };
    expect(panels.length).toBeGreaterThan(10);
    const metrics = firstCells(section('Metrics'));
    for (const { title, targets } of panels)
      for (const [name] of targets.flatMap(({ expr }) => [...expr.matchAll(/\browferry_[a-z_]+/g)]))
        expect(metrics, title).toContain(name.replace(/_bucket$/, ''));
  });

  it('leaves those names alone that are listed', () => {
    const line = /^- \*\*Names that are left alone:\*\* (.*?)\. Folders/m.exec(all)?.[1] ?? '';
    const names = [...line.matchAll(/`([^`]+)`/g)].map((match) => match[1]!.replace('…', 'x'));
    expect(names.length).toBeGreaterThan(8);
    for (const name of names) expect(isIgnored(name), name).toBe(true);
    expect(isIgnored('assets.xlsx')).toBe(false);
    expect(claimedName('rejected.csv')).toBe('dropped-rejected.csv');
  });

  it('runs a night once, when the table says', () => {
    const [nightly = ''] = blocksOf('Schedules', 'yaml');
    const { schedule } = importJob.parse(parse(nightly));
    const rows = tableRows(section('Schedules')).filter(([date]) => /^`\d{4}-/.test(date ?? ''));
    expect(rows).toHaveLength(4);
    for (const [date = '', , due = ''] of rows) {
      const day = date.replaceAll('`', '');
      const at = Date.parse(/`([^`]+)`/.exec(due)?.[1] ?? '');
      expect(schedule && nextDue(schedule, at - 3_600_000 * 12)).toEqual({ key: `${day}T0230`, dueAt: at });
      expect(schedule && lastDue(schedule, at + 3_600_000 * 12)?.key).toBe(`${day}T0230`);
    }
  });

  it('reads addresses of the forms that are listed, and tells no password', () => {
    const examples = tableRows(section('Which queue'))
      .flatMap(([, text = '']) => [...text.matchAll(/`([^`]+)`/g)].map((one) => one[1]!))
      .filter((text) => text.includes('://') && !text.includes('…'));
    expect(examples.length).toBeGreaterThanOrEqual(6);
    for (const example of examples) expect(parseAddress(example).displayUrl).not.toMatch(/password|word/);
  });

  it('takes as many rows in a job as is said', () => {
    const rows = DATA_LIMITS.rows.toLocaleString('en-US');
    const text = page('docs/integrate.md');
    expect(text).toContain(`up to ${rows} objects`);
    expect(text).toContain(`up to ${DATA_LIMITS.columns.toLocaleString('en-US')} headings`);
    expect(text).toContain(`${DATA_LIMITS.bytes / 1024 ** 2} MB`);
    expect(section('Several workers, several machines')).toContain(`parts of ${PART_SIZE}`);
  });
});

describe('the project', () => {
  it('has the scripts and the packages that are named', async () => {
    const manifest = JSON.parse(await readFile('package.json', 'utf8')) as Record<
      'scripts' | 'dependencies' | 'devDependencies',
      Record<string, string>
    >;
    const scripts = [...all.matchAll(/`?npm run ([a-z0-9:]+)/g)].map((match) => match[1]!);
    expect(scripts).toContain('demo');
    for (const script of [...scripts, 'test']) expect(Object.keys(manifest.scripts)).toContain(script);
    const named = tableRows(section('Dependencies')).flatMap(([first = '']) =>
      [...first.matchAll(/`([^`]+)`/g)].map((match) => match[1]!),
    );
    const packages = [...Object.keys(manifest.dependencies), ...Object.keys(manifest.devDependencies)];
    expect(named.sort()).toEqual(packages.sort());
  });

  it('has every file and folder that is named', async () => {
    const map = section('A map of the source');
    const paths = [
      ...all.matchAll(/`((?:src|test|jobs|fixtures|build|docs|schemas|examples|\.ci)(?:\/[\w./-]+)?)`/g),
    ].map((match) => match[1]!);
    expect(paths.length).toBeGreaterThan(25);
    // A reader of the tutorials writes these.
    const written = new Set(['jobs/laptops.yaml', 'jobs/vendors.yaml', 'jobs/vertraege.yaml']);
    for (const path of paths.filter((one) => !written.has(one))) expect(await exists(path), path).toBe(true);
    const sources = (await readdir('src', { recursive: true })).filter((name) => name.endsWith('.ts'));
    for (const folder of new Set(sources.map((name) => name.split(sep)[0]))) expect(map).toContain(`\`src/${folder}\``);
    for (const entry of await readdir('src/worker', { withFileTypes: true }))
      if (entry.isDirectory()) expect(map).toContain(`\`src/worker/${entry.name}\``);
    for (const folder of ['jobs', 'fixtures', 'test', 'build', 'docs', 'schemas', 'examples'])
      expect(map).toContain(`\`${folder}\``);
  });

  it('has the targets of every link', async () => {
    const others = await Promise.all(
      ['CHANGELOG.md', 'SECURITY.md'].map(async (path) => [path, await readFile(path, 'utf8')] as const),
    );
    for (const [path, text] of [...pages, ...others]) {
      if (path === 'README.md') expect(linksOf(text).length).toBeGreaterThan(15);
      for (const target of linksOf(text).filter((one) => !/^https?:/.test(one))) {
        const [file = '', anchor] = target.split('#');
        const to = file === '' ? path : join(dirname(path), file);
        expect(await exists(to), `${path}: ${target}`).toBe(true);
        if (anchor !== undefined) expect(anchorsOf(pages.get(to) ?? ''), `${path}: ${target}`).toContain(anchor);
      }
    }
  });

  it('lists its own version in the changelog, and speaks of no machine', async () => {
    const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string };
    const changes = await readFile('CHANGELOG.md', 'utf8');
    expect(changes).toContain(`## ${version}`);
    for (const text of [all, changes]) expect(text).not.toMatch(/(?<![\w.])\/(?:work|tmp|root|home|Users)\//);
  });
});

function generated(): Record<string, string> {
  const description: { paths: Record<string, Record<string, { summary: string }>> } = JSON.parse(
    readFileSync('schemas/openapi.json', 'utf8'),
  );
  const commands = leaves(program);
  return {
    commands: table(
      ['Command', 'What it does'],
      commands.map((one) => [`\`${usage(one)}\``, one.description()]),
    ),
    flags: table(['Command', 'Flag', 'Meaning'], [...flagRows(program), ...commands.flatMap(flagRows)]),
    settings: settingsTable(SETTINGS.filter(({ advanced }) => !advanced)),
    'advanced settings': settingsTable(SETTINGS.filter(({ advanced }) => advanced)),
    outcomes: table(
      ['Outcome', 'What it means', 'What you do'],
      OUTCOMES.map((kind) => {
        const { meaning, next } = outcomeWords(kind, false);
        return [`\`${kind}\``, meaning, next ?? (GOOD_OUTCOMES.has(kind) ? 'Nothing.' : '')];
      }),
    ),
    'error codes': table(
      ['`code`', 'What it means'],
      Object.entries(ERROR_CODES).map(([code, meaning]) => [`\`${code}\``, meaning]),
    ),
    'fault codes': Object.keys(ISSUE_CODES)
      .map((code) => `\`${code}\``)
      .join(', '),
    operations: table(
      ['Operation', 'What it does'],
      Object.entries(description.paths).flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, { summary }]) => [`\`${method.toUpperCase()} ${path}\``, summary]),
      ),
    ),
    ...Object.fromEntries(WRITABLE.map((name) => [name, fieldTable(resourceSpec(name))])),
    ...Object.fromEntries(WRITABLE.map((name) => [`${name} in updates`, roundTripText(resourceSpec(name))])),
  };
}

function settingsTable(rows: readonly SettingRow[]): string {
  return table(
    ['Variable', 'Meaning', 'Default', 'Flag'],
    rows.map((row) => [
      `\`${row.name}\``,
      row.meaning,
      row.fallback === '' ? 'none' : row.fallback.includes(' ') ? row.fallback : `\`${row.fallback}\``,
      row.flag ? `\`${row.flag}\`` : '',
    ]),
  );
}

/** Own flags one a row; those that stand for a setting in one, since the table of settings says what they mean. */
function flagRows(command: Command): string[][] {
  const isSetting = ({ long }: { long?: string | undefined }) => SETTINGS.some((row: SettingRow) => row.flag === long);
  const settings = command.options.filter(isSetting).map(({ long }) => `\`${long}\``);
  return [
    ...command.options
      .filter((option) => !isSetting(option))
      .map((option) => [`\`${option.flags}\``, option.description]),
    ...(settings.length > 0 ? [[settings.join(', '), '[settings](settings.md)']] : []),
  ].map((cells, i) => [i === 0 ? `\`${fullName(command)}\`` : '', ...cells]);
}

function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  return [headings, headings.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`)
    .join('\n');
}

/** The commands as the program builds them; its parsing is held back, and the tree it would parse with is taken. */
async function commandTree(): Promise<Command> {
  let tree: Command | undefined;
  const spy = vi.spyOn(Command.prototype, 'parseAsync').mockImplementation(async function (this: Command) {
    tree = this;
    return this;
  });
  await cli(['runs'], { cwd: '.' });
  spy.mockRestore();
  expect(tree).toBeInstanceOf(Command);
  return tree!;
}

/** Whether the command line is one of the program's; nothing is carried out. Rejects with what commander says. */
async function parsed(argv: readonly string[]): Promise<boolean> {
  const tree = await commandTree();
  let reached = false;
  for (const command of leaves(tree)) {
    command.configureOutput({ writeErr: () => undefined, writeOut: () => undefined });
    command.action(() => {
      reached = true;
    });
  }
  await tree.parseAsync([...argv], { from: 'user' });
  return reached;
}

function leaves(command: Command): Command[] {
  return command.commands.flatMap((one) => {
    // One that does something by itself has flags.
    const own = one.commands.length === 0 || one.options.length > 0;
    return [...(own ? [one] : []), ...leaves(one)];
  });
}

function fullName(command: Command): string {
  return command.parent ? `${fullName(command.parent)} ${command.name()}` : command.name();
}

function usage(command: Command): string {
  const args = command.registeredArguments.map((one) => {
    const name = one.name().toUpperCase();
    return one.required ? name : `[${name}${one.variadic ? '…' : ''}]`;
  });
  return [fullName(command), ...args].join(' ');
}

/** `runs resume last   # a remark` → `runs`, `resume`, `last`; what stands behind a pipe or an arrow is the shell's. */
function shellWords(line: string): string[] {
  const words: string[] = [];
  for (const [, quoted, bare] of line.matchAll(/"([^"]*)"|(\S+)/g)) {
    if (/^[|<>&]/.test(bare ?? '') || bare?.startsWith('#')) break;
    words.push(quoted ?? bare ?? '');
  }
  return words;
}

/** Keys of a job file, dotted; `*` stands for a heading. */
function keysOf(schema: unknown, path = ''): string[] {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodOptional) return keysOf(schema.unwrap(), path);
  // What is written is what goes into a transformation.
  if (schema instanceof z.ZodPipe) return keysOf(schema.in, path);
  if (schema instanceof z.ZodObject) {
    return Object.entries(schema.shape).flatMap(([key, value]) => keysOf(value, path === '' ? key : `${path}.${key}`));
  }
  if (schema instanceof z.ZodRecord) {
    const inner = schema.valueType;
    const parts = inner instanceof z.ZodUnion ? inner.options : [inner];
    const full = parts.filter((part: unknown) => part instanceof z.ZodObject);
    return [path, ...full.flatMap((part: unknown) => keysOf(part, `${path}.*`))];
  }
  return [path];
}

/** The plain values of a tree with their dotted paths. */
function scalars(value: unknown, path = ''): [string, unknown][] {
  if (typeof value !== 'object' || value === null) return [[path, value]];
  return Object.entries(value).flatMap(([key, part]) => scalars(part, path === '' ? key : `${path}.${key}`));
}

/** Keys of a reconcile job that no import has. */
function reconcileKeys(): string[] {
  const common = new Set(keysOf(importJob));
  return keysOf(reconcileJob).filter((key) => !common.has(key));
}

/** Columns of a file as a table of reports lists them. */
function columnsIn(rows: readonly (readonly string[])[], file: string): string[] {
  const cell = rows.find(([name]) => name?.includes(`\`${file}\``))?.[1] ?? '';
  return [...cell.matchAll(/`([^`]+)`/g)].map((one) => one[1]!);
}

/** What the pages say of this program, without the commands of others. */
function ours(): string {
  return all
    .replace(/<!-- bench -->[\s\S]*<!-- \/bench -->/, '')
    .replace(/`(?:docker|git|journalctl|node|npm|npx vitest|rclone|sudo)[^`\n]*`/g, '')
    .replace(/^ *(?:docker|git|journalctl|node|npm|npx vitest|rclone|sudo) .*$/gm, '');
}

function page(path: string): string {
  const text = pages.get(path);
  expect(text, path).toBeDefined();
  return text!;
}

/** From the one heading of this title, on any page, to the next one of its level or above. */
function section(title: string): string {
  const found = [...pages.values()].flatMap((text) => {
    const headings = headingsOf(text);
    return headings.flatMap((heading, i) => {
      if (heading.title !== title) return [];
      const next = headings.slice(i + 1).find(({ level }) => level <= heading.level);
      return [text.slice(heading.at, next?.at)];
    });
  });
  expect(found, `sections "${title}"`).toHaveLength(1);
  return found[0]!;
}

/** Headings of a page; a remark in a block of code is none. */
function headingsOf(text: string): { level: number; title: string; at: number }[] {
  const prose = text.replace(/^```[\s\S]*?^```$/gm, (block) => block.replace(/^#/gm, ' '));
  return [...prose.matchAll(/^(#+) (.*)$/gm)].map(({ 1: marks = '', 2: title = '', index: at }) => ({
    level: marks.length,
    title,
    at,
  }));
}

function linksOf(text: string): string[] {
  return [...text.matchAll(/\]\(([^)]+)\)/g)].map((match) => match[1]!);
}

function codeIn(text: string): string[] {
  return [...text.matchAll(/`([^`\n]+)`/g)].map((match) => match[1]!);
}

function between(from: string, to: string): string {
  const start = all.indexOf(from) + from.length;
  return all.slice(start, all.indexOf(to, start));
}

/** Code blocks of a kind in a section. */
function blocksOf(heading: string, kind: string): string[] {
  return codeBlocks(kind, section(heading));
}

/** Lines of the shell blocks of a section, as the program gets them. */
function commandsOf(heading: string): string[] {
  return blocksOf(heading, 'sh').flatMap((text) =>
    text
      .trim()
      .split('\n')
      .map((line) => line.replace(/^npx rowferry /, '')),
  );
}

/** Runs a command line against a desk's sandbox, in its folder. */
async function runIn(desk: Desk, line: string, code: number): Promise<{ out: string; err: string }> {
  const env = {
    ROWFERRY_API_URL: desk.sandbox.url,
    ROWFERRY_API_TOKEN: 'test-token',
    ROWFERRY_HOME: desk.home,
    ROWFERRY_LOG_LEVEL: 'silent',
  };
  // Job files and what is shown go by the folder of the process, as on a command line.
  const back = process.cwd();
  process.chdir(desk.dir);
  const ran = await cli(shellWords(line), { cwd: desk.dir, env }).finally(() => process.chdir(back));
  expect(ran.code, `${line}: ${ran.err}`).toBe(code);
  return ran;
}

/** What a terminal shows at the end of a run, up to the line that tells seconds and requests. */
function untilRequests(text: string): string {
  return text.slice(0, text.indexOf(' requests (')).replace(/\n[^\n]*$/, '');
}

/** What an export shows, but for the time it took. */
function withoutSeconds(text: string): string {
  return text.replace(/^[\d.]+ s, /m, '');
}

/** Contents of the code blocks of a kind. */
function codeBlocks(kind: string, text: string): string[] {
  return [...text.matchAll(new RegExp(`^\`\`\`${kind}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map((match) => match[1]!);
}

/** Rows of all tables in a text, without their headings; a pipe within a cell is written `\|`. */
function tableRows(text: string): string[][] {
  const lines = text.split('\n');
  return lines
    .filter((line, i) => line.startsWith('|') && !/^\| ?-{3}/.test(line) && !/^\| ?-{3}/.test(lines[i + 1] ?? ''))
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

/** First cells of the tables of a text, without code marks. */
function firstCells(text: string): string[] {
  return tableRows(text).map(([first = '']) => (/^`[^`]*`$/.test(first) ? first.slice(1, -1) : first));
}

function firstCellsOf(heading: string): string[] {
  // Sub-sections have tables of their own.
  const text = section(heading);
  const [, sub] = headingsOf(text);
  return firstCells(text.slice(0, sub?.at));
}

/** Anchors of the headings of a page, as the common renderers make them. */
function anchorsOf(text: string): string[] {
  return headingsOf(text).map(({ title }) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N} -]/gu, '')
      .replaceAll(' ', '-'),
  );
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
