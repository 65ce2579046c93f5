import { describe, expect, test } from 'vitest';
import { openSource } from '../../src/files/open.js';
import { type Cell, displayText } from '../../src/model/row.js';
import { type BookSpec, bookOf, escapeXml, read, refusal, scratch, textRows } from './fixtures.js';

/*
 * Cells byte by byte: what of them is read, how a person sees it, and what is a fault. Each form stands in its common
 * shape and in one that only the general scan of XML knows (a comment, a prefix, an attribute more).
 */

const { file } = await scratch();
let count = 0;
const sheet = (xml: string, spec: Partial<BookSpec> = {}) =>
  file(`c${++count}.xlsx`, bookOf({ sheets: [{ xml }], ...spec }));
const HEAD = textRows([['A', 'B', 'C']]);
const firstCell = async (xml: string, spec: Partial<BookSpec> = {}): Promise<Cell | undefined> =>
  (await read(await sheet(`${HEAD}<row r="2">${xml}</row>`, spec), { header_row: 1 })).rows[0]?.cells[0];

describe('shared and inline strings', () => {
  test.each([
    ['<t>plain</t>', 'plain'],
    ['<t xml:space="preserve">  two  </t>', '  two  '],
    ['<t>  not preserved </t>', '  not preserved '],
    ['<r><t>a</t></r><r><rPr><b/></rPr><t xml:space="preserve"> b</t></r>', 'a b'],
    ['<t>漢字</t><rPh sb="0" eb="2"><t>かんじ</t></rPh><phoneticPr fontId="1"/>', '漢字'],
    ['<r><t>漢</t></r><rPh sb="0" eb="1"><t>かん</t></rPh><r><t>字</t></r>', '漢字'],
    ['<t>&lt;b&gt; &amp;amp; &#x20AC;&#8364;</t>', '<b> &amp; €€'],
    ['<t>a<![CDATA[<b> & ]]>c</t>', 'a<b> & c'],
    ['<t>a<!-- no --><?x no?>c</t>', 'ac'],
    ['<t>_x0041__x005F_x0041_</t>', 'A_x0041_'],
    ['<t>a\r\nb\rc</t>', 'a\nb\nc'],
    ['<t>Tab\tand _ alone</t>', 'Tab\tand _ alone'],
    ['<t/>', ''],
    ['', ''],
  ])('%s is %j, shared and inline', async (item, text) => {
    const cells =
      '<c r="A2" t="s"><v>0</v></c>' +
      `<c r="B2" t="inlineStr"><is>${item}</is></c><c r="C2" t="inlineStr" x="1"><is >${item}</is ></c>` +
      '<c r="D2"><v>1</v></c>';
    const { rows } = await read(
      await sheet(`${textRows([['A', 'B', 'C', 'D']])}<row r="2">${cells}</row>`, { strings: `<si>${item}</si>` }),
    );
    expect(rows[0]!.cells.slice(0, 3)).toEqual([text, text, text]);
  });

  test('inline cells without text, and shared ones without a number, are blank', async () => {
    const xml =
      `${HEAD}<row r="2"><c r="A2" t="inlineStr"/><c r="B2" t="inlineStr"><is/></c><c r="C2"><v>1</v></c></row>` +
      '<row r="3"><c r="A3" t="s"><v/></c><c r="B3" t="s"><v> </v></c><c r="C3"><v>2</v></c></row>' +
      '<row r="4"><c r="A4" t="s"/><c r="B4" t="z"/><c r="C4"><v>3</v></c></row>';
    const { rows } = await read(await sheet(xml, { strings: '<si><t>x</t></si>' }));
    expect(rows.map((row) => row.cells.slice(0, 2))).toEqual([
      ['', ''],
      ['', ''],
      ['', ''],
    ]);
  });

  test('a number of a shared string may stand between blanks; what is no number is refused', async () => {
    const strings = '<si><t>x</t></si>';
    expect(await firstCell('<c t="s"><v>\n 0 </v></c>', { strings })).toBe('x');
    expect(await firstCell('<c t="s"><v>1</v></c><c><v>1</v></c>', { strings: `<si/><si/>${strings}` })).toBe('');
    for (const bad of ['1', '-0', '0.0', '1e0', 'x', '99999999999']) {
      const path = await sheet(`${HEAD}<row r="2"><c t="s"><v>${bad}</v></c></row>`, { strings });
      expect((await refusal(read(path))).message).toContain(`refers to text number ${bad}`);
    }
  });

  test('leading zeros and long digits that are text stay as they are (69, 70)', async () => {
    const { rows } = await read(
      await sheet(
        `${textRows([
          ['A', 'B'],
          ['007', '12345678901234567890'],
        ])}<row r="3"><c s="1"><v>7</v></c><c><v>12345678901234567</v></c></row>`,
        { formats: ['000'] },
      ),
    );
    expect(rows.map((row) => row.cells)).toEqual([
      ['007', '12345678901234567890'],
      // A number has 15 digits; the field that it goes to says what is lost.
      [
        { t: 'n', value: '7', shown: '007', format: '000' },
        { t: 'n', value: '12345678901234600', shown: '12345678901234600' },
      ],
    ]);
  });
});

