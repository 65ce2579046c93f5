import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { SourceLimits } from '../../src/files/limits.js';
import { openSource } from '../../src/files/open.js';
import { read, refusal, scratch, zipOf } from './fixtures.js';
import { cellXml, type OdsSpec, odsOf, rowXml, sheetXml, textCell, textSheet } from './ods-fixtures.js';

const { file } = await scratch();
let count = 0;
const saved = (content: Buffer | string) => file(`t${++count}.ods`, content);
const refused = async (content: Buffer | string, limits: Partial<SourceLimits> = {}) => {
  const error = await refusal(openSource(await saved(content), {}, limits));
  expect(error.kind).toBe('failed');
  expect(error.message).not.toMatch(/\n\s+at /);
  return error.message;
};
const good: OdsSpec = {
  body: sheetXml(
    'S',
    textSheet([
      ['A', 'B'],
      ['1', '2'],
    ]),
  ),
};
const ODF = 'application/vnd.oasis.opendocument.';

describe('files that hold no table that can be read', () => {
  test.each([
    ['text', 'an OpenDocument file of the kind "text"'],
    ['presentation', 'of the kind "presentation"'],
    ['graphics-template', 'of the kind "graphics"'],
    ['base', 'of the kind "base"'],
  ])('an OpenDocument file of the kind %s is named, with what to do (75)', async (kind, words) => {
    const message = await refused(odsOf({ ...good, type: ODF + kind }));
    expect(message).toContain(words);
    expect(message).toContain('Copy the table into a spreadsheet');
  });

  test('a password is named, in both ways that programs encrypt (75)', async () => {
    const manifest =
      '<manifest:file-entry manifest:full-path="content.xml"><manifest:encryption-data manifest:checksum="x"/></manifest:file-entry>';
    const replace = { 'content.xml': { data: randomBytes(500) } };
    expect(await refused(odsOf({ ...good, manifest, replace }))).toContain('protected by a password');
    const whole = odsOf({ ...good, manifest, replace: { 'content.xml': { name: 'encrypted-package' } } });
    expect(await refused(whole)).toContain('save it without the password');
  });

  test('.xlsb and Numbers are named, with what to do (75)', async () => {
    const xlsb = zipOf([{ name: 'xl/workbook.bin', data: 'x' }]);
    expect(await refused(xlsb)).toMatch(/binary workbook \(\.xlsb\).*save it as \.xlsx/);
    const numbers = zipOf([{ name: 'Index/Document.iwa', data: 'x' }]);
    expect(await refused(numbers)).toMatch(/Apple Numbers.*Export To, Excel/);
    expect(await refused(odsOf({ body: '' }))).toContain('holds no sheet');
    expect(await refused(odsOf({ ...good, replace: { 'content.xml': { name: 'other.xml' } } }))).toContain(
      'content.xml',
    );
    expect(await refused(odsOf({ body: sheetXml('A', '') + sheetXml('B', rowXml(textCell(' '))) }))).toContain(
      'no visible sheet holds data (sheets: "A", "B")',
    );
  });
});

describe('damaged files', () => {
  test('cut off anywhere, or with a wrong checksum, the file is refused whole (57)', async () => {
    const whole = odsOf(good);
    for (let keep = 4; keep < whole.length; keep += 61) {
      expect(await refused(whole.subarray(0, keep))).toContain('damaged or cut off');
    }
    expect(await refused(odsOf({ ...good, replace: { 'content.xml': { statedCrc: 7 } } }))).toContain('checksum');
  });

  test('damage behind the sheet that is read is found before its first row (57)', async () => {
    const late = `${good.body}${sheetXml('Late', rowXml(textCell('a&nbsp;b')))}`;
    expect(await refused(odsOf({ body: late }))).toContain('the entity "&nbsp;"');
    const open = `<office:document-content><office:body><office:spreadsheet>${good.body}<table:table table:name="x">`;
    expect(await refused(odsOf({ ...good, replace: { 'content.xml': { data: open } } }))).toContain(
      'cut off or damaged',
    );
  });
});

