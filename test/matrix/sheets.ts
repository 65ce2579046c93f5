import type { Sandbox } from '../../src/sandbox/index.js';

export type ResourceUnderTest = 'asset' | 'contract' | 'supplier';

/** What is imported into one resource, what is there before, and what each row must come to. */
export interface Sheet {
  readonly resource: ResourceUnderTest;
  /** The stored field that is the key. */
  readonly keyField: string;
  readonly rows: readonly (readonly string[])[];
  readonly job: object;
  /** Heading → stored field. */
  readonly columns: Readonly<Record<string, string>>;
  readonly stands: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Whether the service itself refuses a second record with the key: then a create that was not found is sent again. */
  readonly guarded: boolean;
  /** Outcomes, in the order of the rows. */
  readonly outcomes: readonly string[];
  /** Stored fields that no update can say. */
  readonly unsaid: readonly string[];
  /** Puts in what is there before; so many more records make the list long. */
  fill(sandbox: Sandbox, more: number): void;
}

/** The rows of every sheet: what is there already (1 to 4), what is new (5 to 11), and what is not to be written (12 to 14). */
const OUTCOMES = [
  ...['updated', 'unchanged', 'updated', 'updated'],
  ...Array<string>(7).fill('created'),
  ...['duplicate', 'invalid', 'ambiguous'],
];
const HELD = 'at_risk';
const NEW = [5, 6, 7, 8, 9, 10, 11];

const fillers = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));

/** How a sheet's dates come: in answers like 04/03/2027 nobody can tell the day from the month, so late days stand for early ones. */
export type DateOf = (date: string) => string;

/** `guarded`: the service is asked to keep serial numbers free of repeats. */
export function assetSheet(guarded: boolean, date: DateOf): Sheet {
  const row = (
    serial: string,
    name: string,
    more: Partial<Record<'cost' | 'day' | 'notes' | 'category', string>> = {},
  ) => [
    ...[serial, name, more.cost ?? '120.50', 'Germany', more.category ?? 'Server', 'Blade', 'Ben Osei', 'Vendor One'],
    ...[more.day ?? date('2027-03-04'), more.notes ?? '', 'CC-7', 'K-1'],
  ];
  const there = {
    room: 'R1',
    floor: '3rd floor',
    manufacturer: 'Ørsted & Söhne',
    support_start_date: date('2026-12-05'),
    estimated_salvage_value: 99999999999999.5,
    asset_usage_status: 2,
    warranty_type: 'oem',
    currency: { value: 'EUR', symbol: '€' },
    templates: [
      {
        id: 1,
        fields: [
          { id: 2, value: 12.5 },
          { id: 3, value: date('2026-02-03') },
        ],
      },
    ],
    form_template: [{ id: 1, custom_form_data: { Rack: 'A-07', Unit: 12 } }],
  };
  const same = {
    name: 'Two',
    original_cost: 120.5,
    country: 276,
    category: { id: 3, subcategory: 'Blade' },
    asset_owner: 2,
    attached_supplier: 1,
    warranty_end_date: date('2027-03-04'),
    contract: 1,
    templates: [{ id: 1, fields: [{ id: 1, value: 'CC-7' }] }],
  };
  return {
    resource: 'asset',
    guarded,
    unsaid: ['area'],
    keyField: 'serial_number',
    rows: [
      [
        'Serial',
        'Name',
        'Cost',
        'Country',
        'Category',
        'Sub',
        'Owner',
        'Supplier',
        'Until',
        'Notes',
        'Centre',
        'Contract',
      ],
      row('SN-1', 'One', { notes: 'new note' }),
      row('SN-2', 'Two'),
      row('SN-3', 'Three'),
      row('SN-4', 'Four', { cost: '0.10', day: date('2026-12-31') }),
      ...NEW.map((at) => row(`SN-${at}`, `New ${at}`)),
      row('SN-6', 'Once more'),
      row('SN-13', 'Thirteen', { category: 'No such category' }),
      row('SN-14', 'Fourteen'),
      row('SN-15', 'Fifteen'),
    ],
    job: {
      kind: 'import',
      resource: 'asset',
      match: { key: 'serial_number', ...(guarded ? { unique_field: 'serial_number' } : {}) },
      columns: {
        ...{ Serial: 'serial_number', Name: 'name', Cost: 'original_cost', Country: 'country' },
        ...{ Category: 'category.name', Sub: 'category.subcategory', Owner: 'asset_owner' },
        ...{ Supplier: 'attached_supplier', Until: 'warranty_end_date', Contract: 'contract' },
        Notes: 'asset_notes',
        Centre: 'template.Finance.Cost Centre',
      },
      blank: 'clear',
      brakes: { max_invalid: '100%' },
    },
    columns: {
      ...{ Serial: 'serial_number', Name: 'name', Cost: 'original_cost', Country: 'country' },
      ...{ Category: 'category.category', Sub: 'category.subcategory', Owner: 'asset_owner' },
      ...{ Supplier: 'attached_supplier', Until: 'warranty_end_date', Contract: 'contract' },
      ...{ Notes: 'asset_notes', Centre: 'template.1.1' },
    },
    stands: {
      country: { Germany: 276 },
      'category.category': { Server: 3 },
      asset_owner: { 'Ben Osei': 2 },
      attached_supplier: { 'Vendor One': 1 },
      contract: { 'K-1': 1 },
    },
    outcomes: [...OUTCOMES, HELD],
    fill(sandbox, more) {
      sandbox.insert('supplier', [{ name: 'Vendor One' }, { name: 'Vendor One Ltd' }]);
      sandbox.insert('contract', [contract('K-1', date), contract('K-11', date)]);
      sandbox.insert('asset', [
        { name: 'Old', serial_number: 'SN-1', ...there },
        { serial_number: 'SN-2', ...there, ...same },
        { name: 'Old', serial_number: 'SN-3', asset_notes: 'goes', country: 840, ...there },
        { name: 'Four', serial_number: 'SN-4', original_cost: 99999999999999.5, warranty_end_date: date('2026-01-02') },
        // Neighbours that a careless comparison takes for rows 5 and 6.
        ...[
          { name: 'Near', serial_number: 'sn-5' },
          { name: 'Near', serial_number: 'SN-55' },
        ],
        ...[
          { name: 'A', serial_number: 'SN-14' },
          { name: 'B', serial_number: 'SN-14' },
        ],
        // No update can say its area.
        { name: 'Old', serial_number: 'SN-15', area: 'North' },
        ...fillers(more, (at) => ({ name: `Filler ${at}`, serial_number: `F-${at}` })),
      ]);
    },
  };
}

