import type { Scenario } from '../scenario.js';
import type { Sheet, Stage } from '../stage.js';

/** Held by each record, so that an update has something to lose of every kind. Amounts are more exact than a double. */
export function richAsset(at: number, serial = `OLD-${at}`, more = ''): string {
  return `{"name":"Old ${at}","serial_number":"${serial}","original_cost":99999999999999.99,"estimated_salvage_value":0.10,
    "contract_service_per_item":12.34,"new_hardware_selling_unit_price":5.00,"asset_notes":"kept ${at}","asset_tag":"T-${at}","lifecycle_stage":"Stock",
    "category":{"id":1,"subcategory":"Business"},"country":276,"city":"München","bldng_name":"B ${at}","asset_usage_status":1,
    "warranty_type":"oem","warranty_end_date":"2027-02-28","currency":{"value":"Euro","symbol":"€"},"asset_owner":${(at % 3) + 1},
    "business_unit":2,"template":{"id":1,"fields":[{"id":1,"value":"CC-${at}"},{"id":2,"value":77777777777777.77},{"id":4,"value":12}]},
    "form_template":[{"id":1,"custom_form_data":{"Rack":"R-${at}","Unit":4}}]${more}}`;
}

export const ASSET_JOB = `match: { key: serial_number }
columns:
  Name: name
  Serial: { field: serial_number, required: true }
  Price: new_hardware_selling_unit_price
  Stage: lifecycle_stage
  Category: category.name
`;

export const ASSET_COLUMNS = {
  Name: 'name',
  Serial: 'serial_number',
  Price: 'new_hardware_selling_unit_price',
  Stage: 'lifecycle_stage',
  Category: 'category',
};

/** Changing the category drops the subcategory of the old one. */
export const ASSET_STANDS = { category: { Laptop: { category: 1 }, Server: { category: 3 } } };

export const HEADING = 'Name,Serial,Price,Stage,Category';

const sheet: Sheet = {
  name: 'plain',
  resource: 'asset',
  keyField: 'serial_number',
  job: ASSET_JOB,
  columns: ASSET_COLUMNS,
  stands: ASSET_STANDS,
  lines: [
    HEADING,
    ...Array.from({ length: 14 }, (_, at) => `New ${at},NEW-${at},${at + 1}.50,Stock,Laptop`),
    ...Array.from({ length: 9 }, (_, at) => `Old ${at},OLD-${at},7.${at}0,Deployed,`),
    // What these say the records hold already.
    'Old 9,OLD-9,5.00,,',
    'Old 10,OLD-10,,,',
    'Old 11,OLD-11,5,,Laptop',
    'New 3,NEW-3,9.00,Stock,Laptop',
    'No price,BAD-1,twelve,Stock,Laptop',
    'No category,BAD-2,1.00,Stock,Spaceship',
    ',BAD-3,1.00,Stock,Laptop',
    'Two of them,TWICE,1.00,Stock,Laptop',
    'In an area,AREA,3.00,,',
    '',
    '"Two',
    'lines",NEW-20,1.00,Stock,Laptop',
    'Last,NEW-21,99999999999999.97,Stock,Server',
  ],
};

const OUTCOMES = [
  ...Array.from({ length: 14 }, () => 'created'),
  ...Array.from({ length: 9 }, () => 'updated'),
  ...['unchanged', 'unchanged', 'unchanged', 'duplicate', 'invalid', 'invalid', 'invalid', 'ambiguous', 'at_risk'],
  ...['invalid|created', 'created'],
];

function fill({ sandbox }: Stage): void {
  sandbox.insert(
    'asset',
    Array.from({ length: 12 }, (_, at) => richAsset(at)),
  );
  sandbox.insert('asset', [
    { name: 'One', serial_number: 'TWICE' },
    { name: 'Other', serial_number: 'TWICE' },
    { name: 'In an area', serial_number: 'AREA', area: 'North', category: { id: 1 } },
    { name: 'Bystander', serial_number: 'NEW-', asset_notes: 'is in no row' },
  ]);
}

export const plain: Scenario = {
  name: 'plain',
  title: 'rows of every kind, and every kind of value to carry over (30, 76)',
  async play(stage) {
    fill(stage);
    await stage.play(sheet, { outcomes: OUTCOMES });
  },
};

export const rehearsed: Scenario = {
  name: 'rehearsed',
  title: 'a rehearsal says what the import does, and writes nothing',
  async play(stage) {
    fill(stage);
    await stage.play(sheet, { argv: ['--dry-run'], outcomes: OUTCOMES });
  },
};

export const twice: Scenario = {
  name: 'twice',
  title: 'a second import finds all unchanged and sends nothing (60)',
  async play(stage) {
    fill(stage);
    const first = await stage.play(sheet, { outcomes: OUTCOMES });
    await stage.again(sheet, first);
  },
};
