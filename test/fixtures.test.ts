import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { ISSUE_CODES } from '../src/model/issue.js';
import { OUTCOMES } from '../src/model/outcome.js';

interface Expected {
  job: string;
  file: string;
  counts: Record<string, number>;
  rows: { row: number; outcome: string; codes: string[] }[];
}

it('the fixtures are what build/make-fixtures.mjs writes, byte for byte', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'rowferry-fixtures-'));
  try {
    await promisify(execFile)(process.execPath, ['build/make-fixtures.mjs', folder]);
    const written = (await readdir(folder)).sort();
    expect(written.length).toBeGreaterThan(10);
    for (const file of written) {
      const [now, kept] = await Promise.all([folder, 'fixtures'].map((dir) => readFile(path.join(dir, file))));
      expect(now?.equals(kept!), `${file}: run node build/make-fixtures.mjs`).toBe(true);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

it('what is expected of them is stated in known words and adds up', async () => {
  const files = (await readdir('fixtures')).filter((file) => file.endsWith('.expected.json'));
  for (const file of files) {
    const { job, counts, rows, ...rest } = JSON.parse(await readFile(path.join('fixtures', file), 'utf8')) as Expected;
    expect(await readdir('jobs')).toContain(`${job}.yaml`);
    expect(await readdir('fixtures')).toContain(rest.file);
    const { total, ...outcomes } = counts;
    expect(rows).toHaveLength(total ?? -1);
    expect(Object.values(outcomes).reduce((sum, count) => sum + count, 0)).toBe(total);
    for (const row of rows) {
      expect(OUTCOMES).toContain(row.outcome);
      for (const code of row.codes) expect(Object.keys(ISSUE_CODES)).toContain(code);
    }
  }
  const demo = JSON.parse(await readFile('fixtures/assets-demo.expected.json', 'utf8')) as Expected;
  expect(demo.counts['total']).toBe(240);
  expect(demo.rows.filter(({ codes }) => codes.length > 0)).toHaveLength(15);
});
