import { PLAIN_CONTRACT } from '../support/jobs.js';
import { csvText } from './reconcile-night.js';

/**
 * An ERP's file of assets and the service's records of them, with differences of every kind in known places. Nothing is
 * random: the record and the row of an asset follow from its number.
 */

export const HEADINGS = [
  'Serial',
  'Name',
  'Tag',
  'Cost',
  'Salvage',
  'Start',
  'Support',
  'Depreciation',
  'Category',
  'Sub',
  'Owner',
  'Vendor',
  'Contract No',
  'Country',
  'Stage',
  'Cost Centre',
  'Budget',
  'Approved',
  'Room',
  'Notes',
  'City',
] as const;
export type Heading = (typeof HEADINGS)[number];
export type Cells = Record<Heading, string>;

/** Suppliers and contracts that the records refer to get these ids, in this order, from 1. */
export const SUPPLIERS = Array.from({ length: 20 }, (_, i) => ({ name: `Vendor ${String.fromCharCode(65 + i)} Ltd` }));
export const CONTRACTS = Array.from({ length: 30 }, (_, i) => ({
  ...PLAIN_CONTRACT,
  name: `Frame ${i + 1}`,
  number: `C-${2000 + i}`,
  supplier: (i % 20) + 1,
  contract_end_date: '2030-01-01',
  total_contract_spend_value: 1000,
}));

/** What the sandbox's look-up data calls its categories and owners. */
const CATEGORIES: readonly (readonly [id: number, name: string, subs: readonly string[]])[] = [
  [1, 'Laptop', ['Business', 'Engineering', 'Rugged']],
  [2, 'Desktop', ['Office', 'Workstation']],
  [3, 'Server', ['Rack', 'Blade', 'Tower']],
  [4, 'Network', ['Switch', 'Router', 'Firewall', 'Access Point']],
  [5, 'Monitor', ['Standard', 'Wide']],
];
const OWNERS: readonly (readonly [name: string, email: string])[] = [
  ['Ada Park', 'ada.park@northwind.example'],
  ['Ben Osei', 'ben.osei@northwind.example'],
  ['Chloé Martin', 'chloe.martin@northwind.example'],
  ['Dmitri Volkov', 'dmitri.volkov@northwind.example'],
  ['Elena Rossi', 'elena.rossi@northwind.example'],
];
const COUNTRIES: readonly (readonly [code: number, ...spellings: string[]])[] = [
  [276, 'Germany', 'DE', 'DEU', '276'],
  [250, 'France', 'FR', 'FRA', '250'],
  [840, 'US', 'USA', '840', 'United States of America'],
  [826, 'United Kingdom', 'GB', 'GBR', '826'],
  [76, 'Brazil', 'BR', 'BRA', '076'],
];
const SUPPORT = ['none', 'oem', 'oem_extended', 'third_party'];
const DEPRECIATION = ['other', '3_year_33_percent', '5_year_20_percent', '10_year_10_percent'];
const STAGES: readonly (readonly [stored: string, ...said: string[]])[] = [
  ['Deployed', 'In Use', 'in use', 'Deployed'],
  ['Stock', 'Spare', 'SPARE', 'Stock'],
];

const pick = <T>(list: readonly T[], at: number): T => list[at % list.length]!;
const two = (n: number) => String(n).padStart(2, '0');
export const serial = (i: number): string => `SN-${String(i).padStart(6, '0')}`;
/** Cents. */
const cents = (i: number) => 12_000 + ((i * 7919) % 9_000_000);
const isoDate = (i: number) => `${2015 + (i % 10)}-${two((i % 12) + 1)}-${two((i % 28) + 1)}`;

