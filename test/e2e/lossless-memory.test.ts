import { afterEach, describe, expect, it } from 'vitest';
import { type Bench, openBench, others, place, RESUME } from '../crash/bench.js';
import { csv, type Desk, openDesk } from '../support/desk.js';
import { importOf } from '../support/jobs.js';

/** What reads never show is carried over as the last request of ours left it, however that request ended. */

let bench: Bench | undefined;
let desk: Desk | undefined;
afterEach(async () => {
  await bench?.close();
  await desk?.close();
  bench = undefined;
  desk = undefined;
});

const ROWS = 60;
const rows = Array.from({ length: ROWS }, (_, at) => at + 1);
const HIDDEN = `resource: asset
match: { key: serial_number }
columns: { Serial: serial_number, Mac: mac_address, City: city }
`;
const MOVE = 'resource: asset\nmatch: { key: serial_number }\ncolumns: { Serial: serial_number, City: city }\n';
const macs = (of: Bench, name: string, mac: string, city: string) =>
  place(of, name, HIDDEN, ['Serial,Mac,City', ...rows.map((n) => `S-${n},${mac}:${n},${city}`)]);
const held = (of: Bench | Desk) => of.sandbox.raw('asset').map((one) => [one['city'], one['mac_address']]);

describe('an update of fields that reads never show, killed without a word', { timeout: 240_000 }, () => {
  it('another job carries over what reached the service, without a resume (30, 37)', async () => {
    bench = await openBench();
    bench.sandbox.insert(
      'asset',
      rows.map((n) => ({ name: `Box ${n}`, serial_number: `S-${n}`, category: { id: 3 } })),
    );
    expect(await bench.run(await macs(bench, 'first', 'aa', 'Ulm'))).toBe(0);
    const killed = await macs(bench, 'second', 'bb', 'Bonn');
    bench.killAt('PUT', 25);
    expect(await bench.run(killed)).toBe('SIGKILL');
    const before = held(bench);
    const moved = await place(bench, 'move', MOVE, ['Serial,City', ...rows.map((n) => `S-${n},Trier`)]);
    expect(await bench.run(moved)).toBe(0);
    expect(others(await bench.told(), 'updated')).toEqual([]);
    // The request on its way may have been taken or not: then it is as the killed run would have left it.
    const macsNow = held(bench).map(([, mac]) => mac);
    const moot = before.flatMap(([, mac], at) => (macsNow[at] === mac ? [] : [[mac, macsNow[at]]]));
    for (const [was, is] of moot) expect(String(is).replace('bb', 'aa')).toBe(was);
    expect(moot.length).toBeLessThanOrEqual(16);
    expect(held(bench).map(([city]) => city)).toEqual(rows.map(() => 'Trier'));
  });

  it('and resumed: every record has the new value, and a later job keeps it (30, 37)', async () => {
    bench = await openBench();
    bench.sandbox.insert(
      'asset',
      rows.map((n) => ({ name: `Box ${n}`, serial_number: `S-${n}`, category: { id: 3 } })),
    );
    const argv = await macs(bench, 'first', 'aa', 'Ulm');
    bench.killAt('PUT', 30);
    expect(await bench.run(argv)).toBe('SIGKILL');
    expect(await bench.run(RESUME)).toBe(0);
    expect(held(bench)).toEqual(rows.map((n) => ['Ulm', `aa:${n}`]));
    const moved = await place(bench, 'move', MOVE, ['Serial,City', ...rows.map((n) => `S-${n},Trier`)]);
    expect(await bench.run(moved)).toBe(0);
    expect(held(bench)).toEqual(rows.map((n) => ['Trier', `aa:${n}`]));
  });
});

