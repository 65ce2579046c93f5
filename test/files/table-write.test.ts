import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { tableFormat, writeTable } from '../../src/files/table-write.js';
import { RunInterrupted } from '../../src/model/error.js';
import { type Cell, displayText } from '../../src/model/row.js';
import type { TableColumn, TableRows } from '../../src/model/table.js';
import { read, refusal, scratch } from './fixtures.js';
import { ABOUT, batches, columns, everything, KIND_TEXTS, NASTY_TEXTS } from './workbook/tables.js';

const { folder, file } = await scratch();
const FORMS = ['csv', 'csv.gz', 'ndjson', 'ndjson.gz', 'xlsx', 'xlsx.gz'] as const;
const leftovers = async (of = folder) => (await readdir(of)).filter((name) => name.endsWith('.tmp'));
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

describe('the form of a file', () => {
  test.each([
    ['assets.csv', 'csv', false],
    ['ASSETS.CSV.GZ', 'csv', true],
    ['a.b/assets.xlsx', 'xlsx', false],
    ['assets.xlsx.gz', 'xlsx', true],
    ['assets.ndjson', 'ndjson', false],
    ['assets.v2.ndjson.gz', 'ndjson', true],
  ])('%s', (path, format, gzip) => {
    expect(tableFormat(path)).toEqual({ format, gzip });
  });

  test.each([
    ['assets.json', '.json is not written'],
    ['assets.ods.gz', '.ods is not written'],
    ['assets', 'the name has no ending'],
    ['assets.gz', 'the name has no ending'],
    ['.csv', 'the name has no ending'],
    ['assets.constructor', '.constructor is not written'],
  ])('%s is refused, and the message says what there is', async (path, text) => {
    const refused = await refusal((async () => tableFormat(path))());
    expect(refused.kind).toBe('usage');
    expect(refused.message).toContain(path);
    expect(refused.message).toContain(text);
    expect(refused.message).toMatch(/\.csv, \.xlsx or \.ndjson, each also with \.gz/);
  });
});

describe('CSV', () => {
  test('UTF-8 without mark, comma, CRLF, formulas escaped', async () => {
    const path = join(folder, 'plain.csv');
    const table = columns('text', 'money');
    const written = await writeTable(
      path,
      table,
      batches([
        ['=1+1', '1.50'],
        ['é, "x"', ''],
      ]),
      ABOUT,
    );
    const bytes = await readFile(path);
    expect(bytes.toString()).toBe('text 1,money 2\r\n\'=1+1,1.50\r\n"é, ""x""",\r\n'.replace("'=1+1", `"'=1+1"`));
    expect(written).toEqual({ bytes: bytes.length, sha256: sha256(bytes), rows: 2 });
  });
});

describe('NDJSON', () => {
  const line = async (table: readonly TableColumn[], row: readonly string[]) => {
    const path = join(folder, 'line.ndjson');
    await writeTable(path, table, batches([row]), ABOUT);
    return readFile(path, 'utf8');
  };

  test('the headings are the keys, in order; blank cells are null', async () => {
    expect(await line(columns('text', 'id', 'date', 'boolean'), ['', '', '', ''])).toBe(
      '{"text 1":null,"id 2":null,"date 3":null,"boolean 4":null}\n',
    );
  });

  test.each([
    ['id', '12345678901234567', '12345678901234567'],
    ['id', '007', '"007"'],
    ['integer', '-5', '-5'],
    ['integer', '1.0', '"1.0"'],
    ['decimal', '0.10', '0.10'],
    ['decimal', '-0', '"-0"'],
    ['decimal', '1e5', '"1e5"'],
    ['money', '99999999999999.99', '99999999999999.99'],
    ['money', '$5', '"$5"'],
    ['boolean', 'true', 'true'],
    ['boolean', 'TRUE', '"TRUE"'],
    ['date', '2024-01-31', '"2024-01-31"'],
    ['text', '12', '"12"'],
    ['text', '=1+1\n"😀"', '"=1+1\\n\\"😀\\""'],
    ['json', '[{"id":1,"share":0.10}]', '[{"id":1,"share":0.10}]'],
    ['json', '{\n  "a": [1,\r\n 2]\n}', '{   "a": [1,  2] }'],
    ['json', '[1,', '"[1,"'],
    ['json', '12', '"12"'],
  ] as const)('%s %j is %s', async (kind, text, json) => {
    const found = await line([{ heading: 'k', kind }], [text]);
    expect(found).toBe(`{"k":${json}}\n`);
    JSON.parse(found);
  });

  test('no heading is special (82)', async () => {
    const headings = ['__proto__', 'constructor', 'say "hi"', 'a.b', '1', ''];
    const table = headings.map((heading) => ({ heading, kind: 'text' as const }));
    expect(await line(table, ['a', 'b', 'c', 'd', 'e', 'f'])).toBe(
      '{"__proto__":"a","constructor":"b","say \\"hi\\"":"c","a.b":"d","1":"e","":"f"}\n',
    );
    const { meta, rows } = await read(join(folder, 'line.ndjson'));
    expect(meta.headings).toEqual(headings);
    expect(rows[0]!.cells).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  });
});

