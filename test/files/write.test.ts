import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFile, mkdir, readdir, readFile, stat, symlink, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'csv-stringify/sync';
import ExcelJS from 'exceljs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { copyPrivately, createAtomically, writeAtomically } from '../../src/files/atomic-write.js';
import { csvEncoder } from '../../src/files/csv/write.js';
import { isEncodable } from '../../src/files/encoding/encoding.js';
import { escapeFormulaFor } from '../../src/files/formula.js';
import { openSource } from '../../src/files/open.js';
import type { Cell } from '../../src/model/row.js';
import { writeWorkbook } from '../support/workbook.js';
import { allRows, read, refusal, scratch, writeCsv } from './fixtures.js';

const { file, folder } = await scratch();
const leftovers = async (in_ = folder) => (await readdir(in_)).filter((name) => name.endsWith('.tmp'));

describe('CSV', () => {
  test('quotes what RFC 4180 and its readers need quoted, and escapes formulas', () => {
    const bytes = csvEncoder({ delimiter: ';', newline: '\r\n' })([
      ['a', 'b;c', 'say "hi"', 'x\ny', 'x\ry'],
      ['=1', '-5', ' blank ', '', "'=1"],
    ]);
    expect(bytes.toString()).toBe(
      `a;"b;c";"say ""hi""";"x\ny";"x\ry"\r\n'=1;-5;" blank ";;"''=1"\r\n`.replace("'=1;-5", `"'=1";-5`),
    );
  });

  test('writes what csv-stringify writes', () => {
    const piece = fc.constantFrom(
      'a',
      'é',
      ' ',
      '"',
      "'",
      ',',
      ';',
      '\t',
      '\n',
      '\r',
      '\u00a0',
      '\ufeff',
      '=',
      '-',
      '7',
      '😀',
    );
    const cell = fc.oneof(fc.string({ unit: piece, maxLength: 6 }), fc.string());
    const table = fc
      .integer({ min: 1, max: 4 })
      .chain((width) =>
        fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 4 }),
      );
    const style = fc.record({
      delimiter: fc.constantFrom(',', ';', '\t'),
      newline: fc.constantFrom('\n', '\r\n', '\r'),
    });
    fc.assert(
      fc.property(table, style, (rows, { delimiter, newline }) => {
        const protect = escapeFormulaFor(delimiter);
        const reference = stringify(
          rows.map((row) => row.map(protect)),
          {
            delimiter,
            record_delimiter: newline,
            quoted_match: /[\r\n"']|^[\s\ufeff]|[\s\ufeff]$/u,
            quoted_empty: rows[0]?.length === 1,
          },
        );
        expect(csvEncoder({ delimiter, newline })(rows).toString()).toBe(reference);
      }),
      { numRuns: 2_000 },
    );
  });

  test.each([
    [',', 'x;=1', `"'x;''=1"`],
    [';', 'x,=1', `"'x,''=1"`],
    [';', 'x;=1', `"x;=1"`],
    ['\t', 'x\t=1', `"x\t=1"`],
    ['\t', 'x;=1', `"'x;''=1"`],
  ])(
    'in a file with the delimiter %j a cell %j is %s: what would be a cell of its own elsewhere is no formula (77)',
    async (delimiter, cell, written) => {
      const path = join(folder, 'delimited.csv');
      await writeCsv(
        path,
        [
          ['A', 'B'],
          [cell, 'y'],
        ],
        { delimiter },
      );
      expect((await readFile(path, 'utf8')).split('\n')[1]).toBe(`${written}${delimiter}y`);
      expect((await read(path, { delimiter, header_row: 1 })).rows[0]?.cells).toEqual([cell, 'y']);
    },
  );

  test.each([
    [{}, '61c3a40a'],
    [{ encoding: 'utf-16le' }, '6100e4000a00'],
    [{ encoding: 'utf-16be' }, '006100e4000a'],
    [{ encoding: 'windows-1252', newline: '\r\n' }, '61e40d0a'],
  ])('bytes of %j', (style, hex) => {
    expect(csvEncoder(style)([['aä']]).toString('hex')).toBe(hex);
  });

  test('encodable', () => {
    expect(isEncodable('café €', 'windows-1252')).toBe(true);
    expect(isEncodable('東京', 'windows-1252')).toBe(false);
    expect(isEncodable('?', 'windows-1252')).toBe(true);
    expect(isEncodable('東京 😀', 'utf-8')).toBe(true);
    expect(isEncodable('\ud800', 'utf-16le')).toBe(false);
  });

  test('what is written is read back, cell by cell, in every form', async () => {
    const cell = fc.string({
      unit: fc.constantFrom('a', '1', ' ', ',', ';', '"', '\n', '\r', "'", '=', '-', '@', '\t', 'é', '€', '\ufeff'),
      maxLength: 6,
    });
    const table = fc
      .integer({ min: 1, max: 4 })
      .chain((width) => fc.array(fc.array(cell, { minLength: width, maxLength: width }), { maxLength: 6 }));
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        table,
        fc.constantFrom('utf-8', 'utf-16le', 'windows-1252'),
        fc.constantFrom(',', ';', '\t', '|'),
        fc.constantFrom('\n', '\r\n'),
        fc.boolean(),
        async (rows, encoding, delimiter, newline, bom) => {
          const path = join(folder, `roundtrip${run++ % 8}.csv`);
          const kept = encoding === 'windows-1252' ? rows.map((r) => r.map((c) => c.replaceAll('\ufeff', ''))) : rows;
          const headings = (kept[0] ?? ['x']).map((_, i) => `Head ${i}`);
          await writeCsv(path, [headings, ...kept], { encoding, delimiter, newline }, bom);
          const { meta, rows: found } = await read(path, { encoding, delimiter, header_row: 1 });
          expect(meta.headings).toEqual(headings);
          expect(found.every((row) => row.faults === undefined)).toBe(true);
          expect(found.map((row) => row.cells)).toEqual(kept.filter((r) => r.some((c) => c.trim() !== '')));
        },
      ),
      { numRuns: 120 },
    );
  });
});

