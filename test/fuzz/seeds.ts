import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { csvFiles } from '../corpus/csv-files.js';
import { otherFiles } from '../corpus/other-files.js';
import { xlsxFiles } from '../corpus/xlsx-files.js';
import { READ } from '../corpus/xlsx-read.js';
import { REFUSED } from '../corpus/xlsx-refused.js';
import { odsSeeds } from './ods-seeds.js';

/** A file that is mutated. */
export interface Seed {
  readonly name: string;
  readonly bytes: Buffer;
  /** Whether its parts can be unpacked, mutated and packed again. */
  readonly zip: boolean;
}

/** Small files of the corpus, of every kind, and one that calls out to `port` by every means a workbook has. */
export function seedsOf(port: number): readonly Seed[] {
  const files = [...csvFiles(7, 90), ...xlsxFiles(7, 120, READ), ...xlsxFiles(8, 40, REFUSED), ...otherFiles(7, 25)];
  const small = files
    .filter(({ bytes }) => bytes.length < 40_000 && bytes.length > 0)
    .map(
      ({ name, bytes }): Seed => ({
        name,
        bytes,
        zip: name.startsWith('xlsx') && !name.includes('gzip') && !name.includes('cut-off'),
      }),
    );
  return [...small, ...writtenByPrograms(), ...writtenByPrograms(), ...odsSeeds(), calling(port), calling(port)];
}

/** Files that LibreOffice, openpyxl, SheetJS and exceljs wrote. */
function writtenByPrograms(): Seed[] {
  const corpus = fileURLToPath(new URL('../../fixtures/corpus', import.meta.url));
  const names = ['xlsx', 'ods', 'csv'].flatMap((folder) =>
    readdirSync(join(corpus, folder)).map((name) => join(folder, name)),
  );
  return names
    .filter(
      (name) =>
        /(?:libreoffice|openpyxl|sheetjs|exceljs|python)[\w-]*\.(?:xlsx|csv)$|\.f?ods$/.test(name) &&
        !name.includes('-good'),
    )
    .sort()
    .map((name) => ({
      name: basename(name),
      bytes: readFileSync(join(corpus, name)),
      zip: /\.(?:xlsx|ods)$/.test(name),
    }))
    .filter(({ bytes }) => bytes.length < 40_000);
}

function calling(port: number): Seed {
  const url = `http://127.0.0.1:${port}`;
  const [book] = xlsxFiles(9, 1, [
    {
      name: 'calling',
      faults: [79],
      parts: (parts) => [
        ...parts.map((part) =>
          /sheet1\.xml$/i.test(part.name)
            ? {
                ...part,
                data: String(part.data).replace(
                  /<(\w+:)?worksheet /,
                  `<?xml-stylesheet href="${url}/s.xsl"?><$1worksheet xsi:schemaLocation="x ${url}/x.xsd" `,
                ),
              }
            : part,
        ),
        {
          name: 'xl/worksheets/_rels/sheet1.xml.rels',
          data: `<Relationships><Relationship Id="rId1" Type="x/hyperlink" Target="${url}/link" TargetMode="External"/></Relationships>`,
        },
        {
          name: 'xl/connections.xml',
          data: `<connections><connection id="1"><webPr url="${url}/web"/></connection></connections>`,
        },
        {
          name: 'xl/_rels/vbaProject.bin.rels',
          data: `<Relationships><Relationship Id="rId1" Type="x/attachedTemplate" Target="${url}/template.xltm" TargetMode="External"/></Relationships>`,
        },
      ],
    },
  ]);
  return { name: 'calling.xlsx', bytes: book!.bytes, zip: true };
}
