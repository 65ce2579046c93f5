import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { odsCell } from '../../src/files/ods/cell.js';
import { openSource } from '../../src/files/open.js';
import { type Cell, displayText } from '../../src/model/row.js';
import { read, refusal, scratch } from './fixtures.js';
import { cellXml, type OdsSpec, odsOf, rowXml, sheetXml, textCell, textSheet, typed } from './ods-fixtures.js';

const { file } = await scratch();
let count = 0;
const saved = (spec: OdsSpec) => file(`t${++count}.ods`, odsOf(spec));
const readSpec = async (spec: OdsSpec, options = {}) => read(await saved(spec), options);
const HEADING = textSheet([['A', 'B', 'C', 'D']]);
const readRows = async (rows: string, spec: Partial<OdsSpec> = {}) =>
  readSpec({ body: sheetXml('S', HEADING + rows), ...spec });

/** The cells of one row below a heading of four columns. */
async function cellsOf(cells: string, spec: Partial<OdsSpec> = {}): Promise<readonly Cell[]> {
  const { rows } = await readRows(rowXml(cells), spec);
  return rows[0]?.cells ?? [];
}

/** Whether the text is a value of the type, as OpenDocument defines it and a sheet row can hold it. */
function isValue(type: string, raw: string): boolean {
  if (type === 'boolean') return raw === 'true' || raw === 'false';
  if (type === 'time') {
    const [, days, time, ...parts] = /^-?P(\d+D)?(T(\d+H)?(\d+M)?(\d+(?:\.\d+)?S)?)?$/.exec(raw) ?? [];
    const timed = parts.some((part) => part !== undefined);
    return time === undefined ? days !== undefined : timed;
  }
  if (type !== 'date') return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(raw) && Number.isFinite(Number(raw));
  const match = /^(\d{4}-\d\d-\d\d)(?:T(\d\d):(\d\d):(\d\d)(?:\.\d+)?)?Z?$/.exec(raw);
  if (!match) return false;
  const [, day, hour = 0, minute = 0, second = 0] = match;
  const date = new Date(`${day}T00:00:00Z`);
  const exists = !Number.isNaN(date.getTime()) && date.toISOString().slice(0, 10) === day;
  return exists && Number(hour) < 24 && Number(minute) < 60 && Number(second) < 60;
}

describe('text', () => {
  test('paragraphs, blanks, tabs, line breaks, spans, links and entities are read as they show', async () => {
    const cells = await cellsOf(
      cellXml('<text:p>one</text:p><text:p/><text:p>three</text:p>', ' office:value-type="string"') +
        textCell('a<text:s text:c="3"/>b<text:s/>c<text:tab/>d<text:line-break/>e') +
        textCell('<text:span>in <text:span>a</text:span></text:span> <text:a xlink:href="http://x/">link</text:a>') +
        textCell('R&amp;D &lt;3 &#8364; <![CDATA[a & b]]> ż'),
    );
    expect(cells).toEqual(['one\n\nthree', 'a   b c\td\ne', 'in a link', 'R&D <3 € a & b ż']);
  });

  test('notes, shapes and ruby stay out of the cell', async () => {
    const cells = await cellsOf(
      cellXml(
        '<office:annotation><text:p>note</text:p></office:annotation><text:p>seen</text:p>' +
          '<draw:frame><draw:text-box><text:p>shape</text:p><table:table table:name="T"><table:table-row><table:table-cell><text:p>no</text:p></table:table-cell></table:table-row></table:table></draw:text-box></draw:frame>',
        ' office:value-type="string"',
      ) +
        textCell('漢<text:ruby><text:ruby-base>字</text:ruby-base><text:ruby-text>ji</text:ruby-text></text:ruby>') +
        cellXml('<text:p>no type</text:p>'),
    );
    expect(cells).toEqual(['seen', '漢字', 'no type', '']);
  });

  test('a text stored in an attribute counts where the paragraphs lack or differ', async () => {
    const cells = await cellsOf(
      cellXml('', ' office:value-type="string" office:string-value="alone"') +
        textCell('shown', ' office:string-value="stored"') +
        cellXml(
          '<text:p>two</text:p><text:p>lines</text:p>',
          ' office:value-type="string" office:string-value="two lines"',
        ),
    );
    expect(cells).toEqual(['alone', 'stored', 'two\nlines', '']);
  });

  test('leading zeros of texts and of number formats are kept (69)', async () => {
    const cells = await cellsOf(textCell('00042') + typed('float', '42', '00042'));
    expect(cells.slice(0, 2)).toEqual(['00042', { t: 'n', value: '42', shown: '00042', format: '00000' }]);
  });
});

