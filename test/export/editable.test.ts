import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { exportColumns } from '../../src/export/columns.js';
import type { Importable } from '../../src/export/editable.js';
import { EDITABLE_MARK, editableColumns, editableJob, importedFields } from '../../src/export/editable.js';
import { resourceSpec } from '../../src/resources/registry.js';
import { type CustomTemplate, type ResourceName, WRITABLE } from '../../src/resources/spec.js';
import { checkJobText } from '../../src/runs/job-file.js';
import { lexicon } from '../resources/lexicon.js';

const field = (id: number, name: string, dataType: CustomTemplate['fields'][number]['dataType'] = 'text') => ({
  id,
  name,
  dataType,
  active: true,
});

/** Names that YAML, dots and ids make hard to write. */
const NAMES = [
  'a: b',
  '# no comment',
  '~',
  'null',
  '2024',
  'true',
  '- x',
  '"quoted"',
  'two\nlines',
  'v1.2',
  '{a}',
  'é',
];

const catalogue = {
  templates: (['asset', 'contract', 'supplier'] as const).flatMap((resource, at): CustomTemplate[] => {
    const owner = 10 * (at + 1);
    const active = { resource, active: true };
    return [
      { id: owner, name: 'Finance', ...active, fields: NAMES.map((name, n) => field(owner * 100 + n, name)) },
      { id: owner + 1, name: 'Finance', ...active, fields: [field(owner * 100 + 50, '50', 'money')] },
      { id: owner + 2, name: `Old ${resource}`, resource, active: false, fields: [field(owner * 100 + 60, 'A')] },
    ];
  }),
  forms: [
    {
      id: 7,
      name: 'Data. centre',
      resource: 'asset',
      active: true,
      fields: [
        field(71, 'Rack.A'),
        field(72, '71', 'number'),
        field(73, 'Photo', 'attachment'),
        { ...field(74, 'Gone'), active: false },
      ],
    },
  ],
};

const columnsOf = (resource: ResourceName) => exportColumns(resource, { lexicon, ...catalogue });
const options = { company: 3, format: 'csv', file: 'a.csv', job: 'a.yaml', catalogue } as const;
const jobOf = (resource: ResourceName, columns: readonly Importable[] = columnsOf(resource)) =>
  editableJob(resource, columns, options);

