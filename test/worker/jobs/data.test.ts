import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { checkJobData, DATA_LIMITS } from '../../../src/worker/jobs/data.js';
import { importOf } from '../../support/jobs.js';
import { jobDataSchema } from './data-schema.js';

const JOB = importOf('asset', 'serial_number', { Name: 'name', Serial: 'serial_number' });

function faults(name: string, data: unknown): readonly string[] {
  const checked = checkJobData(name, data);
  return 'faults' in checked ? checked.faults : [];
}

describe('data of a job', () => {
  it('is taken as it came: by name or inline, with a file or rows (82)', () => {
    expect(checkJobData('import', { job: 'assets', file: 'inbox/a.csv' })).toEqual({
      kind: 'import',
      ok: { job: 'assets', file: 'inbox/a.csv' },
    });
    const rows = [JSON.parse('{"__proto__": "x", "constructor": 1, "": null, "Name": true}')];
    const checked = checkJobData('import', { job: JOB, rows, options: { dry_run: true, force: false, company: 3 } });
    expect(checked).toMatchObject({ inline: { name: 'inline', job: { resource: 'asset' } } });
    expect('ok' in checked && checked.kind === 'import' && checked.ok.rows?.[0]).toBe(rows[0]);
    expect(checkJobData('import', { job: 'Anlagen (Büro) 2.1', file: 'a' })).toHaveProperty('ok');
  });

  it('of a reconciliation is taken as that of an import, and may say whether it writes', () => {
    const data = { job: 'erp', file: 'inbox/erp/a.csv', options: { apply: true, force: true, company: 3 } };
    expect(checkJobData('reconcile', data)).toEqual({ kind: 'reconcile', ok: data });
    const inline = { ...JOB, kind: 'reconcile', apply: true, orphans: { action: 'report' } };
    expect(checkJobData('reconcile', { job: inline, rows: [{ Serial: 'S' }] })).toMatchObject({
      kind: 'reconcile',
      inline: { name: 'inline', job: { kind: 'reconcile', apply: true, orphans: { action: 'report', after: 2 } } },
    });
    for (const options of [{ dry_run: true, apply: false }, { dry_run: false, apply: true }, { dry_run: true }]) {
      expect(checkJobData('reconcile', { job: 'erp', file: 'a', options })).toHaveProperty('ok');
    }
  });

  it('of a reconciliation is refused with every fault at once', () => {
    const found = faults('reconcile', {
      job: { ...JOB, kind: 'reconcile', orfans: {} },
      options: { dry_run: true, apply: true, aply: 1, force: 'yes' },
    });
    expect(found).toEqual([
      '`options.force` must be true or false, not "yes"',
      'unknown key `options.aply`, did you mean `apply`?',
      'give exactly one of `file` and `rows`; neither is there',
      '`options.dry_run` and `options.apply` are both true; say one: write the differences, or only report them',
      expect.stringContaining('unknown key `orfans`'),
    ]);
    expect(faults('reconcile', { job: JOB, file: 'a' })).toEqual([
      expect.stringContaining('is of kind import, not reconcile'),
    ]);
    expect(faults('import', { job: { ...JOB, kind: 'reconcile' }, file: 'a' })).toEqual([
      expect.stringContaining('is of kind reconcile, not import'),
    ]);
    expect(faults('import', { job: 'assets', file: 'a', options: { apply: false } })).toEqual([
      'unknown key `options.apply`; known here: dry_run, force, company, plan_of',
    ]);
    expect(faults('reconcile', { job: 'erp', file: 'a', options: { apply: 'x'.repeat(99) } }).join()).toMatch(
      /^`options.apply` must be true or false, not "x{57}\.\.\."$/,
    );
  });

  it('of an export is taken by name or inline, with or without a file', () => {
    const data = { job: 'export-assets', file: 'exports/a-{date}.csv.gz', options: { company: 3 } };
    expect(checkJobData('export', { job: 'export-assets' })).toEqual({ kind: 'export', ok: { job: 'export-assets' } });
    expect(checkJobData('export', data)).toEqual({ kind: 'export', ok: data });
    const inline = checkJobData('export', { job: { kind: 'export', resource: 'license', output: 'a.csv' } });
    expect(inline).toMatchObject({ kind: 'export', inline: { name: 'inline', job: { resource: 'license' } } });
  });

  it('of an export is refused with every fault at once', () => {
    const found = faults('export', {
      job: { ...JOB, kind: 'export' },
      file: 'exports/a-{day}.txt',
      rows: [{ a: 1 }],
      row: 1,
      options: { dry_run: false, force: true, compny: 1 },
    });
    expect(found).toEqual([
      'unknown key `options.dry_run`; known here: company',
      'unknown key `options.force`; known here: company',
      'unknown key `options.compny`, did you mean `company`?',
      'unknown key `rows`; known here: job, file, options',
      'unknown key `row`; known here: job, file, options',
      expect.stringContaining('`file` is "exports/a-{day}.txt"; .txt is not written'),
      expect.stringContaining('{day} has no meaning there'),
      expect.stringContaining('`match` belongs to import jobs'),
      expect.stringContaining('`columns` must be a list'),
    ]);
    expect(faults('export', { job: JOB })).toEqual([expect.stringContaining('is of kind import, not export')]);
    expect(faults('import', { job: { kind: 'export', resource: 'user' }, file: 'a' })).toEqual([
      expect.stringContaining('is of kind export, not import'),
    ]);
  });

  it('is refused with every fault at once, each with place, value and rule', () => {
    const found = faults('imports', {
      job: '../../etc/passwd',
      file: 7,
      rows: [{ a: { b: 1 } }, 'x', { n: 2 ** 63, i: 1 / 0 }],
      optoins: {},
      options: { dry_run: 'yes', compny: 2, company: 0 },
    });
    expect(found).toEqual([
      'the job name is "imports"; it must be one of: import, export, reconcile, did you mean `import`?',
      '`job` is "../../etc/passwd"; it must be the name of a job file in the jobs folder, without folder and ending',
      '`file` must be text, not "7"',
      '`options.dry_run` must be true or false, not "yes"',
      '`options.company` is "0"; it must be 1 or more',
      'unknown key `options.compny`, did you mean `company`?',
      'unknown key `optoins`, did you mean `options`?',
      '`rows[0].a`: a cell is text, a number, true, false or null',
      '`rows[1]`: a row is an object of headings and values',
      '`rows[2].n`: numbers this long lose digits on their way; send it as text',
      '`rows[2].i`: numbers this long lose digits on their way; send it as text',
      'give exactly one of `file` and `rows`; both are there',
    ]);
  });

  it('is refused with a text that not every queue can keep', () => {
    expect(faults('import', { job: 'assets', rows: [{ Name: 'a\0b' }, { Name: '\ud83d' }, { 'x\0': '😀' }] })).toEqual([
      '`rows[0].Name`: a text may hold no NUL and no half of a character',
      '`rows[1].Name`: a text may hold no NUL and no half of a character',
      '`rows[2].x\0`: a text may hold no NUL and no half of a character',
    ]);
    const corrections = [{ column: 'Name', row: 2, value: 'a\0' }];
    expect(faults('import', { job: 'assets', file: 'a.csv', corrections })).toEqual([
      'a text of the data holds a NUL or half of a character',
    ]);
    expect(faults('import', { job: 'assets', rows: [{ Name: '\\u0000 😀' }] })).toEqual([]);
  });

  it('quotes nothing of rows and corrections where it is refused (112)', () => {
    const refused = [
      '[{"Name":"SECRET"}]',
      { job: 'a', rows: '[{"Name":"SECRET"}]' },
      { job: 'a', rows: ['SECRET', { Name: 'SECRET\0' }, { Name: { SECRET: 1 } }], corrections: ['SECRET "a"'] },
      { job: 'a', file: 'a.csv', corrections: [{ column: 'Name', row: 'SECRET', value: 5 }] },
    ];
    for (const data of refused) expect(faults('import', data).join()).toMatch(/^(?!.*SECRET)../s);
  });

  it.each([
    ['nothing', undefined, 'must be an object'],
    ['null', null, 'must be an object'],
    ['a list', [], 'must be an object'],
    ['no job', { file: 'a' }, '`job` is missing'],
    ['an empty name', { job: '', file: 'a' }, 'is blank'],
    ['a hidden name', { job: '.env', file: 'a' }, 'without folder and ending'],
    ['a file name', { job: 'assets.yaml', file: 'a' }, 'without folder and ending'],
    ['a name with a line break', { job: 'a\nb', file: 'a' }, 'without folder and ending'],
    ['a list as job', { job: ['assets'], file: 'a' }, 'must be text or a mapping'],
    ['neither file nor rows', { job: 'assets' }, 'neither is there'],
    ['no rows', { job: 'assets', rows: [] }, 'an empty list'],
    ['rows without values', { job: 'assets', rows: [{}] }, 'hold no values'],
    ['a folder for reports', { job: 'a', file: 'a', report: '/etc' }, 'unknown key `report`'],
    [
      'a folder for reports, as an option',
      { job: 'a', file: 'a', options: { report: '/etc' } },
      'unknown key `options.report`',
    ],
    ['a folder for reports in the job', { job: { ...JOB, report: '/etc' }, file: 'a' }, 'unknown key `report`'],
    ['a data folder', { job: 'a', file: 'a', options: { home: '/etc' } }, 'unknown key `options.home`'],
    ['a key of every object', JSON.parse('{"job":"a","file":"a","__proto__":{"x":1}}'), 'unknown key `__proto__`'],
    ['another key of every object', { job: 'a', file: 'a', constructor: 1 }, 'unknown key `constructor`'],
    ['too many rows', { job: 'a', rows: Array(10_001).fill({ a: 1 }) }, 'has more than 10000 entries'],
    [
      'too many headings',
      { job: 'a', rows: [Object.fromEntries(Array.from({ length: 1001 }, (_, i) => [`h${i}`, 1]))] },
      'different headings',
    ],
    ['a long cell', { job: 'a', rows: [{ a: 'x'.repeat(DATA_LIMITS.cell + 1) }] }, '32767 characters'],
    ['too much', { job: 'a', rows: Array(9000).fill({ a: 'x'.repeat(2000) }) }, 'Put the rows into a file'],
    ['a fault of an inline job', { job: { ...JOB, matsch: 1 }, file: 'a' }, 'unknown key `matsch`'],
    ['a deep job', { job: JSON.parse(`${'{"a":'.repeat(60)}1${'}'.repeat(60)}`), file: 'a' }, 'nested too deeply'],
  ])('%s is refused (82, 84)', (_, data, words) => {
    expect(faults('import', data).join('\n')).toContain(words);
  });

  it('with faults by the thousand is refused with the first hundred and their number', () => {
    const found = faults('import', { job: 'a', rows: Array(5000).fill({ a: [] }) });
    expect(found).toHaveLength(101);
    expect(found.at(-1)).toBe('… and 4900 more');
  });
});