describe('values', () => {
  test('numbers keep 15 digits, whatever the language of the text', async () => {
    const cells = await cellsOf(
      typed('float', '4.1000000000000005', '4,1') +
        typed('float', '1234567890123456789', '1.23456789012346E+18') +
        typed('percentage', '0.125', '12.50%') +
        typed('currency', '-1200.5', '-$1,200.50', ' office:currency="USD"'),
    );
    expect(cells).toEqual([
      { t: 'n', value: '4.1', shown: '4.1' },
      { t: 'n', value: '1234567890123460000', shown: '1234567890123460000' },
      { t: 'n', value: '0.125', shown: '12.50%', format: '0.00%' },
      { t: 'n', value: '-1200.5', shown: '-$1,200.50' },
    ]);
  });

  test('a zero that shows nothing is a blank cell, as a person sees it', async () => {
    const cells = await cellsOf(
      '<table:table-cell office:value-type="currency" office:value="0"><text:p/></table:table-cell>' +
        typed('float', '0', '0') +
        typed('percentage', '0', '0%'),
    );
    expect(cells.map(displayText)).toEqual(['', '0', '0%', '']);
    expect(cells[0]).toBe('');
  });

  test('dates are calendar dates whatever the null date says; times are parts of a day (68)', async () => {
    const { rows } = await readSpec({
      body:
        '<table:calculation-settings><table:null-date table:date-value="1904-01-01"/></table:calculation-settings>' +
        sheetXml(
          'S',
          HEADING +
            rowXml(
              typed('date', '2024-02-29', '29/02/24') +
                typed('date', '2024-12-31T23:59:59.7', '31.12.24 23:59') +
                typed('time', 'PT18H30M00S', '18:30') +
                typed('time', 'PT34H00M01S', ''),
            ) +
            rowXml(typed('date', '2024-02-29T00:00:00', '')),
        ),
    });
    expect(rows[0]?.cells).toEqual([
      { t: 'd', value: '2024-02-29', shown: '29/02/24' },
      { t: 'd', value: '2025-01-01', shown: '31.12.24 23:59' },
      { t: 'n', value: '0.770833333333333', shown: '18:30', format: '[hh]:mm:ss' },
      { t: 'n', value: '1.41667824074074', shown: '34:00:01', format: '[hh]:mm:ss' },
    ]);
    expect(rows[1]?.cells[0]).toEqual({ t: 'd', value: '2024-02-29', shown: '2024-02-29' });
  });

  test('truth values', async () => {
    const cells = await cellsOf(typed('boolean', 'true', 'WAHR') + typed('boolean', 'false', 'FALSCH'));
    expect(cells.slice(0, 2)).toEqual([
      { t: 'b', value: true },
      { t: 'b', value: false },
    ]);
  });

  test('a damaged value is a fault, with the text a person sees', async () => {
    const damaged: readonly (readonly [string, string])[] = [
      ['float', '1.2.3'],
      ['float', 'NaN'],
      ['float', '1,5'],
      ['currency', '12,00 €'],
      ['percentage', '1e999'],
      ['date', '2024-02-30'],
      ['date', '2024-02-29T25:61:61'],
      ['time', 'PT18H3xM'],
      ['time', 'P'],
      ['time', 'P1DT'],
      ['boolean', '1'],
      ['boolean', 'TRUE'],
    ];
    for (const [type, value] of damaged) {
      const cells = await cellsOf(typed(type, value, '12') + typed(type, value, '') + typed(type, ' ', 'ab'));
      const bare = /^[ -~]+$/.test(value) ? value : '#VALUE!';
      expect([type, value, ...cells]).toEqual([
        type,
        value,
        { t: 'e', value: '12' },
        { t: 'e', value: bare },
        'ab',
        '',
      ]);
    }
  });

  test('whatever stands as a value, it is that value, or a fault, or the text where there is none', () => {
    const types = fc.constantFrom('float', 'currency', 'percentage', 'date', 'time', 'boolean');
    const good = fc.constantFrom(
      '12.5',
      '-1e3',
      '2024-02-29',
      '2024-12-31T23:59:59.7',
      'PT18H30M05.5S',
      '-P2DT1H',
      'true',
    );
    const bad = fc
      .tuple(good, fc.nat(24), fc.nat(2), fc.constantFrom('', '.', '-', 'T', 'P', '9', '60', 'e', ' ', 'x', 'é', ':'))
      .map(([text, at, cut, piece]) => text.slice(0, at) + piece + text.slice(at + cut));
    fc.assert(
      fc.property(types, fc.oneof(good, bad), fc.constantFrom(undefined, '', '12', 'a b'), (type, raw, text) => {
        const values = ['value', 'date-value', 'time-value', 'boolean-value'].map((name) => [name, raw] as const);
        const cell = odsCell(new Map([['value-type', type], ...values]), text);
        // A zero that shows nothing is blank.
        if (cell === '' && text === '' && Number(raw) === 0) return;
        if (typeof cell === 'string') {
          if (raw.trim() !== '') expect([type, cell]).toEqual(['date', text || raw.trim()]);
          else expect(cell).toBe(text ?? '');
          return;
        }
        if (cell.t === 'e') {
          expect(cell.value).toBe(text || (/^[ -~]+$/.test(raw) ? raw.trim() : '#VALUE!'));
          expect(isValue(type, raw.trim())).toBe(false);
          return;
        }
        expect(isValue(type, raw.trim())).toBe(true);
        expect(cell.t).toBe(type === 'date' ? 'd' : type === 'boolean' ? 'b' : 'n');
        if (cell.t === 'n' || cell.t === 'd') expect(cell.shown).not.toMatch(/NaN|undefined|Infinity/);
      }),
      { numRuns: 3_000 },
    );
  });

  test('a formula counts by its result; without one it is a fault (71)', async () => {
    const formula = ' table:formula="of:=SUM([.A1:.A2])"';
    const { rows } = await readRows(
      rowXml(
        typed('float', '3', '3', formula) +
          textCell('ab', formula) +
          cellXml('', formula) +
          cellXml('<text:p/>', ' table:formula="of:=&quot;&quot;"'),
      ) +
        rowXml(
          typed('float', '1', 'WAHR', ' table:formula="of:=TRUE()"') +
            typed('float', '45351', '02/29/24', ' table:formula="of:=DATE(2024;2;29)"') +
            typed('float', '0.5', '50%', formula) +
            cellXml('', ' table:formula="msoxl:=A1&amp;B1" office:value-type="string"'),
        ),
    );
    expect(rows[0]?.cells).toEqual([
      { t: 'n', value: '3', shown: '3' },
      'ab',
      { t: 'f', formula: 'SUM([.A1:.A2])' },
      '',
    ]);
    expect(rows[1]?.cells).toEqual([
      { t: 'b', value: true },
      { t: 'd', value: '2024-02-29', shown: '02/29/24' },
      { t: 'n', value: '0.5', shown: '50%', format: '0%' },
      { t: 'f', formula: 'A1&B1' },
    ]);
  });

  test('error cells of old and new programs (72)', async () => {
    const cells = await cellsOf(
      cellXml(
        '<text:p>#REF!</text:p>',
        ' table:formula="of:=#REF!" office:value-type="string" office:string-value="" calcext:value-type="error"',
      ) +
        typed('float', '0', 'Err:502', ' table:formula="of:=X"') +
        textCell('#N/A', ' table:formula="of:=NA()"') +
        textCell('#N/A'),
    );
    expect(cells).toEqual([
      { t: 'e', value: '#REF!' },
      { t: 'e', value: 'Err:502' },
      { t: 'e', value: '#N/A' },
      '#N/A',
    ]);
  });

  test('a number is read as it is shown; what shows it in full without a format is the number itself', async () => {
    const { rows } = await readRows(
      rowXml(
        typed('float', '5', '$5.00') +
          typed('float', '6.5', '6.50') +
          typed('float', '7.25', '7,25') +
          typed('float', '7.25', '7,3'),
      ) +
        rowXml(
          typed('float', '123456789012', '1.23457E+11') +
            typed('float', '1234.5', '1,234.5') +
            typed('float', '120000', '1.20E+05') +
            typed('float', '123456', '1.23E+05'),
        ) +
        rowXml(
          typed('float', '12', 'SN-0012') +
            typed('float', '12', '12 pcs') +
            typed('float', '5551230001', '(555) 123-0001') +
            typed('float', '1235', '1 235 t'),
        ),
    );
    expect(rows.flatMap(({ cells }) => cells.slice(0, 4))).toEqual([
      { t: 'n', value: '5', shown: '$5.00' },
      { t: 'n', value: '6.5', shown: '6.50', format: '0.00' },
      { t: 'n', value: '7.25', shown: '7.25' },
      { t: 'n', value: '7.25', shown: '7,3' },
      { t: 'n', value: '123456789012', shown: '1.23457E+11' },
      { t: 'n', value: '1234.5', shown: '1,234.5' },
      { t: 'n', value: '120000', shown: '1.20E+05', format: '0.00E+00' },
      { t: 'n', value: '123456', shown: '1.23E+05', format: '0.00E+00' },
      { t: 'n', value: '12', shown: 'SN-0012', format: '"SN-"0000' },
      { t: 'n', value: '12', shown: '12 pcs', format: 'General" pcs"' },
      { t: 'n', value: '5551230001', shown: '(555) 123-0001', format: '"("000") "000"-"0000' },
      { t: 'n', value: '1235', shown: '1 235 t' },
    ]);
  });
});

