import { gzipSync } from 'node:zlib';
import iconv from 'iconv-lite';
import { describe, expect, test } from 'vitest';
import { createRecordFeed } from '../../src/files/csv/scan.js';
import { DEFAULT_LIMITS } from '../../src/files/limits.js';
import { openSource } from '../../src/files/open.js';
import { allRows, read, refusal, scratch } from './fixtures.js';

const { file } = await scratch();
let count = 0;
const csv = (content: Buffer | string, name = `t${++count}.csv`) => file(name, content);
const cellsOf = (rows: readonly { cells: readonly unknown[] }[]) => rows.map((row) => row.cells);
const codesOf = (row: { faults?: readonly { code: string }[] } | undefined) => row?.faults?.map((f) => f.code) ?? [];

describe('rows', () => {
  test('a plain file: headings, cells and row numbers', async () => {
    const { meta, rows } = await read(await csv('Name,Qty\nDrill,1\nSaw,2\n'));
    expect(meta).toMatchObject({
      format: 'csv',
      gzip: false,
      encoding: 'utf-8',
      delimiter: ',',
      newline: '\n',
      header_row: 1,
      headings: ['Name', 'Qty'],
      sheet: null,
    });
    expect(rows).toEqual([
      { row: 2, cells: ['Drill', '1'] },
      { row: 3, cells: ['Saw', '2'] },
    ]);
  });

  test('a quoted line break starts no row; a blank row keeps its number and is no data row', async () => {
    const { rows } = await read(await csv('a,b\r\n"x\r\ny",1\r\n\r\n,  \r\nz,2'));
    expect(rows).toEqual([
      { row: 2, cells: ['x\r\ny', '1'] },
      { row: 5, cells: ['z', '2'] },
    ]);
  });

  test.each([
    ['CSV', 'a.csv', 'serial,cost\n', 'S-1,1\n', ['\n', '\r\n', '\r', ',\n', '  \n']],
    ['NDJSON', 'a.ndjson', '{"serial":"S-0","cost":1}\n', '{"serial":"S-1","cost":2}\n', ['\n', '\r\n', ' \n']],
  ])(
    'millions of blank rows in %s, also packed, cost no turn of their own (102)',
    async (_, name, head, end, blanks) => {
      for (const [at, blank] of blanks.entries()) {
        const count = at === 0 ? 2_000_000 : 200_000;
        const text = Buffer.concat([Buffer.from(head), Buffer.from(blank.repeat(count)), Buffer.from(end)]);
        for (const path of [await file(name, text), await file(`${name}.gz`, gzipSync(text))]) {
          const { rows } = await read(path);
          expect(rows.at(-1)?.row).toBe(count + 2);
        }
      }
      const feed = createRecordFeed({
        path: 'x',
        delimiter: ',',
        limits: DEFAULT_LIMITS,
        collect: true,
        complete: true,
        skip: 'rows',
      });
      feed.push(Buffer.from('\n'.repeat(1_000_000)));
      expect([feed.next(), feed.row]).toEqual([false, 1_000_000]);
    },
  );

  test('between two batches of rows, whoever else waits has a turn (102)', async () => {
    const source = await openSource(await file('turns.csv', `a,b\n${'1,2\n'.repeat(20_000)}`));
    let [turns, batches, going] = [0, 0, true];
    const turn = () => {
      turns++;
      if (going) setImmediate(turn);
    };
    setImmediate(turn);
    for await (const _ of source.rows()) batches++;
    going = false;
    expect(batches).toBe(41);
    expect(turns).toBeGreaterThanOrEqual(batches);
  });

  test('rows can be read again from the start, in batches of at most 500', async () => {
    const lines = Array.from({ length: 1_203 }, (_, i) => `n${i},${i}`);
    const source = await openSource(await csv(`a,b\n${lines.join('\n')}`));
    const sizes: number[] = [];
    for await (const batch of source.rows()) sizes.push(batch.length);
    expect(sizes).toEqual([480, 500, 203, 20]);
    expect((await allRows(source)).at(-1)).toEqual({ row: 1_204, cells: ['n1202', '1202'] });
  });

  test('a reader that stops early leaves nothing open', async () => {
    const source = await openSource(await csv(`a,b\n${'x,y\n'.repeat(200_000)}`));
    for (let i = 0; i < 50; i++) for await (const batch of source.rows()) if (batch.length > 0) break;
    expect((await allRows(source)).length).toBe(200_000);
  });

  test('headings such as __proto__ and constructor are headings like others; equal ones both stay', async () => {
    const { meta, rows } = await read(await csv('__proto__,constructor,a,a\n1,2,3,4\n'));
    expect(meta.headings).toEqual(['__proto__', 'constructor', 'a', 'a']);
    expect(cellsOf(rows)).toEqual([['1', '2', '3', '4']]);
  });

  test('a formula that is nothing but a text is that text, in quotes or not', async () => {
    const { meta, rows } = await read(await csv('="No",b\n="00123","=""+49 1"""\n="",=""\n=A1,=""\n'));
    expect(meta.headings).toEqual(['No', 'b']);
    expect(cellsOf(rows)).toEqual([
      ['00123', '+49 1'],
      ['=A1', ''],
    ]);
  });

  test('an escaped formula is read as it was, once', async () => {
    const { meta, rows } = await read(await csv(`'=h,b,c\n'=1+1,''=2,'plain\n-5,'-5,'@x\n`));
    expect(meta.headings[0]).toBe('=h');
    expect(cellsOf(rows)).toEqual([
      ['=1+1', "'=2", "'plain"],
      ['-5', "'-5", '@x'],
    ]);
    expect(rows.map(({ escaped }) => escaped)).toEqual([[0, 1], [2]]);
  });
});

