import { describe, expect, it } from 'vitest';
import { resourceSpec } from '../../src/resources/registry.js';
import type { ResourceName } from '../../src/resources/spec.js';
import { candidates, phraseBook } from '../../src/suggest/assign.js';
import { likelyResource } from '../../src/suggest/suggest.js';
import { wordsOf } from '../../src/suggest/words.js';
import { suggested } from './suggested.js';

const HIGH = 0.88;
const LIKELY = 0.7;

function best(resource: ResourceName, heading: string) {
  return candidates(phraseBook(resourceSpec(resource)), heading)[0];
}

/** Headings that mean the field for certain. */
const CERTAIN: Readonly<Record<ResourceName, Readonly<Record<string, readonly string[]>>>> = {
  asset: {
    name: [
      'Name',
      'Asset Name',
      'asset_name',
      'ITEM NAME',
      'item_name',
      'itemName',
      'Item',
      'Hostname',
      'Bezeichnung',
      'Désignation',
      'Designação',
      'Geraetename',
      'Nombre',
    ],
    serial_number: [
      'Serial No',
      'Serial No.',
      'Serial #',
      'S/N',
      'SN',
      'serialNumber',
      'SERIALNUMBER',
      'Ser. Nr.',
      'Seriennummer',
      'N° de série',
      'Número de serie',
      'Asset Serial Number',
      'Service Tag',
    ],
    asset_tag: ['Asset Tag', 'Tag', 'Property Tag', 'Barcode', 'Inventarnummer', 'Tag No'],
    manufacturer: ['Mfr', 'Manufacturer', 'Mfg.', 'Hersteller', 'Fabricant', 'Fabricante', 'Brand'],
    original_cost: [
      'Purchase Cost',
      'purchase_price',
      'Acquisition Cost',
      'Cost',
      'Anschaffungskosten',
      "Prix d'achat",
      'Precio de compra',
      'Unit Cost (USD)',
    ],
    'category.name': ['Category', 'Cat.', 'Asset Category', 'Kategorie', 'Catégorie', 'Categoría'],
    'category.subcategory': ['Subcategory', 'Sub-Category', 'Subcat', 'Unterkategorie'],
    attached_supplier: ['Supplier', 'Vendor Name', 'Lieferant', 'Fournisseur', 'Proveedor', 'Fornitore', 'Leverancier'],
    asset_owner: ['Owner', 'Asset Owner', 'Custodian', 'Verantwortlicher'],
    warranty_end_date: [
      'Warranty End',
      'Warranty End Date',
      'Warranty Expiry',
      'Warranty Exp. Date',
      'Warranty Until',
      'Garantieende',
      'Garantieablaufdatum',
      'Fin de garantie',
      'Einde garantie',
      'Scadenza garanzia',
    ],
    service_start_date: ['In Service', 'In Service Date', 'Inbetriebnahme', 'Mise en service'],
    zip_code: ['ZIP', 'Zip Code', 'Postcode', 'Post Code', 'PLZ', 'Code postal'],
    bldg_name: ['Bldg', 'Building', 'Building Name', 'Gebäude', 'Bâtiment', 'Edificio'],
    street: ['Street', 'Straße', 'Strasse', 'Str.', 'Calle'],
    end_of_life_date: ['EOL', 'EOL Date', 'End of Life'],
    asset_notes: ['Notes', 'Remarks', 'Comments', 'Bemerkungen', 'Observaciones'],
    contract: ['Contract', 'Contract No', 'Contract #', 'Vertragsnummer'],
    mac_address: ['MAC', 'MAC Address', 'MAC-Adresse'],
    estimated_salvage_value: ['Residual', 'Restwert', 'Valor residual'],
    support_end_date: ['Support expires'],
  },
  contract: {
    number: [
      'Contract No',
      'Contract Number',
      'CONTRACT NO.',
      'Agreement ID',
      'Vertrags-Nr.',
      'Numéro de contrat',
      'Nº contrato',
    ],
    name: ['Contract Name', 'Title', 'Contract', 'Vertragsbezeichnung', 'Intitulé'],
    supplier: ['Vendor Name', 'VENDOR', 'Supplier', 'Contractor', 'Lieferant', 'Nom du fournisseur'],
    contract_start_date: [
      'Start Date',
      'Start',
      'startDate',
      'CONTRACT START DATE ',
      'Effective Date',
      'Commencement',
      'Vertragsbeginn',
      'Date de début',
      'Fecha de inicio',
      'Start Dt',
    ],
    contract_end_date: [
      'End Date',
      'Expiry',
      'Expiration Date',
      'Exp. Date',
      'Laufzeit bis',
      'Date de fin',
      'Fecha fin',
    ],
    total_contract_spend_value: [
      'Total Contract Value',
      'TCV',
      'Contract Amt',
      'Total Amount',
      'Auftragswert',
      'Montant total',
      'Importe total',
    ],
    notice_period: ['Notice (days)', 'Notice Period', 'Kündigungsfrist', 'Préavis'],
    payment_terms: ['Payment Terms', 'Zahlungsbedingungen', 'Conditions de paiement'],
    parent_contract: ['Parent No', 'Master Agreement', 'Rahmenvertrag'],
    mrc: ['MRC', 'Monthly Cost', 'Monatliche Kosten'],
    signer: ['Signed By', 'Signatory'],
    signed_date: ['Signed On', 'Date Signed', 'Data stipula'],
    cost_avoidance_value: ['Savings vs First Quote', 'Einsparung'],
    nrc: ['Einmalige Kosten', 'One-time cost'],
    description: ['Description', 'Award Description'],
  },
  supplier: {
    name: [
      'Supplier',
      'Supplier name',
      'Vendor',
      'VendorName',
      'Company',
      'Company Name',
      'Name of supplier',
      'Firma',
      'Raison sociale',
      'Razón social',
    ],
    address_line_1: [
      'Address',
      'Addr 1',
      'Address1',
      'Address Line 1',
      'Street Address',
      'Anschrift',
      'Adresse',
      'Dirección',
      'Vendor Address',
    ],
    address_line_2: ['Address 2', 'Address Line 2', 'Adresszusatz'],
    city: ['Town', 'City', 'Vendor City', 'Ort', 'Ville', 'Ciudad'],
    zip_postal_code: ['PostCode', 'Postal code', 'PLZ', 'Zip', 'Code postal', 'Código postal'],
    phone: ['Phone', 'Tel', 'Tel.', 'Telephone No', 'Phone Number', 'Telefon', 'Téléphone', 'Teléfono'],
    'contact_person.email': [
      'E-mail',
      'Email',
      'eMail',
      'Email Address',
      'Contact e-mail',
      'Correo electrónico',
      'Courriel',
    ],
    'contact_person.name': ['Contact Name', 'Contact Person', 'Ansprechpartner'],
    website: ['Website', 'URL', 'Web', 'Homepage', 'Sitio web'],
    ein: ['EIN', 'FEIN', 'Employer Identification Number'],
    nda_signed: ['Non-disclosure agreement signed', 'Geheimhaltung unterzeichnet'],
    msa_signed_date: ['Master Agreement Date'],
    country: [
      'Country/Region',
      'Country',
      'Land',
      'Pays',
      'País',
      'Country Code',
      'Supplier Country',
      'country_id/name',
    ],
  },
  customer: {
    name: ['CustomerName', 'Customer', 'Client Name', 'Kunde', 'Account Name', 'Organisation'],
    nda_signed: ['NDA', 'NDA signed'],
    nda_signed_date: ['NDA signed on', 'NDA date'],
    mobile: ['Mobile', 'Cell Phone', 'Handy'],
    city: ['Customer City', 'Town/City'],
  },
};