describe('sheets and rows', () => {
  test('repeated cells and rows keep their numbers; groups and header rows are rows', async () => {
    const { meta, rows } = await readSpec({
      body: sheetXml(
        'S',
        `<table:table-columns><table:table-column table:number-columns-repeated="16384"/></table:table-columns>` +
          `<table:table-header-rows>${HEADING}</table:table-header-rows>` +
          rowXml(
            textCell('x', ' table:number-columns-repeated="3"') + textCell('y'),
            ' table:number-rows-repeated="2"',
          ) +
          rowXml(cellXml('', ' table:number-columns-repeated="16384"'), ' table:number-rows-repeated="5"') +
          `<table:table-row-group>${rowXml(cellXml('', ' table:number-columns-repeated="2"') + textCell('z'))}</table:table-row-group>` +
          rowXml(cellXml('', ' table:number-columns-repeated="16384"'), ' table:number-rows-repeated="1048567"'),
      ),
    });
    expect(meta).toMatchObject({
      format: 'ods',
      sheet: 'S',
      header_row: 1,
      headings: ['A', 'B', 'C', 'D'],
      warnings: [],
    });
    expect(rows).toEqual([
      { row: 2, cells: ['x', 'x', 'x', 'y'] },
      { row: 3, cells: ['x', 'x', 'x', 'y'] },
      { row: 9, cells: ['', '', 'z', ''] },
    ]);
  });

  test('hidden rows, columns and sheets are counted and said (74)', async () => {
    const styles =
      '<style:style style:name="off" style:family="table"><style:table-properties table:display="false"/></style:style>';
    const body =
      sheetXml('Hid', textSheet([['X'], ['1']]), ' table:style-name="off"') +
      sheetXml('Empty', rowXml(cellXml(''))) +
      sheetXml(
        'Data',
        '<table:table-column/><table:table-column table:visibility="collapse"/><table:table-column table:visibility="collapse" table:number-columns-repeated="16382"/>' +
          textSheet([['A', 'B']]) +
          rowXml(textCell('1'), ' table:visibility="filter" table:number-rows-repeated="2"') +
          rowXml(textCell('2'), ' table:visibility="collapse"') +
          rowXml(textCell('3')) +
          rowXml(cellXml(''), ' table:visibility="collapse" table:number-rows-repeated="1000000"'),
      ) +
      sheetXml("'file:///other.ods'#$Copy", textSheet([['X'], ['1']])) +
      sheetXml('More', textSheet([['X'], ['1']]));
    const { meta, rows } = await readSpec({ body, styles });
    expect(meta.sheet).toBe('Data');
    expect(meta.warnings).toEqual([
      'Further sheets are not read: "Empty", "More".',
      'Hidden sheets are not read: "Hid".',
      '3 hidden rows are read like the others.',
      '1 hidden column is read like the others.',
    ]);
    expect(rows.map(({ row }) => row)).toEqual([2, 3, 4, 5]);
    const named = await readSpec({ body, styles }, { sheet: 'hid' });
    expect(named.meta.warnings).toEqual(['The sheet "Hid" is hidden in the workbook.']);
    expect(named.rows).toEqual([{ row: 2, cells: ['1'] }]);
    expect((await readSpec({ body, styles }, { sheet: 4 })).meta.sheet).toBe('More');
    expect((await refusal(openSource(await saved({ body, styles }), { sheet: 'Dta' }))).message).toContain('3 "Data"');
  });

  test('merged cells: the first has the value, what they cover is not read (73)', async () => {
    const { meta, rows } = await readSpec({
      body: sheetXml(
        'S',
        rowXml(
          textCell('A') +
            textCell('B', ' table:number-columns-spanned="2"') +
            '<table:covered-table-cell/>' +
            textCell('D'),
        ) +
          rowXml(textCell('1') + textCell('2') + textCell('3', ' table:number-rows-spanned="2"') + textCell('4')) +
          rowXml(
            textCell('5') +
              textCell('6') +
              '<table:covered-table-cell office:value-type="string"><text:p>under</text:p></table:covered-table-cell>' +
              textCell('8'),
          ),
      ),
    });
    expect(meta.headings).toEqual(['A', 'B', '', 'D']);
    expect(rows.map(({ cells }) => cells)).toEqual([
      ['1', '2', '3', '4'],
      ['5', '6', '', '8'],
    ]);
    expect(meta.warnings).toContainEqual(expect.stringContaining('Cells of the heading are merged (B1:C1)'));
    expect(meta.warnings).toContainEqual(expect.stringContaining('1 merged range below the heading'));
  });

  test('tracked changes, linked data, shapes and names are not read', async () => {
    const gone = rowXml(textCell('gone'));
    const { rows } = await readSpec({
      body:
        `<table:tracked-changes><table:cell-content-change><table:previous><table:change-track-table-cell><text:p>old</text:p></table:change-track-table-cell></table:previous></table:cell-content-change>${sheetXml('Old', gone)}</table:tracked-changes>` +
        sheetXml(
          'S',
          `<table:shapes><draw:frame><draw:object>${sheetXml('chart', gone)}</draw:object></draw:frame></table:shapes>${HEADING}${textSheet([['new']])}`,
        ) +
        `<table:dde-links><table:dde-link>${sheetXml('DDE', gone)}</table:dde-link></table:dde-links>`,
    });
    expect(rows).toEqual([{ row: 2, cells: ['new', '', '', ''] }]);
  });

  test('a filled cell without a heading makes the row a fault', async () => {
    const { rows } = await readRows(
      textSheet(Array.from({ length: 120 }, () => ['1'])) +
        rowXml(
          textCell('x') + cellXml('', ' table:number-columns-repeated="5"') + textCell('far'),
          ' table:number-rows-repeated="2"',
        ),
    );
    expect(rows.slice(-2).map(({ row, faults }) => [row, faults?.[0]?.message.slice(0, 18)])).toEqual([
      [122, 'G122 holds "far", '],
      [123, 'G123 holds "far", '],
    ]);
  });

  test('templates, gzip and a stated format; a flat file is refused by its name', async () => {
    const body = sheetXml('S', textSheet([['A'], ['1']]));
    const want = [{ row: 2, cells: ['1'] }];
    const flat =
      '<?xml version="1.0"?><office:document office:mimetype="application/vnd.oasis.opendocument.spreadsheet"/>';
    expect((await refusal(openSource(await file('a.fods', flat)))).message).toContain(
      'an XML document, which is not read. Save it as .xlsx or .csv.',
    );
    const type = 'application/vnd.oasis.opendocument.spreadsheet-template';
    expect((await read(await file('a.ots', odsOf({ body, type })))).rows).toEqual(want);
    expect((await read(await file('a.ods.gz', gzipSync(odsOf({ body }))))).rows).toEqual(want);
    for (const format of ['ods', 'xlsx'] as const) expect((await readSpec({ body }, { format })).rows).toEqual(want);
    expect((await refusal(openSource(await saved({ body }), { format: 'csv' }))).message).toContain('is a zip file');
    expect((await refusal(openSource(await file('a.csv', 'a\n1'), { format: 'ods' }))).message).toContain('is text');
  });
});
