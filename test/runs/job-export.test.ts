import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exportColumns } from '../../src/export/columns.js';
import { RunError } from '../../src/model/error.js';
import { EXPORTABLE } from '../../src/model/resource-names.js';
import { checkJobText, exportRequest, inlineJob, loadJob, problemLine } from '../../src/runs/job-file.js';

/** `line:column message` of every problem; warnings say so. */
function problemsOf(text: string): string[] {
  return checkJobText(text).problems.map((problem) => problemLine('j', problem).slice(2));
}

const none = () => undefined;

const GOOD = 'kind: export\nresource: asset\noutput: exports/assets-{date}.xlsx\n';

/** What stands below the good job, and what is said of it. */
const ADDED: readonly [lines: string, ...expected: string[]][] = [
  ['outptu: a', '4:1 unknown key `outptu`, did you mean `output`?'],
  [
    'match: { key: name }\nsource: {}',
    '4:1 `match` belongs to import jobs; known in an export job: kind, resource, company, output',
    '5:1 `source` belongs to import jobs',
  ],
  ['scope: {}', '4:1 `scope` belongs to reconcile jobs'],
  ['company: 0', '4:10 `company` is "0"; it must be 1 or more'],
  ['columns: { A: name }', '4:10 `columns` must be a list, not a mapping; in an export'],
  ['columns: []', '4:10 `columns` is an empty list'],
  ['columns: [name, serial_numbr]', '4:17 asset records show no "serial_numbr". Did you mean "serial_number"?'],
  ['filter: { manufacturr: Dell }', '4:11 filter: asset records show no "manufacturr". Did you'],
  ['filter: { inventory_no: 4 }', '4:11 filter: "inventory_no" can be written'],
  [
    'filter: { warranty_type: [oem, oemm], service_start_date: tomorrow, req: all }',
    '4:32 filter: "warranty_type": "oemm" must be one of none, oem',
    '4:59 filter: "service_start_date": "tomorrow"',
    '4:69 filter: asset records show no "req"',
  ],
  ['filter: [a=b]', '4:9 `filter` must be a mapping of keys to values, not a list'],
  ['filter: { name: { is: x } }', '`filter.name` must be'],
  ['filter: { name: [] }', '4:17 `filter.name` is an empty list'],
  ['filter: { "name=x": y }', '4:11 filter: asset records show no "name=x". Did you mean "name"'],
  ['order: -creatd_date', '4:8 asset records show no "creatd_date".'],
  [
    'schedule: { cron: "0 2 * *", timezone: Europe/Berln, filee: a.csv, file: a.txt }',
    '4:19 the cron expression',
    'did you mean `Europe/Berlin`?',
    'unknown key `filee`, did you mean `file`?',
    '`schedule.file` is "a.txt"; .txt is not written',
  ],
];

/** Each job is the good one with a line more, or one changed; the fault stands where the number says. */
const FAULTS: readonly [title: string, yaml: string, ...expected: string[]][] = [
  ['a misspelt kind', GOOD.replace('export', 'exprt'), '1:7 `kind` is "exprt"', 'did you mean `export`?'],
  ['no kind', GOOD.replace('kind: export\n', ''), '1:1 `kind` is missing; write import, export or reconcile'],
  ['no resource', 'kind: export\n', '1:1 `resource` is missing; write asset, contract'],
  [
    'an unknown resource',
    GOOD.replace('asset', 'licence'),
    '2:11 `resource` is "licence"; it must be one of: asset, contract',
    'did you mean `license`?',
  ],
  [
    'a form of a supplier',
    `${GOOD.replace('asset', 'supplier')}columns: [form.A.B]\n`,
    '4:11 `form.A.B`: a supplier has no custom forms',
  ],
  ['another format', GOOD.replace('xlsx', 'xls'), '3:9 `output` is "exports/assets-{date}.xls"; .xls is not written'],
  ['no format', GOOD.replace('.xlsx', ''), '3:9 `output` is "exports/assets-{date}"; the name has no ending'],
  ['a hidden file', GOOD.replace('assets-', '.a'), 'the name of the file must not begin with a dot'],
  ['another placeholder', GOOD.replace('{date}', '{day}'), '3:9 `output` is "exports/assets-{day}.xlsx"; {day} has no'],
  [
    'editable records that can only be read',
    `${GOOD.replace('asset', 'user')}editable: true\n`,
    '4:1 `editable` is for asset, contract, supplier, customer: a user can only be read',
  ],
  [
    'a schedule without a file',
    'kind: export\nresource: asset\nschedule: { cron: "0 2 * * *" }\n',
    '3:1 the job has a schedule and names no file to write',
  ],
  ...ADDED.map(([lines, ...expected]): [string, string, ...string[]] => [lines, `${GOOD}${lines}\n`, ...expected]),
];

