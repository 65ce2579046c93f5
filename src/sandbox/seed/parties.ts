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
