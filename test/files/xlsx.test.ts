import { describe, expect, test } from 'vitest';
import { openSource } from '../../src/files/open.js';
import { type BookSpec, bookOf, read, refusal, scratch, textRows } from './fixtures.js';

const { file } = await scratch();
let count = 0;
const book = (spec: BookSpec | Buffer) => file(`t${++count}.xlsx`, Buffer.isBuffer(spec) ? spec : bookOf(spec));
const sheet = (xml: string, spec: Partial<BookSpec> = {}) => book({ sheets: [{ xml }], ...spec });

const HEAD = textRows([['A', 'B', 'C']]);

describe('cells', () => {
  test('dates by number format, in the 1900 and the 1904 system (68)', async () => {
    const formats = [
      14,
      'yyyy-mm-dd',
      '[$-409]d\\-mmm\\-yyyy;@',
      22,
      '[h]:mm',
      'h:mm',
      '"day" 0',
      31,
      'dd/mm/yyyy hh:mm:ss',
    ];
    const xml = (serial: string) =>
      textRows([formats.map((_, i) => `H${i}`)]) +
      `<row r="2">${formats.map((_, i) => `<c s="${i + 1}"><v>${serial}</v></c>`).join('')}</row>`;
    const values = async (serial: string, date1904: boolean) => {
      const { rows } = await read(await sheet(xml(serial), { formats, date1904 }));
      return rows[0]!.cells.map((cell) =>
        typeof cell === 'string' ? cell : `${cell.t} ${'value' in cell ? cell.value : ''}`,
      );
    };
    const day = 'd 2024-02-29';
    expect(await values('45351', false)).toEqual([day, day, day, day, 'n 45351', 'n 45351', 'n 45351', day, day]);
    expect((await values('43889', true))[0]).toBe(day);
    expect((await values('45351.75', false))[8]).toBe('d 2024-02-29T18:00:00');
    expect((await values('45351.999999', false))[8]).toBe('d 2024-03-01');
    expect((await values('1', false))[0]).toBe('d 1900-01-01');
    expect((await values('59', false))[0]).toBe('d 1900-02-28');
    expect((await values('60', false))[0]).toBe('n 60');
    expect((await values('61', false))[0]).toBe('d 1900-03-01');
    expect((await values('0', true))[0]).toBe('d 1904-01-01');
    expect((await values('2958465', false))[0]).toBe('d 9999-12-31');
    expect((await values('2958466', false))[0]).toBe('n 2958466');
    expect((await values('-1', false))[0]).toBe('n -1');
  });

  test('NUL, undecodable bytes and giant cells are faults of their row (64, 90)', async () => {
    const xml = Buffer.concat([
      Buffer.from(
        `${HEAD}<row r="2"><c t="inlineStr"><is><t>a_x0000_b</t></is></c></row><row r="3"><c/><c t="str"><v>x`,
      ),
      Buffer.from([0xe9, 0x41]),
      Buffer.from(`</v></c></row><row r="4"><c t="s"><v>0</v></c><c t="s"><v>1</v></c></row>`),
    ]);
    const strings = `<si><t>${'x'.repeat(32_768)}</t></si><si><t>${'ä'.repeat(32_767)}</t></si>`;
    const spec = bookOf({
      sheets: [{ xml: '<row/>' }],
      strings,
      replace: {
        'xl/worksheets/sheet1.xml': {
          data: Buffer.concat([Buffer.from('<worksheet><sheetData>'), xml, Buffer.from('</sheetData></worksheet>')]),
        },
      },
    });
    const { rows } = await read(await book(spec));
    expect(rows.map((row) => row.faults?.map(({ code, index }) => [code, index]))).toEqual([
      [['nul_character', 0]],
      [['invalid_encoding', 1]],
      [['cell_too_long', 0]],
    ]);
    expect(rows[1]!.cells[1]).toBe('x\ufffdA');
  });
});

describe('sheets', () => {
  const data = textRows([
    ['Name', 'Qty'],
    ['Drill', '1'],
  ]);
  const sheets = [
    { name: 'Hidden one', state: 'hidden', xml: data },
    { name: 'Empty', xml: '' },
    { name: 'Größe', xml: data },
    { name: 'Other', xml: data },
    { name: 'Deep', state: 'veryHidden', xml: data },
  ];

  test('the first visible sheet that holds data; the others are named (74)', async () => {
    const { meta } = await read(await book({ sheets }));
    expect(meta.sheet).toBe('Größe');
    expect(meta.warnings).toContain('Further sheets are not read: "Empty", "Other".');
    expect(meta.warnings).toContain('Hidden sheets are not read: "Hidden one", "Deep".');
  });

  test.each([
    ['Other', 'Other'],
    ['größe', 'Größe'],
    ['GRO\u0308ßE', 'Größe'],
    [4, 'Other'],
    ['5', 'Deep'],
  ])('sheet %j is %s', async (stated, name) => {
    const { meta } = await read(await book({ sheets }), { sheet: stated });
    expect(meta.sheet).toBe(name);
  });

  test('a number beyond the sheets may be a name', async () => {
    const path = await book({ sheets: [...sheets, { ...sheets.find(({ name }) => name === 'Other')!, name: '2024' }] });
    expect((await read(path, { sheet: 2024 })).meta.sheet).toBe('2024');
  });

  test('a wrong name lists the sheets', async () => {
    const error = await refusal(openSource(await book({ sheets }), { sheet: 'Othr' }));
    expect(error.message).toContain('3 "Größe"');
    expect((await refusal(openSource(await book({ sheets }), { sheet: 9 }))).message).toContain('no sheet 9');
  });

  test('no data anywhere', async () => {
    const error = await refusal(openSource(await book({ sheets: [{ xml: '' }, { xml: '<row r="5"/>' }] })));
    expect(error.message).toContain('no visible sheet holds data');
    const hidden = await refusal(openSource(await book({ sheets: [sheets[0]!, { name: 'None', xml: '' }] })));
    expect(hidden.message).toContain('(sheets: "Hidden one" (hidden), "None")');
  });
});

