import { createHash } from 'node:crypto';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import ExcelJS from 'exceljs';
import iconv from 'iconv-lite';
import { beforeEach, describe, expect, it } from 'vitest';
import { csv, type Desk, type Imported, openDesk } from '../support/desk.js';
import { importOf } from '../support/jobs.js';

let desk: Desk;
beforeEach(async () => {
  desk = await openDesk();
});

const COLUMNS = {
  Name: { field: 'name', required: true },
  Serial: 'serial_number',
  Owner: 'asset_owner',
  Cost: 'original_cost',
  Notes: 'asset_notes',
  City: 'city',
};
const HEADINGS = [...Object.keys(COLUMNS), 'Extra'];

const job = (source: object = {}, more: object = {}) =>
  importOf('asset', 'serial_number', { ...COLUMNS, Extra: null }, { source, ...more });

/** Texts that a spreadsheet program, a CSV reader or an encoding may damage. */
const NOTES = [
  '=SUM(A1:A9)',
  '@home',
  '-5 dB below',
  '+1 "call" me',
  ' =1+1',
  "it's, fine; really",
  'two\nlines',
  'Zoë Müller',
];

/** Ten rows, five of them faulty; every note stands in a faulty row and in a good one. */
const ROWS: readonly (readonly string[])[] = [
  ['A1', 'S-1', 'Ada Park', '1.50', NOTES[0]!, 'Köln', 'x'],
  ['B2', 'S-2', 'Nobody', '2', NOTES[1]!, 'Köln', '=cmd'],
  ['C3', 'S-3', 'Ben Osei', 'three', NOTES[2]!, '', ''],
  ['D4', 'S-4', '', '', NOTES[3]!, 'Łódź', ''],
  ['N'.repeat(51), 'S-5', 'Nobody', 'five', NOTES[4]!, '', 'y'],
  ['F6', 'S-6', '', '', NOTES[5]!, '', ''],
  ['', 'S-7', '', '7', NOTES[6]!, '', ''],
  ['H8', 'S-8', '', '8', NOTES[7]!, '', ''],
  ['I9', 'S-9', '', '-9', NOTES[0]!, '東京', ''],
  ['J10', 'S-10', '', '10', NOTES[2]!, '', ''],
];
/** windows-1252 has no Ł and no 東. */
const LATIN = ROWS.map((row) =>
  row.map((cell) => cell.replace('Łódź', 'Málaga').replace('東京', 'Tōkyō'.replace(/ō/g, 'ö'))),
);
const FAULTS = [
  '3 Owner Nobody reference_not_found',
  '4 Cost three not_a_number',
  `6 Name ${'N'.repeat(51)} too_long`,
  '6 Owner Nobody reference_not_found',
  '6 Cost five not_a_number',
  '8 Name  required',
  '10 Cost -9 out_of_range',
];

/** What a person would write instead, by column. */
const CORRECTIONS: Record<string, string> = { Owner: 'Ada Park', Cost: '5.25', Name: 'Corrected' };

const shownFaults = (run: Imported, offset = 0) =>
  run.faults.map(({ row, column, value, code }) => `${Number(row) - offset} ${column} ${value} ${code}`).sort();

interface Form {
  readonly title: string;
  readonly name: string;
  readonly source?: object;
  readonly rows?: readonly (readonly string[])[];
  readonly write: (rows: readonly (readonly string[])[]) => Buffer | Promise<Buffer>;
  /** Row of the heading. */
  readonly heading?: number;
}

const delimited = (
  rows: readonly (readonly string[])[],
  delimiter: string,
  encoding: string,
  bom = false,
  newline = '\r\n',
) =>
  iconv.encode(
    stringify([HEADINGS, ...rows] as string[][], { delimiter, record_delimiter: newline, quoted_match: /\n/ }),
    encoding,
    {
      addBOM: bom,
    },
  );

const TITLES = ['Inventory', '', 'Printed on Monday', ''];

async function workbook(
  rows: readonly (readonly string[])[],
  heading: number,
  sheets: readonly string[],
): Promise<Buffer> {
  const book = new ExcelJS.Workbook();
  for (const name of sheets) {
    const sheet = book.addWorksheet(name);
    if (name !== 'Data') sheet.getCell('A1').value = 'Read me';
    else {
      for (let at = 1; at < heading; at++) sheet.getCell(at, 1).value = TITLES[at - 1] || null;
      [HEADINGS, ...rows].forEach((cells, down) => {
        cells.forEach((cell, right) => {
          if (cell !== '')
            sheet.getCell(heading + down, right + 1).value = /^-?\d+(\.\d+)?$/.test(cell) ? Number(cell) : cell;
        });
      });
    }
  }
  return Buffer.from(await book.xlsx.writeBuffer());
}

