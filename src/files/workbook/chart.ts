import { columnName } from '../table/header.js';
import { quotedName } from './sheet-names.js';
import { plainText, RELATIONS, XML } from './xml-text.js';

const CHART = 'http://schemas.openxmlformats.org/drawingml/2006/chart';
const MAIN_DRAWING = 'http://schemas.openxmlformats.org/drawingml/2006/main';
const SHEET_DRAWING = 'http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing';

/** A chart of columns of a table on the same sheet. It shows whatever the cells hold: programs draw it from them. */
export interface Chart {
  readonly title: string;
  /** What the chart shows, for people who cannot see it. */
  readonly described: string;
  /** `columns`: one on top of the other. `lines`: with a mark at each value. */
  readonly form: 'columns' | 'lines';
  /** 0-based column of the points in time under the chart. */
  readonly times: number;
  /** 0-based columns of whole numbers, with the colour of each (`1F8A54`). Their headings name them. */
  readonly series: readonly { readonly column: number; readonly color: string }[];
  /** Corners of the chart: 0-based column and row, the second corner beyond it. */
  readonly from: readonly [column: number, row: number];
  readonly to: readonly [column: number, row: number];
}

/** The cells that a chart is drawn from. */
export interface ChartCells {
  readonly sheet: string;
  readonly headings: readonly string[];
  /** Number of the heading's row; the values follow it. */
  readonly headingRow: number;
  /** Texts of the rows; times as serial numbers. */
  readonly rows: readonly (readonly string[])[];
}

/** The part `xl/charts/chartN.xml`. Elements stand in the order that the schema asks for: one spreadsheet program insists. */
export function chartPart(chart: Chart, cells: ChartCells): string {
  const lines = chart.form === 'lines';
  const series = chart.series.map((one, i) => seriesXml(chart, one, i, cells));
  const axes = '<c:axId val="111111111"/><c:axId val="222222222"/>';
  const plot = lines
    ? `<c:lineChart><c:grouping val="standard"/><c:varyColors val="0"/>${series.join('')}<c:marker val="1"/>${axes}</c:lineChart>`
    : `<c:barChart><c:barDir val="col"/><c:grouping val="stacked"/><c:varyColors val="0"/>${series.join('')}<c:gapWidth val="45"/><c:overlap val="100"/>${axes}</c:barChart>`;
  return (
    `${XML}<c:chartSpace xmlns:c="${CHART}" xmlns:a="${MAIN_DRAWING}" xmlns:r="${RELATIONS}">` +
    '<c:date1904 val="0"/><c:roundedCorners val="0"/><c:chart>' +
    `<c:title><c:tx><c:rich><a:bodyPr/><a:lstStyle/><a:p><a:pPr>${font(1200, true)}</a:pPr>` +
    `<a:r>${font(1200, true, 'rPr')}<a:t>${plainText(chart.title)}</a:t></a:r></a:p></c:rich></c:tx><c:overlay val="0"/></c:title>` +
    `<c:autoTitleDeleted val="0"/><c:plotArea><c:layout/>${plot}${timeAxis(cells.rows.length)}${countAxis(greatest(chart, cells))}` +
    '<c:spPr><a:noFill/></c:spPr></c:plotArea>' +
    `<c:legend><c:legendPos val="b"/><c:overlay val="0"/>${texts(1000)}</c:legend>` +
    '<c:plotVisOnly val="0"/><c:dispBlanksAs val="gap"/></c:chart>' +
    `<c:spPr><a:solidFill><a:srgbClr val="FFFFFF"/></a:solidFill>${stroke('D9D9D9', 9525)}</c:spPr>${texts(1000)}</c:chartSpace>`
  );
}

function seriesXml({ form, times }: Chart, { column, color }: Chart['series'][number], i: number, cells: ChartCells) {
  const { sheet, headings, headingRow, rows } = cells;
  const place = (of: number, from: number, to: number) => {
    const name = `$${columnName(of)}$`;
    return plainText(`${quotedName(sheet)}!${name}${from}${from === to ? '' : `:${name}${to}`}`);
  };
  const values = (of: number, format: string) => {
    const points = rows.flatMap((row, at) => {
      const text = row[of] ?? '';
      return text === '' ? [] : [`<c:pt idx="${at}"><c:v>${plainText(text)}</c:v></c:pt>`];
    });
    return (
      `<c:numRef><c:f>${place(of, headingRow + 1, headingRow + rows.length)}</c:f><c:numCache>` +
      `<c:formatCode>${format}</c:formatCode><c:ptCount val="${rows.length}"/>${points.join('')}</c:numCache></c:numRef>`
    );
  };
  const fill = `<a:solidFill><a:srgbClr val="${color}"/></a:solidFill>`;
  const look =
    form === 'columns'
      ? `<c:spPr>${fill}</c:spPr><c:invertIfNegative val="0"/>`
      : `<c:spPr>${stroke(color, 28575)}</c:spPr><c:marker><c:symbol val="circle"/><c:size val="6"/><c:spPr>${fill}${stroke(color, 9525)}</c:spPr></c:marker>`;
  return (
    `<c:ser><c:idx val="${i}"/><c:order val="${i}"/>` +
    `<c:tx><c:strRef><c:f>${place(column, headingRow, headingRow)}</c:f><c:strCache><c:ptCount val="1"/>` +
    `<c:pt idx="0"><c:v>${plainText(headings[column] ?? '')}</c:v></c:pt></c:strCache></c:strRef></c:tx>` +
    `${look}<c:cat>${values(times, 'yyyy\\-mm\\-dd\\ hh:mm')}</c:cat><c:val>${values(column, '0')}</c:val>` +
    `${form === 'lines' ? '<c:smooth val="0"/>' : ''}</c:ser>`
  );
}

