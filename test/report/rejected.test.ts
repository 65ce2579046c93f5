import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ExcelJS from 'exceljs';
import iconv from 'iconv-lite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../src/files/limits.js';
import { openSource } from '../../src/files/open.js';
import { openArchive } from '../../src/files/package/zip.js';
import { fault } from '../../src/model/issue.js';
import type { Cell, SheetRow } from '../../src/model/row.js';
import type { OpenSource, SourceMeta } from '../../src/model/source.js';
import { marksOf, type RejectedOptions, type RejectedRow, writeRejected } from '../../src/report/rejected.js';
import { writeWorkbook } from '../support/workbook.js';
import { outcome, parseCsv, tooLong } from './sample.js';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rejected-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

async function source(bytes: string | Buffer, name = 'in.csv', options = {}): Promise<OpenSource> {
  await writeFile(join(dir, name), bytes);
  return openSource(join(dir, name), options);
}

const CHECK = 'delete this cell when the row is right';

/** The rows that are at fault. */
async function* faultyRows(from: OpenSource): AsyncGenerator<readonly SheetRow[]> {
  for await (const batch of from.rows()) yield batch.filter(({ faults }) => faults);
}

async function all(from: OpenSource): Promise<SheetRow[]> {
  const rows: SheetRow[] = [];
  for await (const batch of from.rows()) rows.push(...batch);
  return rows;
}

/** Every row of the source is written as invalid, with the given message. */
async function reject(from: OpenSource, message = 'Shorten it.', more: Partial<RejectedOptions> = {}) {
  const path = join(dir, `rejected.${from.meta.format}`);
  const rejected: RejectedRow[] = (await all(from)).map((row) => ({
    row,
    outcome: outcome(row.row, 'invalid', { issues: [fault('too_long', message, { column: 'Name' })] }),
  }));
  async function* rows() {
    yield rejected;
  }
  const warning = await writeRejected(path, rows, { meta: from.meta, ...more });
  return { path, bytes: await readFile(path), warning };
}

