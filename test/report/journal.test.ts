import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import ts from 'typescript';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { RunError } from '../../src/model/error.js';
import { OUTCOMES } from '../../src/model/outcome.js';
import { type Entry, headOf, openJournal, parseLine, readJournal } from '../../src/report/journal.js';
import { outcome } from './sample.js';

let dir: string;
let path: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'journal-'));
  path = join(dir, 'journal.log');
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const run: Entry = { t: 'run', v: 1, run: '20260101T000000-abc', data: { file: 'Bücher „neu“.csv' } };
const intent = (row: number): Entry => ({ t: 'intent', row, op: 'create', key: `K-${row}`, hash: 'ab', at: 1 });
const done = (row: number): Entry => ({ t: 'outcome', outcome: outcome(row, 'created', { id: row }) });

async function entries(file = path): Promise<Entry[]> {
  const all: Entry[] = [];
  for await (const { entry } of readJournal(file)) all.push(entry);
  return all;
}

async function write(...list: Entry[]): Promise<void> {
  const journal = await openJournal(path);
  journal.append(list);
  await journal.close();
}

describe('journal', () => {
  test('gives back what was appended, over several openings, with the place of each line', async () => {
    await write(run, intent(2));
    await write(done(2), { t: 'phase', phase: 'apply' });
    expect(await entries()).toEqual([run, intent(2), done(2), { t: 'phase', phase: 'apply' }]);
    const bytes = await readFile(path);
    for await (const { entry, offset, length } of readJournal(path)) {
      const line = bytes.toString('utf8', offset, offset + length);
      expect(line).toBe(`${crc32(line.slice(9)).toString(16).padStart(8, '0')} ${JSON.stringify(entry)}`);
      expect(bytes[offset + length]).toBe(10);
    }
  });

  test('the head of a line tells what the line tells, or nothing', () => {
    const text = fc.string({ unit: 'binary', maxLength: 60 });
    const row = fc.integer({ min: 1 });
    const outcomes = fc
      .record({ row, sheet: fc.option(text, { nil: undefined }), kind: fc.constantFrom(...OUTCOMES), key: text })
      .map(({ row: number, sheet, kind, key }): Entry => {
        const ref = sheet === undefined ? { row: number } : { sheet, row: number };
        return { t: 'outcome', outcome: { ref, kind, key, attempts: 0, issues: [], changed: [] } };
      });
    const intents = fc.record({ row, key: text }).map(({ row: number, key }) => ({ ...intent(number), key }) as Entry);
    let told = 0;
    fc.assert(
      fc.property(fc.oneof(outcomes, intents, fc.constant(run)), fc.nat(), (entry, at) => {
        const json = Buffer.from(JSON.stringify(entry));
        const line = Buffer.concat([Buffer.from(`${crc32(json).toString(16).padStart(8, '0')} `), json]);
        const head = headOf(line);
        if (head) {
          told++;
          const { t } = entry;
          if (t === 'outcome') expect(head).toEqual({ t, row: entry.outcome.ref.row, kind: entry.outcome.kind });
          else if (t === 'intent') expect(head).toEqual({ t, row: entry.row });
          else expect.fail(t);
        }
        line[at % line.length]! ^= 1;
        expect(headOf(line)).toBeUndefined();
        expect(parseLine(line, 'journal', 1)).toBeUndefined();
      }),
    );
    expect(told).toBeGreaterThan(0);
  });

  test('any text survives: line ends, lone surrogates, control characters', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ unit: 'binary', maxLength: 40 }), { maxLength: 8 }), async (texts) => {
        await rm(path, { force: true });
        const list = texts.map((key, row): Entry => ({ t: 'intent', row, op: 'update', key, hash: 'h', at: 0 }));
        await write(...list);
        expect(await entries()).toEqual(list);
      }),
      { numRuns: 30 },
    );
  });

  test('cut at every byte: what was whole is read, the torn end is cut off, and appending goes on', async () => {
    await write(run, intent(2), done(2), intent(3));
    const bytes = await readFile(path);
    const whole = await entries();
    const ends = [...bytes.entries()].filter(([, byte]) => byte === 10).map(([at]) => at + 1);
    for (let cut = 0; cut <= bytes.length; cut++) {
      await writeFile(path, bytes.subarray(0, cut));
      const expected = whole.slice(0, ends.filter((end) => end <= cut).length);
      expect(await entries()).toEqual(expected);
      await write(done(9));
      expect(await entries()).toEqual([...expected, done(9)]);
    }
  });

  test('a flipped byte in the middle is an error that names file and line, never a shorter journal', async () => {
    await write(run, intent(2), done(2), intent(3), done(3));
    const bytes = await readFile(path);
    const second = bytes.indexOf(10) + 1;
    const third = bytes.indexOf(10, second) + 1;
    for (let at = second; at < third; at++) {
      const damaged = Buffer.from(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ 0x01;
      await writeFile(path, damaged);
      await expect(entries()).rejects.toThrow(`${path} is damaged in line 2`);
      await expect(openJournal(path)).rejects.toBeInstanceOf(RunError);
      expect(await readFile(path)).toEqual(damaged);
    }
  });

  test('a group of lines lost at the end by a power cut (zeros on the disk) counts as torn', async () => {
    await write(run, intent(2));
    await writeFile(path, Buffer.concat([await readFile(path), Buffer.alloc(4096)]));
    await write(done(2));
    expect(await entries()).toEqual([run, intent(2), done(2)]);
  });

  test('a newer format is refused', async () => {
    const json = JSON.stringify({ t: 'run', v: 2, run: 'x' });
    await writeFile(path, `${crc32(json).toString(16).padStart(8, '0')} ${json}\n`);
    await expect(entries()).rejects.toThrow(/format 2 in line 1.*reads format 1/);
    await expect(openJournal(path)).rejects.toThrow(/reads format 1/);
  });

  test('a missing journal is empty to a writer and an error to a reader', async () => {
    await expect(entries()).rejects.toThrow(`The journal ${path} does not exist`);
    await (await openJournal(path)).close();
    expect(await entries()).toEqual([]);
  });

  test('concurrent flushes share syncs, and each covers what was appended before it', async () => {
    const journal = await openJournal(path);
    const flushes = new Set<Promise<void>>();
    const checks: Promise<void>[] = [];
    for (let row = 0; row < 20_000; row++) {
      journal.append([intent(row)]);
      const flushed = journal.flush();
      flushes.add(flushed);
      if (row % 1000 === 0) {
        checks.push(
          flushed.then(async () => {
            expect(await readFile(path, 'utf8')).toContain(`"key":"K-${row}"`);
          }),
        );
      }
    }
    await Promise.all([...flushes, ...checks]);
    await journal.close();
    expect((await entries()).length).toBe(20_000);
    // One promise for thousands of callers: they waited for the same sync.
    expect(flushes.size).toBeLessThan(200);
  });

  test.skipIf(process.platform !== 'linux')(
    'a full disk rejects this flush and everything after, in plain words',
    async () => {
      const journal = await openJournal('/dev/full');
      journal.append([intent(2)]);
      const first = journal.flush();
      const second = journal.flush();
      await expect(first).rejects.toThrow(/journal \/dev\/full cannot be written: the disk is full/);
      await expect(second).rejects.toBeInstanceOf(RunError);
      expect(() => journal.append([intent(3)])).toThrow(RunError);
      await expect(journal.flush()).rejects.toThrow(/Nothing more is sent/);
      await expect(journal.close()).rejects.toBeInstanceOf(RunError);
    },
  );

  test('a process killed while writing leaves only whole entries that it had flushed, in order', async () => {
    const script = await compiledWriter(dir);
    const child = promisify(execFile)(process.execPath, [script, path], { timeout: 25_000 });
    const error = await child.then(
      () => undefined,
      (reason: { signal?: string; stdout?: string; stderr?: string }) => reason,
    );
    expect(error?.signal, error?.stderr).toBe('SIGKILL');
    const flushed = Number(error?.stdout?.trim().split('\n').at(-1));
    expect(flushed).toBeGreaterThan(0);
    const rows = (await entries()).map((entry) => (entry.t === 'intent' ? entry.row : -1));
    expect(rows.length).toBeGreaterThanOrEqual(flushed);
    expect(rows).toEqual(rows.map((_, index) => index));
  });
});

/** The journal's own source as plain JavaScript, and a script that appends until it kills itself between two flushes. */
async function compiledWriter(folder: string): Promise<string> {
  for (const name of [
    'report/journal',
    'report/durable-lines',
    'report/line-blocks',
    'model/error',
    'model/row',
    'trace/milestones',
  ]) {
    const source = await readFile(new URL(`../../src/${name}.ts`, import.meta.url), 'utf8');
    const { outputText } = ts.transpileModule(source, {
      compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023, verbatimModuleSyntax: true },
    });
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, `${name}.js`), outputText);
  }
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  const script = join(folder, 'writer.js');
  await writeFile(
    script,
    `import { writeSync } from 'node:fs';
     import { openJournal } from './report/journal.js';
     const journal = await openJournal(process.argv[2]);
     for (let row = 0; ; row++) {
       journal.append([{ t: 'intent', row, op: 'create', key: 'x'.repeat(row % 300), hash: '', at: 0 }]);
       if (row % 7 === 0) { await journal.flush(); writeSync(1, row + 1 + '\\n'); }
       if (row === 3003) { void journal.flush(); setImmediate(() => process.kill(process.pid, 'SIGKILL')); await new Promise(() => {}); }
     }`,
  );
  return script;
}