describe('numbers', () => {
  test.each(['0;-0;;@', '#,###', ';;;', '0;-0;" "'])(
    'a zero that %j hides is a blank cell, as a person sees it',
    async (format) => {
      const spec = { formats: [format] };
      expect(await firstCell('<c s="1"><v>0</v></c><c><v>1</v></c>', spec)).toBe('');
      expect(await firstCell('<c s="1"><f>Z9</f><v>0.0</v></c><c><v>1</v></c>', spec)).toBe('');
      expect(await firstCell('<c s="1"><v>12</v></c>', spec)).toMatchObject({ t: 'n', value: '12' });
    },
  );

  test.each([
    ['<c><v>5</v></c>', '5'],
    ['<c t="n"><v>5</v></c>', '5'],
    ['<c><v> 5\n</v></c>', '5'],
    ['<c><v>005</v></c>', '5'],
    ['<c><v>+5.50</v></c>', '5.5'],
    ['<c><v>.5</v></c>', '0.5'],
    ['<c><v>5.</v></c>', '5'],
    ['<c><v>1.7976931348623157E+308</v></c>', undefined],
    ['<c><v>0.1234567890123456</v></c>', '0.123456789012346'],
    ['<c><v>999999999</v></c>', '999999999'],
    ['<c><v>9999999999</v></c>', '9999999999'],
    ['<c><v>-0.0</v></c>', '0'],
    ['<c><v>1<!-- x -->2</v></c>', '12'],
    ['<c><v><![CDATA[7]]></v></c>', '7'],
    ['<c><v>&#55;</v></c>', '7'],
    ['<c x14ac:dyDescent="0.2" r="A2"><v>7</v></c>', '7'],
    ["<c r='A2' s='0'><v>7</v></c>", '7'],
    ['<c\n  r = "A2"\n><v >7</v ></c >', '7'],
    ['<c r="a2"><v>7</v></c>', '7'],
    ['<c r="$A$2"><v>7</v></c>', '7'],
  ])('%s', async (xml, value) => {
    const cell = await firstCell(xml);
    expect(typeof cell === 'object' && cell.t === 'n' ? cell.value.slice(0, 20) : cell).toBe(
      value ?? `179769313486232${'0'.repeat(5)}`,
    );
  });

  test('a number that is none stays the text that it is', async () => {
    for (const raw of ['1,5', 'NaN', 'INF', '12 kg', '0x10', '1e', '--5', '1.2.3']) {
      expect(await firstCell(`<c><v>${raw}</v></c>`)).toBe(raw);
    }
  });

  test.each([
    ['# ?/?', '0.25', '0.25'],
    ['0%', '0.256', '26%'],
    ['#,##0.00\\ [$€-407]', '1234.5', '1,234.50 €'],
    ['[$$-409]#,##0.00', '1200.5', '$1,200.50'],
    ['[>=1000]#,##0,"k";0', '12345', '12k'],
    ['[Red][<0]-0.0;0.00', '5', '5.00'],
    ['0.00E+00', '123456', '1.23E+05'],
    ['[h]:mm', '1.5', '36:00'],
    ['"SN-"0000', '42', 'SN-0042'],
    [12, '0.5', '0.5'],
    [10, '0.5', '50.00%'],
    [44, '-5.5', '$(5.50)'],
    [46, '1.5', '36:00:00'],
    [49, '12.5', '12.5'],
  ])('the format %s of %s shows %j, the value stays', async (format, raw, shown) => {
    const cell = await firstCell(`<c s="1"><v>${raw}</v></c>`, { formats: [format] });
    expect(cell).toMatchObject({ t: 'n', value: raw, shown });
  });

  test('a style that the workbook does not have is General', async () => {
    expect(await firstCell('<c s="99"><v>45351</v></c>', { formats: [14] })).toMatchObject({ t: 'n', value: '45351' });
  });

  test('the formats of conditional formatting are not those of cells', async () => {
    const data =
      '<styleSheet xmlns="m"><numFmts><numFmt numFmtId="164" formatCode="0.00"/></numFmts>' +
      '<cellXfs><xf numFmtId="0"/><xf numFmtId="164"/></cellXfs>' +
      '<dxfs><dxf><numFmt numFmtId="164" formatCode="yyyy-mm-dd"/></dxf></dxfs></styleSheet>';
    const cell = await firstCell('<c s="1"><v>45351</v></c>', { replace: { 'xl/styles.xml': { data } } });
    expect(cell).toMatchObject({ t: 'n', shown: '45351.00' });
  });
});