describe('an export job', () => {
  it.each(FAULTS)('with %s is refused', (_, yaml, ...expected) => {
    const { job, problems } = checkJobText(yaml);
    const lines = problems.map((problem) => problemLine('j', problem).slice(2));
    expect(job).toBeUndefined();
    for (const words of expected) {
      const found = lines.some((line) => (/^\d/.test(words) ? line.startsWith(words) : line.includes(words)));
      expect(found, `${words}\n${lines.join('\n')}`).toBe(true);
    }
  });

  it('needs no more than a kind and a resource, any that can be read', () => {
    for (const resource of EXPORTABLE) {
      const { kind, job, problems } = checkJobText(`kind: export\nresource: ${resource}\n`);
      expect([kind, job, problems]).toEqual(['export', { kind: 'export', resource, filter: {}, editable: false }, []]);
    }
  });

  it('may name fields, aliases, headings, and custom fields', () => {
    const job = `${GOOD}columns: [id, Serial_number, attached_supplier.id, supplier.name, template.2.11, form.Data centre.Rack, created_date]
filter:
  manufacturer_name: Dell
  category.name: [Laptop, ~]
  template.Finance.Cost Centre: 4711
  form.Data centre.Rack: A1
  service_start_date: 2026-01-31
  original_cost: 0.10
  warranty_type: [oem, oem_extended]
order: -original_cost
`;
    expect(problemsOf(job)).toEqual([]);
    expect(problemsOf('kind: export\nresource: license\nfilter: { state: Expired, template.A: x }\n')).toEqual([]);
    expect(problemsOf('kind: export\nresource: customer\ncolumns: [name, _known_from]\n')).toEqual([]);
  });

  it('may name whatever is a heading of its resource', () => {
    const lexicon = { template: none, form: none, idOf: none, nameOf: none };
    for (const resource of EXPORTABLE) {
      const columns = exportColumns(resource, { lexicon, templates: [], forms: [] }).map(({ heading }) => heading);
      const filter = Object.fromEntries(columns.map((name) => [name, null]));
      const job = { kind: 'export', resource, columns, filter };
      expect([resource, problemsOf(JSON.stringify(job))]).toEqual([resource, []]);
      for (const order of columns) expect(problemsOf(JSON.stringify({ ...job, order: `-${order}` }))).toEqual([]);
    }
  });

  it('may name a column twice, and may name a part of a template', () => {
    expect(problemsOf(`${GOOD}columns: [name, id, Name, template.Finance, category]\n`)).toEqual([]);
  });

  it('whatever a person writes, is answered with a job or with problems', async () => {
    const text = await readFile('jobs/export-contracts.yaml', 'utf8');
    const bit = fc.constantFrom(
      '',
      ' ',
      '\n',
      ':',
      '"',
      '{',
      ']',
      '- ',
      '&a ',
      '*a',
      '~',
      '\t',
      '0',
      '{date}',
      '\u0000',
    );
    fc.assert(
      fc.property(fc.nat(text.length), fc.nat(12), bit, (at, gone, put) => {
        const { job, problems } = checkJobText(text.slice(0, at) + put + text.slice(at + gone));
        expect(job === undefined).toBe(problems.some(({ severity }) => severity === 'error'));
      }),
      { numRuns: 150 },
    );
  });
});

