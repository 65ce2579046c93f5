import { readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import type { Evidence } from '../invariants/evidence.js';

/** What a simulated world imports into. */
export const KINDS = ['supplier', 'asset_guarded', 'asset_open', 'contract', 'contract_naming'] as const;
export type Kind = (typeof KINDS)[number];

/** How a kind is imported, and how its records are read from outside. */
export interface Shape {
  readonly resource: Evidence['resource'];
  readonly keyField: string;
  readonly job: object;
  /** Heading → stored field. */
  readonly columns: Readonly<Record<string, string>>;
  /** Stored fields that the job sets in every row. */
  readonly constants: readonly string[];
  /** Records that are made where no record has the name that a row gives in the field. */
  readonly making?: { readonly resource: 'supplier'; readonly field: string };
  /** Columns after the key, with values for a number. */
  readonly cells: Readonly<Record<string, (n: number) => string>>;
  /** A create body for the door behind the service. */
  body(key: string, n: number): Record<string, unknown>;
  /** A field that no row sets, and others may edit. */
  readonly unmapped: string;
  /** A field that rows set, and others may edit. */
  readonly mapped: string;
}

const CITIES = ['Bern', 'Zürich', 'Łódź', 'Paris', 'Köln', 'São Paulo', 'O’Fallon', 'Aix-en-Provence'];
const city = (n: number) => CITIES[n % CITIES.length] ?? 'Bern';
const amount = (n: number) => `${n % 100_000}.${String(n % 100).padStart(2, '0')}`;
const day = (n: number) => `2024-${String((n % 12) + 1).padStart(2, '0')}-${String((n % 28) + 1).padStart(2, '0')}`;

const asset = (unique: boolean): Shape => ({
  resource: 'asset',
  keyField: 'serial_number',
  job: {
    resource: 'asset',
    match: { key: 'serial_number', ...(unique ? { unique_field: 'serial_number' } : {}) },
    columns: {
      Serial: 'serial_number',
      Item: 'name',
      City: 'city',
      Cost: { field: 'original_cost', decimal: '.' },
      Notes: 'asset_notes',
    },
  },
  columns: { Serial: 'serial_number', Item: 'name', City: 'city', Cost: 'original_cost', Notes: 'asset_notes' },
  constants: [],
  cells: { Item: (n) => `Item ${n}`, City: city, Cost: amount, Notes: (n) => (n % 3 === 0 ? '' : `note ${n}`) },
  body: (key, n) => ({
    serial_number: key,
    name: `Item ${n}`,
    city: city(n),
    original_cost: Number(amount(n)),
    asset_notes: `note ${n}`,
    floor: `floor ${n}`,
    financial_notes: `fin ${n}`,
  }),
  unmapped: 'floor',
  mapped: 'city',
});

/** `naming`: each row names its supplier, which is made where it is not there. */
const contract = (naming: boolean): Shape => {
  const columns = {
    No: 'number',
    Title: 'name',
    Start: 'contract_start_date',
    ...(naming ? { Supplier: 'supplier' } : {}),
    Total: 'total_contract_spend_value',
    Notes: 'description',
  };
  const constants = {
    contract_type: 'buy_side',
    status: 'active',
    country: 'Germany',
    ...(naming ? {} : { supplier: 'The supplier' }),
    contract_end_date: '2031-12-31',
  };
  return {
    resource: 'contract',
    keyField: 'number',
    job: {
      resource: 'contract',
      match: { key: 'number' },
      columns,
      constants,
      source: { dates: ['yyyy-MM-dd'], decimal: '.' },
      ...(naming ? { references: { missing: 'create' } } : {}),
    },
    columns,
    constants: Object.keys(constants),
    ...(naming ? { making: { resource: 'supplier', field: 'supplier' } } : {}),
    cells: {
      Title: (n) => `Contract ${n}`,
      Start: day,
      ...(naming ? { Supplier: (n: number) => `Supplier ${n % 37}` } : {}),
      Total: amount,
      Notes: (n) => (n % 3 === 0 ? '' : `note ${n}`),
    },
    body: (key, n) => ({
      number: key,
      name: `Contract ${n}`,
      contract_type: 'buy_side',
      status: 'active',
      country: 276,
      supplier: 1,
      contract_start_date: day(n),
      contract_end_date: '2031-12-31',
      total_contract_spend_value: Number(amount(n)),
      description: `note ${n}`,
      timeline_notes: `timeline ${n}`,
    }),
    unmapped: 'timeline_notes',
    mapped: 'description',
  };
};

export const SHAPES: Readonly<Record<Kind, Shape>> = {
  supplier: {
    resource: 'supplier',
    keyField: 'name',
    job: {
      resource: 'supplier',
      match: { key: 'name' },
      columns: { Name: 'name', City: 'city', Phone: 'phone', Notes: 'general_description' },
    },
    columns: { Name: 'name', City: 'city', Phone: 'phone', Notes: 'general_description' },
    constants: [],
    cells: { City: city, Phone: (n) => `+41 ${n % 9_999}`, Notes: (n) => (n % 3 === 0 ? '' : `note ${n}`) },
    body: (key, n) => ({
      name: key,
      city: city(n),
      phone: `+41 ${n % 9_999}`,
      general_description: `note ${n}`,
      mobile: `mobile ${n % 999}`,
      website: `https://example.test/${n}`,
    }),
    unmapped: 'mobile',
    mapped: 'city',
  },
  asset_guarded: asset(true),
  asset_open: asset(false),
  contract: contract(false),
  contract_naming: contract(true),
};

/** A file, and the records that are there before it is imported. */
export interface Table {
  readonly csv: string;
  readonly rows: number;
  /** As they are compared. */
  readonly keys: ReadonlySet<string>;
  readonly before: readonly Record<string, unknown>[];
}

/**
 * Rows of every kind: new ones, such that change a record or repeat it, keys given twice, blank keys, cells that are no
 * value, blank cells and blank lines. Among the records are some whose keys differ from those of the file by case, or
 * by what follows.
 */
export function makeTable(shape: Shape, size: number, others: number, random: () => number): Table {
  const headings = Object.keys(shape.columns);
  const [keyHeading = ''] = headings;
  const lines = [headings.join(',')];
  const before: Record<string, unknown>[] = [];
  const keys: string[] = [];
  const quoted = (cell: string) => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  let rows = 0;
  for (let n = 1; n <= size; n++) {
    const key = `K-${n}`;
    const lot = random();
    const cells: Record<string, string> = { [keyHeading]: random() < 0.05 ? `  ${key} ` : key };
    for (const [heading, value] of Object.entries(shape.cells)) cells[heading] = value(n);
    const last = headings[headings.length - 1] ?? '';
    if (lot < 0.25) before.push(shape.body(key, n + 1));
    else if (lot < 0.33) {
      before.push(shape.body(key, n));
      cells[last] = '';
    } else if (lot < 0.39 && keys.length > 0) {
      cells[keyHeading] = keys[Math.floor(random() * keys.length)] ?? key;
    } else if (lot < 0.41) cells[keyHeading] = '';
    else if (lot < 0.45) cells[headings[1] ?? ''] = 'x'.repeat(1_200);
    else if (lot < 0.47) {
      lines.push('');
      continue;
    }
    if (random() < 0.1) cells[headings[2] ?? ''] = '';
    keys.push(key);
    lines.push(headings.map((heading) => quoted(cells[heading] ?? '')).join(','));
    rows++;
  }
  for (let n = 1; n <= others; n++) {
    const near = Math.ceil(random() * size);
    const key = [`Other ${n}`, `k-${near}`, `K-${near}-x${n}`, `AK-${near}`][Math.floor(random() * 4)] ?? `Other ${n}`;
    if (!before.some((body) => body[shape.keyField] === key)) before.push(shape.body(key, n));
  }
  return { csv: `${lines.join('\r\n')}\r\n`, rows, keys: new Set(keys), before };
}

/** A person changes so many cells of a column of a file, if it has so many rows: what by the ids of the records. */
export function changeCells(
  file: string,
  heading: string,
  cells: number,
  random: () => number,
): ReadonlyMap<number, string> {
  const [headings = [], ...rows] = parse(readFileSync(file), { bom: true }) as string[][];
  const [id, column] = [headings.indexOf('id'), headings.indexOf(heading)];
  const mine = new Map<number, string>();
  for (let n = 1; n <= cells && rows.length > 0; n++) {
    const row = rows[Math.floor(random() * rows.length)] ?? [];
    row[column] = `mine ${n}`;
    mine.set(Number(row[id]), `mine ${n}`);
  }
  writeFileSync(file, stringify([headings, ...rows], { record_delimiter: 'windows' }));
  return mine;
}