describe('schemas/job-data.schema.json', () => {
  it('is what the source says (-u writes it anew)', async () => {
    const text = `${JSON.stringify(jobDataSchema(), null, 2)}\n`;
    await expect(text).toMatchFileSnapshot('../../../schemas/job-data.schema.json');
  });

  it('names the parts of the data and of an inline job, for each kind', async () => {
    const schema = JSON.parse(await readFile('schemas/job-data.schema.json', 'utf8'));
    expect(schema.$schema).toBe('https://json-schema.org/draft/2020-12/schema');
    expect(schema.anyOf).toEqual(['import', 'export', 'reconcile'].map((kind) => ({ $ref: `#/$defs/${kind}` })));
    const rows = ['job', 'file', 'rows', 'corrections', 'options'];
    const parts = { import: rows, reconcile: rows, export: ['job', 'file', 'options'] };
    const keys = {
      reconcile: ['kind', 'resource', 'match', 'columns', 'brakes', 'compare', 'orphans', 'scope', 'apply', 'read'],
      import: ['kind', 'resource', 'match', 'columns', 'brakes'],
      export: ['kind', 'resource', 'output', 'columns', 'filter', 'order', 'editable', 'schedule'],
    };
    const taking = ['kind', 'resource', 'match', 'columns'];
    const needed = { import: taking, reconcile: taking, export: ['kind', 'resource'] };
    for (const kind of ['import', 'reconcile', 'export'] as const) {
      const one = schema.$defs[kind];
      expect(Object.keys(one.properties)).toEqual(parts[kind]);
      expect(one).toMatchObject({ required: ['job'], additionalProperties: false });
      const inline = one.properties.job.anyOf[1];
      expect(Object.keys(inline.properties)).toEqual(expect.arrayContaining(keys[kind]));
      expect(inline.required).toEqual(needed[kind]);
    }
    const options = (kind: string) => Object.keys(schema.$defs[kind].properties.options.properties);
    expect(options('export')).toEqual(['company']);
    expect(options('import')).toEqual(['dry_run', 'force', 'company', 'plan_of']);
    expect(options('reconcile')).toEqual(['dry_run', 'apply', 'force', 'company']);
    const file = new RegExp(schema.$defs.export.properties.file.pattern);
    for (const name of ['a.csv', 'x/a-{date}.XLSX', 'a.ndjson.gz']) expect(name).toMatch(file);
    for (const name of ['a.csv/', 'a.txt', 'csv']) expect(name).not.toMatch(file);
  });
});