/** What was written, as our readers hand it over: an amount without its thousands, in at least as many digits. */
function textOf(cell: Cell | undefined): string {
  if (typeof cell !== 'object') return displayText(cell);
  if (cell.t === 'b') return String(cell.value);
  return cell.t === 'n' && cell.format?.startsWith('#,##0') ? cell.shown.replaceAll(',', '') : displayText(cell);
}

/** An amount of less than two decimals is shown with two. */
const shownAs = (form: string, { kind }: TableColumn, text: string) =>
  form.startsWith('xlsx') &&
  kind === 'money' &&
  /^(?!-0(\.0)?$)-?(0|[1-9]\d*)(\.\d)?$/.test(text) &&
  text.replace(/\D/g, '').length <= 15
    ? text.includes('.')
      ? `${text}0`
      : `${text}.00`
    : text;

describe('the round trip through our readers', () => {
  test.each(FORMS)('%s: every kind and every nasty text', async (form) => {
    const table = everything();
    const path = join(folder, `everything.${form}`);
    const written = await writeTable(path, table.columns, batches(table.rows, 7), ABOUT);
    const bytes = await readFile(path);
    expect(written).toMatchObject({ bytes: bytes.length, sha256: sha256(bytes), rows: NASTY_TEXTS.length });
    const { meta, rows } = await read(path, { header_row: form.startsWith('ndjson') ? 'auto' : 1 });
    expect(meta).toMatchObject({ gzip: form.endsWith('.gz'), headings: table.columns.map(({ heading }) => heading) });
    expect(rows.filter(({ faults }) => faults)).toEqual([]);
    const expected = table.rows.map((row) => row.map((text, i) => shownAs(form, table.columns[i]!, text)));
    expect(rows.map(({ cells }) => cells.map(textOf))).toEqual(expected);
  });

  test('random tables come back exactly, in all six forms', async () => {
    const unit = fc.oneof(
      {
        weight: 3,
        arbitrary: fc.constantFrom(...'aZ09 ,;"\'=+-@|%\t\n\r_x0041_<>&]\u0001\u007f\ufeff\u00a0é€'.split('')),
      },
      { weight: 1, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }) },
    );
    // NUL and the sign for what could not be decoded are faults to every reader of ours.
    const anyText = fc.string({ unit, maxLength: 8 }).filter((text) => !/[\0\ufffd]/.test(text));
    const kinds = Object.keys(KIND_TEXTS) as (keyof typeof KIND_TEXTS)[];
    const ofKind = (kind: keyof typeof KIND_TEXTS) =>
      fc.oneof(fc.constant(''), fc.constantFrom(...KIND_TEXTS[kind].fits, ...KIND_TEXTS[kind].not, 'z'), anyText);
    // An object would come back as several columns: lists only.
    const isObject = (kind: string, text: string) => kind === 'json' && /^\s*\{/.test(text);
    const table = fc.array(fc.constantFrom(...kinds), { minLength: 1, maxLength: 6 }).chain((chosen) =>
      fc.record({
        table: fc.constant(columns(...chosen)),
        rows: fc.array(fc.tuple(...chosen.map((kind) => ofKind(kind).filter((text) => !isObject(kind, text)))), {
          maxLength: 12,
        }),
      }),
    );
    let run = 0;
    await fc.assert(
      fc.asyncProperty(table, fc.constantFrom(...FORMS), fc.integer({ min: 1, max: 5 }), async (t, form, size) => {
        // A row of blanks is no data row to any reader.
        const rows = t.rows.filter((row) => row.some((text) => text.trim() !== ''));
        fc.pre(rows.length > 0 || form.startsWith('csv') || form.startsWith('xlsx'));
        const path = join(folder, `random${run++ % 4}.${form}`);
        await writeTable(path, t.table, batches(rows, size), ABOUT);
        const options = form.startsWith('csv') ? { delimiter: ',', encoding: 'utf-8' } : {};
        const { rows: back } = await read(path, {
          ...options,
          ...(form.startsWith('ndjson') ? {} : { header_row: 1 }),
        });
        expect(back.filter(({ faults }) => faults)).toEqual([]);
        expect(back.map(({ cells }) => cells.map(textOf))).toEqual(
          rows.map((row) => row.map((text, i) => shownAs(form, t.table[i]!, text))),
        );
      }),
      { numRuns: 200 },
    );
  });

  test('gzip says nothing of time and name: the same bytes again', async () => {
    const table = everything();
    for (const form of FORMS) {
      const [a, b] = [join(folder, `same-a.${form}`), join(folder, `same-b.${form}`)];
      const first = await writeTable(a, table.columns, batches(table.rows), ABOUT);
      const second = await writeTable(b, table.columns, batches(table.rows, 3), ABOUT);
      expect(second.sha256, form).toBe(first.sha256);
    }
    const [plain, packed] = await Promise.all(
      ['same-a.csv', 'same-a.csv.gz'].map((name) => readFile(join(folder, name))),
    );
    expect(gunzipSync(packed!).equals(plain!)).toBe(true);
    expect(packed!.subarray(3, 8)).toEqual(Buffer.alloc(5));
  });
});

