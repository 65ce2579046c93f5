/** Suppliers and customers of the demo company, as create bodies. */

interface Place {
  readonly city: string;
  readonly state?: string;
  readonly country: number;
  readonly zip: string;
  readonly street: string;
}

const PLACES: readonly Place[] = [
  { city: 'Seattle', state: 'Washington', country: 840, zip: '98101', street: '1200 Pike Street' },
  { city: 'München', state: 'Bayern', country: 276, zip: '80331', street: 'Sendlinger Straße 12' },
  { city: 'Kraków', country: 616, zip: '30-001', street: 'ulica Długa 7' },
  { city: '東京', country: 392, zip: '100-0005', street: '丸の内1-4-1' },
  { city: 'São Paulo', state: 'SP', country: 76, zip: '01310-100', street: 'Avenida Paulista 900' },
  { city: 'Toronto', state: 'Ontario', country: 124, zip: 'M5H 2N2', street: '181 Bay Street' },
  { city: 'Lyon', country: 250, zip: '69002', street: '8 rue de la République' },
  { city: 'London', country: 826, zip: 'EC2V 7HR', street: '25 Gresham Street' },
];

/** The first ten are fixed; fixtures refer to them by name and id. */
const SUPPLIER_NAMES = [
  'Acme Computers',
  'Globex Networks',
  'Initech Services',
  'Umbrella Telecom',
  'Stark Industrial',
  'Wayne Facilities',
  'Café Réseau SARL',
  'Hooli Cloud',
  'Vandelay Imports',
  'Wonka Logistics',
  'Soylent Catering',
  'Cyberdyne Systems',
  'Tyrell Robotics',
  'Massive Dynamic',
  'Oscorp Laboratories',
  'Gekko & Partners',
  'Nakatomi Trading',
  'Müller Bürotechnik GmbH',
  '山本電機株式会社',
  'Łódź Data Sp. z o.o.',
  'Ñandú Logística',
  'Aperture Optics',
  'Black Mesa Power',
  'Bluth Construction',
  'Dunder Mifflin Paper',
  'Prestige Worldwide',
  'Sterling Cooper Media',
  'Duff Beverages',
  'Kwik Print',
  'Monarch Security',
  'Octan Energy',
  'Pied Piper Storage',
  'Rekall Archives',
  'Sirius Cabling',
  'Spacely Components',
  'Très Bon Mobilier',
  'Virtucon Software',
  'Weyland Transport',
  'Yoyodyne Propulsion',
  'Zorin Semiconductors',
];

const CONTACTS = ['Nora Lindqvist', 'José Álvarez', 'Priya Nair', 'Tomáš Novák', 'Liam O’Connor'];
const CONTACT_TYPES = ['sales', 'billing', 'account_management', 'support', 'technical', 'executive'];

const plainWord = (name: string, fallback: string): string => {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z]+/g, '');
  return plain || fallback;
};

export const SUPPLIERS: readonly object[] = SUPPLIER_NAMES.map((name, index) => {
  const place = PLACES[index % PLACES.length]!;
  const contact = CONTACTS[index % CONTACTS.length]!;
  const domain = `${plainWord(name, `supplier${index + 1}`)}.example`;
  const isUs = place.country === 840;
  return {
    name,
    category: (index % 10) + 1,
    contact_person: {
      name: contact,
      email: `${plainWord(contact, 'contact')}@${domain}`,
      type: CONTACT_TYPES[index % CONTACT_TYPES.length],
    },
    address_line_1: place.street,
    city: place.city,
    state_province: place.state ?? null,
    zip_postal_code: place.zip,
    country: place.country,
    phone: `+1 555 1${String(index + 1).padStart(3, '0')}`,
    website: `www.${domain}`,
    general_description: index % 4 === 0 ? `Framework supplier; reviewed yearly by ${contact}.` : null,
    nda_signed: index % 2 === 0,
    nda_signed_date: index % 2 === 0 ? `2023-${String((index % 12) + 1).padStart(2, '0')}-15` : null,
    msa_signed: index % 3 === 0,
    msa_signed_date: index % 3 === 0 ? `2023-${String((index % 12) + 1).padStart(2, '0')}-20` : null,
    type: isUs ? 'us' : 'foreign',
    ...(isUs
      ? {
          ein: `12${String(3_456_700 + index)}`,
          business_name: `${name} Inc.`.slice(0, 50),
          business_address_line_1: place.street,
          business_city: place.city,
          business_state_province: place.state,
          business_zip_postal_code: place.zip,
          business_country: place.country,
        }
      : {}),
    ...(index % 5 === 1
      ? {
          template: {
            id: 3,
            fields: [
              { id: 21, value: ['Low', 'Medium', 'High'][index % 3] },
              { id: 22, value: `2024-0${(index % 9) + 1}-01` },
            ],
          },
        }
      : {}),
  };
});

