import { describe, expect, it } from 'vitest';
import { checkJobText } from '../../src/runs/job-file.js';
import { commentText, key, scalar } from '../../src/suggest/job-text.js';
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

  it('keeps what no job can name as a comment', async () => {
    const { job, column } = await suggested('asset', [
      ['Name', '_row', '__proto__', '', 'Serial', 'serial '],
      ['Press', '4', 'p', 'q', 's1', 's2'],
    ]);
    expect(Object.keys(columnsOf(job))).toEqual(['Name', 'Serial']);
    expect(columnsOf(job)['Serial']).toBeNull();
    expect(job).toContain('# column 2 "_row": headings that begin with _ are never imported');
    expect(job).toContain('# column 3 "__proto__"');
    expect(job).toContain('# column 4: the column has no heading');
    expect(column('Serial').why).toContain('2 columns have this heading');
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

  it('that repeats is taken only with a loud comment', async () => {
    const { job, suggestion } = await suggested('asset', [
      ['Name'],
      ...Array.from({ length: 20 }, (_, at) => [`Press ${at % 4}`]),
    ]);
    expect(suggestion.key).toMatchObject({ field: 'name', fits: false, repeats: 16 });
    expect(job).toMatch(/# ATTENTION: no column tells the rows apart[\s\S]*16\s+(# )?repeat/);
    expect(job).not.toContain('unique_field');
  });

  it('of customers can be the name alone', async () => {
    const { job, reason } = await suggested('customer', [
      ['City', 'Phone'],
      ['Ely', '+44 20 7946 0011'],
      ['Hull', '+44 20 7946 0012'],
    ]);
    expect(job).toBeUndefined();
    expect(reason).toContain('No column holds the name of the customer');
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
    expect(scalar(text)).toBe(written);
  });

  it('announces a key that is too long for a line of its own', () => {
    expect(key('y'.repeat(1_200), '  ')).toMatch(/^\? y+\n {2}:$/);
  });

  it('keeps a comment on one line', () => {
    expect(commentText('a\nb\r\u2028c\u0085d\u0007\u202ee')).toBe('a b c de');
  });

  it('is used for one-column tables as well', async () => {
    const { job } = await suggested('supplier', beside('Vendor', 'Zzz', ['1', '2']));
    expect(columnsOf(job)).toEqual({ Vendor: 'name', Zzz: null });
  });
});
