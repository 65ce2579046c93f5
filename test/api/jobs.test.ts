import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ApiDeps } from '../../src/api/app.js';
import type { Api } from '../../src/api/operation.js';
import type { Job, JobChecked, JobFile, Problem, Role } from '../../src/api/schema.js';
import { inlineJob } from '../../src/runs/job-file.js';
import { openJobFiles } from '../../src/worker/job-files.js';
import { checkJobData } from '../../src/worker/jobs/data.js';
import { apiIn, pagesFor } from './support.js';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'rowferry-api-jobs-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

let home: string;
let dir: string;
let audited: string[];
let api: Api;
beforeEach(async () => {
  home = await mkdtemp(join(root, 'home-'));
  dir = join(home, 'job-files');
  await mkdir(dir);
  audited = [];
  const audit: ApiDeps['audit'] = async (who, what, about) => void audited.push(`${who.name}: ${what} ${about?.job}`);
  api = apiIn(home, { audit, readJobs: openJobFiles(dir) });
});

const JOB = `# kept
kind: import
resource: supplier
match: { key: name }
columns: { Name: name }
`;
const SCHEDULED = `${JOB}schedule: { cron: "0 2 * * *", timezone: Europe/Berlin, file: in.csv }\n`;

async function ask<T>(path: string, init: RequestInit & { json?: unknown } = {}, role: Role = 'operator') {
  const pages = pagesFor(api, role);
  const { json, ...rest } = init;
  const headers = {
    ...(rest.headers as Record<string, string>),
    ...(json !== undefined && { 'content-type': 'application/json' }),
  };
  const answer = await pages.request(`/api/v1${path}`, {
    ...rest,
    headers,
    ...(json !== undefined && { body: JSON.stringify(json) }),
  });
  return { status: answer.status, etag: answer.headers.get('etag'), body: (await answer.json()) as T & Problem };
}
const put = (name: string, json: unknown, headers: Record<string, string>, role: Role = 'operator') =>
  ask<JobFile>(`/jobs/${encodeURIComponent(name)}`, { method: 'PUT', json, headers }, role);
const NEW = { 'if-none-match': '*' };

it('lists the job files with what is wrong, when they run next, and what waits in their folders', async () => {
  await writeFile(join(dir, 'suppliers.yaml'), SCHEDULED);
  await writeFile(join(dir, 'wrong.yml'), JOB.replace('Name: name', 'Name: nam'));
  await writeFile(join(dir, 'notes.txt'), 'x');
  const inbox = join(home, 'inbox', 'suppliers');
  await mkdir(inbox, { recursive: true });
  for (const name of ['a.csv', 'b.csv', 'b.csv.part', 'README.txt']) await writeFile(join(inbox, name), 'x');
  const { body } = await ask<{ jobs: Job[] }>('/jobs', {}, 'viewer');
  const [good, wrong, ...others] = body.jobs;
  expect(others).toEqual([]);
  expect(good).toEqual({
    name: 'suppliers',
    kind: 'import',
    resource: 'supplier',
    schedule: {
      cron: '0 2 * * *',
      timezone: 'Europe/Berlin',
      file: 'in.csv',
      next: expect.stringMatching(/T0[01]:00:00.000Z$/),
    },
    inbox: { folder: inbox, waiting: 2 },
    last: null,
    problems: [],
  });
  expect(wrong).toMatchObject({ name: 'wrong', kind: 'import', resource: null, schedule: null, inbox: null });
  expect(wrong?.problems).toContainEqual({
    line: 5,
    column: 18,
    severity: 'error',
    message: expect.stringContaining('did you mean `name`'),
  });
});

