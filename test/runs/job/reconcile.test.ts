import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  exportJob,
  importJob,
  orphanRules,
  type ReconcileJob,
  reconcileBrakes,
  reconcileJob,
} from '../../../src/model/job.js';
import { checkJobText, problemLine } from '../../../src/runs/job-file.js';

const GOOD = `kind: reconcile
resource: asset
match: { key: serial_number }
columns:
  Item: name
  Serial: serial_number
  Cost: original_cost
constants: { city: Oslo }
defaults: { room: A1 }
`;
const CONTRACT = `kind: reconcile
resource: contract
match: { key: number, missing: skip }
columns: { No: number, Title: name, Status: status }
`;

/** `line:column message` of every problem; warnings say so. */
function problemsOf(text: string): string[] {
  return checkJobText(text).problems.map((problem) => problemLine('j', problem).slice(2));
}

function jobOf(text: string): ReconcileJob {
  const { job, problems } = checkJobText(text);
  expect(problems.map(({ message }) => message)).toEqual([]);
  if (job?.kind !== 'reconcile') throw new Error(`not a reconcile job: ${job?.kind}`);
  return job;
}

/** What stands below the good job, and what is said of it. */
const ADDED: readonly [lines: string, ...expected: string[]][] = [
  // Shape
  ['repeat: true', '10:1 `repeat` belongs to import jobs; known in a reconcile job: kind, resource'],
  ['edited_from: x', '10:1 `edited_from` belongs to import jobs'],
  ['output: a.csv', '10:1 `output` belongs to export jobs'],
  ['orphan: {}', '10:1 unknown key `orphan`, did you mean `orphans`?'],
  ['compare: { autority: {} }', '10:12 unknown key `autority`, did you mean `authority`?'],
  ['orphans: { actoin: report }', '10:12 unknown key `actoin`, did you mean `action`?'],
  ['read: { fulll_every: 3 }', '10:9 unknown key `fulll_every`, did you mean `full_every`?'],
  ['brakes: { same_fil: stop }', '10:11 unknown key `same_fil`, did you mean `same_file`?'],
  ['brakes: { unknown_keys: no }', '10:25 `brakes.unknown_keys` is "no"; it must be one of: stop, warn'],
  ['read: { full_every: 0 }', '10:21 `read.full_every` is "0"; it must be 1 or more'],
  ['orphans: { set: { floor: "1" }, after: 0 }', '`orphans.after` is "0"; it must be 1 or more'],
  ['apply: "yes"', '10:8 `apply` must be true or false, not "yes"'],
  [
    'compare: { authority: { name: servce } }',
    '10:31 `compare.authority.name` is "servce"; it must be one of: file, service, fill, did you mean `service`?',
  ],
  ['compare: { fields: name }', '10:20 `compare.fields` must be a list, not "name"'],
  ['compare: { fields: [] }', '10:20 `compare.fields` is an empty list'],
  ['scope: { city: [] }', '10:16 `scope.city` is an empty list'],
  ['scope: { city: { a: 1 } }', '10:16 `scope.city` must be text, a number, true or false, ~ or a list, not a mapping'],
  [
    'retire: { lifecycle_stage: ~ }',
    '10:28 `retire.lifecycle_stage` must be text, a number or true or false, not empty',
  ],
  // Compare
  ['compare: { fields: [nam] }', '10:21 an asset has no field `nam`, did you mean `name`?'],
  ['compare: { authority: { nam: file } }', '10:25 an asset has no field `nam`, did you mean `name`?'],
  [
    'compare: { fields: [name, asset_notes] }',
    '10:27 `asset_notes` is set by no column, constant or default, so there is nothing to compare',
  ],
  ['compare: { authority: { asset_notes: fill } }', '10:25 `asset_notes` is set by no column'],
  ['compare: { fields: [template.Finance.Budget] }', '10:21 `template.Finance.Budget` is set by no column'],
  ['compare: { fields: ["*"] }', '10:21 an asset has no field `*`'],
  ['compare: { authority: { cost: file, original_cost: fill } }', 'the same field as `cost`'],
  // Orphans
  ['orphans: { action: delete }', '10:20 `orphans.action` is "delete"; it must be one of: report, archive, set'],
  [
    'orphans: { action: archiv }',
    '10:20 `orphans.action` is "archiv"; it must be one of: report, archive, set, did you mean `archive`?',
  ],
  ['orphans: { action: [set] }', '10:20 `orphans.action` must be report, archive, set or a mapping'],
  ['orphans: { action: { sett: { floor: "1" } } }', '10:22 unknown key `sett`, did you mean `set`?'],
  ['orphans: { action: { set: 5 } }', '10:27 `orphans.action.set` must be a mapping of keys to values, not "5"'],
  ['orphans: { action: set }', '10:12 `action: set` and `set: { field: value }` belong together'],
  ['orphans: { set: {} }', '10:12 `orphans.set` names no field'],
  [
    'orphans: { action: report, set: { floor: "1" } }',
    '10:12 `action: set` and `set: { field: value }` belong together',
  ],
  [
    'orphans: { action: { set: { floor: "1" } }, set: { floor: "2" } }',
    '`set` stands beside `action: { set: … }`; keep one',
  ],
  ['orphans: { action: archive }', '10:20 assets have no archive: use `set: { lifecycle_stage: Retired }`'],
  [
    'orphans: { set: { lifecycle_stge: Retired } }',
    '10:19 an asset has no field `lifecycle_stge`, did you mean `lifecycle_stage`?',
  ],
  ['orphans: { action: { set: { lifecycle_stge: Retired } } }', '10:29 an asset has no field `lifecycle_stge`'],
  ['orphans: { set: { region: EU } }', '10:19 `region` can only be read'],
  ['orphans: { set: { area: North } }', '10:19 `area` cannot be set: it is fixed when an asset is created'],
  ['orphans: { set: { id: 5 } }', '10:19 `id` cannot be set'],
  ['orphans: { set: { serial: gone } }', '10:19 `serial` is the key of this job'],
  ['orphans: { set: { warranty_type: gone } }', '10:34 "gone" is none of the accepted values'],
  ['orphans: { set: { lifecycle_stage: " " } }', '10:36 the value is blank; state a value'],
  ['orphans: { set: { bldg_name: A, bldng_name: B } }', '`bldng_name` is given twice: `bldg_name` sets it already'],
  // Retire
  ['retire: { lifecycle_stge: Retired }', '10:11 an asset has no field `lifecycle_stge`, did you mean'],
  ['retire: { original_cost: much }', '10:26 "much" cannot be read as a number'],
  ['retire: {}', '10:1 `retire` names no field; write `retire: { field: value }`'],
  // Scope
  [
    'scope: { category.nam: Laptop }',
    '10:10 scope: asset records show no "category.nam". Did you mean "category.name"',
  ],
  ['scope: { inventory_no: x }', '10:10 scope: "inventory_no" can be written, but the service never shows it'],
  [
    'scope: { original_cost: much, warranty_type: [oem, oemm] }',
    '10:25 scope: "original_cost": "much" must be a number',
    '10:52 scope: "warranty_type": "oemm" must be one of',
  ],
  ['scope: { service_start_date: 2025-02-29 }', '10:30 scope: "service_start_date": "2025-02-29" must be a date'],
  [
    'scope: { company: 2, req: warranty }',
    '10:10 scope: asset records show no "company"',
    '10:22 scope: asset records show no "req"',
  ],
  ['scope: { template.Finance: x }', '10:10 the name is incomplete'],
  ['scope: { city: a, " City": b }', '10:19 scope: " City" is the same as "city"; write both values as a list'],
];

