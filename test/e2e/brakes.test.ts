import { readdirSync, readFileSync } from 'node:fs';
import { access, mkdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { brakes } from '../../src/model/job.js';
import { trippedByPlan, trippedByRejections } from '../../src/pipeline/plan/brakes.js';
import { csv, type Desk, type Imported, openDesk } from '../support/desk.js';

let desk: Desk;
beforeEach(async () => {
  desk = await openDesk();
});

const job = (limits: object = {}, more: object = {}) => ({
  kind: 'import',
  resource: 'asset',
  match: { key: 'serial_number' },
  columns: {
    Name: 'name',
    Serial: 'serial_number',
    Notes: { field: 'asset_notes', blank: 'clear' },
    Cost: 'original_cost',
  },
  brakes: limits,
  ...more,
});

const HEADINGS = ['Name', 'Serial', 'Notes', 'Cost'];

/** Ten rows: two invalid, two new, three to be updated of which one loses a value, three unchanged. */
async function tenRows(): Promise<string> {
  desk.sandbox.insert(
    'asset',
    [1, 2, 3, 4, 5, 6].map((n) => ({
      name: `A${n}`,
      serial_number: `S-${n}`,
      asset_notes: 'old',
      category: { id: 1 },
    })),
  );
  return desk.file('ten.csv', [
    HEADINGS,
    ['A1', 'S-1', 'new', ''],
    ['A2', 'S-2', 'new', ''],
    ['A3', 'S-3', '', ''],
    ['A4', 'S-4', 'old', ''],
    ['A5', 'S-5', 'old', ''],
    ['A6', 'S-6', 'old', ''],
    ['N7', 'S-7', 'x', '5'],
    ['N8', 'S-8', 'x', '5'],
    ['B9', 'S-9', 'x', 'five'],
    ['', 'S-10', 'x', '1'],
  ]);
}

const newRows = (count: number) =>
  csv([HEADINGS, ...Array.from({ length: count }, (_, n) => [`N${n}`, `N-${n}`, 'x', '1'])]);

const PLANNED = [
  '2 updated',
  '3 updated',
  '4 updated',
  '5 unchanged',
  '6 unchanged',
  '7 unchanged',
  '8 created',
  '9 created',
  '10 invalid',
  '11 invalid',
];

describe('a brake on the plan', () => {
  const cases: [name: string, allows: string | number, stops: string | number][] = [
    ['max_invalid', 2, 1],
    ['max_invalid', '20%', '19.9%'],
    ['max_creates', 2, 1],
    ['max_creates', '20%', '19%'],
    ['max_updates', 3, 2],
    ['max_updates', '30%', '29.99%'],
    ['max_cleared', 1, 0],
    ['max_cleared', '10%', '9.9%'],
    ['min_rows', 10, 11],
  ];

  it.each(cases)('%s: %s lets the run go on', async (name, allows) => {
    const run = await desk.import(await tenRows(), job({ [name]: allows }));
    expect(run.exitCode).toBe(3);
    expect(run.summary.status).toBe('partial');
    expect(run.outcomes).toEqual(PLANNED);
    expect(run.commits).toBe(5);
  });

  it.each(cases)('%s, not %s but %s, stops it before anything is written', async (name, _, stops) => {
    const file = await tenRows();
    const run = await desk.import(file, job({ [name]: stops }));
    expect(run.exitCode).toBe(4);
    expect(run.summary.status).toBe('braked');
    expect(run.summary.reason).toContain(name);
    expect(desk.sandbox.requests.writes).toBe(0);
    // Complete: what is wrong with rows is told, the others were not attempted.
    expect(run.outcomes).toEqual(PLANNED.map((one) => one.replace(/created|updated/, 'not_attempted')));
    expect(run.faults.map((fault) => `${fault['row']} ${fault['code']}`)).toEqual(
      expect.arrayContaining(['10 not_a_number', '11 required']),
    );
    expect(run.summary.rows).toMatchObject({ total: 10, invalid: 2, not_attempted: 5, unchanged: 3 });
    for (const row of run.results) if (row['outcome'] === 'not_attempted') expect(row['message']).toContain(name);
    for (const report of run.summary.reports) await access(join(run.reportDir, report));

    const dry = await desk.import(file, job({ [name]: stops }), { dryRun: true });
    expect([dry.exitCode, dry.summary.status, dry.summary.reason]).toEqual([4, 'braked', run.summary.reason]);
    expect(dry.outcomes).toEqual(PLANNED);
    expect(desk.sandbox.requests.writes).toBe(0);

    const forced = await desk.import(file, job({ [name]: stops }), { force: true });
    expect(forced.summary.status).toBe('partial');
    expect(forced.outcomes).toEqual(PLANNED);
    expect(forced.summary.warnings.join('\n')).toMatch(new RegExp(`--force.*${name}`));
  });

  it('leaves a plan to be approved where nothing but the number of rows stops it', async () => {
    const braked = await desk.import(await tenRows(), job({ min_rows: 11 }));
    const approved = await desk.approve(braked.summary.run, 'Ada Park');
    expect(approved.outcomes).toEqual(PLANNED);
    expect(approved.commits).toBe(5);
  });

  it('names every brake that it trips', async () => {
    const run = await desk.import(
      await tenRows(),
      job({ max_invalid: 0, max_updates: '1%', max_creates: 5, min_rows: 50 }),
    );
    expect(run.summary.reason).toMatch(/min_rows.*max_invalid.*max_updates/s);
    expect(run.summary.reason).not.toContain('max_creates');
  });

  it.each([
    [2, 1],
    ['20%', '19%'],
  ])('max_change: %s lets two rows more than ten pass, %s does not', async (allows, stops) => {
    const ten = await desk.file('a.csv', newRows(10));
    const twelve = await desk.file('b.csv', newRows(12));
    const jobs = (limit: number | string) => desk.file('assets.yaml', JSON.stringify(job({ max_change: limit })));
    // Nothing to compare with: a first run passes, and a rehearsal or a braked run is nothing to compare with either.
    await desk.import(await desk.file('c.csv', newRows(1)), await jobs(0), { dryRun: true });
    expect((await desk.import(ten, await jobs(stops))).exitCode).toBe(0);
    const braked = await desk.import(twelve, await jobs(stops));
    expect([braked.exitCode, braked.commits]).toEqual([4, 0]);
    expect(braked.summary.reason).toMatch(/max_change.*12 rows.*10/);
    const fewer = await desk.import(await desk.file('d.csv', newRows(8)), await jobs(stops));
    expect(fewer.exitCode).toBe(4);
    expect((await desk.import(twelve, await jobs(allows))).exitCode).toBe(0);
  });

  it('max_change compares with the last run of the same job file, not of another one with the same name (107)', async () => {
    const text = JSON.stringify(job({ max_change: '5%' }));
    const one = await desk.file('assets.yaml', text);
    await mkdir(join(desk.dir, 'elsewhere'));
    const other = await desk.file('elsewhere/assets.yaml', text);
    const twelve = await desk.file('a.csv', newRows(12));
    const forty = await desk.file('b.csv', newRows(40));
    expect((await desk.import(twelve, one)).exitCode).toBe(0);
    expect((await desk.import(forty, other)).exitCode).toBe(0);
    expect((await desk.import(twelve, one)).exitCode).toBe(0);
    // However the path is written.
    expect((await desk.import(forty, relative(process.cwd(), one))).exitCode).toBe(4);
  });

  it('lets corrected rows pass, which are no measure for the next file either (106)', async () => {
    const limits = {
      max_invalid: '20%',
      max_creates: '40%',
      max_updates: '60%',
      max_rejected: '1%',
      max_change: '50%',
    };
    const assets = await desk.file('assets.yaml', JSON.stringify(job({ ...limits, max_creates: '100%' })));
    const rows = (count: number) =>
      Array.from({ length: count }, (_, n) => [`N${n}`, `N-${n}`, 'x', n < 4 ? 'five' : '1']);
    const whole = await desk.import(await desk.file('a.csv', [HEADINGS, ...rows(22)]), assets);
    expect(whole.summary.rows).toMatchObject({ created: 18, invalid: 4 });
    await desk.file('assets.yaml', JSON.stringify(job(limits)));
    const text = await readFile(join(whole.reportDir, 'rejected.csv'), 'utf8');
    expect(text).toContain('_row,_outcome,_codes,_message');
    // One of the four is corrected, three are still wrong: of few rows, and of corrected ones, a share says nothing.
    const corrected = await desk.import(await desk.file('rejected.csv', text.replace('five', '5')), assets);
    expect([corrected.summary.status, corrected.summary.rows.created]).toEqual(['partial', 1]);
    const many = text.trimEnd().split(/\r?\n/);
    const twelve = [many[0], ...Array.from({ length: 12 }, (_, n) => many[1]?.replaceAll('N-0', `M-${n}`))].join('\n');
    const sent = await desk.import(await desk.file('rejected.csv', twelve.replace('five', '5')), assets);
    expect([sent.summary.status, sent.summary.rows]).toEqual([
      'partial',
      expect.objectContaining({ created: 1, invalid: 11 }),
    ]);
    // Counts stay, and the last whole file is still what the next one is compared with.
    await desk.file('assets.yaml', JSON.stringify(job({ max_invalid: 2 })));
    expect((await desk.import(join(desk.dir, 'rejected.csv'), assets)).summary.reason).toContain('max_invalid');
    await desk.file('assets.yaml', JSON.stringify(job({ max_change: '50%' })));
    const cut = await desk.import(await desk.file('b.csv', [HEADINGS, ...rows(8)]), assets);
    expect(cut.summary.reason).toMatch(/max_change: the file has 8 rows, the last successful run had 22/);
  });

  it('stops a file without rows, unless the job expects one', async () => {
    const file = await desk.file('empty.csv', [HEADINGS]);
    const run = await desk.import(file, job());
    expect([run.exitCode, run.summary.status, run.summary.rows.total]).toEqual([4, 'braked', 0]);
    expect(run.summary.reason).toContain('min_rows');
    const meant = await desk.import(file, job({ min_rows: 0 }));
    expect([meant.exitCode, meant.summary.status]).toEqual([0, 'succeeded']);
  });

  it('counts percentages exactly', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 10_000 }),
        fc.integer({ min: 10, max: 50_000 }),
        fc.nat(50_000),
        (hundredths, rows, count) => {
          const limits = brakes.parse({ max_invalid: `${hundredths / 100}%`, max_rejected: `${hundredths / 100}%` });
          const exceeded = BigInt(count) * 10_000n > BigInt(hundredths) * BigInt(rows);
          const plan = { rows, invalid: count, creates: 0, updates: 0, cleared: 0 };
          expect(trippedByPlan(limits, plan, undefined).length > 0).toBe(exceeded);
          expect(trippedByRejections(limits, count, rows) !== undefined).toBe(exceeded);
        },
      ),
      {
        examples: [
          [57, 10_000, 57],
          [29, 10_000, 29],
          [57, 10_000, 58],
        ],
      },
    );
  });
});