export const CUSTOMERS: readonly object[] = [
  { name: 'Contoso Retail', city: 'Seattle', country: 840, phone: '+1 555 3001' },
  { name: 'Fabrikam Health', city: 'Zürich', country: 756, phone: '+41 44 555 30 02' },
  { name: 'Tailspin Airways', city: 'Reykjavík', country: 352, phone: '+354 555 3003' },
  { name: 'Adventure Works', city: 'Boulder', country: 840, phone: '+1 555 3004', nda_signed: true },
];

/** The archived company's one supplier. */
export const ARCHIVED_SUPPLIER = { company: 2, name: 'Northwind Legacy Supply', city: 'Portland', country: 840 };

/** Contracts of the demo company, as create bodies: C-1001 to C-1060, and a second C-1050. */

const SUBJECTS = [
  { subject: 'Laptop leasing', category: 1, subcategory: 'Business' },
  { subject: 'Network maintenance', category: 4, subcategory: 'Switch' },
  { subject: 'Helpdesk services', category: 9, subcategory: 'Consulting' },
  { subject: 'Mobile telephony', category: 9, subcategory: 'Telecom' },
  { subject: 'Server maintenance', category: 3, subcategory: 'Rack' },
  { subject: 'Building services', category: 10, subcategory: null },
  { subject: 'Réseau étendu', category: 4, subcategory: 'Router' },
  { subject: 'Cloud subscription', category: 8, subcategory: 'Subscription' },
  { subject: 'Spare parts', category: 2, subcategory: 'Workstation' },
  { subject: 'Freight and logistics', category: 9, subcategory: 'Maintenance' },
];

/** Every sixth is not active: updates accept only active and archived. */
const RARE_STATUSES = ['expired', 'draft', 'archived', 'terminated', 'suspended', 'cancelled'];

const COUNTRIES = [840, 276, 250, 392, 76, 124, 616, 826];

/** Amounts are JSON numbers as text, to the cent. */
function amounts(number: number): string {
  const total = 12_000 + number * 1_250;
  const parts = [
    `"total_contract_spend_value":${total}.50`,
    `"mrc":${(total / 50).toFixed(2)}`,
    `"nrc":${(number % 4) * 100}.25`,
  ];
  if (number % 7 === 0) {
    parts.push(
      `"expenditure_type":{"type":"blended","capex_actual":${total - 2_000}.25,"opex_actual":2000.25}`,
      `"first_offer_value":${total + 1_500}.00`,
    );
  } else if (number % 5 === 0) parts.push(`"expenditure_type":{"type":"opex","opex_actual":${total}.50}`);
  return parts.join(',');
}

function contractText(number: number, id: string, variant = ''): string {
  const { subject, category, subcategory } = SUBJECTS[number % SUBJECTS.length]!;
  const sellSide = number % 12 === 4;
  const year = 2022 + (number % 3);
  const month = String((number % 12) + 1).padStart(2, '0');
  const body: Record<string, unknown> = {
    contract_type: sellSide ? 'sell_side' : 'buy_side',
    name: `${subject} ${id}${variant}`,
    number: id,
    ...(sellSide ? { customer: (number % 4) + 1 } : { supplier: ((number - 1) % 20) + 1 }),
    // C-1001 is the frame under which a few others stand.
    ...(number >= 2 && number <= 6 ? { parent_contract: 1 } : {}),
    country: COUNTRIES[number % COUNTRIES.length],
    status: number % 6 === 0 ? RARE_STATUSES[(number / 6 - 1) % RARE_STATUSES.length] : 'active',
    category: { id: category, subcategory },
    description: number % 3 === 0 ? `${subject} – renewed every three years; contact: Zoë Müller` : null,
    business_unit: (number % 4) + 1,
    contract_start_date: `${year}-${month}-01`,
    contract_end_date: `${year + 3}-${month}-01`,
    service_start_date: `${year}-${month}-15`,
    notice_period: 30 + (number % 3) * 30,
    end_of_term_clause: number % 2 === 0 ? 'auto_renewed' : 'auto_expires',
    end_of_term_action: number % 2 === 0 ? 'renegotiate' : 'allow_expiration',
    payment_terms: ['net_30', 'net_45', 'net_60', 'custom'][number % 4],
    financing: ['self_paid', 'leased', 'financed'][number % 3],
    ...(number % 10 === 9
      ? {
          alert: {
            is_active: true,
            alert_days_before: 60,
            type: 'notice_date',
            email_message: `Notice for ${id} is due`,
            email_list: ['ada.park@northwind.example', 'elena.rossi@northwind.example'],
          },
        }
      : {}),
    ...(number % 15 === 11 ? { approver: 'Ada Park', signer: 'Elena Rossi', signed_date: `${year}-${month}-01` } : {}),
    ...(number % 4 === 1
      ? {
          template: {
            id: 2,
            fields: [
              { id: 11, value: `PO-${20_000 + number}` },
              { id: 12, value: 250 * number },
              { id: 13, value: `${year}-${month}-20` },
              { id: 14, value: (number % 5) + 1 },
            ],
          },
        }
      : {}),
  };
  return `{${amounts(number)},${JSON.stringify(body).slice(1)}`;
}