describe('dates', () => {
  const ids = [14, 15, 16, 17, 22, 27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58];
  const codes = [
    'yyyy\\-mm\\-dd;@',
    '[$-F800]dddd\\,\\ mmmm\\ dd\\,\\ yyyy',
    '[$-407]d\\.\\ mmmm\\ yyyy',
    '[$-409]d\\-mmm\\-yy;@',
    '[$-411]ggge"年"m"月"d"日";@',
    '[$-1070000]d/mm/yyyy;@',
    'dd/mm/yyyy hh:mm',
    'yyyy',
    'mmm\\-yy',
    '"on" dddd',
  ];
  test('built-in and custom formats of several locales, in the 1900 and the 1904 system (68)', async () => {
    const formats = [...ids, ...codes];
    for (const [date1904, serial] of [
      [false, '45351'],
      [true, '43889'],
    ] as const) {
      const xml = `${textRows([formats.map((_, i) => `H${i}`)])}<row r="2">${formats.map((_, i) => `<c s="${i + 1}"><v>${serial}</v></c>`).join('')}</row>`;
      const { rows, meta } = await read(await sheet(xml, { formats, date1904 }), { header_row: 1 });
      for (const cell of rows[0]!.cells) expect(cell).toMatchObject({ t: 'd', value: '2024-02-29' });
      expect(meta.evidence.join().includes('counted from 1904')).toBe(date1904);
    }
  });

  test('times and lengths of time are numbers with the text that is seen', async () => {
    const formats = [18, 19, 20, 21, 32, 33, 34, 35, 45, 46, 47, 55, 56, '[$-F400]h:mm:ss AM/PM', '[mm]:ss'];
    const xml = `${textRows([formats.map((_, i) => `H${i}`)])}<row r="2">${formats.map((_, i) => `<c s="${i + 1}"><v>0.75</v></c>`).join('')}</row>`;
    const { rows } = await read(await sheet(xml, { formats }), { header_row: 1 });
    for (const cell of rows[0]!.cells) expect(cell).toMatchObject({ t: 'n', value: '0.75' });
    expect(rows[0]!.cells.map(displayText)).toEqual([
      '6:00 PM',
      '6:00:00 PM',
      '18:00',
      '18:00:00',
      '18:00:00',
      '18:00:00',
      '18:00:00',
      '18:00:00',
      '00:00',
      '18:00:00',
      '00:00.0',
      '18:00:00',
      '18:00:00',
      '6:00:00 PM',
      '1080:00',
    ]);
  });

  test('cells of the type date: ISO text is a date, other text is text', async () => {
    for (const [raw, value] of [
      ['2024-02-29', '2024-02-29'],
      ['2024-02-29T00:00:00', '2024-02-29'],
      ['2024-02-29T08:30:15.000Z', '2024-02-29T08:30:15'],
    ] as const) {
      expect(await firstCell(`<c t="d"><v>${raw}</v></c>`)).toMatchObject({ t: 'd', value });
    }
    for (const raw of ['2023-02-29', '2024-13-01', '29/02/2024', '08:30:00'])
      expect(await firstCell(`<c t="d"><v>${raw}</v></c>`)).toBe(raw);
  });
});

