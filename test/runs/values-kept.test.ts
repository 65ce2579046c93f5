import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { csv, type Desk, openDesk } from '../support/desk.js';

/** A service that answers a create with the id and the name of the record alone; `reads`: records that were read by id. */
async function hangBrief(target: string) {
  let reads = 0;
  const server = createServer((request, response) => {
    void (async () => {
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece as Buffer);
      const { method = 'GET', headers } = request;
      if (method === 'GET' && /\/asset\/\d+/.test(request.url ?? '')) reads++;
      const answer = await fetch(`${target}${request.url}`, {
        method,
        headers: { authorization: headers.authorization ?? '', 'content-type': 'application/json' },
        ...(method === 'GET' ? {} : { body: Buffer.concat(pieces) }),
      });
      const text = await answer.text();
      const { id, name } = method === 'POST' ? (JSON.parse(text) as { id?: number; name?: string }) : {};
      response.writeHead(answer.status, { 'content-type': 'application/json' });
      response.end(method === 'POST' ? JSON.stringify({ id, name }) : text);
    })().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    reads: () => reads,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

let desk: Desk;
afterEach(() => desk.close());

const CREATE = {
  kind: 'import',
  resource: 'asset',
  match: { key: 'serial_number', unique_field: 'serial_number' },
  columns: { Serial: 'serial_number', Name: 'name', City: 'city' },
  constants: { 'category.name': 'id:3' },
};

const rowsOf = (n: number) => [
  ['Serial', 'Name', 'City'],
  ...Array.from({ length: n }, (_, i) => [`NEW-${i}`, 'A long name of a thing', 'Bonn']),
];

const codes = (results: readonly Record<string, string>[]) => results.map((row) => `${row['outcome']} ${row['codes']}`);

describe('a record that was created with less than was sent (34)', () => {
  it.each([
    ['full', 2],
    ['bare', 2],
    ['bare', 40],
  ] as const)('without a field: told with its row and by the summary; answers %s, %i rows', async (responses, n) => {
    desk = await openDesk({ responses });
    desk.sandbox.setFaults(['POST /asset drop_field=city']);
    const result = await desk.import(await desk.file('a.csv', csv(rowsOf(n))), CREATE);
    expect(codes(result.results)).toEqual(Array(n).fill('created would_lose_value'));
    expect(result.results.map((row) => Number(row['id']) > 0)).toEqual(Array(n).fill(true));
    expect(result.results[0]?.['message']).toContain('created the record without city: "Bonn" was sent');
    expect(result.summary.warnings).toContainEqual(
      expect.stringContaining(`created ${n} records without values that were sent: city. `),
    );
    expect([result.exitCode, result.summary.losses]).toEqual([0, { destroyed: 0, missing: n, other_form: 0 }]);
    const page = await readFile(join(result.reportDir, 'report.html'), 'utf8');
    expect(page).toContain('Values were lost');
    expect(page).not.toMatch(/Everything is in order|Every row ended well/);
  });

  it.each([
    ['full', 2],
    ['bare', 2],
    ['bare', 40],
  ] as const)('cut: counted by the summary; answers %s, %i rows', async (responses, n) => {
    desk = await openDesk({ responses, switches: { cutsText: 10 } });
    const result = await desk.import(await desk.file('a.csv', csv(rowsOf(n))), CREATE);
    expect(codes(result.results)).toEqual(Array(n).fill('created value_normalised'));
    expect(result.summary.warnings).toContainEqual(
      expect.stringMatching(
        new RegExp(
          `^The service stored values of ${n} rows in another form than was sent, such as row 2: .*"A long nam"`,
        ),
      ),
    );
    const page = await readFile(join(result.reportDir, 'report.html'), 'utf8');
    expect(page).not.toContain('Every row ended well');
  });

  it('an answer in brief takes nothing from the record: one read tells', async () => {
    desk = await openDesk({ responses: 'full' });
    const brief = await hangBrief(desk.sandbox.url);
    try {
      const file = await desk.file('a.csv', csv(rowsOf(30)));
      const result = await desk.import(file, CREATE, { env: { ROWFERRY_API_URL: brief.url } });
      expect(codes(result.results)).toEqual(Array(30).fill('created '));
      expect([result.summary.losses, brief.reads()]).toEqual([undefined, 1]);
    } finally {
      await brief.close();
    }
  });
});

describe('a value that was carried over and cut (29)', () => {
  it.each(['full', 'bare'] as const)('stops the run after the first update; answers %s', async (responses) => {
    desk = await openDesk({ responses });
    desk.sandbox.insert(
      'asset',
      Array.from({ length: 5 }, (_, i) => ({
        name: 'Box',
        serial_number: `S-${i}`,
        category: { id: 3 },
        room: 'Room 12 on the third floor',
      })),
    );
    desk.sandbox.setSwitches({ cutsText: 10 });
    const file = await desk.file(
      'a.csv',
      csv([['Serial', 'City'], ...Array.from({ length: 5 }, (_, i) => [`S-${i}`, 'Bonn'])]),
    );
    const job = { ...CREATE, columns: { Serial: 'serial_number', City: 'city' }, constants: {} };
    const result = await desk.import(file, job);
    expect([result.exitCode, result.summary.status, result.commits]).toEqual([1, 'failed', 1]);
    expect(result.summary.reason).toContain('did not keep room (only "Room 12 on" of it). The run stops here');
    expect(codes(result.results)[0]).toBe('updated would_lose_value');
    expect(result.results[0]?.['message']).toContain('"Room 12 on the third floor" was carried over');
    expect(result.plan.filter((line) => line['kind'] === 'at_risk')).toEqual([
      expect.objectContaining({ field: 'room', old: 'Room 12 on the third floor', new: 'Room 12 on' }),
    ]);
    expect(result.summary.losses?.destroyed).toBe(1);
  });

  it('case and blanks are another form alone: the run goes on', async () => {
    desk = await openDesk({ switches: { trimsText: 'on' } });
    desk.sandbox.insert('asset', [{ name: 'Box', serial_number: 'S-1', category: { id: 3 }, room: ' Room' }]);
    const file = await desk.file(
      'a.csv',
      csv([
        ['Serial', 'City'],
        ['S-1', 'Bonn'],
      ]),
    );
    const job = { ...CREATE, columns: { Serial: 'serial_number', City: 'city' }, constants: {} };
    const result = await desk.import(file, job);
    expect(result.outcomes).toEqual(['2 updated']);
  });
});

describe('faults.csv names column and value where both are known', () => {
  it('of duplicates and refusals', async () => {
    desk = await openDesk();
    const rows = [
      ['Serial', 'Name', 'City'],
      ['A', 'One', 'Bonn'],
      ['a ', 'Two', 'Bonn'],
      ['A', 'Two', 'Bonn'],
      ['A', 'One', 'Bonn'],
    ];
    const result = await desk.import(await desk.file('a.csv', csv(rows)), CREATE);
    const duplicates = result.faults.filter((line) => line['code']?.startsWith('duplicate'));
    expect(duplicates.length).toBeGreaterThan(1);
    for (const line of duplicates) expect([line['column'], line['value']]).toEqual(['Serial', 'A']);
    expect(duplicates.map((line) => line['message']).join()).toContain('would overwrite that record');
  });

  it('of what the service refused', async () => {
    desk = await openDesk();
    desk.sandbox.insert('asset', [{ name: 'Other', serial_number: 'S-1', category: { id: 3 } }]);
    const match = { key: 'name', unique_field: 'serial_number' };
    const rows = [
      ['Serial', 'Name', 'City'],
      ['S-1', 'One', 'Bonn'],
    ];
    const result = await desk.import(await desk.file('a.csv', csv(rows)), { ...CREATE, match });
    expect(result.faults).toEqual([
      expect.objectContaining({
        column: 'Serial',
        field: 'serial_number',
        value: 'S-1',
        code: 'service_rejected',
        origin: 'service',
      }),
    ]);
  });
});
