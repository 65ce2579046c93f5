import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openSource } from '../../src/files/open.js';
import type { DiffText } from '../../src/model/change.js';
import { fault } from '../../src/model/issue.js';
import type { Outcome } from '../../src/model/outcome.js';
import type { OrphanLine, ReconcileFacts } from '../../src/model/reconcile.js';
import type { OpenSource } from '../../src/model/source.js';
import type { ReportInput, SummaryHead } from '../../src/report/finish.js';
import type { ReconcileInput } from '../../src/report/reconcile/compare.js';
import type { RunStore } from '../../src/store/run-store.js';
import { outcome, record } from './sample.js';

/** A night of a made-up ERP file, small enough to be checked by hand: what each row is stands in its number. */

export const COLUMNS: Readonly<Record<string, string>> = {
  name: 'Item Name',
  original_cost: 'Purchase Cost',
  lifecycle_stage: 'Stage',
  asset_notes: 'Notes',
  purchase_date: 'Bought on',
};

const diff = (field: string, old: string, value: string, kind: DiffText['kind'] = 'set'): DiffText => ({
  field,
  old,
  new: value,
  kind,
});

type Result = readonly [outcome: Outcome, diff?: readonly DiffText[]];

/** Rows 2 to 19. */
export function results(): Result[] {
  const gone = fault('reference_not_found', 'There is no supplier "Acme Gmbh". Did you mean "Acme GmbH"?', {
    column: 'Supplier',
    value: 'Acme Gmbh',
  });
  const key = (row: number) => `SN-${1000 + row}`;
  const made = (row: number, kind: Outcome['kind'], more: Partial<Outcome> = {}) =>
    outcome(row, kind, { key: key(row), ...more });
  return [
    ...[2, 3, 4, 5, 6].map((row): Result => [made(row, 'unchanged', { id: 100 + row })]),
    [
      made(7, 'updated', { id: 107, changed: ['name', 'original_cost'] }),
      [
        diff('name', 'ThinkPad T14', 'ThinkPad T14 Gen 3'),
        diff('original_cost', '1200', '1250.5'),
        diff('asset_notes', 'with Anna since May', 'none', 'kept'),
        diff('template', 'x', 'x', 'preserved'),
      ],
    ],
    [
      made(8, 'updated', { id: 108, changed: ['lifecycle_stage', 'purchase_date'] }),
      [diff('lifecycle_stage', 'Stock', 'Deployed'), diff('purchase_date', '2021-04-01', '', 'clear')],
    ],
    [made(9, 'updated', { id: 109, changed: ['name'] }), [diff('name', '=1+1', '@SUM(A1)')]],
    [made(10, 'unchanged', { id: 110 }), [diff('asset_notes', 'do not lend', 'lend', 'kept')]],
    [made(11, 'created', { id: 511 })],
    [made(12, 'created', { id: 512 })],
    [made(13, 'invalid', { issues: [gone, fault('too_long', 'At most 50 characters.', { column: 'Item Name' })] })],
    [made(14, 'ambiguous', { issues: [fault('ambiguous_match', '2 records have the key "SN-1014": ids 7, 9.')] })],
    [made(15, 'duplicate', { issues: [fault('duplicate_key', 'Row 7 has the same key.')] })],
    [
      made(16, 'at_risk', { id: 116, issues: [fault('would_lose_value', 'The PUT would destroy area.')] }),
      [diff('name', 'a', 'b'), diff('area', 'North', '', 'at_risk')],
    ],
    [
      made(17, 'conflict', { id: 117, issues: [fault('changed_meanwhile', 'Somebody changed name.')] }),
      [diff('name', 'old', 'new')],
    ],
    [made(18, 'rejected', { issues: [{ ...fault('service_rejected', 'name: not allowed'), origin: 'service' }] })],
    [made(19, 'skipped', { id: 119 })],
  ];
}

export const ROWS = 18;

