import { describe, expect, test } from 'vitest';
import { read, scratch } from './fixtures.js';

const { file } = await scratch();
const DATA = Array.from({ length: 12 }, (_, i) => `Laptop ${i},SN-${i},M1,${i + 1}.50,2024-01-31`);

describe('a file as people send it', () => {
  const text = [
    'Assets of Berlin',
    '',
    'Name,Serial,Model,Cost,Bought',
    ...DATA,
    '',
    'Total,,,84.00,',
    '"Source: register, as of today"',
  ];

  test('title above, totals and notes below: the rows between are data', async () => {
    const { meta, rows } = await read(await file('sent.csv', text.join('\r\n')));
    expect(meta.header_row).toBe(3);
    expect(rows.filter(({ noRecord }) => !noRecord).map(({ row }) => row)).toEqual(DATA.map((_, i) => i + 4));
    expect(rows.slice(-2).map(({ row, noRecord }) => [row, noRecord?.like])).toEqual([
      [17, 'a total'],
      [18, 'a note'],
    ]);
    expect(rows.slice(0, -2).every(({ faults }) => faults === undefined)).toBe(true);
    expect(meta.warnings.join(' ')).toMatch(/Row 1 above/);
  });

  test('footer: keep reads them as data', async () => {
    const { rows } = await read(await file('kept.csv', text.join('\n')), { footer: 'keep' });
    expect(rows.slice(-2).map(({ row, noRecord }) => [row, noRecord?.like])).toEqual([
      [17, undefined],
      [18, undefined],
    ]);
  });

  test('the headings of the job decide which row is the heading', async () => {
    const path = await file('two.csv', `Berlin,Stock,2024\nTag,Label,Price\nSerial,Name,Cost\n${'a,b,1\n'.repeat(4)}`);
    expect((await read(path, { expect: ['Name', 'Cost'] })).meta.header_row).toBe(3);
  });
});
