import { describe, expect, test } from 'vitest';
import { openSource } from '../../src/files/open.js';
import { bookOf, bookParts, read, refusal, scratch, textRows, zipOf } from './fixtures.js';

const { file } = await scratch();
const xml = textRows([
  ['Name', 'Code'],
  ['Projector', '0042'],
]);
const rows = [{ row: 2, cells: ['Projector', '0042'] }];

/** What the workbook says its main part is. */
const typesOf = (type: string) =>
  '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">' +
  `<Override PartName="/xl/workbook.xml" ContentType="application/vnd.ms-excel.${type}.main+xml"/>` +
  '<Override PartName="/xl/vbaProject.bin" ContentType="application/vnd.ms-office.vbaProject"/></Types>';

describe('workbooks under other names', () => {
  test.each([
    ['a.xlsm', 'sheet.macroEnabled'],
    ['a.xltm', 'template.macroEnabled'],
    ['a.xltx', 'template'],
    ['a.xlam', 'addin.macroEnabled'],
  ])('%s is read like an .xlsx; its macros are never looked at', async (name, type) => {
    const content = bookOf({
      sheets: [{ xml }],
      extra: [
        { name: 'xl/vbaProject.bin', data: Buffer.from('d0cf11e0a1b11ae1ffff', 'hex') },
        { name: 'xl/macrosheets/sheet1.xml', data: '<!DOCTYPE x><xm:macrosheet/>' },
        { name: 'customUI/customUI.xml', data: 'no XML' },
      ],
      replace: { '[Content_Types].xml': { data: typesOf(type) } },
    });
    const found = await read(await file(name, content));
    expect(found.meta).toMatchObject({ format: 'xlsx', headings: ['Name', 'Code'], warnings: [] });
    expect(found.rows).toEqual(rows);
  });

  test('a sheet of macros or dialogues is no table, and says so (75)', async () => {
    const parts = bookParts({
      sheets: [
        { xml, name: 'Data' },
        { xml, name: 'Macro1' },
      ],
    }).map((part) =>
      part.name === 'xl/_rels/workbook.xml.rels'
        ? { ...part, data: String(part.data).replace(/(Id="s2" Type=".*?\/)worksheet"/, '$1xlMacrosheet"') }
        : part,
    );
    const path = await file('m.xlsm', zipOf(parts));
    expect((await read(path)).rows).toEqual(rows);
    expect((await refusal(openSource(path, { sheet: 'Macro1' }))).message).toContain('"Macro1"');
  });

  test('the name of a file says nothing of what it is', async () => {
    expect((await read(await file('book.csv', bookOf({ sheets: [{ xml }] })))).rows).toEqual(rows);
    expect((await read(await file('table.xlsx', 'Name,Code\nProjector,0042\n'))).rows).toEqual(rows);
  });
});