describe('the brake on refusals', () => {
  const refuse = (from: number, to: number) => ({
    match: { method: 'POST', from, to },
    action: { kind: 'status', status: 400, body: '{"name":["Refused."]}' } as const,
  });
  const slowly = { env: { ROWFERRY_CONCURRENCY: '1' } };

  it.each([3, '30%'])('%s refusals of ten let the run go on', async (limit) => {
    desk.sandbox.setFaults([refuse(2, 4)]);
    const run = await desk.import(await desk.file('a.csv', newRows(10)), job({ max_rejected: limit }), slowly);
    expect(run.exitCode).toBe(3);
    expect(run.summary.rows).toMatchObject({ created: 7, rejected: 3, not_attempted: 0 });
  });

  it.each([2, '20%', '29.9%'])('more than %s stop it while it writes', async (limit) => {
    desk.sandbox.setFaults([refuse(2, 4)]);
    const file = await desk.file('a.csv', newRows(10));
    const run = await desk.import(file, job({ max_rejected: limit }), slowly);
    expect([run.exitCode, run.summary.status]).toEqual([4, 'braked']);
    expect(run.summary.reason).toContain('max_rejected: the service refused 3 of 10 rows');
    expect(run.outcomes).toEqual([
      '2 created',
      '3 rejected',
      '4 rejected',
      '5 rejected',
      ...['6', '7', '8', '9', '10', '11'].map((row) => `${row} not_attempted`),
    ]);
    expect(desk.sandbox.requests.writes).toBe(4);
    expect(run.results[0]?.['id']).toBe('1');
    for (const report of run.summary.reports) await access(join(run.reportDir, report));
  });

  it('is told with what was refused until the last answer came', async () => {
    desk.sandbox.setFaults([refuse(1, 60)]);
    const run = await desk.import(await desk.file('a.csv', newRows(60)), job({ max_rejected: 2 }));
    const { rejected = 0 } = run.summary.rows;
    expect(run.summary.reason).toContain(`the service refused ${rejected} of 60 rows`);
    expect(rejected).toBeGreaterThan(3);
  });

  it('is overridden by --force, with a warning', async () => {
    desk.sandbox.setFaults([refuse(2, 4)]);
    const run = await desk.import(await desk.file('a.csv', newRows(10)), job({ max_rejected: 0 }), {
      ...slowly,
      force: true,
    });
    expect(run.summary.rows).toMatchObject({ created: 7, rejected: 3, not_attempted: 0 });
    expect(run.summary.warnings.join('\n')).toMatch(/--force.*max_rejected/);
  });
});

