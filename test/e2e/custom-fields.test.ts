import { describe, expect, it } from 'vitest';
import { csv, type Desk, openDesk } from '../support/desk.js';
import { importOf } from '../support/jobs.js';
import { probed, stored, storedOne } from '../support/records.js';
import { hangVeil } from '../support/veil.js';

let desk: Desk;

const ASSET = { name: 'Box', serial_number: 'S-1', category: { id: 3, subcategory: 'Rack' } };
const FINANCE = {
  id: 1,
  fields: [
    { id: 1, value: 'CC-1' },
    { id: 2, value: 12.5 },
    { id: 3, value: '2024-02-29' },
    { id: 4, value: -7 },
  ],
};
const job = (columns: object, more: object = {}) =>
  importOf('asset', 'serial_number', { Serial: 'serial_number', ...columns }, more);
const one = (heading: string, cell: string) =>
  csv([
    ['Serial', heading],
    ['S-1', cell],
  ]);

async function deskWith(body: object): Promise<void> {
  desk = await openDesk();
  desk.sandbox.insert('asset', [{ ...ASSET, ...body }]);
}

describe('custom field templates', () => {
  it.each([
    ['template.Finance.Cost Centre', 'CC-9', 1, 'CC-9', 'template.Finance.Cost Centre'],
    ['template.Finance.Budget', '99,999,999,999,999.99', 2, '99999999999999.99', 'template.Finance.Budget'],
    ['template.Finance.Approved On', '2031-12-30', 3, '2031-12-30', 'template.Finance.Approved On'],
    ['template.finance.HEADCOUNT', '999999999999999', 4, 999999999999999, 'template.Finance.Headcount'],
    ['template.1.1', 'CC-9', 1, 'CC-9', 'template.Finance.Cost Centre'],
  ])(
    '%s: one value changes, the other values of the template and the record stay',
    async (field, cell, id, value, name) => {
      await deskWith({ templates: [FINANCE], room: 'R1', area: null });
      const wanted = storedOne(desk.sandbox, 'asset', 1);
      const values = (wanted['template'] as [{ values: [number, unknown][] }])[0].values;
      values.find(([at]) => at === id)![1] = value;
      const file = await desk.file('a.csv', one('New', cell));
      const result = await desk.import(file, job({ New: field }));
      expect([result.outcomes, result.faults]).toEqual([['2 updated'], []]);
      expect(result.plan.map((line) => `${line['field']} ${line['kind']}`)).toEqual([`${name} set`]);
      expect(storedOne(desk.sandbox, 'asset', 1)).toEqual(wanted);
      expect((await desk.import(file, job({ New: field }))).outcomes).toEqual(['2 unchanged']);
    },
  );

  it.each(['iso', 'datetime', 'long'] as const)(
    'are carried over by field id when something else changes (%s dates)',
    async (dates) => {
      await deskWith({ templates: [FINANCE] });
      desk.sandbox.setSwitches({ dates });
      const before = storedOne(desk.sandbox, 'asset', 1);
      const result = await desk.import(await desk.file('a.csv', one('Room', 'R2')), job({ Room: 'room' }));
      expect(result.outcomes).toEqual(['2 updated']);
      expect(storedOne(desk.sandbox, 'asset', 1)).toEqual({ ...before, room: 'R2' });
      const body = JSON.parse(desk.sandbox.commits[0]!.body!) as { template: { id: number; fields: { id: number }[] } };
      expect([body.template.id, body.template.fields.map(({ id }) => id).sort()]).toEqual([1, [1, 2, 3, 4]]);
    },
  );

  it('of contracts and suppliers are carried over too', async () => {
    desk = await openDesk({ seed: 'demo' });
    for (const [resource, id, field] of [
      ['contract', 13, 'timeline_notes'],
      ['supplier', 2, 'additional_description'],
    ] as const) {
      const before = storedOne(desk.sandbox, resource, id);
      expect(before['template']).toBeDefined();
      const file = await desk.file('a.csv', [
        ['Id', 'Note'],
        [id, 'n'],
      ]);
      const result = await desk.import(file, importOf(resource, 'id', { Id: 'id', Note: field }));
      expect(result.outcomes).toEqual(['2 updated']);
      expect(storedOne(desk.sandbox, resource, id)).toEqual({ ...before, [field]: 'n' });
    }
  });

  it.each([
    ['template', 'template.Finance.Cost Centre'],
    ['form_template', 'form.Data centre.Rack'],
  ])('a dropped %s is told of by its names', async (field, name) => {
    await deskWith({ templates: [FINANCE], form_template: [{ id: 1, custom_form_data: { Rack: 'A' } }] });
    desk.sandbox.setFaults([`PUT /asset drop_field=${field}`]);
    const result = await desk.import(await desk.file('a.csv', one('Room', 'R2')), job({ Room: 'room' }));
    expect(result.summary.reason).toContain(`did not keep ${name}`);
    expect(result.results[0]?.['message']).toContain(`no longer holds ${name}`);
    expect(JSON.stringify([result.summary, result.results])).not.toMatch(/(template|form)\.\d/);
  });

  it('a blank cell clears one value where the job says so; the template stays with the others', async () => {
    await deskWith({ templates: [FINANCE] });
    const columns = { Centre: 'template.Finance.Cost Centre', Budget: 'template.Finance.Budget' };
    const file = await desk.file('a.csv', 'Serial,Centre,Budget\r\nS-1,,');
    expect((await desk.import(file, job(columns))).outcomes).toEqual(['2 unchanged']);
    const result = await desk.import(file, job(columns, { blank: 'clear' }));
    expect(result.plan.map((line) => `${line['field']} ${line['kind']} ${line['old']}`)).toEqual([
      'template.Finance.Cost Centre clear CC-1',
      'template.Finance.Budget clear 12.5',
    ]);
    expect(storedOne(desk.sandbox, 'asset', 1)['template']).toEqual([
      {
        template: 1,
        values: [
          [3, '2024-02-29'],
          [4, -7],
        ],
      },
    ]);
    expect((await desk.import(file, job(columns, { blank: 'clear' }))).outcomes).toEqual(['2 unchanged']);
  });

  it.each([
    ['PATCH', { write: { method: 'patch' } }, { patch: true }],
    ['PUT, where what it leaves out is kept', {}, { omitted: 'kept' }],
  ] as const)('a cleared value is said to be null, in case values are merged: %s', async (_, write, behaviour) => {
    await deskWith({ templates: [FINANCE] });
    await probed(desk, behaviour);
    const columns = { Centre: 'template.Finance.Cost Centre' };
    const file = await desk.file('a.csv', one('Centre', ''));
    expect((await desk.import(file, job(columns, { blank: 'clear', ...write }))).outcomes).toEqual(['2 updated']);
    const { template } = JSON.parse(desk.sandbox.commits[0]!.body!) as { template: { fields: object[] } };
    expect(template.fields).toContainEqual({ id: 1, value: null });
    expect(template.fields).toHaveLength(4);
  });

  it('a template without any value stays assigned', async () => {
    await deskWith({ templates: [{ id: 4, fields: [] }] });
    const before = storedOne(desk.sandbox, 'asset', 1);
    expect((await desk.import(await desk.file('a.csv', one('Room', 'R2')), job({ Room: 'room' }))).outcomes).toEqual([
      '2 updated',
    ]);
    expect(storedOne(desk.sandbox, 'asset', 1)).toEqual({ ...before, room: 'R2' });
  });

  it('values of an inactive template are carried over', async () => {
    desk = await openDesk();
    const template = {
      id: 6,
      name: 'Old',
      is_active: true,
      type: 'asset' as const,
      fields: [{ id: 61, name: 'Code', data_type: 'text' as const, is_active: true, order: 1 }],
    };
    desk.sandbox.putLookup('custom-field-template', 1, template);
    desk.sandbox.insert('asset', [{ ...ASSET, templates: [{ id: 6, fields: [{ id: 61, value: 'x' }] }] }]);
    desk.sandbox.putLookup('custom-field-template', 1, { ...template, is_active: false });
    const before = storedOne(desk.sandbox, 'asset', 1);
    expect((await desk.import(await desk.file('a.csv', one('Room', 'R2')), job({ Room: 'room' }))).outcomes).toEqual([
      '2 updated',
    ]);
    expect(storedOne(desk.sandbox, 'asset', 1)).toEqual({ ...before, room: 'R2' });
  });

  it('another template than the record holds: template_conflict, held back; `warn` replaces and records each lost value', async () => {
    await deskWith({ templates: [FINANCE] });
    const before = stored(desk.sandbox, 'asset');
    const columns = { Class: 'template.Security.Classification' };
    const file = await desk.file('a.csv', one('Class', 'Secret'));
    const held = await desk.import(file, job(columns));
    expect([held.outcomes, held.commits]).toEqual([['2 at_risk'], 0]);
    expect(held.faults.map((line) => line['code'])).toEqual(['template_conflict']);
    expect(held.faults[0]!['message']).toContain('Finance');
    expect(stored(desk.sandbox, 'asset')).toEqual(before);
    const warned = await desk.import(file, job(columns, { write: { at_risk: 'warn' } }));
    expect(warned.outcomes).toEqual(['2 updated']);
    expect(
      warned.plan
        .filter((line) => line['kind'] === 'at_risk')
        .map((line) => `${line['field']} ${line['old']}`)
        .sort(),
    ).toEqual([
      'template.Finance.Approved On 2024-02-29',
      'template.Finance.Budget 12.5',
      'template.Finance.Cost Centre CC-1',
      'template.Finance.Headcount -7',
    ]);
    expect(warned.results[0]!['codes']).toContain('template_conflict');
    expect(storedOne(desk.sandbox, 'asset', 1)['template']).toEqual([{ template: 4, values: [[31, 'Secret']] }]);
  });

  it('a record whose template holds no value takes another one', async () => {
    await deskWith({ templates: [{ id: 1, fields: [] }] });
    const file = await desk.file('a.csv', one('Class', 'Secret'));
    expect((await desk.import(file, job({ Class: 'template.Security.Classification' }))).outcomes).toEqual([
      '2 updated',
    ]);
    expect(storedOne(desk.sandbox, 'asset', 1)['template']).toEqual([{ template: 4, values: [[31, 'Secret']] }]);
  });

  it('a value under a key that the template does not know holds the record back', async () => {
    await deskWith({ templates: [FINANCE] });
    const veil = await hangVeil(desk.sandbox.url, (text) =>
      text.includes('"serial_number"') ? text.replaceAll('"Headcount"', '"Heads"') : text,
    );
    const before = stored(desk.sandbox, 'asset');
    const result = await desk.import(await desk.file('a.csv', one('Room', 'R2')), job({ Room: 'room' }), {
      env: { ROWFERRY_API_URL: veil.url },
    });
    expect(result.outcomes).toEqual(['2 at_risk']);
    expect(result.faults.map((line) => `${line['code']} ${line['field']} ${line['value']}`)).toEqual([
      'would_lose_value template.1.Heads -7',
    ]);
    expect(stored(desk.sandbox, 'asset')).toEqual(before);
  });

  it('a text that a create may hold and an update may not: held back, not cut', async () => {
    const long = 'x'.repeat(120);
    await deskWith({ templates: [{ id: 1, fields: [{ id: 1, value: long }] }] });
    const before = stored(desk.sandbox, 'asset');
    const result = await desk.import(await desk.file('a.csv', one('Room', 'R2')), job({ Room: 'room' }));
    expect(result.summary.rows.updated).toBe(0);
    expect(result.exitCode).toBe(3);
    expect(stored(desk.sandbox, 'asset')).toEqual(before);
  });
});

