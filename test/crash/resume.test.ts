import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { run } from '../support/process.js';
import { expectTruth } from '../support/truth.js';
import { type Bench, openBench, others, place, RESUME } from './bench.js';

const assets = (bench: Bench) =>
  place(
    bench,
    'assets',
    'resource: asset\nmatch: { key: serial_number, unique_field: serial_number }\ncolumns: { Name: name, Serial: serial_number }\n',
    ['Name,Serial', ...Array.from({ length: 300 }, (_, i) => `Asset ${i},SN-${i}`)],
  );

let bench: Bench;
afterEach(() => bench.close());

/** Resumes until the run is through. */
async function finish(): Promise<void> {
  expect(await bench.run(RESUME)).toBe(0);
}

describe('a run is resumed as it was begun', () => {
  it('into the folder that --report named, with its own copy of the file', async () => {
    bench = await openBench();
    const argv = await assets(bench);
    bench.killAt('POST', 100);
    expect(await bench.run([...argv, '--report', 'reports'])).toBe('SIGKILL');
    await writeFile(join(bench.dir, 'assets.csv'), 'Name,Serial\r\nIntruder,SN-X');
    await writeFile(join(bench.dir, 'assets.yaml'), 'kind: import\nresource: supplier\n');
    await finish();
    const told = await bench.told(join(bench.dir, 'reports'));
    expect(others(told, 'created')).toEqual([]);
    expectTruth(told, bench.sandbox, 'asset', 'serial_number', 300);
  });

  it('not while its process lives, and the words name that process', async () => {
    bench = await openBench({ faults: ['POST /asset nth=10 timeout_before'] }, { ROWFERRY_TIMEOUT: '60' });
    const started = await bench.start(await assets(bench));
    await expect.poll(() => bench.sandbox.commits.length, { timeout: 20_000, interval: 5 }).toBeGreaterThan(3);
    const second = await run(RESUME, { cwd: bench.dir, env: bench.env });
    expect(second.code).toBe(1);
    expect(second.err).toContain(`process ${started.child.pid}`);
    started.child.kill('SIGKILL');
    await started.ended;
    await finish();
    expectTruth(await bench.told(), bench.sandbox, 'asset', 'serial_number', 300);
  });
});
