import type { ZipForm } from './zip-bytes.js';

/** How a program spells a workbook: the same cells, in different XML. */
export interface Dialect {
  readonly name: string;
  readonly prefix?: string;
  readonly strict?: boolean;
  /** Where texts stand: in the table of shared strings, in the cell (`inlineStr`), or as a formula's text (`str`). */
  readonly strings: 'shared' | 'inline' | 'str';
  /** Attributes of a row besides its number. */
  readonly row: (row: number, width: number) => string;
  readonly refs: boolean;
  readonly rowRefs: boolean;
  /** `t="n"` on numbers. */
  readonly typed: boolean;
  readonly dimension: boolean;
  readonly pretty: boolean;
  readonly declaration: string;
  readonly bom: boolean;
  readonly quote: '"' | "'";
  readonly targets: 'relative' | 'absolute' | 'dotted';
  /** Before `sheetData`. */
  readonly head: string;
  /** After `sheetData`. */
  readonly foot: string;
  readonly root: string;
  readonly formula: string;
  readonly zip: ZipForm;
  /** The names and order of the parts. */
  readonly order: 'usual' | 'reversed' | 'upper-case';
}

const UTF8 = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\r\n';

const BASE: Dialect = {
  name: 'plain',
  strings: 'shared',
  row: () => '',
  refs: true,
  rowRefs: true,
  typed: false,
  dimension: true,
  pretty: false,
  declaration: UTF8,
  bom: false,
  quote: '"',
  targets: 'relative',
  head: '',
  foot: '',
  root: '',
  formula: '',
  zip: {},
  order: 'usual',
};

