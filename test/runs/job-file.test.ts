import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RunError } from '../../src/model/error.js';
import {
  columnTarget,
  customFieldName,
  exportJob,
  importJob,
  orphanRules,
  reconcileBrakes,
  reconcileJob,
  sourceOptions,
} from '../../src/model/job.js';
import { checkJobFile, checkJobText, inlineJob, loadJob, problemLine } from '../../src/runs/job-file.js';

/** `line:column message` of every problem; warnings say so. */
function problemsOf(text: string): string[] {
  return checkJobText(text).problems.map((problem) => problemLine('j', problem).slice(2));
}

const GOOD = `kind: import
resource: asset
match: { key: serial_number }
columns:
  Item: name
  Serial: serial_number
`;

/** What stands below the good job, and what is said of it. */
const ADDED: readonly [lines: string, ...expected: string[]][] = [
  ['---\nkind: import', '7:1 a job file holds one job'],
  [
    '  PO #: asset_tag',
    '7:3 not valid YAML: Implicit map keys need to be followed by map values. What holds " #" or ": ", or begins with a sign, stands in quotes',
  ],
  ['  A: *x', '7:6 `*x`: a job file has no YAML aliases'],
  ['source: { delimiter: ab }', '7:22 "ab" cannot separate cells. Use auto'],
  ['output: a.csv', '7:1 `output` belongs to export jobs; known in an import job: kind'],
  ['colums: {}', '7:1 unknown key `colums`, did you mean `columns`?'],
  ['orphans: { action: report }', '7:1 `orphans` belongs to reconcile jobs'],
  ['source:\n  delimeter: ";"', '8:3 unknown key `delimeter`, did you mean `delimiter`?'],
  ['  City: { field: city, requird: true }', '7:24 unknown key `requird`, did you mean `required`?'],
  ['repeat: "yes"', '7:9 `repeat` must be true or false, not "yes"'],
  ['  City: 5', '7:9 `columns.City` must be ~, text, a mapping of keys to values or a list, not "5"'],
  ['  City: { field: city, values: { a: [b] } }', '7:37 `columns.City.values.a` must be text, a number'],
  ['  City: { required: true }', '7:3 `columns.City.field` is missing'],
  ['write: { method: post }', '7:18 `write.method` is "post"; it must be one of: put, patch'],
  ['company: 0', '7:10 `company` is "0"; it must be 1 or more'],
  [
    'brakes: { max_invalid: 20x, min_rows: -1 }',
    '7:24 `brakes.max_invalid` is "20x"; it must be a count',
    '7:39 `brakes.min_rows` is "-1"',
  ],
  ['brakes: { max_invaild: 20% }', '7:11 unknown key `max_invaild`, did you mean `max_invalid`?'],
  ['  Cost: orignal_cost', '7:9 an asset has no field `orignal_cost`, did you mean `original_cost`?'],
  ['  Cost:\n    field: orignal_cost', '8:12 an asset has no field'],
  ['  Region: region', '7:11 `region` can only be read'],
  ['  EIN: ein', '7:8 an asset has no field `ein`'],
  ['  Other: serial_number', '7:10 the field is set by columns.Serial already; delete one of them'],
  ['  A: bldg_name\n  B: bldng_name', '8:6 the field is set by columns.A already'],
  [
    '  A: form.Data centre#0.Rack\n  B: form.Data centre#2.Rack',
    '7:6 #0 is no row of a form; rows count from #1 to #999',
  ],
  ['  A: template.Finance.Budget\n  B: template.finance.budget', '8:6 the field is set by columns.A already'],
  ['  Id: id', '7:7 `id` can be mapped only where it is the key'],
  ['  A: template.Finance', '7:6 the name is incomplete; write template.<name or id>.<field>'],
  ['  A: form.Data centre.', '7:6 the name is incomplete; write form.<name or id>.<column>'],
  ['  " item ": city', '7:3 the headings `Item` and ` item ` are the same'],
  ['  Ｉtem: city', '7:3 the headings `Item` and `Ｉtem`'],
  ['  " ": city', '7:3 a heading is blank'],
  ['  _row: city', '7:3 `_row` begins with _'],
  ['  __proto__: city', '7:3 no key can be called `__proto__`; rename the column'],
  ['constants: { citty: Oslo }', '7:14 an asset has no field `citty`, did you mean `city`?'],
  ['constants: { warranty_type: oemm }', '7:29 "oemm" is none of the accepted values'],
  ['constants: { original_cost: much }', '7:29 "much" cannot be read as a number'],
  ['constants: { original_cost: -1 }', '7:29 Original cost is -1; the service accepts'],
  ['constants: { city: "?" }', '7:20 this is still the "?" that stood for what only a person knows'],
  ['constants: { service_start_date: 2025-02-29 }', '7:34 "2025-02-29"'],
  ['constants: { country: Elbonia }', '7:23 "Elbonia" is no country'],
  ['  W: { field: warranty_type, values: { Gold: goldd } }', '7:46 "goldd" is none of the accepted values'],
  ['  C: { field: city, values: { A: x, a: y } }', '7:37 `A` and `a` are the same cell text'],
  ['source: { dates: [dd/mm/yyyy] }', '7:19 the date format "dd/mm/yyyy" cannot be used: it lacks the month'],
  [
    '  D: { field: service_start_date, dates: [yyyy-MM-dd, DD.MM.YYYY] }',
    '7:55 the date format "DD.MM.YYYY" cannot be used',
  ],
  ['source: { encoding: windws-1252 }', '7:21 the encoding "windws-1252" is not known'],
  ['source: { null_values: NULL }', '7:24 `source.null_values` must be a list'],
  ['source: { null_values: [""] }', '`source.null_values.0` is blank'],
  [
    'schedule: { cron: "0 2 * *", file: a.csv }',
    '7:19 the cron expression "0 2 * *" cannot be used: write five fields: minute (0 to 59)',
  ],
  ['schedule: { cron: "61 2 * * *", file: a.csv }', '7:19 the cron expression "61 2 * * *" cannot be used'],
  ['schedule: { cron: "0 2 * * fri-mon", file: a.csv }', 'cannot be used: write five fields'],
  ['schedule: { cron: "0 2 * * *", timezone: Europe/Berln, file: a.csv }', 'did you mean `Europe/Berlin`?'],
  ['schedule: { cron: "0 2 * * *" }', '7:1 `schedule.file` is missing'],
];

