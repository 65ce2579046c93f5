import type { Overview, Plan, Row, Run, RunDetail, Story } from '../../src/api/schema.js';
import { noOutcomes, type OutcomeKind } from '../../src/model/outcome.js';

/** Runs and rows as the API tells of them. */

export const ID = '20260331T060000123Z-4f2a';

export function counts(some: Partial<Record<OutcomeKind, number>>) {
  return { ...noOutcomes(), ...some };
}

export const COUNTS = counts({
  created: 180,
  updated: 30,
  unchanged: 15,
  invalid: 9,
  duplicate: 2,
  ambiguous: 1,
  unknown: 1,
  failed: 2,
});

export function run(change: Partial<Run> = {}): Run {
  return {
    id: ID,
    status: 'partial',
    kind: 'import',
    job: 'assets',
    file: 'inventory.xlsx',
    dry_run: false,
    started_at: '2026-03-31T06:00:00.123Z',
    rows: 240,
    needs_person: 15,
    outcomes: COUNTS,
    ...change,
  };
}

const NOT = (why: string) => ({ allowed: false, why });
export const ACTIONS: RunDetail['actions'] = {
  resume: NOT('It has come to its end.'),
  retry: { allowed: true },
  undo: { allowed: true },
  approve: NOT('No brake stopped it.'),
  stop: NOT('It does not run.'),
};

export function summary(change: Record<string, unknown> = {}): Record<string, unknown> {
  const rows = (change['rows'] as typeof COUNTS | undefined) ?? COUNTS;
  return {
    run: ID,
    job: 'assets',
    kind: 'import',
    resource: 'asset',
    company: 7,
    dry_run: false,
    status: 'partial',
    source: {
      path: 'inventory.xlsx',
      sha256: '',
      format: 'xlsx',
      encoding: null,
      delimiter: null,
      sheet: 'Assets',
      header_row: 3,
      rows: 240,
    },
    requests: { total: 262, reads: 48, writes: 214, retries: 4 },
    warnings: [],
    top_faults: [],
    started_at: '2026-03-31T06:00:00.123Z',
    finished_at: '2026-03-31T06:00:48.000Z',
    seconds: 47.9,
    reports: ['report.html', 'results.csv', 'rejected.xlsx', 'faults.csv', 'plan.csv', 'before.ndjson', 'summary.json'],
    ...change,
    rows: { ...rows, total: Object.values(rows).reduce((all, n) => all + n, 0) },
  };
}

export function detail(change: Partial<RunDetail> = {}): RunDetail {
  return {
    ...run(),
    here: true,
    resource: 'asset',
    company: 7,
    progress: null,
    summary: summary(),
    reason: null,
    reports: ['report.html', 'results.csv', 'rejected.xlsx', 'faults.csv', 'plan.csv', 'before.ndjson', 'summary.json'],
    actions: ACTIONS,
    ...change,
  };
}

const KINDS: readonly OutcomeKind[] = ['created', 'updated', 'unchanged', 'invalid', 'duplicate', 'unknown'];

export function row(at: number): Row {
  const outcome = KINDS[at % 11 < 6 ? at % 11 : 0] ?? 'created';
  const issues: Row['issues'] =
    outcome === 'invalid'
      ? [
          {
            code: 'reference_not_found',
            severity: 'error',
            message: 'No supplier is named “Acme Computer”. The nearest is “Acme Computers”.',
            column: 'Supplier',
            field: 'supplier',
            value: 'Acme Computer',
            origin: 'local',
          },
        ]
      : outcome === 'duplicate'
        ? [
            {
              code: 'duplicate_key',
              severity: 'error',
              message: 'Row 9 has the same serial number.',
              column: 'Serial',
              origin: 'local',
            },
          ]
        : [];
  return {
    row: at + 4,
    outcome,
    key: `SN-${200_000 + at}`,
    id: outcome === 'created' || outcome === 'updated' ? 4_000 + at : null,
    changed: outcome === 'updated' ? ['price', 'template.Finance.Cost Centre'] : [],
    issues,
  };
}