describe('safe writing', () => {
  test('a file appears whole, replaces the old one, and leaves nothing else', async () => {
    const path = await file('safe.txt', 'old');
    await writeAtomically(path, async (write) => {
      for (let i = 0; i < 50_000; i++) await write(`line ${i}\n`);
      await write(Buffer.from('end'));
      expect(await readFile(path, 'utf8')).toBe('old');
    });
    const text = await readFile(path, 'utf8');
    expect(text.endsWith('line 49999\nend')).toBe(true);
    expect(await leftovers()).toEqual([]);
  });

  test('a fault while producing keeps the old file and removes the unfinished one', async () => {
    const path = await file('kept.txt', 'old');
    await expect(
      writeAtomically(path, async (write) => {
        await write('half');
        throw new TypeError('no more');
      }),
    ).rejects.toThrow('no more');
    expect(await readFile(path, 'utf8')).toBe('old');
    expect(await leftovers()).toEqual([]);
  });

  test('a missing folder, a file or a folder as the target, and a full disk in plain words', async () => {
    const missing = await refusal(writeAtomically(join(folder, 'none', 'x.csv'), (write) => write('x')));
    expect(missing.message).toContain('does not exist');
    const inFile = await refusal(writeAtomically(join(await file('plain', ''), 'x.csv'), (write) => write('x')));
    expect(inFile.message).toContain('could not be written because something on the way is no folder');
    await mkdir(join(folder, 'dir'));
    expect((await refusal(writeAtomically(join(folder, 'dir'), (write) => write('x')))).message).toContain(
      'a folder of that name is there',
    );
    const full = await refusal(
      createAtomically(join(folder, 'full.csv'), () =>
        Promise.reject(Object.assign(new Error('x'), { code: 'ENOSPC' })),
      ),
    );
    expect(full.message).toContain('the disk is full');
    expect(await leftovers()).toEqual([]);
  });
});