/** The record of asset `i`, as a create body; money is in cents behind it. */
export function record(i: number): Record<string, unknown> {
  const [category, , subs] = pick(CATEGORIES, Math.floor(i / 3));
  return {
    name: `Asset ${i}`,
    serial_number: serial(i),
    asset_tag: `T-${i}`,
    manufacturer: pick(['Dell', 'Lenovo', 'Müller & Söhne', '山本電機'], i),
    original_cost: cents(i) / 100,
    ...(i % 2 === 0 ? { estimated_salvage_value: (i % 900) + 0.5 } : {}),
    service_start_date: isoDate(i),
    support_type: pick(SUPPORT, i),
    depreciation_schedule: pick(DEPRECIATION, Math.floor(i / 4)),
    category: { id: category, subcategory: pick(subs, i) },
    asset_owner: (i % OWNERS.length) + 1,
    attached_supplier: (i % SUPPLIERS.length) + 1,
    ...(i % 4 === 0 ? {} : { contract: (i % CONTRACTS.length) + 1 }),
    country: pick(COUNTRIES, i)[0],
    lifecycle_stage: pick(STAGES, i)[0],
    template: {
      id: 1,
      fields: [
        { id: 1, value: `CC-${i % 50}` },
        { id: 2, value: (cents(i * 3) % 1_000_000) / 100 },
        { id: 3, value: isoDate(i + 5) },
        { id: 4, value: i % 40 },
      ],
    },
    room: `R-${i % 90}`,
    asset_notes: `Note ${i}, "first"\nsecond line`,
    city: pick(['Bern', 'Kraków', 'São Paulo'], i),
    // Below here is what the file does not know.
    floor: String(i % 12),
    asset_usage_status: (i % 4) + 1,
    currency: { value: 'EUR', symbol: '€' },
    financial_notes: `Ledger ${i}`,
    warranty_contact_email: `desk${i % 7}@northwind.example`,
    contract_service_per_item: (i % 90) + 0.25,
    ...(i % 9 === 0
      ? { form_template: [{ id: 1, custom_form_data: { Rack: `K${i % 30}`, Unit: i % 42, Installed: '2023-03-04' } }] }
      : {}),
    ...(i % 1000 === 7 ? { new_hardware_selling_unit_price: '@big' } : {}),
  };
}

/** A body as JSON text; an amount that no double holds stands in it digit by digit. */
export const bodyText = (body: object): string => JSON.stringify(body).replace('"@big"', '99999999999999.99');

const grouped = (text: string) => text.replace(/\B(?=(\d{3})+(?!\d))/g, ',');
/** One amount in the notations of a careless ERP. */
function amount(value: number, style: number): string {
  const fixed = (value / 100).toFixed(2);
  const [whole = '', fraction = ''] = fixed.split('.');
  const group = `${grouped(whole)}.${fraction}`;
  return pick([fixed, group, `$${group}`, String(value / 100), ` ${fixed} `, `${group} EUR`], style);
}

function dayFirst(iso: string): string {
  const [year, month, day] = iso.split('-');
  return `${day}/${month}/${year}`;
}

const shout = (word: string, style: number) =>
  pick([word, word.toUpperCase(), word.replaceAll('_', ' '), ` ${word}`], style);

/** The row of asset `i` that says what its record says, in other words. */
export function cells(i: number): Cells {
  const [, category, subs] = pick(CATEGORIES, Math.floor(i / 3));
  const [owner, email] = pick(OWNERS, i);
  const [, ...countries] = pick(COUNTRIES, i);
  const [, ...stages] = pick(STAGES, i);
  const style = Math.floor(i / 7);
  return {
    Serial: style % 5 === 0 ? ` ${serial(i)} ` : serial(i),
    Name: `Asset ${i}`,
    Tag: `T-${i}`,
    Cost: amount(cents(i), style),
    Salvage: i % 2 === 0 ? amount((i % 900) * 100 + 50, style) : '',
    Start: style % 2 === 0 ? isoDate(i) : dayFirst(isoDate(i)),
    Support: shout(pick(SUPPORT, i), style),
    Depreciation: shout(pick(DEPRECIATION, Math.floor(i / 4)), style),
    Category: style % 6 === 5 ? String(pick(CATEGORIES, Math.floor(i / 3))[0]) : category,
    Sub: pick(subs, i),
    Owner: pick([owner, email, ` ${owner}`], style),
    Vendor: pick(SUPPLIERS, i).name,
    'Contract No': i % 4 === 0 ? '' : pick(CONTRACTS, i).number,
    Country: pick(countries, style),
    Stage: pick(stages, style),
    'Cost Centre': `CC-${i % 50}`,
    Budget: amount(cents(i * 3) % 1_000_000, style),
    Approved: style % 3 === 0 ? dayFirst(isoDate(i + 5)) : isoDate(i + 5),
    Room: `R-${i % 90}`,
    Notes: `Note ${i}, "first"\nsecond line`,
    City: pick(['Bern', 'Kraków', 'São Paulo'], i),
  };
}

