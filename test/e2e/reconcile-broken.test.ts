import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withHome } from '../../src/store/home.js';
import { csvText, type Desk, type Night, openNights, outcomes, worldText } from './reconcile-night.js';

/**
 * Ten ways, and a few more, in which an ERP's file may be broken, after one good night. None may write anything, with the
 * brakes that a job has when it names none; and each says why in words that the person who gets the report understands.
 */

const ROWS = 500;
const HEADINGS = ['Serial', 'Name', 'Tag', 'Cost', 'Start', 'Category', 'Sub', 'Owner', 'Room', 'City', 'Notes'];
const at = (heading: string) => HEADINGS.indexOf(heading);

const JOB = {
  kind: 'reconcile',
  resource: 'asset',
  source: { dates: ['yyyy-MM-dd'], decimal: '.' },
  match: { key: 'serial_number', unique_field: 'serial_number' },
  columns: {
    Serial: { field: 'serial_number', required: true },
    Name: { field: 'name', required: true },
    Tag: 'asset_tag',
    Cost: 'original_cost',
    Start: 'service_start_date',
    Category: 'category.name',
    Sub: 'category.subcategory',
    Owner: 'asset_owner',
    Room: { field: 'room', blank: 'clear' },
    City: 'city',
    Notes: 'asset_notes',
  },
};

const CITIES = ['Bern', 'Kraków', 'São Paulo', 'Lyon'];
const SUBS = ['Business', 'Engineering', 'Rugged'];
const OWNERS = ['Ada Park', 'Ben Osei', 'Elena Rossi'];
const two = (n: number) => String(n).padStart(2, '0');
const start = (i: number, century = 20) => `${century}${two(10 + (i % 15))}-${two((i % 12) + 1)}-${two((i % 28) + 1)}`;
const grouped = (cents: number) => (cents / 100).toFixed(2).replace(/\B(?=(\d{3})+(?!\d))/g, ',');
const cents = (i: number) => 100_000 + ((i * 7919) % 900_000);

/** The rows of the ERP as they should be. */
const row = (i: number): string[] => [
  `SN-${10_000 + i}`,
  `Laptop ${i}`,
  `T-${i}`,
  grouped(cents(i)),
  start(i),
  'Laptop',
  SUBS[i % 3]!,
  OWNERS[i % 3]!,
  `R-${i % 40}`,
  CITIES[i % 4]!,
  `Bought for team ${i % 9}, "as is"`,
];
const all = () => Array.from({ length: ROWS }, (_, i) => row(i));
const body = (i: number) => ({
  serial_number: `SN-${10_000 + i}`,
  name: `Laptop ${i}`,
  asset_tag: `T-${i}`,
  original_cost: cents(i) / 100,
  service_start_date: start(i),
  category: { id: 1, subcategory: SUBS[i % 3] },
  asset_owner: [1, 2, 5][i % 3],
  room: `R-${i % 40}`,
  city: CITIES[i % 4],
  asset_notes: `Bought for team ${i % 9}, "as is"`,
  floor: String(i % 7),
});

const text = (rows: readonly (readonly string[])[], headings: readonly string[] = HEADINGS) =>
  csvText([headings, ...rows]);
/** All rows, with other cells under some headings; undefined leaves one as it is. */
const changed = (cells: Readonly<Record<string, (i: number, cells: readonly string[]) => string | undefined>>) =>
  text(all().map((row, i) => row.map((cell, n) => cells[HEADINGS[n]!]?.(i, row) ?? cell)));
/** All rows, under some other headings. */
const renamed = (headings: Readonly<Record<string, string>>) =>
  text(
    all(),
    HEADINGS.map((one) => headings[one] ?? one),
  );

const commaTurned = () =>
  changed({ Cost: (_, cells) => cells[at('Cost')]!.replace(/[.,]/g, (mark) => (mark === '.' ? ',' : '.')) });

interface Broken {
  readonly name: string;
  readonly file: () => string;
  /** Other parts of the job than the usual. */
  readonly job?: object;
  readonly codes: readonly number[];
  /** All of these are said. */
  readonly says: readonly RegExp[];
  /** Also report-only and with `--force`. */
  readonly more?: true;
}