describe.each(WRITABLE)('the job of an exported %s file', (resource) => {
  test('passes the check without a remark', () => {
    expect(checkJobText(jobOf(resource)).problems).toEqual([]);
  });

  test('names the export that wrote the file, where that is known', () => {
    const run = '20261121T081502123Z-3f9a';
    const text = editableJob(resource, columnsOf(resource), { ...options, run });
    expect(checkJobText(text)).toMatchObject({ job: { edited_from: run }, problems: [] });
    expect(jobOf(resource)).not.toContain('edited_from');
    const fields = importedFields(resource, columnsOf(resource), catalogue);
    const { columns } = parse(text) as { columns: Record<string, string | null> };
    for (const { field, index } of fields) expect(columns[columnsOf(resource)[index]?.heading ?? '']).toBe(field);
    expect(fields.length).toBe(Object.values(columns).filter((one) => one !== null && one !== 'id').length);
  });

  test('names every column in the order of the file, and maps each that an update can write and reads show', () => {
    const { columns } = parse(jobOf(resource)) as { columns: Record<string, string | null> };
    const headings = columnsOf(resource).map(({ heading }) => heading);
    const written = [...jobOf(resource).matchAll(/^ {2}(?:"(.*)"|'(.*)'|([^:\n]*)): /gmu)];
    expect(written.length).toBeGreaterThan(25);
    expect(Object.keys(columns).sort()).toEqual(headings.filter((one) => !one.startsWith('_')).sort());
    const mapped = Object.values(columns).filter((one) => one !== null);
    const spec = resourceSpec(resource);
    const expected = spec.fields.filter(({ read, readElse, update }) => (read ?? readElse) && update !== undefined);
    const custom = mapped.filter((one) => /^(?:template|form)\./.test(one));
    expect(mapped.filter((one) => !custom.includes(one)).sort()).toEqual(
      [...expected.map(({ name }) => name), 'id'].sort(),
    );
    expect(custom).toHaveLength(NAMES.length + 1 + (resource === 'asset' ? 2 : 0));
  });

  test('says of every other column why it is left out', () => {
    const left = jobOf(resource)
      .split('\n')
      .filter((line) => /: ~/.test(line) && !/"~"|'~'/.test(line));
    expect(left.length).toBeGreaterThan(0);
    for (const line of left) expect(line).toMatch(/: ~ # \S+/);
  });
});

test('the job as a person reads it', () => {
  const wanted = [
    'id',
    'name',
    'area',
    'category.id',
    'category.name',
    'asset_owner.email',
    'template.10.1004',
    'template.Old asset.A',
  ];
  const chosen = columnsOf('asset').filter(({ heading }) => wanted.includes(heading));
  const text = editableJob('asset', chosen, {
    ...options,
    format: 'xlsx',
    sheet: 'Assets: 2024',
    file: 'my assets.xlsx',
    job: 'my assets.yaml',
  });
  expect(text.split('\n')[0]).toBe(EDITABLE_MARK);
  expect(text.slice(text.indexOf('kind:'))).toBe(`kind: import
resource: asset
company: 3

source:
  format: xlsx
  sheet: "Assets: 2024"
  header_row: 1
  dates: [yyyy-MM-dd]
  decimal: "."

match:
  key: id
  existing: update
  missing: fail

blank: keep # an emptied cell keeps the value; \`clear\` empties it, here for all columns or \`{ field: room, blank: clear }\` for one

columns:
  id: id
  name: name
  category.id: ~ # for information
  category.name: category.name
  asset_owner.email: ~ # the service works it out itself
  area: ~ # can be set when a record is created only
  template.10.1004: template.10.1004
  template.Old asset.A: ~ # for information
`);
});

test('headings of any form are the headings of the file', () => {
  const columns = [
    { heading: 'id' },
    ...[...NAMES, 'x'.repeat(1_100), ' outer ', "it's", 'tab\there', '😀'].map((heading) => ({ heading })),
  ];
  const { problems, job } = checkJobText(jobOf('supplier', columns));
  expect(problems).toEqual([]);
  expect(Object.keys(job?.columns ?? {}).sort()).toEqual(columns.map(({ heading }) => heading).sort());
});

test('two columns of one field: the first is imported', () => {
  const columns = [{ heading: 'id' }, { heading: 'A', field: 'name' }, { heading: 'B', field: 'name' }];
  expect(jobOf('asset', columns)).toMatch(/ {2}A: name\n {2}B: ~ # for information: A sets the same field\n/);
});

test('without a column of ids there is no job', () => {
  expect(() => jobOf('asset', [{ heading: 'name', field: 'name' }])).toThrowError(
    expect.objectContaining({ kind: 'usage', message: expect.stringContaining('`id`') }),
  );
});

test('columns that are not imported are marked, with the reason; the others are not', () => {
  const references = () => 'by reference';
  const columns = editableColumns('asset', columnsOf('asset'), catalogue, references);
  const of = (heading: string) => columns.find((one) => one.heading === heading);
  expect(of('area')).toMatchObject({
    readOnly: true,
    note: expect.stringContaining('Not imported: can be set when a record is created only.'),
  });
  expect(of('form.Data. centre.Photo')).toMatchObject({
    readOnly: true,
    note: expect.stringContaining('An attachment'),
  });
  expect(of('id')).toMatchObject({ readOnly: true, note: expect.stringContaining('Leave it as it is') });
  expect(of('name')?.readOnly).toBeUndefined();
  const record = {
    json: {},
    read: {
      id: 1,
      fields: { 'category.name': { id: 4, name: 'Laptop' }, name: 'N' },
      losses: [{ field: 'country', text: 'Atlantis', why: '' }],
      unknown: [],
    },
  };
  expect([of('category.name')?.text(record), of('country')?.text(record), of('name')?.text(record)]).toEqual([
    'by reference',
    'Atlantis',
    'N',
  ]);
});
