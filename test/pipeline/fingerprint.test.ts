import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Decimal } from '../../src/model/decimal.js';
import { warning } from '../../src/model/issue.js';
import { importJob } from '../../src/model/job.js';
import type { Fields, Value } from '../../src/model/value.js';
import { fingerprints, type PlanOptions, planByFingerprint, planRow } from '../../src/pipeline/plan/plan.js';
import { decodeHead, type ResolvedRow, rowCodec } from '../../src/pipeline/rows.js';
import { putAt } from '../../src/resources/path.js';
import { resourceSpec } from '../../src/resources/registry.js';
import type { FieldSpec, Lexicon, ResourceName, ResourceSpec } from '../../src/resources/spec.js';
import { createBody } from '../../src/resources/write.js';
import type { Json, Snapshot } from '../../src/service/port.js';
import { lexicon } from '../resources/lexicon.js';
import { records } from '../resources/records.js';
import { shownAfter } from '../resources/service-model.js';

const RESOURCES: readonly ResourceName[] = ['asset', 'contract', 'supplier'];
const NOTHING = () => undefined;

interface Meeting {
  readonly spec: ResourceSpec;
  readonly fields: readonly string[];
  readonly set: Fields;
  readonly record: Json;
  readonly remembered?: Json | undefined;
  readonly habits?: Pick<Lexicon, 'dateOrder'>;
  readonly row?: Partial<ResolvedRow>;
}

/** What the fingerprints say of a row that meets a record, and what looking at all values says. */
async function decided({ spec, fields, set, record, remembered, habits = {}, row: more }: Meeting) {
  const print = fingerprints(spec, fields);
  const row: ResolvedRow = { ref: { row: 2 }, key: 'K', set, issues: [], ...more };
  const snapshot: Snapshot = {
    add: () => undefined,
    ids: () => [Number(record['id'])],
    addFingerprint: () => undefined,
    hasId: () => true,
    has: () => true,
    idByFingerprint: (_, fingerprint) => (print?.ofRecord(record) === fingerprint ? Number(record['id']) : undefined),
    get: async () => ({ record, readAt: 1 }),
    size: 1,
    close: async () => undefined,
  };
  const key = spec.fields.find(({ name }) => name !== 'id')?.name ?? '';
  const specOf = (name: string): FieldSpec | undefined => spec.fields.find((one) => one.name === name);
  const options = {
    job: importJob.parse({ kind: 'import', resource: spec.name, match: { key }, columns: { Key: key } }),
    spec,
    company: 1,
    lexicon: { ...lexicon, ...habits },
    snapshot,
    known: { ids: () => [], nameOf: NOTHING },
    memory: { lastWritten: () => remembered },
    specOf,
    columnOf: (field: string) => `The ${field}`,
    accepted: new Set<string>(),
    omittedIsKept: false,
    warn: NOTHING,
  } as unknown as PlanOptions;
  const codec = rowCodec(fields);
  const line = codec.encode(row, print?.ofRow(set));
  const head = decodeHead(JSON.parse(`${line.slice(0, line.indexOf('\t'))}]`) as unknown[]);
  const short = planByFingerprint(head, options);
  return { short, long: short && (await planRow(codec.decode(JSON.parse(line) as unknown[]), options)) };
}

const shown = (spec: ResourceSpec, fields: Fields) =>
  shownAfter(spec.name, 7, createBody(spec, 1, fields, lexicon).body) as Json;

/** Fields that have a place of their own in what reads show. */
const ownOf = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !/^(template|form)\./.test(name)));

