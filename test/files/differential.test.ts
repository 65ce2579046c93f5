import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import ExcelJS from 'exceljs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRecordFeed } from '../../src/files/csv/scan.js';
import { DEFAULT_LIMITS } from '../../src/files/limits.js';
import { numberFormat } from '../../src/files/number/number-format.js';
import { openSource } from '../../src/files/open.js';
import { rangeName } from '../../src/files/table/cell-range.js';
import type { StoredRow } from '../../src/files/table/open-sheet.js';
import { NO_STRINGS, type SharedStrings } from '../../src/files/xlsx/shared-strings.js';
import { createSheetScan } from '../../src/files/xlsx/sheet-scan.js';
import { RunError } from '../../src/model/error.js';
import { type Cell, displayText } from '../../src/model/row.js';
import { allRows, bookOf, scratch, textRows } from './fixtures.js';

/*
 * The readers against csv-parse and the full reader of exceljs, cell by cell; and every place at which a chunk may cut.
 */

const { folder } = await scratch();
const limits = DEFAULT_LIMITS;

function records(pieces: readonly Buffer[], delimiter: string): string[][] {
  return numbered(pieces, delimiter).map(({ cells }) => cells);
}

function numbered(pieces: readonly Buffer[], delimiter: string, skip?: 'lines' | 'rows') {
  const options = { path: 'x', delimiter, limits, collect: true, complete: true };
  const feed = createRecordFeed(skip ? { ...options, skip } : options);
  const rows: { row: number; cells: string[]; blank: boolean }[] = [];
  const drain = () => {
    while (feed.next()) rows.push({ row: feed.row, cells: feed.record.cells, blank: feed.record.blank });
  };
  for (const piece of pieces) {
    feed.push(piece);
    drain();
  }
  feed.finish();
  drain();
  return rows;
}

const piecesOf = (bytes: Buffer, cuts: readonly number[]) => {
  const places = [0, ...[...cuts].sort((a, b) => a - b), bytes.length];
  return places.slice(1).map((to, i) => bytes.subarray(places[i]!, to));
};