describe('the target is the old file or the complete new one', () => {
  const table = columns('text', 'money');
  async function* endless(): TableRows {
    for (let i = 0; ; i++) yield Array.from({ length: 500 }, (_, r) => [`row ${i}-${r}`, '1.50']);
  }

  test.each(FORMS)('%s: stopped, it stays as it was and leaves nothing', async (form) => {
    const path = await file(`stopped.${form}`, 'old');
    const stop = new AbortController();
    const onRows = (done: number) => {
      if (done >= 20_000) stop.abort('SIGTERM');
    };
    let ended = false;
    const watched = async function* () {
      try {
        yield* endless();
      } finally {
        ended = true;
      }
    };
    await expect(writeTable(path, table, watched(), ABOUT, { signal: stop.signal, onRows })).rejects.toThrow(
      RunInterrupted,
    );
    expect(ended).toBe(true);
    expect(await readFile(path, 'utf8')).toBe('old');
    expect(await leftovers()).toEqual([]);
  });

  test.each(FORMS)('%s: a fault of the rows passes through', async (form) => {
    const path = await file(`fault.${form}`, 'old');
    const failing = async function* () {
      yield [['a', '1']];
      throw new TypeError('no more');
    };
    await expect(writeTable(path, table, failing(), ABOUT)).rejects.toThrow(new TypeError('no more'));
    expect(await readFile(path, 'utf8')).toBe('old');
    expect(await leftovers()).toEqual([]);
  });

  test('a missing folder, a folder as the target', async () => {
    const missing = await refusal(writeTable(join(folder, 'none', 'x.xlsx'), table, endless(), ABOUT));
    expect(missing.message).toContain('x.xlsx: could not be written because the folder');
    await mkdir(join(folder, 'dir.csv'));
    const taken = await refusal(writeTable(join(folder, 'dir.csv'), table, batches([]), ABOUT));
    expect(taken.message).toContain('a folder of that name is there');
    expect((await refusal(writeTable(join(folder, 'none.csv'), [], batches([]), ABOUT))).message).toContain(
      'at least one column',
    );
    expect(await leftovers()).toEqual([]);
  });

  test('progress is told in rows that are written', async () => {
    const told: number[] = [];
    const rows = Array.from({ length: 10 }, () => ['a', '1']);
    await writeTable(join(folder, 'told.xlsx'), table, batches(rows, 4), ABOUT, { onRows: (done) => told.push(done) });
    expect(told).toEqual([4, 8, 10]);
  });

  test('two at once: one of the two files, whole', async () => {
    const path = join(folder, 'both.xlsx');
    const rows = (text: string) => Array.from({ length: 3_000 }, () => [text, '1']);
    const both = await Promise.all(['a', 'b'].map((text) => writeTable(path, table, batches(rows(text)), ABOUT)));
    expect(both.map(({ sha256: one }) => one)).toContain(sha256(await readFile(path)));
    expect(await leftovers()).toEqual([]);
  });
});
