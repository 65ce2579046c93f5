import { gzipSync } from 'node:zlib';
import type { CorpusFile, Expected, ExpectedCell } from './corpus-file.js';
import { type Random, randomOf } from './random.js';
import { CODES, TEXTS } from './values.js';
import { packZip } from './zip-bytes.js';

interface Made {
  readonly ending: string;
  readonly bytes: Buffer;
  readonly expected: Expected;
}

const refused = (ending: string, bytes: Buffer | string, words: string): Made => ({
  ending,
  bytes: Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes, 'utf8'),
  expected: { refused: words },
});

const OLE = Buffer.from('d0cf11e0a1b11ae1', 'hex');
const noise = (random: Random, length: number) => Buffer.from(Array.from({ length }, () => random.int(256)));
const zip = (names: readonly string[], mimetype?: string) =>
  packZip([
    ...(mimetype ? [{ name: 'mimetype', data: mimetype, stored: true }] : []),
    ...names.map((name) => ({ name, data: `<x>${name}</x>` })),
  ]);

function ndjson(random: Random): Made {
  const lines: string[] = [];
  const rows: { row: number; cells: ExpectedCell[] }[] = [];
  for (let row = 1; row <= random.between(2, 9); row++) {
    const cells: ExpectedCell[] = [];
    const pairs = ['id', 'name', 'owner.mail', '__proto__'].map((key, i): string => {
      const text = random.pick(i === 0 ? CODES : TEXTS);
      const kind = i === 0 ? 0 : random.int(5);
      const number = `${random.between(1, 999)}.5`;
      cells.push(kind < 3 ? text : kind === 3 ? { t: 'n', value: number, shown: number } : { t: 'b', value: true });
      const json = kind < 3 ? JSON.stringify(text) : kind === 3 ? number : 'true';
      return key === 'owner.mail' ? `"owner": {"mail": ${json}}` : `${JSON.stringify(key)}: ${json}`;
    });
    lines.push(`{${pairs.join(', ')}}`);
    rows.push({ row, cells });
  }
  const table = { headings: ['id', 'name', 'owner.mail', '__proto__'], header_row: null, rows };
  return { ending: 'ndjson', bytes: Buffer.from(`${lines.join('\n')}\n`), expected: { table } };
}