describe('private copies', () => {
  test('copies and hashes', async () => {
    const content = Buffer.alloc(3_000_000, 'row,ferry\n');
    const from = await file('big.csv', content);
    const to = join(folder, 'copy.csv');
    const { sha256, bytes } = await copyPrivately(from, to);
    expect(bytes).toBe(content.length);
    expect(sha256).toBe(createHash('sha256').update(content).digest('hex'));
    expect((await readFile(to)).equals(content)).toBe(true);
    expect((await stat(to)).mode & 0o077).toBe(0);
    await symlink(from, join(folder, 'link.csv'));
    expect((await copyPrivately(join(folder, 'link.csv'), to)).sha256).toBe(sha256);
  });

  test('a folder, a pipe, a missing file and one over the limit are refused', async () => {
    const to = join(folder, 'no-copy');
    await mkdir(join(folder, 'sub'));
    execFileSync('mkfifo', [join(folder, 'fifo')]);
    expect((await refusal(copyPrivately(join(folder, 'sub'), to))).message).toContain('a folder');
    expect((await refusal(copyPrivately(join(folder, 'fifo'), to))).message).toContain('a pipe');
    expect((await refusal(copyPrivately(join(folder, 'absent'), to))).message).toContain('no such file');
    await truncate(await file('huge', ''), 8 * 2 ** 30 + 1);
    expect((await refusal(copyPrivately(join(folder, 'huge'), to))).message).toContain('larger than 8192 MB');
    await expect(stat(to)).rejects.toThrow();
  });

  test('a file that grows while it is copied is refused (58)', async () => {
    const from = await file('growing.csv', Buffer.alloc(40_000_000, 'x'));
    const to = join(folder, 'grown.csv');
    let copying = true;
    const error = refusal(copyPrivately(from, to)).finally(() => {
      copying = false;
    });
    for (let i = 0; copying && i < 10_000; i++) await appendFile(from, 'y');
    expect((await error).message).toContain('changed while it was read');
    await expect(stat(to)).rejects.toThrow();
  });
});

