import { describe, expect, test } from 'vitest';
import { Decimal } from '../../src/model/decimal.js';
import { importJob } from '../../src/model/job.js';
import type { Cell } from '../../src/model/row.js';
import { makeConverter } from '../../src/pipeline/map/convert.js';
import { usesCustomFields } from '../../src/pipeline/map/targets.js';
import { findField, resourceSpec } from '../../src/resources/registry.js';
import { convertCell, issuesOf, mappingOf, row } from './mapping.js';

const parse = (columns: Record<string, string>, more = {}) =>
  importJob.parse({ kind: 'import', resource: 'asset', match: { key: 'name' }, columns, ...more });

describe('headings', () => {
  test.each([
    ['Serial number', 'Serial number'],
    ['Serial number', '  SERIAL\u00a0 number '],
    ['Serial number', 'Serial\nnumber'],
    ['Ｓｅｒｉａｌ number', 'serial NUMBER'],
    ['Stra\u00dfe', 'STRASSE'],
    ['Café', 'Cafe\u0301'],
    ['Name', '\ufeffName'],
  ])('%j finds %j', (inJob, inFile) => {
    const mapping = mappingOf({ columns: { [inJob]: 'name' } }, ['other', inFile]);
    expect(mapping.mapRow(row(['x', 'here'])).set).toEqual({ name: 'here' });
    expect(mapping.columnOf('name')).toBe(inFile);
  });

  test('a heading named __proto__ is a heading like any other', () => {
    const columns = JSON.parse('{"__proto__": "name", "constructor": "asset_tag"}') as Record<string, string>;
    const mapping = mappingOf({ columns, match: { key: 'asset_tag' } }, ['constructor', '__proto__']);
    expect(Object.keys(mapping.mapRow(row(['tag', 'n'])).set)).toContain('asset_tag');
  });

  test('unmapped headings are one warning; those mapped to ~, blank ones and our own are none', () => {
    const headings = ['Name', 'Colour', 'Notes', '', '_row', '_message', 'Shape'];
    const { warnings } = mappingOf({ columns: { Name: 'name', Notes: null } }, headings);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('"Colour", "Shape"');
    expect(warnings[0]).not.toMatch(/Notes|_row/);
    expect(mappingOf({ columns: { Name: 'name' } }, ['Name']).warnings).toEqual([]);
  });

  test('headings that collide are harmless where they are not mapped (66)', () => {
    const mapping = mappingOf({ columns: { Name: 'name' } }, ['Note', 'Name', 'note ']);
    expect(mapping.mapRow(row(['a', 'b', 'c'])).set).toEqual({ name: 'b' });
  });
});