describe('a dry run', () => {
  const fixtures = readdirSync('fixtures')
    .filter((name) => name.endsWith('.expected.json'))
    .map((name) => JSON.parse(readFileSync(join('fixtures', name), 'utf8')) as { file: string; job: string });

  /** What both runs must agree on: everything but the ids of records that do not exist yet. */
  const told = ({ results, faults, plan }: Imported) => ({
    results: results.map((row) => (row['outcome'] === 'created' ? { ...row, id: '' } : row)),
    faults,
    plan,
  });

  it.each(fixtures)(
    'says of every row of $file what the run then does, and sends no writing request',
    async ({ file, job }) => {
      await desk.close();
      desk = await openDesk({ seed: 'demo' });
      const dry = await desk.import(join('fixtures', file), job, { dryRun: true, force: true });
      expect(desk.sandbox.requests.writes).toBe(0);
      expect(dry.summary.dry_run).toBe(true);
      const run = await desk.import(join('fixtures', file), job, { force: true });
      // What is to be created is told of a plan; of a run that wrote it, the records have it.
      const created = new Set(dry.results.filter((line) => line['outcome'] === 'created').map((line) => line['row']));
      const ofCreates = dry.plan.filter((line) => created.has(line['row']));
      expect(new Set(ofCreates.map((line) => line['row']))).toEqual(created);
      expect(ofCreates.every((line) => line['id'] === '' && line['old'] === '' && line['kind'] === 'set')).toBe(true);
      expect(told({ ...dry, plan: dry.plan.filter((line) => !created.has(line['row'])) })).toEqual(told(run));
      expect(dry.summary.rows).toEqual(run.summary.rows);
      expect(dry.exitCode).toBe(run.exitCode);
      expect(dry.summary.top_faults).toEqual(run.summary.top_faults);
    },
  );
});