describe('formulas', () => {
  test.each<[string, Cell]>([
    ['<f>1+1</f><v>2</v>', { t: 'n', value: '2', shown: '2' }],
    ['<f ca="1">NOW()</f><v>2.5</v>', { t: 'n', value: '2.5', shown: '2.5' }],
    ['<f t="shared" ref="A2:A9" si="0">B2*2</f><v>4</v>', { t: 'n', value: '4', shown: '4' }],
    ['<f t="shared" si="0"/><v>6</v>', { t: 'n', value: '6', shown: '6' }],
    ['<f t="array" ref="A2:A3">B2:B3</f><v>8</v>', { t: 'n', value: '8', shown: '8' }],
    ['<f>1/3</f><v>0.33333333333333331</v>', { t: 'n', value: '0.333333333333333', shown: '0.333333333333333' }],
  ])('%s has the value that was kept (71)', async (xml, cell) => {
    expect(await firstCell(`<c r="A2">${xml}</c>`)).toEqual(cell);
  });

  test('text, booleans and errors that were kept (71, 72)', async () => {
    expect(await firstCell('<c t="str"><f>A1&amp;"x"</f><v>Ax &amp; é</v></c>')).toBe('Ax & é');
    expect(await firstCell('<c t="b"><f>TRUE()</f><v>1</v></c>')).toEqual({ t: 'b', value: true });
    expect(await firstCell('<c t="b"><v> TRUE </v></c>')).toEqual({ t: 'b', value: true });
    expect(await firstCell('<c t="b"><v>0</v></c>')).toEqual({ t: 'b', value: false });
    for (const error of ['#REF!', '#N/A', '#DIV/0!', '#NAME?', '#NULL!', '#NUM!', '#VALUE!', '#GETTING_DATA']) {
      expect(await firstCell(`<c t="e"><f>X</f><v>${error}</v></c>`)).toEqual({ t: 'e', value: error });
    }
  });

  test('without a value that was kept: the formula is handed over, never a blank (71)', async () => {
    for (const xml of [
      '<f>SUM(B1,2)</f>',
      '<f>SUM(B1,2)</f><v/>',
      '<f>SUM(B1,2)</f><v></v>',
      '<f>SUM(B1,2)</f><v />',
    ]) {
      expect(await firstCell(`<c r="A2">${xml}</c>`)).toEqual({ t: 'f', formula: 'SUM(B1,2)' });
    }
    expect(await firstCell('<c><f t="shared" si="0"/></c>')).toEqual({ t: 'f', formula: '' });
    expect(await firstCell('<c t="str"><f>""</f><v></v></c><c r="B2"><v>1</v></c>')).toBe('');
  });
});