describe('a job file', () => {
  it('is made, read, and written over by whoever knows what it was', async () => {
    const made = await put('Lieferanten 2026', { text: JOB }, NEW);
    expect([made.status, made.body.text, made.body.kind]).toEqual([200, JOB, 'import']);
    const read = await ask<JobFile>('/jobs/Lieferanten%202026', {}, 'viewer');
    expect([read.body.etag, read.etag]).toEqual([made.body.etag, made.body.etag]);
    expect(read.body.job).toEqual({
      kind: 'import',
      resource: 'supplier',
      match: { key: 'name' },
      columns: { Name: 'name' },
    });
    const next = JOB.replace('kept', 'changed');
    const written = await put('Lieferanten 2026', { text: next }, { 'if-match': read.body.etag });
    expect([written.status, written.body.etag === read.body.etag]).toEqual([200, false]);
    expect(await readFile(join(dir, 'Lieferanten 2026.yaml'), 'utf8')).toBe(next);
    expect(audited).toEqual(Array(2).fill('mara: job file written Lieferanten 2026'));
  });

  it('is not written over where it changed meanwhile, nor where nobody said what it was', async () => {
    const { body } = await put('a', { text: JOB }, NEW);
    await writeFile(join(dir, 'a.yaml'), SCHEDULED);
    expect((await put('a', { text: JOB }, { 'if-match': body.etag })).status).toBe(412);
    expect((await put('a', { text: JOB }, NEW)).status).toBe(412);
    expect((await put('b', { text: JOB }, { 'if-match': body.etag })).status).toBe(412);
    expect((await put('b', { text: JOB }, { 'if-match': '*' })).status).toBe(412);
    expect((await put('a', { text: JOB }, { 'if-match': '*' })).status).toBe(200);
    expect((await put('a', { text: JOB }, {})).status).toBe(400);
    const { etag } = (await ask<JobFile>('/jobs/a')).body;
    // Of two that come at the same time one is told that it is late.
    const both = await Promise.all([1, 2].map((n) => put('a', { text: `${JOB}# ${n}\n` }, { 'if-match': etag })));
    expect(both.map(({ status }) => status).sort()).toEqual([200, 412].sort());
    expect(await readdir(dir)).toEqual(['a.yaml']);
    expect((await put('without', { text: JOB }, {})).status).toBe(200);
  });

  it('is told as an object that a run takes: nobody is told of that run, and nothing makes it again', async () => {
    const told = `${SCHEDULED.replace('key: name', 'key: none')}notify: { email: [it@example.com] }\nsource: { sheet: 2 }\n`;
    const { job } = (await put('a', { text: told }, NEW)).body;
    expect(job).toMatchObject({ source: { sheet: 2 }, match: { key: 'none' } });
    expect(Object.keys(job ?? {})).not.toEqual(expect.arrayContaining(['notify']));
    expect(Object.keys(job ?? {})).not.toEqual(expect.arrayContaining(['schedule']));
    expect(checkJobData('import', { job, file: 'a.csv' })).not.toHaveProperty('faults');
    await writeFile(join(dir, 'wrong.yaml'), 'kind: [');
    expect((await ask<JobFile>('/jobs/wrong')).body).not.toHaveProperty('job');
  });

  it('with faults is not written, and each is told at its line', async () => {
    const { status, body } = await put(
      'a',
      { text: JOB.replace('name }', 'nam }').replace('supplier', 'supplyer') },
      NEW,
    );
    expect([status, body.errors?.length]).toEqual([422, 1]);
    expect(body.errors?.join('\n')).toMatch(/^a\.yaml:3:\d+ .*supplyer/);
    expect((await put('a', { text: 'kind: [' }, NEW)).body.errors?.[0]).toMatch(/^a\.yaml:1:/);
    expect(await readdir(dir)).toEqual([]);
    expect(audited).toEqual([]);
  });

  it('is written from an object, too, and read back as the same job', async () => {
    const job = {
      kind: 'import',
      resource: 'supplier',
      source: { header_row: 3, null_values: ['NULL', '~', 'no'], delimiter: ';' },
      match: { key: 'name' },
      columns: { '2024': 'name', 'Größe: #1': null, 'yes ': { field: 'website', optional: true } },
    };
    const { status, body } = await put('object', { job }, NEW);
    expect(status).toBe(200);
    expect(inlineJob('import', job).job).toEqual(
      (await import('../../src/runs/job-file.js')).checkJobText(body.text).job,
    );
  });

  it.each([
    '../evil',
    'a/b',
    'a\\b',
    '..',
    '.hidden',
    'a\0b',
    'x'.repeat(300),
    'NUL',
    'inline',
    'con.job',
    'processing',
    'done',
    'a ',
    'a.',
    'a\nb',
    '~$a',
  ])('is never written outside of its folder, or under a name that is none: %j', async (name) => {
    const { status } = await put(name, { text: JOB }, NEW);
    expect([404, 422]).toContain(status);
    expect([await readdir(dir), (await readdir(home)).sort()]).toEqual([[], ['job-files']]);
    expect((await ask(`/jobs/${encodeURIComponent(name)}`)).status).toBe(404);
  });

  it('is refused with the rule where it is too long for the name of a file, and nothing is in the audit log', async () => {
    const { status, body } = await put('資'.repeat(100), { text: JOB }, NEW);
    expect([status, body.detail]).toEqual([422, expect.stringMatching(/takes 300 bytes.*at most 200/)]);
    expect([await readdir(dir), audited]).toEqual([[], []]);
    for (const name of ['Ж'.repeat(100), '資'.repeat(66)])
      expect((await put(name, { text: JOB }, NEW)).status).toBe(200);
  });

  it('that is a link leaves alone what the link leads to', async () => {
    const other = join(home, 'other.yaml');
    await writeFile(other, SCHEDULED);
    await symlink(other, join(dir, 'a.yaml'));
    const { etag } = (await ask<JobFile>('/jobs/a')).body;
    expect((await put('a', { text: JOB }, { 'if-match': etag })).status).toBe(200);
    expect([await readFile(other, 'utf8'), await readFile(join(dir, 'a.yaml'), 'utf8')]).toEqual([SCHEDULED, JOB]);
  });

  it('is for operators to write, and not larger than a job file may be', async () => {
    expect((await put('a', { text: JOB }, NEW, 'viewer')).status).toBe(403);
    expect((await put('a', { text: 'x'.repeat(1_100_000) }, NEW)).status).toBe(400);
    expect((await put('a', { text: 'x'.repeat(5_000_000) }, NEW)).status).toBe(413);
    for (const body of [{ text: JOB, job: {} }, { job: 'x' }, {}])
      expect(await put('a', body, NEW)).toMatchObject({
        status: 400,
        body: { errors: [expect.stringContaining('must be {"text": "…"}')] },
      });
    expect(await readdir(dir)).toEqual([]);
  });
});

describe('POST /jobs/check', () => {
  const check = async (json: unknown) => (await ask<JobChecked>('/jobs/check', { method: 'POST', json })).body;

  it('tells every fault with its line and column, of a text and of an object', async () => {
    const found = await check({ text: JOB.replace('match', 'mtch') });
    expect([found.kind, found.resource]).toEqual(['import', null]);
    expect(found.problems.map(({ line, severity }) => `${line} ${severity}`)).toContain('4 error');
    expect(await check({ text: JOB })).toEqual({ kind: 'import', resource: 'supplier', problems: [], text: JOB });
    const object = await check({ job: { kind: 'import', resource: 'supplier', columns: { Name: 'nam' } } });
    expect(object.text).toContain('Name: nam');
    expect(object.problems.some(({ line, message }) => line === 4 && message.includes('nam'))).toBe(true);
  });

  it('bears objects that nest without an end', async () => {
    const deep = `{"job":{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}}`;
    const headers = { 'content-type': 'application/json' };
    const { status } = await ask('/jobs/check', { method: 'POST', body: deep, headers });
    expect([200, 400, 422]).toContain(status);
  });
});