export const ORPHANS: readonly OrphanLine[] = [
  { id: 201, key: 'SN-1', name: 'Old pump', since: '2026-03-28', absences: 3, state: 'done' },
  {
    id: 202,
    key: '=SN-2',
    name: 'Laptop of Ben',
    since: '2026-03-30',
    absences: 2,
    state: 'act',
    outcome: 'updated',
    codes: [],
    message: '',
    changes: [{ field: 'lifecycle_stage', old: 'Deployed', new: 'Retired' }],
  },
  {
    id: 203,
    key: 'SN-3',
    name: 'Projector',
    since: '2026-03-30',
    absences: 2,
    state: 'act',
    outcome: 'conflict',
    codes: ['changed_meanwhile'],
    message: 'Somebody changed lifecycle_stage since the list was read.',
    changes: [],
  },
  { id: 204, key: 'SN-4', name: '', since: '2026-03-31', absences: 1, state: 'wait' },
  {
    id: 205,
    key: 'SN-5',
    name: 'Dock',
    since: '2026-03-29',
    absences: 2,
    state: 'held',
    why: 'It is no longer as it was when the list was read.',
  },
];

export function facts(more: Partial<ReconcileFacts> = {}): ReconcileFacts {
  return {
    apply: true,
    read: {
      how: 'delta',
      certified: true,
      records: 260,
      described: 'What changed since the reading of 2026-03-30 was read: 3 pages; the last full reading is 4 runs old.',
    },
    scope: { records: 240, without_key: 3, outside: 17, described: 'category.name = Laptop' },
    differences: {
      rows: 6,
      fields: 9,
      file_stands: 7,
      service_stands: 2,
      cleared: 1,
      by_field: [
        { field: 'name', file: 4, service: 0, cleared: 0 },
        { field: 'original_cost', file: 1, service: 0, cleared: 0 },
        { field: 'asset_notes', file: 0, service: 2, cleared: 0 },
        { field: 'lifecycle_stage', file: 1, service: 0, cleared: 0 },
        { field: 'purchase_date', file: 1, service: 0, cleared: 1 },
      ],
    },
    orphans: { action: 'set', after: 2, total: 5, fresh: 1, waiting: 1, acted: 2, settled: 1, held: 1 },
    previous: { run: '20260330T020001000Z-1a2b', rows: 18, at: '2026-03-30T02:03:11.000Z' },
    ...more,
  };
}

export async function* inBatches<T>(items: readonly T[], size = 2): AsyncGenerator<readonly T[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size);
}

export function reconcileInput(more: Partial<ReconcileInput> = {}): ReconcileInput {
  return {
    facts: facts(),
    orphans: () => inBatches(ORPHANS),
    columnOf: (field) => COLUMNS[field],
    ...more,
  };
}

export function head(more: Partial<SummaryHead> = {}): SummaryHead {
  return {
    run: '20260331T020001000Z-7f3a',
    job: 'erp-assets',
    kind: 'reconcile',
    resource: 'asset',
    company: 1,
    dry_run: false,
    service: 'https://records.example.com/',
    source: {
      path: '/srv/erp/assets.csv',
      sha256: 'ab'.repeat(32),
      format: 'csv',
      encoding: 'utf-8',
      delimiter: ';',
      sheet: null,
      header_row: 1,
      rows: ROWS,
    },
    requests: { total: 1342, reads: 131, writes: 1204, retries: 7 },
    warnings: ['The column Colour of the file is not mapped and was left out.'],
    detected: ['Encoding: utf-8, because the file has a byte order mark.'],
    started_at: '2026-03-31T02:00:01.000Z',
    finished_at: '2026-03-31T02:01:22.200Z',
    seconds: 81.2,
    ...more,
  };
}

/** Notes the night in `store`; what `writeReports` takes to write it into `dir`. */
export async function night(dir: string, store: RunStore, more: Partial<ReportInput> = {}): Promise<ReportInput> {
  record(store, ...results().map(([one, diff = []]) => ({ outcome: one, diff })));
  return {
    dir: join(dir, 'out'),
    store,
    source: await source(dir),
    reconcile: reconcileInput(),
    summary: head(),
    ...more,
  };
}

export async function source(dir: string, rows = ROWS): Promise<OpenSource> {
  const path = join(dir, 'in.csv');
  const lines = Array.from({ length: rows }, (_, i) => `SN-${1002 + i};n`);
  await writeFile(path, `Serial;Item Name\r\n${lines.join('\r\n')}\r\n`);
  return openSource(path);
}