describe('rows and places', () => {
  test('cells in any order stand where they say; two in one place are refused', async () => {
    const { rows } = await read(await sheet(`${HEAD}<row r="2"><c r="C2"><v>3</v></c><c r="A2"><v>1</v></c></row>`));
    expect(rows[0]!.cells.map(displayText)).toEqual(['1', '', '3']);
    for (const cells of [
      '<c r="A2"><v>1</v></c><c r="A2"><v>2</v></c>',
      '<c r="B2"><v>1</v></c><c r="A2"/><c><v>2</v></c>',
    ])
      expect((await refusal(read(await sheet(`${HEAD}<row r="2">${cells}</row>`)))).message).toMatch(
        /row 2 holds two cells in column [AB]\. It was refused whole/,
      );
    const twice = `${HEAD}<row r="2"><c><v>1</v></c></row><row r="2"><c><v>2</v></c></row>`;
    expect((await refusal(read(await sheet(twice)))).message).toContain('rows must ascend');
  });

  test('headings that mean something to the language are headings (82)', async () => {
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
    const { meta, rows } = await read(await sheet(textRows([names, ['1', '2', '3', '4']])));
    expect(meta.headings).toEqual(names);
    expect(rows[0]!.cells).toEqual(['1', '2', '3', '4']);
    expect(({} as Record<string, unknown>)['1']).toBeUndefined();
  });

  test('merged headings: the first cell of each has it, and that is said, over several rows too (73)', async () => {
    const xml = `<sheetData>${textRows([
      ['Asset', 'Cost', ''],
      ['', 'Original', 'Current'],
      ['Drill', '1', '2'],
    ])}</sheetData><mergeCells count="2"><mergeCell ref="A1:A2"/><mergeCell ref="B1:C1"/></mergeCells>`;
    const upper = await read(await sheet(xml), { header_row: 1 });
    expect(upper.meta.headings).toEqual(['Asset', 'Cost', '']);
    expect(upper.meta.warnings.join(' ')).toContain('Cells of the heading are merged (A1:A2, B1:C1)');
    const lower = await read(await sheet(xml), { header_row: 2 });
    expect(lower.meta).toMatchObject({ header_row: 2, headings: ['Asset', 'Original', 'Current'], warnings: [] });
    expect(lower.meta.evidence.join(' ')).toContain('Rows 1 to 2 are the heading: cells are merged over them (A1:A2)');
    expect(lower.rows).toEqual([{ row: 3, cells: ['Drill', '1', '2'] }]);
  });

  test.each([
    ['a title above', ['Inventory', '', '', '', ''], 2],
    ['none', undefined, 1],
  ])('a heading merged over two rows is read as it is seen, with %s (73)', async (_, title, top) => {
    const rows = [
      ['Asset', 'Purchase', '', 'Lease', '', 'Notes'],
      ['', 'Cost', 'Date', 'Cost', 'From', ''],
      ['Drill', '1200', '2024-01-05', '5', '2024-01-05', 'x'],
      ['Saw', '300', '2024-02-05', '6', '2024-02-05', 'y'],
    ];
    const merges = ['A:A', 'B C', 'D E'].map((pair) => {
      const [left, right] = pair.split(/[: ]/);
      return `<mergeCell ref="${left}${top}:${right}${pair.includes(':') ? top + 1 : top}"/>`;
    });
    const xml = `<sheetData>${textRows(title ? [title, ...rows] : rows)}</sheetData><mergeCells>${merges.join('')}</mergeCells>`;
    const { meta, rows: data } = await read(await sheet(xml));
    expect(meta.header_row).toBe(top + 1);
    expect(meta.headings).toEqual(['Asset', 'Purchase Cost', 'Date', 'Lease Cost', 'From', 'Notes']);
    expect(meta.warnings).toEqual(title ? ['Row 1 above the heading was skipped ("Inventory").'] : []);
    expect(data.map(({ row }) => row)).toEqual([top + 2, top + 3]);
  });

  test('years below a group are headings (73)', async () => {
    const years = '<row r="2"><c r="B2"><v>2023</v></c><c r="C2"><v>2024</v></c></row>';
    const rows = `${textRows([['Asset', 'Cost', '']])}${years}${textRows([['Drill', '5', '6']], 3)}`;
    const xml = `<sheetData>${rows}</sheetData><mergeCells><mergeCell ref="A1:A2"/><mergeCell ref="B1:C1"/></mergeCells>`;
    expect((await read(await sheet(xml))).meta.headings).toEqual(['Asset', '2023', '2024']);
  });

  test('a job that maps the upper row of a merged heading reads that row (73)', async () => {
    const xml = `<sheetData>${textRows([
      ['Asset', 'Serial', 'Purchase', ''],
      ['', '', 'Cost', 'Date'],
      ['Drill', 'S-1', '1', '2024-01-05'],
    ])}</sheetData><mergeCells><mergeCell ref="A1:A2"/><mergeCell ref="B1:B2"/><mergeCell ref="C1:D1"/></mergeCells>`;
    const path = await sheet(xml);
    expect((await read(path, { expect: ['Asset', 'Serial', 'Purchase'] })).meta.header_row).toBe(1);
    expect((await read(path, { expect: ['Asset', 'Serial', 'Cost'] })).meta.header_row).toBe(2);
  });

  test('merged data is no heading (73)', async () => {
    const xml = `<sheetData>${textRows([
      ['Asset', 'Cost'],
      ['Drill', '1'],
      ['', '2'],
    ])}</sheetData><mergeCells><mergeCell ref="A2:A3"/></mergeCells>`;
    expect((await read(await sheet(xml))).meta).toMatchObject({ header_row: 1, headings: ['Asset', 'Cost'] });
  });

  test('elements of extensions are no cells', async () => {
    const xml =
      `<sheetPr><tabColor rgb="FF00FF00"/></sheetPr><sheetData>${textRows([
        ['A', 'B'],
        ['1', escapeXml('2')],
      ])}</sheetData>` +
      '<mc:AlternateContent><mc:Choice Requires="x14"><controls><control r:id="x"/></controls></mc:Choice></mc:AlternateContent>' +
      '<extLst><ext uri="{x}"><x14:conditionalFormattings><x14:conditionalFormatting><x14:cfRule><xm:f>A1</xm:f></x14:cfRule>' +
      '<xm:sqref>A1</xm:sqref></x14:conditionalFormatting></x14:conditionalFormattings></ext></extLst>';
    expect((await read(await sheet(xml))).rows).toEqual([{ row: 2, cells: ['1', '2'] }]);
  });

  test('hidden columns are counted, whatever the file says of them (74)', async () => {
    const cols =
      '<cols><col min="1" max="1" hidden="1"/><col hidden="1"/><col min="3" max="99999999" hidden="true"/></cols>';
    const { meta } = await read(await sheet(`${cols}<sheetData>${textRows([['A'], ['1']])}</sheetData>`));
    expect(meta.warnings).toContain('999 hidden columns are read like the others.');
  });

  test('a damaged row far down is refused before anything could be sent of it', async () => {
    const path = await sheet(`${HEAD}<row r="9"><c r="A9" t="s"><v>4</v></c></row>`, { strings: '<si><t>x</t></si>' });
    expect((await refusal(openSource(path).then((source) => source.rows()[Symbol.asyncIterator]().next()))).kind).toBe(
      'failed',
    );
  });
});
