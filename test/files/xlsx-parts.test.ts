import { describe, expect, test } from 'vitest';
import { openSource } from '../../src/files/open.js';
import { displayText } from '../../src/model/row.js';
import { type BookSpec, bookOf, bookParts, read, refusal, scratch, textRows, type ZipPart, zipOf } from './fixtures.js';

/*
 * The package around the cells: what programs differ in (names and order of parts, namespaces, encodings, parts that
 * are missing), and the shapes in which the common ones write.
 */

const { file } = await scratch();
let count = 0;
const put = (content: Buffer, name = `p${++count}.xlsx`) => file(name, content);
const TABLE = [
  ['Name', 'Qty'],
  ['Drill', 'é'],
];
const xml = textRows(TABLE);
const spec: BookSpec = { sheets: [{ xml }], strings: '<si><t>x</t></si>' };
const cells = async (content: Buffer, name?: string) =>
  (await read(await put(content, name))).rows.map((row) => row.cells.map(displayText));
const EXPECTED = [['Drill', 'é']];

/** The parts of the workbook, each changed by `change`; what it returns undefined for is left out. */
const changed = (change: (part: ZipPart) => ZipPart | undefined, from: BookSpec = spec) =>
  zipOf(bookParts(from).flatMap((part) => change(part) ?? []));
const replaced = (name: string, from: string | RegExp, to: string) =>
  changed((part) => (part.name === name ? { ...part, data: part.data.toString().replace(from, to) } : part));

describe('parts', () => {
  test.each<[string, Buffer]>([
    ['in any order', zipOf([...bookParts(spec)].reverse())],
    ['with a slash before their names', changed((part) => ({ ...part, name: `/${part.name}` }))],
    ['with backslashes in their names', changed((part) => ({ ...part, name: part.name.replaceAll('/', '\\') }))],
    ['in capital letters', changed((part) => ({ ...part, name: part.name.toUpperCase() }))],
    ['stored without packing', changed((part) => ({ ...part, stored: true }))],
    ['with sizes behind the data', changed((part) => ({ ...part, descriptor: true }))],
    ['with 64-bit sizes', changed((part) => ({ ...part, zip64: true }))],
    ['with a comment at the end', zipOf(bookParts(spec), 'made by PK hand')],
    ['without content types', changed((part) => (part.name.startsWith('[Content') ? undefined : part))],
    ['without relations of the package', changed((part) => (part.name === '_rels/.rels' ? undefined : part))],
    ['without styles', changed((part) => (part.name === 'xl/styles.xml' ? undefined : part))],
    ['without shared strings', changed((part) => (part.name === 'xl/sharedStrings.xml' ? undefined : part))],
    ['without sheets but the one', bookOf({ sheets: [{ xml }] })],
    ['with folders of their own', zipOf([{ name: 'xl/', data: '', stored: true }, ...bookParts(spec)])],
    ['an absolute target', replaced('xl/_rels/workbook.xml.rels', 'worksheets/', '/xl/worksheets/')],
    ['a target from above', replaced('xl/_rels/workbook.xml.rels', 'worksheets/', '../xl/./worksheets/')],
    ['a target with backslashes', replaced('xl/_rels/workbook.xml.rels', 'worksheets/', 'worksheets\\')],
    ['a target in other letters', replaced('xl/_rels/workbook.xml.rels', 'worksheets/sheet1', 'Worksheets/Sheet1')],
    ['a target with percent signs', replaced('xl/_rels/workbook.xml.rels', 'sheet1.xml', '%73heet1.xml')],
    ['a dimension that lies', bookOf({ sheets: [{ xml: `<dimension ref="A1"/><sheetData>${xml}</sheetData>` }] })],
    [
      'a dimension of the whole sheet',
      bookOf({ sheets: [{ xml: `<dimension ref="A1:XFD1048576"/><sheetData>${xml}</sheetData>` }] }),
    ],
    ['strict', bookOf({ ...spec, strict: true })],
    [
      'a prefix for every element',
      bookOf({ ...spec, prefix: 'x', sheets: [{ xml: xml.replace(/<(\/?)/g, '<$1x:') }], strings: '' }),
    ],
    [
      'alternate content in the workbook',
      replaced(
        'xl/workbook.xml',
        /(<sheets)/,
        '<mc:AlternateContent xmlns:mc="m"><mc:Choice Requires="x15"><x15ac:absPath url="C:\\"/></mc:Choice></mc:AlternateContent>$1',
      ),
    ],
    [
      'sheets of an extension in the workbook',
      replaced(
        'xl/workbook.xml',
        '</workbook>',
        '<extLst><ext uri="{x}"><x15:sheet name="no" r:id="none"/></ext></extLst></workbook>',
      ),
    ],
    ['a byte order mark in every part', changed((part) => ({ ...part, data: `\ufeff${part.data}` }))],
  ])('%s', async (_, content) => {
    expect(await cells(content)).toEqual(EXPECTED);
  });

  test('UTF-16 is refused, also half of it; the name of another encoding means nothing', async () => {
    const part = 'xl/worksheets/sheet1.xml';
    const wide = Buffer.from(`\ufeff<worksheet><sheetData>${xml}</sheetData></worksheet>`, 'utf16le');
    for (const data of [wide, wide.subarray(2), Buffer.from(wide).swap16()]) {
      const error = await refusal(openSource(await put(bookOf({ ...spec, replace: { [part]: { data } } }))));
      expect(error.message).toMatch(/cut off or damaged|no visible sheet holds data/);
    }
    expect(await cells(replaced(part, 'UTF-8', 'utf-16'))).toEqual(EXPECTED);
  });

  test('a sheet without a part, and two sheets of one part, are refused', async () => {
    const none = replaced('xl/workbook.xml', 'r:id="s1"', 'r:id="s9"');
    expect((await refusal(openSource(await put(none)))).message).toContain(
      'the sheet "Sheet1" has no part in the file',
    );
    const away = replaced('xl/_rels/workbook.xml.rels', 'worksheets/sheet1.xml', '../../../etc/passwd');
    expect((await refusal(openSource(await put(away)))).message).toContain('has no part');
    const twice = replaced('xl/workbook.xml', '</sheets>', '<sheet name="Again" sheetId="2" r:id="s1"/></sheets>');
    expect((await refusal(openSource(await put(twice)))).message).toContain('"Again" has the same part as another one');
  });

  test('a chart sheet holds no cells; the next one is read', async () => {
    const content = changed(
      (part) =>
        part.name === 'xl/_rels/workbook.xml.rels'
          ? { ...part, data: part.data.toString().replace('/worksheet"', '/chartsheet"') }
          : part,
      {
        sheets: [
          { name: 'Chart', xml: '' },
          { name: 'Data', xml },
        ],
      },
    );
    const path = await put(content);
    expect((await read(path)).meta.sheet).toBe('Data');
    expect((await refusal(openSource(path, { sheet: 'Chart' }))).message).toContain('is a chart and holds no cells');
  });
});