const BROKEN: readonly Broken[] = [
  { name: 'empty', file: () => '', codes: [1, 2, 4], says: [/empty/i] },
  {
    name: 'nothing but the heading',
    file: () => text([]),
    codes: [4],
    says: [/min_rows/, /\bno\b|\b0\b/, /rows/],
  },
  {
    name: 'cut in half at the end of a row',
    file: () => text(all().slice(0, ROWS / 2)),
    codes: [4],
    says: [/max_change/, /250/, /500/, /max_orphans/],
    more: true,
  },
  {
    name: 'cut in half in the middle of a row',
    file: () => {
      const whole = text(all());
      return whole.slice(0, whole.indexOf('Laptop 250') + 4);
    },
    codes: [4],
    says: [/max_change/, /251/, /500/],
  },
  {
    name: 'cut in half inside quotes',
    file: () => {
      const whole = text(all());
      return whole.slice(0, whole.indexOf('Bought', whole.length / 2) + 9);
    },
    codes: [1, 2, 4],
    says: [/quot|cut|incomplete|end of the file/i],
  },
  {
    name: 'a heading renamed',
    file: () => renamed({ Cost: 'Purchase price' }),
    codes: [2],
    says: [/"?Cost"?/, /heading|column/i],
  },
  {
    name: 'a heading misspelt',
    file: () => renamed({ Owner: 'Ownr' }),
    codes: [2],
    says: [/Owner/, /Ownr/],
  },
  {
    name: 'the values of two columns swapped',
    file: () => changed({ Room: (_, cells) => cells[at('City')]!, City: (_, cells) => cells[at('Room')]! }),
    codes: [4],
    says: [/max_updates/, /500/, /25\s?%/, /room/i, /city/i],
    more: true,
  },
  {
    name: 'the headings of two columns swapped',
    file: () => renamed({ Name: 'Tag', Tag: 'Name' }),
    codes: [4],
    says: [/max_updates/, /Name/, /Tag/],
  },
  {
    name: 'the file of another company',
    file: () => changed({ Serial: (i) => `ZX-${70_000 + i}` }),
    codes: [4],
    says: [/company/i, /\bkeys?\b/i, /max_orphans/],
  },
  {
    name: 'the file of another company, of which every third number is known by chance',
    file: () => changed({ Serial: (i) => (i % 3 === 0 ? undefined : `ZX-${70_000 + i}`) }),
    codes: [4],
    says: [/company/i, /\bkeys?\b/i],
  },
  {
    name: 'everything upper-cased',
    file: () => text(all()).toUpperCase(),
    codes: [4],
    says: [/max_invalid/, /500/, /Category|Owner/i],
  },
  {
    name: 'the decimal comma turned, whole amounts',
    file: () => changed({ Cost: (i) => `${1 + (i % 9)}.${200 + (i % 700)}` }),
    codes: [4],
    says: [/max_updates/, /500/, /cost/i],
  },
  {
    name: 'the decimal comma turned, in a job with max_invalid',
    file: commaTurned,
    job: { brakes: { max_invalid: '20%' } },
    codes: [4],
    says: [/max_invalid/, /500/, /Cost/],
  },
  {
    name: 'the decimal comma turned, in a job without max_invalid',
    file: commaTurned,
    codes: [4],
    says: [/500/, /invalid|cannot be/i, /Cost/],
  },
  {
    name: 'the dates shifted by a century',
    file: () => changed({ Start: (i) => start(i, 19) }),
    codes: [4],
    says: [/max_updates/, /500/, /start/i],
  },
  {
    name: 'the file of another resource',
    file: () =>
      text(
        Array.from({ length: ROWS }, (_, i) => [`C-${i}`, `Frame ${i}`, 'Acme', '2024-01-01', '2026-01-01', '100.00']),
        ['Contract No', 'Title', 'Vendor', 'Start', 'End', 'Total'],
      ),
    codes: [2],
    says: [/10 of 11 headings of job `\w+` are missing/],
  },
  {
    name: 'the file of another resource under the same headings',
    file: () => changed({ Serial: (i) => `C-${2_000 + i}`, Name: (i) => `Frame contract ${i}` }),
    codes: [4],
    says: [/\bkeys?\b/i, /resource|kind/i],
  },
  {
    name: 'an error page in place of the file',
    file: () => '<html><head><title>502 Bad Gateway</title></head>\n<body>nginx</body></html>\n',
    codes: [1, 2],
    says: [/HTML|heading|table/i],
  },
  {
    name: 'a column that clears comes empty',
    file: () => changed({ Room: () => '' }),
    codes: [4],
    says: [/max_cleared/, /room/i, /500/],
  },
  {
    name: 'the column with the numbers comes empty',
    file: () => changed({ Serial: () => '' }),
    codes: [4],
    says: [/500|\bno key|readable key|Serial/i],
  },
];

