import { afterEach, describe, expect, it } from 'vitest';
import { availableStores } from '../../support/servers.js';
import { type Bench, jsonOf, openBench, runsOf, sheet } from './bench.js';

let bench: Bench;
afterEach(() => bench.close());

describe.each((await availableStores()).filter(({ name }) => name !== 'redis'))('jobs on $name', ({ start }) => {
  it('run with a file and with rows, are refused, handed back and continued', async () => {
    bench = await openBench({ latencyMs: 10 }, start);
    const first = await bench.worker({ env: { ROWFERRY_CONCURRENCY: '2' } });
    const refused = await bench.settled(await bench.add({ job: 'assets', fil: 'a.csv' }, { attempts: 3 }));
    expect(refused.failedReason).toContain('unknown key `fil`, did you mean `file`?');
    expect(refused.failedReason).toContain('give exactly one of');
    const rows = [
      JSON.parse('{"Serial":"R-1","Name":"r","__proto__":"x","constructor":"y"}'),
      { Name: 's', Serial: 'R-2' },
    ];
    const told = await bench.settled(await bench.add({ job: 'assets', rows, options: { company: 1 } }));
    expect(told.returnvalue).toMatchObject({ rows: { total: 2, created: 2 } });
    const summary = await jsonOf(first.settings.home, 'runs', told.returnvalue.run, 'summary.json');
    expect(JSON.stringify(summary['warnings'])).toContain('constructor');

    await bench.file('a.csv', sheet(80));
    const added = await bench.add({ job: 'assets', file: 'a.csv' });
    while (bench.sandbox.commits.length < 20) await new Promise((next) => setTimeout(next, 10));
    await first.stop();
    expect(await bench.queue.getJobState(added.id ?? '')).toMatch(/waiting|delayed/);
    const second = await bench.worker();
    const job = await bench.settled(added);
    expect(job.returnvalue).toMatchObject({ status: 'succeeded', rows: { created: 80 } });
    expect(job.progress).toMatchObject({ phase: 'done', done: 80, outcomes: { created: 80 } });
    expect(bench.sandbox.commits).toHaveLength(82);
    expect(await runsOf(second.settings.home)).toHaveLength(2);
  });
});