/** Headings that are likely to mean it: mapped, and marked. */
const LIKELY_ONES: readonly (readonly [ResourceName, string, string])[] = [
  ['asset', 'Vehicle Type', 'category.name'],
  ['asset', 'Resource State', 'lifecycle_stage'],
  ['asset', 'Cap.date', 'service_start_date'],
  ['contract', 'period_of_performance_start_date', 'contract_start_date'],
  ['asset', 'Facility Location', 'location_description'],
  ['contract', 'Engagement End Date', 'contract_end_date'],
  ['supplier', 'Fulfillment Address City', 'city'],
  ['asset', 'Status', 'lifecycle_stage'],
  ['asset', 'Model', 'product_description'],
  ['asset', 'Asset No', 'asset_tag'],
  ['contract', 'Project Name', 'name'],
  ['contract', 'uniqueId', 'number'],
  ['contract', 'Amount', 'total_contract_spend_value'],
  ['customer', 'County', 'state_province'],
  ['customer', 'Default Address City', 'city'],
  ['supplier', 'POPostalCode', 'zip_postal_code'],
  ['asset', 'Hersteller / Firma', 'manufacturer'],
  ['contract', 'Term Start Date', 'contract_start_date'],
  ['contract', 'Órgão contratante', 'business_unit'],
  ['contract', 'country_of_vendor', 'country'],
  ['contract', 'Total/Monat', 'mrc'],
  ['supplier', "Corps d'état", 'category.name'],
  ['contract', 'Target Value', 'total_contract_spend_value'],
  ['contract', 'Área responsable', 'business_unit'],
  ['asset', 'Repair Notes', 'asset_notes'],
  ['asset', 'Herausgegeben an', 'asset_owner'],
  ['asset', 'Campus Address', 'address'],
  ['supplier', 'Remit To Address', 'address_line_1'],
  ['supplier', 'Registered Office', 'address_line_1'],
];