const LABELS = 10;

/** One place a row, not a scale of days: two runs of one day stand side by side, and nights without a run leave no gap. */
function timeAxis(places: number): string {
  // As many labels as stand side by side.
  const skip = Math.ceil(places / LABELS);
  return (
    '<c:catAx><c:axId val="111111111"/><c:scaling><c:orientation val="minMax"/></c:scaling><c:delete val="0"/>' +
    '<c:axPos val="b"/><c:numFmt formatCode="d\\ mmm" sourceLinked="0"/><c:majorTickMark val="none"/><c:minorTickMark val="none"/>' +
    `<c:tickLblPos val="low"/><c:spPr>${stroke('A6A6A6', 9525)}</c:spPr>${texts(900)}` +
    '<c:crossAx val="222222222"/><c:crosses val="autoZero"/><c:auto val="0"/><c:lblAlgn val="ctr"/><c:lblOffset val="100"/>' +
    `<c:tickLblSkip val="${skip}"/><c:noMultiLvlLbl val="1"/></c:catAx>`
  );
}

/** The highest point of a chart. */
function greatest({ form, series }: Chart, { rows }: ChartCells): number {
  const heights = rows.map((row) => {
    const values = series.map(({ column }) => Number(row[column] ?? 0) || 0);
    return form === 'columns' ? values.reduce((sum, one) => sum + one, 0) : Math.max(0, ...values);
  });
  return Math.max(0, ...heights);
}

/** Whole numbers only: up to a handful of them programs would put halves between. */
function countAxis(most: number): string {
  const few = most <= 5 ? '<c:majorUnit val="1"/>' : '';
  const top = most < 1 ? '<c:max val="1"/>' : '';
  return (
    '<c:valAx><c:axId val="222222222"/><c:scaling><c:orientation val="minMax"/>' +
    `${top}<c:min val="0"/></c:scaling><c:delete val="0"/><c:axPos val="l"/><c:majorGridlines><c:spPr>${stroke('E4E7EB', 9525)}</c:spPr></c:majorGridlines>` +
    '<c:numFmt formatCode="#,##0" sourceLinked="0"/><c:majorTickMark val="none"/><c:minorTickMark val="none"/><c:tickLblPos val="nextTo"/>' +
    `<c:spPr><a:ln><a:noFill/></a:ln></c:spPr>${texts(900)}<c:crossAx val="111111111"/><c:crosses val="autoZero"/>` +
    `<c:crossBetween val="between"/>${few}</c:valAx>`
  );
}

function stroke(color: string, width: number): string {
  return `<a:ln w="${width}"><a:solidFill><a:srgbClr val="${color}"/></a:solidFill></a:ln>`;
}

/** Size in hundredths of a point. */
function font(size: number, bold = false, element = 'defRPr'): string {
  const language = element === 'rPr' ? ' lang="en-US"' : '';
  return `<a:${element}${language} sz="${size}" b="${bold ? 1 : 0}"><a:solidFill><a:srgbClr val="404040"/></a:solidFill></a:${element}>`;
}

function texts(size: number): string {
  return `<c:txPr><a:bodyPr/><a:lstStyle/><a:p><a:pPr>${font(size)}</a:pPr><a:endParaRPr lang="en-US"/></a:p></c:txPr>`;
}

/** The part `xl/drawings/drawingN.xml`: where the charts of a sheet stand; `rIdN` is the chart at position N. */
export function drawingPart(charts: readonly Chart[]): string {
  const corner = (name: string, [column, row]: readonly [number, number]) =>
    `<xdr:${name}><xdr:col>${column}</xdr:col><xdr:colOff>0</xdr:colOff><xdr:row>${row}</xdr:row><xdr:rowOff>0</xdr:rowOff></xdr:${name}>`;
  const anchors = charts.map(
    ({ title, described, from, to }, i) =>
      `<xdr:twoCellAnchor editAs="oneCell">${corner('from', from)}${corner('to', to)}<xdr:graphicFrame macro="">` +
      `<xdr:nvGraphicFramePr><xdr:cNvPr id="${i + 2}" name="${plainText(title)}" descr="${plainText(described)}"/><xdr:cNvGraphicFramePr/></xdr:nvGraphicFramePr>` +
      '<xdr:xfrm><a:off x="0" y="0"/><a:ext cx="0" cy="0"/></xdr:xfrm>' +
      `<a:graphic><a:graphicData uri="${CHART}"><c:chart xmlns:c="${CHART}" xmlns:r="${RELATIONS}" r:id="rId${i + 1}"/></a:graphicData></a:graphic>` +
      '</xdr:graphicFrame><xdr:clientData/></xdr:twoCellAnchor>',
  );
  return `${XML}<xdr:wsDr xmlns:xdr="${SHEET_DRAWING}" xmlns:a="${MAIN_DRAWING}">${anchors.join('')}</xdr:wsDr>`;
}