const contract = (number: string, date: DateOf, more: object = {}) => ({
  number,
  name: `Name of ${number}`,
  contract_type: 'buy_side',
  supplier: 1,
  country: 276,
  status: 'active',
  contract_start_date: date('2026-01-02'),
  contract_end_date: date('2027-12-31'),
  total_contract_spend_value: 1000,
  ...more,
});

export function contractSheet(date: DateOf): Sheet {
  const row = (
    number: string,
    name: string,
    more: Partial<Record<'total' | 'end' | 'notes' | 'supplier', string>> = {},
  ) => [
    ...[number, name, 'buy_side', more.supplier ?? 'Vendor One', 'active', 'Germany', date('2026-01-02')],
    ...[more.end ?? date('2027-12-31'), more.total ?? '1000.00', more.notes ?? '', 'PO-9', 'Services'],
  ];
  const there = {
    description: 'carried over',
    mrc: 0.1,
    cost_avoidance_value: 99999999999999.5,
    notice_period: 30,
    payment_terms: 'net_45',
    expenditure_type: { type: 'blended', capex_actual: 400, opex_actual: 600 },
    template: {
      id: 2,
      fields: [
        { id: 12, value: 7.25 },
        { id: 13, value: date('2026-02-03') },
      ],
    },
  };
  const same = {
    name: 'Two',
    category: { id: 9 },
    template: { id: 2, fields: [{ id: 11, value: 'PO-9' }] },
  };
  return {
    resource: 'contract',
    guarded: false,
    unsaid: ['approver', 'form_template'],
    keyField: 'number',
    rows: [
      ['No', 'Title', 'Type', 'Vendor', 'Status', 'Country', 'From', 'To', 'Total', 'Notes', 'PO', 'Category'],
      row('C-1', 'One', { notes: 'new note' }),
      row('C-2', 'Two'),
      row('C-3', 'Three'),
      row('C-4', 'Four', { end: date('2028-02-29') }),
      ...NEW.map((at) => row(`C-${at}`, `New ${at}`)),
      row('C-6', 'Once more'),
      row('C-13', 'Thirteen', { supplier: 'No such supplier' }),
      row('C-14', 'Fourteen'),
      row('C-15', 'Fifteen'),
    ],
    job: {
      kind: 'import',
      resource: 'contract',
      match: { key: 'number' },
      columns: {
        ...{ No: 'number', Title: 'name', Type: 'contract_type', Vendor: 'supplier', Status: 'status' },
        ...{ Country: 'country', From: 'contract_start_date', To: 'contract_end_date' },
        ...{ Total: 'total_contract_spend_value', PO: 'template.Procurement.PO Number', Category: 'category.name' },
        Notes: 'timeline_notes',
      },
      blank: 'clear',
      brakes: { max_invalid: '100%' },
    },
    columns: {
      ...{ No: 'number', Title: 'name', Type: 'contract_type', Vendor: 'supplier', Status: 'status' },
      ...{ Country: 'country', From: 'contract_start_date', To: 'contract_end_date' },
      ...{ Total: 'total_contract_spend_value', PO: 'template.2.11', Category: 'category.category' },
      Notes: 'timeline_notes',
    },
    stands: {
      supplier: { 'Vendor One': 1 },
      country: { Germany: 276 },
      'category.category': { Services: 9 },
    },
    outcomes: [...OUTCOMES, HELD],
    fill(sandbox, more) {
      sandbox.insert('supplier', [{ name: 'Vendor One' }, { name: 'Vendor One Ltd' }]);
      sandbox.insert('contract', [
        contract('C-1', date, there),
        contract('C-2', date, { ...there, ...same }),
        contract('C-3', date, { ...there, country: 840, timeline_notes: 'goes' }),
        contract('C-4', date, { name: 'Four' }),
        ...[contract('c-5', date), contract('C-55', date), contract('C-14', date), contract('C-14', date)],
        // No update can say that it has ended.
        contract('C-15', date, {
          approver: 'Ada Park',
          form_template: [{ id: 2, custom_form_data: { Owner: 'Ben' } }],
        }),
        ...fillers(more, (at) => contract(`F-${at}`, date)),
      ]);
    },
  };
}