export const CONTRACTS: readonly string[] = [
  ...Array.from({ length: 60 }, (_, index) => contractText(index + 1, `C-${1001 + index}`)),
  contractText(50, 'C-1050', ' (second copy)'),
];

/** Refers to the archived company's supplier by the id it gets. */
export const archivedContract = (supplier: number): object => ({
  company: 2,
  contract_type: 'buy_side',
  name: 'Legacy hosting',
  number: 'A-0001',
  supplier,
  country: 840,
  status: 'archived',
  contract_start_date: '2015-01-01',
  contract_end_date: '2018-01-01',
  total_contract_spend_value: 4800,
});

/** The 300 assets of the demo company, as create bodies in JSON text (amounts to the cent), and two of the archived one. */

interface AssetKind {
  readonly count: number;
  readonly prefix: string;
  readonly category: number;
  readonly subcategories: readonly string[];
  readonly products: readonly (readonly [manufacturer: string, product: string, model?: number])[];
  readonly price: number;
}

const KINDS: readonly AssetKind[] = [
  {
    count: 120,
    prefix: 'LT',
    category: 1,
    subcategories: ['Business', 'Engineering', 'Rugged'],
    products: [
      ['Dell', 'Latitude 5450', 1],
      ['Lenovo', 'ThinkPad T14', 2],
      ['HP', 'EliteBook 840'],
    ],
    price: 1_199,
  },
  {
    count: 40,
    prefix: 'DT',
    category: 2,
    subcategories: ['Office', 'Workstation'],
    products: [
      ['Dell', 'OptiPlex 7010'],
      ['Fujitsu', 'Esprimo D7012'],
    ],
    price: 899,
  },
  {
    count: 30,
    prefix: 'SV',
    category: 3,
    subcategories: ['Rack', 'Blade', 'Tower'],
    products: [
      ['Dell', 'PowerEdge R660', 3],
      ['HPE', 'ProLiant DL360'],
    ],
    price: 8_450,
  },
  {
    count: 40,
    prefix: 'NW',
    category: 4,
    subcategories: ['Switch', 'Router', 'Firewall', 'Access Point'],
    products: [
      ['Cisco', 'Catalyst 9300', 4],
      ['Juniper', 'EX4300'],
    ],
    price: 3_120,
  },
  {
    count: 30,
    prefix: 'MN',
    category: 5,
    subcategories: ['Standard', 'Wide'],
    products: [['Dell', 'UltraSharp U2724D']],
    price: 389,
  },
  {
    count: 30,
    prefix: 'PH',
    category: 6,
    subcategories: ['Smartphone', 'Desk Phone'],
    products: [
      ['Apple', 'iPhone 15'],
      ['Yealink', 'T54W'],
    ],
    price: 640,
  },
  {
    count: 10,
    prefix: 'PR',
    category: 7,
    subcategories: ['Laser', 'Label'],
    products: [['Brother', 'HL-L6400DW']],
    price: 420,
  },
];

const SITES = [
  {
    address: '1200 Pike Street',
    city: 'Seattle',
    country: 840,
    zip: '98101',
    area: 'North campus',
    state: 'Washington',
  },
  { address: 'Sendlinger Straße 12', city: 'München', country: 276, zip: '80331', area: 'Altstadt', state: 'Bayern' },
  { address: '8 rue de la République', city: 'Lyon', country: 250, zip: '69002', area: 'Presqu’île', state: 'Rhône' },
  { address: '丸の内1-4-1', city: '東京', country: 392, zip: '100-0005', area: '丸の内', state: '東京都' },
];

const STAGES = ['Deployed', 'Stock', 'Deployed', 'Retired', 'Deployed'];

const two = (value: number): string => String(value).padStart(2, '0');