describe('custom forms', () => {
  const NETWORK = {
    id: 9,
    name: 'Network',
    form_title: 'Network',
    type: 'asset' as const,
    form_desc: '',
    is_active: true,
    is_default: false,
    fields: [
      { id: 901, name: 'IP', data_type: 'text' as const, is_active: true, order: 1 },
      { id: 902, name: 'Fee', data_type: 'money' as const, is_active: true, order: 2 },
      { id: 903, name: '__proto__', data_type: 'text' as const, is_active: true, order: 3 },
    ],
  };
  const RACK = { id: 1, custom_form_data: { Rack: 'A1', Unit: 4, 'Power Draw': 350, Installed: '2024-02-29' } };

  async function deskWithForms(rows: readonly object[]): Promise<void> {
    desk = await openDesk();
    desk.sandbox.putLookup('custom-form-template', 1, NETWORK);
    const text = JSON.stringify({ ...ASSET, form_template: rows }).replaceAll('"PROTO"', '"__proto__"');
    desk.sandbox.insert('asset', [text]);
  }

  it('rows of several forms are carried over, and one column changes alone (82)', async () => {
    await deskWithForms([RACK, { id: 9, custom_form_data: { IP: '10.0.0.1', Fee: 0.1, PROTO: 'p' } }]);
    const wanted = storedOne(desk.sandbox, 'asset', 1);
    expect((await desk.import(await desk.file('a.csv', one('Room', 'R2')), job({ Room: 'room' }))).outcomes).toEqual([
      '2 updated',
    ]);
    wanted['room'] = 'R2';
    expect(storedOne(desk.sandbox, 'asset', 1)).toEqual(wanted);
    const file = await desk.file('b.csv', one('Unit', '5'));
    const result = await desk.import(file, job({ Unit: 'form.Data centre.Unit' }));
    expect(result.plan.map((line) => `${line['field']} ${line['old']} ${line['new']} ${line['kind']}`)).toEqual([
      'form.Data centre.Unit 4 5 set',
    ]);
    (wanted['form_template'] as { values: [number, unknown][] }[])[0]!.values[1] = [102, 5];
    expect(storedOne(desk.sandbox, 'asset', 1)).toEqual(wanted);
    expect((await desk.import(file, job({ Unit: 'form.Data centre.Unit' }))).outcomes).toEqual(['2 unchanged']);
  });

  it('a form is added to a record that has another one', async () => {
    await deskWithForms([RACK]);
    const wanted = storedOne(desk.sandbox, 'asset', 1);
    const columns = { IP: 'form.Network.IP' };
    const file = await desk.file('a.csv', one('IP', '10.0.0.1'));
    expect((await desk.import(file, job(columns))).outcomes).toEqual(['2 updated']);
    (wanted['form_template'] as object[]).push({ form: 9, parent: false, sequence: 1, values: [[901, '10.0.0.1']] });
    expect(storedOne(desk.sandbox, 'asset', 1)).toEqual(wanted);
    expect((await desk.import(file, job(columns))).outcomes).toEqual(['2 unchanged']);
  });

  it('a blank cell clears one column where the job says so', async () => {
    await deskWithForms([RACK]);
    const columns = { Unit: { field: 'form.Data centre.Unit', blank: 'clear' } };
    const file = await desk.file('a.csv', one('Unit', ''));
    const result = await desk.import(file, job(columns));
    expect(result.plan.map((line) => `${line['field']} ${line['kind']}`)).toEqual(['form.Data centre.Unit clear']);
    expect(storedOne(desk.sandbox, 'asset', 1)['form_template']).toEqual([
      {
        form: 1,
        parent: false,
        sequence: 1,
        values: [
          [101, 'A1'],
          [103, 350],
          [104, '2024-02-29'],
        ],
      },
    ]);
    expect((await desk.import(file, job(columns))).outcomes).toEqual(['2 unchanged']);
  });

  it('a row below another row has no write form: held back, each value named', async () => {
    await deskWithForms([RACK, { id: 1, custom_form_data: { Rack: 'B2', Unit: 9 } }]);
    const before = stored(desk.sandbox, 'asset');
    const result = await desk.import(await desk.file('a.csv', one('Room', 'R2')), job({ Room: 'room' }));
    expect([result.outcomes, result.commits]).toEqual([['2 at_risk'], 0]);
    expect(result.faults.map((line) => `${line['code']} ${line['value']}`)).toEqual([
      'would_lose_value B2',
      'would_lose_value 9',
    ]);
    expect(stored(desk.sandbox, 'asset')).toEqual(before);
  });

  it('several rows of one form that stand side by side are all carried over, in their order', async () => {
    await deskWithForms([
      RACK,
      { id: 1, custom_form_data: { Rack: 'B2', Unit: 9 } },
      { id: 1, custom_form_data: { Rack: 'C3' } },
    ]);
    const veil = await hangVeil(desk.sandbox.url, (text) => text.replace(/,"parent_row_id":\d+,"seq_no":\d+/g, ''));
    const env = { env: { ROWFERRY_API_URL: veil.url } };
    const wanted = storedOne(desk.sandbox, 'asset', 1);
    const file = await desk.file('a.csv', 'Serial,Room,Second\r\nS-1,R2,10');
    const columns = { Room: 'room', Second: 'form.Data centre#2.Unit' };
    const result = await desk.import(file, job(columns), env);
    const again = await desk.import(file, job(columns), env);
    expect([result.outcomes, again.outcomes]).toEqual([['2 updated'], ['2 unchanged']]);
    wanted['room'] = 'R2';
    (wanted['form_template'] as { values: [number, unknown][] }[])[1]!.values[1] = [102, 10];
    expect(storedOne(desk.sandbox, 'asset', 1)).toEqual(wanted);
  });

  it('a second row that the file sets is unchanged the next time, although reads show it below the first', async () => {
    desk = await openDesk();
    const columns = {
      Name: 'name',
      Cat: 'category.name',
      Rack: 'form.Data centre.Rack',
      Second: 'form.Data centre#2.Rack',
      Unit: 'form.Data centre#2.Unit',
    };
    const file = await desk.file('a.csv', 'Serial,Name,Cat,Rack,Second,Unit\r\nS-1,Box,Server,A1,B2,7');
    expect((await desk.import(file, job(columns))).outcomes).toEqual(['2 created']);
    const before = stored(desk.sandbox, 'asset');
    const again = await desk.import(file, job(columns));
    expect(again.faults).toEqual([]);
    expect([again.outcomes, again.commits]).toEqual([['2 unchanged'], 0]);
    const other = await desk.import(
      await desk.file('b.csv', 'Serial,Unit\r\nS-1,8'),
      job({ Unit: 'form.Data centre#2.Unit' }),
    );
    expect([other.outcomes, other.commits]).toEqual([['2 invalid'], 0]);
    expect(other.faults.map((line) => `${line['code']} ${line['field']}`)).toEqual([
      'field_not_updatable form.Data centre#2.Unit',
    ]);
    expect(stored(desk.sandbox, 'asset')).toEqual(before);
  });
});