describe('hostile files', () => {
  test('a document type declaration is refused at sight (79)', async () => {
    const data = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaa">]><office:document-content/>';
    expect(await refused(odsOf({ ...good, replace: { 'content.xml': { data } } }))).toContain('DOCTYPE');
  });

  test('a manifest with a document type, as old programs wrote it, is not expanded and does no harm (79)', async () => {
    const data = `<?xml version="1.0"?><!DOCTYPE manifest:manifest PUBLIC "x" "Manifest.dtd"><manifest:manifest/>`;
    const { rows } = await read(await saved(odsOf({ ...good, replace: { 'META-INF/manifest.xml': { data } } })));
    expect(rows).toEqual([{ row: 2, cells: ['1', '2'] }]);
  });

  test('parts that unpack to more than they may are refused before they are read (78)', async () => {
    const bomb = odsOf({ body: sheetXml('S', rowXml(textCell('x')) + ' '.repeat(300_000)) });
    expect(await refused(bomb, { ratio: 20, ratioFromBytes: 1_000 })).toContain('content.xml');
    expect(await refused(bomb, { unpackedBytes: 100_000 })).toContain('content.xml');
    expect(await refused(odsOf({ ...good, replace: { 'content.xml': { statedSize: 50 } } }))).toContain('content.xml');
  });

  test('a used range to the last cell is read at once, blank or repeated (81)', async () => {
    const blank = rowXml(
      cellXml('', ' table:number-columns-repeated="16384"'),
      ' table:number-rows-repeated="1048574"',
    );
    const wide = await read(await saved(odsOf({ body: sheetXml('S', `${textSheet([['A'], ['1']])}${blank}`) })));
    expect(wide.rows).toEqual([{ row: 2, cells: ['1'] }]);

    const repeated = rowXml(textCell('x'), ' table:number-rows-repeated="1048575"');
    const source = await openSource(await saved(odsOf({ body: sheetXml('S', textSheet([['A']]) + repeated) })));
    let rows = 0;
    let last = 0;
    for await (const batch of source.rows()) {
      expect(batch.length).toBeLessThanOrEqual(500);
      rows += batch.length;
      last = batch.at(-1)!.row;
    }
    expect([rows, last]).toEqual([1_048_575, 1_048_576]);

    const deeper = rowXml(textCell('x'), ' table:number-rows-repeated="2000000000"');
    expect(await refused(odsOf({ body: sheetXml('S', textSheet([['A']]) + deeper) }))).toContain('below row 1,048,576');
  });

  test('over 1,000 columns and over 32,767 characters in a cell (90)', async () => {
    const heading = rowXml(textCell('x', ' table:number-columns-repeated="16384"'));
    expect(await refused(odsOf({ body: sheetXml('S', heading + heading) }))).toContain('more than 1,000 columns');
    const far = rowXml(cellXml('', ' table:number-columns-repeated="2000"') + textCell('x'));
    const { rows } = await read(await saved(odsOf({ body: `${sheetXml('S', textSheet([['A'], ['1']]) + far)}` })));
    expect(rows[1]?.faults?.[0]).toMatchObject({ code: 'ragged_row' });

    const long = cellXml('<text:p>0123456789</text:p>'.repeat(5_000), ' office:value-type="string"');
    const blanks = textCell('a<text:s text:c="2000000000"/>b');
    const { rows: cut } = await read(
      await saved(odsOf({ body: sheetXml('S', textSheet([['A', 'B']]) + rowXml(long + blanks)) })),
    );
    expect(cut[0]?.faults?.map(({ code, index }) => [code, index])).toEqual([
      ['cell_too_long', 0],
      ['cell_too_long', 1],
    ]);
    expect(cut[0]?.cells.map((cell) => String(cell).length)).toEqual([32_767, 32_767]);
  });

  test('bytes that are no UTF-8 are a fault of their row, and shown as what they are (61)', async () => {
    const data = Buffer.from(
      `<d xmlns:office="o"><office:spreadsheet>${sheetXml('S', textSheet([['A'], ['b\u0001d'], ['ok']]))}</office:spreadsheet></d>`,
    );
    data[data.indexOf(1)] = 0xe9;
    const { rows } = await read(await saved(odsOf({ ...good, replace: { 'content.xml': { data } } })));
    expect(rows[0]?.faults?.[0]).toMatchObject({ code: 'invalid_encoding', index: 0 });
    expect(rows[0]?.cells).toEqual(['b\ufffdd']);
    expect(rows[1]).toEqual({ row: 3, cells: ['ok'] });
  });

  test('headings named after members of objects are headings (82)', async () => {
    const body = sheetXml(
      'S',
      textSheet([
        ['__proto__', 'constructor'],
        ['1', '2'],
      ]),
    );
    const { meta, rows } = await read(await saved(odsOf({ body })));
    expect(meta.headings).toEqual(['__proto__', 'constructor']);
    expect(rows).toEqual([{ row: 2, cells: ['1', '2'] }]);
  });
});