describe('an update of fields that reads never show, of which no outcome is known', () => {
  const job = (columns: object, more: object = {}) =>
    importOf('asset', 'serial_number', { Serial: 'serial_number', ...columns }, more);
  const file = (name: string, headings: string[], ...cells: (string | number)[][]) =>
    desk!.file(name, csv([headings, ...cells]));

  /** The mac address is `old` by an earlier run of ours; then a run sets it to `new` and gets no answer. */
  async function silent(fault: string) {
    desk = await openDesk();
    desk.sandbox.insert('asset', [{ name: 'Box', serial_number: 'S-1', category: { id: 3 }, city: 'Ulm' }]);
    const mac = job({ Mac: 'mac_address' });
    expect((await desk.import(await file('a.csv', ['Serial', 'Mac'], ['S-1', 'old']), mac)).outcomes).toEqual([
      '2 updated',
    ]);
    desk.sandbox.setFaults([fault]);
    const open = await desk.import(await file('b.csv', ['Serial', 'Mac'], ['S-1', 'new']), mac);
    expect(open.outcomes).toEqual(['2 unknown']);
    desk.sandbox.setFaults([]);
    return { mac };
  }

  it('is carried over as it was sent, where the service took it (30)', async () => {
    await silent('PUT /asset close_after');
    const moved = await desk!.import(await file('c.csv', ['Serial', 'City'], ['S-1', 'Bonn']), job({ City: 'city' }));
    expect(moved.outcomes).toEqual(['2 updated']);
    expect(held(desk!)).toEqual([['Bonn', 'new']]);
  });

  it.each([
    ['new', 'new'],
    ['old', 'old'],
    ['other', 'other'],
  ])('is sent again by a row that says %s, and unchanged after that (30)', async (cell, wanted) => {
    for (const fault of ['PUT /asset close_after', 'PUT /asset close_before']) {
      const { mac } = await silent(fault);
      const again = await file('c.csv', ['Serial', 'Mac'], ['S-1', cell]);
      expect((await desk!.import(again, mac)).outcomes).toEqual(['2 updated']);
      expect(held(desk!)).toEqual([['Ulm', wanted]]);
      expect((await desk!.import(again, mac)).outcomes).toEqual(['2 unchanged']);
      await desk!.close();
      desk = undefined;
    }
  });

  it('is sent again by a row that clears it (30)', async () => {
    const { mac } = await silent('PUT /asset close_after');
    const clear = await desk!.import(await file('c.csv', ['Serial', 'Mac'], ['S-1', '']), { ...mac, blank: 'clear' });
    expect(clear.outcomes).toEqual(['2 updated']);
    expect(held(desk!)).toEqual([['Ulm', undefined]]);
  });

  it('that the service refused leaves what was known', async () => {
    desk = await openDesk();
    desk.sandbox.insert('asset', [{ name: 'Box', serial_number: 'S-1', category: { id: 3 }, city: 'Ulm' }]);
    const mac = job({ Mac: 'mac_address' });
    await desk.import(await file('a.csv', ['Serial', 'Mac'], ['S-1', 'old']), mac);
    desk.sandbox.setFaults(['PUT /asset nth=1 status=400']);
    const refused = await desk.import(await file('b.csv', ['Serial', 'Mac'], ['S-1', 'new']), mac);
    expect(refused.outcomes).toEqual(['2 rejected']);
    await desk.import(await file('c.csv', ['Serial', 'City'], ['S-1', 'Bonn']), job({ City: 'city' }));
    expect(held(desk)).toEqual([['Bonn', 'old']]);
  });

  it('of a customer is carried over as it was sent, too (30)', async () => {
    desk = await openDesk();
    const customers = { kind: 'import', resource: 'customer', match: { key: 'name' } };
    const both = { ...customers, columns: { Name: 'name', Fax: 'fax' } };
    await desk.import(await file('a.csv', ['Name', 'Fax'], ['Acme', '1']), both);
    desk.sandbox.setFaults(['PUT /customer close_after']);
    const open = await desk.import(await file('b.csv', ['Name', 'Fax'], ['Acme', '2']), both);
    expect(open.outcomes).toEqual(['2 unknown']);
    desk.sandbox.setFaults([]);
    const phone = { ...customers, columns: { Name: 'name', Phone: 'phone' } };
    const called = await desk.import(await file('c.csv', ['Name', 'Phone'], ['Acme', '3']), phone);
    expect(called.outcomes).toEqual(['2 updated']);
    expect(desk.sandbox.raw('customer')).toMatchObject([{ name: 'Acme', fax: '2', phone: '3' }]);
    expect((await desk.import(await file('d.csv', ['Name', 'Fax'], ['Acme', '2']), both)).outcomes).toEqual([
      '2 unchanged',
    ]);
  });
});
