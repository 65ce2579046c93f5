import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { csv, type Desk, openDesk } from '../support/desk.js';
import { importOf } from '../support/jobs.js';
import { storedOne } from '../support/records.js';
import { hangVeil } from '../support/veil.js';
import { exportForEditing, FORMATS, place } from './round-trip-bench.js';

/** Cells that show what the record shows, in a form that a conversion alone would read as another value. */

let desk: Desk;

const field = (id: number, data_type: 'money' | 'text') => ({
  id,
  name: `F${id}`,
  data_type,
  is_active: true,
  order: id,
});

describe('amounts and dates that the service shows as people write them', () => {
  const AMOUNTS = ['$5', '€ 5', '5 USD', '１２', '(5)', '- 5', '5-', '$1,200.50', '1 200,5 €', ' $7 '];
  const DATES = ['3.May.2031', '3 May 31', '03/04/2031'];
  /** What can only mean one day is exported as that. */
  const SHOWN = ['2031-05-03', ...DATES.slice(1)];

  async function shownAsWritten(): Promise<Record<string, string>> {
    desk = await openDesk();
    const fields = [field(801, 'money')];
    desk.sandbox.putLookup('custom-field-template', 1, { id: 800, name: 'T', is_active: true, type: 'asset', fields });
    const exchange: Record<string, string> = {};
    for (const [at, text] of AMOUNTS.entries()) {
      const [cost, custom] = [`70${at}.01`, `80${at}.01`];
      const [date, written = ''] = [`203${at}-01-02`, DATES[at] ?? `203${at}-01-02`];
      exchange[`:${cost}`] = `:${JSON.stringify(text)}`;
      exchange[`:${custom}`] = `:${JSON.stringify(text)}`;
      exchange[`"${date}"`] = JSON.stringify(written);
      const templates = [{ id: 800, fields: [{ id: 801, value: Number(custom) }] }];
      const more = { original_cost: Number(cost), end_of_life_date: date, templates };
      desk.sandbox.insert('asset', [{ name: `A${at}`, category: { id: 1 }, ...more }]);
    }
    const veil = await hangVeil(desk.sandbox.url, (answer) =>
      Object.entries(exchange).reduce((text, [from, to]) => text.replaceAll(from, to), answer),
    );
    return { ROWFERRY_API_URL: veil.url };
  }

  it.each(FORMATS)('are no change where nobody changed them (%s)', async (format) => {
    const env = await shownAsWritten();
    const exported = await exportForEditing(desk, 'asset', { env });
    expect(AMOUNTS.map((_, at) => exported.cell(at + 1, 'original_cost'))).toEqual(AMOUNTS);
    expect(exported.cell(1, 'template.800.801')).toBe('$5');
    expect(DATES.map((_, at) => exported.cell(at + 1, 'end_of_life_date'))).toEqual(SHOWN);
    const { file, job } = await place(desk, exported, format);
    const result = await desk.import(file, job, { env });
    expect(result.faults).toEqual([]);
    expect(result.summary.rows).toMatchObject({ total: AMOUNTS.length, unchanged: AMOUNTS.length });
    expect(desk.sandbox.commits).toEqual([]);
  });

  it('dates are none either where the job states how they are written', async () => {
    const env = await shownAsWritten();
    const exported = await exportForEditing(desk, 'asset', { env });
    const columns = { Id: 'id', End: { field: 'end_of_life_date', dates: ['d.MMM.yyyy', 'd MMM yy', 'dd/MM/yyyy'] } };
    const job = { kind: 'import', resource: 'asset', match: { key: 'id' }, columns };
    const rows = (texts: readonly string[]) => csv([Object.keys(columns), ...texts.map((text, at) => [at + 1, text])]);
    expect(DATES.map((_, at) => exported.cell(at + 1, 'end_of_life_date'))).toEqual(SHOWN);
    const same = await desk.import(await desk.file('same.csv', rows(DATES)), job, { env });
    expect([same.faults, same.summary.rows.unchanged]).toEqual([[], DATES.length]);
    const other = await desk.import(await desk.file('other.csv', rows(['4.May.2031'])), job, { env });
    expect(other.plan.map(({ field, new: now }) => `${field} ${now}`)).toContain('end_of_life_date 2031-05-04');
  });

  it('another amount in such a cell is written', async () => {
    const env = await shownAsWritten();
    const exported = await exportForEditing(desk, 'asset', { env });
    exported.put(10, 'original_cost', '$6');
    exported.put(10, 'template.800.801', '$6');
    const { file, job } = await place(desk, exported, 'csv');
    const result = await desk.import(file, job, { env });
    expect(result.outcomes.filter((one) => !one.endsWith('unchanged'))).toEqual(['11 updated']);
    expect(storedOne(desk.sandbox, 'asset', 10)).toMatchObject({
      original_cost: '6.00',
      template: [{ template: 800, values: [[801, '6.00']] }],
    });
  });
});