describe('workbooks', () => {
  const cells: Cell[] = [
    'text & <b> "é" 😀',
    { t: 'n', value: '1234.5', shown: '$1,234.50', format: '"$"#,##0.00' },
    { t: 'd', value: '2024-02-29', shown: '29/02/2024', format: 'dd/mm/yyyy' },
    { t: 'd', value: '1900-01-15T08:30:15', shown: '1900-01-15 08:30:15', format: 'yyyy-mm-dd hh:mm:ss' },
    { t: 'b', value: false },
    { t: 'e', value: '#REF!' },
    { t: 'f', formula: 'SUM(A1,2)' },
    { t: 'n', value: '42', shown: '00042', format: '00000' },
    '=1+1',
    '',
    ' two  blanks\nand a line_x000D_\r\u0007 ',
    { t: 'n', value: '0.1', shown: '0.1' },
  ];

  test('every kind of cell comes back as it was', async () => {
    const path = join(folder, 'kinds.xlsx');
    const headings = cells.map((_, i) => `Heading ${i}`);
    await writeWorkbook(path, { sheet: 'Rejected', headings, rows: [{ cells }] });
    const { meta, rows } = await read(path);
    expect(meta).toMatchObject({ sheet: 'Rejected', headings });
    expect(rows).toEqual([{ row: 2, cells }]);
    expect(await leftovers()).toEqual([]);
  });

  test('an error that only other programs know is one that a workbook may hold', async () => {
    const path = join(folder, 'errors.xlsx');
    const errors = ['#N/A', 'Err:502', '18:00'].map((value): Cell => ({ t: 'e', value }));
    await writeWorkbook(path, { sheet: 'Rejected', headings: ['A', 'B', 'C'], rows: [{ cells: errors }] });
    const { rows } = await read(path);
    expect(rows[0]?.cells).toEqual(['#N/A', '#VALUE!', '#VALUE!'].map((value) => ({ t: 'e', value })));
  });

  test('headings are bold, frozen and filterable; marked cells are filled and carry a note', async () => {
    const path = join(folder, 'marks.xlsx');
    await writeWorkbook(path, {
      sheet: "a/b: [c]? 'and a name that is far too long for a sheet'",
      headings: ['Name', 'A much longer heading than most'],
      rows: [
        { cells: ['x', ''], marks: new Map([[1, { tone: 'fault', note: 'required: blank.\nFill it in.' }]]) },
        ['y', 'z'],
      ],
    });
    const book = new ExcelJS.Workbook();
    await book.xlsx.readFile(path);
    const sheet = book.worksheets[0]!;
    expect(sheet.name.length).toBeLessThanOrEqual(31);
    expect(sheet.getCell('A1').font.bold).toBe(true);
    expect(sheet.views[0]).toMatchObject({ state: 'frozen', ySplit: 1 });
    expect(JSON.stringify(sheet.autoFilter)).toContain('B3');
    expect(sheet.getColumn(2).width).toBeGreaterThan(sheet.getColumn(1).width!);
    expect(sheet.getCell('B2').fill).toMatchObject({ type: 'pattern', fgColor: { argb: 'FFFFC7CE' } });
    const note = (address: string) => {
      const found = sheet.getCell(address).note;
      return typeof found === 'string' ? found : found?.texts?.map((part) => part.text).join('');
    };
    expect(note('B2')).toBe('required: blank.\nFill it in.');
    expect(sheet.getCell('B3').fill).not.toMatchObject({ fgColor: { argb: 'FFFFC7CE' } });
  });

  test('numbers too long for a workbook stay text; no rows at all is a workbook too', async () => {
    const path = join(folder, 'long.xlsx');
    const long: Cell = { t: 'n', value: '99999999999999.99', shown: '99999999999999.99' };
    await writeWorkbook(path, { sheet: 'S', headings: ['A'], rows: [{ cells: [long] }] });
    expect((await read(path)).rows[0]!.cells).toEqual(['99999999999999.99']);
    await writeWorkbook(path, { sheet: 'S', headings: ['A'], rows: [] });
    expect((await read(path)).rows).toEqual([]);
  });

  test('any table of typed cells makes the round trip', async () => {
    const text = fc.string({
      unit: fc.constantFrom('a', ' ', '_', 'x', '0', 'D', '\n', '\t', '\r', '<', '&', 'é', '😀', '=', "'"),
      maxLength: 8,
    });
    const cell: fc.Arbitrary<Cell> = fc.oneof(
      text,
      fc.integer().map((n): Cell => ({ t: 'n', value: String(n), shown: String(n) })),
      fc.integer({ min: 61, max: 2_900_000 }).map((n): Cell => {
        const day = new Date(Date.UTC(1899, 11, 30) + n * 86_400_000).toISOString().slice(0, 10);
        return { t: 'd', value: day, shown: day, format: 'yyyy-mm-dd' };
      }),
      fc.boolean().map((value): Cell => ({ t: 'b', value })),
    );
    const table = fc.array(fc.array(cell, { minLength: 3, maxLength: 3 }), { minLength: 1, maxLength: 10 });
    let run = 0;
    await fc.assert(
      fc.asyncProperty(table, async (rows) => {
        const path = join(folder, `w${run++ % 4}.xlsx`);
        await writeWorkbook(path, { sheet: 'S', headings: ['A', 'B', 'C'], rows: rows.map((row) => ({ cells: row })) });
        const found = (await allRows(await openSource(path, { header_row: 1 }))).map((row) => row.cells);
        expect(found).toEqual(rows.filter((row) => row.some((c) => typeof c !== 'string' || c.trim() !== '')));
      }),
      { numRuns: 40 },
    );
  });
});
