/** The 300 assets of the demo company, as create bodies in JSON text (amounts to the cent), and two of the archived one. */

interface Kind {
  readonly count: number;
  readonly prefix: string;
  readonly category: number;
  readonly subcategories: readonly string[];
  readonly products: readonly (readonly [manufacturer: string, product: string, model?: number])[];
  readonly price: number;
}

const KINDS: readonly Kind[] = [
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

function assetText(id: number, place: number, kind: Kind): string {
  const [manufacturer, product, model] = kind.products[place % kind.products.length]!;
  const site = SITES[id % SITES.length]!;
  const year = 2021 + (id % 4);
  const bought = `${year}-${two((id % 12) + 1)}-${two((id % 27) + 1)}`;
  const warrantyEnd = `${year + 3}${bought.slice(4)}`;
  const isServer = kind.prefix === 'SV';
  const body: Record<string, unknown> = {
    name: `NW-${kind.prefix}-${String(place).padStart(4, '0')}`,
    serial_number: serialOf(id),
    asset_tag: `TAG-${String(id).padStart(5, '0')}`,
    manufacturer,
    product_description: product,
    ...(model ? { asset_hardware_model: { id: model } } : {}),
    category: { id: kind.category, subcategory: kind.subcategories[place % kind.subcategories.length] },
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
    ...(isServer || (kind.prefix === 'NW' && place % 4 === 0) ? rackForm(id, bought) : {}),
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
  return Array.from({ length: kind.count }, (_, place) => assetText(before + place + 1, place + 1, kind));
});

export const ARCHIVED_ASSETS: readonly object[] = [
  { company: 2, name: 'OLD-0001', serial_number: 'SN-000001', city: 'Portland', country: 840 },
  { company: 2, name: 'OLD-0002', serial_number: 'SN-000002', city: 'Portland', country: 840 },
];