/** The fault stands where the number says; what has no number stands anywhere in a line. */
const FAULTS: readonly [title: string, yaml: string, ...expected: string[]][] = [
  // Kind
  [
    'a misspelt kind',
    GOOD.replace('reconcile', 'reconcil'),
    '1:7 `kind` is "reconcil"; it must be import, export or reconcile, did you mean `reconcile`?',
  ],
  [
    'values beside archive',
    `${CONTRACT}orphans: { action: archive, set: { status: archived } }\n`,
    '5:12 `action: set` and `set: { field: value }` belong together',
  ],
  [
    'an archive of suppliers',
    'kind: reconcile\nresource: supplier\nmatch: { key: name }\ncolumns: { N: name }\norphans: { action: archive }\n',
    '5:20 suppliers have no archive: use `set: { field: value }`',
  ],
  [
    'a value too long',
    `${GOOD}orphans: { set: { lifecycle_stage: ${'x'.repeat(51)} } }\n`,
    '10:36 Lifecycle stage has 51 characters',
  ],
  [
    'a status that updates do not take',
    `${CONTRACT}orphans: { set: { status: expired } }\n`,
    '5:27 "expired" is not accepted in an update, which takes only: active, archived',
  ],
  ['retire in an import', `${GOOD.replace('reconcile', 'import')}retire: { area: x }\n`, '10:11 `area` cannot be set'],
  [
    'a form of a supplier',
    'kind: reconcile\nresource: supplier\nmatch: { key: name }\ncolumns: { N: name }\nscope: { form.A.B: 1 }\n',
    '5:10 a supplier has no custom forms',
  ],
  // Customers
  [
    'customers',
    'kind: reconcile\nresource: customer\nmatch: { key: name }\ncolumns: { N: name }\norphans: { set: { city: x } }\n',
    '2:11 customers cannot be reconciled: the service neither lists nor shows them',
  ],
  // Reconcile keys in an import
  [
    'reconcile brakes in an import',
    `${GOOD.replace('reconcile', 'import')}brakes: { same_file: warn }\n`,
    '10:11 `brakes.same_file` belongs to reconcile jobs; known here: max_invalid',
  ],
  [
    'reconcile keys in an import',
    `${GOOD.replace('reconcile', 'import')}scope: {}\nread: {}\napply: true\n`,
    '10:1 `scope` belongs to reconcile jobs; known in an import job',
    '11:1 `read` belongs',
    '12:1 `apply` belongs',
  ],
  ...ADDED.map(([lines, ...expected]): [string, string, ...string[]] => [lines, `${GOOD}${lines}\n`, ...expected]),
];

