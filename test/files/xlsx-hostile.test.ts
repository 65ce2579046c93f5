import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { SourceLimits } from '../../src/files/limits.js';
import { openSource } from '../../src/files/open.js';
import {
  allRows,
  type BookSpec,
  bookOf,
  bookParts,
  read,
  refusal,
  scratch,
  textRows,
  type ZipPart,
  zipOf,
} from './fixtures.js';

/* Workbooks made to exhaust or mislead a reader, and workbooks that arrive in pieces. */

const { file, folder } = await scratch();
let count = 0;
const put = (content: Buffer) => file(`h${++count}.xlsx`, content);
const refused = async (content: Buffer, limits: Partial<SourceLimits> = {}) => {
  const error = await refusal(read(await put(content), {}, limits));
  expect(error.kind).toBe('failed');
  expect(error.message).not.toMatch(/\n/);
  expect(error.message.startsWith(folder)).toBe(true);
  return error.message;
};
const xml = textRows([
  ['A', 'B'],
  ['1', '2'],
]);
const spec: BookSpec = { sheets: [{ xml }], strings: '<si><t>x</t></si>' };
const SHEET = 'xl/worksheets/sheet1.xml';
const withSheet = (part: Partial<ZipPart>) => bookOf({ ...spec, replace: { [SHEET]: part } });

describe('a workbook that was cut off (57)', () => {
  test('at any byte: refused whole in one sentence, before a row is handed out (57)', async () => {
    const whole = bookOf(spec);
    for (let keep = 4; keep < whole.length; keep += keep < 60 || keep > whole.length - 60 ? 1 : 13) {
      const path = await file('cut.xlsx', whole.subarray(0, keep));
      const { message } = await refusal(openSource(path));
      expect(message.startsWith(path)).toBe(true);
      expect(message).toContain('damaged or cut off');
    }
  });

  test('inside a part that was packed again: refused at any byte of the sheet and of the strings (57)', async () => {
    for (const name of [SHEET, 'xl/sharedStrings.xml', 'xl/styles.xml', 'xl/workbook.xml']) {
      const part = bookParts(spec).find((one) => one.name === name)!;
      const whole = Buffer.from(part.data as string);
      for (let keep = 0; keep < whole.length; keep += 29) {
        const content = bookOf({ ...spec, replace: { [name]: { data: whole.subarray(0, keep) } } });
        expect((await refusal(openSource(await file('cut.xlsx', content)))).message).toMatch(/cut off|no part/);
      }
    }
  });

  test('bytes that are missing, too many, or not what the checksum says (57)', async () => {
    expect(await refused(Buffer.concat([bookOf(spec), Buffer.from('more')]))).toContain(
      'there are bytes behind its end',
    );
    expect(
      await refused(zipOf(bookParts(spec), 'PK\x05\x06 a second end in the comment that is long enough')),
    ).toContain('damaged');
    expect(await refused(withSheet({ statedCrc: 7 }))).toContain('the checksum of xl/worksheets/sheet1.xml is wrong');
    expect(await refused(withSheet({ statedMethod: 12 }))).toContain('is packed by method 12');
    expect(await refused(withSheet({ stored: true, statedSize: 5 }))).toContain('damaged');
  });
});

describe('zip bombs (78)', () => {
  const zeros = Buffer.alloc(400_000);
  const limits = { ratio: 50, ratioFromBytes: 300_000 };

  test('one part, stated or hidden; many parts that are small enough each (78)', async () => {
    const bomb = { name: 'x.xml', data: zeros };
    expect(await refused(zipOf([...bookParts(spec), bomb]), limits)).toContain('50 times its size');
    const small = Array.from({ length: 8 }, (_, i) => ({ name: `m${i}.xml`, data: zeros.subarray(0, 250_000) }));
    expect(await refused(zipOf([...bookParts(spec), ...small]), limits)).toContain('50 times its size');
    expect(await refused(withSheet({ data: zeros, statedSize: 900 }), limits)).toContain('is longer than it says');
  });

  test('parts that share bytes (78)', async () => {
    const parts = bookParts(spec);
    const again = Array.from({ length: 50 }, (_, i) => ({ ...parts[4]!, name: `xl/again${i}.xml`, shares: 4 }));
    expect(await refused(zipOf([...parts, ...again]))).toMatch(/the parts \S+ and \S+ share bytes/);
  });

  test('too many parts, and sizes beyond the limit (78)', async () => {
    const many = Array.from({ length: 40 }, (_, i) => ({ name: `f${i}`, data: '' }));
    expect(await refused(zipOf([...bookParts(spec), ...many]), { zipEntries: 20 })).toContain('47 parts');
    expect(await refused(withSheet({ data: xml.repeat(400) }), { unpackedBytes: 20_000 })).toContain(
      'unpacks to more than',
    );
    expect(
      await refused(bookOf({ ...spec, replace: { 'xl/styles.xml': { data: ' '.repeat(9_000) } } }), {
        partBytes: 5_000,
      }),
    ).toContain('no workbook needs so much there');
  });
});

