import { setMaxListeners } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiDeps } from '../../src/api/app.js';
import type { Names, Resource, Suggestion, Table } from '../../src/api/schema.js';
import { inlineJob } from '../../src/runs/job-file.js';
import { type Channel, runChannel } from '../../src/runs/run/open-service.js';
import { type Desk, openDesk } from '../support/desk.js';
import { writeWorkbook } from '../support/workbook.js';
import { apiIn, pagesFor } from './support.js';

let desk: Desk;
let root: string;
let channel: Channel;
const stopping = new AbortController();
setMaxListeners(0, stopping.signal);
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'rowferry-api-tables-'));
  desk = await openDesk({ seed: 'demo' });
  const alone = { successes: 0, throttled: 0, overloaded: 0, heldMs: 0, members: 1 };
  channel = runChannel(desk.settings(), { exchange: async () => alone }, stopping.signal);
});
afterAll(async () => {
  stopping.abort();
  await channel.close(1_000);
  await desk.close();
  await rm(root, { recursive: true, force: true });
});

const pages = (role: 'viewer' | 'operator' = 'operator', more: Partial<ApiDeps> = {}) =>
  pagesFor(apiIn(desk.home, { settings: desk.settings(), channel, stopping: stopping.signal, ...more }), role);

async function send(name: string, content: string | Buffer): Promise<string> {
  const url = `/api/v1/files?name=${encodeURIComponent(name)}`;
  const answer = await pages().request(url, { method: 'POST', body: content as string });
  return ((await answer.json()) as { id: string }).id;
}

async function post<T>(path: string, body: unknown, role: 'viewer' | 'operator' = 'operator') {
  const init = { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
  const answer = await pages(role).request(`/api/v1${path}`, init);
  return { status: answer.status, body: (await answer.json()) as T & { detail?: string } };
}

async function get<T>(path: string, role: 'viewer' | 'operator' = 'viewer', app = pages(role)) {
  const answer = await app.request(`/api/v1${path}`);
  return { status: answer.status, body: (await answer.json()) as T & { detail?: string; errors?: string[] } };
}

const CSV = [
  'List of June',
  '',
  'Serial;Größe;;Name',
  ...Array.from({ length: 60 }, (_, i) => `SN-${i};${i},5;x;Laptop ${i}`),
];

describe('POST /tables', () => {
  it('tells what was found, and why, of a file that a viewer may see, too', async () => {
    const file = await send('june.csv', Buffer.from(`${CSV.join('\r\n')}\r\n`, 'latin1'));
    const { status, body } = await post<Table>('/tables', { file }, 'viewer');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      format: 'csv',
      delimiter: ';',
      sheet: null,
      sheets: [],
      header_row: 3,
      headings: ['Serial', 'Größe', 'C', 'Name'],
    });
    expect(body.encoding).toMatch(/windows-1252|iso-8859-1/);
    expect([body.first.length, body.first[0]]).toEqual([50, { row: 4, cells: ['SN-0', '0,5', 'x', 'Laptop 0'] }]);
    expect(body.evidence.join('\n')).toMatch(/delimiter.*\n[\s\S]*heading|heading[\s\S]*delimiter/);
    const without = await post<Table>('/tables', { file, source: { header_row: 'none', delimiter: 'tab' } });
    expect(without.body).toMatchObject({ delimiter: '\t', header_row: null, headings: ['A'] });
  });

  it('reads the sheet that is chosen, and lists all in their order', async () => {
    const path = join(root, 'two.xlsx');
    await writeWorkbook(path, { sheet: 'Assets', headings: ['Serial'], rows: [['SN-1']] });
    const { body } = await post<Table>('/tables', { file: await send('two.xlsx', await readFile(path)) });
    expect(body).toMatchObject({
      format: 'xlsx',
      sheet: 'Assets',
      sheets: ['Assets'],
      encoding: null,
      delimiter: null,
    });
    expect(body.first).toEqual([{ row: 2, cells: ['SN-1'] }]);
  });

  it.each([
    ['no such file', '0123456789abcdef01234567', {}, 404, 'Send it again'],
    ['a path', '../../etc/passwd', {}, 404, 'Send it again'],
    ['a blank heading row', undefined, { header_row: 2 }, 422, 'header_row is 2'],
    ['a wrong delimiter', undefined, { delimiter: 'ab' }, 422, 'cannot separate cells'],
    ['an unknown encoding', undefined, { encoding: 'klingon' }, 422, 'klingon'],
    ['no option of ours', undefined, { wrong: 1 }, 400, 'not as the description'],
  ])('says what is wrong: %s', async (_, file, source, status, words) => {
    const id = file ?? (await send('a.csv', 'A,B\n\n1,2\n'));
    const answer = await post<Table>('/tables', { file: id, source });
    expect([answer.status, answer.body.detail ?? '']).toEqual([status, expect.stringContaining(words)]);
    expect(answer.body.detail ?? '').not.toContain(desk.home);
  });
});