describe('rows', () => {
  test('row numbers are those of the sheet; blank rows are left out; missing r attributes are counted', async () => {
    const xml =
      '<row><c t="str"><v>A</v></c><c t="str"><v>B</v></c></row><row/><row r="7"><c r="B7"><v>1</v></c></row>' +
      '<row><c><v>2</v></c><c><v>3</v></c></row><row r="20"><c t="str"><v>  </v></c></row>';
    const { rows } = await read(await sheet(xml));
    expect(rows.map((row) => [row.row, row.cells.map((cell) => (typeof cell === 'string' ? cell : 'n'))])).toEqual([
      [7, ['', 'n']],
      [8, ['n', 'n']],
    ]);
  });

  test('title rows above the heading and notes below the table', async () => {
    const xml = textRows([
      ['Lots of people', ''],
      ['simply cannot resist writing', '', '', '', '', 'some notes'],
      ['at', 'the', 'top', '', 'of', 'their spreadsheets'],
      ['or', 'merging', '', '', '', 'cells'],
      ['Name', 'Profession', 'Age', 'Has kids', 'Born', 'Died'],
      ['David', 'musician', '69', 'yes', '1947', '2016'],
      ['Carrie', 'actor', '60', 'yes', '1956', '2016'],
      ['Some', '', '', '', '', ''],
    ]);
    const { meta, rows } = await read(await sheet(xml));
    expect(meta.header_row).toBe(5);
    expect(meta.warnings.join(' ')).toContain('4 rows above the heading were skipped');
    expect(rows.map((row) => row.row)).toEqual([6, 7, 8]);
  });

  test('hidden rows and columns are read, counted and said (74)', async () => {
    const xml =
      '<cols><col min="2" max="3" hidden="1"/></cols><sheetData>' +
      '<row r="1" hidden="1"><c r="A1" t="str"><v>A</v></c><c t="str"><v>B</v></c><c t="str"><v>C</v></c></row>' +
      '<row r="2" hidden="1"><c><v>1</v></c></row><row r="3"><c><v>2</v></c></row><row r="4" hidden="true"><c><v>3</v></c></row></sheetData>';
    const { meta, rows } = await read(await sheet(xml));
    expect(rows.length).toBe(3);
    expect(meta.warnings).toContain('3 hidden rows are read like the others.');
    expect(meta.warnings).toContain('2 hidden columns are read like the others.');
  });

  test('merged cells: only the first has the value; merged headings are said (73)', async () => {
    const xml = `<sheetData>${textRows([
      ['A', 'B', ''],
      ['1', '2', '3'],
      ['4', '5', '6'],
    ])}</sheetData><mergeCells count="2"><mergeCell ref="B1:C1"/><mergeCell ref="A2:A3"/></mergeCells>`;
    const { meta } = await read(await sheet(xml));
    expect(meta.headings).toEqual(['A', 'B', '']);
    expect(meta.warnings.join(' ')).toContain('heading are merged (B1:C1)');
    expect(meta.warnings.join(' ')).toContain('1 merged range below the heading');
    expect(meta.warnings.join(' ')).toContain(
      'without a heading are imported only where the job names their letter: C',
    );
  });

  test('a filled cell without heading makes its row ragged', async () => {
    const many = Array.from({ length: 120 }, (_, i) => [`n${i}`, '1']);
    const { meta, rows } = await read(await sheet(textRows([['A', 'B'], ...many, ['x', '2', '', 'note']])));
    expect(meta.headings).toEqual(['A', 'B']);
    expect(rows.at(-1)).toMatchObject({ row: 122, cells: ['x', '2'], faults: [{ code: 'ragged_row' }] });
    expect(rows.at(-1)!.faults![0]!.message).toContain('D122 holds "note"');
  });

  test('a stated heading row; past the end and on a blank row it is a wrong usage', async () => {
    const path = await sheet(textRows([['t'], ['A', 'B'], ['', ''], ['1', '2']]));
    expect((await read(path, { header_row: 2 })).meta.headings).toEqual(['A', 'B']);
    for (const header_row of [3, 5]) {
      expect((await refusal(openSource(path, { header_row }))).kind).toBe('usage');
    }
    expect((await refusal(openSource(path, { format: 'csv' }))).kind).toBe('usage');
    for (const options of [{ delimiter: ';' }, { encoding: 'utf-8' }]) {
      expect((await openSource(path, { ...options, header_row: 2 })).meta.headings).toEqual(['A', 'B']);
    }
  });
});
