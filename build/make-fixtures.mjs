/**
 * Writes fixtures/: spreadsheets for the job files in jobs/, each beside what a run against the demo sandbox comes to.
 * The same bytes on every run. By hand: node build/make-fixtures.mjs [FOLDER]
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import iconv from 'iconv-lite';
import { ASSET_HEADINGS, demoAssets } from './fixtures/assets.mjs';
import { ASSETS_BAD } from './fixtures/assets-bad.mjs';
import { CONTRACT_HEADINGS, CONTRACTS, CONTRACTS_BAD } from './fixtures/contracts.mjs';
import { ERP_HEADINGS, ERP_MONDAY, ERP_TUESDAY } from './fixtures/erp-assets.mjs';
import { CUSTOMER_HEADINGS, CUSTOMERS, SUPPLIER_HEADINGS, SUPPLIERS } from './fixtures/parties.mjs';
import { csv, expected, table } from './fixtures/text.mjs';
import { workbook } from './fixtures/workbook.mjs';

const folder = process.argv[2] ?? fileURLToPath(new URL('../fixtures/', import.meta.url));

async function write(file, bytes, job, rows, options) {
  await writeFile(join(folder, file), bytes);
  const name = `${file.replace(/\.\w+$/, '')}.expected.json`;
  await writeFile(join(folder, name), expected(job, file, rows, options));
}

await mkdir(folder, { recursive: true });

const assets = demoAssets();
const lists = [['Stage'], ['In Use'], ['Spare'], ['Ordered'], ['Scrapped']];
await write(
  'assets-demo.xlsx',
  await workbook('Inventory', table(ASSET_HEADINGS, assets), {
    widths: { 'Item Name': 16, Model: 24, Supplier: 20, Owner: 26, Remarks: 30 },
    hidden: { Lists: lists },
  }),
  'assets',
  assets,
);
await write(
  'suppliers.csv',
  iconv.encode(csv(table(SUPPLIER_HEADINGS, SUPPLIERS), { delimiter: ';' }), 'windows-1252'),
  'suppliers',
  SUPPLIERS,
);
await write('contracts.csv', csv(table(CONTRACT_HEADINGS, CONTRACTS), { newline: '\n' }), 'contracts', CONTRACTS);
await write('customers.csv', `\uFEFF${csv(table(CUSTOMER_HEADINGS, CUSTOMERS))}`, 'customers', CUSTOMERS);
// Most rows are at fault on purpose, so the brakes of the jobs are overridden.
await write('assets-bad.csv', csv(table(ASSET_HEADINGS, ASSETS_BAD)), 'assets', ASSETS_BAD, { force: true });
await write('contracts-bad.csv', csv(table(CONTRACT_HEADINGS, CONTRACTS_BAD)), 'contracts', CONTRACTS_BAD, {
  force: true,
});

// What comes of these depends on the night before; test/runs/reconcile-examples.test.ts tells.
for (const [name, rows] of [
  ['monday', ERP_MONDAY],
  ['tuesday', ERP_TUESDAY],
]) {
  await writeFile(join(folder, `erp-assets-${name}.csv`), csv(table(ERP_HEADINGS, rows), { delimiter: ';' }));
}