let desk: Desk;
let job: string;
let first: Night;

beforeAll(async () => {
  desk = await openNights();
  job = await desk.job('erp', JOB);
  // The first night: 15 rows differ, 5 are new.
  desk.sandbox.insert(
    'asset',
    Array.from({ length: ROWS - 5 }, (_, i) => ({ ...body(i), ...(i < 15 ? { city: 'Nowhere' } : {}) })),
  );
  first = await desk.night(await desk.file('good.csv', text(all())), job, { apply: true });
});
afterAll(() => desk.close());

let homes = 0;
/** A home folder that knows what the desk's knows. */
async function homeLike(): Promise<string> {
  const home = join(desk.dir, `home-${++homes}`);
  // What SQLite keeps beside a database comes and goes while it is open: it makes the copy itself.
  await cp(desk.home, home, { recursive: true, filter: (path) => !path.includes('home.db') });
  withHome(desk.home, (database) => database.prepare('vacuum into ?').run(join(home, 'home.db')));
  return home;
}

/** What the person is told: on the screen, and in the summary with its most common faults. */
const said = (night: Night) =>
  `${night.summary.reason ?? ''}\n${night.err}\n${JSON.stringify(night.summary.top_faults ?? [])}`;
/** The reason without the run's own id. */
const reason = ({ summary }: Night) => summary.reason?.replaceAll(summary.run, 'RUN');

