import { describe, expect, test } from 'vitest';
import { createRecordFeed } from '../../src/files/csv/scan.js';
import { DEFAULT_LIMITS } from '../../src/files/limits.js';
import { read, scratch } from './fixtures.js';

const { file } = await scratch();
let count = 0;
const csv = (content: Buffer | string, name = `d${++count}.csv`) => file(name, content);
const cellsOf = (rows: readonly { cells: readonly unknown[] }[]) => rows.map((row) => row.cells);
const codesOf = (row: { faults?: readonly { code: string }[] } | undefined) => row?.faults?.map((f) => f.code) ?? [];

describe('a quotation mark too many', () => {
  test('a row that swallows 900 others up to the next quotation mark is a fault that says so; the others are read (57, 63)', async () => {
    const plain = (n: number) => `SN-${n},Laptop ${n},${n}.50`;
    const rows = Array.from({ length: 1_000 }, (_, i) => plain(i + 2));
    rows[3] = 'SN-5,"Laptop 5,5.50';
    rows[903] = 'SN-905,Laptop 905",905.50';
    const { rows: read_ } = await read(await csv(`serial,name,cost\n${rows.join('\n')}\n`), { footer: 'keep' });
    expect(read_.length).toBe(1_000 - 900);
    const [faulty, ...others] = read_.filter((row) => row.faults);
    expect(others).toEqual([]);
    expect(faulty).toMatchObject({ row: 5, faults: [{ code: 'stray_quote', index: 1 }] });
    expect(faulty!.faults![0]!.message).toContain('column B and is closed only 900 lines further down');
    expect(faulty!.faults![0]!.message).toContain('after "SN-905,Laptop 905"');
    expect(read_.at(-1)!.cells).toEqual(['SN-1001', 'Laptop 1001', '1001.50']);
  });

  test('long notes of several lines are no swallowed rows', async () => {
    const note = 'Dear all,\nplease note, this laptop, too\nwas repaired\nthree times, twice\nBest, Bob';
    const { meta, rows } = await read(await csv(`a,b,c\n1,"${note}",3\n4,"${note}",6\n`));
    expect(rows.every((row) => row.faults === undefined)).toBe(true);
    expect(meta.warnings).toEqual([]);
    expect(rows[0]!.cells[1]).toBe(note);
  });
});

describe('rows that do not fit', () => {
  test('a second table glued on below: its rows are faults with their numbers, the good ones unharmed (63)', async () => {
    const { rows } = await read(
      await csv('Serial,Name,Cost\nA1,Drill,1\nA2,Saw,2\n\nSupplier,Country\nBosch,DE\nMakita,JP\n'),
      { footer: 'keep' },
    );
    expect(rows.map((row) => [row.row, codesOf(row)])).toEqual([
      [2, []],
      [3, []],
      [5, ['ragged_row']],
      [6, ['ragged_row']],
      [7, ['ragged_row']],
    ]);
  });

  test('rows of delimiters only are blank; a heading with trailing delimiters alone makes no columns (63)', async () => {
    const { meta, rows } = await read(await csv('a,b,,\n1,2\n,,,\n,\n3,4,,\n5,6,7\n'));
    expect(meta.headings).toEqual(['a', 'b', '']);
    expect(rows.map((row) => row.row)).toEqual([2, 5, 6]);
  });
});

describe('line ends', () => {
  test('LF, CRLF and CR in one file end rows; U+2028, U+2029, U+0085, VT and FF do not (62)', async () => {
    const { meta, rows } = await read(await csv('a,b\r\n1\u2028x,2\u0085y\n3\u2029,4\v\r5\f,6\n'));
    expect(cellsOf(rows)).toEqual([
      ['1\u2028x', '2\u0085y'],
      ['3\u2029', '4\v'],
      ['5\f', '6'],
    ]);
    expect(meta.warnings.join(' ')).toContain('Line ends are mixed');
  });
});

describe('delimiters', () => {
  test.each([
    ['\x1f', 'unit separator'],
    ['^', '"^"'],
    ['~', '"~"'],
    [':', 'colon'],
  ])('the rare delimiter %j may be stated (67)', async (delimiter, name) => {
    const text = [
      ['Name', 'Cost', 'Owner'],
      ['Drill', '1.50', 'Bob'],
      ['Saw', '2', 'Eve'],
    ]
      .map((r) => r.join(delimiter))
      .join('\n');
    const { meta, rows } = await read(await csv(text), { delimiter });
    expect([meta.delimiter, meta.headings]).toEqual([delimiter, ['Name', 'Cost', 'Owner']]);
    expect(meta.evidence.join(' ')).toContain(`The delimiter is ${name}`);
    expect(rows.length).toBe(2);
  });

  test('times and addresses in a single column are no cells (67)', async () => {
    const { meta } = await read(await csv('at\n12:30\n14:45\n'));
    expect(meta.headings).toEqual(['at']);
    const links = await read(await csv('link: here\nhttps://a.example\nhttps://b.example\n'));
    expect(links.meta.headings).toEqual(['link: here']);
  });
});

describe('NUL', () => {
  test('is a fault of its cell alone, in quotes and without (64)', async () => {
    const { rows } = await read(await csv('a,b\n"x\0",1\ny,\0\nz,3\n'));
    expect(rows.map(codesOf)).toEqual([['nul_character'], ['nul_character'], []]);
    expect(rows.map((row) => row.faults?.[0]?.index)).toEqual([0, 1, undefined]);
  });
});

describe('any bytes', () => {
  test('are cut into the same records whether their cells are wanted or not', () => {
    const pieces = [
      'a',
      'bc',
      ' ',
      ',',
      ',',
      '"',
      '""',
      '"x"',
      '\n',
      '\r\n',
      '\r',
      'é',
      '€',
      "'",
      '\0',
      '\ufeff',
      'x'.repeat(20),
    ];
    let seed = 7;
    const next = (below: number) => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
      return (seed >>> 8) % below;
    };
    const limits = { ...DEFAULT_LIMITS, columns: 5, cellCharacters: 40 };
    const feedOf = (bytes: Buffer, collect: boolean) => {
      const feed = createRecordFeed({ path: 'x', delimiter: ',', width: 3, limits, collect, complete: false });
      feed.push(bytes);
      feed.finish();
      return feed;
    };
    for (let run = 0; run < 6_000; run++) {
      const bytes = Buffer.from(Array.from({ length: next(40) }, () => pieces[next(pieces.length)]!).join(''));
      const [reading, skimming] = [feedOf(bytes, true), feedOf(bytes, false)];
      while (reading.next()) {
        expect(skimming.next()).toBe(true);
        const seen = ({
          position,
          record: { count: cellCount, strayCell: stray, unclosed: open, multiline: lines },
        }: typeof reading) => [position, cellCount, stray, open, lines];
        expect(seen(skimming)).toEqual(seen(reading));
        expect(reading.record.cells).toHaveLength(Math.min(reading.record.count, limits.columns + 1));
      }
      expect(skimming.next()).toBe(false);
    }
  });
});
