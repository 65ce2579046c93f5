import { quotedName } from './sheet-names.js';
import { MAIN, plainText, RELATIONS, XML } from './xml-text.js';

/** A sheet as the workbook lists it. Parts are numbered from 1 in this order. */
export interface BookSheet {
  readonly name: string;
  readonly hidden?: boolean;
  /** Sheets with a table: the range of its filter, `A1:Y100`, its heading first. */
  readonly filter?: string;
  readonly notes?: boolean;
}

const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

/** `[Content_Types].xml` */
export function contentTypesPart(sheets: readonly BookSheet[]): string {
  const override = (part: string, type: string) => `<Override PartName="/${part}" ContentType="${type}"/>`;
  const parts = sheets.flatMap(({ notes }, i) => [
    override(`xl/worksheets/sheet${i + 1}.xml`, `${TYPE}.worksheet+xml`),
    ...(notes ? [override(`xl/comments${i + 1}.xml`, `${TYPE}.comments+xml`)] : []),
  ]);
  const noted = sheets.some(({ notes }) => notes);
  return (
    `${XML}<Types xmlns="${PACKAGE}/content-types">` +
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
    '<Default Extension="xml" ContentType="application/xml"/>' +
    (noted ? '<Default Extension="vml" ContentType="application/vnd.openxmlformats-officedocument.vmlDrawing"/>' : '') +
    override('xl/workbook.xml', `${TYPE}.sheet.main+xml`) +
    override('xl/styles.xml', `${TYPE}.styles+xml`) +
    override('docProps/core.xml', 'application/vnd.openxmlformats-package.core-properties+xml') +
    override('docProps/app.xml', 'application/vnd.openxmlformats-officedocument.extended-properties+xml') +
    `${parts.join('')}</Types>`
  );
}

interface Relation {
  readonly type: string;
  readonly target: string;
}

/** A part `_rels/….rels`; the relations are `rId1`, `rId2`, … in order. `type`: the end of an office type, or a whole one. */
function relationsPart(relations: readonly Relation[]): string {
  const items = relations.map(({ type, target }, i) => {
    const whole = type.includes('/') ? type : `${RELATIONS}/${type}`;
    return `<Relationship Id="rId${i + 1}" Type="${whole}" Target="${target}"/>`;
  });
  return `${XML}<Relationships xmlns="${PACKAGE}/relationships">${items.join('')}</Relationships>`;
}

/** `_rels/.rels` */
export function rootRelationsPart(): string {
  return relationsPart([
    { type: 'officeDocument', target: 'xl/workbook.xml' },
    { type: `${PACKAGE}/relationships/metadata/core-properties`, target: 'docProps/core.xml' },
    { type: 'extended-properties', target: 'docProps/app.xml' },
  ]);
}

/** `xl/_rels/workbook.xml.rels`: `rIdN` is sheet N, the styles come last. */
export function bookRelationsPart(sheets: readonly BookSheet[]): string {
  return relationsPart([
    ...sheets.map((_, i) => ({ type: 'worksheet', target: `worksheets/sheet${i + 1}.xml` })),
    { type: 'styles', target: 'styles.xml' },
  ]);
}

/** `xl/worksheets/_rels/sheetN.xml.rels`: `rId1` is the drawing of the notes. */
export function sheetRelationsPart(number: number): string {
  return relationsPart([
    { type: 'vmlDrawing', target: `../drawings/vmlDrawing${number}.vml` },
    { type: 'comments', target: `../comments${number}.xml` },
  ]);
}

/** `xl/workbook.xml` */
export function bookPart(sheets: readonly BookSheet[]): string {
  const list = sheets.map(
    ({ name, hidden }, i) =>
      `<sheet name="${plainText(name)}" sheetId="${i + 1}"${hidden ? ' state="hidden"' : ''} r:id="rId${i + 1}"/>`,
  );
  const tables = sheets.flatMap(({ name, filter }, i) =>
    filter === undefined ? [] : [{ name: plainText(quotedName(name)), filter, i }],
  );
  const names = [
    ...tables.map(({ name, filter, i }) => {
      const range = filter.replace(/([A-Z]+)(\d+)/g, '$$$1$$$2');
      return `<definedName name="_xlnm._FilterDatabase" localSheetId="${i}" hidden="1">${name}!${range}</definedName>`;
    }),
    ...tables.map(
      ({ name, i }) => `<definedName name="_xlnm.Print_Titles" localSheetId="${i}">${name}!$1:$1</definedName>`,
    ),
  ];
  return (
    `${XML}<workbook xmlns="${MAIN}" xmlns:r="${RELATIONS}"><workbookPr/>` +
    '<bookViews><workbookView xWindow="0" yWindow="0" windowWidth="28800" windowHeight="15000" activeTab="0"/></bookViews>' +
    `<sheets>${list.join('')}</sheets><definedNames>${names.join('')}</definedNames></workbook>`
  );
}

/** `docProps/core.xml`. Without a time: it would differ from file to file. */
export function corePart(title: string): string {
  return (
    `${XML}<cp:coreProperties xmlns:cp="${PACKAGE}/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/">` +
    `<dc:title>${plainText(title)}</dc:title><dc:creator>rowferry</dc:creator></cp:coreProperties>`
  );
}

/** `docProps/app.xml` */
export function appPart(): string {
  return `${XML}<Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/extended-properties"><Application>rowferry</Application></Properties>`;
}
