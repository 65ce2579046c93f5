import { describe, expect, it } from 'vitest';
import { beside, suggested } from './suggested.js';

const range = <T>(count: number, make: (at: number) => T) => Array.from({ length: count }, (_, at) => make(at));

describe('values never make a field of a column by themselves', () => {
  it('nine digits are no EIN', async () => {
    const digits = range(12, (at) => 150483782 + at * 7919);
    for (const heading of ['DUNS number', 'DUNS', 'Registration', 'Code', 'Tax number', 'Company number']) {
      const { column, job } = await suggested('supplier', beside('Supplier', heading, digits));
      expect(column(heading).field).toBeUndefined();
      expect(job).not.toMatch(/^[^#]*: ein\b/m);
    }
  });

  it('an EIN is one where the heading says so, and its length is counted', async () => {
    const good = await suggested(
      'supplier',
      beside(
        'Supplier',
        'EIN',
        range(9, (at) => 123456780 + at),
      ),
    );
    expect(good.column('EIN')).toMatchObject({ field: 'ein', confidence: 'high' });
    const dashed = await suggested(
      'supplier',
      beside(
        'Supplier',
        'EIN',
        range(9, (at) => `12-345678${at}`),
      ),
    );
    expect(dashed.column('EIN').field).toBeUndefined();
    expect(dashed.column('EIN').why).toContain('none of 9 values have the 9 characters of ein');
  });

  it('a unique code is no serial number, a column of numbers no cost', async () => {
    const table = [
      ['Name', 'Code', 'Ref', 'Figure'],
      ...range(10, (at) => [`Press ${at}`, `ZX-${1000 + at}`, `R${at}`, `${at}99.50`]),
    ];
    const { fields } = await suggested('asset', table);
    expect(fields).toEqual({ Name: 'name', Code: '~', Ref: '~', Figure: '~' });
  });

  it('numbers that would be taken as ids of the service are no category', async () => {
    const { column } = await suggested(
      'asset',
      beside(
        'Name',
        'Category',
        range(10, (at) => 10 + (at % 3)),
      ),
    );
    expect(column('Category').field).toBeUndefined();
    expect(column('Category').why).toContain('taken as ids of the service');
    const named = await suggested(
      'asset',
      beside(
        'Name',
        'Category',
        range(10, () => 'Laptop'),
      ),
    );
    expect(named.column('Category')).toMatchObject({ field: 'category.name', confidence: 'high' });
  });

  it('a phone number is no number, and a number no phone', async () => {
    const phones = range(8, (at) => `+44 20 7946 00${10 + at}`);
    const { column } = await suggested('supplier', beside('Supplier', 'Phone', phones));
    expect(column('Phone')).toMatchObject({ field: 'phone', confidence: 'high' });
    const counts = await suggested(
      'supplier',
      beside(
        'Supplier',
        'Number of phones',
        range(8, (at) => at * 7 + 3),
      ),
    );
    expect(counts.column('Number of phones').field).toBeUndefined();
  });

  it('amounts in another unit are refused by the heading', async () => {
    for (const heading of ['Cost (000s)', 'Cost (k)', 'Cost in thousands', 'Cost (EUR million)', 'Cost %']) {
      const { column } = await suggested(
        'asset',
        beside(
          'Name',
          heading,
          range(6, (at) => `${at}12`),
        ),
      );
      expect(column(heading).field, heading).toBeUndefined();
    }
    const months = await suggested(
      'contract',
      beside(
        'Title',
        'Notice (months)',
        range(6, () => 3),
      ),
    );
    expect(months.column('Notice (months)').why).toContain('in another unit');
    const days = await suggested(
      'contract',
      beside(
        'Title',
        'Notice (days)',
        range(6, () => 30),
      ),
    );
    expect(days.column('Notice (days)').field).toBe('notice_period');
  });
});

describe('values choose between what a heading may mean, and lower a guess', () => {
  it('Contact is a name or an address', async () => {
    const names = range(6, (at) => ['Ann Moss', 'Lee Park', 'Jo Grant'][at % 3]!);
    const emails = range(6, (at) => `person${at}@example.com`);
    const { fields } = await suggested('supplier', [
      ['Supplier', 'Contact', 'Mail'],
      ...range(6, (at) => [`S${at} Ltd`, names[at]!, emails[at]!]),
    ]);
    expect(fields).toEqual({ Supplier: 'name', Contact: 'contact_person.name', Mail: 'contact_person.email' });
    const turned = await suggested('supplier', [
      ['Supplier', 'Contact', 'Contact person'],
      ...range(6, (at) => [`S${at} Ltd`, emails[at]!, names[at]!]),
    ]);
    expect(turned.fields).toEqual({
      Supplier: 'name',
      Contact: 'contact_person.email',
      'Contact person': 'contact_person.name',
    });
  });

  it('a contact without the other half is left out, because the service refuses it', async () => {
    const { column } = await suggested(
      'supplier',
      beside(
        'Supplier',
        'E-mail',
        range(6, (at) => `s${at}@example.com`),
      ),
    );
    expect(column('E-mail').field).toBeUndefined();
    expect(column('E-mail').why).toContain('refuses it without contact_person.name');
  });

  it('NDA is a date or a yes', async () => {
    const dated = await suggested(
      'customer',
      beside(
        'Customer',
        'NDA',
        range(5, (at) => `2024-03-1${at}`),
      ),
    );
    expect(dated.column('NDA')).toMatchObject({ field: 'nda_signed_date', confidence: 'medium' });
    const said = await suggested(
      'customer',
      beside(
        'Customer',
        'NDA',
        range(5, (at) => (at % 2 ? 'yes' : 'no')),
      ),
    );
    expect(said.column('NDA')).toMatchObject({ field: 'nda_signed', confidence: 'high' });
  });

  it('Type is the type of the field only where the values are its words', async () => {
    const other = await suggested(
      'supplier',
      beside(
        'Supplier',
        'Type',
        range(6, () => 'Wholesale'),
      ),
    );
    expect(other.column('Type').field).toBeUndefined();
    const fits = await suggested(
      'supplier',
      beside(
        'Supplier',
        'Type',
        range(6, (at) => (at % 2 ? 'US' : 'Foreign')),
      ),
    );
    expect(fits.column('Type')).toMatchObject({ field: 'type', confidence: 'high' });
  });

  it('what is not certain names the next best guess', async () => {
    const { column } = await suggested(
      'asset',
      beside(
        'Name',
        'Description',
        range(6, () => 'Latitude 5450'),
      ),
    );
    expect(column('Description')).toMatchObject({ field: 'product_description', confidence: 'medium' });
    expect(column('Description').evidence.join('; ')).toContain('it may also mean asset_notes');
  });

  it('a long description is a note, a short one a description', async () => {
    const long = await suggested(
      'asset',
      beside(
        'Name',
        'Description',
        range(5, () => 'A very long text about the thing, longer than fifty characters.'),
      ),
    );
    expect(long.column('Description').field).toBe('asset_notes');
    const short = await suggested(
      'asset',
      beside(
        'Name',
        'Description',
        range(5, () => 'Latitude 5450'),
      ),
    );
    expect(short.column('Description').field).toBe('product_description');
  });

  it('texts too long for the field are counted; many are cut, visibly, but never what identifies a record', async () => {
    const long = 'x'.repeat(51);
    const few = await suggested(
      'supplier',
      beside(
        'Supplier',
        'Address',
        range(10, (at) => (at === 0 ? long : '1 Mill Road')),
      ),
    );
    expect(few.column('Address').field).toBe('address_line_1');
    expect(few.column('Address').remarks.join()).toContain('1 of 10 values are longer than the 50 characters');
    const many = await suggested(
      'supplier',
      beside(
        'Supplier',
        'Address',
        range(10, (at) => (at < 3 ? long : '1 Mill Road')),
      ),
    );
    expect(many.column('Address')).toMatchObject({
      field: 'address_line_1',
      confidence: 'medium',
      options: { cut: true },
    });
    expect(many.column('Address').remarks.join()).toContain('3 of 10 values are longer');
    expect(many.job).toContain('Address: { field: address_line_1, overflow: cut }');
    const serials = await suggested(
      'asset',
      beside(
        'Name',
        'Serial',
        range(10, (at) => `${at}${long}`),
      ),
    );
    expect(serials.column('Serial').field).toBeUndefined();
    expect(serials.column('Serial').why).toContain('10 of 10 values are longer');
    const names = await suggested(
      'contract',
      beside(
        'Contract No',
        'Objeto',
        range(10, () => long),
      ),
    );
    expect(names.column('Objeto')).toMatchObject({ field: 'name', confidence: 'medium' });
    expect(names.column('Objeto').evidence.join('; ')).toContain('it may also mean description');
  });

  it('what a heading means is said in English, also where the vocabulary has it in another language', async () => {
    const { column } = await suggested(
      'contract',
      'Contract No,Intitulé du contrat,Contract Date\nC-1,Care,2026-01-31\n',
    );
    expect(column('Intitulé du contrat').evidence[0]).toContain('it means "contract designation"');
    expect(column('Contract Date').evidence[0]).toContain('it means "contract date"');
  });

  it('of rows that are all uneven no column counts as blank', async () => {
    const { column } = await suggested('contract', 'Contract No,Supplier\nC-1,Acme,x\nC-2,Acme,x\n');
    expect(column('Supplier').evidence.join('; ')).toContain('no value was looked at');
    // Emoji are one character each, as the service counts them.
    const emoji = await suggested(
      'supplier',
      beside(
        'Supplier',
        'Address',
        range(10, () => '🏭'.repeat(50)),
      ),
    );
    expect(emoji.column('Address').remarks).toEqual([]);
  });
});

describe('words of a list', () => {
  it('suggests a translation for words that mean one value', async () => {
    const { job, column } = await suggested('contract', [
      ['Contract No', 'Status'],
      ...['aktiv', 'Live', 'abgelaufen', 'active'].map((word, at) => [`C${at}7`, word]),
    ]);
    expect(column('Status').field).toBe('status');
    expect(job).toContain('      aktiv: active\n      Live: active\n      abgelaufen: expired\n');
    const { job: supplier } = await suggested('supplier', [
      ['Name', 'Supplier Type'],
      ...['Domestic', 'foreign', 'International', 'US'].map((word, at) => [`Acme ${at} Ltd`, word]),
    ]);
    expect(supplier).toContain('      Domestic: us\n      International: foreign\n');
  });

  it('lists what it does not understand, for a person to fill in', async () => {
    const { job } = await suggested('contract', [
      ['Contract No', 'Status'],
      ...['active', 'active', 'active', 'ruhend', 'ruhend'].map((word, at) => [`C${at}7`, word]),
    ]);
    expect(job).toMatch(/# values:\n {4}# {3}ruhend: "\?" +# 2 rows/);
    expect(job?.replace(/\n +# /g, ' ')).toContain('Each becomes one of: active, archived');
  });

  it('numbers in words must agree', async () => {
    const { column, job } = await suggested('contract', [
      ['Contract No', 'Payment Terms'],
      ...['Net 30', '45 days', 'net60', 'Net 90', 'net 30 days'].map((word, at) => [`C${at}7`, word]),
    ]);
    expect(column('Payment Terms').field).toBe('payment_terms');
    expect(job).toContain('Net 90');
    expect(job).not.toMatch(/Net 90: net_/);
  });

  it('a part of a country becomes the country, visibly; what is none is left open', async () => {
    const { job } = await suggested('customer', [
      ['Customer', 'Country'],
      ...['England', 'England', 'Scotland', 'Wales', 'BFP', 'France'].map((word, at) => [`Body ${at}`, word]),
    ]);
    expect(job).toContain('      England: United Kingdom\n');
    expect(job).toMatch(/# {3}BFP: "\?" +# 1 row\n/);
    expect(job).not.toContain('France');
  });
});

describe('dates', () => {
  const start = (values: readonly string[]) =>
    suggested('contract', [['Contract No', 'Start Date'], ...values.map((value, at) => [`C${at}7`, value])]);

  it('are stated where the values tell the format', async () => {
    expect((await start(['5/19/2006 0:00:00', '4/12/2012 0:00:00'])).job).toContain('  dates: [M/d/yyyy]');
    // The next file may write 9/5/2006.
    expect((await start(['19/05/2006', '04/12/2012'])).job).toContain('  dates: [d/M/yyyy]');
    expect((await start(['5/19/06 14:30', '4/12/12 9:05'])).job).toContain('  dates: [M/d/yy H:mm]');
    expect((await start(['13.5.2024', '1 May 2024', '2024-05-02'])).job).toContain(
      '  dates: [d.M.yyyy, d MMM yyyy, yyyy-M-d]',
    );
  });

  it('are not stated where every date can be read by itself', async () => {
    for (const values of [
      ['2024-01-02', '2024-02-03'],
      ['23-Sep-11', '01-Sep-11'],
      ['December 1, 2016', 'June 9, 2016'],
    ]) {
      expect((await start(values)).job).not.toContain('dates:');
    }
  });

  it('in which day and month can be exchanged stay a question with both answers', async () => {
    const { job, suggestion } = await start(['03/04/2024', '05/06/2024', '01/02/2025']);
    expect(suggestion.dates).toEqual([]);
    expect(job).toContain('day and month cannot be told apart, as in "03/04/2024" (row 2)');
    expect(job).toContain('  # Start Date: { field: contract_start_date, dates: [M/d/yyyy] }');
    expect(job).toContain('  # Start Date: { field: contract_start_date, dates: [d/M/yyyy] }');
    expect(job).toMatch(/^ {2}Start Date: contract_start_date +# high/m);
  });

  it('that contradict one another are not settled by the majority', async () => {
    const { job, column } = await start(['13/04/2024', '14/05/2024', '04/15/2024', '01/02/2024']);
    expect(job).not.toContain('dates: [');
    expect(column('Start Date').remarks.join()).toContain('contradict one another');
  });

  it('of two columns that differ are stated by column', async () => {
    const rows = [
      ['C17', '19/05/2024', '5/19/2025'],
      ['C27', '20/05/2024', '5/20/2025'],
    ];
    const { job } = await suggested('contract', [['Contract No', 'Start Date', 'End Date'], ...rows]);
    expect(job).toContain('Start Date: { field: contract_start_date, dates: [d/M/yyyy] }');
    expect(job).toContain('End Date: { field: contract_end_date, dates: [M/d/yyyy] }');
  });
});

describe('amounts', () => {
  const cost = (values: readonly string[]) => suggested('asset', beside('Name', 'Cost', values));

  it('show the decimal sign, or leave it a question', async () => {
    expect((await cost(['1.234,56', '12,50'])).job).toContain('  decimal: ","');
    expect((await cost(['1,234.56', '12.50'])).job).toContain('  decimal: "."');
    const open = await cost(['1,234', '5,600']);
    expect(open.suggestion.decimal?.sign).toBeUndefined();
    expect(open.job).toContain('  # decimal: "."\n  # decimal: ","\n');
  });

  it('with two signs are stated by column', async () => {
    const { job } = await suggested('asset', [
      ['Name', 'Cost', 'Salvage Value'],
      ['A 1', '1.234,56', '1,234.56'],
      ['B 2', '12,50', '12.50'],
    ]);
    expect(job).toContain('Cost: { field: original_cost, decimal: "," }');
    expect(job).toContain('Salvage Value: { field: estimated_salvage_value, decimal: "." }');
  });
});

describe('values speak against', () => {
  it('a supplier that is one and the same in very many rows', async () => {
    const table = (rows: number) => [['Serial', 'Vendor'], ...range(rows, (at) => [`S${at}`, 'Globex'])];
    const many = await suggested('asset', table(40));
    expect(many.column('Vendor').field).toBeUndefined();
    expect(many.column('Vendor').why).toContain('all 40 rows have the one value "Globex"');
    expect((await suggested('asset', table(5))).column('Vendor').field).toBe('attached_supplier');
  });

  it('the name of an item that is a number, and a phone that is none', async () => {
    const items = await suggested('asset', [['Item', 'Serial'], ...range(5, (at) => [at + 1, `S${at}`])]);
    expect(items.fields).toEqual({ Item: '~', Serial: 'serial_number' });
    const phones = await suggested('supplier', beside('Supplier', 'Phone', ['Ann Moss', 'Lee Park', 'Jo Grant']));
    expect(phones.column('Phone').field).toBeUndefined();
  });

  it('a column in which every cell is blank, beside one of the same meaning', async () => {
    const { fields } = await suggested('asset', [
      ['Name', 'Laptop Serial No', 'Serial No'],
      ...range(5, (at) => [`Laptop ${at}`, `S${at}`, '']),
    ]);
    expect(fields).toEqual({ Name: 'name', 'Laptop Serial No': 'serial_number', 'Serial No': '~' });
  });
});

it('of two columns of one meaning the fuller one is taken', async () => {
  const rows = [0, 1, 2, 3].map((at) => [`Thing ${at}`, at % 2 ? `${at}.50` : '', `${at}00.50`]);
  const { fields } = await suggested('contract', [['Title', 'total_amount_usd', 'total_amount_ngn'], ...rows]);
  expect(fields).toMatchObject({ total_amount_ngn: 'total_contract_spend_value', total_amount_usd: '~' });
});

describe('words that add nothing', () => {
  it('are currencies and the like; several tags are no asset tag, a date of signature is one', async () => {
    const { fields } = await suggested('contract', [
      ['contract_id', 'contract_value_aed', 'signed_date', 'internal_notes'],
      ...range(5, (at) => [`C${at}`, `${at}00.50`, `2024-03-1${at}`, 'renewed by phone']),
    ]);
    expect(fields).toEqual({
      contract_id: 'number',
      contract_value_aed: 'total_contract_spend_value',
      signed_date: 'signed_date',
      internal_notes: 'description',
    });
    const labels = await suggested('asset', [['equipment_id', 'tags'], ...range(5, (at) => [`E${at}`, 'red, fast'])]);
    expect(labels.fields).toEqual({ equipment_id: 'asset_tag', tags: '~' });
  });
});

describe('a person', () => {
  it("is no item: Full Name beside item Name is the owner's", async () => {
    const { fields } = await suggested('asset', [
      ['Full Name', 'item Name', 'Serial'],
      ...range(5, (at) => ['Ann Moss', `Laptop ${at}`, `S${at}`]),
    ]);
    expect(fields).toEqual({ 'Full Name': 'asset_owner', 'item Name': 'name', Serial: 'serial_number' });
  });
});

describe('a heading that means two things', () => {
  const values: Readonly<Record<string, readonly unknown[]>> = {
    'State/in use/in repair': ['lifecycle_stage'],
    'State/Texas/Ohio': ['state_province'],
    'Unit/EA/PCS': [undefined],
    'Level/High/Low': [undefined],
    'Office/London/Leeds': ['location_description', 'room'],
    'Contract/Yes/No': [undefined],
    'Supplier/Y/N': [undefined],
    'Supplier/V-1001/V-1002': [undefined],
    'Address/10.0.0.1/10.0.0.2': [undefined],
    'Tag/loaner/VIP': [undefined],
    'Usage/12%/70%': [undefined],
    'Etat/En service/Rebut': ['lifecycle_stage'],
  };
  it.each(Object.entries(values))('%s: the values say which', async (heading, fields) => {
    const [name = '', ...texts] = heading.split('/');
    const table = [['Item', name], ...range(8, (at) => [`Press ${at}`, texts[at % texts.length] ?? ''])];
    const { column } = await suggested('asset', table);
    expect(fields).toContain(column(name).field);
  });

  it('Name beside Company is the name of somebody, and a code is the name of nobody', async () => {
    const rows = range(6, (at) => [`Globex ${at}`, `SUP-00${at}`, 'Ann Moss']);
    const { fields } = await suggested('supplier', [['Company', 'Supplier', 'Name'], ...rows]);
    expect(fields).toMatchObject({ Company: 'name', Supplier: '~', Name: '~' });
  });

  it('the number of a row is the number of no contract', async () => {
    const rows = range(6, (at) => [at + 1, `K-${70 - at}`, `Rent ${at}`]);
    const { fields } = await suggested('contract', [['No.', 'Contract ID', 'Title'], ...rows]);
    expect(fields).toEqual({ 'No.': '~', 'Contract ID': 'number', Title: 'name' });
  });

  it('nor is the number of a house, and a heading that says of what goes before', async () => {
    const rows = range(6, (at) => [`Rent ${at}`, `K-${70 - at}`, 'Rua A', at * 7 + 3, `Sala ${at}`]);
    const block = await suggested('contract', [['objeto', 'contrato', 'logradouro', 'numero', 'complemento'], ...rows]);
    expect(block.fields).toMatchObject({ contrato: 'number', numero: '~' });
    const { fields } = await suggested('contract', [['Title', 'Contract no', 'Site', 'Number', 'Kind'], ...rows]);
    expect(fields).toMatchObject({ 'Contract no': 'number', Number: '~' });
  });
});

describe('the words of other languages', () => {
  it.each([
    ['asset', 'Serialnummer', 'serial_number'],
    ['asset', "N° d'inventaire", 'asset_tag'],
    ['asset', 'Anmerkungen', 'asset_notes'],
    ['asset', 'Inbetriebnahme am', 'service_start_date'],
    ['customer', 'Billing City', 'city'],
    ['customer', 'Address 1: City', 'city'],
    ['customer', 'Observaciones', 'general_description'],
  ] as const)('%s: %s', async (resource, heading, field) => {
    const texts = range(6, (at) => (field === 'service_start_date' ? `2024-05-1${at}` : `Text ${at}`));
    const { column } = await suggested(resource, beside('Name', heading, texts));
    expect(column(heading).field).toBe(field);
  });
});

describe('texts that mean blank', () => {
  it('are stated, and count as blank', async () => {
    const { job, column } = await suggested('supplier', [
      ['Supplier', 'Fax', 'Mobile'],
      ...range(6, (at) => [`Globex ${at}`, at === 0 ? '+44 20 7946 0011' : 'NULL', 'n/a']),
    ]);
    expect(column('Fax')).toMatchObject({ field: 'fax', confidence: 'high' });
    expect(column('Mobile').evidence).toContain('every cell is blank');
    expect(job).toContain('null_values: [n/a, "NULL"]');
  });
});

it('a list of which some texts are known is mapped, with the others to be translated', async () => {
  const table = beside('Contract', 'Status', ['Active', 'Signed', 'Signed', 'On paper', 'Signed', 'On paper']);
  const { column, job } = await suggested('contract', table);
  expect(column('Status')).toMatchObject({ field: 'status', confidence: 'medium' });
  expect(job).toMatch(/# values:\n\s+# {3}Signed: "\?" +# 3 rows/);
  const none = await suggested('contract', beside('Contract', 'Status', ['Signed', 'On paper', 'Signed', 'On paper']));
  expect(none.column('Status').field).toBeUndefined();
});
