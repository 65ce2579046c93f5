import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { EXPORTABLE } from '../../src/model/resource-names.js';
import { type Desk, openDesk } from '../support/desk.js';
import { importOf } from '../support/jobs.js';

let desk: Desk;

const rowsIn = (text: Buffer | string): Record<string, string>[] => parse(text, { columns: true });
const rowsOf = async (file: string) => rowsIn(await readFile(file));

const asset = (i: number) => ({ name: `Asset ${i}`, serial_number: `SN-${i}`, category: { id: 1 } });
const assets = (count: number, from = 0) => Array.from({ length: count }, (_, i) => asset(from + i));

describe('every resource', () => {
  it.each(EXPORTABLE)('exports every %s of the demo company, and of no other', async (resource) => {
    desk = await openDesk({ seed: 'demo' });
    const { summary, exitCode, file } = await desk.export(resource, 'out.csv');
    expect(exitCode).toBe(0);
    const rows = await rowsOf(file);
    expect(summary).toMatchObject({ kind: 'export', status: 'succeeded', records: rows.length, source: null });
    expect(summary.requests.writes).toBe(0);
    if (resource === 'customer') return;
    const ids = desk.sandbox.records(resource, 1).map((record) => String(record['id'] ?? record['license_id']));
    expect(rows.map((row) => row['id'] ?? row['license_id'])).toEqual(ids);
    expect(summary).toMatchObject({ consistency: 'verified', passes: 2 });
  });

  it('an empty list has its columns all the same', async () => {
    desk = await openDesk();
    const { summary, file } = await desk.export('asset', 'out.csv');
    expect(summary).toMatchObject({ records: 0, consistency: 'verified', status: 'succeeded' });
    expect((await readFile(file, 'utf8')).split(',').slice(0, 3)).toEqual(['id', 'name', 'manufacturer']);
  });

  it('customers: those that this folder wrote are whole, those that contracts name are there by name, and the file says so', async () => {
    desk = await openDesk({ seed: 'demo' });
    const sheet = await desk.file('customers.csv', 'Name,City\nNew customer,Oslo\n');
    const job = importOf('customer', 'name', { Name: 'name', City: 'city' });
    const { results } = await desk.import(sheet, job);
    const { summary, file, exitCode } = await desk.export('customer', 'out.csv');
    const rows = await rowsOf(file);
    expect(rows.find((row) => row['id'] === results[0]?.['id'])).toMatchObject({
      name: 'New customer',
      city: 'Oslo',
      _known_from: 'written by rowferry',
    });
    const named = desk.sandbox.records('contract', 1).flatMap((record) => record['customer'] ?? []) as {
      name: string;
    }[];
    const others = rows.filter((row) => row['_known_from'] !== 'written by rowferry').map((row) => row['name']);
    expect(named.length).toBeGreaterThan(0);
    expect(others).toEqual(expect.arrayContaining(named.map(({ name }) => name)));
    expect(summary).toMatchObject({ consistency: 'partial', status: 'succeeded' });
    expect(summary.warnings.join(' ')).toContain('no list of customers');
    expect(exitCode).toBe(0);
  });
});

