import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import ExcelJS from 'exceljs';
import { expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../../src/files/limits.js';
import { createXmlScanner, xmlText } from '../../../src/files/package/xml-scan.js';
import { openArchive } from '../../../src/files/package/zip.js';
import { writeTable } from '../../../src/files/table-write.js';
import { type Cell, displayText } from '../../../src/model/row.js';
import type { TableColumn } from '../../../src/model/table.js';
import { read, refusal, scratch } from '../fixtures.js';
import { ABOUT, batches, columns, everything, KIND_TEXTS, NASTY_TEXTS } from './tables.js';

const { folder } = await scratch();
let files = 0;
const fresh = (end = 'xlsx') => join(folder, `book${++files}.${end}`);

async function write(table: readonly TableColumn[], rows: readonly (readonly string[])[]) {
  const path = fresh();
  const written = await writeTable(path, table, batches(rows), ABOUT);
  return { path, written };
}

async function whole(path: string): Promise<ExcelJS.Workbook> {
  const book = new ExcelJS.Workbook();
  await book.xlsx.readFile(path);
  return book;
}

const part = async (path: string, name: string) =>
  (await (await openArchive(path, path, DEFAULT_LIMITS)).readWhole(name)).toString('utf8');

/** The text that was written, as our reader hands the cell over: typed cells by what they show. */
function textOf(cell: Cell | undefined): string {
  if (typeof cell === 'string') return cell;
  if (typeof cell === 'object' && cell.t === 'b') return String(cell.value);
  return displayText(cell).replace(/(?<=\d),(?=\d{3})/g, '');
}

test('every nasty text comes back as it is, from our reader', async () => {
  const { path, written } = await write(
    columns('text'),
    NASTY_TEXTS.map((text) => [text]),
  );
  expect(written).toMatchObject({ rows: NASTY_TEXTS.length, sheet: 'Assets' });
  expect(written.shortened).toBeUndefined();
  const { meta, rows } = await read(path);
  expect(meta).toMatchObject({ format: 'xlsx', sheet: 'Assets', header_row: 1, headings: ['text 1'] });
  const kept = NASTY_TEXTS.filter((text) => text.trim() !== '');
  expect(rows.map(({ cells }) => cells[0])).toEqual(kept);
  expect(rows.every(({ faults }) => faults === undefined)).toBe(true);
});

test('values with the form of their kind are typed, others are text; none is changed', async () => {
  for (const [kind, { fits, not }] of Object.entries(KIND_TEXTS)) {
    const texts = [...fits, ...not];
    const { path } = await write(
      [{ heading: 'Value', kind: kind as keyof typeof KIND_TEXTS }],
      texts.map((text) => [text]),
    );
    const { rows } = await read(path);
    const cells = rows.map(({ cells }) => cells[0]);
    const typed = { text: '', id: '', json: '', integer: 'n', decimal: 'n', money: 'n', date: 'd', boolean: 'b' }[kind];
    for (const [i, text] of texts.entries()) {
      const cell = cells[i];
      const asNumber = kind === 'money' && !/\.\d{3}/.test(text) && i < fits.length;
      expect(typeof cell === 'object' ? cell.t : '', `${kind} ${text}`).toBe(i < fits.length ? typed : '');
      // Two decimals at least are shown of an amount; the digits that were written are all there.
      if (asNumber) expect(Number(textOf(cell))).toBe(Number(text));
      else expect(textOf(cell), kind).toBe(text);
    }
  }
});

test('no digit of an amount is hidden', async () => {
  const amounts: readonly (readonly [string, string])[] = [
    ['0.1', '0.10'],
    ['0.10', '0.10'],
    ['1234.5', '1,234.50'],
    ['-1234567.89', '-1,234,567.89'],
    ['999999999999999.00', '999,999,999,999,999.00'],
    ['0.125', '0.125'],
    ['12.340', '12.340'],
    ['1.23456789012345', '1.23456789012345'],
    ['99999999999999.99', '99999999999999.99'],
    ['1234567890123456', '1234567890123456'],
    [`0.${'0'.repeat(15)}1`, `0.${'0'.repeat(15)}1`],
  ];
  const { path } = await write(
    columns('money'),
    amounts.map(([text]) => [text]),
  );
  const { rows } = await read(path);
  expect(rows.map(({ cells }) => displayText(cells[0]))).toEqual(amounts.map(([, shown]) => shown));
  // More digits than a program keeps: text.
  expect(rows.slice(8).map(({ cells }) => typeof cells[0])).toEqual(['string', 'string', 'string']);
});

test('numbers longer than programs keep are text, whatever their kind', async () => {
  const long = ['1234567890123456', '-1234567890123456', '100000000000000000000'];
  const { path } = await write(columns('integer', 'decimal'), [
    ...long.map((text) => [text, text]),
    ['1', `0.${'0'.repeat(400)}1`],
    ['1', '0.1234567890123456'],
  ]);
  const { rows } = await read(path);
  expect(rows.map(({ cells }) => cells[1])).toEqual([...long, `0.${'0'.repeat(400)}1`, '0.1234567890123456']);
  expect(rows.slice(0, 3).map(({ cells }) => cells[0])).toEqual(long);
});

test('exceljs reads the same: values, types, formats', async () => {
  const table = everything();
  const { path } = await write(table.columns, table.rows);
  const sheet = (await whole(path)).worksheets[0]!;
  expect(sheet.name).toBe('Assets');
  const format = { id: '@', text: '@', json: '@', integer: '0', date: 'yyyy-mm-dd', money: '#,##0.00' };
  for (const [r, row] of table.rows.entries()) {
    for (const [c, text] of row.entries()) {
      const { value, numFmt, type } = sheet.getCell(r + 2, c + 1);
      const { kind, heading } = table.columns[c]!;
      const name = `${heading} ${text.slice(0, 40)}`;
      if (text === '') expect(value, name).toBeNull();
      else if (!KIND_TEXTS[kind].fits.includes(text) || ['text', 'id', 'json'].includes(kind)) {
        expect(type, name).toBe(ExcelJS.ValueType.String);
        // It reads the spelling `_x0007_` as it stands, and a carriage return likewise.
        if (!/_x|\p{Cc}|\ufeff/u.test(text)) expect(value, name).toBe(text);
        expect(numFmt, name).toBe('@');
      } else if (kind === 'date') {
        expect(value, name).toEqual(new Date(`${text}T00:00:00Z`));
        expect(numFmt, name).toBe(format.date);
      } else if (kind === 'boolean') expect(value, name).toBe(text === 'true');
      else {
        expect(value, name).toBe(Number(text));
        if (kind === 'integer') expect(numFmt, name).toBe(format.integer);
        if (kind === 'money')
          expect(numFmt, name).toBe(
            /\.\d{3}/.test(text) ? `#,##0.${text.split('.')[1]!.replace(/./g, '0')}` : format.money,
          );
      }
    }
  }
});

test('text that begins like a formula is marked as text', async () => {
  const { path } = await write(columns('text'), [['=1+1'], ["'x"], ['-SN'], ['-5'], ['plain'], ['+44 20 7946 0000']]);
  const xml = await part(path, 'xl/worksheets/sheet1.xml');
  const styles = [...xml.matchAll(/<c r="A\d+" s="(\d+)"/g)].slice(1).map((match) => match[1]);
  const cellStyles = (await part(path, 'xl/styles.xml')).match(/<cellXfs.*<\/cellXfs>/s)![0].match(/<xf [^>]*>/g)!;
  const marked = styles.map((style) => cellStyles[Number(style)]!.includes('quotePrefix="1"'));
  expect(marked).toEqual([true, true, true, false, false, true]);
});

test('text of several lines is wrapped, in rows of at most four lines', async () => {
  const table = columns('text', 'text');
  const { path } = await write(table, [
    ['one', 'line'],
    ['two\nlines', '=1\nfor each'],
    ['1\n2\n3\n4\n5\n6', ''],
  ]);
  const sheet = (await whole(path)).worksheets[0]!;
  expect([2, 3, 4].map((row) => sheet.getRow(row).height)).toEqual([undefined, 30, 60]);
  expect(['A2', 'B2', 'A3', 'B3', 'A4'].map((at) => sheet.getCell(at).alignment.wrapText ?? false)).toEqual([
    false,
    false,
    true,
    true,
    true,
  ]);
  expect(sheet.columns[0]!.width).toBe(Math.ceil('text 1'.length * 1.1) + 4);
});

test('headings: bold, filled, frozen, filtered; columns for information look different', async () => {
  const table: TableColumn[] = [
    { heading: 'Id', kind: 'id', readOnly: true, note: 'Given by the service.' },
    { heading: 'Name', kind: 'text', note: 'Up to 100 characters.\nRequired.' },
    { heading: 'A rather long heading of a column', kind: 'money' },
  ];
  const { path } = await write(table, [
    ['7', 'x'.repeat(200), '1234567.5'],
    ['8', 'y', ''],
  ]);
  const sheet = (await whole(path)).worksheets[0]!;
  expect(sheet.views[0]).toMatchObject({ state: 'frozen', ySplit: 1 });
  expect(sheet.autoFilter).toBe('A1:C3');
  const [id, name] = [sheet.getCell('A1'), sheet.getCell('B1')];
  expect(name.font).toMatchObject({ bold: true });
  expect(name.fill).toMatchObject({ pattern: 'solid', fgColor: { argb: 'FF1F4E78' } });
  expect(id.fill).toMatchObject({ pattern: 'solid', fgColor: { argb: 'FFD9D9D9' } });
  expect(sheet.getCell('A2').font).toMatchObject({ color: { argb: 'FF7F7F7F' } });
  expect(sheet.getCell('B2').font).not.toHaveProperty('color');
  const note = (cell: ExcelJS.Cell) =>
    typeof cell.note === 'object' ? cell.note.texts?.map(({ text }) => text).join('') : cell.note;
  expect(note(id)).toBe('Given by the service.\nFor information: a change in this column is ignored.');
  expect(note(name)).toBe('Up to 100 characters.\nRequired.');
  expect(sheet.getCell('C1').note).toBeUndefined();
  expect(sheet.columns.map(({ width }) => width)).toEqual([8, 60, 41]);
});

test('drop-down lists: short ones inside the rule, others on a hidden sheet, for rows that are added too', async () => {
  const table: TableColumn[] = [
    { heading: 'Stage', kind: 'text', choices: ['Deployed', 'Stock', 'Stock', ''] },
    { heading: 'Category', kind: 'text', choices: ['Laptop, heavy', ' trimmed ', '=1+1', 'say "hi"'] },
    { heading: 'Owner', kind: 'text', choices: Array.from({ length: 300 }, (_, i) => `owner${i}@example.org`) },
    { heading: 'Fixed', kind: 'text', choices: ['a'], readOnly: true },
  ];
  const { path } = await write(table, [['Stock', '', '', 'a']]);
  const book = await whole(path);
  expect(book.worksheets.map(({ name, state }) => [name, state])).toEqual([
    ['Assets', 'visible'],
    ['About', 'visible'],
    ['Lists', 'hidden'],
  ]);
  const sheet = book.worksheets[0]!;
  expect(sheet.getCell('A2').dataValidation).toMatchObject({
    type: 'list',
    formulae: ['"Deployed,Stock"'],
    errorStyle: 'stop',
    showErrorMessage: true,
    allowBlank: true,
  });
  expect(sheet.getCell('A2').dataValidation.error).toContain('Deployed, Stock');
  expect(sheet.getCell('A1002').dataValidation).toMatchObject({ type: 'list' });
  expect(sheet.getCell('A1003').dataValidation).toBeUndefined();
  expect(sheet.getCell('B2').dataValidation.formulae).toEqual(["'Lists'!$A$2:$A$5"]);
  expect(sheet.getCell('C9').dataValidation.formulae).toEqual(["'Lists'!$B$2:$B$301"]);
  expect(sheet.getCell('C9').dataValidation.error?.length).toBeLessThanOrEqual(255);
  expect(sheet.getCell('D2').dataValidation).toBeUndefined();
  const lists = book.getWorksheet('Lists')!;
  expect(['A1', 'A2', 'A3', 'A4', 'A5', 'B301'].map((at) => lists.getCell(at).value)).toEqual([
    'Category',
    'Laptop, heavy',
    ' trimmed ',
    '=1+1',
    'say "hi"',
    'owner299@example.org',
  ]);
  // The list is no data: the reader takes the first sheet, and says so.
  const { meta } = await read(path);
  expect(meta.sheet).toBe('Assets');
});

test('the last sheet says what the table is', async () => {
  const path = fresh();
  const about = {
    title: 'Assets',
    facts: [
      ['Records', '2'],
      ['Filter', '=1+1'],
    ] as [string, string][],
  };
  await writeTable(path, columns('id', 'text'), batches([['1', 'Stock']]), about);
  const cover = (await whole(path)).getWorksheet('About')!;
  const cells = (row: number) => (cover.getRow(row).values as unknown[]).slice(1);
  expect(cells(1)).toEqual(['Assets']);
  expect(cells(2)).toEqual(['Records', '2']);
  expect(cells(3)).toEqual(['Filter', '=1+1']);
});

test('names of sheets that programs take', async () => {
  const names: readonly (readonly [string, readonly string[]])[] = [
    ['Custom / fields: [all]?*\\', ['Custom   fields   all', 'About']],
    ["'quoted'", ['quoted', 'About']],
    ['x'.repeat(40), ['x'.repeat(31), 'About']],
    ['About', ['About', 'About (2)']],
    ['  ', ['Table', 'About']],
    ['History', ['Table', 'About']],
    ['Ampers & <and>', ['Ampers & <and>', 'About']],
    [`${'x'.repeat(30)}😀`, ['x'.repeat(30), 'About']],
    ["it's", ["it's", 'About']],
  ];
  for (const [title, expected] of names) {
    const path = fresh();
    await writeTable(path, columns('text'), batches([['a']]), { title, facts: [] });
    expect((await whole(path)).worksheets.map(({ name }) => name)).toEqual(expected);
  }
});

test('a text too long for a cell is cut with a mark and told', async () => {
  const long = `${'x'.repeat(32_765)}😀😀`;
  const rows = Array.from({ length: 12 }, () => ['', long]);
  const { path, written } = await write(columns('id', 'text'), rows);
  expect(written.shortened).toEqual({ cells: 12, first: 'B2' });
  const { rows: back } = await read(path);
  expect(back[0]!.cells[1]).toBe(`${'x'.repeat(32_765)}…`);
  expect(back[0]!.faults).toBeUndefined();
});

test('more columns than a sheet has are refused before anything is written', async () => {
  const table = Array.from({ length: 16_385 }, (_, i) => ({ heading: `c${i}`, kind: 'text' as const }));
  const refused = await refusal(writeTable(fresh(), table, batches([]), ABOUT));
  expect(refused.kind).toBe('usage');
  expect(refused.message).toMatch(/16,385 columns.*16,384.*\.csv/);
});

test('a table without rows has its headings', async () => {
  const { path, written } = await write(columns('text', 'date'), []);
  expect(written.rows).toBe(0);
  const { meta, rows } = await read(path);
  expect(meta.headings).toEqual(['text 1', 'date 2']);
  expect(rows).toEqual([]);
  expect((await whole(path)).worksheets[0]!.getCell('B1').value).toBe('date 2');
});

test('the same table gives the same bytes', async () => {
  const table = everything();
  const [first, second] = [await write(table.columns, table.rows), await write(table.columns, table.rows)];
  expect(second.written.sha256).toBe(first.written.sha256);
  expect((await readFile(first.path)).equals(await readFile(second.path))).toBe(true);
});

test('the package is a valid zip file of well-formed parts', async () => {
  const table = everything();
  const { path } = await write(
    table.columns.map((column, i) => ({ ...column, note: `Note <${i}> & "more"`, choices: ['a,b'] })),
    table.rows,
  );
  const archive = await openArchive(path, path, DEFAULT_LIMITS);
  const names = archive.names;
  expect(new Set(names).size).toBe(names.length);
  const types = await part(path, '[Content_Types].xml');
  for (const name of names) {
    const covered = types.includes(`"/${name}"`) || /\.(rels|vml)$/.test(name) || name === '[Content_Types].xml';
    expect(covered, name).toBe(true);
  }
  for (const [, name] of types.matchAll(/PartName="\/([^"]*)"/g)) expect(names).toContain(name);
  for (const name of names) {
    let elements = 0;
    const scanner = createXmlScanner(name, {
      open: () => void elements++,
      close() {},
      text: (bytes, from, to, raw) => void xmlText(bytes, from, to, raw),
    });
    for await (const chunk of archive.stream(name)) scanner.push(chunk);
    scanner.finish();
    expect(elements, name).toBeGreaterThan(0);
  }
});
