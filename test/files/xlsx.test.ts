import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { openSource } from '../../src/files/open.js';
import { type BookSpec, bookOf, read, refusal, scratch, textRows } from './fixtures.js';

const { file } = await scratch();
let count = 0;
const book = (spec: BookSpec | Buffer) => file(`t${++count}.xlsx`, Buffer.isBuffer(spec) ? spec : bookOf(spec));
const sheet = (xml: string, spec: Partial<BookSpec> = {}) => book({ sheets: [{ xml }], ...spec });
const cellsOf = (rows: readonly { cells: readonly unknown[] }[]) => rows.map((row) => row.cells);

const HEAD = textRows([['A', 'B', 'C']]);

describe('cells', () => {
  test('shared strings: rich text joined, phonetic guides dropped, blanks kept, entities resolved', async () => {
    const strings =
      '<si><t>Name</t></si><si><t xml:space="preserve"> two  blanks </t></si>' +
      '<si><r><rPr><b/></rPr><t>rich </t></r><r><t>text</t></r><rPh sb="0" eb="1"><t>ふりがな</t></rPh><phoneticPr fontId="1"/></si>' +
      '<si><t>&lt;a&gt; &amp; &quot;b&quot; &apos;c&apos; &#228; &#x1F600; Größe</t></si><si/><si><t/></si>' +
      '<si><t>line1_x000D_\nline2 _x005F_x000D_</t></si><si><t><![CDATA[<raw & kept>]]></t></si>';
    const xml = `<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="inlineStr"><is><t>B</t></is></c></row>${[
      1, 2, 3, 4, 5, 6, 7,
    ]
      .map((i) => `<row r="${i + 1}"><c r="A${i + 1}" t="s"><v>${i}</v></c><c r="B${i + 1}"><v>${i}</v></c></row>`)
      .join('')}`;
    const { rows } = await read(await sheet(xml, { strings }));
    expect(rows.map((row) => row.cells[0])).toEqual([
      ' two  blanks ',
      'rich text',
      '<a> & "b" \'c\' ä 😀 Größe',
      '',
      '',
      'line1\r\nline2 _x000D_',
      '<raw & kept>',
    ]);
  });

  test('inline strings, formula results, booleans, errors, formulas without a result (71, 72)', async () => {
    const { rows } = await read(
      await sheet(
        `${HEAD}<row r="2"><c r="A2" t="inlineStr"><is><r><t>in</t></r><r><t xml:space="preserve"> line</t></r></is></c>` +
          '<c r="B2" t="str"><f>"a"&amp;"b"</f><v>ab</v></c><c r="C2"><f>1+1</f><v>2</v></c></row>' +
          '<row r="3"><c r="A3" t="b"><v>1</v></c><c r="B3" t="b"><f>FALSE()</f><v>0</v></c><c r="C3" t="e"><v>#REF!</v></c></row>' +
          '<row r="4"><c r="A4"><f>A2&amp;"x"</f></c><c r="B4"><f>SUM(1,2)</f><v/></c><c r="C4" t="str"><f>""</f><v></v></c></row>' +
          '<row r="5"><c r="A5"><f t="shared" si="0"/><v>7</v></c><c r="B5" t="e"><f>1/0</f><v>#DIV/0!</v></c></row>',
      ),
    );
    expect(cellsOf(rows)).toEqual([
      ['in line', 'ab', { t: 'n', value: '2', shown: '2' }],
      [
        { t: 'b', value: true },
        { t: 'b', value: false },
        { t: 'e', value: '#REF!' },
      ],
      [{ t: 'f', formula: 'A2&"x"' }, { t: 'f', formula: 'SUM(1,2)' }, ''],
      [{ t: 'n', value: '7', shown: '7' }, { t: 'e', value: '#DIV/0!' }, ''],
    ]);
  });

  test.each([
    ['42', '42'],
    ['-0', '0'],
    ['0.1', '0.1'],
    ['4.1000000000000005', '4.1'],
    ['1.0000000000000001E-2', '0.01'],
    ['1.5E+3', '1500'],
    ['1E+20', '100000000000000000000'],
    ['123456789012345', '123456789012345'],
    ['12345678901234567', '12345678901234600'],
    ['0.30000000000000004', '0.3'],
    ['-1234.50', '-1234.5'],
    ['1e-7', '0.0000001'],
  ])('the stored number %s is %s', async (raw, value) => {
    const { rows } = await read(await sheet(`${HEAD}<row r="2"><c r="A2"><v>${raw}</v></c></row>`));
    expect(rows[0]!.cells[0]).toEqual({ t: 'n', value, shown: value });
  });

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

  test('a date keeps the text a person sees and its format code', async () => {
    const { rows } = await read(
      await sheet(
        `${HEAD}<row r="2"><c s="1"><v>45351.5</v></c><c s="2"><v>7</v></c><c s="3"><v>1234.5</v></c></row>`,
        {
          formats: ['d\\.m\\.yy h:mm', '00000', '"€" #,##0.00'],
        },
      ),
    );
    expect(rows[0]!.cells).toEqual([
      { t: 'd', value: '2024-02-29T12:00:00', shown: '29.2.24 12:00', format: 'd\\.m\\.yy h:mm' },
      { t: 'n', value: '7', shown: '00007', format: '00000' },
      { t: 'n', value: '1234.5', shown: '€ 1,234.50', format: '"€" #,##0.00' },
    ]);
  });

  test('ISO dates of strict workbooks', async () => {
    const { rows } = await read(
      await sheet(`${HEAD}<row r="2"><c t="d"><v>2024-02-29</v></c><c t="d"><v>2024-02-29T08:30:00Z</v></c></row>`, {
        strict: true,
      }),
    );
    expect(rows[0]!.cells.slice(0, 2)).toEqual([
      { t: 'd', value: '2024-02-29', shown: '2024-02-29' },
      { t: 'd', value: '2024-02-29T08:30:00', shown: '2024-02-29 08:30:00' },
    ]);
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

  test('strict documents, prefixed names, comments and no dimension', async () => {
    const xml =
      '<x:sheetData><!-- <x:row r="9"/> --><x:row r="1"><x:c r="A1" t="str"><x:v>A</x:v></x:c></x:row>' +
      "<x:row r='2'><x:c r='A2' t='inlineStr'><x:is><x:t>Zoë</x:t></x:is></x:c></x:row></x:sheetData>";
    const { meta, rows } = await read(await sheet(xml, { strict: true, prefix: 'x' }));
    expect(meta.headings).toEqual(['A']);
    expect(rows).toEqual([{ row: 2, cells: ['Zoë'] }]);
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

  test('a gzipped workbook', async () => {
    const path = await file('book.xlsx.gz', gzipSync(bookOf({ sheets: [{ xml: textRows([['A'], ['1']]) }] })));
    const { meta, rows } = await read(path);
    expect(meta).toMatchObject({ format: 'xlsx', gzip: true });
    expect(rows).toEqual([{ row: 2, cells: ['1'] }]);
  });

  test('a used range of the whole sheet costs nothing; more than 1,000 headings are refused (81, 90)', async () => {
    const styled = Array.from({ length: 16_384 }, () => '<c s="0"/>').join('');
    const xml =
      `<dimension ref="A1:XFD1048576"/><sheetData>${textRows([['A', 'B']])}<row r="2"><c><v>1</v></c>${styled}</row>` +
      '<row r="1048576"><c r="XFD1048576" s="0"/></row></sheetData><mergeCells><mergeCell ref="A3:XFD1048576"/></mergeCells>';
    const { meta, rows } = await read(await sheet(xml));
    expect(meta.headings).toEqual(['A', 'B']);
    expect(rows.length).toBe(1);
    const wide = textRows([Array.from({ length: 1_001 }, (_, i) => `H${i}`)]);
    expect((await refusal(openSource(await sheet(wide)))).message).toContain('1,000 columns');
  });

  test('rows that do not ascend are refused', async () => {
    const xml = `${HEAD}<row r="3"><c><v>1</v></c></row><row r="2"><c><v>2</v></c></row>`;
    expect((await refusal(openSource(await sheet(xml)))).message).toContain('row 2 stands after row 3');
  });
});
