import { describe, expect, it } from 'vitest';
import type { FaultAction } from '../../src/sandbox/fault.js';
import type { SandboxOptions } from '../../src/sandbox/index.js';
import type { ReceivedRequest } from '../../src/sandbox/server.js';
import type { Switches } from '../../src/sandbox/switches.js';
import { csv, type Desk, openDesk } from '../support/desk.js';
import { importOf, PLAIN_CONTRACT } from '../support/jobs.js';

/** A page of a list, and a batch of the probe; interface, sections 4.4 and 8. */
const PAGE = 25;
const PROBE = 500;

const job = (key: string | string[] = 'serial_number', more: object = {}) =>
  importOf(
    'asset',
    key,
    { Name: 'name', Serial: 'serial_number', Tag: 'asset_tag', Notes: 'asset_notes' },
    { ...more },
  );

const serial = (n: number) => `SN-${String(n).padStart(6, '0')}`;
const record = (n: number) => ({
  name: `Asset ${n}`,
  serial_number: serial(n),
  asset_tag: `T-${n}`,
  category: { id: 1 },
});
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);
/** Rows of name, serial number, tag, notes; what is left out is blank. */
const table = (rows: readonly (readonly string[])[]) =>
  csv([['Name', 'Serial', 'Tag', 'Notes'], ...rows.map((row) => [...row, ...Array<string>(4 - row.length).fill('')])]);
const sheet = (numbers: readonly number[], notes = '') =>
  table(numbers.map((n) => [`Asset ${n}`, serial(n), `T-${n}`, notes]));

let desk: Desk;

interface Watched {
  /** `GET path?query` of every request up to the first write. */
  readonly before: string[];
}

/** A desk that notes its requests. */
async function open(options: SandboxOptions = {}): Promise<Watched> {
  const before: string[] = [];
  let writing = false;
  desk = await openDesk({
    ...options,
    onRequest(request: ReceivedRequest) {
      if (request.method !== 'GET') writing = true;
      if (!writing) before.push(`${request.path}?${request.query}`);
      return options.onRequest?.(request);
    },
  });
  return { before };
}

/** Reads that were asked twice before anything was written; a probe asks with its body. */
function twice(before: readonly string[]): string[] {
  const asked = before.filter((one) => !one.includes('serial_number=list'));
  return asked.filter((one, at) => asked.indexOf(one) !== at);
}

/**
 * Most requests an import of keys may take:
 *
 *   1.05 × min(pages of the mirror, probes + filters)  +  writes  +  created / 25 (ids behind empty answers)  +  10
 *
 * where a probe tells 500 serial numbers apart and a filter finds one record. Without a probe every key is filtered for, and
 * one that is not found also with a blank and a no-break space at either end and in full width.
 * The ten: company, page 1, category list, a positive control, the first update read back, and the ends of lists.
 */
function mostRequests(facts: {
  records: number;
  keys: number;
  existing: number;
  created?: number;
  updated?: number;
  probe?: boolean;
}): number {
  const { records, keys, existing, created = 0, updated = 0, probe = true } = facts;
  const mirror = Math.ceil(records / PAGE);
  const singly = probe ? Math.min(keys, Math.ceil(keys / PROBE) + existing) : keys + 5 * (keys - existing);
  return Math.floor(1.05 * Math.min(mirror, singly)) + created + updated + Math.ceil(created / PAGE) + 10;
}

const mirrored = () => desk.sandbox.requests.kinds['GET /asset/'] ?? 0;
const filtered = (by = 'serial_number') => desk.sandbox.requests.kinds[`GET /asset/?${by}`] ?? 0;
const probed = () => desk.sandbox.requests.kinds['GET /asset/?serial_number=list'] ?? 0;