describe('a CSV file that a spreadsheet program has saved', () => {
  it('has texts with an apostrophe as the record holds them: no change, and without it a change', async () => {
    desk = await openDesk();
    const texts = ["'=already", "''=twice", "'=outer ", '=formula', "'plain"];
    desk.sandbox.insert(
      'asset',
      texts.map((room, at) => ({ name: `A${at}`, category: { id: 1 }, room })),
    );
    const job = importOf('asset', { key: 'id', missing: 'fail' }, { Id: 'id', Room: 'room' });
    const rows = (list: readonly string[]) => csv([['Id', 'Room'], ...list.map((text, at) => [at + 1, text])]);
    const kept = await desk.import(await desk.file('kept.csv', rows(texts)), job);
    expect(kept.outcomes.filter((one) => !one.endsWith('unchanged'))).toEqual([]);
    expect([kept.results.length, kept.commits]).toEqual([texts.length, 0]);
    const changed = await desk.import(await desk.file('changed.csv', rows(['=already', "'=twice"])), job);
    expect(changed.outcomes).toEqual(['2 updated', '3 updated']);
    expect(storedOne(desk.sandbox, 'asset', 1)['room']).toBe('=already');
    expect(storedOne(desk.sandbox, 'asset', 2)['room']).toBe('=twice');
  });

  it('is unchanged as a whole', async () => {
    desk = await openDesk();
    desk.sandbox.insert('asset', [{ name: "'=1", category: { id: 1 }, room: "'-x", floor: '=2', city: "'+a" }]);
    const exported = await exportForEditing(desk, 'asset');
    const { file, job } = await place(desk, exported, 'csv');
    expect(await readFile(file, 'utf8')).toContain("''=1");
    await writeFile(file, csv([exported.columns.map(({ heading }) => heading), ...exported.rows]));
    const result = await desk.import(file, job);
    expect([result.outcomes, result.faults]).toEqual([['2 unchanged'], []]);
  });
});

describe('a form row below another', () => {
  it.each(FORMATS)('is repeated by a file that only lost its carriage returns (%s)', async (format) => {
    desk = await openDesk();
    const text = 'one\r\ntwo';
    const row = (value: string) => ({ id: 1, custom_form_data: { Rack: value } });
    desk.sandbox.insert('asset', [{ name: 'A', category: { id: 1 }, form_template: [row('R'), row(text)] }]);
    const exported = await exportForEditing(desk, 'asset');
    expect(exported.cell(1, 'form.1#2.Rack')).toBe(text);
    exported.put(1, 'form.1#2.Rack', text.replace('\r', ''));
    const { file, job } = await place(desk, exported, format);
    expect(await readFile(job, 'utf8')).toContain('#2.Rack');
    const result = await desk.import(file, job);
    expect([result.outcomes, result.faults]).toEqual([[`${format === 'ndjson' ? 1 : 2} unchanged`], []]);
  });
});

describe('what is assigned without values', () => {
  it('stays assigned when another field is changed', async () => {
    desk = await openDesk();
    const lookup = { is_active: true, type: 'asset' as const, fields: [] };
    desk.sandbox.putLookup('custom-field-template', 1, { ...lookup, id: 77, name: 'Bare' });
    const form = { form_title: 'Bare', form_desc: '', is_default: false };
    desk.sandbox.putLookup('custom-form-template', 1, { ...lookup, ...form, id: 88, name: 'Bare' });
    const assigned = { templates: [{ id: 77, fields: [] }], form_template: [{ id: 88, custom_form_data: {} }] };
    desk.sandbox.insert('asset', [{ name: 'A', category: { id: 1 }, ...assigned }]);
    const before = storedOne(desk.sandbox, 'asset', 1);
    const columns = { Id: 'id', Floor: 'floor' };
    const file = await desk.file('touch.csv', [Object.keys(columns), [1, '2']]);
    const result = await desk.import(file, { kind: 'import', resource: 'asset', match: { key: 'id' }, columns });
    expect([result.outcomes, result.faults]).toEqual([['2 updated'], []]);
    expect(JSON.parse(desk.sandbox.commits[0]?.body ?? '')).toMatchObject({
      template: { id: 77, fields: [] },
      form_template: [{ id: 88, custom_form_data: {} }],
    });
    expect(storedOne(desk.sandbox, 'asset', 1)).toEqual({ ...before, floor: '2' });
  });
});