const FORMS: readonly Form[] = [
  { title: 'comma, UTF-8', name: 'in.csv', write: (rows) => delimited(rows, ',', 'utf8') },
  { title: 'comma, UTF-8 with mark, LF', name: 'in.csv', write: (rows) => delimited(rows, ',', 'utf8', true, '\n') },
  {
    title: 'semicolon, windows-1252',
    name: 'in.csv',
    rows: LATIN,
    source: { encoding: 'windows-1252', delimiter: ';' },
    write: (rows) => delimited(rows, ';', 'win1252'),
  },
  {
    title: 'semicolon, windows-1252, detected',
    name: 'in.csv',
    rows: LATIN,
    write: (rows) => delimited(rows, ';', 'win1252'),
  },
  { title: 'tab, UTF-16LE', name: 'in.txt', write: (rows) => delimited(rows, '\t', 'utf16le', true) },
  { title: 'comma, UTF-16BE', name: 'in.csv', write: (rows) => delimited(rows, ',', 'utf16be', true) },
  { title: 'gzipped', name: 'in.csv.gz', write: (rows) => gzipSync(delimited(rows, ',', 'utf8')) },
  {
    title: 'heading in row 5',
    name: 'in.csv',
    source: { header_row: 5 },
    heading: 5,
    write: (rows) => Buffer.concat([Buffer.from(`${TITLES.join('\r\n')}\r\n`), delimited(rows, ',', 'utf8')]),
  },
  {
    title: 'heading found in row 5',
    name: 'in.csv',
    heading: 5,
    write: (rows) => Buffer.concat([Buffer.from(`${TITLES.join('\r\n')}\r\n`), delimited(rows, ',', 'utf8')]),
  },
  { title: 'workbook', name: 'in.xlsx', write: (rows) => workbook(rows, 1, ['Data']) },
  {
    title: 'workbook, heading in row 5',
    name: 'in.xlsx',
    source: { header_row: 5 },
    heading: 5,
    write: (rows) => workbook(rows, 5, ['Data']),
  },
  {
    title: 'workbook, sheet by name',
    name: 'in.xlsx',
    source: { sheet: 'Data' },
    write: (rows) => workbook(rows, 1, ['Cover', 'Data', 'Lists']),
  },
  {
    title: 'workbook, sheet by number',
    name: 'in.xlsx',
    source: { sheet: 2 },
    write: (rows) => workbook(rows, 1, ['Cover', 'Data']),
  },
  {
    title: 'workbook, sheet by number in words, heading in row 5',
    name: 'in.xlsx',
    source: { sheet: '3', header_row: 5 },
    heading: 5,
    write: (rows) => workbook(rows, 5, ['Cover', 'Lists', 'Data']),
  },
  {
    title: 'NDJSON',
    name: 'in.ndjson',
    heading: 0,
    write: (rows) =>
      Buffer.from(
        rows
          .map((row) =>
            JSON.stringify(
              Object.fromEntries(HEADINGS.map((heading, at) => [heading, row[at] === '' ? null : row[at]])),
            ),
          )
          .join('\n'),
      ),
  },
];