describe('the company', () => {
  it.each([
    [2, /2 \(Northwind Archive\) is archived/],
    [99, /no company 99/],
  ])('%i is refused before anything is written: the reports say so for every row', async (company, words) => {
    const file = await desk.file('a.csv', newRows(3));
    const run = await desk.import(file, job(), { company });
    expect([run.exitCode, run.summary.status, run.summary.company]).toEqual([1, 'failed', company]);
    expect(run.summary.reason).toMatch(words);
    expect(desk.sandbox.requests.writes).toBe(0);
    expect(run.outcomes).toEqual(['2 not_attempted', '3 not_attempted', '4 not_attempted']);
    expect(run.summary.rows.total).toBe(3);
    expect(run.summary.source?.rows).toBe(3);
  });

  it('that is archived is written to only with --force', async () => {
    const file = await desk.file('a.csv', newRows(3));
    const run = await desk.import(file, job(), { company: 2, force: true });
    expect(run.summary.rows.created).toBe(3);
    expect(desk.sandbox.records('asset', 2)).toHaveLength(3);
    expect(desk.sandbox.records('asset', 1)).toHaveLength(0);
    expect(run.summary.warnings.join('\n')).toMatch(/archived/);
  });

  it('of the flag stands over the job’s, the job’s over the settings’', async () => {
    const file = await desk.file('a.csv', newRows(1));
    const run = await desk.import(file, job({}, { company: 99 }), { company: 1, env: { ROWFERRY_COMPANY: '98' } });
    expect([run.summary.company, run.exitCode]).toEqual([1, 0]);
    const own = await desk.import(file, job({}, { company: 99 }), { env: { ROWFERRY_COMPANY: '1' } });
    expect([own.summary.company, own.exitCode]).toEqual([99, 1]);
    expect(run.notices.join('\n')).toContain('Northwind Operations');
  });
});

describe('headings', () => {
  it('that the job does not map are listed as a warning', async () => {
    const file = await desk.file('a.csv', [
      [...HEADINGS, 'Colour', 'Weight'],
      ['A', 'S', '', '', 'red', '2'],
    ]);
    const run = await desk.import(file, job());
    expect(run.exitCode).toBe(0);
    expect(run.summary.warnings.filter((text) => text.includes('"Colour"') && text.includes('"Weight"'))).toHaveLength(
      1,
    );
  });
});