describe('complete while the list changes', () => {
  it('records are removed and added while it is read: every one that stays is there, once', async () => {
    let reads = 0;
    let added = 10_000;
    desk = await openDesk({
      seed: 'empty',
      onRequest(request) {
        if (!request.path.includes('/asset/')) return;
        reads++;
        if (reads > 60 || reads % 4 !== 0) return;
        desk.sandbox.remove('asset', reads);
        if (reads % 8 === 0) desk.sandbox.insert('asset', [asset(added++)]);
      },
    });
    desk.sandbox.insert('asset', assets(1_000));
    const { summary, file } = await desk.export('asset', 'out.csv', { env: { ROWFERRY_CONCURRENCY: '4' } });
    const ids = (await rowsOf(file)).map((row) => Number(row['id']));
    expect(new Set(ids).size).toBe(ids.length);
    const there = desk.sandbox.records('asset', 1).map((record) => Number(record['id']));
    expect(summary.consistency).toBe('verified');
    expect(summary.passes).toBeGreaterThan(2);
    expect(ids).toEqual(there);
  });

  it('a list that never rests is partial: exit 3, every record that stays is there, and the summary says so', async () => {
    let next = 10_000;
    desk = await openDesk({
      onRequest(request) {
        if (request.path.includes('/asset/')) desk.sandbox.insert('asset', [asset(next++)]);
      },
    });
    desk.sandbox.insert('asset', assets(300));
    const { summary, file, exitCode } = await desk.export('asset', 'out.csv');
    expect(summary).toMatchObject({ consistency: 'partial', status: 'partial', passes: 4 });
    expect(exitCode).toBe(3);
    const names = (await rowsOf(file)).map((row) => row['name']);
    expect(names).toEqual(expect.arrayContaining(assets(300).map(({ name }) => name)));
    expect(new Set(names).size).toBe(names.length);
    expect(summary.warnings.join(' ')).toContain('no two passes agreed');
  });

  it('a next that points elsewhere is not followed, and the token is not shown to it', async () => {
    const seen: (string | undefined)[] = [];
    const stranger = createServer((request, response) => {
      seen.push(request.headers.authorization);
      response.end('{}');
    });
    await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = stranger.address() as AddressInfo;
      desk = await openDesk({ faults: [`GET /asset/ every=1 next=http://127.0.0.1:${port}/api/v2/asset/?page=2`] });
      desk.sandbox.insert('asset', assets(60));
      const { summary } = await desk.export('asset', 'out.csv');
      expect(summary).toMatchObject({ records: 60, consistency: 'verified' });
      expect(seen).toEqual([]);
    } finally {
      await new Promise((resolve) => stranger.close(resolve));
    }
  });

  it('a count that is always wrong by one is no endless loop', async () => {
    desk = await openDesk({ faults: ['GET /asset/ every=1 wrong_count=1'] });
    desk.sandbox.insert('asset', assets(60));
    const { summary, exitCode } = await desk.export('asset', 'out.csv');
    expect(summary).toMatchObject({ records: 60, consistency: 'partial' });
    expect(exitCode).toBe(3);
  });
});

describe('what is exported', () => {
  it('columns, filter and order', async () => {
    desk = await openDesk({ seed: 'demo' });
    const { summary, file } = await desk.export('asset', 'out.csv', {
      columns: ['serial_number', 'name', 'manufacturer'],
      filter: { manufacturer: 'Dell' },
      order: '-name',
    });
    const rows = await rowsOf(file);
    expect(Object.keys(rows[0] ?? {})).toEqual(['serial_number', 'name', 'manufacturer']);
    const wanted = desk.sandbox
      .records('asset', 1)
      .filter((record) => record['manufacturer'] === 'Dell')
      .map((record) => String(record['name']));
    expect(wanted.length).toBeGreaterThan(1);
    expect(rows.map((row) => row['name'])).toEqual(wanted.sort().reverse());
    expect(summary.target).toMatchObject({ columns: 3, format: 'csv' });
  });

  it('a filter that the service ignores, or understands as a part of the text, changes nothing in the file', async () => {
    desk = await openDesk({ seed: 'demo' });
    const all = desk.sandbox.records('asset', 1);
    const wanted = all.filter((record) => record['manufacturer'] === 'Dell').map((record) => String(record['id']));
    for (const filters of ['exact', 'contains', 'ignored', 'ignore_case'] as const) {
      desk.sandbox.setSwitches({ filters });
      const { file } = await desk.export('asset', `${filters}.csv`, { filter: { manufacturer: 'Dell' } });
      expect((await rowsOf(file)).map((row) => row['id'])).toEqual(wanted);
    }
  });

  it('a few ids are asked for one by one', async () => {
    desk = await openDesk();
    desk.sandbox.insert('asset', assets(500));
    const { summary, file } = await desk.export('asset', 'out.csv', { filter: { id: [7, 3, 9999] } });
    expect((await rowsOf(file)).map((row) => row['id'])).toEqual(['3', '7']);
    expect(summary.requests.total).toBeLessThan(10);
  });

  it('each format, packed too, holds the same', async () => {
    desk = await openDesk({ seed: 'demo' });
    const { file } = await desk.export('supplier', 'out.csv');
    const { file: packed } = await desk.export('supplier', 'out.csv.gz');
    expect(gunzipSync(await readFile(packed)).equals(await readFile(file))).toBe(true);
    const { file: lines } = await desk.export('supplier', 'out.ndjson');
    const names = (await readFile(lines, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).name);
    expect(names).toEqual((await rowsOf(file)).map((row) => row['name']));
  });
});

