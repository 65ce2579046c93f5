/** The sheet of the speed cases: 25 columns of an asset as companies keep them, the same for ours and for every baseline. */
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';

const two = (n) => String(n).padStart(2, '0');
const CITIES = ['Zürich', 'Genève', 'Köln', 'Malmö', 'Boston', 'Kraków'];
const STAGES = ['Deployed', 'Stock', 'Retired'];
const date = (row, shift) => `20${12 + ((row + shift) % 12)}-${two(1 + ((row + shift) % 12))}-${two(1 + (row % 28))}`;
const amount = (row, step) => `${1 + ((row * step) % 9_000)}.${two(row % 100)}`;

/** Heading, field, kind of value, and the cell of a row. `max` in characters. */
export const COLUMNS = [
  ['Serial', 'serial_number', 'text', 50, (row) => `SN-${1_000_000 + row}`],
  ['Item', 'name', 'text', 50, (row) => `Latitude ${5_000 + (row % 900)}, no. ${row}`],
  ['Tag', 'asset_tag', 'text', 50, (row) => `T-${row}`],
  ['Maker', 'manufacturer', 'text', 50, (row) => `Hersteller ${row % 90} & Söhne`],
  ['Stage', 'lifecycle_stage', 'text', 50, (row) => STAGES[row % 3]],
  ['Product', 'product_description', 'text', 50, (row) => `14" screen, rev. ${row % 7}`],
  ['Part', 'manufacturer_part_number', 'text', 50, (row) => `P-${row % 400}-X`],
  ['Address', 'address', 'text', 50, (row) => `${1 + (row % 99)} Rue de l'Été, 3ème étage`],
  ['City', 'city', 'text', 50, (row) => CITIES[row % 6]],
  ['ZIP', 'zip_code', 'text', 50, (row) => `D-${10_000 + (row % 80_000)}`],
  ['Floor', 'floor', 'text', 50, (row) => `Floor ${row % 9}`],
  ['Room', 'room', 'text', 50, (row) => `Room ${row % 700}`],
  ['Place', 'location_description', 'text', 1_000, (row) => `Gebäude ${row % 60}, near the stairs`],
  [
    'Warranty',
    'warranty_type',
    'enum',
    ['none', 'oem', 'oem_extended', 'third_party'],
    (row) => (row % 2 ? 'oem' : 'third_party'),
  ],
  ['Warranty from', 'warranty_start_date', 'date', 0, (row) => date(row, 0)],
  ['Warranty to', 'warranty_end_date', 'date', 0, (row) => date(row, 3)],
  ['Warranty phone', 'warranty_contact_phone', 'text', 20, (row) => `+49 89 ${100_000 + (row % 900_000)}`],
  ['Warranty mail', 'warranty_contact_email', 'email', 254, (row) => `owner.${row % 5_000}@example.com`],
  [
    'Support',
    'support_type',
    'enum',
    ['none', 'oem', 'oem_extended', 'third_party'],
    (row) => (row % 3 ? 'oem' : 'none'),
  ],
  ['Support to', 'end_of_support_date', 'date', 0, (row) => date(row, 7)],
  ['Cost', 'original_cost', 'decimal', 0, (row) => amount(row, 37)],
  ['Salvage', 'estimated_salvage_value', 'decimal', 0, (row) => amount(row, 11)],
  ['In service', 'service_start_date', 'date', 0, (row) => date(row, 5)],
  [
    'Depreciation',
    'depreciation_schedule',
    'enum',
    ['other', '3_year_33_percent', '5_year_20_percent', '10_year_10_percent'],
    (row) => (row % 2 ? '3_year_33_percent' : '5_year_20_percent'),
  ],
  [
    'Notes',
    'asset_notes',
    'text',
    1_000,
    (row) => (row % 10 ? `Bought for team ${row % 90}` : `Team ${row % 90};\r\nsee "ticket ${row}"`),
  ],
].map(([heading, field, kind, limit, cell]) => ({ heading, field, kind, limit, cell }));

/** A row with three faults: a text too long, a date that does not exist, an amount that is none. */
const FAULTS = {
  warranty_contact_phone: () => 'please ask at the front desk first',
  warranty_end_date: () => '2024-02-30',
  original_cost: () => 'twelve hundred',
};

/** Cells of a row; `bad`: with three faults; `change`: a cost other than the row's own. */
export function cellsOf(row, { bad = false, change = 0 } = {}) {
  return COLUMNS.map(({ field, cell }) => {
    if (bad && FAULTS[field]) return FAULTS[field]();
    return change > 0 && field === 'original_cost' ? `${10_000 + change}.50` : cell(row);
  });
}

const quoted = (text) => (/[",\r\n;]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** A create body of the row, as the service takes it; `category`: the service's only one, which every update needs. */
export function bodyOf(row) {
  return JSON.stringify({
    company: 1,
    category: { id: 1 },
    ...Object.fromEntries(COLUMNS.map(({ field, cell }) => [field, cell(row)])),
  }).replace(/"(original_cost|estimated_salvage_value)":"([\d.]+)"/g, '"$1":$2');
}

/** `options(row)` says how the cells of a row differ; `columns`: the first so many alone. */
export async function writeSheet(path, rows, options = () => undefined, columns = COLUMNS.length) {
  const line = (cells) => `${cells.slice(0, columns).map(quoted).join(',')}\r\n`;
  const head = line(COLUMNS.map(({ heading }) => heading));
  await written(path, head, rows, (row) => line(cellsOf(row, options(row))));
}

/** Create bodies of rows, one a line: what the service is filled with. */
export async function writeBodies(path, rows) {
  await written(path, '', rows, (row) => `${bodyOf(row)}\n`);
}

async function written(path, head, rows, line) {
  const out = createWriteStream(path);
  out.write(head);
  for (let from = 0; from < rows; from += 2_000) {
    let text = '';
    for (let row = from; row < Math.min(from + 2_000, rows); row++) text += line(row);
    if (!out.write(text)) await new Promise((done) => out.once('drain', done));
  }
  out.end();
  await finished(out);
}

/** The job of this sheet, or of its first columns, as JSON (which is YAML). */
export function jobText(kind = 'import', more = {}, columns = COLUMNS.length) {
  return JSON.stringify({
    kind,
    resource: 'asset',
    match: { key: 'serial_number', unique_field: 'serial_number' },
    columns: Object.fromEntries(COLUMNS.slice(0, columns).map(({ heading, field }) => [heading, field])),
    ...more,
  });
}