describe('what exists is looked up the cheapest way', () => {
  it('asks an empty service for one page', async () => {
    const { before } = await open();
    const file = await desk.file('a.csv', sheet(range(1, 60)));
    const run = await desk.import(file, job());
    expect(run.summary.rows.created).toBe(60);
    expect(before).toEqual(['/company/1?', '/asset/?company=1&page=1']);
    expect(desk.sandbox.requests.total).toBeLessThanOrEqual(
      mostRequests({ records: 0, keys: 60, existing: 0, created: 60 }),
    );
  });

  it('filters for a few keys among many records', async () => {
    const { before } = await open();
    desk.sandbox.insert('asset', range(1, 2000).map(record));
    const file = await desk.file('a.csv', sheet([700, 1500, 2001], 'seen'));
    const run = await desk.import(file, job());
    expect(run.outcomes).toEqual(['2 updated', '3 updated', '4 created']);
    expect(twice(before)).toEqual([]);
    expect(desk.sandbox.requests.total).toBeLessThanOrEqual(
      mostRequests({ records: 2000, keys: 3, existing: 2, created: 1, updated: 2 }),
    );
  });

  // What is not there is not created: these are about the look-ups.
  const looking = job('serial_number', { match: { key: 'serial_number', missing: 'skip' } });

  it('probes for hundreds of serial numbers that are mostly new', async () => {
    const { before } = await open();
    desk.sandbox.insert('asset', range(1, 2500).map(record));
    const file = await desk.file('a.csv', sheet([...range(2498, 3297)]));
    const run = await desk.import(file, looking);
    expect(run.summary.rows).toMatchObject({ skipped: 797, unchanged: 3, total: 800 });
    expect(probed()).toBe(2);
    expect(twice(before)).toEqual([]);
    expect(desk.sandbox.requests.total).toBeLessThanOrEqual(mostRequests({ records: 2500, keys: 800, existing: 3 }));
  });

  it('probes in smaller batches where the service takes no list as long', async () => {
    await open({ maxBodyBytes: 8_000 });
    desk.sandbox.insert('asset', range(1, 2500).map(record));
    const file = await desk.file('a.csv', sheet([...range(2498, 3297)]));
    const run = await desk.import(file, looking);
    expect(run.summary.rows).toMatchObject({ skipped: 797, unchanged: 3, total: 800 });
    // Some that are too long, and then what is taken: 800 keys in six forms each, some 80 bytes a key.
    expect(probed()).toBeLessThanOrEqual(1 + 3 + 13);
    expect(desk.sandbox.requests.total).toBeLessThan(100);
  });

  it('reads the whole list where most of it is wanted', async () => {
    const { before } = await open();
    desk.sandbox.insert('asset', range(1, 2000).map(record));
    const file = await desk.file('a.csv', sheet(range(1, 1500)));
    const run = await desk.import(file, job());
    expect(run.summary.rows).toMatchObject({ unchanged: 1500, total: 1500 });
    expect(twice(before)).toEqual([]);
    expect(filtered()).toBe(0);
    expect(desk.sandbox.requests.total).toBeLessThanOrEqual(
      mostRequests({ records: 2000, keys: 1500, existing: 1500 }),
    );
  });

  it('stops probing when the first answers show that the list is cheaper', async () => {
    await open();
    desk.sandbox.insert('asset', range(1, 1000).map(record));
    // 34 batches to probe, and far more of them exist than the list has pages.
    const file = await desk.file('a.csv', sheet(range(1, 17_000)));
    const run = await desk.import(file, job('serial_number', { match: { key: 'serial_number', missing: 'skip' } }));
    expect(run.summary.rows).toMatchObject({ unchanged: 1000, skipped: 16_000 });
    // Its ends are asked for once more, because some keys were not in it.
    expect(mirrored()).toBe(42);
    expect(desk.sandbox.requests.total).toBeLessThanOrEqual(
      mostRequests({ records: 1000, keys: 17_000, existing: 1000 }),
    );
  });

  it('matches suppliers, which have no filter, by reading their list once', async () => {
    const { before } = await open();
    desk.sandbox.insert(
      'supplier',
      range(1, 130).map((n) => ({ name: `Supplier ${n}` })),
    );
    const file = await desk.file('s.csv', 'Name,Town\r\nSupplier 77,\r\nSupplier 131,Ulm');
    const run = await desk.import(file, importOf('supplier', 'name', { Name: 'name', Town: 'city' }));
    expect(run.outcomes).toEqual(['2 unchanged', '3 created']);
    // Its ends are asked for once more, because one of the keys was not in it.
    expect(before.filter((one) => one.startsWith('/supplier/'))).toHaveLength(8);
    expect(
      twice(before)
        .map((one) => one.slice(-1))
        .sort(),
    ).toEqual(['1', '6']);
  });

  it('filters contracts by number', async () => {
    const { before } = await open();
    desk.sandbox.insert('supplier', [{ name: 'Acme' }]);
    desk.sandbox.insert(
      'contract',
      range(1, 500).map((n) => ({
        ...PLAIN_CONTRACT,
        name: `C ${n}`,
        number: `C-${n}`,
        country: 840,
        category: { id: 1 },
        contract_start_date: '2025-01-01',
        notice_period: 30,
        end_of_term_clause: 'auto_expires',
      })),
    );
    const file = await desk.file('c.csv', 'No,Notes\r\nC-250,x\r\nC-251,');
    const run = await desk.import(file, importOf('contract', 'number', { No: 'number', Notes: 'financial_notes' }));
    expect(run.outcomes).toEqual(['2 updated', '3 unchanged']);
    expect(desk.sandbox.requests.kinds['GET /contract/?contract_no']).toBe(3);
    expect(before.filter((one) => one === '/contract/?company=1&page=1')).toHaveLength(1);
    expect(twice(before)).toEqual([]);
  });

  it.each([
    ['name', 'name', 'name'],
    ['asset_tag', 'asset_tag', 'asset_tag'],
  ])('filters assets by %s', async (key, parameter) => {
    const { before } = await open();
    desk.sandbox.insert('asset', range(1, 600).map(record));
    const file = await desk.file('a.csv', sheet([5, 601]));
    const run = await desk.import(file, job(key));
    expect(run.outcomes).toEqual(['2 unchanged', '3 created']);
    expect(filtered(parameter)).toBeLessThanOrEqual(1 + 1 + 1 + 6 + 1);
    expect(twice(before)).toEqual([]);
    expect(desk.sandbox.requests.total).toBeLessThanOrEqual(
      mostRequests({ records: 600, keys: 2, existing: 1, created: 1, probe: false }),
    );
  });

  it('reads many ids from the list, a few one by one', async () => {
    await open();
    desk.sandbox.insert('asset', range(1, 500).map(record));
    const byId = importOf('asset', 'id', { Id: 'id', Notes: 'asset_notes' });
    const many = await desk.import(
      await desk.file('m.csv', [['Id', 'Notes'], ...range(1, 400).map((n) => [n, ''])]),
      byId,
    );
    expect(many.summary.rows.unchanged).toBe(400);
    expect(desk.sandbox.requests.total).toBeLessThanOrEqual(20 + 3);
    desk.sandbox.resetRequests();
    const few = await desk.import(await desk.file('f.csv', 'Id,Notes\r\n7,new\r\n999,'), byId);
    expect(few.outcomes).toEqual(['2 updated', '3 invalid']);
    expect(desk.sandbox.requests.total).toBeLessThanOrEqual(3 + 2 + 1);
  });

  it('matches by two fields together', async () => {
    await open();
    desk.sandbox.insert('asset', range(1, 100).map(record));
    desk.sandbox.insert('asset', [{ ...record(1), asset_tag: 'T-other' }]);
    const file = await desk.file(
      'a.csv',
      table([
        ['Asset 1', serial(1), 'T-other', 'mine'],
        ['Asset 1', serial(1), 'T-new', ''],
      ]),
    );
    const run = await desk.import(file, job(['serial_number', 'asset_tag']));
    expect(run.outcomes).toEqual(['2 updated', '3 created']);
    expect(run.results.map((row) => row['id'])).toEqual(['101', '102']);
    expect(desk.sandbox.record('asset', 1)?.['asset_notes'] ?? null).toBeNull();
  });
});