describe('CSV', () => {
  const tricky = Buffer.from(
    'Größe,"b ""q"" b",c\r\n"line\r\nbreak",€😀,"x,y"\r\r\n"","",""\n"ends ""","""",ä\r\n,,\r"5"" pipe" ,\ud83d\ude00,z',
  );

  test('every place at which one or two cuts may fall gives the same cells', () => {
    const whole = records([tricky], ',');
    expect(whole.length).toBe(7);
    expect(whole[1]).toEqual(['line\r\nbreak', '€😀', 'x,y']);
    for (let a = 0; a <= tricky.length; a++) {
      expect(records(piecesOf(tricky, [a]), ',')).toEqual(whole);
      for (let b = a; b <= tricky.length; b += 3) expect(records(piecesOf(tricky, [a, b]), ',')).toEqual(whole);
    }
    expect(records(piecesOf(tricky, Array.from(tricky.keys())), ',')).toEqual(whole);
  });

  const cell = fc.string({
    unit: fc.constantFrom('a', 'Z', '9', ' ', ',', ';', '"', '\n', '\r\n', 'é', '€', '😀', '\t'),
    maxLength: 6,
  });
  const table = fc
    .integer({ min: 1, max: 5 })
    .chain((width) => fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 8 }));
  const quote = (text: string, always: boolean, delimiter: string) =>
    always || /["\r\n]/.test(text) || text.includes(delimiter) || /^\s|^$/.test(text)
      ? `"${text.replaceAll('"', '""')}"`
      : text;

  test('agrees with csv-parse on any table, cut anywhere', () => {
    fc.assert(
      fc.property(
        table,
        fc.constantFrom(',', ';', '\t'),
        fc.constantFrom('\n', '\r\n', '\r'),
        fc.boolean(),
        fc.boolean(),
        fc.array(fc.nat(400), { maxLength: 6 }),
        (rows, delimiter, newline, always, ended, cuts) => {
          const text = rows.map((row) => row.map((c) => quote(c, always, delimiter)).join(delimiter)).join(newline);
          const bytes = Buffer.from(ended ? text + newline : text);
          const expected = parse(bytes, { delimiter, record_delimiter: newline }) as string[][];
          const ours = records(
            piecesOf(
              bytes,
              cuts.map((cut) => Math.min(cut, bytes.length)),
            ),
            delimiter,
          );
          expect(ours).toEqual(expected);
          expect(ours).toEqual(rows);
        },
      ),
      { numRuns: 1_500 },
    );
  });

  test('blank rows that are skipped are those that hold nothing, and every other row keeps its number (102)', () => {
    const lines = ['\n', '\r\n', '\r', ',\n', ' \t\r\n', '""\n', 'a\n', '"\n",b\r\n', '\u00a0\n', ' ,a\r'];
    const csvish = fc.array(fc.constantFrom(...lines), { maxLength: 20 });
    fc.assert(
      fc.property(
        csvish,
        fc.array(fc.nat(60), { maxLength: 4 }),
        fc.constantFrom(',', '\t'),
        (parts, cuts, delimiter) => {
          const bytes = Buffer.from(parts.join(''));
          const all = numbered([bytes], delimiter);
          const within = cuts.map((cut) => Math.min(cut, bytes.length));
          for (const skip of ['lines', 'rows'] as const) {
            const left = numbered(piecesOf(bytes, within), delimiter, skip);
            const passed = (text: string) => (skip === 'rows' ? text.trim() === '' : text === '');
            const gone = all.filter(({ row }) => !left.some((one) => one.row === row));
            expect(gone.every(({ cells }) => cells.every(passed))).toBe(true);
            expect([...left, ...gone].sort((a, b) => a.row - b.row)).toEqual(all);
          }
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test('any bytes at all end in records or a refusal, the same however they are cut', () => {
    const bytes = fc.uint8Array({ maxLength: 80 }).map((array) => Buffer.from(array));
    const csvish = fc
      .array(fc.constantFrom('"', ',', '\r', '\n', 'a', ' ', '""', '\xe9', '\0'), { maxLength: 40 })
      .map((parts) => Buffer.from(parts.join(''), 'latin1'));
    const run = (pieces: readonly Buffer[]) => {
      try {
        return records(pieces, ',');
      } catch (error) {
        return String((error as Error).message);
      }
    };
    fc.assert(
      fc.property(fc.oneof(bytes, csvish), fc.array(fc.nat(80), { maxLength: 4 }), (input, cuts) => {
        const whole = run([input]);
        expect(
          run(
            piecesOf(
              input,
              cuts.map((cut) => Math.min(cut, input.length)),
            ),
          ),
        ).toEqual(whole);
      }),
      { numRuns: 3_000 },
    );
  });
});

describe('XLSX', () => {
  const tricky = Buffer.from(
    `<?xml version="1.0"?><worksheet xmlns="m"><cols><col min="1" max="2" hidden="1"/></cols><sheetData>${textRows([
      ['Größe & <b>', '€ "q"', 'x'],
      ['😀 ä', '', "it's"],
    ])}<row r='3' hidden="1"><c r="B3" t='b'><v>1</v></c><c r="C3"><f>A1&amp;"é"</f></c></row><!-- <row r="4"> é > --><row r="5">` +
      '<c r="A5" t="str"><v><![CDATA[<é>&]]>]]&gt;</v></c></row></sheetData><mergeCells><mergeCell ref="A1:B1"/></mergeCells></worksheet>',
  );

  function scanned(pieces: readonly Buffer[]): unknown {
    const rows: [number, Cell[]][] = [];
    const scan = createSheetScan({
      what: 'x',
      strings: NO_STRINGS,
      formats: [],
      date1904: false,
      limits,
      onRow: ({ row, cells }) => rows.push([row, cells]),
    });
    for (const piece of pieces) scan.push(piece);
    scan.finish();
    return { rows, hidden: scan.hiddenRows, columns: scan.hiddenColumns, merged: scan.mergedRanges.map(rangeName) };
  }

  test('every place at which one or two cuts may fall gives the same cells', () => {
    const whole = scanned([tricky]);
    expect(whole).toEqual({
      rows: [
        [1, ['Größe & <b>', '€ "q"', 'x']],
        [2, ['😀 ä', '', "it's"]],
        [3, ['', { t: 'b', value: true }, { t: 'f', formula: 'A1&"é"' }]],
        [5, ['<é>&]]>']],
      ],
      hidden: 1,
      columns: 2,
      merged: ['A1:B1'],
    });
    for (let a = 0; a <= tricky.length; a++) {
      expect(scanned(piecesOf(tricky, [a]))).toEqual(whole);
      for (let b = a; b <= tricky.length; b += 41) expect(scanned(piecesOf(tricky, [a, b]))).toEqual(whole);
    }
    expect(scanned(piecesOf(tricky, Array.from(tricky.keys())))).toEqual(whole);
  });

  test('damaged XML ends in rows or a refusal, the same however it is cut', () => {
    const run = (pieces: readonly Buffer[]) => {
      try {
        return scanned(pieces);
      } catch (error) {
        return error instanceof RunError ? error.message : `${String(error)}: not a refusal`;
      }
    };
    const place = fc.nat(tricky.length - 1);
    const damage = fc.array(fc.tuple(place, fc.constantFrom(...'<>/"\'&;!?-[]=r0 x', '\xc3', '\0')), {
      minLength: 1,
      maxLength: 4,
    });
    fc.assert(
      fc.property(damage, fc.array(place, { maxLength: 5 }), fc.nat(tricky.length), (changes, cuts, keep) => {
        const bytes = Buffer.from(tricky.subarray(0, keep % 3 === 0 ? keep : tricky.length));
        for (const [at, character] of changes) if (at < bytes.length) bytes.write(character, at, 'latin1');
        const whole = run([bytes]);
        expect(String(whole)).not.toContain('not a refusal');
        expect(
          run(
            piecesOf(
              bytes,
              cuts.map((cut) => Math.min(cut, bytes.length)),
            ),
          ),
        ).toEqual(whole);
      }),
      { numRuns: 3_000 },
    );
  });

  test('skipping the rows sees the same hidden rows and merges wherever a cut falls', () => {
    for (let cut = 0; cut <= tricky.length; cut++) {
      const scan = createSheetScan({
        what: 'x',
        strings: NO_STRINGS,
        formats: [],
        date1904: false,
        limits,
        onRow: () => expect.unreachable(),
      });
      scan.skim = true;
      for (const piece of piecesOf(tricky, [cut])) scan.push(piece);
      scan.finish();
      expect([scan.hiddenRows, scan.mergeCount]).toEqual([1, 1]);
    }
  });

  test('the forms that are read in one step are read like those that are not, also where rows are skipped', () => {
    const cell = fc.oneof(
      fc.constantFrom(
        '<c/>',
        '<c r="B9"/>',
        '<c><v>0</v></c>',
        '<c><v>12345678901</v></c>',
        '<c s="1"><v>45000</v></c>',
        '<c s="1"><v>45000.5</v></c>',
        '<c s="2"><v>1234.5</v></c>',
        '<c><v>12.34</v></c>',
        '<c><v>-1E3</v></c>',
        '<c t="str"><v>www &amp; </v></c>',
        '<c t="b"><v>1</v></c>',
        '<c><f>A1</f></c>',
        '<c r="D3"><v>7</v></c>',
        '<c r="AB3"><v>8</v></c>',
      ),
      fc
        .tuple(fc.integer({ min: 0, max: 6 }), fc.boolean())
        .map(([n, r]) => `<c${r ? ` r="${'ABCDEFG'[n]}7"` : ''} t="s"><v>${n}</v></c>`),
      fc
        .stringMatching(/^[a-w é&_x0-9]{0,60}$/)
        .map((text) => `<c t="inlineStr"><is><t>${text.replaceAll('&', '&lt;')}</t></is></c>`),
    );
    const row = fc.tuple(
      fc.constantFrom('', ' spans="1:3"', ' hidden="1"', ' ht="12"', ' hidden="0"', ' a="/>"'),
      fc.array(cell, { maxLength: 12 }),
      fc.constantFrom('', '', '', '', '\n', '<!-- </row> -->'),
      fc.boolean(),
    );
    const strings: SharedStrings = {
      clean: true,
      get: (at) => ['zero', 'one', '', 'drei', 'vier', 'five'][at],
    };
    const formats = ['General', 'yyyy-mm-dd', '#,##0.00'].map(numberFormat);
    const read = (pieces: readonly Buffer[], skim: boolean) => {
      const rows: unknown[] = [];
      const onRow = (found: StoredRow) => rows.push(found);
      const scan = createSheetScan({ what: 'x', strings, formats, date1904: false, limits, onRow });
      scan.skim = skim;
      try {
        for (const piece of pieces) scan.push(piece);
        scan.finish();
      } catch (error) {
        return error instanceof RunError ? error.message : `${String(error)}: not a refusal`;
      }
      return { rows, hidden: scan.hiddenRows, merges: scan.mergeCount };
    };
    const skimmed = (found: ReturnType<typeof read>) => (typeof found === 'string' ? found : { ...found, rows: [] });
    fc.assert(
      fc.property(fc.array(row, { maxLength: 8 }), fc.array(fc.nat(3_000), { maxLength: 3 }), (rows, cuts) => {
        const text = rows
          .map(([more, cells, after, empty], i) =>
            empty ? `<row r="${i + 1}"${more}/>` : `<row r="${i + 1}"${more}>${cells.join('')}</row>${after}`,
          )
          .join('');
        const of = (xml: string) =>
          Buffer.from(`<worksheet><sheetData>${xml}</sheetData><mergeCell ref="A1:B1"/></worksheet>`);
        const bytes = of(text);
        // Names with a prefix are local names.
        const slow = read([of(text.replace(/<(\/?)(?=[a-z])/g, '<$1x:'))], false);
        const pieces = piecesOf(
          bytes,
          cuts.map((cut) => cut % (bytes.length + 1)),
        );
        expect(read([bytes], false)).toEqual(slow);
        expect(read(pieces, false)).toEqual(slow);
        if (typeof slow === 'string') return;
        expect(read([bytes], true)).toEqual(skimmed(slow));
        expect(read(pieces, true)).toEqual(skimmed(slow));
      }),
      { numRuns: 500 },
    );
  });

  test('non-ASCII text is right at every chunk border of a large sheet', async () => {
    const words = ['Größe', 'Zürich €', '東京都', '😀😀', 'naïve', 'plain'];
    const rows = Array.from({ length: 20_000 }, (_, i) => [`${words[i % 6]} ${i}`, words[(i * 7) % 6]!]);
    const path = join(folder, 'large.xlsx');
    await writeFile(path, bookOf({ sheets: [{ xml: textRows([['A', 'B'], ...rows]) }] }));
    let wrong = 0;
    (await allRows(await openSource(path))).forEach((row, i) => {
      if (row.row !== i + 2 || row.cells[0] !== rows[i]![0] || row.cells[1] !== rows[i]![1]) wrong++;
    });
    expect(wrong).toBe(0);
  });

  const value = fc.oneof(
    fc.string({
      unit: fc.constantFrom('a', 'B', ' ', '&', '<', '"', "'", 'é', '東', '😀', '\n', '_', '='),
      maxLength: 8,
    }),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e9, max: 1e9 }).map((n) => Number(n.toPrecision(12))),
    fc.boolean(),
    fc
      .integer({ min: Date.UTC(1950, 0, 1) / 1000, max: Date.UTC(2090, 0, 1) / 1000 })
      .map((seconds) => new Date(seconds * 1000)),
    fc.constantFrom('#N/A', '#DIV/0!').map((error) => ({ error })),
    fc.constant(null),
  );

  function comparable(cell: ExcelJS.CellValue | undefined): string {
    if (cell === null || cell === undefined || cell === '') return '';
    if (cell instanceof Date)
      return `d ${new Date(Math.round(cell.getTime() / 1000) * 1000).toISOString().slice(0, 19)}`;
    if (typeof cell === 'object' && 'error' in cell) return `e ${cell.error}`;
    if (typeof cell === 'number') return `n ${Object.is(cell, -0) ? 0 : cell}`;
    return typeof cell === 'boolean' ? `b ${cell}` : `s ${String(cell)}`;
  }
  function ours(cell: Cell): string {
    if (cell === '') return '';
    if (typeof cell === 'string') return `s ${cell}`;
    if (cell.t === 'd') return `d ${cell.value.includes('T') ? cell.value : `${cell.value}T00:00:00`}`;
    return cell.t === 'n' ? `n ${Number(cell.value)}` : `${cell.t} ${'value' in cell ? cell.value : displayText(cell)}`;
  }

  test('agrees with the full reader of exceljs on workbooks that exceljs wrote', async () => {
    const table = fc
      .integer({ min: 1, max: 6 })
      .chain((width) =>
        fc.array(fc.array(value, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 12 }),
      );
    let run = 0;
    await fc.assert(
      fc.asyncProperty(table, async (rows) => {
        const path = join(folder, `x${run++ % 4}.xlsx`);
        const written = new ExcelJS.Workbook();
        const sheet = written.addWorksheet('S');
        sheet.addRow(rows[0]!.map((_, i) => `Head ${i}`));
        for (const row of rows)
          sheet.addRow(row).eachCell((c) => {
            if (c.value instanceof Date) c.numFmt = 'yyyy-mm-dd hh:mm:ss';
          });
        await written.xlsx.writeFile(path);

        const reference = new ExcelJS.Workbook();
        await reference.xlsx.readFile(path);
        const expected = new Map<number, string[]>();
        reference.worksheets[0]!.eachRow((row, number) => {
          const cells = rows[0]!.map((_, i) => comparable(row.getCell(i + 1).value));
          if (number > 1 && cells.some((c) => c.replace(/^s\s+/, '') !== '')) expected.set(number, cells);
        });
        const found = (await allRows(await openSource(path, { header_row: 1 }))).map(
          (row) => [row.row, row.cells.map(ours)] as const,
        );
        expect(new Map(found)).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });
});