/** Headings that say too little, or another thing: never mapped by themselves. */
const DOUBTFUL: readonly (readonly [ResourceName, string])[] = [
  ['contract', 'Trial End Date'],
  ['asset', 'Calibration Vendor'],
  ['supplier', 'DUNS number'],
  ['supplier', 'City / State'],
  ['asset', 'Serial Numbr'],
  ['contract', 'Contact'],
  ['supplier', 'Tax ID'],
  ['supplier', 'Registration number'],
  ['supplier', 'Number of phones'],
  ['supplier', 'No. of contacts'],
  ['supplier', 'Category Manager Email Domain'],
  ['supplier', 'Previous Name'],
  ['supplier', 'ID'],
  ['asset', 'Code'],
  ['asset', 'ID'],
  ['asset', 'Number'],
  ['asset', 'Qty'],
  ['asset', 'Total Cost'],
  ['asset', 'Parent Name'],
  ['asset', 'Date'],
  ['asset', 'Amount'],
  ['asset', 'Current Value'],
  ['asset', 'Nota Fiscal'],
  ['supplier', 'Bonding Capacity'],
  ['asset', 'toString'],
  ['contract', 'Estimated Completion Date'],
  ['contract', 'Date'],
  ['contract', 'Planned Start Date'],
  ['contract', 'Vendor Phone'],
  ['contract', 'CIF adjudicatario'],
  ['contract', 'Gestor do contrato'],
  ['contract', 'Total HT/an'],
  ['contract', '# Licences'],
  ['asset', 'Purchased'],
  ['asset', 'Amortissement cumulé'],
  ['contract', 'Previous Contract Number'],
  ['customer', 'Active'],
  ['customer', 'constructor'],
];