describe('a broken file after a good night', () => {
  it('the good night wrote, and a good file after it passes', async () => {
    expect([first.code, first.summary.status, first.writes], first.err).toEqual([0, 'succeeded', 20]);
    const next = await desk.file('next.csv', changed({ City: (i) => (i < 7 ? 'Basel' : undefined) }));
    const night = await desk.night(next, job, { home: await homeLike() });
    expect([night.code, night.summary.rows['updated'], night.writes], said(night)).toEqual([0, 7, 0]);
  });

  it.each(BROKEN)('$name: nothing is written, and it says why', async ({ file, job: other, codes, says, more }) => {
    const path = await desk.file('broken.csv', file());
    const own = other ? await desk.job('other', { ...JOB, ...other }) : job;
    // The nights of a job are kept under its name: another job's first night is a good one, too.
    const home = await homeLike();
    const before = worldText(desk);
    if (other) {
      const good = await desk.night(join(desk.dir, 'good.csv'), own, { home, apply: true });
      expect([good.code, good.writes], said(good)).toEqual([0, 0]);
    }
    const night = await desk.night(path, own, { apply: true, home });
    expect({
      code: night.code,
      writes: night.writes,
      said: codes.includes(Number(night.code)) ? '' : said(night),
    }).toEqual({
      code: codes.find((code) => code === night.code) ?? codes,
      writes: 0,
      said: '',
    });
    expect(worldText(desk)).toBe(before);
    for (const words of says) expect(said(night)).toMatch(words);
    expect(said(night)).not.toMatch(/undefined|NaN|\[object|TypeError|RangeError|\bat .*\.js:\d/);
    if (night.code !== 4) return;

    expect(night.summary.status).toBe('braked');
    expect(night.summary.reason).toBeTruthy();
    // Complete reports: every row is told, none as written.
    const told = Object.values(outcomes(night));
    expect(told).toHaveLength(night.summary.rows['total'] ?? -1);
    expect(told.filter((outcome) => outcome === 'updated' || outcome === 'created')).toEqual([]);
    for (const name of ['reconcile.xlsx', 'report.html', 'differences.csv'])
      expect(night.summary.reports).toContain(name);

    if (!more) return;
    // A report-only run looks at the same brakes and says the same.
    const dry = await desk.night(path, own, { home });
    expect([dry.code, reason(dry)]).toEqual([4, reason(night)]);
    const forced = await desk.night(path, own, { home, force: true });
    expect([0, 3], said(forced)).toContain(forced.code);
    expect(forced.summary.status).not.toBe('braked');
    expect(forced.writes).toBe(0);
    // What was overridden is said.
    expect(forced.summary.warnings.join('\n')).toMatch(/force|brake/i);
  });

  it('a decimal comma that shows itself in a job that leaves it open is no difference', async () => {
    const open = await desk.job('open', { ...JOB, source: { ...JOB.source, decimal: 'auto' } });
    const turned = await desk.file('comma.csv', commaTurned());
    const night = await desk.night(turned, open, { apply: true, home: await homeLike() });
    expect([night.code, night.writes, night.summary.rows['unchanged']], said(night)).toEqual([0, 0, ROWS]);
  });

  it('a braked night leaves the memory of the good one: the next whole file passes', async () => {
    const home = await homeLike();
    const half = await desk.file('half.csv', text(all().slice(0, ROWS / 2)));
    for (const apply of [true, false]) expect((await desk.night(half, job, { home, apply })).code).toBe(4);
    const next = await desk.file('whole.csv', text(all().reverse()));
    const night = await desk.night(next, job, { home, apply: true });
    expect([night.code, night.writes, night.summary.rows['unchanged']], said(night)).toEqual([0, 0, ROWS]);
  });

  it('yesterday’s file, after people and a newer file changed things', async () => {
    const home = await homeLike();
    const newer = changed({ City: (i) => (i >= 100 && i < 120 ? 'Basel' : undefined) });
    const second = await desk.night(await desk.file('newer.csv', newer), job, { apply: true, home });
    expect([second.code, second.writes], said(second)).toEqual([0, 20]);
    for (const one of desk.sandbox.records('asset').slice(300, 310))
      desk.sandbox.edit('asset', one['id'] as number, { room: 'By hand' });
    const before = worldText(desk);
    const old = join(desk.dir, 'good.csv');
    const night = await desk.night(old, job, { apply: true, home });
    expect([night.code, night.writes], said(night)).toEqual([4, 0]);
    expect(said(night)).toMatch(/same_file/);
    expect(said(night)).toContain(first.summary.run);
    expect(worldText(desk)).toBe(before);
    // The newest one again: what people changed since stands, too.
    const again = await desk.night(join(desk.dir, 'newer.csv'), job, { apply: true, home });
    expect([again.code, again.writes], said(again)).toEqual([4, 0]);
    expect(said(again)).toContain(second.summary.run);
    expect(worldText(desk)).toBe(before);

    const forced = await desk.night(old, job, { apply: true, force: true, home });
    expect([forced.code, forced.writes], said(forced)).toEqual([0, 30]);
    expect(forced.commits.map((one) => one.method)).toEqual(Array(30).fill('PUT'));
  });

  it('--apply --force of a braked file does what the report said', async () => {
    const home = await homeLike();
    const swapped = BROKEN.find((one) => one.name === 'the values of two columns swapped')!;
    const path = await desk.file('swapped.csv', swapped.file());
    expect((await desk.night(path, job, { home, apply: true })).code).toBe(4);
    const forced = await desk.night(path, job, { home, apply: true, force: true });
    expect([forced.code, forced.summary.status, forced.writes], said(forced)).toEqual([0, 'succeeded', ROWS]);
    expect(forced.summary.warnings.join('\n')).toMatch(/max_updates/);
    const records = new Map(desk.sandbox.records('asset').map((one) => [one['serial_number'], one]));
    for (const [i, cells] of all().entries())
      expect(records.get(cells[0])).toMatchObject({
        room: CITIES[i % 4],
        city: `R-${i % 40}`,
        floor: i < 495 ? String(i % 7) : null,
      });
  });
});