describe('detection', () => {
  test.each([
    [',', 'comma'],
    [';', 'semicolon'],
    ['\t', 'tab'],
    ['|', 'pipe'],
  ])('the delimiter %j', async (delimiter, name) => {
    const rows = [
      ['Name', 'Address', 'Cost'],
      ['Müller, Söhne', 'Weg 1; 2. Stock', '1,50'],
      ['A|B', 'x, y', '2,00'],
    ];
    const text = rows.map((row) => row.map((cell) => `"${cell}"`).join(delimiter)).join('\n');
    const { meta, rows: data } = await read(await csv(text));
    expect(meta.delimiter).toBe(delimiter);
    expect(meta.evidence.join(' ')).toContain(`The delimiter is ${name}`);
    expect(cellsOf(data)).toEqual(rows.slice(1));
  });

  test.each([
    ['sep=;\r\n', {}],
    ['\ufeff"SEP=;"\r\n', {}],
    ['sep=;\r\n', { header_row: 1 }],
    ['sep=,\r\n', { delimiter: ';' }],
  ])('the line %j for spreadsheet programs is followed, and not counted, as they do', async (hint, options) => {
    const text = `${hint}Name;Cost, net\r\nA, B;1,5\r\nC;2\r\n`;
    const { meta, rows } = await read(await csv(text), options);
    expect(meta).toMatchObject({ delimiter: ';', hinted: true, header_row: 1, headings: ['Name', 'Cost, net'] });
    expect(meta.warnings).toEqual([]);
    expect(rows).toEqual([
      { row: 2, cells: ['A, B', '1,5'] },
      { row: 3, cells: ['C', '2'] },
    ]);
  });

  test.each(['', '\r\n'])('the mark of DOS programs at the end of the file is no row', async (end) => {
    const { rows } = await read(await csv(`Name,Cost\r\nDrill,5\r\n\x1a${end}`));
    expect(rows).toEqual([{ row: 2, cells: ['Drill', '5'] }]);
  });

  test('of the line for spreadsheet programs alone no rows are left', async () => {
    expect((await refusal(openSource(await csv('sep=;\r\n')))).message).toContain('holds no rows');
  });

  test('a character within the cells of a column is no delimiter, though it cuts them alike', async () => {
    const lines = Array.from({ length: 30 }, (_, i) => `Item ${i},red|green|blue|black`);
    const { meta } = await read(await csv(`Name,Colours\n${lines.join('\n')}`));
    expect(meta).toMatchObject({ delimiter: ',', headings: ['Name', 'Colours'] });
    lines[4] += ',a cell too many';
    const { meta: uneven } = await read(await csv(`Name,Colours\n${lines.join('\n')}`));
    expect(uneven).toMatchObject({ delimiter: ',', headings: ['Name', 'Colours'] });
  });

  test('a decimal comma does not make a semicolon file a comma file', async () => {
    const lines = Array.from({ length: 30 }, (_, i) => `Item ${i};${i},50`);
    const { meta } = await read(await csv(`Name;Cost\n${lines.join('\n')}`));
    expect(meta.delimiter).toBe(';');
    expect(meta.headings).toEqual(['Name', 'Cost']);
  });

  test('one column', async () => {
    const { meta, rows } = await read(await csv('Name\nDrill\nSaw'));
    expect(meta.headings).toEqual(['Name']);
    expect(rows.length).toBe(2);
    expect(meta.evidence.join(' ')).toContain('one column');
  });

  test.each([
    ['\n', 'LF'],
    ['\r\n', 'CRLF'],
    ['\r', 'CR'],
  ])('line ends %j', async (newline, name) => {
    const { meta, rows } = await read(await csv(['a,b', '1,2', '"3\n",4', ''].join(newline)));
    expect(meta.newline).toBe(newline);
    expect(meta.evidence.join(' ')).toContain(`end with ${name}`);
    expect(cellsOf(rows)).toEqual([
      ['1', '2'],
      ['3\n', '4'],
    ]);
  });

  test('mixed line ends are read and said', async () => {
    const { meta, rows } = await read(await csv('a,b\r\n1,2\n3,4\n5,6\r7,8\n'));
    expect(cellsOf(rows)).toEqual([
      ['1', '2'],
      ['3', '4'],
      ['5', '6'],
      ['7', '8'],
    ]);
    expect(rows.map((row) => row.row)).toEqual([2, 3, 4, 5]);
    expect(meta.newline).toBe('\n');
    expect(meta.warnings.join(' ')).toContain('mixed: LF 3 times, CRLF 1 times, CR 1 times');
  });

  const accents = 'Größe,Preis €\nZürich,“12”\nMünchen,Š\nÆrø,–\n';
  test.each([
    ['UTF-8', Buffer.from(accents), 'utf-8', false],
    ['UTF-8 with mark', Buffer.from(`\ufeff${accents}`), 'utf-8', true],
    ['UTF-16LE with mark', iconv.encode(accents, 'utf-16le', { addBOM: true }), 'utf-16le', true],
    ['UTF-16BE with mark', iconv.encode(accents, 'utf-16be', { addBOM: true }), 'utf-16be', true],
    ['UTF-16LE', iconv.encode(accents, 'utf-16le', { addBOM: false }), 'utf-16le', false],
    ['UTF-16BE', iconv.encode(accents, 'utf-16be', { addBOM: false }), 'utf-16be', false],
    ['windows-1252', iconv.encode(accents, 'windows-1252'), 'windows-1252', false],
  ])('the encoding %s, also gzipped', async (_, bytes, encoding, bom) => {
    for (const content of [bytes, gzipSync(bytes)]) {
      const { meta, rows } = await read(await csv(content));
      expect(meta).toMatchObject({ encoding, bom, gzip: content !== bytes, headings: ['Größe', 'Preis €'] });
      expect(cellsOf(rows)).toEqual([
        ['Zürich', '“12”'],
        ['München', 'Š'],
        ['Ærø', '–'],
      ]);
    }
  });

  test('one windows-1252 byte after megabytes of ASCII decides', async () => {
    const text = `a,b\n${'plain,text\n'.repeat(120_000)}caf\xe9,x\n`;
    const { meta, rows } = await read(await csv(Buffer.from(text, 'latin1')));
    expect(meta.encoding).toBe('windows-1252');
    expect(rows.at(-1)!.cells).toEqual(['café', 'x']);
  });

  test('a stated encoding, delimiter and heading row are used', async () => {
    const bytes = iconv.encode('title\n\nИмя;Дата\nИван;1', 'windows-1251');
    const { meta, rows } = await read(await csv(bytes), { encoding: 'windows-1251', delimiter: ';', header_row: 3 });
    expect(meta).toMatchObject({ encoding: 'windows-1251', delimiter: ';', header_row: 3, headings: ['Имя', 'Дата'] });
    expect(rows).toEqual([{ row: 4, cells: ['Иван', '1'] }]);
  });

  test('title rows above the heading are skipped and said', async () => {
    const { meta, rows } = await read(
      await csv(
        'Asset list of the Berlin office,,,\nas of 2024-01-31,,,\n,,,\nName,Serial,Cost,Owner\nA,1,2,x\nB,3,4,y\n',
      ),
    );
    expect(meta.header_row).toBe(4);
    expect(meta.headings).toEqual(['Name', 'Serial', 'Cost', 'Owner']);
    expect(meta.warnings.join(' ')).toContain('2 rows above the heading were skipped, from row 1');
    expect(rows.map((row) => row.row)).toEqual([5, 6]);
  });

  test('a title that is shorter than the table in cells does not make it ragged', async () => {
    const { meta, rows } = await read(await csv('Assets\nName,Serial,Cost\nA,1,2\nB,3,4\n'));
    expect(meta.header_row).toBe(2);
    expect(rows.every((row) => row.faults === undefined)).toBe(true);
  });

  test('a heading with a blank first cell, and sparse data below a full heading', async () => {
    const blank = await read(await csv(',Name,Cost\n1,A,2\n2,B,3\n'));
    expect(blank.meta.headings).toEqual(['', 'Name', 'Cost']);
    expect(blank.meta.warnings.join(' ')).toContain(
      'without a heading are imported only where the job names their letter: A',
    );
    const sparse = await read(await csv('Name,Serial,Cost,Owner\nA,,,\nB,,,\n'));
    expect(sparse.meta.header_row).toBe(1);
  });

  test('without a heading, rows have as many cells as nearly all have', async () => {
    const lines = Array.from({ length: 20 }, (_, i) => `Item ${i},Rome,IT`);
    lines[6] += ',more';
    const { meta, rows } = await read(await csv(lines.join('\n')), { header_row: 'none' });
    expect(meta.headings).toEqual(['A', 'B', 'C']);
    expect(rows.flatMap(({ row, faults = [] }) => faults.map(({ message }) => [row, message.slice(0, 52)]))).toEqual([
      [7, 'The row has 4 cells, more than the 3 of most rows (b'],
    ]);
  });

  test('trailing delimiters in every row are no columns', async () => {
    const { meta, rows } = await read(await csv('a,b,,\n1,2,,\n3,4,,\n'));
    expect(meta.headings).toEqual(['a', 'b']);
    expect(rows.every((row) => row.faults === undefined)).toBe(true);
  });
});

