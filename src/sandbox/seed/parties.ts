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