/** Each job has the good one's four top-level keys unless it is about them; the fault stands where the number says. */
const FAULTS: readonly [title: string, yaml: string, ...expected: string[]][] = [
  ['no YAML', 'kind: import\ncolumns: [a, b\n', '3:1 not valid YAML'],
  ['a tab as indent', 'columns:\n\tA: name\n', '2:1 a tab is used to indent'],
  ['a key twice', 'kind: import\nkind: import\n', '2:1 the key `kind` stands here twice, first in line 1'],
  [
    'a heading twice, once as a number',
    'kind: import\ncolumns:\n  1: name\n  "1": city\n',
    '4:3 the key `1` stands here twice, first in line 3',
  ],
  ['a tag', 'kind: !!js/function x\n', '1:7 not valid YAML: Unresolved tag'],
  ['an empty file', '# nothing\n', '1:1 the job file is empty'],
  ['a list', '- a\n', '1:1 the job file holds no keys'],
  [
    'unknown kind',
    GOOD.replace('import', 'imprt'),
    '1:7 `kind` is "imprt"; it must be import, export or reconcile, did you mean `import`?',
  ],
  ['no kind', GOOD.replace('kind: import\n', ''), '1:1 `kind` is missing; write import, export or reconcile'],
  [
    'unknown resource',
    GOOD.replace('asset', 'assets'),
    '2:11 `resource` is "assets"; it must be one of: asset, contract',
    'did you mean `asset`?',
  ],
  ['no match', 'kind: import\nresource: asset\ncolumns: { S: serial_number, N: name }\n', '1:1 `match` is missing'],
  [
    'no columns',
    'kind: import\nresource: asset\nmatch: { key: name }\n',
    '1:1 `columns` is missing',
    'not mapped to any column',
  ],
  ['empty columns', `${GOOD.slice(0, GOOD.indexOf('columns'))}columns: {}\n`, '4:1 no column is mapped'],
  [
    'a form of a supplier',
    'kind: import\nresource: supplier\nmatch: { key: name }\ncolumns: { N: name, F: form.A.B }\n',
    '4:24 a supplier has no custom forms',
  ],
  [
    'an unknown key field',
    GOOD.replace('key: serial_number', 'key: serialnumer'),
    '3:15 an asset has no field `serialnumer`',
  ],
  [
    'a key that is not mapped',
    GOOD.replace('key: serial_number', 'key: [name, asset_tag]'),
    '3:22 the key `asset_tag` is not mapped to any column',
  ],
  [
    'a key twice in the list',
    GOOD.replace('key: serial_number', 'key: [name, name]'),
    '3:22 `name` stands in the key twice',
  ],
  [
    'a key beside id',
    `${GOOD.replace('key: serial_number', 'key: [id, name]')}  Id: id\n`,
    '3:16 `id` alone identifies a record',
  ],
  [
    'a key that is never shown',
    `${GOOD.replace('key: serial_number', 'key: inventory_no')}  I: inventory_no\n`,
    '3:10 `inventory_no` cannot be a key',
  ],
  [
    'a constant key',
    GOOD.replace('  Serial: serial_number', 'constants: { serial_number: "1" }'),
    '3:10 the key is a constant',
  ],
  [
    'a customer matched by something else than its name',
    'kind: import\nresource: customer\nmatch: { key: phone }\ncolumns: { N: name, P: phone }\n',
    '3:15 a customer can be matched by `name` or `id` alone: the service does not show the others',
  ],
  ['an empty key', GOOD.replace('key: serial_number', 'key: []'), '3:15 `match.key` is an empty list'],
  [
    'unique_field of a contract',
    'kind: import\nresource: supplier\nmatch: { key: name, unique_field: name }\ncolumns: { N: name }\n',
    '3:21 `unique_field` exists for assets only, not for a supplier',
  ],
  [
    'unique_field not mapped',
    GOOD.replace('key: serial_number', 'key: serial_number, unique_field: name').replace('Item: name', 'Item: city'),
    '3:44 `unique_field` is `name`, which is not mapped',
  ],
  ['a constant too long', `${GOOD}constants: { city: ${'x'.repeat(51)} }\n`, '7:20 City has 51 characters'],
  ...ADDED.map(([lines, ...expected]): [string, string, ...string[]] => [lines, `${GOOD}${lines}\n`, ...expected]),
];