export const DIALECTS: readonly Dialect[] = [
  {
    ...BASE,
    name: 'excel',
    row: (_, width) => ` spans="1:${width}" x14ac:dyDescent="0.25"`,
    root: ' xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" mc:Ignorable="x14ac xr" xmlns:x14ac="http://schemas.microsoft.com/office/spreadsheetml/2009/9/ac" xmlns:xr="http://schemas.microsoft.com/office/spreadsheetml/2014/revision" xr:uid="{00000000-0001-0000-0000-000000000000}"',
    head: '<sheetViews><sheetView tabSelected="1" workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/><selection pane="bottomLeft" activeCell="A2" sqref="A2"/></sheetView></sheetViews><sheetFormatPr defaultRowHeight="15" x14ac:dyDescent="0.25"/>',
    foot: '<autoFilter ref="A1:C4"/><phoneticPr fontId="1" type="noConversion"/><conditionalFormatting sqref="A2:A9"><cfRule type="expression" dxfId="0" priority="1"><formula>$A2="&lt;c r="</formula></cfRule></conditionalFormatting><dataValidations count="1"><dataValidation type="list" allowBlank="1" sqref="B2:B9"><formula1>"a,b"</formula1></dataValidation></dataValidations><pageMargins left="0.7" right="0.7" top="0.75" bottom="0.75" header="0.3" footer="0.3"/>',
  },
  {
    ...BASE,
    name: 'libreoffice',
    row: (row) =>
      ` customFormat="false" ht="12.8" hidden="false" customHeight="false" outlineLevel="${row % 3}" collapsed="false"`,
    typed: true,
    declaration: '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n',
    head: '<sheetPr filterMode="false"><pageSetUpPr fitToPage="false"/></sheetPr><sheetViews><sheetView showFormulas="false" showGridLines="true" tabSelected="true" workbookViewId="0"><selection pane="topLeft" activeCell="A1" activeCellId="0" sqref="A1"/></sheetView></sheetViews><sheetFormatPr defaultColWidth="11.53515625" defaultRowHeight="12.8" zeroHeight="false" outlineLevelRow="0" outlineLevelCol="0"></sheetFormatPr><cols><col collapsed="false" customWidth="true" hidden="false" outlineLevel="0" max="3" min="1" style="0" width="11.53"/></cols>',
    foot: '<printOptions headings="false"/><headerFooter differentFirst="false" differentOddEven="false"><oddHeader>&amp;C&amp;"Times New Roman,Regular"&amp;12&amp;A</oddHeader></headerFooter>',
    formula: ' aca="false"',
    zip: { descriptors: true },
  },
  {
    ...BASE,
    name: 'google-sheets',
    dimension: false,
    root: ' xmlns:mx="http://schemas.microsoft.com/office/mac/excel/2008/main" xmlns:xm="http://schemas.microsoft.com/office/excel/2006/main"',
    head: '<sheetPr><outlinePr summaryBelow="0" summaryRight="0"/></sheetPr><sheetViews><sheetView workbookViewId="0"/></sheetViews><sheetFormatPr customHeight="1" defaultColWidth="12.63" defaultRowHeight="15.75"/>',
    foot: '<drawing r:id="rId1"/>',
    zip: { descriptors: true },
  },
  {
    ...BASE,
    name: 'numbers',
    row: () => ' ht="20.25" customHeight="1"',
    declaration: '<?xml version="1.0" encoding="UTF-8"?>\n',
    head: '<sheetPr><pageSetUpPr fitToPage="1"/></sheetPr><sheetViews><sheetView workbookViewId="0" showGridLines="0" defaultGridColor="1"/></sheetViews><sheetFormatPr defaultColWidth="16.3333" defaultRowHeight="19.9" customHeight="1" outlineLevelRow="0" outlineLevelCol="0"/>',
    foot: '<pageMargins left="0.5" right="0.5" top="0.75" bottom="0.75" header="0.277778" footer="0.277778"/>',
    zip: { level: 9 },
  },
  {
    ...BASE,
    name: 'openpyxl',
    declaration: '',
    typed: true,
    targets: 'absolute',
    head: '<sheetPr><outlinePr summaryBelow="1" summaryRight="1"/><pageSetUpPr/></sheetPr><sheetViews><sheetView workbookViewId="0"><selection activeCell="A1" sqref="A1"/></sheetView></sheetViews><sheetFormatPr baseColWidth="8" defaultRowHeight="15"/>',
  },
  {
    ...BASE,
    name: 'openpyxl-write-only',
    declaration: '',
    strings: 'inline',
    typed: true,
    dimension: false,
    targets: 'absolute',
  },
  {
    ...BASE,
    name: 'sheetjs',
    strings: 'str',
    typed: true,
    foot: '<ignoredErrors><ignoredError numberStoredAsText="1" sqref="A1:C9"/></ignoredErrors>',
  },
  {
    ...BASE,
    name: 'exceljs',
    root: ' xmlns:x14ac="http://schemas.microsoft.com/office/spreadsheetml/2009/9/ac"',
    row: (_, width) => ` spans="1:${width}" x14ac:dyDescent="0.25"`,
    head: '<sheetPr/><sheetViews><sheetView workbookViewId="0"/></sheetViews><sheetFormatPr defaultRowHeight="15" outlineLevelRow="0" outlineLevelCol="0" dyDescent="55"/>',
  },
  { ...BASE, name: 'exceljs-stream', strings: 'inline', zip: { descriptors: true, level: 1 } },
  {
    ...BASE,
    name: 'prefixed',
    prefix: 'x',
    strings: 'inline',
    zip: { zip64: true },
    declaration: '<?xml version="1.0" encoding="utf-8"?>',
  },
  { ...BASE, name: 'strict', strict: true, bom: true },
  { ...BASE, name: 'no-references', refs: false, rowRefs: false, dimension: false, strings: 'inline' },
  { ...BASE, name: 'pretty', pretty: true, quote: "'", zip: { extra: true, comment: 'made by hand' } },
  { ...BASE, name: 'dotted-paths', targets: 'dotted', order: 'reversed', zip: { level: 0 } },
  { ...BASE, name: 'upper-case', order: 'upper-case', rowRefs: false },
];