it.each(['/tables', '/suggestions'])('POST %s takes no file, however it is sent', async (path) => {
  const whole = await post(path, { file: 'x'.repeat(100_000) });
  async function* endless() {
    for (;;) yield Buffer.alloc(16_384, ' ');
  }
  const init = { method: 'POST', body: Readable.toWeb(Readable.from(endless())), duplex: 'half' };
  const headers = { 'content-type': 'application/json' };
  const streamed = await pages().request(`/api/v1${path}`, { ...init, headers } as RequestInit);
  expect([whole.status, streamed.status]).toEqual([413, 413]);
});

describe('POST /suggestions', () => {
  it('says what map says, with samples and the shares that are blank and fit, and a job that runs as it is', async () => {
    const lines = ['Item Name,Serial number,Supplier,Purchase Cost,Colour'];
    for (let i = 0; i < 40; i++)
      lines.push(
        `Laptop ${i},SN-9${i},${i % 4 ? 'Acme Computers' : 'Nobody Ltd'},${i % 10 ? '12.50' : 'much'},${i % 2 ? '' : 'red'}`,
      );
    const { status, body } = await post<Suggestion>('/suggestions', {
      file: await send('assets.csv.gz', gzipSync(lines.join('\n'))),
      resource: 'asset',
    });
    expect([status, body.rows, body.resource]).toEqual([200, 40, 'asset']);
    const column = (heading: string) => body.columns.find((one) => one.heading === heading);
    expect(column('Supplier')).toMatchObject({ column: 3, field: 'attached_supplier', blank: 0, converts: 0.75 });
    expect(column('Purchase Cost')).toMatchObject({ samples: ['much', '12.50'], converts: 0.9 });
    expect(column('Colour')).toMatchObject({ field: null, blank: 0.5, converts: null, samples: ['red'] });
    expect(body.key).toMatchObject({ field: 'serial_number', fits: true });
    expect(body.text).toContain('key: serial_number');
    expect(inlineJob('import', body.job).job.columns).toMatchObject({ 'Serial number': 'serial_number', Colour: null });
  });

  it('refuses viewers, and resources that nothing is imported into', async () => {
    const file = await send('a.csv', 'A\n1\n');
    expect((await post('/suggestions', { file, resource: 'asset' }, 'viewer')).status).toBe(403);
    const { status, body } = await post('/suggestions', { file, resource: 'license' });
    expect([status, body.detail]).toEqual([422, expect.stringContaining('can only be read')]);
  });
});

it('GET /resources tells the fields of each', async () => {
  const { body } = await get<{ resources: Resource[] }>('/resources');
  expect(body.resources.map(({ name, imported }) => `${name} ${imported}`).slice(0, 5)).toEqual([
    'asset true',
    'contract true',
    'supplier true',
    'customer true',
    'license false',
  ]);
  const field = (name: string) => body.resources[0]?.fields.find((one) => one.name === name);
  expect(field('attached_supplier')).toMatchObject({ type: 'reference', of: 'supplier', written: true });
  expect(field('category.subcategory')).toMatchObject({ of: 'subcategory' });
  expect(field('warranty_type')).toMatchObject({ type: 'choice', choices: expect.arrayContaining(['none']) });
  expect(field('name')).toMatchObject({ type: 'text', required: true, choices: [] });
});

describe('GET /names', () => {
  it('gives names of the service, those that begin so first, and reads a list once', async () => {
    const api = pages('viewer');
    const ask = async (query: string) => (await (await api.request(`/api/v1/names?${query}`)).json()) as Names;
    const before = desk.sandbox.requests.total;
    const acme = await ask('of=supplier&q=ACME');
    expect(acme.names.length).toBeGreaterThan(0);
    expect(acme.names.every((name) => name.toLowerCase().includes('acme'))).toBe(true);
    const reads = desk.sandbox.requests.total - before;
    const few = await ask('of=supplier&limit=1');
    expect([few.names.length, few.more]).toEqual([1, true]);
    expect(desk.sandbox.requests.total - before).toBe(reads);
    expect((await ask('of=contract')).lack).toMatch(/no list/);
    expect((await ask('of=subcategory&q=bus')).names[0]).toMatch(/^bus/i);
    // Custom fields as a job names them.
    const { names: custom } = await ask('of=asset-field&limit=200');
    expect(custom.length).toBeGreaterThan(0);
    expect(custom.every((name) => /^(template|form)\../.test(name))).toBe(true);
  });

  it('says what the service does not list, and refuses what is no list', async () => {
    desk.sandbox.setFaults(['GET /asset-owner status=403']);
    const { status, body } = await get<Names>('/names?of=asset-owner');
    desk.sandbox.setFaults([]);
    expect([status, body.names, body.lack]).toEqual([200, [], expect.stringContaining('403')]);
    expect((await get('/names?of=secret')).status).toBe(400);
  });
});

it('leaves what another wrote into the folder of uploads alone', async () => {
  await writeFile(join(desk.home, 'uploads', 'note.txt'), 'x');
  expect((await get('/files/note.txt')).status).toBe(404);
});
