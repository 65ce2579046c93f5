import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { bookOf, bookParts, textRows, zipOf } from '../files/fixtures.js';
import { itWith, privateRedis } from '../support/servers.js';
import { expectTruth } from '../support/truth.js';
import { until } from '../support/until.js';
import { assetSheet, type Crew, openCrew, told as toldBy } from '../support/worker.js';
import { others } from './bench.js';

let crew: Crew | undefined;
afterEach(async () => {
  await crew?.close();
  crew = undefined;
});

const MB = 1024 * 1024;
const HEADINGS = 'Name,Serial\r\n';
const SHEET = textRows([
  ['Name', 'Serial'],
  ['a', 'b'],
]);

/** Files that want far more memory than the worker has, each where its reader keeps what it reads. */
const GREEDY: readonly (readonly [name: string, content: () => Buffer | string, words: RegExp])[] = [
  ['columns.csv', () => `${Array.from({ length: 1_000_000 }, (_, i) => `c${i}`).join(',')}\r\n`, /columns|4 MB/],
  ['open-quote.csv', () => Buffer.concat([Buffer.from(`${HEADINGS}"`), Buffer.alloc(64 * MB, 'x')]), /quote|4 MB|cell/],
  ['one-line.ndjson', () => Buffer.concat([Buffer.from('{"Name":"'), Buffer.alloc(64 * MB, 'x')]), /4 MB|line/],
  ['bomb.csv.gz', () => gzipSync(Buffer.alloc(128 * MB, 'a,b\n')), /times its size|unpacks/],
  [
    'entry.xlsx',
    () => zipOf([...bookParts({ sheets: [{ xml: SHEET }] }), { name: 'xl/media/x.bin', data: Buffer.alloc(256 * MB) }]),
    /times its size/,
  ],
  [
    'token.xlsx',
    () => bookOf({ sheets: [{ xml: `<row r="1"><c t="str"><v>${'x'.repeat(48 * MB)}</v></c></row>` }] }),
    /longer than \d+ MB/,
  ],
];

describe.skipIf((await itWith('redis')) !== it)('a worker with little memory', () => {
  it('refuses files that want more than it has, each in words, and goes on with the next one (38)', async () => {
    const redis = await privateRedis();
    const opened = await openCrew({
      server: { url: redis.url, home: '', stop: () => redis.stop() },
      env: { NODE_OPTIONS: '--max-old-space-size=128' },
    });
    crew = opened;
    const worker = await opened.worker('one');
    const folder = join(opened.inbox, 'assets');
    // The worker has made the folder of the job; files come by rename, whole.
    for (const [name, content] of GREEDY) {
      const aside = join(opened.dir, name);
      await writeFile(aside, content());
      await rename(aside, join(folder, name));
    }
    await until(async () => (await opened.ended('failed')).length === GREEDY.length, {
      withinMs: 180_000,
      what: 'the refusals',
    });
    const refused = new Map<string, string>();
    for (const dir of await opened.ended('failed')) {
      const names = await readdir(dir);
      const text = names.includes('ERROR.txt')
        ? await readFile(join(dir, 'ERROR.txt'), 'utf8')
        : await readFile(join(dir, 'summary.json'), 'utf8');
      for (const [name] of GREEDY) if (names.includes(name)) refused.set(name, text);
    }
    for (const [name, , words] of GREEDY) expect(`${name}: ${refused.get(name)}`).toMatch(words);
    expect(opened.sandbox.requests.writes).toBe(0);
    expect(worker.child.exitCode).toBeNull();

    await opened.drop('good.csv', assetSheet(20));
    await until(async () => (await opened.ended('done')).length === 1, { withinMs: 120_000, what: 'the good file' });
    const [done = ''] = await opened.ended('done');
    const told = await toldBy(done);
    expect(others(told, 'created')).toEqual([]);
    expectTruth(told, opened.sandbox, 'asset', 'serial_number', 20);
    expect(worker.child.exitCode).toBeNull();
  }, 420_000);
});