describe('a reconcile job', () => {
  it('needs no more than an import, and says what it leaves out', () => {
    expect(jobOf(GOOD)).toMatchObject({
      compare: { authority: {} },
      orphans: { action: 'report', after: 2 },
      scope: {},
      apply: false,
      read: { full_every: 7 },
      brakes: { min_rows: 1, same_file: 'stop', unknown_keys: 'stop' },
    });
  });

  it.each(FAULTS)('is refused for %s', (_, yaml, ...expected) => {
    const lines = problemsOf(yaml);
    expect(checkJobText(yaml).job).toBeUndefined();
    for (const words of expected) {
      const found = lines.some((line) => (/^\d/.test(words) ? line.startsWith(words) : line.includes(words)));
      expect(found, `${words}\n${lines.join('\n')}`).toBe(true);
    }
  });

  it('lists every fault, top to bottom, each once', () => {
    const lines = problemsOf(
      `${GOOD}compare:\n  fields: [nam, room]\n  authority: { "*": flie, cityy: file }\norphans: { action: archive, after: x }\nscope: { cty: 1 }\nretire: { region: x }\nread: { full_every: 0 }\n`,
    );
    expect(lines.map((line) => line.split(' ')[0])).toEqual([
      '11:12',
      '12:21',
      '12:27',
      '13:20',
      '13:36',
      '14:10',
      '15:11',
      '16:21',
    ]);
  });

  it('takes all forms of an action', () => {
    const orphans = (yaml: string) => jobOf(`${GOOD}orphans: ${yaml}\n`).orphans;
    const set = { lifecycle_stage: 'Retired' };
    expect(orphans('{ action: report }')).toEqual({ action: 'report', after: 2 });
    expect(orphans('{ action: { set: { lifecycle_stage: Retired } } }')).toEqual({ action: 'set', set, after: 2 });
    expect(orphans('{ action: set, set: { lifecycle_stage: Retired }, after: 1 }')).toEqual({
      action: 'set',
      set,
      after: 1,
    });
    expect(orphans('{ set: { lifecycle_stage: Retired } }')).toEqual({ action: 'set', set, after: 2 });
    expect(jobOf(`${CONTRACT}orphans: { action: archive, after: 5 }\n`).orphans).toEqual({
      action: 'archive',
      after: 5,
    });
    expect(orphans('{ set: { template.Finance.Cost Centre: none, owner: Ada Park } }').set).toHaveProperty('owner');
  });

  it('compares what columns, constants and defaults set, by name or alias', () => {
    const { compare } = jobOf(
      `${GOOD}compare: { fields: [name, cost, city, room], authority: { city: service, ROOM: fill, "*": file } }\n`,
    );
    expect(compare).toEqual({
      fields: ['name', 'cost', 'city', 'room'],
      authority: { city: 'service', ROOM: 'fill', '*': 'file' },
    });
    // Whether a name and an id mean the same custom field, the service alone knows.
    const custom = GOOD.replace('  Cost:', '  Budget: template.1.2\n  Cost:');
    jobOf(`${custom}compare: { authority: { template.Finance.Budget: service } }\n`);
    expect(problemsOf(`${custom}compare: { fields: [form.A.B] }\n`)[0]).toContain('set by no column');
  });

  it('names the records it is about as exports do', () => {
    const { scope } = jobOf(
      `${GOOD}scope: { category.name: [Laptop, 3], asset_tag: 007, country: de, contract: ~, template.Finance.Cost Centre: CC-1, form.Data centre.Rack: A1 }\n`,
    );
    expect(Object.keys(scope)).toHaveLength(6);
    expect(scope['asset_tag']).toBe('007');
    // A value that no record has is fine.
    jobOf(`${GOOD}scope: { category.name: Spaceship, manufacturer: Acme, city: "" }\n`);
  });

  it('may have the id as its key, and rules for what is there and what is not', () => {
    jobOf('kind: reconcile\nresource: contract\nmatch: { key: id, missing: fail }\ncolumns: { Id: id, T: name }\n');
    jobOf(GOOD.replace('key: serial_number', 'key: serial_number, existing: skip, missing: skip'));
  });
});

describe('whatever a person writes into a reconcile job', () => {
  const nested = fc.constantFrom(
    ...Object.keys(reconcileJob.shape),
    ...Object.keys(importJob.shape),
    ...Object.keys(exportJob.shape),
    ...Object.keys(orphanRules.in.shape),
    ...Object.keys(reconcileBrakes.shape),
    ...['name', 'authority', 'fields', '*', 'id', 'template.Finance', 'form.A.B', 'category.name', '__proto__'],
  );

  it('is answered with a job or with problems, never with a crash', () => {
    fc.assert(
      fc.property(
        fc.object({ key: nested, maxDepth: 4 }),
        fc.constantFrom(...['asset', 'contract', 'customer']),
        (value, resource) => {
          const job = { kind: 'reconcile', resource, match: { key: 'name' }, columns: { N: 'name' }, ...value };
          const { job: good, problems } = checkJobText(JSON.stringify(job, null, 1));
          expect(good === undefined).toBe(problems.some(({ severity }) => severity === 'error'));
          for (const { line, column, message } of problems) {
            expect([line > 0, column > 0]).toEqual([true, true]);
            expect(message).not.toContain('[object');
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});
