import { describe, expect, it } from 'vitest';
import { commentText, yamlKey, yamlScalar } from '../../src/model/yaml-text.js';
import { checkJobText } from '../../src/runs/job-file.js';
import { tableText } from '../../src/suggest/job-text.js';
import { beside, read, suggested } from './suggested.js';

const columnsOf = (job: string | undefined): Record<string, unknown> => read(job).columns;

const HOSTILE = [
  'a: b',
  'a #b',
  '- a',
  '? a',
  '@home',
  '~',
  'null',
  'true',
  'No',
  '2024',
  '1.50',
  '{x}',
  '[x]',
  '*a',
  '&a',
  '!a',
  '%a',
  '`a',
  "it's",
  'say "hi"',
  'tab\tinside',
  'back\\slash',
  'emoji 💥',
  'ünïcödé',
  'a\u2028b',
  'zero\u200bwidth',
  'rtl\u202egnp',
  'constructor',
  'toString',
  'hasOwnProperty',
  'x'.repeat(1_500),
];

describe('the job as text', () => {
  it('names every heading so that it is found again, whatever it holds', async () => {
    const table = [
      ['Name', ...HOSTILE],
      ...Array.from({ length: 3 }, (_, at) => [`Press ${at}`, ...HOSTILE.map(() => 'v')]),
    ];
    const { job } = await suggested('asset', table);
    const columns = columnsOf(job);
    expect(Object.keys(columns)).toHaveLength(HOSTILE.length + 1);
    for (const heading of HOSTILE) expect(Object.keys(columns)).toContain(heading.replace(/\s+/gu, ' ').trim());
  });

  it('names blank headings by letter and repeated ones by number, and keeps what no job can name as a comment', async () => {
    const { job, column } = await suggested('asset', [
      ['Name', '_row', '__proto__', '', 'Serial', 'serial '],
      ['Press', '4', 'p', 'q', 's1', 's2'],
    ]);
    expect(columnsOf(job)).toEqual({ Name: 'name', D: null, 'Serial #1': 'serial_number', 'serial #2': null });
    expect(job).toContain('# column 2 "_row": headings that begin with _ are never imported');
    expect(job).toContain('# column 3 "__proto__"');
    expect(column('').why).toContain('the column has no heading');
    expect(column('serial ').why).toBe('serial_number is given by "Serial" already');
  });

  it('cannot be broken by what cells hold', async () => {
    const evil = 'x\nconstants: { name: owned }\r\n  name: evil # \u0085\u2028y';
    const { job } = await suggested('contract', [
      ['Contract No', 'Status', 'Start Date', 'Country', 'Category'],
      ...[evil, 'active', 'active', 'active'].map((text, at) => [
        `C${at}7`,
        text,
        at === 0 ? evil : '2024-01-01',
        at === 0 ? evil : 'DE',
        evil,
      ]),
    ]);
    expect(read(job).constants).toEqual({});
    expect(job?.split('\n').filter((line) => /^constants|^ {2}name:/.test(line))).toEqual([]);
  });

  it('takes the rows that a person corrected also where a program saved them as a workbook', async () => {
    const { job } = await suggested('asset', 'Serial Number;Name\nS-1;Lamp\nS-2;Desk\n');
    expect(read(job).source).toMatchObject({ format: 'auto', delimiter: ';' });
  });

  it('a text that is written in two cases is translated once', async () => {
    const { job } = await suggested('contract', [
      ['Contract No', 'Status'],
      ...['Live', 'LIVE', 'live ', 'active'].map((text, at) => [`C${at}7`, text]),
    ]);
    expect(columnsOf(job)['Status']).toEqual({ field: 'status', values: { Live: 'active' } });
  });

  it('a commented line is right once its "# " is taken away', async () => {
    const { job } = await suggested('contract', [
      ['Contract No', 'Supplier', 'Status', 'Total'],
      ...['Live', 'on ice', 'active', 'active'].map((text, at) => [`C${at}7`, 'Globex Networks', text, `${at}100.50`]),
    ]);
    const open = (job ?? '')
      .replace(/^# constants/m, 'constants')
      .replace(/^ {4}# {3}on ice: "\?"/m, '      on ice: suspended')
      .replace(/country: "\?"/, 'country: DE')
      .replace(/contract_start_date: "\?"/, 'contract_start_date: 2024-01-01')
      .replace(/contract_end_date: "\?"/, 'contract_end_date: 2025-01-01');
    expect(read(open).constants).toEqual({
      contract_type: 'buy_side',
      country: 'DE',
      contract_start_date: '2024-01-01',
      contract_end_date: '2025-01-01',
    });
    expect(read(open).columns['Status']).toEqual({
      field: 'status',
      values: { Live: 'active', 'on ice': 'suspended' },
    });
    // What a person forgets to fill in is refused, not imported.
    expect(checkJobText((job ?? '').replace(/^# constants/m, 'constants')).job).toBeUndefined();
  });

  it('says each thing once: 300 columns, each field from one', async () => {
    const wide = Array.from(
      { length: 300 },
      (_, at) => ['Name', 'Serial No', 'S/N', 'City', 'Note'][at % 5]! + (at < 5 ? '' : ` ${at}`),
    );
    const start = performance.now();
    const { job, suggestion } = await suggested('asset', [
      wide,
      ...Array.from({ length: 50 }, (_, row) => wide.map((_, at) => `v${row}x${at}`)),
    ]);
    expect(performance.now() - start).toBeLessThan(10_000);
    const fields = suggestion.columns.flatMap(({ field }) => field ?? []);
    expect(new Set(fields).size).toBe(fields.length);
    expect(Object.keys(columnsOf(job))).toHaveLength(300);
    expect(suggestion.columns.find(({ heading }) => heading === 'S/N')?.why).toBe(
      'serial_number is given by "Serial No" already',
    );
  });
});

describe('the key', () => {
  it('is the first natural key that tells the rows apart, with its measure', async () => {
    const rows = Array.from({ length: 60 }, (_, at) => [`Press ${at % 7}`, at === 0 ? '' : `T${at}`, `S${at % 40}`]);
    const { suggestion, job } = await suggested('asset', [['Name', 'Asset Tag', 'Serial'], ...rows]);
    expect(suggestion.key).toMatchObject({ field: 'asset_tag', fits: true, blank: 1, repeats: 0 });
    expect(job).toContain(
      'key: asset_tag                    # "Asset Tag": 1 of 60 cells are blank, 0 repeat an earlier one',
    );
    expect(job).not.toContain('unique_field');
  });

  it('is a question where every column repeats: each answer makes the job whole', async () => {
    const { job, suggestion, table } = await suggested('asset', [
      ['Name'],
      ...Array.from({ length: 20 }, (_, at) => [`Press ${at % 4}`]),
    ]);
    expect(suggestion.key).toBeUndefined();
    expect(checkJobText(job).job).toBeUndefined();
    expect(suggestion.next).toContain('What tells one asset from another?');
    expect(job).toMatch(/# QUESTION: [\s\S]*16\s+(# )?repeat/);
    expect(table).toContain('No column tells the rows apart.');
    expect(table).not.toContain('Key: ');
    const answers = job.match(/^# match: .*$/gm) ?? [];
    expect(answers.map((line) => line.slice(2).split(' #')[0]!.trim())).toEqual([
      'match: { key: none }',
      'match: { key: none, duplicates: first }',
      'match: { key: name, duplicates: first }',
    ]);
    for (const answer of answers) expect(read(job.replace(answer, answer.slice(2))).columns).toEqual({ Name: 'name' });
  });

  it('is a column that repeats nothing, although some rows have none: they are said, and no key is called bad', async () => {
    const { job, suggestion, table } = await suggested('asset', [
      ['Name', 'City'],
      ...Array.from({ length: 10 }, (_, at) => [at < 2 ? '' : `Press ${at}`, 'Ely']),
    ]);
    expect(suggestion.key).toMatchObject({ field: 'name', fits: false, blank: 2, repeats: 0 });
    expect(table).toContain('Key: name ("Name": 2 blank, 0 repeated).');
    expect(job).toContain('2 of 10 rows have no name and are invalid until they do');
    read(job);
  });

  it('of suppliers is the name before an appended row: the service takes a name once', async () => {
    const { job } = await suggested('supplier', [
      ['Supplier', 'Paid'],
      ...Array.from({ length: 20 }, (_, at) => [`Globex ${at % 9}`, `${at}.50`]),
    ]);
    const [answer = ''] = job.match(/^# match: .*$/m) ?? [];
    expect(answer).toContain('key: name, duplicates: first');
    expect(answer).toContain('another with its name is a duplicate');
    read(job.replace(answer, answer.slice(2)));
  });

  it('cannot be told without a column for it: the job asks for the name', async () => {
    const { job, suggestion } = await suggested('customer', [
      ['City', 'Phone'],
      ['Ely', '+44 20 7946 0011'],
      ['Hull', '+44 20 7946 0012'],
    ]);
    expect(suggestion.next).toContain('Which column is the name of each customer?');
    expect(job).toContain('# HEADING: name');
    read(job.replace(/^# (?=match: )/m, ''));
  });
});

describe('what a new record needs', () => {
  it('can be put together where no column is the name', async () => {
    const table = [
      ['Brand', 'Model', 'Serial'],
      ...Array.from({ length: 5 }, (_, at) => ['Contoso', `T${at % 2}`, `S${at}`]),
    ];
    const { job, suggestion } = await suggested('asset', table);
    expect(read(job).computed).toEqual({ name: '{Brand} {Model}' });
    expect(job).toContain('medium: no column is the name: put together');
    expect(suggestion.next).toBe('Is "Model" what its line says? It is likely, and not certain.');
    expect(tableText(suggestion)).not.toContain('Required, and in no column');
  });

  it('of a contact is put together of first and last name, and the address is kept with it', async () => {
    const { job } = await suggested('supplier', [
      ['Company', 'Contact First Name', 'Last Name', 'Contact Email'],
      ...Array.from({ length: 3 }, (_, at) => [`Contoso ${at}`, 'Ann', `Lee ${at}`, `ann${at}@contoso.example`]),
    ]);
    expect(read(job).computed).toEqual({ 'contact_person.name': '{Contact First Name} {Last Name}' });
    expect(job).toMatch(/Contact Email: +contact_person\.email/);
    expect(job).toMatch(/Last Name: +~ .*part of contact_person\.name/);
    expect(job).not.toContain('HEADING');
  });

  it('is put together of one column by a person only', async () => {
    const { job } = await suggested('asset', [['Serial'], ...Array.from({ length: 5 }, (_, at) => [`S${at}`])]);
    expect(read(job).computed).toEqual({});
    expect(read(job.replace('# computed:', 'computed:')).computed).toEqual({ name: '{Serial}' });
  });

  it('is not put together of texts that are too long for it', async () => {
    const { job } = await suggested('contract', [
      ['Description', 'Amount'],
      ...Array.from({ length: 5 }, (_, at) => [`${at} ${'words '.repeat(20)}`, '10.50']),
    ]);
    expect(job).toContain('Description: description');
    expect(job).not.toContain('# computed:');
  });

  it('is not put together of a column whose heading has braces, which would be read as another one', async () => {
    const table = [
      ['Brand', 'Model {new}', 'Serial'],
      ...Array.from({ length: 5 }, (_, at) => ['Contoso', `T${at}`, `S${at}`]),
    ];
    const { job } = await suggested('asset', table);
    expect(job).toMatch(/"?Model \{new\}"?: +product_description/);
    expect(read(job).computed).toEqual({ name: '{Brand} {Serial}' });
  });

  it('is not put together of cells that are mostly blank', async () => {
    const table = [['SN', 'Cost'], ...Array.from({ length: 5 }, (_, at) => [at === 2 ? 'S2' : '', `${at}.50`])];
    const { job } = await suggested('asset', table);
    expect(job).toMatch(/SN: +serial_number/);
    expect(job).not.toContain('# computed:');
  });

  it('is also the other party of a contract, where no column gives one', async () => {
    const { job } = await suggested('contract', [
      ['Contract No', 'Title', 'Start Date', 'End Date', 'Amount'],
      ...Array.from({ length: 3 }, (_, at) => [`C${at}7`, 'Hosting', '2024-01-01', '2025-01-01', '10.50']),
    ]);
    expect(job).toContain('# constants: { contract_type: "?", country: "?", status: "?", supplier: "?" }');
    const filled = job
      .replace(
        '# constants: { contract_type: "?", country: "?", status: "?"',
        'constants: { contract_type: buy_side, country: DE, status: active',
      )
      .replace('supplier: "?"', 'supplier: Globex');
    expect(read(filled).constants).toMatchObject({ supplier: 'Globex' });
  });
});

describe('columns of an export', () => {
  it('are known by their own names, custom fields too', async () => {
    const { fields, job } = await suggested('asset', [
      [
        'id',
        'name',
        'category.name',
        'template.Finance.Cost Centre',
        'template.Other.Field',
        'form.Data centre.Rack',
        'asset_owner.email',
      ],
      ['17', 'Press', 'Laptop', 'CC-1', 'x', 'R1', 'ada.park@northwind.example'],
    ]);
    expect(fields).toMatchObject({
      id: '~',
      name: 'name',
      'category.name': 'category.name',
      'template.Finance.Cost Centre': 'template.Finance.Cost Centre',
      'template.Other.Field': '~',
      'form.Data centre.Rack': 'form.Data centre.Rack',
    });
    columnsOf(job);
  });
});

describe('YAML of texts', () => {
  it.each([
    ['Name', 'Name'],
    ['Item Name', 'Item Name'],
    ['a: b', '"a: b"'],
    ['no', '"no"'],
    ['7', '"7"'],
    ['a\u0085b', '"a\\u0085b"'],
  ])('%j is written %s', (text, written) => {
    expect(yamlScalar(text)).toBe(written);
  });

  it('announces a key that is too long for a line of its own', () => {
    expect(yamlKey('y'.repeat(1_200), '  ')).toMatch(/^\? y+\n {2}:$/);
  });

  it('keeps a comment on one line', () => {
    expect(commentText('a\nb\r\u2028c\u0085d\u0007\u202ee')).toBe('a b c de');
  });

  it('is used for one-column tables as well', async () => {
    const { job } = await suggested('supplier', beside('Vendor', 'Zzz', ['1', '2']));
    expect(columnsOf(job)).toEqual({ Vendor: 'name', Zzz: null });
  });
});