describe('jobs of two kinds in one folder', () => {
  let jobsDir: string;
  beforeEach(async () => {
    jobsDir = await mkdtemp(path.join(tmpdir(), 'rowferry-jobs-'));
    await writeFile(path.join(jobsDir, 'out.yaml'), GOOD);
    await writeFile(
      path.join(jobsDir, 'in.yaml'),
      'kind: import\nresource: asset\nmatch: { key: name }\ncolumns: { N: name }\n',
    );
    await writeFile(path.join(jobsDir, 'bad.yaml'), `${GOOD}colums: [name]\n`);
  });
  afterEach(() => rm(jobsDir, { recursive: true, force: true }));

  it('are loaded each as what it is; the other way says how to run it', async () => {
    expect(await loadJob('export', 'out', { jobsDir })).toMatchObject({
      name: 'out',
      job: { kind: 'export' },
      warnings: [],
    });
    await expect(loadJob('import', 'out', { jobsDir })).rejects.toThrow(
      /out\.yaml is of kind export, not import: it is run with `rowferry export --job out`/,
    );
    await expect(loadJob('export', 'in', { jobsDir })).rejects.toThrow(
      /in\.yaml is of kind import, not export: it is run with `rowferry import FILE --job in`/,
    );
    expect(inlineJob('export', { kind: 'export', resource: 'user' })).toMatchObject({ name: 'inline', path: '' });
    expect(() => inlineJob('import', { kind: 'export', resource: 'user' })).toThrow(
      /inline job is of kind export, not import/,
    );
  });

  it('are refused with every fault', async () => {
    const error: unknown = await loadJob('export', 'bad', { jobsDir }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(RunError);
    expect((error as RunError).details).toEqual([
      `${path.join(jobsDir, 'bad.yaml')}:4:1 unknown key \`colums\`, did you mean \`columns\`?`,
    ]);
  });
});

describe('the request of an export job', () => {
  const loaded = (more: object = {}) => inlineJob('export', { kind: 'export', resource: 'asset', ...more });
  // 01:30 of the next day in Berlin.
  const now = Date.parse('2026-11-20T00:30:00+01:00') - 3_600_000;

  it('holds what the job says; the date is that of the zone of its schedule', () => {
    const job = loaded({
      output: 'exports/{date}/assets-{date}.csv',
      columns: ['id', 'name'],
      filter: { lifecycle_stage: ['a', 'b'], room: null, floor: 3, unit: true },
      order: '-name',
      company: 7,
      schedule: { cron: '0 2 * * *', timezone: 'Asia/Tokyo' },
    });
    const request = exportRequest(job, {}, { cwd: '/somewhere', now });
    expect(request).toEqual({
      resource: 'asset',
      target: '/somewhere/exports/2026-11-20/assets-2026-11-20.csv',
      columns: ['id', 'name'],
      filter: { lifecycle_stage: ['a', 'b'], room: null, floor: 3, unit: true },
      order: '-name',
      editable: false,
      company: 7,
      job: { name: 'inline', path: '', sha256: job.sha256 },
      notes: [],
    });
    const west = loaded({ output: 'a-{date}.csv', schedule: { cron: '0 2 * * *', timezone: 'America/New_York' } });
    expect(exportRequest(west, {}, { cwd: '/x', now }).target).toBe('/x/a-2026-11-19.csv');
  });

  it('takes what is stated beside it before what the job says', () => {
    const job = loaded({ output: 'a.csv', filter: { name: 'x' }, columns: ['id'], company: 7, editable: true });
    const stated = {
      target: '/t/b.xlsx',
      filter: {},
      columns: ['name'],
      company: 8,
      editable: false,
      run: 'r',
      notes: ['n'],
    };
    expect(exportRequest(job, stated, { cwd: '/x' })).toMatchObject(stated);
  });

  it('takes the file of the job before that of its schedule, and asks for one where there is none', () => {
    const schedule = { cron: '0 2 * * *', file: '/abs/b.csv' };
    expect(exportRequest(loaded({ output: 'a.csv', schedule }), {}, { cwd: '/x' }).target).toBe('/x/a.csv');
    expect(exportRequest(loaded({ schedule }), {}, { cwd: '/x' }).target).toBe('/abs/b.csv');
    expect(() => exportRequest(loaded(), {}, { cwd: '/x' })).toThrow(/does not say which file to write/);
  });
});