describe('as programs write them', () => {
  const strings = '<si><t>Name</t></si><si><t>Größe</t></si><si><t>Drill</t></si>';
  const formats = ['yyyy\\-mm\\-dd'];
  const shapes: Readonly<Record<string, string>> = {
    Excel:
      '<sheetPr/><dimension ref="A1:D2"/><sheetViews><sheetView tabSelected="1" workbookViewId="0"/></sheetViews>' +
      '<sheetFormatPr defaultRowHeight="15" x14ac:dyDescent="0.25"/><cols><col min="1" max="1" width="9.1" bestFit="1"/></cols><sheetData>' +
      '<row r="1" spans="1:4" x14ac:dyDescent="0.25"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="inlineStr"><is><t>Date</t></is></c><c r="D1" t="inlineStr"><is><t>Sum</t></is></c></row>' +
      '<row r="2" spans="1:4" ht="15.75" customHeight="1"><c r="A2" s="0" t="s"><v>2</v></c><c r="B2"><v>1.5</v></c><c r="C2" s="1"><v>45351</v></c><c r="D2"><f>B2*2</f><v>3</v></c></row></sheetData>',
    LibreOffice:
      '<sheetPr filterMode="false"/><sheetData><row r="1" customFormat="false" ht="12.8" hidden="false" outlineLevel="0"><c r="A1" s="0" t="s"><v>0</v></c><c r="B1" s="0" t="s"><v>1</v></c><c r="C1" t="str"><v>Date</v></c><c r="D1" t="str"><v>Sum</v></c></row>' +
      '<row r="2" hidden="false"><c r="A2" s="0" t="s"><v>2</v></c><c r="B2" s="0" t="n"><v>1.5</v></c><c r="C2" s="1" t="n"><v>45351</v></c><c r="D2" s="0" t="n"><f aca="false">B2*2</f><v>3</v></c></row></sheetData>',
    'Google Sheets':
      '<sheetData><row r="1"><c r="A1" s="0" t="s"><v>0</v></c><c r="B1" s="0" t="s"><v>1</v></c><c r="C1" t="str"><v>Date</v></c><c r="D1" t="str"><v>Sum</v></c></row>' +
      '<row r="2"><c r="A2" s="0" t="s"><v>2</v></c><c r="B2" s="0"><v>1.5</v></c><c r="C2" s="1"><v>45351.0</v></c><c r="D2" s="0"><f t="shared" ref="D2" si="1">B2*2</f><v>3.0</v></c></row></sheetData><drawing r:id="rId1"/>',
    openpyxl:
      '<sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="inlineStr"><is><t>Date</t></is></c><c r="D1" t="inlineStr"><is><t>Sum</t></is></c></row>' +
      '<row r="2"><c r="A2" t="s"><v>2</v></c><c r="B2" t="n"><v>1.5</v></c><c r="C2" s="1" t="n"><v>45351</v></c><c r="D2"><v>3</v></c></row></sheetData><pageMargins left="0.75"/>',
    SheetJS:
      '<sheetData><row r="1"><c r="A1" t="str"><v>Name</v></c><c r="B1" t="str"><v>Größe</v></c><c r="C1" t="str"><v>Date</v></c><c r="D1" t="str"><v>Sum</v></c></row>' +
      '<row r="2"><c r="A2" t="str"><v>Drill</v></c><c r="B2" t="n"><v>1.5</v></c><c r="C2" s="1" t="d"><v>2024-02-29T00:00:00.000Z</v></c><c r="D2" t="n"><f>B2*2</f><v>3</v></c></row></sheetData><ignoredErrors/>',
    exceljs:
      '<sheetData><row r="1" spans="1:4"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="str"><v>Date</v></c><c r="D1" t="str"><v>Sum</v></c></row>' +
      '<row r="2" spans="1:4"><c r="A2" t="s"><v>2</v></c><c r="B2"><v>1.5</v></c><c r="C2" s="1"><v>45351</v></c><c r="D2" s="0"><f>B2*2</f><v>3</v></c></row></sheetData>',
    Numbers:
      '<sheetData><row r="1" ht="20.25" customHeight="1"><c r="A1" t="s" s="0"><v>0</v></c><c r="B1" t="s" s="0"><v>1</v></c><c r="C1" t="inlineStr"><is><t>Date</t></is></c><c r="D1" t="inlineStr"><is><t>Sum</t></is></c></row>' +
      '<row r="2"><c r="A2" t="s" s="0"><v>2</v></c><c r="B2" s="0"><v>1.5</v></c><c r="C2" s="1"><v>45351</v></c><c r="D2" s="0"><f>B2*2</f><v>3</v></c></row></sheetData>',
    'a program without references':
      '<sheetData><row><c t="s"><v>0</v></c><c t="s"><v>1</v></c><c t="str"><v>Date</v></c><c t="str"><v>Sum</v></c></row>' +
      '<row><c t="s"><v>2</v></c><c><v>1.50</v></c><c s="1"><v>45351</v></c><c><v>3</v></c></row></sheetData>',
  };

  test.each(Object.entries(shapes))('%s', async (_, body) => {
    const { meta, rows } = await read(await put(bookOf({ sheets: [{ xml: body }], strings, formats })));
    expect(meta.headings).toEqual(['Name', 'Größe', 'Date', 'Sum']);
    expect(rows.map((row) => [row.row, ...row.cells])).toEqual([
      [
        2,
        'Drill',
        { t: 'n', value: '1.5', shown: '1.5' },
        expect.objectContaining({ t: 'd', value: '2024-02-29', shown: '2024-02-29' }),
        { t: 'n', value: '3', shown: '3' },
      ],
    ]);
    expect(meta.warnings).toEqual([]);
  });
});