describe('checkJobText', () => {
  it('accepts the smallest job and fills in what it leaves out', () => {
    const { job, problems } = checkJobText(GOOD);
    expect(problems).toEqual([]);
    expect(job).toMatchObject({
      match: { key: ['serial_number'], existing: 'update', missing: 'create' },
      blank: 'keep',
      write: { method: 'put', at_risk: 'block', reread: 'stale' },
      brakes: { min_rows: 1 },
      source: { format: 'auto', header_row: 'auto' },
    });
  });

  it('keeps the characters of numbers that are values of fields, and nothing else', () => {
    const text = `${GOOD}  T: { field: inventory_no, values: { A: 1.10, B: 5, C: ~ } }
constants: { original_cost: 99999999999999.999, city: "7" }
defaults: { asset_tag: 00123 }
references: { retire: { general_description: 0x10 } }
retire: { asset_tag: 1e3 }
brakes: { max_invalid: 5, min_rows: 1.0 }
source: { header_row: 03 }
`;
    expect(checkJobText(text).job).toMatchObject({
      columns: { T: { values: { A: '1.10', B: 5, C: null } } },
      constants: { original_cost: '99999999999999.999', city: '7' },
      defaults: { asset_tag: '00123' },
      references: { retire: { general_description: '0x10' } },
      retire: { asset_tag: '1e3' },
      brakes: { max_invalid: '5', min_rows: 1 },
      source: { header_row: 3 },
    });
  });

  it('leaves the numbers of a job that is data as they are', () => {
    const job = { kind: 'export', resource: 'asset', filter: { original_cost: [1.5, 1e21, 1e-7], asset_tag: '007' } };
    expect(inlineJob('export', job).job.filter).toEqual(job.filter);
  });

  it('takes null values as they are written, whatever YAML makes of them', () => {
    const { job, problems } = checkJobText(`${GOOD}source:\n  null_values: [NULL, N/A, "#N/A", ~, 0, 1.50]\n`);
    expect(problems).toEqual([]);
    expect(job).toMatchObject({ source: { null_values: ['NULL', 'N/A', '#N/A', '~', '0', '1.50'] } });
  });

  it.each(FAULTS)('refuses %s', (_, yaml, ...expected) => {
    const { job, problems } = checkJobText(yaml);
    const lines = problems.map((problem) => problemLine('j', problem).slice(2));
    expect(job).toBeUndefined();
    for (const words of expected) {
      // A message that begins with a place must stand there; the rest may stand anywhere in a line.
      const found = lines.some((line) => (/^\d/.test(words) ? line.startsWith(words) : line.includes(words)));
      expect(found, `${words}\n${lines.join('\n')}`).toBe(true);
    }
  });

  it('lists every fault of a file, top to bottom', () => {
    const lines = problemsOf(
      'kind: import\nresource: asset\nmatch: { key: tag, exsisting: skip }\ncolumns:\n  A: nme\n  B: { field: city, blank: never }\nbrakes: 5\n',
    );
    expect(lines.map((line) => line.split(' ')[0])).toEqual(['3:15', '3:20', '4:1', '5:6', '6:28', '7:9']);
  });

  it('lists the faults of the rest beside what has not its shape', () => {
    const lines = problemsOf(
      'kind: import\nresource: asset\nmatch: { existing: update }\ncolumns:\n  A: { required: true }\n  B: { field: nme, dates: [dd.MM], values: 5 }\n  C: [city, 5]\nconstants: { citty: x, room: [] }\nbrakes: { max_invalid: x, min_row: 1 }\nretire: { floor: [] }\n',
    );
    expect(lines.map((line) => line.split(' ')[0])).toEqual([
      '3:1',
      '4:1',
      '5:3',
      '6:15',
      '6:28',
      '6:44',
      '7:13',
      '8:14',
      '8:30',
      '9:24',
      '9:27',
      '10:18',
    ]);
  });

  it('warns of what stops nothing', () => {
    const warned = (yaml: string) => {
      const { job, problems } = checkJobText(yaml);
      expect(job, JSON.stringify(problems)).toBeDefined();
      return problems.map(({ severity, message }) => `${severity} ${message}`).join('\n');
    };
    expect(warned(GOOD.replace('  Item: name\n', ''))).toContain('warning a new asset needs `name`');
    expect(
      warned(
        GOOD.replace('  Item: name\n', 'defaults: { asset_name: X }\n').replace(/(defaults.*\n)( {2}.*\n)/, '$2$1'),
      ),
    ).toBe('');
    expect(warned(`${GOOD}  C: city\nconstants: { city: Oslo }\n`)).toContain('the constant stands in every row');
  });

  it('reads headings as text, whatever YAML takes them for', () => {
    const { job } = checkJobText(`${GOOD}  2024: city\n  007: room\n  true: floor\n  null: unit\n`);
    expect(Object.keys(job?.columns ?? {})).toEqual(expect.arrayContaining(['2024', '007', 'true', 'null']));
  });

  it('knows id as a key, composite keys and custom fields', () => {
    expect(
      problemsOf('kind: import\nresource: contract\nmatch: { key: id, missing: fail }\ncolumns: { Id: id, T: name }\n'),
    ).toEqual([]);
    expect(
      problemsOf(
        `${GOOD.replace('key: serial_number', 'key: [name, serial]')}  A: form.Data centre.Rack\n  B: template.2.11\n`,
      ),
    ).toEqual([]);
    expect(
      problemsOf(`${GOOD}  A: template.Nr. 5.No. of ports\nconstants: { template.Finance.Budget: 12.50 }\n`),
    ).toEqual([]);
  });

  it('accepts the cron forms of the field', () => {
    for (const cron of [
      '*/15 * * * *',
      '0 2 * * 1-5',
      '0 22 1,15 jan-jun/2 ?',
      '0 0 l * *',
      '5 4 * * sun',
      '0 0 * * 5#2',
    ]) {
      expect(problemsOf(`${GOOD}schedule: { cron: "${cron}", file: a.csv }\n`), cron).toEqual([]);
    }
  });

  it('refuses YAML bombs quickly', () => {
    const bomb = ['a: &a [x, x, x, x, x, x, x, x, x]'];
    for (let i = 0; i < 12; i++) {
      const [one, next] = [String.fromCharCode(97 + i), String.fromCharCode(98 + i)];
      bomb.push(`${next}: &${next} [${Array.from({ length: 9 }, () => `*${one}`).join(', ')}]`);
    }
    const started = performance.now();
    expect(problemsOf(bomb.join('\n')).join()).toContain('YAML aliases');
    expect(problemsOf('['.repeat(200_000)).length).toBeGreaterThan(0);
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});

describe('whatever a person writes', () => {
  const isInOrder = (text: string) => {
    const { job, problems } = checkJobText(text);
    const lines = text.split('\n').length;
    for (const [i, problem] of problems.entries()) {
      expect(problem.line).toBeGreaterThanOrEqual(problems[i - 1]?.line ?? 1);
      expect(problem.line).toBeLessThanOrEqual(lines);
      expect(problem.column).toBeGreaterThanOrEqual(1);
    }
    expect(job === undefined).toBe(problems.some(({ severity }) => severity === 'error'));
  };

  it('is answered with a job or with problems that have a place, never with a crash', () => {
    fc.assert(fc.property(fc.string({ maxLength: 80 }), isInOrder), { numRuns: 300 });
    fc.assert(
      fc.property(
        fc.object({
          key: fc.constantFrom(...Object.keys(importJob.shape), ...Object.keys(exportJob.shape), 'name', '__proto__'),
        }),
        (value) => isInOrder(JSON.stringify(value, null, 1)),
      ),
      { numRuns: 300 },
    );
  });

  it('also where a good job was changed in one place', async () => {
    const text = await readFile('jobs/contracts.yaml', 'utf8');
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
      '!x ',
      '#',
      '~',
      '\t',
      '0',
      'é',
      '\u0000',
    );
    fc.assert(
      fc.property(fc.nat(text.length), fc.nat(12), bit, (at, gone, put) =>
        isInOrder(text.slice(0, at) + put + text.slice(at + gone)),
      ),
      { numRuns: 300 },
    );
  });
});

describe('customFieldName', () => {
  it('gives every way to cut a name that holds dots', () => {
    expect(customFieldName('template.Finance.Cost Centre')).toEqual({
      kind: 'template',
      splits: [{ owner: 'Finance', part: 'Cost Centre' }],
    });
    expect(customFieldName('Form.A.B.C')?.splits).toEqual([
      { owner: 'A', part: 'B.C' },
      { owner: 'A.B', part: 'C' },
    ]);
    expect(customFieldName('template.Finance')).toEqual({ kind: 'template', splits: [] });
    expect(customFieldName('template')).toBeUndefined();
    expect(customFieldName('templates.a.b')).toBeUndefined();
  });
});

describe('job files on disk', () => {
  let dir: string;
  let jobsDir: string;
  beforeEach(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'rowferry-jobs-'));
    jobsDir = path.join(dir, 'jobs');
    await mkdir(jobsDir);
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  const failure = async (name: string): Promise<RunError> => {
    const error: unknown = await loadJob('import', name, { jobsDir }).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (error instanceof RunError) return error;
    throw new Error(`loaded, or failed otherwise: ${error}`);
  };

  it('are found by name and by path', async () => {
    await writeFile(path.join(jobsDir, 'stock.yaml'), GOOD);
    await writeFile(path.join(jobsDir, 'other.yml'), `\uFEFF${GOOD}`);
    const byName = await loadJob('import', 'stock', { jobsDir });
    expect(byName).toMatchObject({ name: 'stock', path: path.join(jobsDir, 'stock.yaml'), text: GOOD, warnings: [] });
    expect(byName.sha256).toMatch(/^[0-9a-f]{64}$/);
    expect((await loadJob('import', 'other', { jobsDir })).sha256).toBe(byName.sha256);
    await writeFile(path.join(jobsDir, 'LOUD.YAML'), GOOD);
    expect((await loadJob('import', 'LOUD', { jobsDir })).name).toBe('LOUD');
    expect((await loadJob('import', 'stock.yaml', { jobsDir })).name).toBe('stock');
    expect((await loadJob('import', path.join(jobsDir, 'stock.yaml'), { jobsDir: dir })).name).toBe('stock');
  });

  it('that are not there: the nearest name', async () => {
    await writeFile(path.join(jobsDir, 'assets.yaml'), GOOD);
    expect((await failure('asets')).message).toContain('did you mean `assets`?');
    expect((await failure(path.join(jobsDir, 'asets.yaml'))).message).toContain('did you mean `assets.yaml`?');
    expect((await failure('../assets')).message).toContain('no job file');
    await expect(loadJob('import', 'asets', { jobsDir: path.resolve('jobs') })).rejects.toThrow(
      'in jobs, did you mean `assets`?',
    );
    await rm(path.join(jobsDir, 'assets.yaml'));
    expect((await failure('assets')).message).toContain('holds no job files');
  });

  it('that cannot be read as text are named', async () => {
    await mkdir(path.join(jobsDir, 'folder.yaml'));
    await writeFile(path.join(jobsDir, 'latin.yaml'), Buffer.from([0x6b, 0xe9, 0x0a]));
    await writeFile(path.join(jobsDir, 'huge.yaml'), '#'.repeat(1024 * 1024 + 1));
    expect((await failure('folder')).message).toContain('is not a file');
    expect((await failure('latin')).message).toContain('not UTF-8');
    expect((await failure('huge')).message).toContain('bytes long');
  });

  it('with faults are refused with every one, as file:line:column', async () => {
    const file = path.join(jobsDir, 'bad.yaml');
    await writeFile(file, `${GOOD}  City: citty\ncolums: {}\n`);
    const error = await failure('bad');
    expect(error.kind).toBe('usage');
    expect(error.message).toContain('2 faults');
    expect(error.details).toEqual([
      `${file}:7:9 an asset has no field \`citty\`, did you mean \`city\`?`,
      `${file}:8:1 unknown key \`colums\`, did you mean \`columns\`?`,
    ]);
    expect((await checkJobFile('bad', { jobsDir })).problems).toHaveLength(2);
  });

  it('may come as data', () => {
    const job = { kind: 'import', resource: 'asset', match: { key: 'name' }, columns: { N: 'name' } };
    expect(inlineJob('import', job)).toMatchObject({ name: 'inline', path: '', job: { resource: 'asset' } });
    expect(() => inlineJob('import', { ...job, columns: { N: 'nam' } })).toThrow(RunError);
    expect(() => inlineJob('import', undefined)).toThrow(RunError);
  });
});

