import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { MILESTONES } from '../src/trace/milestones.js';
import { LANES } from './lanes.js';
import { FACTORS } from './matrix/factors.js';
import { PLANTS } from './plants/plants.js';
import { SCENARIOS } from './plants/scenarios/all.js';
import { FAULTS } from './support/fault-list.js';
import { testFiles } from './support/fault-titles.js';

describe('the lanes', () => {
  it('have every test file once', async () => {
    const vitest = ['node_modules/vitest/vitest.mjs', 'list', '--filesOnly', '--json'];
    const { stdout } = await promisify(execFile)(process.execPath, vitest, { maxBuffer: 16 << 20 });
    const listed = JSON.parse(stdout) as { file: string; projectName: string }[];
    const files = listed.map(({ file }) => file.slice(process.cwd().length + 1));
    expect(files.sort()).toEqual(await testFiles('test'));
    // Where processes are shared, the modules that a suite replaces may be loaded already.
    const patching = listed.filter(({ file }) => /^vi\.mock\(/m.test(readFileSync(file, 'utf8')));
    expect(patching).not.toEqual([]);
    expect(patching.filter(({ projectName }) => !projectName.endsWith('-alone'))).toEqual([]);
  });

  it('can be run each by itself, and stand in docs/design/tests.md', async () => {
    const { scripts } = JSON.parse(await readFile('package.json', 'utf8')) as { scripts: Record<string, string> };
    const page = await readFile('docs/design/tests.md', 'utf8');
    for (const { name, proves, together, alone } of LANES) {
      const projects = [...(together.length > 0 ? [name] : []), ...(alone.length > 0 ? [`${name}-alone`] : [])];
      const script = name === 'fast' ? 'test' : `test:${name}`;
      expect(scripts[script]).toBe(`vitest run ${projects.map((project) => `--project=${project}`).join(' ')}`);
      expect(page).toContain(`| \`npm ${name === 'fast' ? 'test' : `run test:${name}`}\` | ${proves} |`);
    }
    expect(scripts['test:all']).toBe('vitest run');
  });
});

it('what the judges hold the program to is what test/covered.md lists', async () => {
  const check = await readFile('test/invariants/check.ts', 'utf8');
  const rules = /RULES[^=]*=> readonly Violation\[\]\)\[\] = \[([^\]]*)\]/.exec(check)?.[1]?.match(/\w+/g) ?? [];
  const parts: readonly (readonly [title: string, names: readonly string[]])[] = [
    ['Planted bugs, each caught', PLANTS.map(({ name }) => name)],
    ['Scenarios in which they are played', SCENARIOS.map(({ name }) => name)],
    ['Rules of the invariant checker', rules],
    ['Milestones between which a run may be cut off', MILESTONES],
    ['Factors of the matrix', Object.entries(FACTORS).map(([name, values]) => `${name}: ${values.join(', ')}`)],
  ];
  const page = `# What the judges hold the program to

Faults: 1 to ${FAULTS.length}, each with its tests in \`faults.md\`. A name that is missing here is a check that was lost; this page is
made and checked by \`test/lanes.test.ts\` (\`-u\` writes it anew).
${parts.map(([title, names]) => `\n## ${title}: ${names.length}\n\n${names.map((name) => `- ${name}`).join('\n')}\n`).join('')}`;
  await expect(page).toMatchFileSnapshot('covered.md');
});
