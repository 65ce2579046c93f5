import { textCell } from './xlsx-cells.js';
import { type BookTwist, isSheet, withPart } from './xlsx-files.js';

const refused = (words: string) => ({ expected: { refused: words } });
const DAMAGED = 'damaged|cut off';

/** Workbooks that are refused, and the words of it. */
export const REFUSED: readonly BookTwist[] = [
  {
    name: 'cut-off',
    faults: [57],
    bytes: (bytes, { random }) => bytes.subarray(0, random.between(64, bytes.length - 30)),
    file: refused(DAMAGED),
  },
  {
    name: 'wrong-checksum',
    faults: [57],
    parts: (parts, draft) => withPart(parts, draft, (part) => ({ ...part, statedCrc: 12_345 })),
    file: refused('checksum|damaged'),
  },
  {
    name: 'wrong-size',
    faults: [57],
    parts: (parts, draft) => withPart(parts, draft, (part) => ({ ...part, statedSize: 40 })),
    file: refused(DAMAGED),
  },
  {
    name: 'xml-cut-off',
    faults: [57],
    parts: (parts, draft) => withPart(parts, draft, (part) => ({ ...part, data: String(part.data).slice(0, -14) })),
    file: refused(DAMAGED),
  },
  {
    name: 'sheet-missing',
    faults: [57],
    parts: (parts, draft) => parts.filter(({ name }) => !isSheet(name, draft)),
    file: refused('missing'),
  },
  {
    name: 'doctype',
    faults: [79],
    parts: (parts, { random }) => {
      const at = random.pick(parts.flatMap(({ name }, i) => (/workbook\.xml$|styles|sheet\d/.test(name) ? [i] : [])));
      const doctype = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b SYSTEM "http://127.0.0.1:9/b">]>';
      return parts.map((part, i) =>
        i === at
          ? { ...part, data: String(part.data).replace(/(<(?:x:)?(?:workbook|worksheet|styleSheet) )/, `${doctype}$1`) }
          : part,
      );
    },
    file: refused('DOCTYPE'),
  },
  {
    name: 'entity',
    faults: [79],
    parts: (parts, draft) =>
      withPart(parts, draft, (part) => ({
        ...part,
        data: String(part.data).replace(
          /<(x:)?sheetData>/,
          '<$1sheetData><$1row><$1c t="str"><$1v>&xxe;</$1v></$1c></$1row>',
        ),
      })),
    not: (dialect) => dialect.rowRefs,
    file: refused('entity'),
  },
  {
    name: 'bomb',
    faults: [78],
    parts: (parts) => [...parts, { name: 'xl/media/big.bin', data: Buffer.alloc(400_000) }],
    not: (dialect) => dialect.zip.level === 0,
    file: { ...refused('times its size'), limits: { ratioFromBytes: 100_000, ratio: 100 } },
  },
  {
    name: 'many-parts',
    faults: [78],
    parts: (parts) => [...parts, ...Array.from({ length: 20 }, (_, i) => ({ name: `x/${i}`, data: '' }))],
    file: { ...refused('parts'), limits: { zipEntries: 20 } },
  },
  {
    name: 'large-part',
    faults: [78],
    parts: (parts) =>
      parts.map((part) => (/styles/.test(part.name) ? { ...part, data: `${part.data}${' '.repeat(30_000)}` } : part)),
    file: { ...refused('no workbook needs so much'), limits: { partBytes: 20_000 } },
  },
  {
    name: 'entry-leaves-archive',
    faults: [80],
    parts: (parts) => [...parts, { name: '../../etc/passwd', data: 'x' }],
    file: refused('invalid|name'),
  },
  {
    name: 'entry-absolute',
    faults: [80],
    parts: (parts) => [...parts, { name: 'C:/windows/x', data: 'x' }],
    file: refused('invalid|absolute|name'),
  },
  { name: 'entry-twice', faults: [80], parts: (parts) => [...parts, parts[2]!], file: refused('two parts') },
  {
    name: 'entry-encrypted',
    faults: [75],
    not: (dialect) => dialect.zip.level === 0,
    parts: (parts) => [...parts, { name: 'secret', data: 'x', encrypted: true }],
    file: refused('password'),
  },
  {
    name: 'text-missing',
    faults: [57],
    not: (dialect) => dialect.strings !== 'shared' || dialect.prefix !== undefined,
    parts: (parts, draft) =>
      withPart(parts, draft, (part) => ({
        ...part,
        data: String(part.data).replace('</sheetData>', '<row><c t="s"><v>99999999</v></c></row></sheetData>'),
      })),
    file: refused('text number 99999999'),
  },
  {
    name: 'only-hidden-sheets',
    faults: [74],
    parts: (parts) =>
      parts.map((part) =>
        part.name === 'xl/workbook.xml'
          ? { ...part, data: String(part.data).replace('sheetId=', 'state="hidden" sheetId=') }
          : part,
      ),
    file: refused('no visible sheet holds data'),
  },
  {
    name: 'no-cells',
    faults: [],
    draft(draft) {
      draft.rows = [{ row: 2, cells: ['styled', 'styled'] }];
    },
    file: refused('no visible sheet holds data'),
  },
  {
    name: 'wide-heading',
    faults: [90],
    draft(draft) {
      draft.rows = [1, 2, 3].map((row) => ({
        row,
        cells: Array.from({ length: 1_100 }, (_, i) => textCell(`h${i}-${row}`)),
      }));
    },
    file: refused('more than 1,000 columns'),
  },
];