test('document types, entities and what they name are refused in every part (79)', async () => {
  for (const { name } of bookParts(spec)) {
    if (name === '[Content_Types].xml') continue;
    for (const data of [
      '<!DOCTYPE x SYSTEM "http://127.0.0.1:9/x.dtd"><x/>',
      '<?xml version="1.0"?><!-- c --><!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>',
      '\ufeff<!doctype x><x/>',
    ]) {
      expect(await refused(bookOf({ ...spec, replace: { [name]: { data } } }))).toContain('DOCTYPE');
    }
  }
  for (const entity of ['&a;', '&nbsp;', '&#x110000;', '&amp', '&#;']) {
    const cell = `<row r="1"><c t="str"><v>x${entity}y</v></c></row>`;
    expect(await refused(bookOf({ sheets: [{ xml: cell }] }))).toMatch(/uses the entity "&/);
  }
});

describe('names of parts (80)', () => {
  const parts = bookParts(spec);
  test.each(['../evil.xml', 'xl/../../evil.xml', '..\\evil.xml', 'C:\\evil.xml', 'c:/evil.xml', '/../evil.xml'])(
    '%s is refused (80)',
    async (name) => {
      expect(await refused(zipOf([...parts, { name, data: 'x' }]))).toContain('a name that leads out of it');
      expect(existsSync(join(folder, '..', 'evil.xml'))).toBe(false);
    },
  );

  test('the same name twice, in other letters or with a slash before it, is refused (80)', async () => {
    for (const name of [SHEET, 'XL/WORKBOOK.XML', `/${SHEET}`, 'xl\\styles.xml'])
      expect(await refused(zipOf([...parts, { name, data: 'x' }]))).toMatch(/two parts are named/i);
  });

  test('nothing is written to disk under any name (80)', async () => {
    const names = ['evil.xml', 'xl/evil.xml', '/etc/evil.xml', 'con', 'a'.repeat(300)];
    await read(await put(zipOf([...parts, ...names.map((name) => ({ name, data: 'x' }))])));
    expect(readdirSync(folder).filter((name) => name.includes('evil'))).toEqual([]);
  });

  test('parts under a password are named as such (75)', async () => {
    expect(await refused(zipOf([...parts, { name: 'a', data: 'x', flags: 1 }]))).toContain('protected by a password');
  });
});

describe('sheets that are all size and no data (81)', () => {
  test('styled empty cells to the last column, rows to the last one, a million merged ranges (81)', async () => {
    const styled = Array.from({ length: 16_384 }, () => '<c s="1"/>').join('');
    const rows = Array.from({ length: 40 }, (_, i) => `<row r="${i + 3}">${styled}</row>`).join('');
    const empty = Array.from({ length: 60_000 }, (_, i) => `<row r="${i + 988_000}" s="1" customFormat="1"/>`).join('');
    const merges = '<mergeCell ref="A5:XFD1048576"/>'.repeat(300_000);
    const body =
      `<dimension ref="A1:XFD1048576"/><sheetData>${xml}${rows}${empty}<row r="1048576"><c r="XFD1048576" s="1"/></row></sheetData>` +
      `<mergeCells>${merges}</mergeCells>`;
    const { meta, rows: found } = await read(await put(bookOf({ sheets: [{ xml: body }], formats: ['0'] })));
    expect(found.length).toBe(1);
    expect(meta.headings).toEqual(['A', 'B']);
    expect(meta.warnings.join()).toContain('300000 merged ranges below the heading');
  });

  test('rows and columns beyond the last are refused or faults of their row (81)', async () => {
    expect(
      await refused(withSheet({ data: `<worksheet><sheetData>${xml}<row r="1048577"/></sheetData></worksheet>` })),
    ).toContain('no valid number');
    const far = `${xml}<row r="3"><c r="ZZZZZZ3"><v>1</v></c></row><row r="4"><c r="A4"><v>1</v></c></row>`;
    const { rows } = await read(await put(bookOf({ sheets: [{ xml: far }] })));
    expect(rows.map(({ faults }) => faults?.[0]?.code)).toEqual([undefined, 'ragged_row', undefined]);
  });

  test('a giant text, a giant formula and a giant tag are bounded (81, 90)', async () => {
    const runs = '<r><t>0123456789</t></r>'.repeat(200_000);
    const { rows } = await read(
      await put(
        bookOf({
          sheets: [
            {
              xml: `${xml}<row r="3"><c t="s"><v>0</v></c></row><row r="4"><c t="inlineStr"><is>${runs}</is></c></row>`,
            },
          ],
          strings: `<si>${runs}</si>`,
        }),
      ),
    );
    for (const row of rows.slice(1)) {
      expect(row.faults?.[0]?.code).toBe('cell_too_long');
      expect(String(row.cells[0]).length).toBe(32_767);
    }
    const tag = `<worksheet><sheetData><row r="1" x="${'y'.repeat(5_000_000)}"/></sheetData></worksheet>`;
    expect(await refused(withSheet({ data: tag }))).toContain('a single value is longer than 4 MB');
  });

  test('more than 1,000 columns, and more than 32,767 characters in a cell (90)', async () => {
    const wide = textRows([Array.from({ length: 1_001 }, (_, i) => `H${i}`)]);
    expect(await refused(bookOf({ sheets: [{ xml: wide }] }))).toContain('more than 1,000 columns');
    const exact = textRows([Array.from({ length: 1_000 }, (_, i) => `H${i}`), ['1']]);
    expect((await read(await put(bookOf({ sheets: [{ xml: exact }] })))).meta.headings.length).toBe(1_000);
    const long = ['x'.repeat(32_767), 'x'.repeat(32_768), 'é'.repeat(32_768)];
    for (const strings of [undefined, long.map((text) => `<si><t>${text}</t></si>`).join('')]) {
      const shared = long.map((_, i) => `<row r="${i + 2}"><c t="s"><v>${i}</v></c></row>`).join('');
      const body = strings ? textRows([['A']]) + shared : textRows([['A'], ...long.map((text) => [text])]);
      const { rows } = await read(await put(bookOf({ sheets: [{ xml: body }], ...(strings ? { strings } : {}) })));
      expect(rows.map((row) => row.faults?.[0]?.code)).toEqual([undefined, 'cell_too_long', 'cell_too_long']);
    }
  });
});

describe('texts that are too many for memory (81)', () => {
  const SIZE = 60_000;
  const textOf = (i: number) =>
    i % 1_000 === 7
      ? `long ${'y'.repeat(9_000)} ${i}`
      : i % 3 === 0
        ? `Größe ${i} €`
        : i % 5 === 0
          ? ''
          : `text number ${i}`;
  const strings = Array.from({ length: SIZE }, (_, i) => `<si><t>${textOf(i)}</t></si>`).join('');
  const order = (i: number) => (i < SIZE ? i : (i * 7_919) % SIZE);
  const rows = Array.from(
    { length: SIZE + 5_000 },
    (_, i) => `<row><c t="s"><v>${order(i)}</v></c><c><v>${i}</v></c></row>`,
  );
  const book = bookOf({ sheets: [{ xml: `${textRows([['A', 'B']])}${rows.join('')}` }], strings });
  const limits = { sharedStringMemory: 1 << 20 };

  test('are packed, and come back the same in any order, twice (81)', async () => {
    const source = await openSource(await put(book), { header_row: 1 }, limits);
    for (let pass = 0; pass < 2; pass++) {
      const found = await allRows(source);
      expect(found.length).toBe(SIZE + 5_000);
      const wrong = found.filter((row, i) => row.cells[0] !== textOf(order(i)));
      expect(wrong).toEqual([]);
    }
  });

  test('are refused in words beyond the limit (81)', async () => {
    expect(await refused(book, { ...limits, sharedStringBytes: 1 << 20 })).toContain(
      'texts of the workbook take more than 1 MB',
    );
  });

  test('empty texts by the million take next to nothing (81)', async () => {
    const many = bookOf({
      sheets: [{ xml: `${xml}<row r="3"><c t="s"><v>1999999</v></c><c><v>1</v></c></row>` }],
      strings: '<si/>'.repeat(2_000_000),
    });
    expect((await read(await put(many))).rows.at(-1)!.cells[0]).toBe('');
  });
});
