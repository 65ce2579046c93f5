import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Desk, openDesk } from '../support/desk.js';

/** Members that every object has, and such that a program may look for. */
const NAMES = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', 'prototype', '__defineGetter__'];
const JOB = { kind: 'import', resource: 'supplier', match: { key: 'name' } };

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
});
afterAll(() => {
  expect(Object.keys(Object.prototype)).toEqual([]);
  return desk.close();
});

describe('a name that every object has', () => {
  it('is a key and a value like any other, in CSV and NDJSON (82)', async () => {
    const rows = NAMES.map((name) => [name, `about ${name}`, name]);
    const columns = { Name: 'name', About: 'general_description', City: 'city' };
    const first = await desk.import(await desk.file('n.csv', [['Name', 'About', 'City'], ...rows]), {
      ...JOB,
      columns,
    });
    expect(first.summary.rows).toMatchObject({ created: NAMES.length, total: NAMES.length });
    const lines = rows.map(([name, about, city]) => JSON.stringify({ Name: name, About: about, City: city }));
    const again = await desk.import(await desk.file('n.ndjson', `${lines.join('\n')}\n`), { ...JOB, columns });
    expect(again.summary.rows).toMatchObject({ unchanged: NAMES.length, total: NAMES.length });
    const twice = [...rows, ...rows];
    const double = await desk.import(await desk.file('d.csv', [['Name', 'About', 'City'], ...twice]), {
      ...JOB,
      columns,
    });
    expect(double.summary.rows).toMatchObject({ unchanged: NAMES.length, duplicate: NAMES.length });
  });

  it('is a heading like any other, whether mapped or not (82)', async () => {
    const headings = ['Name', ...NAMES];
    const row = ['Globex', ...NAMES.map((name) => `${name} value`)];
    const columns = { Name: 'name', constructor: 'city', toString: 'general_description' };
    const job = { ...JOB, columns };
    const file = await desk.file('h.csv', [headings, row]);
    expect((await desk.import(file, job)).summary.rows).toMatchObject({ created: 1 });
    const stored = desk.sandbox.raw('supplier').find((raw) => raw['name'] === 'Globex');
    expect(stored).toMatchObject({ city: 'constructor value', general_description: 'toString value' });
    const line = `{"Name":"Globex",${NAMES.map((name) => `${JSON.stringify(name)}:${JSON.stringify(`${name} value`)}`).join(',')}}\n`;
    expect((await desk.import(await desk.file('h.ndjson', line), job)).summary.rows).toMatchObject({ unchanged: 1 });
  });

  it.each(NAMES)('is no field of a job, no value of a list and no reference that exists: %s (82)', async (name) => {
    const file = await desk.file('r.csv', [
      ['Name', 'Type', 'Country'],
      [`R ${name}`, name, name],
    ]);
    const run = await desk.import(
      file,
      { ...JOB, columns: { Name: 'name', Type: 'type', Country: 'country' } },
      { force: true },
    );
    expect(run.outcomes).toEqual(['2 invalid']);
    expect(run.faults.map((one) => [one['field'], one['value']])).toEqual([
      ['type', name],
      ['country', name],
    ]);
    await expect(desk.import(file, { ...JOB, columns: { Name: 'name', Type: name } })).rejects.toThrow(
      'The inline job has',
    );
    const keyed = JSON.parse(
      `{"kind":"import","resource":"supplier","match":{"key":"name"},"columns":{"Name":"name"},"${name}":{}}`,
    );
    await expect(desk.import(file, keyed)).rejects.toThrow('The inline job has');
  });
});
