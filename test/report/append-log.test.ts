import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'lossless-json';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Decimal } from '../../src/model/decimal.js';
import { openAppendLog, readLog } from '../../src/report/append-log.js';
import { type BeforeLog, writeBefore } from '../../src/report/before.js';
import { openJournal } from '../../src/report/journal.js';

let dir: string;
let path: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'log-'));
  path = join(dir, 'before.log');
});
afterEach(() => rm(dir, { recursive: true, force: true }));

async function write(...values: unknown[]): Promise<void> {
  const log = await openAppendLog(path);
  log.append(values);
  await log.close();
}

async function lines(): Promise<string[]> {
  const all: string[] = [];
  for await (const block of readLog(path)) for (const { bytes } of block) all.push(bytes.toString('utf8'));
  return all;
}

describe('append log', () => {
  test('decimals are bare numbers with every digit', async () => {
    await write({ row: 2, record: { original_cost: Decimal.of('99999999999999.99'), name: 'Zoë\n"x"' } });
    expect(await readFile(path, 'utf8')).toBe(
      '{"row":2,"record":{"original_cost":99999999999999.99,"name":"Zoë\\n\\"x\\""}}\n',
    );
    const back = parse((await lines())[0] ?? '') as { record: { original_cost: { toString(): string } } };
    expect(back.record.original_cost.toString()).toBe('99999999999999.99');
  });

  test('cut at every byte, whole lines stay and appending goes on behind them', async () => {
    await write({ row: 2, a: 'é' }, { row: 3 });
    const bytes = await readFile(path);
    const whole = await lines();
    for (let cut = 0; cut <= bytes.length; cut++) {
      await writeFile(path, bytes.subarray(0, cut));
      await write({ row: 9 });
      const kept = whole.slice(0, bytes.subarray(0, cut).filter((byte) => byte === 10).length);
      expect(await lines()).toEqual([...kept, '{"row":9}']);
    }
  });

  test('a line far longer than a read block comes back whole', async () => {
    const text = 'x'.repeat(3_000_000);
    await write({ row: 2, text }, { row: 3 });
    expect((await lines()).map((line) => line.length)).toEqual([text.length + 19, 9]);
  });

  test('a record larger than a line was once allowed to be does not stop a resume: log and journal (97)', async () => {
    // Each of these characters is two bytes of the answer, and four where the record is shown as text.
    const text = '\\'.repeat(9 << 20);
    await write({ row: 2, record: { text } });
    await write({ row: 3 });
    expect((await lines()).map((line) => line.length > 16 << 20)).toEqual([true, false]);
    const outcome = { ref: { row: 2 }, kind: 'updated' as const, key: '', attempts: 1, issues: [], changed: ['name'] };
    const journal = await openJournal(join(dir, 'journal.log'));
    journal.append([
      { t: 'outcome', outcome, diff: [{ field: 'name', old: JSON.stringify(text), new: '', kind: 'set' }] },
    ]);
    await journal.close();
    await (await openJournal(join(dir, 'journal.log'))).close();
  });
});

const ofRows = (path: string): BeforeLog => ({ path, by: 'row', wanted: () => true });

describe('before.ndjson', () => {
  test('input order, the last line of a row wins, bytes as they were', async () => {
    const money = Decimal.of('12345678901234.56');
    await write({ row: 900, id: 1, record: { a: Decimal.of(1) } }, { row: 2, id: 2, record: {} });
    await write({ row: 900, id: 1, record: { a: money } });
    expect(await writeBefore(join(dir, 'before.ndjson'), ofRows(path))).toBe(2);
    expect(await readFile(join(dir, 'before.ndjson'), 'utf8')).toBe(
      '{"row":2,"id":2,"record":{}}\n{"row":900,"id":1,"record":{"a":12345678901234.56}}\n',
    );
  });

  test('no records, no file; a damaged line is named', async () => {
    expect(await writeBefore(join(dir, 'before.ndjson'), ofRows(path))).toBe(0);
    await expect(readFile(join(dir, 'before.ndjson'))).rejects.toThrow('ENOENT');
    await writeFile(path, '{"row":2}\n{"row":\n{"row":4}\n');
    await expect(writeBefore(join(dir, 'before.ndjson'), ofRows(path))).rejects.toThrow(/damaged in line 2/);
  });
});
