import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Commit } from '../../src/sandbox/service.js';
import type { Evidence } from './evidence.js';

/** What a sound run left, to be made unsound in one place. */
export interface Sample {
  input: string;
  before: Record<string, unknown>[];
  after: Record<string, unknown>[];
  commits: Commit[];
  summary: { [name: string]: unknown; rows: Record<string, number>; source: Record<string, unknown> };
  results: string[][];
  faults: string[][];
  plan: string[][];
  rejected: string[][] | undefined;
  beforeLog: object[];
  more: Partial<Evidence>;
}

const asset = (id: number, serial: string, more: object = {}) => ({
  ...{ id, company: 1, name: `Asset ${serial}`, serial_number: serial },
  ...more,
});

/** Held by the updated record and mapped by no column. */
export const HELD = {
  original_cost: '99999999999999.99',
  country: 276,
  category: { category: 1, subcategory: 'Business' },
  usage_status: 2,
  template: [
    {
      template: 1,
      values: [
        [1, 'CC'],
        [2, '7.50'],
      ],
    },
  ],
  form_template: [
    {
      form: 1,
      row: 9,
      parent: null,
      sequence: 1,
      values: [
        [101, 'R1'],
        [102, 4],
      ],
    },
  ],
  currency: { value: 'Euro', symbol: '€' },
};

/** The same in the write form of an update. */
export const CARRIED =
  '"original_cost":99999999999999.99,"country":276,"category":{"id":1,"subcategory":"Business"},"usage_status":"non_production",' +
  '"template":{"id":1,"fields":[{"id":1,"value":"CC"},{"id":2,"value":7.5}]},' +
  '"form_template":[{"id":1,"custom_form_data":{"Rack":"R1","Unit":4}}],"currency":{"value":"Euro","symbol":"€"}';

export const commit = (sequence: number, method: Commit['method'], id: number, body: string): Commit => ({
  ...{ sequence, at: 0, method, resource: 'asset', id, requestId: `r${sequence}` },
  body,
});

const COUNTS = {
  ...{ created: 2, updated: 1, unchanged: 1, skipped: 0, invalid: 1, duplicate: 0, ambiguous: 0, at_risk: 0 },
  ...{ conflict: 0, rejected: 0, failed: 0, unknown: 0, not_attempted: 0, total: 5 },
};

/** Row 2 and 3 created, 4 updated, 5 unchanged, 7 invalid; row 6 is blank. */
export function soundSample(): Sample {
  return {
    input:
      'Name,Serial,Stage\r\nAsset N1,N1,Stock\r\nAsset N2, N2 ,Stock\r\nAsset O1,O1,Deployed\r\nAsset O2,O2,\r\n,,\r\nBad,B1,"two\nlines"\r\n',
    before: [
      asset(1, 'O1', { ...HELD, lifecycle_stage: 'Stock' }),
      asset(2, 'O2'),
      asset(3, 'X1', { asset_notes: 'n' }),
    ],
    after: [
      asset(1, 'O1', { ...HELD, lifecycle_stage: 'Deployed' }),
      asset(2, 'O2'),
      asset(3, 'X1', { asset_notes: 'n' }),
      asset(4, 'N1', { lifecycle_stage: 'Stock' }),
      asset(5, 'N2', { lifecycle_stage: 'Stock' }),
    ],
    commits: [
      commit(1, 'POST', 4, '{"company":1,"name":"Asset N1","serial_number":"N1","lifecycle_stage":"Stock"}'),
      commit(2, 'POST', 5, '{"company":1,"name":"Asset N2","serial_number":"N2","lifecycle_stage":"Stock"}'),
      commit(
        3,
        'PUT',
        1,
        `{"company":1,"name":"Asset O1","serial_number":"O1","lifecycle_stage":"Deployed",${CARRIED}}`,
      ),
    ],
    summary: {
      ...{ company: 1, dry_run: false, status: 'partial' },
      source: { rows: 5, delimiter: ',', header_row: 1 },
      rows: { ...COUNTS },
    },
    results: [
      ['row', 'outcome', 'key', 'id', 'changed_fields', 'codes', 'message'],
      ['2', 'created', 'N1', '4', '', '', ''],
      ['3', 'created', 'N2', '5', '', '', ''],
      ['4', 'updated', 'O1', '1', 'lifecycle_stage', '', ''],
      ['5', 'unchanged', 'O2', '2', '', '', ''],
      ['7', 'invalid', 'B1', '', '', 'too_long', 'Stage is too long'],
    ],
    faults: [
      ['row', 'column', 'field', 'value', 'code', 'message', 'origin'],
      ['7', 'Stage', 'lifecycle_stage', 'x', 'too_long', 'Stage is too long', 'local'],
    ],
    plan: [
      ['row', 'id', 'field', 'old', 'new', 'kind'],
      ['4', '1', 'lifecycle_stage', 'Stock', 'Deployed', 'set'],
    ],
    rejected: [
      ['Name', 'Serial', 'Stage', '_row', '_outcome', '_codes', '_message'],
      ['Bad', 'B1', 'two\nlines', '7', 'invalid', 'too_long', 'Stage is too long'],
    ],
    beforeLog: [{ row: 4, id: 1, record: { id: 1, name: 'Asset O1', serial_number: 'O1', lifecycle_stage: 'Stock' } }],
    more: {},
  };
}

const csv = (lines: readonly string[][]) =>
  `${lines.map((cells) => cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',')).join('\r\n')}\r\n`;

/** Writes the sample's files into a folder of their own; the answer is the evidence. */
export async function evidenceOf(sample: Sample, parent: string): Promise<Evidence> {
  const dir = await mkdtemp(join(parent, 'sample-'));
  const report = join(dir, 'report');
  await mkdir(report);
  const write = (name: string, text: string) => writeFile(join(report, name), text);
  await writeFile(join(dir, 'input.csv'), sample.input);
  await write('summary.json', JSON.stringify(sample.summary));
  await write('results.csv', csv(sample.results));
  await write('faults.csv', csv(sample.faults));
  await write('plan.csv', csv(sample.plan));
  if (sample.rejected) await write('rejected.csv', csv(sample.rejected));
  await write('before.ndjson', sample.beforeLog.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return {
    ...{ resource: 'asset', keyField: 'serial_number', input: join(dir, 'input.csv'), runs: [report], open: 0 },
    columns: { Name: 'name', Serial: 'serial_number', Stage: 'lifecycle_stage' },
    ...{ before: sample.before, after: sample.after, commits: sample.commits },
    ...sample.more,
  };
}