describe('whatever a service makes of its filters, no row is written twice and none is matched wrongly', () => {
  // Each alone and with every other: test/matrix.
  const filters: [string, Partial<Switches>][] = [
    ['filters: exact', { filters: 'exact' }],
    ['filters: contains', { filters: 'contains' }],
    ['filters: ignore_case', { filters: 'ignore_case' }],
    ['filters: ignored', { filters: 'ignored' }],
  ];
  const probes: [string, Partial<Switches>][] = [
    ['filters: ignored', { filters: 'ignored' }],
    ['probe: ignored', { probe: 'ignored' }],
    ['probe: plain', { probe: 'plain' }],
    ['probe and filters ignored', { probe: 'ignored', filters: 'ignored' }],
    ['past the end: empty', { pastEnd: 'empty' }],
    ['past the end: not found', { pastEnd: 'not_found' }],
    ['single records wrapped', { wraps: true }],
  ];
  /** Neighbours that a careless comparison takes for each other. */
  const near = [
    ...range(1, 900).map(record),
    { ...record(1), serial_number: 'sn-000002' },
    { ...record(1), serial_number: 'SN-0000020' },
  ];

  it.each(filters)('%s', async (_, switches) => {
    await open({ switches });
    desk.sandbox.insert('asset', near);
    const rows = [
      ['SN-000002', 'kept'],
      ['SN-0000020', 'other'],
      ['SN-0000', 'new'],
      ['sn-000003', 'new'],
    ];
    const file = await desk.file('a.csv', table([...rows.map(([s = '', n = '']) => ['A', s, '', n])]));
    const first = await desk.import(file, job());
    expect(first.outcomes).toEqual(['2 updated', '3 updated', '4 created', '5 created']);
    expect(first.results.slice(0, 2).map((row) => row['id'])).toEqual(['2', '902']);
    for (const row of first.results)
      expect(desk.sandbox.record('asset', Number(row['id']))?.['serial_number']).toBe(row['key']);
    expect(desk.sandbox.record('asset', 2)?.['asset_notes']).toBe('kept');
    expect(desk.sandbox.record('asset', 901)?.['asset_notes'] ?? null).toBeNull();
    const again = await desk.import(file, job());
    expect(again.summary.rows.unchanged).toBe(4);
    expect(again.commits).toBe(0);
    expect(desk.sandbox.records('asset')).toHaveLength(904);
  });

  it.each(probes)('%s, for a file long enough to be probed', async (_, switches) => {
    await open({ switches });
    desk.sandbox.insert('asset', range(1, 700).map(record));
    const file = await desk.file('a.csv', sheet([1, 350, 700, ...range(701, 950)]));
    const first = await desk.import(file, job());
    expect(first.summary.rows).toMatchObject({ unchanged: 3, created: 250 });
    const again = await desk.import(file, job());
    expect(again.summary.rows.unchanged).toBe(253);
    expect(again.commits).toBe(0);
    const serials = desk.sandbox.records('asset').map((one) => one['serial_number']);
    expect(new Set(serials).size).toBe(serials.length);
  });

  it('filters or reads the list, whichever is cheaper, where the probe cannot be believed', async () => {
    await open({ switches: { probe: 'ignored' } });
    desk.sandbox.insert('asset', range(1, 2500).map(record));
    const few = await desk.import(await desk.file('a.csv', sheet(range(2496, 2505))), job());
    expect(few.summary.rows).toMatchObject({ unchanged: 5, created: 5 });
    expect(desk.sandbox.requests.total).toBeLessThanOrEqual(
      mostRequests({ records: 2500, keys: 10, existing: 5, created: 5, probe: false }),
    );
    desk.sandbox.resetRequests();
    const many = await desk.import(await desk.file('b.csv', sheet(range(2001, 2600))), job());
    expect(many.summary.rows).toMatchObject({ unchanged: 505, created: 95 });
    expect(desk.sandbox.requests.total).toBeLessThanOrEqual(
      mostRequests({ records: 2505, keys: 600, existing: 505, created: 95, probe: false }),
    );
  });

  it('gives up on an ignored filter after one answer', async () => {
    await open({ switches: { filters: 'ignored' } });
    desk.sandbox.insert('asset', range(1, 2500).map(record));
    const file = await desk.file('a.csv', sheet([...range(1, 40), ...range(3001, 3600)]));
    const run = await desk.import(file, job('serial_number', { match: { key: 'serial_number', missing: 'skip' } }));
    expect(run.summary.rows).toMatchObject({ unchanged: 40, skipped: 600 });
    expect(desk.sandbox.requests.total).toBeLessThanOrEqual(100 + 2 + 10);
  });

  it('believes "not found" only after the filter has found a record that is there', async () => {
    // A filter that finds nothing at all, as one with another spelling of its parameter would.
    await open({
      faults: [
        {
          match: { path: /serial_number=SN/ },
          action: {
            kind: 'status',
            status: 200,
            body: '{"count":0,"next":null,"previous":null,"results":[]}',
            contentType: 'application/json',
          },
        },
      ],
    });
    desk.sandbox.insert('asset', range(1, 500).map(record));
    const file = await desk.file('a.csv', sheet([400, 401]));
    const run = await desk.import(file, job());
    expect(run.outcomes).toEqual(['2 unchanged', '3 unchanged']);
    expect(run.commits).toBe(0);
  });

  // What else it may come to: test/service/probe.test.ts.
  const failures: [string, FaultAction][] = [
    ['403', { kind: 'status', status: 403, body: '<html>no body in a GET</html>', contentType: 'text/html' }],
    ['503 for an hour', { kind: 'status', status: 503, retryAfter: 3600 }],
    ['no answer', { kind: 'timeout_before' }],
    ['a login page', { kind: 'html_login' }],
  ];

  it.each(failures)('does without the probe where it comes to %s', async (_, action) => {
    await open({ faults: [{ match: { path: /serial_number=list/ }, action }] });
    desk.sandbox.insert('asset', range(1, 700).map(record));
    const env = { ROWFERRY_TIMEOUT: '0.5' };
    const few = await desk.import(await desk.file('a.csv', sheet([350, 700, 701])), job(), { env });
    expect(few.outcomes).toEqual(['2 unchanged', '3 unchanged', '4 created']);
    expect(probed()).toBeLessThanOrEqual(2);
    expect(desk.sandbox.requests.total).toBeLessThanOrEqual(
      2 + mostRequests({ records: 700, keys: 3, existing: 2, created: 1, probe: false }),
    );
    desk.sandbox.resetRequests();
    const many = await desk.import(await desk.file('b.csv', sheet([1, 350, ...range(702, 1250)])), job(), { env });
    expect(many.summary.rows).toMatchObject({ unchanged: 2, created: 549 });
    expect(probed()).toBeLessThanOrEqual(2);
  });

  it('finds serial numbers that the service holds with an outer blank or in another Unicode form', async () => {
    await open();
    const odd = ['SN TRAIL ', ' SN LEAD', 'Ünïcode-7'.normalize('NFD')];
    desk.sandbox.insert('asset', [
      ...range(1, 700).map(record),
      ...odd.map((serial_number) => ({ name: 'Odd', serial_number, category: { id: 1 } })),
    ]);
    const rows = ['SN TRAIL', 'SN LEAD', 'Ünïcode-7', 'NEW'];
    const file = await desk.file('a.csv', table(rows.map((text) => ['Odd', text, '', 'seen'])));
    const run = await desk.import(file, job());
    expect(run.outcomes).toEqual(['2 updated', '3 updated', '4 updated', '5 created']);
    expect(run.results.map((row) => row['id'])).toEqual(['701', '702', '703', '704']);
    expect(desk.sandbox.records('asset')).toHaveLength(704);
  });

  it('finds names that the service holds with an outer blank or in another Unicode form, by its filter (98)', async () => {
    await open();
    const odd = ['TRAIL ', ' LEAD', 'Café'.normalize('NFD')];
    desk.sandbox.insert('asset', [...range(1, 700).map(record), ...odd.map((name) => ({ name, category: { id: 1 } }))]);
    const rows = ['TRAIL', 'LEAD', 'Café', 'Asset 7', 'NEW'];
    const file = await desk.file('a.csv', [['Name', 'Notes'], ...rows.map((text) => [text, 'seen'])]);
    const named = job('name', { columns: { Name: 'name', Notes: 'asset_notes' } });
    const run = await desk.import(file, named, { dryRun: true });
    expect(run.outcomes).toEqual(['2 updated', '3 updated', '4 updated', '5 updated', '6 created']);
    expect(run.results.map((row) => row['id']).slice(0, 4)).toEqual(['701', '702', '703', '7']);
    // Only names that are not found in the file's spelling are asked for in others.
    expect(filtered('name')).toBe(1 + 5 + 1 + 2 + 5 + 5);
    expect(mirrored()).toBe(1);
  });

  /** Stored texts by the keys that they equal. */
  const FORMS: Record<string, string> = {
    'SN-A1': '\uff33\uff2e\uff0d\uff21\uff11',
    'WK 77': 'WK\u00a077',
    'Rack 12 kg, used': 'Rack 12\u00a0kg, used',
    'END-1': 'END-1\u00a0',
    'BEGIN-1': '\u00a0BEGIN-1',
    'fibre-7': '\ufb01bre-7',
    '\u30ac\u30b9-5': '\uff76\uff9e\uff7d-5',
    '5 k\u03a9': '5 k\u2126',
  };

  it.each(['serial_number', 'name', 'asset_tag'])(
    'creates no second record where the %s is stored with no-break spaces, in full width or with ligatures (98)',
    async (field) => {
      await open();
      const stored = Object.values(FORMS).map((text, n) => ({ ...record(1001 + n), [field]: text }));
      desk.sandbox.insert('asset', [...range(1, 1600).map(record), ...stored]);
      const rows = Object.keys(FORMS).map((key, n) =>
        [`Asset ${1001 + n}`, serial(1001 + n), `T-${1001 + n}`].map((text, at) =>
          ['name', 'serial_number', 'asset_tag'][at] === field ? key : text,
        ),
      );
      const run = await desk.import(await desk.file('a.csv', table(rows)), job(field));
      expect(run.results.map(({ outcome, id }) => [outcome, id])).toEqual(
        rows.map((_, n) => ['unchanged', String(1601 + n)]),
      );
      expect(mirrored()).toBe(1);
    },
  );

  it('reads the list, which shows every form, as soon as asking for more of them is no cheaper (98)', async () => {
    await open();
    // 20 pages, and five forms of each name that is not there.
    desk.sandbox.insert('asset', [...range(1, 499).map(record), { ...record(1001), name: '\u{1d400}-1' }]);
    const rows = ['A-1', 'B-1', 'C-1', 'D-1', 'E-1'].map((name, n) => [name, serial(1001 + n)]);
    const run = await desk.import(await desk.file('a.csv', table(rows)), job('name'), { dryRun: true });
    expect(run.outcomes).toEqual(['2 unchanged', '3 created', '4 created', '5 created', '6 created']);
    expect(filtered('name')).toBe(1 + 5);
    expect(mirrored()).toBe(20 + 2);
  });

  const TWINS = ['SN\u200b-1', 'S\u00adN-1', 'SN\u202e-1'];

  it.each([
    ['the list', 60],
    ['a filter that finds parts of texts', 700],
  ] as const)('holds a row back whose key only looks like that of a record, shown by %s (98)', async (way, records) => {
    await open(way === 'the list' ? {} : { switches: { filters: 'contains' } });
    desk.sandbox.insert('asset', [
      ...range(1, records).map(record),
      { ...record(1001), asset_tag: 'Double  Blank' },
      { ...record(1002), asset_tag: 'A Double  Blank' },
    ]);
    const rows = ['Double  Blank', 'Double Blank', ...(way === 'the list' ? ['T-\u200b7'] : [])];
    const file = await desk.file('a.csv', table(rows.map((tag, n) => [`N ${n}`, `N-${n}`, tag])));
    const run = await desk.import(file, job('asset_tag'));
    expect(run.outcomes).toEqual(['2 updated', '3 ambiguous', '4 ambiguous'].slice(0, rows.length));
    expect(new Set(run.faults.map(({ code }) => code))).toEqual(new Set(['near_match']));
    const message = run.faults.find(({ row, message = '' }) => row === '3' && message.includes('record'))?.['message'];
    if (way === 'the list') expect(message).toContain(`that of the record ${records + 1} ("Double<2 blanks>Blank")`);
    expect(run.commits).toBe(1);
    expect(desk.sandbox.record('asset', records + 1)?.['asset_tag']).toBe('Double  Blank');
  });

  it.each([
    ['serial_number', {}],
    ['serial_number', { probe: 'ignored' }],
    ['serial_number', { filters: 'contains' }],
    ['name', {}],
    ['name', { filters: 'contains' }],
    ['name', { filters: 'ignore_case' }],
    ['name', { filters: 'ignored' }],
    [['asset_tag', 'serial_number'], {}],
  ] as const)(
    'creates no second record of one whose key looks the same and is looked up by filter: %s, %o',
    async (key, switches) => {
      await open({ switches });
      const stored = (text: string, n: number) => ({ name: text, serial_number: text, asset_tag: `X ${n}` });
      desk.sandbox.insert('asset', [
        ...range(1, 700).map(record),
        stored('NM 1', 1),
        stored('NW-LT-0004', 2),
        stored('Both  Kept', 3),
        stored('Both Kept', 3),
        // The first part of its key is that of a row, too.
        { ...record(1001), asset_tag: 'X  1' },
      ]);
      const rows = [
        ['NM  1', 'X  1'],
        ['NW-LT-\u200b0004', 'X 2'],
        ['Both  Kept', 'X 3'],
        ['NW-LT-0005', 'X 4'],
      ];
      const file = await desk.file('a.csv', table(rows.map(([text = '', tag = '']) => [text, text, tag])));
      const run = await desk.import(file, job(typeof key === 'string' ? key : [...key]));
      expect(run.outcomes).toEqual(['2 ambiguous', '3 ambiguous', '4 unchanged', '5 created']);
      expect(run.faults.map(({ row, code }) => [row, code])).toEqual([
        ['2', 'near_match'],
        ['3', 'near_match'],
      ]);
      expect(run.faults[0]?.['message']).toContain('as that of the record 701 (');
      expect(run.results[2]?.['id']).toBe('703');
      expect(desk.sandbox.records('asset')).toHaveLength(706);
      if (!('filters' in switches && switches.filters === 'ignored')) expect(mirrored()).toBe(1);
    },
  );

  it('holds the later of two rows back whose keys look the same, unless a record has just its key (98)', async () => {
    await open();
    const twins = ['SN-1', ...TWINS, 'SN - 2', 'SN  - 2', 'SN - 2'];
    const file = await desk.file('a.csv', table(twins.map((text) => ['Twin', text])));
    const run = await desk.import(file, job());
    expect(run.outcomes).toEqual([
      '2 created',
      '3 ambiguous',
      '4 ambiguous',
      '5 ambiguous',
      '6 created',
      '7 ambiguous',
      '8 duplicate',
    ]);
    expect(run.faults.slice(0, 4).map(({ code, message }) => [code, message?.slice(0, 84)])).toEqual([
      ['near_match', 'The key "SN<U+200B>-1" looks the same on the screen as that of row 2, "SN-1", and is'],
      ['near_match', 'The key "S<U+00AD>N-1" looks the same on the screen as that of row 2, "SN-1", and is'],
      ['near_match', 'The key "SN<U+202E>-1" looks the same on the screen as that of row 2, "SN-1", and is'],
      ['near_match', 'The key "SN<2 blanks>- 2" looks the same on the screen as that of row 6, "SN - 2", a'],
    ]);
    desk.sandbox.insert('asset', [{ name: 'Twin', serial_number: TWINS[0] ?? '', category: { id: 1 } }]);
    const again = await desk.import(file, job());
    expect(again.outcomes.slice(0, 3)).toEqual(['2 unchanged', '3 unchanged', '4 ambiguous']);
  });

  it('a key in another Unicode form leaves the form that the service keeps (98)', async () => {
    await open();
    for (const [text, outcome] of [
      ['WK 77', '2 created'],
      ['WK\u00a077', '2 unchanged'],
      ['\uff37K 77 ', '2 unchanged'],
      ['WK 77', '2 unchanged'],
    ] as const) {
      const run = await desk.import(await desk.file('a.csv', table([['One', text]])), job());
      expect(run.outcomes).toEqual([outcome]);
    }
    expect(desk.sandbox.records('asset').map((one) => one['serial_number'])).toContain('WK 77');
  });

  it('and where the job spells its field in capitals', async () => {
    await open();
    for (const [text, outcome] of [
      ['WK 77', '2 created'],
      ['\uff37K 77 ', '2 unchanged'],
    ] as const) {
      const run = await desk.import(await desk.file('a.csv', table([['One', text]])), job('SERIAL_NUMBER'));
      expect(run.outcomes).toEqual([outcome]);
    }
  });

  it('a custom field as the key: what is ambiguous names its column, and another Unicode form is the same', async () => {
    await open();
    const templates = (value: string) => [{ id: 1, fields: [{ id: 1, value }] }];
    desk.sandbox.insert('asset', [
      { ...record(1), templates: templates('CC 9') },
      { ...record(2), templates: templates('CC 9') },
      { ...record(3), templates: templates('CC 7') },
    ]);
    const file = await desk.file('a.csv', [
      ['Name', 'Centre'],
      ['Both', 'CC 9'],
      ['Asset 3', '\uff23C 7'],
    ]);
    const run = await desk.import(
      file,
      importOf('asset', 'template.Finance.Cost Centre', { Name: 'name', Centre: 'template.Finance.Cost Centre' }),
    );
    expect(run.outcomes).toEqual(['2 ambiguous', '3 unchanged']);
    expect(run.faults).toEqual([expect.objectContaining({ row: '2', column: 'Centre', code: 'ambiguous_match' })]);
  });

  it('never sends the serial number "list" as a filter', async () => {
    const { before } = await open();
    desk.sandbox.insert('asset', [...range(1, 200).map(record), { name: 'Odd', serial_number: 'list' }]);
    const one = await desk.import(await desk.file('a.csv', table([['Odd', 'list']])), job());
    expect(one.outcomes).toEqual(['2 unchanged']);
    const file = await desk.file(
      'b.csv',
      table([
        ['Odd', 'list'],
        ['New', 'LIST'],
        ['Asset 3', serial(3)],
      ]),
    );
    const run = await desk.import(file, job());
    expect(run.outcomes).toEqual(['2 unchanged', '3 created', '4 unchanged']);
    expect(run.results.map((row) => row['id'])).toEqual(['201', '202', '3']);
    expect(
      twice(before.slice(before.lastIndexOf('/company/1?')))
        .map((one) => one.slice(-1))
        .sort(),
    ).toEqual(['1', '9']);
  });

  it('creates a record with the serial number "list" once', async () => {
    await open();
    desk.sandbox.insert('asset', range(1, 200).map(record));
    const file = await desk.file('a.csv', table([['Odd', 'list']]));
    expect((await desk.import(file, job())).outcomes).toEqual(['2 created']);
    const again = await desk.import(file, job());
    expect(again.outcomes).toEqual(['2 unchanged']);
    expect(again.results[0]?.['id']).toBe('201');
  });

  it('finds again what it created under a spelling that is not the normal one', async () => {
    await open();
    desk.sandbox.insert('asset', range(1, 700).map(record));
    // Full-width letters, a ligature, folded blanks: NFKC and trimming bring them to another form than was sent.
    const odd = ['ＳＮ-Ａ1', 'ﬁbre-7', 'A  B', ' C-9 ', 'D\u00a0E'];
    const file = await desk.file('a.csv', table([...odd.map((text) => ['Odd', text])]));
    const first = await desk.import(file, job());
    expect(first.summary.rows.created).toBe(odd.length);
    expect(first.results.map((row) => row['id']).sort()).toEqual(['701', '702', '703', '704', '705']);
    const again = await desk.import(file, job());
    expect(again.summary.rows.unchanged).toBe(odd.length);
    const many = await desk.file(
      'b.csv',
      table([...odd.map((text) => ['Odd', text]), ...range(1001, 1600).map((n) => ['N', serial(n)])]),
    );
    const probing = await desk.import(many, job());
    expect(probing.summary.rows).toMatchObject({ unchanged: odd.length, created: 600 });
  });

  it('creates nothing twice where look-ups lag behind writes', async () => {
    await open({
      switches: { lag: 150 },
      faults: [
        { match: { method: 'POST', nth: 2 }, action: { kind: 'timeout_after' } },
        { match: { method: 'POST', nth: 4 }, action: { kind: 'close_after' } },
      ],
    });
    const file = await desk.file('a.csv', sheet(range(1, 6)));
    const run = await desk.import(file, job(), {
      env: { ROWFERRY_SETTLE_WINDOW: '0.05,0.3,0.6', ROWFERRY_TIMEOUT: '0.5' },
    });
    expect(run.summary.rows.created).toBe(6);
    expect(desk.sandbox.records('asset').map((one) => one['serial_number'])).toHaveLength(6);
  });
});