const KINDS: readonly (readonly [name: string, faults: readonly number[], make: (random: Random) => Made])[] = [
  ['ndjson', [69, 70, 82], ndjson],
  [
    'ndjson-gz',
    [],
    (random) => {
      const made = ndjson(random);
      return { ...made, ending: 'ndjson.gz', bytes: gzipSync(made.bytes) };
    },
  ],
  [
    'ndjson-cut',
    [57],
    (random) => {
      const { bytes } = ndjson(random);
      return refused('ndjson', bytes.subarray(0, bytes.length - random.between(3, 8)), 'cut off');
    },
  ],
  [
    'gzip-cut',
    [57],
    (random) => {
      const whole = gzipSync(
        Buffer.from(`a,b,c\n${Array.from({ length: 90 }, () => `${random.int(1e9)},x,y`).join('\n')}\n`),
      );
      return refused(
        'csv.gz',
        whole.subarray(0, random.between(30, whole.length - 1)),
        'gzip file is (cut off|damaged)',
      );
    },
  ],
  [
    'gzip-damaged',
    [57],
    (random) => {
      const whole = gzipSync(
        Buffer.from(`a,b,c\n${Array.from({ length: 90 }, () => `${random.int(1e9)},x,y`).join('\n')}\n`),
      );
      whole[whole.length - random.between(5, 8)]! ^= 0x5a;
      return refused('csv.gz', whole, 'gzip file is damaged');
    },
  ],
  ['legacy-xls', [75], (random) => refused('xls', Buffer.concat([OLE, noise(random, 3_000)]), 'old binary format')],
  [
    'encrypted',
    [75],
    (random) =>
      refused(
        'xlsx',
        Buffer.concat([
          OLE,
          Buffer.alloc(random.between(500, 3_000)),
          Buffer.from('EncryptedPackage', 'utf16le'),
          noise(random, 900),
        ]),
        'password',
      ),
  ],
  [
    'xlsb',
    [75],
    () => refused('xlsb', zip(['[Content_Types].xml', 'xl/workbook.bin', 'xl/worksheets/sheet1.bin']), 'xlsb'),
  ],
  ['docx', [75], () => refused('xlsx', zip(['[Content_Types].xml', 'word/document.xml']), 'Word')],
  ['pptx', [75], () => refused('xlsx', zip(['[Content_Types].xml', 'ppt/presentation.xml']), 'PowerPoint')],
  ['numbers', [75], () => refused('numbers', zip(['Index/Document.iwa', 'Metadata/Properties.plist']), 'Numbers')],
  [
    'odt',
    [75],
    () =>
      refused(
        'ods',
        zip(['content.xml', 'META-INF/manifest.xml'], 'application/vnd.oasis.opendocument.text'),
        'OpenDocument',
      ),
  ],
  [
    'photos',
    [75],
    (random) =>
      refused('xlsx', packZip(['a.jpg', 'b.jpg'].map((name) => ({ name, data: noise(random, 300) }))), 'no workbook'),
  ],
  ['empty-zip', [75], () => refused('xlsx', packZip([]), 'nothing|no workbook')],
  ['pdf', [75], (random) => refused('csv', Buffer.concat([Buffer.from('%PDF-1.7\n'), noise(random, 2_000)]), 'PDF')],
  [
    'html',
    [75],
    () =>
      refused(
        'xls',
        '<html><head><meta charset="utf-8"></head><body><table><tr><td>1</td></tr></table></body></html>',
        'HTML',
      ),
  ],
  [
    'xml-2003',
    [75],
    () =>
      refused(
        'xls',
        '<?xml version="1.0"?>\n<?mso-application progid="Excel.Sheet"?>\n<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet"></Workbook>',
        'Excel 2003',
      ),
  ],
  ['json-array', [75], () => refused('json', '[{"a":1},{"a":2}]', 'JSON array')],
  [
    'png',
    [75],
    (random) => refused('csv', Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), noise(random, 500)]), 'PNG'),
  ],
  [
    'rar',
    [75],
    (random) => refused('xlsx', Buffer.concat([Buffer.from('Rar!\x1a\x07\x00', 'latin1'), noise(random, 500)]), 'RAR'),
  ],
  [
    'sqlite',
    [75],
    (random) => refused('csv', Buffer.concat([Buffer.from('SQLite format 3\0'), noise(random, 500)]), 'SQLite'),
  ],
  [
    'binary',
    [75],
    (random) =>
      refused(
        'csv',
        Buffer.from(Array.from({ length: 4_000 }, () => random.pick([0, 1, 2, 3, 4, 5, 14, 65, 66]))),
        'neither text|NUL',
      ),
  ],
  ['empty', [57], () => refused('csv', '', 'empty')],
  ['blank', [57], (random) => refused('csv', ' \r\n\t\r\n'.repeat(random.between(1, 4)), 'no rows')],
  ['gzip-bomb', [78], () => ({ ...refused('csv.gz', gzipSync(Buffer.alloc(300_000, 'a,b\n')), 'times its size') })],
];

/** NDJSON, packed files, and files that are no table. */
export function otherFiles(seed: number, count: number): CorpusFile[] {
  return Array.from({ length: count }, (_, i) => {
    const [name, faults, make] = KINDS[i % KINDS.length]!;
    const { ending, bytes, expected } = make(randomOf(seed * 300_007 + i));
    return {
      name: `other-${String(i).padStart(4, '0')}-${name}.${ending}`,
      faults,
      bytes,
      expected,
      ...(name === 'gzip-bomb' ? { limits: { ratioFromBytes: 100_000, ratio: 100 } } : {}),
    };
  });
}
