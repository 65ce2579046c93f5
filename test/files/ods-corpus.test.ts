import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openSource } from '../../src/files/open.js';
import { displayText } from '../../src/model/row.js';
import { read, refusal } from './fixtures.js';

const folder = join(import.meta.dirname, '..', '..', 'fixtures', 'corpus', 'ods');

/**
 * What LibreOffice 7.4 shows of a file it wrote: its own export as CSV, "cell contents as shown". Three things are
 * set right in it: tabs, which LibreOffice drops when it reads its file again, the digits of a number of 22 digits, and
 * the text `#FMT` that it stored for a number beyond all dates.
 */
interface Expected {
  readonly file: string;
  readonly shows: string;
  readonly sheet: string;
  readonly header_row: number;
  /** Row number, then the texts of its cells; the first is the heading. */
  readonly rows: readonly (readonly [number, ...string[]])[];
}

const expected = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Expected);

describe('spreadsheets that LibreOffice wrote read as LibreOffice shows them', () => {
  test.each(expected)('$file: $shows', async ({ file, sheet, header_row, rows: [heading = [0], ...rows] }) => {
    const { meta, rows: found } = await read(join(folder, file));
    expect(meta).toMatchObject({ format: 'ods', sheet, header_row });
    const width = meta.headings.length;
    const padded = (texts: readonly unknown[]) => Array.from({ length: width }, (_, i) => texts[i] ?? '');
    expect(meta.headings).toEqual(padded(heading.slice(1)));
    expect(found.map(({ row, cells }) => [row, ...cells.map(displayText)])).toEqual(
      rows.map(([row, ...texts]) => [row, ...padded(texts)]),
    );
    expect(found.every(({ faults }) => faults === undefined)).toBe(true);
  });

  test('the corpus is there', () => expect(expected.length).toBeGreaterThanOrEqual(6));
});

test('a spreadsheet that LibreOffice encrypted is named as protected by a password (75)', async () => {
  const error = await refusal(openSource(join(folder, 'encrypted.ods')));
  expect(error.message).toContain('protected by a password');
});