/** `GET /runs/…/rows` over so many. */
export function rowsOf(total: number) {
  return (params: URLSearchParams) => {
    const from = Number(params.get('offset') ?? 0);
    const n = Math.max(Math.min(Number(params.get('limit') ?? 100), total - from), 0);
    return {
      rows: Array.from({ length: n }, (_, at) => row(from + at)),
      total,
      next: from + n < total ? 'more' : null,
    };
  };
}

export const STORY: Story = {
  ...row(3),
  headings: ['Serial', 'Item', 'Supplier', 'Price', 'Owner', 'Remarks'],
  cells: ['SN-200003', 'ThinkPad T14', 'Acme Computer', '1,289.00', 'mara@northwind.example', '<b>not markup</b>'],
  corrected: [3],
  changes: [
    { field: 'price', old: '1,299.00', new: '1,289.00', kind: 'set' },
    { field: 'remarks', old: 'Sent back once', new: '', kind: 'clear' },
  ],
  found: { id: 4003, record: { id: 4003, serial_number: 'SN-200003', price: '1299.00' } },
  sent: null,
};

export const FAULTS = [
  {
    code: 'reference_not_found',
    meaning: 'A name was not found.',
    column: 'Supplier',
    field: 'supplier',
    value: 'Acme Computer',
    message: 'No supplier is named “Acme Computer”.',
    rows: 6,
    first: 7,
  },
  {
    code: 'not_a_number',
    meaning: 'No number.',
    column: 'Price',
    field: 'price',
    value: 'n/a',
    message: '“n/a” is no number.',
    rows: 3,
    first: 12,
  },
  {
    code: 'duplicate_key',
    meaning: 'The key twice.',
    column: 'Serial',
    field: 'serial_number',
    value: null,
    message: 'Row 9 has the same serial number.',
    rows: 2,
    first: 8,
  },
];

export const PLAN: Plan = {
  created: 180,
  updated: 30,
  unchanged: 15,
  cleared: 2,
  at_risk: 0,
  brakes: [
    { name: 'max_updates', limit: '25%', found: '41% (98 of 240)', tripped: true },
    { name: 'min_rows', limit: '1', found: '240', tripped: false },
  ],
  fields: [
    {
      field: 'price',
      records: 28,
      first: [
        { row: 9, key: 'SN-200005', old: '1,299.00', new: '1,289.00', kind: 'set' },
        { row: 10, key: 'SN-200006', old: '', new: '840.00', kind: 'set' },
      ],
    },
    {
      field: 'template.Finance.Cost Centre',
      records: 2,
      first: [{ row: 9, key: 'SN-200005', old: 'Sent back once', new: '', kind: 'clear' }],
    },
  ],
  creates: [
    {
      row: 4,
      key: 'SN-200000',
      values: [
        { field: 'name', value: 'ThinkPad T14' },
        { field: 'price', value: '1,289.00' },
      ],
    },
  ],
  warnings: ['Two columns are not mapped and are left out: `Colour`, `Room`.'],
};

export function overview(change: Partial<Overview> = {}): Overview {
  const date = (back: number) => new Date(Date.UTC(2026, 2, 31 - back)).toISOString().slice(0, 10);
  return {
    needs_person: [
      run({ status: 'braked', kind: 'reconcile', job: 'erp-assets', file: 'erp-assets-tuesday.csv', needs_person: 0 }),
      run(),
    ],
    running: [run({ id: `${ID}b`, status: 'running', file: 'suppliers.csv', job: 'suppliers', needs_person: null })],
    next: [
      { job: 'erp-assets', at: '2026-04-01T02:00:00Z' },
      { job: 'contracts-export', at: '2026-04-01T05:30:00Z' },
    ],
    days: Array.from({ length: 30 }, (_, at) => ({
      date: date(29 - at),
      outcomes:
        at % 7 > 4 ? counts({}) : counts({ created: 40 + at * 7, updated: 60, unchanged: 300 - at, invalid: at % 5 }),
    })),
    service: { ok: true, rate: 12.4, waiting: 3, paused_until: null },
    ...change,
  };
}