describe('the mapping', () => {
  const mapping = mappingOf(
    {
      columns: {
        Cost: 'original_cost',
        Name: 'name',
        CC: 'template.finance.COST CENTRE',
        Rack: 'form.Data centre.Rack',
        'Rack 2': 'form.20#2.Rack',
      },
      match: { key: 'name' },
      constants: { lifecycle_stage: 'Deployed' },
      defaults: { warranty_type: 'OEM', original_cost: 10 },
    },
    ['Name', 'CC', 'Cost', 'Rack', 'Rack 2'],
  );

  test('columns stand in the order of the file, with their descriptions', () => {
    expect(mapping.columns.map(({ heading, field }) => [heading, field])).toEqual([
      ['Name', 'name'],
      ['CC', 'template.3.31'],
      ['Cost', 'original_cost'],
      ['Rack', 'form.20.Rack'],
      ['Rack 2', 'form.20#2.Rack'],
    ]);
    expect(mapping.specOf('template.3.31')?.type).toMatchObject({ kind: 'text', max: 150 });
    expect(mapping.specOf('lifecycle_stage')?.name).toBe('lifecycle_stage');
    expect(mapping.specOf('serial_number')).toBeUndefined();
    expect(mapping.key).toEqual(['name']);
    expect([...mapping.fields].sort()).toEqual(
      [
        'name',
        'template.3.31',
        'original_cost',
        'form.20.Rack',
        'form.20#2.Rack',
        'lifecycle_stage',
        'warranty_type',
      ].sort(),
    );
  });

  test('a row becomes values by field', () => {
    expect(mapping.mapRow(row(['n', 'c1', '$5', 'R1', 'R2']), 'Sheet1')).toEqual({
      ref: { sheet: 'Sheet1', row: 2 },
      set: {
        name: 'n',
        'template.3.31': 'c1',
        original_cost: Decimal.of(5),
        'form.20.Rack': 'R1',
        'form.20#2.Rack': 'R2',
        lifecycle_stage: 'Deployed',
        warranty_type: 'oem',
      },
      issues: [],
      cells: { original_cost: '$5' },
    });
    expect(mapping.mapRow(row(['n'])).ref).toEqual({ row: 2 });
    expect(mapping.mapRow(row(['n'])).set).toMatchObject({ original_cost: Decimal.of(10) });
  });

  test('evidence of the decimal sign is passed on', () => {
    const sample = [{ row: 3, cells: ['n', '1.234,5'] }];
    const { evidence } = mappingOf({ columns: { N: 'name', C: 'original_cost' } }, ['N', 'C'], { sample });
    expect(evidence.join()).toContain('"1.234,5" (row 3, C)');
    const stated = mappingOf({ columns: { N: 'name', C: 'original_cost' }, source: { decimal: '.' } }, ['N', 'C'], {
      sample,
    });
    expect(stated.evidence).toEqual([]);
  });

  test('a number that its format shows with separators is imported as it is shown where a text is due', () => {
    const number: Cell = { t: 'n', value: '12345678', shown: '12,345,678', format: '#,##0' };
    expect(convertCell('serial_number', number)).toBe('12,345,678');
  });

  test('a date with two readings is refused, whatever other cells of its column show', () => {
    const columns = { N: 'name', D: 'warranty_end_date' };
    const dates = ['01/02/2024', ...Array.from({ length: 12 }, (_, at) => `${at + 13}/12/2024`)];
    const sample = dates.map((date, at) => ({ row: at + 2, cells: ['n', date] }));
    const mapping = mappingOf({ columns }, ['N', 'D'], { sample });
    expect([mapping.warnings, mapping.evidence]).toEqual([[], []]);
    const [first, ...others] = sample.map((one) => mapping.mapRow(one));
    expect(first?.issues).toMatchObject([
      {
        code: 'ambiguous_date',
        message: expect.stringMatching(/1 February 2024.*2 January 2024.*State the format in the job.*dates: \[/),
      },
    ]);
    expect(others.map(({ set }) => set['warranty_end_date'])).toEqual(
      Array.from({ length: 12 }, (_, at) => `2024-12-${at + 13}`),
    );
  });

  test('custom fields are looked up only where the job names some', () => {
    expect(usesCustomFields(parse({ A: 'name' }))).toEqual({ templates: false, forms: false });
    expect(usesCustomFields(parse({ A: 'template.x.y' }))).toEqual({ templates: true, forms: false });
    expect(usesCustomFields(parse({ A: 'name' }, { constants: { 'form.x.y': 1 } }))).toEqual({
      templates: false,
      forms: true,
    });
    expect(usesCustomFields(parse({ A: 'name' }, { defaults: { 'template.1.2': 1 } })).templates).toBe(true);
  });
});

describe('blank cells', () => {
  const blankOf = (target: object, more = {}) => {
    const mapping = mappingOf({ columns: { N: 'name', C: { field: 'asset_tag', ...target } }, ...more }, ['N', 'C']);
    const { set, issues } = mapping.mapRow(row(['n', ' \u00a0 ']));
    return issues.length > 0
      ? issues.map(({ code, column }) => `${code} ${column}`).join()
      : 'asset_tag' in set
        ? set['asset_tag']
        : 'kept';
  };

  test.each<[object, object, unknown]>([
    [{}, {}, 'kept'],
    [{ blank: 'clear' }, {}, null],
    [{}, { blank: 'clear' }, null],
    [{ blank: 'keep' }, { blank: 'clear' }, 'kept'],
    [{}, { blank: 'clear', defaults: { asset_tag: 'J' } }, 'J'],
    [{ required: true }, { defaults: { asset_tag: 'J' } }, 'required C'],
    [{ values: { '': 'none given' } }, {}, 'none given'],
  ])('%j %j → %j', (target, more, expected) => {
    expect(blankOf(target, more)).toEqual(expected);
  });

  test('a cell the job translates to nothing is blank', () => {
    const columns = {
      N: 'name',
      C: { field: 'asset_tag', blank: 'clear' as const, values: { 'N/A': null, ' old ': 'new' } },
    };
    const mapping = mappingOf({ columns }, ['N', 'C']);
    expect(mapping.mapRow(row(['n', 'n/a'])).set).toEqual({ name: 'n', asset_tag: null });
    expect(mapping.mapRow(row(['n', 'OLD'])).set).toEqual({ name: 'n', asset_tag: 'new' });
    expect(mapping.mapRow(row(['n', 'other'])).set).toEqual({ name: 'n', asset_tag: 'other' });
  });

  test.each<[Cell, unknown]>([
    ['NULL', {}],
    [' null ', {}],
    ['n/a', {}],
    [{ t: 'e', value: '#N/A' }, {}],
    ['nullable', { asset_notes: 'nullable' }],
    // What a column says goes before what the file says.
    ['None', { asset_notes: 'none at all' }],
  ])('%j where source.null_values name NULL, N/A, #N/A and None: %j', (cell, set) => {
    const target = { field: 'asset_notes', values: { None: 'none at all' } };
    const source = { null_values: ['NULL', 'N/A', '#N/A', 'None'] };
    for (const values of [target.values, { other: 'x', None: 'none at all' }]) {
      const mapping = mappingOf({ columns: { Name: 'name', Notes: { ...target, values } }, source }, ['Name', 'Notes']);
      expect(mapping.mapRow(row(['a', cell]))).toMatchObject({ set: { name: 'a', ...(set as object) }, issues: [] });
      expect(mapping.remarks()).toEqual([]);
    }
  });

  test('a null value is blank in every way: required, cleared, and without a translation of its own', () => {
    const source = { null_values: ['-'] };
    const columns = {
      Name: { field: 'name', required: true },
      Notes: { field: 'asset_notes', blank: 'clear' as const },
    };
    const mapping = mappingOf({ columns, source }, ['Name', 'Notes']);
    expect(mapping.mapRow(row(['a', ' - '])).set).toEqual({ name: 'a', asset_notes: null });
    expect(issuesOf(mapping, ['-', 'x'])).toMatchObject([{ code: 'required', column: 'Name' }]);
  });

  test('a key that is wholly blank is a fault, in whatever way blank cells are treated', () => {
    for (const blank of ['keep', 'clear'] as const) {
      const one = mappingOf({ columns: { S: 'serial_number', N: 'name' }, match: { key: 'serial_number' }, blank }, [
        'S',
        'N',
      ]);
      expect(issuesOf(one, ['', 'n'])).toMatchObject([
        { code: 'required', column: 'S', field: 'serial_number', value: '' },
      ]);
      const two = mappingOf(
        { columns: { S: 'serial_number', N: 'name' }, match: { key: ['serial_number', 'name'] }, blank },
        ['S', 'N'],
      );
      expect(issuesOf(two, ['', 'n'])).toEqual([]);
      expect(issuesOf(two, ['', ''])).toMatchObject([{ code: 'required', column: 'S' }]);
      expect(issuesOf(two, ['', ''])[0]?.message).toContain('"S" and "N"');
    }
  });

  test('a required key that is blank is one fault, an unreadable one keeps its own', () => {
    const columns = { S: { field: 'serial_number', required: true }, N: 'name' };
    const mapping = mappingOf({ columns, match: { key: 'serial_number' } }, ['S', 'N']);
    expect(issuesOf(mapping, ['', 'n']).map(({ code }) => code)).toEqual(['required']);
    expect(issuesOf(mapping, ['1.23456E+17', 'n']).map(({ code }) => code)).toEqual(['number_precision_lost']);
  });

  test('a constant may be part of the key, and does not make up for a blank rest', () => {
    const mapping = mappingOf(
      {
        columns: { S: 'serial_number' },
        constants: { manufacturer: 'X' },
        match: { key: ['manufacturer', 'serial_number'] },
      },
      ['S'],
    );
    expect(issuesOf(mapping, ['s'])).toEqual([]);
    expect(issuesOf(mapping, ['']).map(({ code }) => code)).toEqual(['required']);
  });

  test('a constant stands over a mapped column', () => {
    const mapping = mappingOf(
      { columns: { S: 'serial_number', T: 'warranty_type' }, constants: { warranty_type: 'oem' } },
      ['S', 'T'],
    );
    expect(mapping.mapRow(row(['s', 'no such type']))).toMatchObject({ set: { warranty_type: 'oem' }, issues: [] });
  });

  test('the key id is read as a positive whole number', () => {
    const mapping = mappingOf({ columns: { ID: 'id', N: 'name' }, match: { key: 'id' } }, ['ID', 'N']);
    expect(mapping.mapRow(row(['17', 'n'])).set).toEqual({ id: 17, name: 'n' });
    expect(issuesOf(mapping, ['0', 'n']).map(({ code }) => code)).toEqual(['out_of_range']);
    expect(issuesOf(mapping, ['x', 'n']).map(({ code }) => code)).toEqual(['not_a_number']);
    expect(issuesOf(mapping, ['', 'n']).map(({ code }) => code)).toEqual(['required']);
  });
});

describe('what is to be said of cells that are no faults', () => {
  const remarksOf = (columns: Record<string, unknown>, cells: readonly string[], more = {}) => {
    const mapping = mappingOf(
      { columns: columns as { Cell: string }, match: { key: 'name' }, constants: { name: 'x' }, ...more },
      ['Cell'],
    );
    const rows = cells.map((cell) => mapping.mapRow(row([cell])));
    return { remarks: mapping.remarks(), rows };
  };

  test('words for "no value" in more than 1% of a text column', () => {
    const many = (count: number) => [
      ...Array<string>(count).fill('NULL'),
      ...Array<string>(200 - count).fill('Nullarbor'),
    ];
    expect(remarksOf({ Cell: 'asset_notes' }, many(2)).remarks).toEqual([]);
    const [said, ...others] = remarksOf({ Cell: 'asset_notes' }, [...many(2), ' n/a', '#N/A', 'None']).remarks;
    expect(others).toEqual([]);
    expect(said).toContain('"Cell": 5 of 203 cells hold "NULL", "n/a", "#N/A" or "None"');
    expect(said).toContain('`source: { null_values: ["NULL", "n/a", "#N/A", "None"] }`');
    expect(remarksOf({ Cell: { field: 'asset_notes', values: { NULL: null } } }, many(9)).remarks).toEqual([]);
    expect(remarksOf({ Cell: 'original_cost' }, many(9)).remarks).toEqual([]);
  });

  test('text that was decoded in a wrong encoding, or twice, is a warning of the row and of the run', () => {
    const right = ['Müller', 'SÃO PAULO', '“IRMÃ”', 'Âge', '20 °C', 'château'];
    const { remarks, rows } = remarksOf({ Cell: 'asset_notes' }, [
      'it\u00e2\u0080\u0099s',
      'MÃ¼ller & SÃ¶hne',
      'bell\u0007',
      ...['itâ€™s', '20 Â°C', 'GroÃŸ'],
      ...right,
    ]);
    expect(rows.map(({ issues }) => issues.map(({ code, severity }) => [code, severity]))).toEqual([
      [['misread_text', 'warning']],
      [['misread_text', 'warning']],
      [['control_character', 'error']],
      ...[1, 2, 3].map(() => [['misread_text', 'warning']]),
      ...right.map(() => []),
    ]);
    expect(rows[0]!.set['asset_notes']).toBe('it\u00e2\u0080\u0099s');
    expect(remarks).toEqual([expect.stringContaining('"Cell": 5 cells look as if read in a wrong encoding')]);
  });
});

describe('faults of a row', () => {
  const columns = { N: 'name', C: 'original_cost', D: 'warranty_end_date', CC: 'template.Finance.Cost Centre' };
  const mapping = mappingOf({ columns }, ['N', 'C', 'D', 'CC', 'Free']);

  test('all are reported, each with heading, field, value and what to do', () => {
    const issues = issuesOf(mapping, ['x'.repeat(60), ' much ', '01/02/2024', 'c'.repeat(151), '']);
    expect(issues.map(({ code, column, field }) => [code, column, field])).toEqual([
      ['too_long', 'N', 'name'],
      ['not_a_number', 'C', 'original_cost'],
      ['ambiguous_date', 'D', 'warranty_end_date'],
      ['too_long', 'CC', 'template.Finance.Cost Centre'],
    ]);
    expect(issues.every(({ severity, origin }) => severity === 'error' && origin === 'local')).toBe(true);
    expect(issues[1]).toMatchObject({ value: 'much', message: expect.stringContaining('"much" cannot be read') });
  });

  test('error cells and formulas without a result are faults where they are mapped', () => {
    const error = { t: 'e', value: '#REF!' } as const;
    expect(issuesOf(mapping, ['n', error, { t: 'f', formula: 'A1*2' }, '', error])).toMatchObject([
      { code: 'excel_error', column: 'C', value: '#REF!' },
      { code: 'excel_error', column: 'D', value: '=A1*2' },
    ]);
    const said = (value: string) => issuesOf(mapping, ['n', { t: 'e', value }])[0]?.message;
    expect(said('Err:502')).toContain('the spreadsheet error Err:502');
    expect(said('18:00')).toContain('stores a value for this cell that cannot be read; the cell shows "18:00"');
  });

  test('an error cell may be translated by the job', () => {
    const translated = mappingOf({ columns: { N: 'name', T: { field: 'asset_tag', values: { '#N/A': null } } } }, [
      'N',
      'T',
    ]);
    expect(translated.mapRow(row(['n', { t: 'e', value: '#N/A' }]))).toMatchObject({ set: { name: 'n' }, issues: [] });
  });

  test('faults the reader found in a cell stand for the cell, the others are still read', () => {
    const nul = { code: 'nul_character', message: 'The cell holds a NUL.', index: 1 } as const;
    expect(issuesOf(mapping, ['n', '\0', 'soon'], [nul])).toMatchObject([
      { code: 'nul_character', column: 'C', message: 'The cell holds a NUL.' },
      { code: 'not_a_date', column: 'D' },
    ]);
  });

  test('a fault the reader found in a column that is not imported does no harm', () => {
    const more = mappingOf({ columns: { N: 'name', X: null } }, ['N', 'X']);
    const long = { code: 'cell_too_long', message: 'Too long.', index: 1 } as const;
    expect(more.mapRow(row(['n', 'xxx'], [long]))).toMatchObject({ set: { name: 'n' }, issues: [] });
    const stray = { code: 'stray_quote', message: 'Stray.', index: 1 } as const;
    expect(issuesOf(more, ['n', 'xxx'], [stray]).map(({ code }) => code)).toEqual(['stray_quote']);
  });

  test('a fault the reader found in the key is not a blank key as well', () => {
    const nul = { code: 'nul_character', message: 'The cell holds a NUL.', index: 0 } as const;
    expect(issuesOf(mapping, ['\0'], [nul]).map(({ code, field }) => [code, field])).toEqual([
      ['nul_character', 'name'],
    ]);
  });

  test('of a ragged row only that is reported: its cells may stand under wrong headings', () => {
    const ragged = { code: 'ragged_row', message: 'The row has 3 cells, the heading 5.' } as const;
    const staged = mapping.mapRow(row(['n', 'much', 'soon'], [ragged]));
    expect(staged.issues).toMatchObject([{ code: 'ragged_row' }]);
    expect(staged.set).toMatchObject({ name: 'n' });
  });
});

test('lists of texts are split at commas, semicolons and blanks', () => {
  const spec = { ...findField(resourceSpec('asset'), 'name')!, type: { kind: 'texts' } as const };
  const convert = makeConverter(spec, { decimal: { sign: '.', why: '' }, format: 'csv' });
  expect(convert('a@x.org; b@x.org,c@x.org  d@x.org')).toEqual(['a@x.org', 'b@x.org', 'c@x.org', 'd@x.org']);
});