describe('refused before the list is read', () => {
  it.each([
    ['a folder that is not there', { name: 'none/out.csv' }, /folder .* does not exist/],
    ['a form that is not written', { name: 'out.ods' }, /\.ods is not written.*\.xlsx/],
    ['an unknown column', { name: 'out.csv', columns: ['manufacturr'] }, /Did you mean "manufacturer"/],
    ['an unknown filter', { name: 'out.csv', filter: { colour: 'red' } }, /colour/],
    ['an unknown order', { name: 'out.csv', order: 'nmae' }, /nmae/],
    ['parts of records', { name: 'out.csv', filter: { req: 'warranty' } }, /show no "req"/],
  ])('%s', async (_, { name, ...options }, message) => {
    desk = await openDesk({ seed: 'demo' });
    await expect(desk.export('asset', name, options)).rejects.toThrow(message);
    // Only records can tell of members that nobody described: one page of them is looked at.
    expect(desk.sandbox.requests.kinds['GET /asset/'] ?? 0).toBeLessThanOrEqual(1);
  });

  it('a resource that cannot be changed, to be changed', async () => {
    desk = await openDesk({ seed: 'demo' });
    await expect(desk.export('license', 'out.csv', { editable: true })).rejects.toThrow(/cannot be changed/);
  });

  it('a job file of somebody else in the way of the one that goes with an editable file', async () => {
    desk = await openDesk({ seed: 'demo' });
    await desk.file('assets.yaml', 'kind: import\n');
    await expect(desk.export('asset', 'assets.xlsx', { editable: true })).rejects.toThrow(/is left alone/);
    expect(await readFile(join(desk.dir, 'assets.yaml'), 'utf8')).toBe('kind: import\n');
    await desk.export('asset', 'others.xlsx', { editable: true });
    await desk.export('asset', 'others.xlsx', { editable: true });
    const another = desk.export('asset', 'others.csv', { editable: true });
    await expect(another).rejects.toThrow(/others\.yaml is there and is not the job of others\.csv/);
    await expect(readFile(join(desk.dir, 'others.csv'))).rejects.toThrow('ENOENT');
  });
});

describe('interrupted', () => {
  it('the target stays as it was, and a resume reads the list anew', async () => {
    const stop = new AbortController();
    let pages = 0;
    desk = await openDesk({
      onRequest({ path }) {
        if (!path.includes('/asset/')) return;
        if (++pages === 30) stop.abort('SIGTERM');
      },
    });
    desk.sandbox.insert('asset', assets(1_000));
    const target = join(desk.dir, 'out.csv');
    await writeFile(target, 'the old one');
    const env = { ROWFERRY_CONCURRENCY: '2' };
    const first = await desk.export('asset', 'out.csv', { signal: stop.signal, env });
    expect(first.exitCode).toBe(143);
    expect(first.summary.status).toBe('interrupted');
    expect(await readFile(target, 'utf8')).toBe('the old one');
    const { summary } = await desk.resumeExport({ env });
    expect(summary).toMatchObject({ status: 'succeeded', consistency: 'verified', records: 1_000 });
    expect((await rowsOf(target)).length).toBe(1_000);
    expect((await desk.resumeExport({ env })).summary.run).toBe(summary.run);
  });
});