describe('rows with faults', () => {
  test('too few and too many cells: that row, with the numbers; trailing blank cells are harmless', async () => {
    const { rows } = await read(await csv('a,b,c\n1,2,3\n1,2\n1,2,3,4\n1,2,3,,\n1,2,3\n'));
    expect(rows.map(codesOf)).toEqual([[], ['ragged_row'], ['ragged_row'], [], []]);
    expect(rows[1]).toMatchObject({ row: 3, cells: ['1', '2', ''] });
    expect(rows[1]!.faults![0]!.message).toContain('has 2 cells, fewer than the 3');
    expect(rows[2]!.faults![0]!.message).toContain('has 4 cells, more than the 3');
    expect(rows[2]!.faults![0]!.message).toContain('"4"');
    // The surplus is given back in the rejected file; blank trailing cells are nothing.
    expect(rows.map((row) => row.cells.length)).toEqual([3, 3, 4, 3, 3]);
  });

  test('a quotation mark inside an unquoted cell is a character', async () => {
    const { rows } = await read(await csv('a,b\n5" pipe,say "hi"\n'));
    expect(rows).toEqual([{ row: 2, cells: ['5" pipe', 'say "hi"'] }]);
  });

  test('blanks after a closing quote are dropped', async () => {
    const { rows } = await read(await csv('a,b\n"x" ,"y"  \n'));
    expect(cellsOf(rows)).toEqual([['x', 'y']]);
  });

  test('text after a closing quote, or blanks before an opening one, are faults of that row alone', async () => {
    const { rows } = await read(await csv('a,b,c\n1,2,3\n"x"y,2,3\n4,5,6\n7, "8",9\n10,11,12\n'));
    expect(rows.map(codesOf)).toEqual([[], ['stray_quote'], [], ['stray_quote'], []]);
    expect(rows.map((row) => row.row)).toEqual([2, 3, 4, 5, 6]);
    expect(rows[1]!.faults![0]).toMatchObject({ index: 0 });
    expect(rows[4]!.cells).toEqual(['10', '11', '12']);
  });

  test('undoubled quotes around a line break: the reading with the right number of cells ends the row', async () => {
    const { rows } = await read(await csv('a,b,c\n1,"Big "Bob" Smith\nline 2",3\n4,5,6\n'));
    expect(rows.map((row) => [row.row, codesOf(row)])).toEqual([
      [2, ['stray_quote']],
      [3, []],
    ]);
    expect(rows[0]!.cells).toEqual(['1', 'Big "Bob" Smith\nline 2', '3']);
  });

  test('NUL, undecodable bytes and giant cells are faults of their cell; U+FFFD comes as it stands (104)', async () => {
    const { rows } = await read(
      await csv(
        Buffer.concat([
          Buffer.from(`name,b\n${'Zoë,ok\n'.repeat(30)}x\0y,1\nJos`),
          Buffer.from([0xe9]),
          Buffer.from(`,2\n${'x'.repeat(32_768)},3\n${'y'.repeat(32_767)},4\nbad\ufffdchar,5\n`),
        ]),
      ),
    );
    const last = rows.slice(30);
    expect(last.map(codesOf)).toEqual([
      ['nul_character'],
      ['invalid_encoding'],
      ['cell_too_long'],
      [],
      ['invalid_encoding'],
    ]);
    expect(last[1]!.cells[0]).toBe('Jos\\xE9');
    expect(last[1]!.faults![0]).toMatchObject({ index: 0 });
    expect(last[4]!.cells[0]).toBe('bad\ufffdchar');
    expect(rows.slice(0, -1).some(({ cells }) => cells.join().includes('\ufffd'))).toBe(false);
  });

  test('the whole text of a giant cell goes with its fault, also where bytes are spelled out', async () => {
    const giant = `'=${'x"'.repeat(20_000)}`;
    const bad = Buffer.concat([Buffer.from(`${'Zoë,ok\n'.repeat(30)}`), Buffer.from([0xe9])]);
    const { rows } = await read(
      await csv(
        Buffer.concat([
          Buffer.from('a,b\n'),
          bad,
          Buffer.from(`${'z'.repeat(32_767)}end,2\n"${giant.replaceAll('"', '""')}",3\n1,2,${'y'.repeat(40_000)}\n`),
        ]),
      ),
    );
    const [spelled, quoted, surplus] = rows.slice(30);
    expect(spelled!.faults!.at(-1)!.text).toBe(`\\xE9${'z'.repeat(32_767)}end`);
    expect(quoted!.faults).toMatchObject([{ code: 'cell_too_long', index: 0, text: giant.slice(1) }]);
    expect(String(quoted!.cells[0]).length).toBeLessThanOrEqual(32_767);
    expect(surplus!.cells[2]).toBe('y'.repeat(40_000));
  });

  test('cells far beyond the limit of columns are a fault of their row, however blank the others are', async () => {
    const many = Array.from({ length: 1_500 }, (_, i) => (i % 7 ? `c${i}` : `"q "" ${i}"`));
    const { rows } = await read(
      await csv(`a,b\r\n${many.join(',')}\r\n${',,'.repeat(2_000)}\r\n${',,'.repeat(2_000)}end\r\n1,2\r\n`),
    );
    expect(rows.map(({ row, cells }) => [row, cells.length])).toEqual([
      [2, 1_001],
      [4, 2],
      [5, 2],
    ]);
    expect(rows[0]!.cells[1_000]).toBe('c1000');
    expect(rows.map(({ faults }) => faults?.[0]?.message.slice(0, 30))).toEqual([
      'The row has 1500 cells, more t',
      'The row has 4001 cells, more t',
      undefined,
    ]);
  });

  test('in a file of rejected rows what stands behind our columns is surplus, and our heading tells the delimiter', async () => {
    const ours = '_row;_outcome;_codes;_message';
    const lines = [
      'x;;2;invalid;c;a, b, c;delete this cell when the row is right',
      'y;1;2;invalid;c;a, b, c;;',
      'z;1;2;invalid;c;d, e, f;9',
    ];
    for (const heading of [`A;B;${ours}`, `A;B;${ours};;`]) {
      const { meta, rows } = await read(await csv([heading, ...lines].join('\n')));
      expect([meta.delimiter, meta.headings.length]).toEqual([';', 6]);
      expect(rows.map(codesOf)).toEqual([['ragged_row'], [], ['ragged_row']]);
      expect(rows[0]!.faults![0]!.message).toContain('then delete that cell');
      expect(rows[2]!.faults![0]!.message).toContain('"9"');
    }
    const { meta } = await read(await csv(`A;B;${ours}\na, b, c\nd, e, f\ng, h, i\n`));
    expect(meta.delimiter).toBe(';');
  });

  test('bytes that windows-1252 leaves undefined are faults', async () => {
    const { rows } = await read(await csv(Buffer.from('a,b\ncaf\xe9,1\nx\x81,2\n', 'latin1')));
    expect(rows.map(codesOf)).toEqual([[], ['invalid_encoding']]);
  });
});