type Alter = (row: Cells, i: number, body: Record<string, unknown>) => void;

/** Another category than the asset's own, and a subcategory that belongs to it. */
function otherCategory(i: number): Pick<Cells, 'Category' | 'Sub'> {
  const [, name, subs] = pick(CATEGORIES, Math.floor(i / 3) + 1);
  return { Category: name, Sub: pick(subs, i) };
}

/** What may be different about an asset: changes of its row, and of the record before it is put into the service. */
export const KINDS: Readonly<Record<string, Alter>> = {
  money: (row, i) => {
    row.Cost = `${grouped(String(1_000 + (i % 9_000)))}.07`;
  },
  'money by a cent': (row, i) => {
    row.Cost = ((cents(i) + 1) / 100).toFixed(2);
  },
  text: (row, i) => {
    row.Name = `Renamed ${i}`;
  },
  'case of a text': (row) => {
    row.Name = row.Name.toUpperCase();
  },
  date: (row, i) => {
    row.Start = dayFirst(isoDate(i + 1));
  },
  enum: (row, i) => {
    row.Support = shout(pick(SUPPORT, i + 1), i);
  },
  'another enum': (row, i) => {
    row.Depreciation = shout(pick(DEPRECIATION, Math.floor(i / 4) + 1), i);
  },
  reference: (row, i) => {
    row.Owner = pick(OWNERS, i + 1)[i % 2]!;
  },
  'another reference': (row, i) => {
    row.Vendor = pick(SUPPLIERS, i + 3).name;
    row['Contract No'] = pick(CONTRACTS, i + 7).number;
  },
  'category pair': (row, i) => {
    Object.assign(row, otherCategory(i));
  },
  subcategory: (row, i) => {
    const [, , subs] = pick(CATEGORIES, Math.floor(i / 3));
    row.Sub = pick(subs, i + 1);
  },
  'custom text': (row, i) => {
    row['Cost Centre'] = `CC-new-${i}`;
  },
  'custom money': (row, i) => {
    row.Budget = `1,${two(i % 90)}0.10`;
  },
  'custom date': (row, i) => {
    row.Approved = isoDate(i + 6);
  },
  country: (row, i) => {
    row.Country = pick(COUNTRIES, i + 1)[1]!;
  },
  stage: (row) => {
    row.Stage = 'Retired';
  },
  'cleared cell': (row) => {
    row.Room = '';
  },
  'cleared cell over nothing': (row, _i, body) => {
    row.Room = '';
    delete body['room'];
  },
  'blank cell that is kept': (row) => {
    row.Tag = '';
    row.Cost = ' ';
  },
  'the service stands': (row, i) => {
    row.Notes = `The ERP says ${i}`;
  },
  'both stand, each for its own': (row, i) => {
    row.Notes = `The ERP says ${i}`;
    row.Cost = '77.70';
  },
  'fill over nothing': (row, _i, body) => {
    row.Salvage = '$1,234.50';
    delete body['estimated_salvage_value'];
  },
  'fill over something': (row, _i, body) => {
    row.Salvage = '88.80';
    body['estimated_salvage_value'] = 99.9;
  },
  'not compared': (row) => {
    row.City = 'Elsewhere';
  },
  'a value where there was none': (row, _i, body) => {
    row.Tag = 'T-added';
    delete body['asset_tag'];
    delete body['template'];
  },
  several: (row, i) => {
    Object.assign(row, otherCategory(i), { Name: `Several ${i}`, Cost: '5', Room: '', 'Cost Centre': 'CC-several' });
  },
  removed: () => undefined,
  'without a key': (_row, _i, body) => {
    delete body['serial_number'];
  },
  'twice in the service': (row) => {
    row.Name = 'Which of them';
  },
  'twice in the service, not in the file': () => undefined,
  'twice in the file': (row) => {
    row.Cost = '11.10';
  },
  'would lose a value': (row, _i, body) => {
    row.Cost = '12.12';
    body['state_province'] = 'Bayern';
  },
  'would lose a value, nothing to do': (_row, _i, body) => {
    body['state_province'] = 'Bayern';
  },
  'no amount': (row) => {
    row.Cost = 'on request';
  },
  'no date': (row) => {
    row.Start = '31/02/2024';
  },
  'not in the list': (row) => {
    row.Support = 'platinum';
  },
  'unknown reference': (row) => {
    row.Owner = 'Nobody Here';
  },
  'ambiguous reference': (row) => {
    row.Owner = 'Sam Lee';
  },
  'wrong pair': (row) => {
    row.Sub = 'Warp Core';
  },
  'too long': (row) => {
    row.Name = 'x'.repeat(51);
  },
  'no name': (row) => {
    row.Name = '';
  },
};

