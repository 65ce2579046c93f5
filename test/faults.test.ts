import { readFile, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { FAULTS } from './support/fault-list.js';
import { faultTests } from './support/fault-titles.js';

const root = fileURLToPath(new URL('.', import.meta.url));
const tests = await faultTests(root);

describe('the catalogue of faults', () => {
  it('stands in test/faults.md with the tests that show each of them', async () => {
    const lines = FAULTS.map(([number, fault]) => {
      const shown = tests
        .filter(({ faults }) => faults.includes(number))
        .map(({ file, title }) => `\`${file}\` › ${title.replaceAll('|', '\\|')}`);
      return `| ${number} | ${fault} | ${shown.join('<br>') || '–'} |`;
    });
    const page = `# Faults that rowferry survives, and the tests that show it

Every input row has exactly one outcome; no record is written twice; no value that the row did not map is changed; the
report's totals are the truth. It holds through every fault below.

A test says in its title which faults it shows: \`(7, 8)\`. This page is made from those titles and checked against them by
\`test/faults.test.ts\`; after a change: \`npx vitest run test/faults.test.ts -u\`. Beside single faults, three machines look for
what nobody thought of: the matrix of undocumented behaviours (\`test/matrix\`), kills at every milestone
(\`test/crash/failpoints.test.ts\`), and the simulation (\`test/simulation\`), each judged by the invariant checker
(\`test/invariants\`), which is itself proven by planted bugs (\`test/plants\`).

| number | fault | tests |
|---:|---|---|
${lines.join('\n')}
`;
    await expect(page).toMatchFileSnapshot('faults.md');
  });

  it('leaves none of the 112 without a test', async () => {
    const shown = new Set(tests.flatMap(({ faults }) => faults));
    const numbers = FAULTS.map(([number]) => number);
    expect(numbers).toEqual(Array.from({ length: 112 }, (_, at) => at + 1));
    expect([...shown].filter((number) => !numbers.includes(number))).toEqual([]);
    expect(numbers.filter((number) => !shown.has(number))).toEqual([]);
  });

  it('knows the marks of plain titles, of cases, and of lists of cases', async () => {
    const titles = tests.map(({ title, faults }) => `${title} → ${faults.join(' ')}`);
    expect(titles).toContain('asset: no answer, not executed (2) → 2');
    expect(titles).toContain('a contract that was not answered and is not found is unknown (2) → 2');
  });
});

it('has a SECURITY.md below 8 KB whose tests exist, files and numbers of faults', async () => {
  const page = await readFile('SECURITY.md', 'utf8');
  expect(Buffer.byteLength(page)).toBeLessThan(8_192);
  const rows = page.split('\n').filter((line) => line.startsWith('| ') && line.split('|').length === 6);
  const shown = new Set(tests.flatMap(({ faults }) => faults));
  expect(rows.length).toBeGreaterThan(9);
  for (const row of rows.slice(1)) {
    const cell = row.split('|')[4] ?? '';
    const faults = [...cell.matchAll(/(\d+)(?:–(\d+))?(?=, |\s*$)/g)].flatMap(([, from, to = from]) =>
      Array.from({ length: Number(to) - Number(from) + 1 }, (_, at) => Number(from) + at),
    );
    expect(faults.length, row).toBeGreaterThan(0);
    expect(
      faults.filter((fault) => !shown.has(fault)),
      row,
    ).toEqual([]);
    for (const [, file = ''] of cell.matchAll(/`([^`]+)`/g)) expect((await stat(file)).isFile(), file).toBe(true);
  }
});
