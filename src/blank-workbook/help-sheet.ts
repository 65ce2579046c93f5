import type { Workbook, Worksheet } from 'exceljs';
import type { ResourceName } from '../resources/spec.js';
import { cellText } from './cell-text.js';
import { KEY } from './columns.js';
import { LAST_ROW } from './data-sheet.js';
import { shellWord } from './job-text.js';
import type { BlankWorkbook } from './plan.js';
import { keyLabel, rowRules } from './words.js';

/** What the help sheet says beside the columns. */
export interface HelpFacts {
  /** Names of the files, without folder. */
  readonly workbook: string;
  readonly job: string;
  /** Where the names come from, e.g. `"Northwind" (company 1) at https://…, 2026-01-31`; absent: no service was asked. */
  readonly origin?: string;
  /** What is missing from the workbook, and why. */
  readonly remarks: readonly string[];
}

const TABLE = ['Heading', 'Field', 'Needed', 'Holds', 'Rule', 'Allowed values', 'Example', 'Remarks'];
const WIDTHS = [34, 34, 13, 16, 34, 46, 32, 60];
/** Points of one line of text. */
const LINE = 15;
const FONT = { name: 'Calibri', family: 2, size: 11 } as const;

/** How to fill the workbook in and import it, the rules, and every column. */
export function addHelpSheet(book: Workbook, plan: BlankWorkbook, facts: HelpFacts): void {
  const sheet = book.addWorksheet('Help', {
    properties: { tabColor: { argb: 'FF2E75B6' } },
    views: [{ showGridLines: false }],
    pageSetup: { orientation: 'landscape', paperSize: 9, fitToPage: true, fitToWidth: 1, fitToHeight: 0 },
  });
  WIDTHS.forEach((width, at) => {
    sheet.getColumn(at + 1).width = width;
  });
  title(sheet, `How to fill in ${plan.sheet.toLowerCase()}`, 14);
  section(sheet, 'Fill in', fillIn(plan));
  section(sheet, 'Import', importing(plan, facts));
  section(sheet, 'Blank cells', [
    'In a new record a blank cell means: no value.',
    'In an existing record a blank cell leaves the value as it is. To empty values, write blank: clear for a column in the job file.',
  ]);
  const rules = rowRules(plan.spec);
  if (rules.length > 0) section(sheet, 'Rules between cells of a row', rules);
  section(sheet, 'Lists', listLines(plan, facts));
  columnTable(sheet, plan);
}

function fillIn({ sheet, spec, columns }: BlankWorkbook): string[] {
  const custom = columns.some((column) => column.custom);
  return [
    `Fill in the sheet ${sheet}, one row for each ${spec.name}, from row 2 on. Lists and checks reach to row ${LAST_ROW}; further rows are imported, too.`,
    'Dark headings with * need a value in every row; those in a stronger blue in some rows. The note on a heading says what its column takes.',
    ...(custom ? ["Green headings are the service's own custom fields."] : []),
    'Columns may be moved, and those without * deleted (from the job file as well). Do not rename headings.',
    'Type serial numbers, codes and postal codes as they are: leading zeros stay. Copy from elsewhere with "paste values", so that formats stay.',
    `The sheet Example shows a complete row. It is never imported; the job names the sheet ${sheet}.`,
  ];
}

function importing({ spec, columns }: BlankWorkbook, { workbook, job }: HelpFacts): string[] {
  const command = `rowferry import ${shellWord(workbook)} --job ${shellWord(job)}`;
  const key = keyLabel(spec);
  const lacks = !columns.some(({ field }) => field === KEY[spec.name]);
  return [
    `Keep ${job} beside this workbook. First see what would happen:   ${command} --dry-run`,
    `Then do it:   ${command}`,
    ...(lacks
      ? []
      : [
          `Rows are matched by ${key}: where the service knows it, that ${spec.name} is changed, else a new one is made. Importing twice changes nothing.`,
        ]),
    ...withoutKey(columns, spec.name, job),
    'Rows with faults are not sent; they come back in a file of their own, with the reasons, to be corrected and imported again.',
  ];
}

/** Only assets have a key that some records lack. */
function withoutKey(columns: BlankWorkbook['columns'], resource: ResourceName, job: string): string[] {
  if (resource !== 'asset') return [];
  const other = columns.some(({ field }) => field === 'asset_tag') ? 'asset_tag' : 'name';
  return [
    `For assets without a serial number make a workbook of their own, and in its ${job} write key: ${other} in place of key: serial_number, and delete the line unique_field.`,
    `Every row then needs ${other === 'name' ? 'a name' : 'an asset tag'} that no other asset has; the column of the serial number may stay blank.`,
  ];
}

function listLines({ lists }: BlankWorkbook, { origin, remarks }: HelpFacts): string[] {
  const all = [...new Set(lists.values())].filter((list) => !list.closed || list.remark !== undefined);
  return [
    origin === undefined
      ? 'No service was asked when this workbook was made: names of records are not offered.'
      : `Names are those of ${origin}. Made anew, the workbook offers what was added since.`,
    ...all.map(
      ({ title, values, remark }) =>
        `${title}: ${values.length.toLocaleString('en-US')}.${remark === undefined ? '' : ` ${remark}`}`,
    ),
    ...remarks,
  ];
}

function title(sheet: Worksheet, text: string, size: number): void {
  const row = sheet.addRow([cellText(text)]);
  row.font = { ...FONT, bold: true, size, color: { argb: 'FF1F4E79' } };
}

/** Lines run over the empty cells to their right: they are short enough for the table's width. */
function section(sheet: Worksheet, heading: string, lines: readonly string[]): void {
  sheet.addRow([]);
  title(sheet, heading, 11);
  for (const line of lines) sheet.addRow([cellText(line)]);
}

function columnTable(sheet: Worksheet, { columns, words }: BlankWorkbook): void {
  sheet.addRow([]);
  title(sheet, 'Columns', 11);
  const border = { style: 'thin', color: { argb: 'FFBFBFBF' } } as const;
  const framed = { top: border, bottom: border, left: border, right: border };
  const head = sheet.addRow(TABLE);
  head.eachCell((cell) => {
    cell.style = {
      font: { ...FONT, bold: true, color: { argb: 'FFFFFFFF' } },
      fill: { type: 'pattern', pattern: 'solid', fgColor: { argb: 'FF1F4E79' } },
      alignment: { vertical: 'middle' },
      border: framed,
    };
  });
  columns.forEach((column, at) => {
    const said = words[at];
    if (!said) return;
    const { need, holds, rule, allowed, example, remark } = said;
    const texts = [column.heading, column.field, need, holds, rule, allowed, example, remark];
    const row = sheet.addRow(texts.map(cellText));
    row.height = LINE * Math.max(...texts.map((text, i) => linesOf(text, WIDTHS[i] ?? 0)));
    for (let i = 1; i <= TABLE.length; i++) {
      row.getCell(i).style = {
        numFmt: '@',
        alignment: { vertical: 'top', wrapText: true },
        border: framed,
        font: { ...FONT, bold: i === 1 && column.need === 'always' },
      };
    }
  });
}

/** Lines that a wrapped text takes, a little generously: not every program measures rows by itself. */
function linesOf(text: string, width: number): number {
  let lines = 1;
  let used = 0;
  for (const word of text.split(' ')) {
    if (used > 0 && used + word.length > width) {
      lines++;
      used = 0;
    }
    used += word.length + 1;
  }
  return lines;
}