describe('files refused whole', () => {
  test('an open quote at the end names the row where it opened', async () => {
    const error = await refusal(openSource(await csv('a,b\n1,2\n3,"four\nand more\nrows,5\n')));
    expect(error.kind).toBe('failed');
    expect(error.message).toContain('row 3');
    expect(error.message).toContain('refused whole, nothing was sent');
  });

  test('an open quote deep in the file is found at opening, before any row', async () => {
    const error = await refusal(openSource(await csv(`a,b\n${'1,2\n'.repeat(400_000)}3,"cut`)));
    expect(error.message).toContain('row 400002');
  });

  test('a record without end stops at the limit', async () => {
    const error = await refusal(
      openSource(await csv(`a,b\n1,"${'x,y\n'.repeat(30_000)}`), {}, { recordBytes: 50_000 }),
    );
    expect(error.message).toContain('row 2');
  });

  test('more than 1,000 columns; a million columns are refused quickly', async () => {
    expect((await refusal(openSource(await csv(`${'a,'.repeat(1_000)}b\n`)))).message).toContain('1,000 columns');
    const fine = await openSource(await csv(`${'a,'.repeat(999)}b\n`));
    expect(fine.meta.headings.length).toBe(1_000);
    expect((await refusal(openSource(await csv(`${'abc,'.repeat(1_000_000)}b\n`)))).message).toContain('1,000 columns');
  });

  test('a hostile number of stray quotes stays cheap', async () => {
    const { rows } = await read(await csv(`a,b\n${'"a"b\n'.repeat(100_000)}`));
    expect(rows.length).toBe(100_000);
  });
});

describe('options that contradict the file', () => {
  test.each([
    [{ encoding: 'klingon-8' }, '"klingon-8" is no known encoding'],
    [{ delimiter: ';;' }, '";;" cannot separate cells'],
    [{ header_row: 9 }, 'ends before that row'],
    [{ header_row: 3 }, 'that row is blank'],
    [{ format: 'xlsx' as const }, 'the file is text'],
  ])('%j', async (options, words) => {
    const error = await refusal(openSource(await csv('\ufeffa,b\n1,2\n\n3,4\n'), options));
    expect(error.kind).toBe('usage');
    expect(error.message).toContain(words);
  });
});