export function supplierSheet(date: DateOf): Sheet {
  const row = (name: string, city: string, more: Partial<Record<'day' | 'notes' | 'country', string>> = {}) => [
    ...[name, city, more.country ?? 'Germany', more.day ?? date('2026-03-04'), 'yes', more.notes ?? '', 'Low'],
  ];
  const there = {
    ein: '123456789',
    phone: '+49 30 1234',
    contact_person: { name: 'Zoë', email: 'zoe@example.com', type: 'billing' },
    business_country: 756,
    msa_signed: true,
    msa_signed_date: date('2026-02-03'),
    template: { id: 3, fields: [{ id: 22, value: date('2026-02-03') }] },
  };
  const same = {
    city: 'Bern',
    country: 276,
    nda_signed: true,
    nda_signed_date: date('2026-03-04'),
    template: { id: 3, fields: [{ id: 21, value: 'Low' }] },
  };
  return {
    resource: 'supplier',
    guarded: true,
    unsaid: [],
    keyField: 'name',
    rows: [
      ['Name', 'City', 'Country', 'Signed on', 'Signed', 'Notes', 'Risk'],
      row('Party 1', 'Bonn', { notes: 'new note' }),
      row('Party 2', 'Bern'),
      row('Party 3', 'Bonn'),
      row('Party 4', 'Bonn', { day: date('2026-12-31') }),
      ...NEW.map((at) => row(`Party ${at}`, 'Bonn')),
      row('Party 6', 'Once more'),
      row('Party 13', 'Bonn', { country: 'Nowhereland' }),
    ],
    job: {
      kind: 'import',
      resource: 'supplier',
      match: { key: 'name' },
      columns: {
        ...{ Name: 'name', City: 'city', Country: 'country', 'Signed on': 'nda_signed_date', Signed: 'nda_signed' },
        Notes: 'additional_description',
        Risk: 'template.Compliance.Risk Class',
      },
      blank: 'clear',
      brakes: { max_invalid: '100%' },
    },
    columns: {
      ...{ Name: 'name', City: 'city', Country: 'country', 'Signed on': 'nda_signed_date', Signed: 'nda_signed' },
      ...{ Notes: 'additional_description', Risk: 'template.3.21' },
    },
    stands: { country: { Germany: 276 }, nda_signed: { yes: true } },
    outcomes: OUTCOMES.slice(0, -1),
    fill(sandbox, more) {
      sandbox.insert('supplier', [
        { name: 'Party 1', ...there },
        { name: 'Party 2', ...there, ...same },
        { name: 'Party 3', ...there, country: 840, additional_description: 'goes' },
        { name: 'Party 4', city: 'Bonn' },
        ...[{ name: 'party 5' }, { name: 'Party 55' }],
        ...fillers(more, (at) => ({ name: `Filler ${at}` })),
      ]);
    },
  };
}