describe('headings', () => {
  const certain = Object.entries(CERTAIN).flatMap(([resource, fields]) =>
    Object.entries(fields).flatMap(([field, headings]) =>
      headings.map((heading) => [resource as ResourceName, heading, field] as const),
    ),
  );
  it.each(certain)('%s: "%s" is %s', (resource, heading, field) => {
    const found = best(resource, heading);
    expect(found?.field.name).toBe(field);
    expect(found?.score).toBeGreaterThanOrEqual(HIGH);
  });

  it.each(LIKELY_ONES)('%s: "%s" is likely %s', (resource, heading, field) => {
    const found = best(resource, heading);
    expect(found?.field.name).toBe(field);
    expect(found?.score).toBeGreaterThanOrEqual(LIKELY);
    expect(found?.score).toBeLessThan(HIGH);
  });

  it.each(DOUBTFUL)('%s: "%s" is not certain enough', (resource, heading) => {
    expect(best(resource, heading)?.score ?? 0).toBeLessThan(LIKELY);
  });

  it('a name beside a company is that of its contact', async () => {
    const { fields } = await suggested(
      'customer',
      'Nom,Email,Entreprise\nAnn Lee,ann@a.example,Acme\nBo Ray,bo@b.example,Bolt\n',
    );
    expect(fields).toEqual({ Nom: 'contact_person.name', Email: 'contact_person.email', Entreprise: 'name' });
  });

  it('a contact name beside first and last names is the company, where nothing else is', async () => {
    const sheet = (first: string) =>
      `${first}ContactName,EmailAddress,FirstName,LastName\n${first && 'Acme Ltd,'}Acme,ann@a.example,Ann,Lee\n`;
    expect((await suggested('supplier', sheet(''))).fields).toMatchObject({ ContactName: 'name' });
    expect((await suggested('supplier', sheet('Company,'))).fields).toMatchObject({ Company: 'name' });
  });

  it('a buyer beside the supplier of a contract is the company itself', async () => {
    const beside = await suggested('contract', 'Contract No,Title,Vendor,Buyer\nC-1,Lifts,Acme,Town\n');
    expect(beside.fields).toMatchObject({ Vendor: 'supplier', Buyer: '~' });
    expect((await suggested('contract', 'Contract No,Title,Buyer\nC-1,Lifts,Town\n')).fields).toMatchObject({
      Buyer: 'customer',
    });
  });

  it('a type that is nearly always a model is no category', async () => {
    const sheet = (types: string[]) => `Serial,Typ\n${types.map((type, at) => `S${at},${type}`).join('\n')}\n`;
    expect((await suggested('asset', sheet(['Notebook', 'Monitor', 'Notebook']))).fields['Typ']).toBe('category.name');
    expect((await suggested('asset', sheet(['T480', 'X1 G9', 'P2419H']))).fields['Typ']).toBe('~');
  });

  it('what every record needs goes to the one column that may be it', async () => {
    const head = 'Contract No,Title,Vendor,Start,';
    const row = 'C-17,Lifts,Acme,2024-01-31,';
    const alone = await suggested('contract', `${head}Renewal Date\n${row}2026-01-31\n`);
    expect(alone.column('Renewal Date')).toMatchObject({ field: 'contract_end_date', confidence: 'medium' });
    const beside = await suggested('contract', `${head}Renewal Date,End\n${row}2026-01-31,2026-02-28\n`);
    expect(beside.fields).toMatchObject({ 'Renewal Date': '~', End: 'contract_end_date' });
  });

  it('names every field that can be written by its own name and label', () => {
    for (const resource of ['asset', 'contract', 'supplier', 'customer'] as const) {
      for (const field of resourceSpec(resource).fields) {
        if (field.derived || (field.create === undefined && field.update === undefined)) continue;
        expect(best(resource, field.name)?.field.name).toBe(field.name);
        expect(best(resource, field.label)?.field.name, `label ${field.label}`).toBe(field.name);
      }
    }
  });

  it('takes hostile headings without delay', () => {
    const start = performance.now();
    for (const heading of [
      'a '.repeat(20_000),
      '('.repeat(20_000),
      'ß'.repeat(20_000),
      '\u0000\ud800',
      '# of # of # of',
      '💥',
    ])
      candidates(phraseBook(resourceSpec('asset')), heading);
    expect(performance.now() - start).toBeLessThan(2_000);
  });
});

describe('words', () => {
  it.each([
    ['Vendor Name', 'name supplier'],
    ['vendorNAME', 'name supplier'],
    ['VENDOR_NAME (legal)', 'name supplier'],
    ['Date of payment', 'date payment'],
    ['Address1', '1 address'],
    ['Contract #', 'contract number'],
    ['# of seats', 'quantity seat'],
    ['Straße', 'street'],
    ['Prix d’achat', 'price purchase'],
  ])('%s → %s', (heading, words) => {
    expect(wordsOf(heading).words.join(' ')).toBe(words);
  });

  it('keeps what stands in brackets apart', () => {
    expect(wordsOf('Notice (months)').bracketed).toEqual(['month']);
  });
});

describe('what a table seems to hold', () => {
  const PLACE = ['Address', 'City', 'Post Code', 'Country'];
  it.each([
    ['supplier', ['Supplier Name', 'Trading Name', 'Contact', 'Email', ...PLACE], 'export.xlsx', 'Sheet1'],
    ['supplier', ['Name', ...PLACE], 'list.xlsx', 'RM6232 Suppliers Details'],
    ['supplier', ['Factory Name', ...PLACE], 'apparel-facilities.csv', ''],
    ['customer', ['Name', ...PLACE], 'Kunden 2026.csv', ''],
    ['customer', ['Client name', 'Contact', ...PLACE], 'a.csv', ''],
    ['asset', ['Item', 'Serial No', 'Supplier', 'Location', 'Purchase Price'], 'a.csv', 'Suppliers'],
    ['asset', ['a', 'b'], 'a.csv', ''],
    ['contract', ['Contract No', 'Supplier', 'Start Date', 'End Date', 'Total value'], 'a.csv', ''],
    ['contract', ['Vertragsnummer', 'Lieferant', 'Beginn', 'Ende'], 'a.csv', ''],
  ] as const)('%s: %j in %j, %j', (resource, headings, file, sheet) => {
    expect(likelyResource(headings, [file, sheet])).toBe(resource);
  });
});