describe('the company', () => {
  const hidden = (path: RegExp, status: number) => ({ match: { path }, action: { kind: 'status' as const, status } });

  it('that may be written to but not looked at is named in a warning', async () => {
    await open({ faults: [hidden(/^\/company/, 403)] });
    desk.sandbox.insert('asset', range(1, 60).map(record));
    const run = await desk.import(await desk.file('a.csv', sheet([3, 61])), job());
    expect([run.exitCode, ...run.outcomes]).toEqual([0, '2 unchanged', '3 created']);
    expect(run.summary.warnings.join('\n')).toMatch(/name of company 1 could not be checked.*403/);
    expect(run.notices.join('\n')).toContain('Importing into company 1 at');
  });

  it('that is not shown by its id is looked up in the list', async () => {
    await open({ faults: [hidden(/^\/company\/\d/, 404)] });
    const run = await desk.import(await desk.file('a.csv', sheet([1])), job());
    expect(run.outcomes).toEqual(['2 created']);
    expect(run.summary.warnings).toEqual([]);
    expect(run.notices.join('\n')).toContain('Northwind Operations (company 1)');
    const archived = await desk.import(await desk.file('b.csv', sheet([2])), job(), { company: 2 });
    expect([archived.exitCode, archived.summary.reason]).toEqual([1, expect.stringContaining('is archived')]);
  });

  it.each([404, 403])('that is not shown by its id stops the run where the list answers %d', async (status) => {
    await open({ faults: [hidden(/^\/company\/\d/, 404), hidden(/^\/company\?/, status)] });
    const run = await desk.import(await desk.file('a.csv', sheet([1])), job());
    expect([run.exitCode, run.outcomes]).toEqual([1, ['2 not_attempted']]);
    expect(run.summary.reason).toContain('There is no company 1');
    expect(desk.sandbox.requests.writes).toBe(0);
  });

  it('that is not there at all stops the run', async () => {
    await open();
    const run = await desk.import(await desk.file('a.csv', sheet([1])), job(), { company: 99 });
    expect([run.exitCode, run.outcomes]).toEqual([1, ['2 not_attempted']]);
    expect(run.summary.reason).toContain('There is no company 99');
  });
});