/** Ids 281 to 288 have serial numbers that a spreadsheet would take for numbers; 299 and 300 share theirs. */
function serialOf(id: number): string {
  if (id >= 299) return 'SN-DUPLICATE';
  if (id >= 281 && id <= 288) return `000${12_345 + id - 281}`;
  return `SN-${100_000 + id}`;
}

function assetText(id: number, ordinal: number, kind: AssetKind): string {
  const [manufacturer, product, model] = kind.products[ordinal % kind.products.length]!;
  const site = SITES[id % SITES.length]!;
  const year = 2021 + (id % 4);
  const bought = `${year}-${two((id % 12) + 1)}-${two((id % 27) + 1)}`;
  const warrantyEnd = `${year + 3}${bought.slice(4)}`;
  const isServer = kind.prefix === 'SV';
  const body: Record<string, unknown> = {
    name: `NW-${kind.prefix}-${String(ordinal).padStart(4, '0')}`,
    serial_number: serialOf(id),
    asset_tag: `TAG-${String(id).padStart(5, '0')}`,
    manufacturer,
    product_description: product,
    ...(model ? { asset_hardware_model: { id: model } } : {}),
    category: { id: kind.category, subcategory: kind.subcategories[ordinal % kind.subcategories.length] },
    lifecycle_stage: STAGES[id % STAGES.length],
    asset_owner: (id % 8) + 1,
    business_unit: (id % 4) + 1,
    attached_supplier: (id % 10) + 1,
    ...(id % 6 === 0 ? { contract: (id % 40) + 1 } : {}),
    ...(id % 50 === 0 ? { customer: (id % 4) + 1 } : {}),
    address: site.address,
    city: site.city,
    country: site.country,
    zip_code: site.zip,
    bldg_name: isServer ? 'Data centre 1' : null,
    floor: String(id % 9),
    room: `R${100 + (id % 60)}`,
    warranty_status: year >= 2023 ? 'within_warranty' : 'out_of_warranty',
    warranty_type: ['oem', 'none', 'oem_extended', 'third_party'][id % 4],
    warranty_start_date: bought,
    warranty_end_date: warrantyEnd,
    ...(isServer ? { support_type: 'oem', support_status: 'within_support', support_provider: 3 } : {}),
    ...(isServer ? { support_start_date: bought, support_end_date: `${year + 5}${bought.slice(4)}` } : {}),
    service_start_date: bought,
    depreciation_schedule: '3_year_33_percent',
    // "In repair" cannot be said in an update; so a few records cannot be carried over whole.
    asset_usage_status: id % 45 === 20 ? 5 : (id % 3) + 1,
    asset_notes: id % 20 === 5 ? 'Prêté à l’équipe mobile; “handle with care”' : null,
    currency: id % 4 === 0 ? { value: 'US Dollar', symbol: '$' } : null,
    // No update body lists these two.
    ...(id % 40 === 25 ? { state_province: site.state, area: site.area } : {}),
    ...(id % 9 === 3 && !isServer ? financeFields(id, bought) : {}),
    ...(isServer || (kind.prefix === 'NW' && ordinal % 4 === 0) ? rackForm(id, bought) : {}),
  };
  const cost = kind.price + (id % 17) * 10;
  return `{"original_cost":${cost}.90,"estimated_salvage_value":${Math.round(cost / 10)}.00,${JSON.stringify(body).slice(1)}`;
}

const financeFields = (id: number, bought: string) => ({
  templates: [
    {
      id: 1,
      fields: [
        { id: 1, value: `CC-${4_000 + (id % 12)}` },
        { id: 2, value: 1_500 + id },
        { id: 3, value: bought },
        { id: 4, value: (id % 6) + 1 },
      ],
    },
  ],
});

const rackForm = (id: number, bought: string) => ({
  form_template: [
    {
      id: 1,
      custom_form_data: {
        Rack: `DC1-${String.fromCharCode(65 + (id % 6))}${two((id % 12) + 1)}`,
        Unit: (id % 40) + 1,
        'Power Draw': 350 + (id % 10) * 25,
        Installed: bought,
      },
    },
  ],
});

export const ASSETS: readonly string[] = KINDS.flatMap((kind, index) => {
  const before = KINDS.slice(0, index).reduce((sum, one) => sum + one.count, 0);
  return Array.from({ length: kind.count }, (_, ordinal) => assetText(before + ordinal + 1, ordinal + 1, kind));
});

export const ARCHIVED_ASSETS: readonly object[] = [
  { company: 2, name: 'OLD-0001', serial_number: 'SN-000001', city: 'Portland', country: 840 },
  { company: 2, name: 'OLD-0002', serial_number: 'SN-000002', city: 'Portland', country: 840 },
];