describe('rejected.csv', () => {
  test('original columns with original text, duplicate and blank headings too, then ours', async () => {
    const from = await source('Name,,Name,Cost\r\n"a ""b"", c",x, y ,01.50\r\n');
    const { bytes } = await reject(from);
    expect(parseCsv(bytes.toString('utf8'))).toEqual([
      ['Name', '', 'Name', 'Cost', '_row', '_outcome', '_codes', '_message'],
      ['a "b", c', 'x', ' y ', '01.50', '2', 'invalid', 'too_long', 'Name: Shorten it.'],
    ]);
  });

  test('read again it has the same cells, and our columns of the earlier round are replaced', async () => {
    const from = await source('Name;Kosten\n=1+1;1,5\n"two\nlines";2\n');
    const first = await reject(from);
    const again = await openSource(first.path);
    expect(again.meta.delimiter).toBe(';');
    expect((await all(again)).map((row) => row.cells.slice(0, 2))).toEqual([
      ['=1+1', '1,5'],
      ['two\nlines', '2'],
    ]);
    const second = await reject(again);
    expect(second.bytes).toEqual(first.bytes);
  });

  test('line end, delimiter and encoding of the input; what the encoding lacks of a message is lost', async () => {
    const text = 'Name;Größe\nZoë – „neu“;1\n';
    const from = await source(iconv.encode(text, 'windows-1252'));
    expect(from.meta.encoding).toBe('windows-1252');
    const { bytes, warning } = await reject(from, 'Łódź → “x” ≤ 5 日');
    expect(warning).toBeUndefined();
    expect(iconv.decode(bytes, 'windows-1252')).toBe(
      'Name;Größe;_row;_outcome;_codes;_message\nZoë – „neu“;1;2;invalid;too_long;Name: ?ód? ? “x” ? 5 ?\n',
    );
  });

  test('a cell that the encoding cannot hold makes the file UTF-8 rather than lose the cell', async () => {
    const from = await source('Name\nx\n');
    const meta: SourceMeta = { ...from.meta, encoding: 'windows-1252' };
    const path = join(dir, 'out.csv');
    async function* rows() {
      yield [{ row: { row: 2, cells: ['日本'] }, outcome: outcome(2, 'failed') }];
    }
    const warning = await writeRejected(path, rows, { meta });
    expect(warning).toContain('written as UTF-8');
    expect(await readFile(path, 'utf8')).toMatch(/^\ufeffName,.*\n日本,2,failed,/);
  });

  test('byte order marks come back', async () => {
    const from = await source('Name\nx\n');
    const marked = await reject({ ...from, meta: { ...from.meta, bom: true } });
    expect(marked.bytes.subarray(0, 3)).toEqual(Buffer.from([0xef, 0xbb, 0xbf]));
    expect((await reject({ ...from, meta: { ...from.meta, bom: false } })).bytes[0]).toBe('N'.charCodeAt(0));
    const wide = await source(iconv.encode('Name,B\r\nZoë,1\r\n', 'utf-16le', { addBOM: true }), 'wide.csv');
    const again = await reject(wide);
    expect(again.bytes.subarray(0, 2)).toEqual(Buffer.from([0xff, 0xfe]));
    expect((await all(await openSource(again.path)))[0]?.cells[0]).toBe('Zoë');
  });

  test('the line that names the delimiter comes back, so that spreadsheet programs cut the rows as before', async () => {
    const { bytes, path } = await reject(await source('\ufeffsep=;\r\nName;B\r\nx;1\r\n', 'hinted.csv'));
    expect(bytes.toString('utf8')).toMatch(/^\ufeffsep=;\r\nName;B;_row;/);
    expect((await all(await openSource(path)))[0]).toMatchObject({
      row: 2,
      cells: ['x', '1', '2', 'invalid', 'too_long', 'Name: Shorten it.'],
    });
  });

  test('surplus cells stay behind our columns, so the row is still ragged when it comes back unedited', async () => {
    const from = await source('Name,B\nx,1\ny,2\n');
    const path = join(dir, 'out.csv');
    async function* rows() {
      yield [{ row: { row: 2, cells: ['Pump', 'big', 'red', '7'] }, outcome: outcome(2, 'invalid') }];
    }
    await writeRejected(path, rows, { meta: from.meta });
    const line = parseCsv(await readFile(path, 'utf8'))[1] ?? [];
    expect([...line.slice(0, 2), ...line.slice(6)]).toEqual(['Pump', 'big', 'red', '7']);
    const [row] = await all(await openSource(path));
    expect(row?.faults?.map(({ code }) => code)).toEqual(['ragged_row']);
  });

  /** Every row with the faults its reader found, as a run would report it. */
  async function rejectFaults(from: OpenSource, options = {}) {
    const path = join(dir, `rejected-${from.meta.format}.${from.meta.format}`);
    const rejected = (await all(from)).map((row) => {
      const issues = (row.faults ?? []).map(({ code, message }) => fault(code, message));
      return { row, outcome: outcome(row.row, 'invalid', { issues }) };
    });
    await writeRejected(
      path,
      async function* rows() {
        yield rejected;
      },
      { meta: from.meta, ...options },
    );
    return path;
  }

  test.each([
    ['too many cells', 'Acme, Inc.,RG1,5,=6', ['Acme', ' Inc.', 'RG1', '5', '=6'], 'ragged_row'],
    ['too few cells', 'x,1', ['x', '1', '', CHECK], 'ragged_row'],
    ['more cells than are kept apart', `x,1,2${',"a,b"'.repeat(1_500)}`, undefined, 'ragged_row'],
    ['a stray quotation mark', '"Big "Bob" Smith",1,2', undefined, 'stray_quote'],
    ['bytes that are no text', Buffer.from('x,Jos\xe9,2', 'latin1'), ['x', 'Jos\ufffd\\xE9', '2'], 'invalid_encoding'],
    ['the mark of such bytes', 'x,Jos\ufffd,2', ['x', 'Jos\ufffd', '2'], 'invalid_encoding'],
    ['a NUL', 'x,a\0b,2', ['x', 'a\0b', '2'], 'nul_character'],
    ['a giant cell', `x,1,"${'long, '.repeat(9_000)}"`, ['x', '1', 'long, '.repeat(9_000)], 'cell_too_long'],
  ])(
    '%s: unedited it is refused again and again, and nothing is lost or multiplies (104)',
    async (_, line, cells, code) => {
      const lead = `Name,B,C\n${'Zoë,1,2\n'.repeat(40)}`;
      const from = await source(Buffer.concat([Buffer.from(lead), Buffer.from(line), Buffer.from('\n')]));
      const faulty = { ...from, rows: () => faultyRows(from) };
      const [row] = await all(faulty);
      expect(row?.faults?.map((one) => one.code)).toContain(code);
      let path = await rejectFaults(faulty);
      const written = await readFile(path);
      const [heading, first] = parseCsv(written.toString('utf8'));
      expect(heading).toEqual(['Name', 'B', 'C', '_row', '_outcome', '_codes', '_message']);
      if (cells) {
        expect(
          [...(first?.slice(0, 3) ?? []), ...(first?.slice(7) ?? [])].map((cell) => cell.replace(/^'=/, '=')),
        ).toEqual(cells);
      }
      const sizes: number[] = [];
      for (let round = 0; round < 3; round++) {
        const again = await openSource(path);
        expect((await all(again)).map(({ faults }) => (faults ?? []).length > 0)).toEqual([true]);
        path = await rejectFaults(again);
        sizes.push((await readFile(path)).length);
      }
      expect(sizes[2]).toBe(sizes[1]);
      expect(parseCsv(await readFile(path, 'utf8'))[1]?.slice(0, 3)).toEqual(first?.slice(0, 3));
    },
  );

  test('a service refusal of a row whose fault stands in no imported column asks for nothing', async () => {
    const from = await source(Buffer.from(`Name,B\n${'Zoë,1\n'.repeat(40)}x,"a"b\n`));
    const row: SheetRow = {
      row: 42,
      cells: ['x', '"a"b'],
      faults: [{ code: 'stray_quote', message: 'm', index: 1 }],
    };
    const widths: number[] = [];
    for (const issues of [[fault('service_rejected', 'too dear')], []]) {
      const path = join(dir, 'out.csv');
      await writeRejected(
        path,
        async function* rows() {
          yield [{ row, outcome: outcome(42, 'rejected', { issues }) }];
        },
        { meta: { ...from.meta, encoding: 'utf-8' } },
      );
      widths.push(parseCsv(await readFile(path, 'utf8'))[1]?.length ?? 0);
    }
    expect(widths).toEqual([6, 7]);
  });

  test.each([undefined, 'windows-1252'])(
    'a byte without a meaning, encoding stated: %s; no value the next time (104)',
    async (encoding) => {
      const options = encoding === undefined ? {} : { encoding };
      const from = await source(
        Buffer.from(`Name,Ort\n${'Zo\xeb,Gen\xe8ve\n'.repeat(9)}x\x81y,M\xfcnchen\n`, 'latin1'),
        'in.csv',
        options,
      );
      const path = await rejectFaults({ ...from, rows: () => faultyRows(from) });
      expect(await readFile(path, 'utf8')).toContain('x\ufffdy');
      const [row] = await all(await openSource(path, options));
      expect(row?.faults?.map(({ code }) => code)).toEqual(['invalid_encoding']);
      expect(row?.cells[1]).toBe('München');
    },
  );

  test('a heading the job names by row number stands in that row again', async () => {
    const from = await source('Inventory 2026\n\nName,B\nx,1\ny,2\n');
    expect(from.meta.header_row).toBe(3);
    const { path } = await reject(from, 'm', { keepHeaderRow: true });
    const again = await openSource(path, { header_row: 3 });
    expect(again.meta.headings.slice(0, 2)).toEqual(['Name', 'B']);
    expect((await all(again)).length).toBe(2);
    expect((await openSource((await reject(from)).path)).meta.header_row).toBe(1);
  });
});

describe('rejected.xlsx', () => {
  const cells: Cell[] = [
    '=Pump',
    { t: 'n', value: '1200.5', shown: '1,200.50', format: '#,##0.00' },
    { t: 'd', value: '2026-03-31', shown: '2026-03-31', format: 'yyyy-mm-dd' },
    { t: 'b', value: true },
    { t: 'e', value: '#REF!' },
    '00042',
  ];
  const headings = ['Name', 'Cost', 'Bought', 'Ok', 'Ref', 'Code'];

  async function workbook(): Promise<OpenSource> {
    const rows = [{ cells }, { cells: ['fine'] }];
    await writeWorkbook(join(dir, 'in.xlsx'), { sheet: 'Inventory', headings, rows });
    return openSource(join(dir, 'in.xlsx'));
  }

  test('a formula without a stored result is an error here, because other rows stand around it', async () => {
    const rows = [{ cells: ['a', { t: 'f', formula: 'A2*2' }] }] as const;
    await writeWorkbook(join(dir, 'in.xlsx'), { sheet: 'Inventory', headings: ['Name', 'Cost'], rows });
    const { path, bytes } = await reject(await openSource(join(dir, 'in.xlsx')));
    expect((await all(await openSource(path)))[0]?.cells.slice(0, 2)).toEqual(['a', { t: 'e', value: '#REF!' }]);
    const book = new ExcelJS.Workbook();
    await book.xlsx.load(bytes as unknown as ArrayBuffer);
    expect(JSON.stringify(book.worksheets[0]?.getCell('B2').note)).toContain('=A2*2 stood here');
  });

  test('cells keep their kind, the sheet its name; our columns follow and are replaced the next time', async () => {
    const { path } = await reject(await workbook());
    const again = await openSource(path, { sheet: 'Inventory' });
    expect(again.meta.headings).toEqual([...headings, '_row', '_outcome', '_codes', '_message']);
    const [first] = await all(again);
    expect(first?.cells).toMatchObject([...cells, { t: 'n', value: '2' }, 'invalid', 'too_long', 'Name: Shorten it.']);
    const third = await openSource((await reject(again)).path);
    expect(third.meta.headings).toEqual(again.meta.headings);
    expect((await all(third))[0]?.cells.slice(0, 6)).toEqual(first?.cells.slice(0, 6));
  });

  test('codes are text cells, so that correcting one does not turn it into a number, a date or a formula', async () => {
    const codes = ['00123', '1234567890123456', '12E3', '1-2', 'MAR-1', '=1+1', '@x', '+a'];
    const others = [
      'SN-42',
      '2026-03-31',
      '03/31/2026',
      '1,200.50',
      '-5',
      'A sentence of 2026.',
      `=${'x'.repeat(300)}`,
    ];
    const texts = [...codes, ...others];
    await writeWorkbook(join(dir, 'in.xlsx'), {
      sheet: 'A',
      headings: texts.map((_, i) => `H${i}`),
      rows: [{ cells: texts }],
    });
    const from = await openSource(join(dir, 'in.xlsx'));
    expect((await all(from))[0]?.cells).toEqual(texts);
    const book = new ExcelJS.Workbook();
    await book.xlsx.readFile((await reject(from)).path);
    const formats = texts.map((_, i) => book.worksheets[0]?.getRow(2).getCell(i + 1).numFmt);
    expect(formats).toEqual([...codes.map(() => '@'), ...others.map(() => undefined)]);
  });

  test('cells that begin like a formula are marked as text (77)', async () => {
    const texts = ['=1+1', "'x", '-SN', `=${'x'.repeat(300)}`, 'plain', '-5', '00123'];
    const rows = [{ cells: texts.slice().reverse() }, { cells: texts }];
    const path = join(dir, 'in.xlsx');
    await writeWorkbook(path, { sheet: 'A', headings: texts.map((_, i) => `H${i}`), rows });
    expect((await all(await openSource(path)))[1]?.cells).toEqual(texts);
    const archive = await openArchive(path, path, DEFAULT_LIMITS);
    const part = async (name: string) => (await archive.readWhole(name)).toString('utf8');
    const styles = (await part('xl/styles.xml')).match(/<cellXfs.*<\/cellXfs>/s)![0].match(/<xf [^>]*>/g)!;
    const cells = [...(await part('xl/worksheets/sheet1.xml')).matchAll(/<c r="[A-G]3"(?: s="(\d+)")?/g)];
    expect(cells.map(([, style]) => styles[Number(style ?? 0)]!.includes('quotePrefix="1"'))).toEqual([
      ...Array(4).fill(true),
      ...Array(3).fill(false),
    ]);
  });

  test('the cells at fault are filled and carry the message as a note, the others do not', async () => {
    const { path } = await reject(await workbook(), 'Too long by 12.');
    const book = new ExcelJS.Workbook();
    await book.xlsx.readFile(path);
    const sheet = book.worksheets[0];
    const cell = sheet?.getCell('A2');
    expect(cell?.fill).toMatchObject({ type: 'pattern', pattern: 'solid' });
    expect(JSON.stringify(cell?.note)).toContain('Too long by 12.');
    expect(sheet?.getCell('B2').note).toBeUndefined();
    expect(sheet?.getCell('B2').fill).not.toMatchObject({ pattern: 'solid' });
    expect(sheet?.getCell('G2').value).toBe(2);
  });
});

describe('rejected.xlsx as a form', () => {
  test('the key stays, the reasons are in sight, lists are offered and take other values', async () => {
    const headings = ['Serial', ...Array.from({ length: 20 }, (_, i) => `A heading of column ${i}`), 'Stage'];
    const rows = [headings.map((heading) => `the ${heading}`)];
    await writeWorkbook(join(dir, 'in.xlsx'), { sheet: 'Inventory', headings, rows });
    const { path } = await reject(await openSource(join(dir, 'in.xlsx')), 'Shorten it.', {
      keyColumns: [0],
      choicesOf: (at) => (at === 21 ? ['Deployed', 'Stock'] : []),
      columnsOf: () => [],
    });
    const book = new ExcelJS.Workbook();
    await book.xlsx.readFile(path);
    const sheet = book.worksheets[0]!;
    const view = sheet.views[0] as ExcelJS.WorksheetViewFrozen;
    expect(view).toMatchObject({ state: 'frozen', xSplit: 1, ySplit: 1 });
    const from = sheet.getCell(view.topLeftCell!).fullAddress.col;
    const widths = sheet.columns.map(({ width }) => width ?? 9);
    const inSight = [widths[0]!, ...widths.slice(from - 1)].reduce((sum, width) => sum + width, 0);
    expect(from).toBeGreaterThan(2);
    expect(inSight).toBeLessThanOrEqual(170);
    expect(sheet.getCell('V2').dataValidation).toMatchObject({ type: 'list', formulae: ['"Deployed,Stock"'] });
    expect(sheet.getCell('V2').dataValidation.showErrorMessage).toBeFalsy();
    expect(sheet.getCell('U2').dataValidation).toBeUndefined();
  });
});

describe('rejected.ndjson', () => {
  test('values keep their JSON kind and every digit; keys that no row fills are kept', async () => {
    const from = await source('{"name":"x","cost":12345678901234.50,"ok":true,"a.b":null}\n', 'in.ndjson');
    const { bytes, path } = await reject(from);
    expect(bytes.toString()).toMatch(/^\{"name":"x","cost":12345678901234\.50?,"ok":true,"a\.b":null,"_row":1,/);
    expect((await openSource(path)).meta.headings).toEqual([
      ...from.meta.headings,
      '_row',
      '_outcome',
      '_codes',
      '_message',
    ]);
  });
});

describe('lines of rejected.ndjson', () => {
  test('a key that holds an object in one line and a text in another stands once', async () => {
    const { bytes } = await reject(await source('{"note":{"x":"kept"}}\n{"note":"plain"}\n', 'in.ndjson'));
    const [first = '', second = ''] = bytes.toString('utf8').trim().split('\n');
    expect(first).toMatch(/^\{"note":\{"x":"kept"\},"_row":1,/);
    expect(second).toMatch(/^\{"note":"plain","_lacks":"\[\\"note\.x\\"\]","_row":2,/);
  });

  const lines = [
    '{"name":"x","cost":12.50,"big":1e999,"vendor":{"name":"ACME","ids":[1, 2]},"ok":false,"note":""}',
    '{"name":"twice","name":"again","cost":1}',
    '[1]',
    '{"a":',
    '{"name":"NUL \\u0000","cost":2}',
  ];

  test('members come back as they stood, what is no object as its text; unedited each fault stays', async () => {
    let from = await source(`${lines.join('\n')}\n`, 'in.ndjson');
    const faults = (rows: readonly SheetRow[]) => rows.map((row) => row.faults?.map(({ code }) => code).sort());
    const codes = [undefined, ['ragged_row'], ['ragged_row'], ['ragged_row'], ['nul_character']];
    expect(faults(await all(from))).toEqual(codes);
    const rounds: string[] = [];
    for (let round = 0; round < 3; round++) {
      const { path, bytes } = await reject(from);
      rounds.push(bytes.toString('utf8'));
      from = await openSource(path);
      const again = (await all(from)).map((row) => row.faults?.map(({ code }) => code) ?? []);
      expect(again.map((found) => [...new Set(found)])).toEqual(codes.map((code) => code ?? []));
    }
    const written = rounds[0]!.trim().split('\n');
    expect(written[0]).toMatch(
      /^\{"name":"x","cost":12\.50,"big":1e999,"vendor":\{"name":"ACME","ids":\[1, 2\]\},"ok":false,"note":"","_row":1,/,
    );
    expect(written[1]).toMatch(/^\{"name":"twice","name":"again","cost":1,.*"_line":"delete this member/);
    expect(written.slice(2, 4).map((line) => (JSON.parse(line) as { _line: string })._line)).toEqual(['[1]', '{"a":']);
    expect(written[4]).toMatch(/^\{"name":"NUL \\u0000","cost":2,"_lacks":"\[\\"big\\",\\"vendor.name\\",/);
    expect(written[4]).not.toContain('_line');
    expect(rounds[2]).toBe(rounds[1]);
    expect(rounds[1]).toBe(rounds[0]);
  });

  test('a corrected line without its mark is right', async () => {
    const { path } = await reject(await source(`${lines.join('\n')}\n`, 'in.ndjson'));
    const [, twice = '', list = ''] = (await readFile(path, 'utf8')).trim().split('\n');
    const fixed = [twice.replace('"name":"again",', ''), list].map((line) => line.replace(/,"_line":"[^"]*"\}$/, '}'));
    const rows = await all(await source(fixed.join('\n'), 'fixed.ndjson'));
    expect(rows.map((row) => [row.cells[0], row.faults])).toEqual([
      ['twice', undefined],
      [undefined, undefined],
    ]);
  });

  test('a key that came too late stays refused, though it is among the first lines now', async () => {
    const many = `${'{"a":1}\n'.repeat(10_000)}{"a":2,"late":3}\n`;
    const from = await source(many, 'in.ndjson');
    const { path } = await reject({ ...from, rows: () => faultyRows(from) });
    const again = await openSource(path);
    expect(again.meta.headings).toContain('late');
    expect((await all(again)).map((row) => row.faults?.map(({ code }) => code))).toEqual([['ragged_row']]);
  });

  test.each(['windows-1252', 'utf-16le'])(
    'the encoding of the input, for texts that hold anything: %s',
    async (encoding) => {
      const text = '{"name":"Zoë \\u65e5","b":"€"}\n';
      await writeFile(join(dir, 'in.ndjson'), iconv.encode(text, encoding, { addBOM: true }));
      const from = await openSource(join(dir, 'in.ndjson'), { encoding });
      const { path } = await reject(from, '日本');
      const [row] = await all(await openSource(path, { encoding }));
      expect(row?.cells.slice(0, 2)).toEqual(['Zoë 日', '€']);
      expect(row?.cells.at(-1)).toBe('Name: 日本');
    },
  );
});

describe('marks', () => {
  test('by heading, else by the columns of the field, else by the reader; one note a cell', () => {
    const row: SheetRow = {
      row: 2,
      cells: ['a', 'b', 'c'],
      faults: [{ code: 'nul_character', message: 'NUL.', index: 2 }],
    };
    const issues = [
      tooLong('a', 'Name'),
      fault('not_in_list', 'Not in the list.', { column: 'Name' }),
      fault('service_rejected', 'too dear', { field: 'original_cost' }),
      fault('ragged_row', 'ragged'),
    ];
    const marks = marksOf({ row, outcome: outcome(2, 'invalid', { issues }) }, ['Name', 'Cost', 'C'], (field) =>
      field === 'original_cost' ? [1] : [],
    );
    expect(marks).toEqual([
      { at: 0, note: 'The service accepts 50 characters. Shorten the text.\nNot in the list.' },
      { at: 1, note: 'too dear' },
      { at: 2, note: 'NUL.' },
    ]);
  });
});