describe('a list that moves while it is read', () => {
  it.each([
    ['inserted', '16'],
    ['removed', '16'],
    ['removed and inserted at once', '16'],
    ['removed and inserted at once', '1'],
  ])('creates no duplicate when records are %s and %s requests are in flight', async (what, concurrency) => {
    let pages = 0;
    await open({
      onRequest(request) {
        if (request.path !== '/asset/' || request.query.has('serial_number')) return;
        pages++;
        if (pages === 5 || pages === 9) {
          if (what !== 'inserted') for (const id of [pages, pages + 1, pages + 40]) desk.sandbox.remove('asset', id);
          if (what === 'removed and inserted at once')
            desk.sandbox.insert('asset', range(pages * 1000, pages * 1000 + 2).map(record));
          else if (what === 'inserted')
            desk.sandbox.insert('asset', range(pages * 1000, pages * 1000 + 40).map(record));
        }
      },
    });
    desk.sandbox.insert('asset', range(1, 1000).map(record));
    const file = await desk.file('a.csv', sheet([...range(60, 900), ...range(5000, 5010)]));
    const run = await desk.import(file, job(), { env: { ROWFERRY_CONCURRENCY: concurrency } });
    const serials = desk.sandbox.records('asset').map((one) => one['serial_number']);
    expect(serials.filter((one, at) => serials.indexOf(one) !== at)).toEqual([]);
    expect(run.summary.rows.total).toBe(852);
    expect(run.summary.rows.unchanged + run.summary.rows.created).toBe(852);
  });
});

