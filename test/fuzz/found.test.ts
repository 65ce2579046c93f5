import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openSource } from '../../src/files/open.js';
import { packZip } from '../corpus/zip-bytes.js';
import { judge } from './judge.js';

/*
 * Inputs by which fuzzing found a fault, as small as they get, so that none comes back.
 */

const folder = await mkdtemp(join(tmpdir(), 'rowferry-found-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const REL = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

function book(rows: string | Buffer): Buffer {
  const sheet = Buffer.concat([
    Buffer.from(
      `<worksheet xmlns="${MAIN}"><sheetData><row r="1"><c t="str"><v>A</v></c><c t="str"><v>B</v></c></row>`,
    ),
    Buffer.isBuffer(rows) ? rows : Buffer.from(rows, 'latin1'),
    Buffer.from('</sheetData></worksheet>'),
  ]);
  return packZip([
    {
      name: '_rels/.rels',
      data: `<Relationships><Relationship Id="a" Type="${REL}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    },
    {
      name: 'xl/workbook.xml',
      data: `<workbook xmlns="${MAIN}" xmlns:r="${REL}"><sheets><sheet name="S" sheetId="1" r:id="s"/></sheets></workbook>`,
    },
    {
      name: 'xl/_rels/workbook.xml.rels',
      data: `<Relationships><Relationship Id="s" Type="${REL}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
    },
    { name: 'xl/worksheets/sheet1.xml', data: sheet },
  ]);
}

/** The place at which an entry begins, far beyond the end of the file. */
function farEntry(): Buffer {
  const bytes = packZip([{ name: 'xl/workbook.xml', data: '<workbook/>' }], { zip64: true });
  const at = bytes.indexOf('PK\x01\x02', 0, 'latin1');
  const extra = at + 46 + 'xl/workbook.xml'.length;
  bytes.writeBigUInt64LE(52_635_820_644_893_700n, extra + 20);
  return bytes;
}

/** The place of the list of entries, beyond what a file position can be. */
function farDirectory(): Buffer {
  const bytes = packZip([{ name: 'xl/workbook.xml', data: '<workbook/>' }]);
  const end = bytes.lastIndexOf('PK\x05\x06', undefined, 'latin1');
  const locator = Buffer.alloc(20);
  locator.write('PK\x06\x07', 'latin1');
  locator.writeBigUInt64LE(1n << 60n, 8);
  locator.writeUInt32LE(1, 16);
  const tail = Buffer.from(bytes.subarray(end));
  tail.fill(0xff, 8, 20);
  return Buffer.concat([bytes.subarray(0, end), locator, tail]);
}

const ODD_ERROR =
  '<table:table-cell table:formula="of:=1" office:value-type="string" calcext:value-type="error"><text:p>Err:5\xff\xfe02</text:p></table:table-cell>';

/** A time of which the text says what no program shows. */
const ODD_TIME =
  '<table:table-cell office:value-type="time" office:time-value="PT18H00M00S"><text:p>NaN:00</text:p></table:table-cell>';

function openDocument(cell: string): Buffer {
  const cells = ['A', 'B', 'C'].map((text) => `<table:table-cell><text:p>${text}</text:p></table:table-cell>`).join('');
  const content = Buffer.from(
    '<?xml version="1.0" encoding="UTF-8"?><office:document-content ' +
      'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" ' +
      'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:calcext="urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0">' +
      `<office:body><office:spreadsheet><table:table table:name="S"><table:table-row>${cells}</table:table-row>` +
      `<table:table-row>${cells.replace('A', 'x')}</table:table-row><table:table-row>${cell}</table:table-row>` +
      '</table:table></office:spreadsheet></office:body></office:document-content>',
    'latin1',
  );
  const type = 'application/vnd.oasis.opendocument.spreadsheet';
  const manifest = `<manifest:manifest xmlns:manifest="m"><manifest:file-entry manifest:full-path="/" manifest:media-type="${type}"/></manifest:manifest>`;
  return packZip([
    { name: 'mimetype', data: type },
    { name: 'content.xml', data: content },
    { name: 'META-INF/manifest.xml', data: manifest },
  ]);
}

test.each<[string, Buffer, 'read' | 'refused']>([
  ['a number with bytes that are no UTF-8', book('<row r="2"><c><v>12.3\xff\xfe</v></c><c><v>1</v></c></row>'), 'read'],
  ['an error cell with bytes that are no UTF-8', book('<row r="2"><c t="e"><v>#N/A\xff</v></c></row>'), 'read'],
  [
    'a row that ends twice, because a phonetic guide never does',
    book('<row r="2"><c><v>1</v></c><rPh></row></row>'),
    'read',
  ],
  ['a cell inside a formula', book('<row r="2"><c><f><c>text</c></f></c></row>'), 'read'],
  ['a time of day that there is none', book('<row r="2"><c t="d"><v>2024-02-28T25:61:61</v></c></row>'), 'read'],
  ['a shared string that is no number', book('<row r="2"><c t="s"><v>NaN</v></c></row>'), 'refused'],
  ['a zip entry with a name of 5,000 characters', packZip([{ name: 'x'.repeat(5_000), data: 'x' }]), 'refused'],
  ['a directory that lies beyond the end of any file', farDirectory(), 'refused'],
  ['an error of an OpenDocument sheet with bytes that are no UTF-8', openDocument(ODD_ERROR), 'read'],
  ['a time of an OpenDocument sheet whose text is NaN', openDocument(ODD_TIME), 'read'],
  ['a zip entry that begins beyond the end of any file', farEntry(), 'refused'],
])('%s', async (name, bytes, outcome) => {
  const path = join(folder, `${name.length}.xlsx`);
  await writeFile(path, bytes);
  expect(await judge((file) => openSource(file), path)).toMatchObject({ outcome });
});