export interface Erp {
  readonly bodies: readonly string[];
  readonly rows: readonly Cells[];
}

const kindNames = Object.keys(KINDS);

/**
 * `count` records and the file about them. Of every `every` assets each kind befalls one; the others agree. `fresh` rows
 * mean records that are not there.
 */
export function makeErp({ count, every, fresh }: { count: number; every: number; fresh: number }): Erp {
  const bodies: string[] = [];
  const rows: Cells[] = [];
  for (let i = 0; i < count; i++) {
    // The place of a kind moves from round to round, so that it meets every notation and category.
    const kind = kindNames[(i + Math.floor(i / every) * 7) % every];
    const body = record(i);
    const row = cells(i);
    if (kind !== undefined) KINDS[kind]!(row, i, body);
    bodies.push(bodyText(body));
    if (kind?.startsWith('twice in the service')) bodies.push(bodyText({ ...body, name: `Copy of ${i}` }));
    if (kind === 'removed' || kind === 'without a key' || kind === 'twice in the service, not in the file') continue;
    rows.push(row);
    if (kind === 'twice in the file') rows.push({ ...row, Cost: '22.20' });
  }
  for (let n = 0; n < fresh; n++) {
    const row = { ...cells(count + n), Serial: `NEW-${n}` };
    if (n % 3 === 0)
      Object.assign(row, { Tag: '', Salvage: '', 'Contract No': '', Room: '', Notes: '', 'Cost Centre': '' });
    rows.push(row);
  }
  return { bodies, rows };
}

export const fileText = (rows: readonly Cells[]): string =>
  csvText([HEADINGS, ...rows.map((row) => HEADINGS.map((heading) => row[heading]))]);

export const JOB = {
  kind: 'reconcile',
  resource: 'asset',
  source: { dates: ['yyyy-MM-dd', 'dd/MM/yyyy'], decimal: '.' },
  match: { key: 'serial_number', unique_field: 'serial_number' },
  columns: {
    Serial: { field: 'serial_number', required: true },
    Name: { field: 'name', required: true },
    Tag: 'asset_tag',
    Cost: 'original_cost',
    Salvage: 'estimated_salvage_value',
    Start: 'service_start_date',
    Support: 'support_type',
    Depreciation: 'depreciation_schedule',
    Category: 'category.name',
    Sub: 'category.subcategory',
    Owner: 'asset_owner',
    Vendor: 'attached_supplier',
    'Contract No': 'contract',
    Country: 'country',
    Stage: { field: 'lifecycle_stage', values: { 'In Use': 'Deployed', Spare: 'Stock' } },
    'Cost Centre': 'template.Finance.Cost Centre',
    Budget: 'template.Finance.Budget',
    Approved: 'template.Finance.Approved On',
    Room: { field: 'room', blank: 'clear' },
    Notes: 'asset_notes',
    City: 'city',
  },
  compare: {
    fields: [
      'name',
      'asset_tag',
      'original_cost',
      'estimated_salvage_value',
      'service_start_date',
      'support_type',
      'depreciation_schedule',
      'category.name',
      'category.subcategory',
      'asset_owner',
      'attached_supplier',
      'contract',
      'country',
      'lifecycle_stage',
      'template.Finance.Cost Centre',
      'template.Finance.Budget',
      'template.Finance.Approved On',
      'room',
      'asset_notes',
    ],
    authority: { asset_notes: 'service', estimated_salvage_value: 'fill', '*': 'file' },
  },
  scope: { 'category.name': ['Laptop', 'Desktop', 'Server', 'Network'] },
  brakes: { max_updates: '40%', max_cleared: '10%', max_orphans: '10%' },
};