describe('ids behind empty answers', () => {
  it.each([1, 2, 30, 1000])('are learned for %i created rows at a request for 25', async (rows) => {
    await open();
    desk.sandbox.insert('asset', range(1, 3000).map(record));
    const file = await desk.file('a.csv', sheet(range(5001, 5000 + rows)));
    const run = await desk.import(file, job());
    expect(run.summary.rows.created).toBe(rows);
    for (const row of run.results)
      expect(desk.sandbox.record('asset', Number(row['id']))?.['serial_number']).toBe(row['key']);
    expect(desk.sandbox.requests.total).toBeLessThanOrEqual(
      mostRequests({ records: 3000, keys: rows, existing: 0, created: rows }),
    );
  });

  it('are learned also while others insert', async () => {
    let posts = 0;
    await open({
      onRequest(request) {
        if (request.method !== 'POST' || ++posts % 3 !== 0) return;
        desk.sandbox.insert('asset', [
          { name: `Other ${posts}`, serial_number: `OTHER-${posts}` },
          { name: 'No serial' },
        ]);
      },
    });
    desk.sandbox.insert('asset', range(1, 300).map(record));
    const file = await desk.file('a.csv', sheet(range(1001, 1120)));
    const run = await desk.import(file, job());
    expect(run.summary.rows.created).toBe(120);
    for (const row of run.results)
      expect(desk.sandbox.record('asset', Number(row['id']))?.['serial_number']).toBe(row['key']);
  });

  it('are learned for keys of several fields', async () => {
    await open();
    desk.sandbox.insert('asset', range(1, 300).map(record));
    for (const rows of [2, 40]) {
      const file = await desk.file('a.csv', table([...range(1, rows).map((n) => [`New ${n}`, `X-${rows}`, `T-${n}`])]));
      const run = await desk.import(file, job(['serial_number', 'asset_tag']));
      expect(run.summary.rows.created).toBe(rows);
      for (const { id, row } of run.results as { id: string; row: string }[]) {
        expect(desk.sandbox.record('asset', Number(id))?.['asset_tag']).toBe(`T-${Number(row) - 1}`);
      }
    }
  });

  it('are settled by look-up for keys of several fields', async () => {
    await open({ faults: [{ match: { method: 'POST', nth: 1 }, action: { kind: 'close_after' } }] });
    desk.sandbox.insert('asset', range(1, 300).map(record));
    const file = await desk.file('a.csv', table([['New', 'X-1', 'T-1']]));
    const run = await desk.import(file, job(['serial_number', 'asset_tag']));
    expect(run.outcomes).toEqual(['2 created']);
    expect(desk.sandbox.records('asset')).toHaveLength(301);
  });

  it('are learned for suppliers and contracts', async () => {
    await open();
    desk.sandbox.insert(
      'supplier',
      range(1, 60).map((n) => ({ name: `Old ${n}` })),
    );
    const suppliers = await desk.import(
      await desk.file('s.csv', [['Name'], ...range(1, 45).map((n) => [`New ${n}`])]),
      { kind: 'import', resource: 'supplier', match: { key: 'name' }, columns: { Name: 'name' } },
    );
    for (const row of suppliers.results)
      expect(desk.sandbox.record('supplier', Number(row['id']))?.['name']).toBe(row['key']);
    const columns = {
      No: 'number',
      Title: 'name',
      Vendor: 'supplier',
      Start: 'contract_start_date',
      End: 'contract_end_date',
      Total: 'total_contract_spend_value',
      Notice: 'notice_period',
    };
    const contracts = await desk.import(
      await desk.file('c.csv', [
        Object.keys(columns),
        ...range(1, 33).map((n) => [`N-${n}`, `Contract ${n}`, 'New 3', '2025-01-01', '2026-01-01', 5, 30]),
      ]),
      importOf('contract', 'number', columns, {
        constants: {
          contract_type: 'buy_side',
          status: 'active',
          country: 'US',
          'category.name': 'Services',
          end_of_term_clause: 'auto_expires',
        },
      }),
    );
    expect(contracts.summary.rows.created).toBe(33);
    for (const row of contracts.results)
      expect(desk.sandbox.record('contract', Number(row['id']))?.['number']).toBe(row['key']);
  });
});
