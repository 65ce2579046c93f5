import { packZip } from '../corpus/zip-bytes.js';
import type { Seed } from './seeds.js';

const NAMESPACES =
  'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" xmlns:number="urn:oasis:names:tc:opendocument:xmlns:datastyle:1.0"';

const cell = (text: string, attributes = 'office:value-type="string"') =>
  `<table:table-cell ${attributes}><text:p>${text}</text:p></table:table-cell>`;

/** OpenDocument spreadsheets, by hand: repeated rows and cells, covered cells, every type of value. */
export function odsSeeds(): readonly Seed[] {
  const rows = [
    `<table:table-row>${cell('Name')}${cell('Cost')}${cell('Bought')}${cell('Open')}</table:table-row>`,
    `<table:table-row table:number-rows-repeated="2">${cell('a &amp; <text:s text:c="2"/>b')}${cell('12.50', 'office:value-type="float" office:value="12.5"')}${cell('01/02/24', 'office:value-type="date" office:date-value="2024-02-01"')}${cell('TRUE', 'office:value-type="boolean" office:boolean-value="true"')}</table:table-row>`,
    '<table:table-row table:number-rows-repeated="3"><table:table-cell table:number-columns-repeated="4"/></table:table-row>',
    `<table:table-row table:visibility="collapse">${cell('20%', 'office:value-type="percentage" office:value="0.2"')}${cell('€ 3', 'office:value-type="currency" office:currency="EUR" office:value="3"')}<table:covered-table-cell table:number-columns-repeated="2"/></table:table-row>`,
    `<table:table-row>${cell('18:00', 'office:value-type="time" office:time-value="PT18H00M00S"')}${cell('Err:502', 'table:formula="of:=1/0" office:value-type="string" calcext:value-type="error"')}<table:table-cell><text:p>one</text:p><text:p>two</text:p><office:annotation><text:p>note</text:p></office:annotation></table:table-cell></table:table-row>`,
    '<table:table-row table:number-rows-repeated="1048500"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>',
  ].join('');
  const content = `<?xml version="1.0" encoding="UTF-8"?><office:document-content ${NAMESPACES} office:version="1.2"><office:automatic-styles><style:style style:name="ta1" style:family="table"><style:table-properties table:display="true"/></style:style></office:automatic-styles><office:body><office:spreadsheet><table:table table:name="Sheet1" table:style-name="ta1"><table:table-column table:number-columns-repeated="16384"/>${rows}</table:table></office:spreadsheet></office:body></office:document-content>`;
  const manifest =
    '<?xml version="1.0"?><manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><manifest:file-entry manifest:full-path="/" manifest:media-type="application/vnd.oasis.opendocument.spreadsheet"/></manifest:manifest>';
  const make = (name: string, xml: string): Seed => ({
    name,
    zip: true,
    bytes: packZip([
      { name: 'mimetype', data: 'application/vnd.oasis.opendocument.spreadsheet', stored: true },
      { name: 'content.xml', data: xml },
      { name: 'META-INF/manifest.xml', data: manifest },
    ]),
  });
  const seeds = [
    make('hand.ods', content),
    make(
      'short.ods',
      content.replace(/<table:table-row table:number-rows-repeated="1048500">.*?<\/table:table-row>/, ''),
    ),
  ];
  // As many as make it a fair share of all seeds.
  return Array.from({ length: 16 }, (_, i) => ({ ...seeds[i % 2]!, name: `${i}-${seeds[i % 2]!.name}` }));
}