describe('fingerprints of rows and records', () => {
  test.each(RESOURCES)('are equal only where putting the row onto the record changes nothing: %s', async (resource) => {
    const spec = resourceSpec(resource);
    let met = 0;
    await fc.assert(
      fc.asyncProperty(
        records(spec),
        fc.array(fc.constantFrom(...spec.fields.map(({ name }) => name)), { maxLength: 3 }),
        fc.constantFrom('drop', 'clear', 'keep', 'keep', 'keep'),
        fc.option(records(spec), { nil: undefined, freq: 1 }),
        async (all, chosen, what, other) => {
          const fields = ownOf(all);
          const set: Record<string, Value> = { ...fields, ...(other && what === 'keep' ? pick(other, chosen) : {}) };
          for (const name of chosen) if (what === 'drop') delete set[name];
          for (const name of chosen) if (what === 'clear' && name in set) set[name] = null;
          const { short, long } = await decided({ spec, fields: Object.keys(fields), set, record: shown(spec, all) });
          if (short) met++;
          if (short) expect(long).toEqual(short);
        },
      ),
      { numRuns: 600 },
    );
    expect(met).toBeGreaterThan(20);
  });

  test('whatever the service shows, and whatever the run learns of how it writes dates', async () => {
    const spec = resourceSpec('asset');
    const days = ['2024-04-03', '2024-03-04', '2024-04-30'];
    const rawDays = [
      ...days,
      '03/04/2024',
      '04/03/2024',
      '30/04/2024',
      '3 April 2024',
      '2024-04-03T10:00:00Z',
      '2024-4-3',
      ' ',
    ];
    const amounts = ['1.2', '1200', '1.25', '1200.5', '0'].map(Decimal.of);
    const rawAmounts = [
      1.2,
      1200,
      1.25,
      '1.200',
      '1,200',
      '1.20',
      '1200',
      '1200.50',
      '1.200,5',
      '1,200.5',
      '',
      Decimal.of('1200'),
    ];
    const choices: Readonly<Record<string, readonly [readonly Value[], readonly unknown[]]>> = {
      name: [
        ['a', '5', ' a'],
        ['a', ' a', 5, '5', {}],
      ],
      service_start_date: [days, rawDays],
      original_cost: [amounts, rawAmounts],
      warranty_type: [
        ['none', 'oem', 'gold_level_support'],
        ['none', 'oem', 'OEM', null, 'gold_level_support'],
      ],
      attached_supplier: [
        [{ id: 3 }, { id: 3, name: 'x' }, { id: 4, name: 'y' }],
        [{ id: 3, name: 'z' }, { id: '4' }, 4, 'y', { name: 'y' }, {}],
      ],
      country: [
        [{ id: 276, name: 'Germany' }, { id: 40 }],
        ['Germany', 'DE', 'Home', 276, '040', 'Austria'],
      ],
      usage_status: [
        [{ id: 1 }, { id: 3 }],
        [{ id: 1, name: 'Production' }, 'None', { id: 3 }, 1],
      ],
    };
    const names = Object.keys(choices);
    const one = <T>(of: readonly T[]) => fc.option(fc.constantFrom(...of), { nil: null });
    let met = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(...names.map((name) => one(choices[name]![0]))),
        fc.tuple(...names.map((name) => one(choices[name]![1]))),
        fc.subarray(names, { minLength: 1 }),
        fc.record({ dateOrder: fc.constantFrom('dmy', 'mdy', undefined) }),
        fc.option(fc.constant({ warranty_type: 'gold_level_support', inventory_no: '7' } as Json), { nil: undefined }),
        async (values, raws, fields, habits, remembered) => {
          const set = Object.fromEntries(fields.map((name) => [name, values[names.indexOf(name)] ?? null]));
          const record: Record<string, unknown> = { id: 7 };
          for (const name of fields) {
            putAt(record, spec.fields.find((field) => field.name === name)?.read ?? '', raws[names.indexOf(name)]);
          }
          const meeting = { spec, fields, set, record: record as Json, habits, remembered };
          const { short, long } = await decided(meeting);
          if (short) met++;
          if (short) expect(long).toEqual(short);
        },
      ),
      { numRuns: 4_000 },
    );
    expect(met).toBeGreaterThan(100);
  });

  test('a warning of the row stays with it', async () => {
    const spec = resourceSpec('supplier');
    const issues = [warning('rule_nrc_total', 'text', { field: 'name' })];
    const meeting = { spec, fields: ['name'], set: { name: 'A' }, record: { id: 7, name: 'A' }, row: { issues } };
    const { short, long } = await decided(meeting);
    expect(short?.issues).toEqual([{ ...issues[0], column: 'The name' }]);
    expect(long).toEqual(short);
  });

  test('are not had of fields that reads do not show, or show among others', () => {
    const spec = resourceSpec('asset');
    expect(fingerprints(spec, ['name', 'inventory_no'])).toBeUndefined();
    expect(fingerprints(spec, ['name', 'template.5.51'])).toBeUndefined();
    expect(fingerprints(spec, ['name', 'id'])).toBeDefined();
  });

  test('tell apart which field holds a value, its kind, and where one value ends', () => {
    const print = fingerprints(resourceSpec('asset'), ['name', 'manufacturer', 'original_cost']);
    const sets: readonly Fields[] = [
      {},
      { name: 'ab' },
      { manufacturer: 'ab' },
      { name: 'a', manufacturer: 'b' },
      { name: 'ba' },
      { original_cost: Decimal.of('1') },
      { original_cost: '1' },
      { original_cost: 1 },
      { original_cost: { id: 1 } },
      { original_cost: ['1'] },
      { original_cost: ['1', ''] },
    ];
    expect(new Set(sets.map((set) => print?.ofRow(set))).size).toBe(sets.length);
    expect(print?.ofRow({ name: null, manufacturer: '' })).toBe(print?.ofRow({}));
  });
});

function pick(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(names.flatMap((name) => (name in fields ? [[name, fields[name] ?? null]] : [])));
}