/** Corrects a rejected file in place, by the faults it was written for. Answers the cells as a person sees them. */
async function correct(run: Imported): Promise<{ path: string; headings: string[]; rows: string[][] }> {
  const name = run.summary.reports.find((one) => one.startsWith('rejected.'))!;
  const path = join(run.reportDir, name);
  const fix = (headings: string[], cells: string[]) => {
    const row = cells[headings.indexOf('_row')];
    return cells.map((cell, at) =>
      run.faults.some((fault) => fault['row'] === row && fault['column'] === headings[at])
        ? (CORRECTIONS[headings[at]!] ?? cell)
        : cell,
    );
  };
  const heading = run.summary.source?.header_row ?? 1;
  if (name.endsWith('.xlsx')) {
    const book = new ExcelJS.Workbook();
    await book.xlsx.readFile(path);
    const sheet = book.worksheets.find((one) => one.name === run.summary.source?.sheet)!;
    const at = sheet.getRow(heading).getCell(1).value === 'Name' ? heading : 1;
    const textOf = (row: number) =>
      Array.from({ length: HEADINGS.length + 4 }, (_, right) => sheet.getCell(at + row, right + 1).text);
    const headings = textOf(0);
    const before: string[][] = [];
    for (let row = 1; at + row <= sheet.rowCount; row++) {
      before.push(textOf(row));
      fix(headings, textOf(row)).forEach((cell, right) => {
        if (cell !== textOf(row)[right])
          sheet.getCell(at + row, right + 1).value = headings[right] === 'Cost' ? Number(cell) : cell;
      });
    }
    await book.xlsx.writeFile(path);
    return { path, headings, rows: before };
  }
  if (name.endsWith('.ndjson')) {
    const lines = (await readFile(path, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const headings = Object.keys(lines[0]!);
    const rows = lines.map((line) => headings.map((one) => String(line[one] ?? '')));
    const fixed = rows.map((cells, at) =>
      Object.fromEntries(
        headings.map((one, right) => {
          const now = fix(headings, cells)[right];
          return [one, now === cells[right] ? lines[at]![one] : now];
        }),
      ),
    );
    await writeFile(path, fixed.map((line) => JSON.stringify(line)).join('\n'));
    return { path, headings, rows };
  }
  const { encoding, delimiter } = run.summary.source!;
  const bytes = await readFile(path);
  const text = iconv.decode(bytes, encoding!, { stripBOM: false });
  const all = parse(text, {
    delimiter: delimiter!,
    bom: true,
    relax_column_count: true,
    skip_empty_lines: false,
  }) as string[][];
  const at = all.findIndex((cells) => cells.includes('Serial'));
  const headings = all[at]!;
  const rows = all.slice(at + 1);
  const lead = text.slice(0, text.indexOf('Name'));
  const fixed = stringify([headings, ...rows.map((cells) => fix(headings, cells))], {
    delimiter: delimiter!,
    record_delimiter: text.includes('\r\n') ? '\r\n' : '\n',
    quoted_match: /\n/,
  });
  await writeFile(path, iconv.encode(lead + fixed, encoding!, { addBOM: false }));
  return { path, headings, rows };
}

describe('the rejected file', () => {
  it.each(FORMS)('corrected and imported with the same job brings every row in: $title', async (form) => {
    const rows = form.rows ?? ROWS;
    const heading = form.heading ?? 1;
    const file = await desk.file(form.name, await form.write(rows));
    const first = await desk.import(file, job(form.source));
    expect(first.summary.reason).toBeUndefined();
    expect(first.summary.rows).toMatchObject({ created: 5, invalid: 5, total: 10 });
    const expected = FAULTS.map((one) => one.replace('Cost -9', `Cost ${first.faults.at(-1)?.['value']}`)).sort();
    expect(shownFaults(first, heading - 1)).toEqual(expected);

    const unedited = await desk.import(
      join(first.reportDir, first.summary.reports.find((one) => one.startsWith('rejected.'))!),
      job(form.source),
    );
    expect(unedited.commits).toBe(0);
    expect(unedited.summary.rows).toMatchObject({ invalid: 5, total: 5 });
    expect(unedited.faults.map(({ column, value, code, message }) => [column, value, code, message])).toEqual(
      first.faults.map(({ column, value, code, message }) => [column, value, code, message]),
    );
    expect(unedited.summary.source).toMatchObject({
      format: first.summary.source?.format,
      encoding: first.summary.source?.encoding,
      delimiter: first.summary.source?.delimiter,
      sheet: first.summary.source?.sheet,
    });

    const seen = await correct(first);
    expect(seen.headings).toEqual([...HEADINGS, '_row', '_outcome', '_codes', '_message']);
    expect(seen.rows.map((cells) => cells[HEADINGS.length])).toEqual(
      [3, 4, 6, 8, 10].map((row) => String(row + heading - 1)),
    );
    expect(seen.rows.map((cells) => cells[HEADINGS.length + 1])).toEqual(Array(5).fill('invalid'));
    if (form.name.endsWith('csv') || form.name.endsWith('txt')) {
      // Nothing in it is run by a spreadsheet program.
      for (const cells of seen.rows) for (const cell of cells) expect(cell).not.toMatch(/^\s*[=@]|^[+-]\D|^\s+=/);
    }
    const second = await desk.import(seen.path, job(form.source));
    expect(second.faults).toEqual([]);
    expect(second.summary.rows).toMatchObject({ created: 5, total: 5 });
    expect(second.exitCode).toBe(0);

    const stored = new Map(desk.sandbox.records('asset').map((record) => [record['serial_number'], record]));
    expect(stored.size).toBe(10);
    for (const [, serial, , , notes, city] of rows) {
      expect(stored.get(serial)?.['asset_notes']).toBe(notes?.trim());
      expect(stored.get(serial)?.['city'] ?? '').toBe(city);
    }
    const third = await desk.import(file, job(form.source));
    expect(third.summary.rows).toMatchObject({ invalid: 5, unchanged: 5 });
  });

  it('keeps the form of its input, byte for byte where it can', async () => {
    const name = (title: string) => FORMS.find((form) => form.title === title)!;
    const rejectedOf = async (form: Form) => {
      const run = await desk.import(await desk.file(form.name, await form.write(form.rows ?? ROWS)), job(form.source));
      return readFile(join(run.reportDir, 'rejected.csv'));
    };
    const latin = await rejectedOf(name('semicolon, windows-1252, detected'));
    expect(latin.toString('latin1')).toContain(';K\u00f6ln;');
    const wide = await rejectedOf(name('tab, UTF-16LE'));
    expect(wide.subarray(0, 2)).toEqual(Buffer.from([0xff, 0xfe]));
    expect(wide.toString('utf16le')).toContain('\tKöln\t');
    const big = await rejectedOf(name('comma, UTF-16BE'));
    expect(big.subarray(0, 2)).toEqual(Buffer.from([0xfe, 0xff]));
    const marked = await rejectedOf(name('comma, UTF-8 with mark, LF'));
    expect(marked.subarray(0, 3)).toEqual(Buffer.from([0xef, 0xbb, 0xbf]));
    expect(marked.toString('utf8')).not.toContain('\r\n');
    const zipped = await rejectedOf(name('gzipped'));
    expect(() => gunzipSync(zipped)).toThrow();
  });

  it('of a workbook keeps the key in sight and offers the lists of its columns', async () => {
    const columns = {
      ...COLUMNS,
      City: 'country',
      Extra: { field: 'warranty_type', values: { gold: 'gold_level_support' } },
    };
    const run = await desk.import(
      await desk.file('lists.xlsx', await workbook(ROWS, 1, ['Data'])),
      job({}, { columns }),
    );
    const book = new ExcelJS.Workbook();
    await book.xlsx.readFile(join(run.reportDir, 'rejected.xlsx'));
    const sheet = book.getWorksheet('Data')!;
    expect(sheet.views[0]).toMatchObject({ state: 'frozen', xSplit: 2, ySplit: 1 });
    const { type, formulae } = sheet.getCell('G2').dataValidation;
    expect([type, formulae[0]]).toEqual(['list', expect.stringMatching(/^"gold,.*gold_level_support/)]);
    expect(sheet.getCell('F2').dataValidation).toMatchObject({
      type: 'list',
      formulae: [expect.stringContaining('!')],
    });
    expect(sheet.getCell('A2').dataValidation).toBeUndefined();
  });

  it('of a workbook offers the records that a column refers to, by their names', async () => {
    // Chosen, the last ones would be refused once more, or mean another record.
    const names = ['Nordlys AS', 'Acme Computers', 'Two', '\uff34wo', '4711', 'id:1', '\u200bHidden'];
    desk.sandbox.insert(
      'supplier',
      names.map((name) => ({ name })),
    );
    const rows = [
      ['Name', 'Serial', 'Vendor'],
      ['One', 'S-1', 'Acme Computer'],
      ['Two', 'S-2', 'Nordlys AS'],
    ];
    const path = join(desk.dir, 'vendors.xlsx');
    const book = new ExcelJS.Workbook();
    book.addWorksheet('Data').addRows(rows);
    await book.xlsx.writeFile(path);
    const columns = { Name: 'name', Serial: 'serial_number', Vendor: 'attached_supplier' };
    const run = await desk.import(path, { ...job({}, { columns }), match: { key: 'serial_number' } });
    expect(run.outcomes).toEqual(['2 invalid', '3 created']);
    await book.xlsx.readFile(join(run.reportDir, 'rejected.xlsx'));
    const { numFmt, dataValidation } = book.getWorksheet('Data')!.getCell('C2');
    expect([numFmt, dataValidation.type, ...dataValidation.formulae]).toEqual([
      '@',
      'list',
      '"Acme Computers,Nordlys AS"',
    ]);
  });

  it('of a workbook have their headings in the first row', async () => {
    const run = await desk.import(await desk.file('in.xlsx', await workbook(ROWS, 1, ['Data'])), job());
    const book = new ExcelJS.Workbook();
    await book.xlsx.readFile(join(run.reportDir, 'rejected.xlsx'));
    const sheet = book.getWorksheet('Data')!;
    expect(sheet.getRow(1).values).toEqual([undefined, ...[...HEADINGS, '_row', '_outcome', '_codes', '_message']]);
  });

  it('of a workbook fills the cells at fault and notes what is wrong', async () => {
    const run = await desk.import(await desk.file('in.xlsx', await workbook(ROWS, 1, ['Data'])), job());
    const book = new ExcelJS.Workbook();
    await book.xlsx.readFile(join(run.reportDir, 'rejected.xlsx'));
    const sheet = book.getWorksheet('Data')!;
    const marked: string[] = [];
    sheet.eachRow((row) =>
      row.eachCell({ includeEmpty: true }, (cell) => {
        if (cell.fill?.type === 'pattern' && cell.fill.pattern === 'solid') {
          expect(cell.note).toBeTruthy();
          marked.push(cell.address);
        }
      }),
    );
    expect(marked).toEqual(['C2', 'D3', 'A4', 'C4', 'D4', 'A5', 'D6']);
  });

  it('is not written where every row is in, and an earlier one is removed', async () => {
    const dir = join(desk.dir, 'out');
    const bad = await desk.import(await desk.file('a.csv', [HEADINGS, ...ROWS]), job(), { reportDir: dir });
    expect(await readdir(dir)).toContain('rejected.csv');
    expect(bad.exitCode).toBe(3);
    const good = await desk.import(await desk.file('b.csv', [HEADINGS, ROWS[0]!]), job(), { reportDir: dir });
    expect(good.exitCode).toBe(0);
    expect(await readdir(dir)).not.toContain('rejected.csv');
  });

  it('is not imported where its own reports would take its place: the corrections stay', async () => {
    const dir = join(desk.dir, 'out');
    await desk.import(await desk.file('a.csv', [HEADINGS, ...ROWS]), job(), { reportDir: dir });
    const corrected = join(dir, 'rejected.csv');
    const before = await readFile(corrected);
    const again = desk.import(corrected, job(), { reportDir: dir, dryRun: true });
    await expect(again).rejects.toThrow(/lies in the folder for the reports.*Name another folder with --report/);
    expect(await readFile(corrected)).toEqual(before);
    expect((await desk.import(corrected, job(), { reportDir: join(desk.dir, 'next') })).summary.rows.total).toBe(
      before.toString().trim().split('\r\n').length - 1,
    );
  });
});

describe('the reports of a run', () => {
  it('have exactly the columns of the contract', async () => {
    desk.sandbox.insert('asset', [
      { name: 'A1', serial_number: 'S-1', asset_notes: 'old', city: 'Köln', category: { id: 1 } },
    ]);
    const run = await desk.import(await desk.file('a.csv', [HEADINGS, ...ROWS]), job());
    const heading = async (name: string) => (await readFile(join(run.reportDir, name), 'utf8')).split('\r\n')[0];
    expect(await heading('results.csv')).toBe('row,outcome,key,id,changed_fields,codes,message');
    expect(await heading('faults.csv')).toBe('row,column,field,value,code,message,origin');
    expect(await heading('plan.csv')).toBe('row,id,field,old,new,kind');
    expect(await heading('rejected.csv')).toBe('Name,Serial,Owner,Cost,Notes,City,Extra,_row,_outcome,_codes,_message');
    expect(run.results[0]).toMatchObject({ row: '2', outcome: 'updated', key: 'S-1', id: '1', codes: '' });
    expect(run.results[0]?.['changed_fields']?.split('; ').sort()).toEqual([
      'asset_notes',
      'asset_owner',
      'original_cost',
    ]);
    expect(run.plan.filter((line) => line['row'] === '2')).toEqual(
      expect.arrayContaining([
        {
          row: '2',
          id: '1',
          field: 'asset_notes',
          old: 'old',
          new: expect.stringContaining('=SUM(A1:A9)'),
          kind: 'set',
        },
        { row: '2', id: '1', field: 'original_cost', old: '', new: '1.5', kind: 'set' },
      ]),
    );
    const before = (await readFile(join(run.reportDir, 'before.ndjson'), 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: number; record: object });
    expect(before).toEqual([
      expect.objectContaining({ row: 2, id: 1, record: expect.objectContaining({ asset_notes: 'old' }) }),
    ]);
  });

  it('tell of every row once, in input order, and every fault of it', async () => {
    desk.sandbox.insert(
      'asset',
      Array.from({ length: 400 }, (_, n) => ({ name: `Old ${n}`, serial_number: `S-${n * 3}`, category: { id: 1 } })),
    );
    const rows = Array.from({ length: 1200 }, (_, n) => [
      n % 7 === 0 ? '' : `New ${n}`,
      n % 50 === 49 ? `S-${n - 1}` : `S-${n}`,
      n % 11 === 0 ? 'Nobody' : '',
      n % 13 === 0 ? 'x' : '1',
      '',
      '',
      '',
    ]);
    const run = await desk.import(await desk.file('a.csv', [HEADINGS, ...rows]), job());
    expect(run.results.map((row) => Number(row['row']))).toEqual(rows.map((_, n) => n + 2));
    const counts: Record<string, number> = {};
    for (const row of run.results) counts[row['outcome']!] = (counts[row['outcome']!] ?? 0) + 1;
    const { total, ...outcomes } = run.summary.rows;
    expect(Object.fromEntries(Object.entries(outcomes).filter(([, count]) => count > 0))).toEqual(counts);
    expect(Object.values(outcomes).reduce((sum, count) => sum + count)).toBe(total);
    expect(counts).toMatchObject({
      duplicate: expect.any(Number),
      updated: expect.any(Number),
      created: expect.any(Number),
    });

    const expected = rows.flatMap(([name, , owner, cost], n) => [
      ...(name === '' ? [`${n + 2} required Name`] : []),
      ...(owner === 'Nobody' ? [`${n + 2} reference_not_found Owner`] : []),
      ...(cost === 'x' ? [`${n + 2} not_a_number Cost`] : []),
    ]);
    const found = run.faults
      .filter((fault) => fault['code'] !== 'duplicate_key')
      .map((fault) => `${fault['row']} ${fault['code']} ${fault['column']}`);
    expect(found.sort()).toEqual(expected.sort());
    for (const row of run.results) {
      const own = new Set(run.faults.filter((fault) => fault['row'] === row['row']).map((fault) => fault['code']));
      expect(new Set((row['codes'] ?? '').split('; ').filter(Boolean))).toEqual(own);
    }
    expect(run.summary.top_faults[0]).toMatchObject({ code: 'required', column: 'Name', count: 172 });
  });

  it('stand in the folder asked for, the summary last and complete', async () => {
    const dir = join(desk.dir, 'new', 'folder');
    const content = csv([HEADINGS, ...ROWS]);
    const run = await desk.import(await desk.file('a.csv', content), job(), { reportDir: dir });
    const names = await readdir(dir);
    expect(names.sort()).toEqual([...run.summary.reports].sort());
    const times = await Promise.all(
      names.map(async (name) => [name, (await stat(join(dir, name), { bigint: true })).mtimeNs] as const),
    );
    const summaryAt = times.find(([name]) => name === 'summary.json')![1];
    for (const [, at] of times) expect(at <= summaryAt).toBe(true);
    const summary = JSON.parse(await readFile(join(dir, 'summary.json'), 'utf8')) as Record<string, unknown>;
    expect(summary).toEqual(JSON.parse(JSON.stringify(run.summary)));
    expect(summary).toMatchObject({
      run: expect.stringMatching(/^\d{8}T\d{9}Z-[0-9a-f]{4}$/),
      job: expect.any(String),
      kind: 'import',
      resource: 'asset',
      company: 1,
      dry_run: false,
      status: 'partial',
      source: {
        path: join(desk.dir, 'a.csv'),
        sha256: createHash('sha256').update(content).digest('hex'),
        format: 'csv',
        encoding: 'utf-8',
        delimiter: ',',
        sheet: null,
        header_row: 1,
        rows: 10,
      },
      requests: {
        total: desk.sandbox.requests.total,
        reads: desk.sandbox.requests.reads,
        writes: desk.sandbox.requests.writes,
        retries: 0,
      },
      warnings: expect.any(Array),
      top_faults: expect.any(Array),
      started_at: expect.stringMatching(/Z$/),
      finished_at: expect.stringMatching(/Z$/),
      seconds: expect.any(Number),
    });
    expect(Object.keys(summary['rows'] as object).sort()).toEqual(
      [
        'created',
        'updated',
        'unchanged',
        'skipped',
        'invalid',
        'duplicate',
        'ambiguous',
        'at_risk',
        'conflict',
        'rejected',
        'failed',
        'unknown',
        'not_attempted',
        'total',
      ].sort(),
    );
  });

  it('hold nothing that a spreadsheet program would run', async () => {
    const hostile = ['=HYPERLINK("http://x")', '@SUM(1)', '+cmd|calc', '-2+3', '\t=1', '＝1+1', 'a\n=1'];
    desk.sandbox.insert(
      'asset',
      hostile.map((text, n) => ({ name: 'A', serial_number: `S-${n}`, asset_notes: text, category: { id: 1 } })),
    );
    const rows = hostile.map((text, n) => ['A', `S-${n}`, text, '', 'new', '', '']);
    const more = hostile.map((text, n) => ['A', `S-${n}`, '', '', `${text} `, text.trim(), '']);
    for (const [name, lines] of [
      ['owners', rows],
      ['notes', more],
    ] as const) {
      const run = await desk.import(await desk.file(`${name}.csv`, [HEADINGS, ...lines]), job({ delimiter: ',' }));
      for (const report of ['results.csv', 'faults.csv', 'plan.csv', 'rejected.csv']) {
        const text = await readFile(join(run.reportDir, report), 'utf8').catch(() => '');
        const cells = (parse(text, { relax_column_count: true }) as string[][]).flat();
        expect(
          cells.filter((cell) =>
            cell
              .split('\n')
              .some((line) => /^[\s\u200b]*[=＝@]|^\s*[+-]\D|^\s*-2\+3/.test(line) && !cell.startsWith("'")),
          ),
        ).toEqual([]);
      }
    }
  });

  it('show the run on a page that needs no network and runs nothing from the file', async () => {
    const rows = [
      ...ROWS,
      ['<script>alert(1)</script>', 'S-90', '<img src=http://evil.example/x onerror=alert(1)>', '', '', '', ''],
    ];
    const run = await desk.import(await desk.file('a.csv', [HEADINGS, ...rows]), job());
    const page = await readFile(join(run.reportDir, 'report.html'), 'utf8');
    expect(page).toContain('</html>');
    expect(page).not.toMatch(/<(script|img|link|iframe|object|embed)\b/i);
    const tags = page.match(/<[^>]+>/g) ?? [];
    expect(tags.filter((tag) => /\s(src|href|action|srcset|on\w+)\s*=\s*["']?[^"'#]*(:|\/\/)/i.test(tag))).toEqual([]);
    expect(page).not.toMatch(/url\(\s*["']?(?!data:|#)|@import/i);
    expect(page).toContain('&lt;img src=http://evil.example/x');
  });

  it('give ragged rows back whole, and refuse them again until they are corrected', async () => {
    const simple = importOf('asset', 'serial_number', { Name: 'name', Serial: 'serial_number', Cost: 'original_cost' });
    const file = await desk.file('ragged.csv', 'Name,Serial,Cost\nAcme, Inc.,RG1,5\nshort,RG2\nfine,RG3,7\n');
    const first = await desk.import(file, simple);
    expect(first.outcomes).toEqual(['2 invalid', '3 invalid', '4 created']);
    const rejected = join(first.reportDir, 'rejected.csv');
    const second = await desk.import(rejected, simple);
    expect(second.results.map((row) => row['codes'])).toEqual(['ragged_row', 'ragged_row']);
    const third = await readFile(join(second.reportDir, 'rejected.csv'), 'utf8');
    const lines = parse(third, { relax_column_count: true }) as string[][];
    expect(lines.map((cells) => [...cells.slice(0, 3), ...cells.slice(7)])).toEqual([
      ['Name', 'Serial', 'Cost'],
      ['Acme', ' Inc.', 'RG1', '5'],
      ['short', 'RG2', '', 'delete this cell when the row is right'],
    ]);
    const corrected = lines.map((cells, n) => (n === 1 ? ['Acme, Inc.', 'RG1', '5'] : cells.slice(0, 7)));
    const last = await desk.import(
      await desk.file('corrected.csv', [
        corrected[0] ?? [],
        [...(corrected[1] ?? []), '', '', '', ''],
        corrected[2] ?? [],
      ]),
      simple,
    );
    expect(last.outcomes).toEqual(['2 created', '3 created']);
  });

  it('of NDJSON keep each line as it was, and refuse a line that has no certain form until it is corrected', async () => {
    const simple = importOf('asset', 'serial_number', {
      'item.name': 'name',
      sn: 'serial_number',
      cost: 'original_cost',
    });
    const lines = [
      '{"item":{"name":"Twice"},"sn":"ND1","cost":1,"cost":2}',
      '["no object"]',
      '{"item":{"name":"Nested","parts":[1,{"of":"it"}]},"sn":"ND3","cost":-7.10}',
      '{"item":{"name":"Fine"},"sn":"ND4","cost":4}',
    ];
    const first = await desk.import(await desk.file('in.ndjson', lines.join('\n')), simple);
    expect(first.outcomes).toEqual(['1 invalid', '2 invalid', '3 invalid', '4 created']);
    const rejected = (run: Imported) => readFile(join(run.reportDir, 'rejected.ndjson'), 'utf8');
    const second = await desk.import(join(first.reportDir, 'rejected.ndjson'), simple);
    expect(second.commits).toBe(0);
    const codes = (run: Imported) => run.results.slice(0, 3).map((row) => row['codes']);
    expect(codes(second)).toEqual(['ragged_row', 'ragged_row', 'out_of_range']);
    expect(codes(first)).toEqual(codes(second));
    const written = (await rejected(second)).trim().split('\n');
    for (const at of [0, 2]) expect(written[at]?.startsWith(lines[at]!.slice(0, -1))).toBe(true);
    expect(JSON.parse(written[1]!)).toMatchObject({ _line: lines[1] });
    expect((await rejected(first)).split('\n').map((line) => line.replace(/"_row".*/, ''))).toEqual(
      (await rejected(second)).split('\n').map((line) => line.replace(/"_row".*/, '')),
    );
    const corrected = [
      written[0]!.replace('"cost":1,', '').replace(/,"_line":"[^"]*"/, ''),
      '{"item":{"name":"Object"},"sn":"ND2","cost":2}',
      written[2]!.replace('-7.10', '7.10'),
    ];
    const last = await desk.import(await desk.file('corrected.ndjson', corrected.join('\n')), simple);
    expect(last.outcomes).toEqual(['1 created', '2 created', '3 created']);
  });

  it('refuse an unedited row again also where its writing would have mended it', async () => {
    const simple = importOf('asset', 'serial_number', {
      Name: 'name',
      Serial: 'serial_number',
      Notes: 'asset_notes',
      Extra: null,
    });
    const giant = 'x, '.repeat(12_000);
    const file = await desk.file(
      'odd.csv',
      Buffer.concat([
        Buffer.from('Name,Serial,Notes,Extra\nZoë,OD1,,\n"Big "Bob" Smith",OD2,,\nJos'),
        Buffer.from([0xe9]),
        Buffer.from(`,OD3,,\nLong,OD4,"${giant}",\nFine,OD5,,"${giant}"\n${'Zoë,,,\n'.repeat(20)}`),
      ]),
    );
    const first = await desk.import(file, simple);
    expect(first.outcomes.slice(0, 5)).toEqual(['2 created', '3 invalid', '4 invalid', '5 invalid', '6 created']);
    let run = first;
    for (let round = 0; round < 2; round++) {
      run = await desk.import(join(run.reportDir, 'rejected.csv'), simple);
      expect([run.commits, run.outcomes.every((one) => one.endsWith(' invalid'))]).toEqual([0, true]);
      const cells = parse(await readFile(join(run.reportDir, 'rejected.csv')), { relax_column_count: true });
      const rows = cells as string[][];
      expect(rows.slice(0, 4).map((row) => row.length)).toEqual([8, 9, 8, 8]);
      expect(rows[3]?.[2]).toBe(giant);
    }
  });
});