describe('the job files that come with rowferry', () => {
  it('load without a remark, and so do their optional lines', async () => {
    const files = (await readdir('jobs')).filter((file) => file.endsWith('.yaml'));
    expect(files.length).toBeGreaterThanOrEqual(4);
    for (const file of files) {
      const text = await readFile(path.join('jobs', file), 'utf8');
      expect(problemsOf(text), file).toEqual([]);
      const optional = text.replace(/^( *)# (?=(?:sheet|schedule|repeat): )/gm, '$1');
      expect(problemsOf(optional), file).toEqual([]);
    }
  });

  it('show every key at least once', async () => {
    const text = (
      await Promise.all((await readdir('jobs')).map((file) => readFile(path.join('jobs', file), 'utf8')))
    ).join('\n');
    const shape = importJob.shape;
    const keys = [
      ...[exportJob.shape, exportJob.shape.schedule.unwrap().shape],
      ...[reconcileJob.shape, reconcileJob.shape.compare.unwrap().shape, reconcileJob.shape.read.unwrap().shape],
      ...[orphanRules.in.shape, reconcileBrakes.shape],
      ...[shape, sourceOptions.shape, columnTarget.shape, shape.match.shape],
      ...[shape.references.unwrap().shape, shape.write.unwrap().shape, shape.schedule.unwrap().shape],
      ...[shape.notify.unwrap().shape],
    ].flatMap((part) => Object.keys(part));
    const absent = keys.filter(
      (key) =>
        // Exports write it, into jobs that go with one file.
        key !== 'edited_from' &&
        !new RegExp(`(^|[\\s{,])${key}: `, 'm').test(text) &&
        !text.includes(`\n${key}:`) &&
        !text.includes(` ${key}:\n`),
    );
    expect(absent).toEqual([]);
  });
});
