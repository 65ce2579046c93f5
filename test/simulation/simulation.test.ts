import { spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { cliPath } from '../support/build.js';
import { simulationPath } from './build.mjs';
import regressions from './regressions.json' with { type: 'json' };

/** Whole runs in a simulated world. Each simulation has a process of its own: it puts itself in the place of Node's time and disk. */

interface Line {
  readonly kind: 'violation' | 'progress' | 'scenario' | 'played' | 'total' | 'smallest';
  readonly seed?: number;
  readonly index?: number;
  readonly digest?: string;
  readonly violations?: readonly { readonly rule: string; readonly text: string }[];
  readonly scenarios?: number;
  readonly rows?: number;
  readonly kills?: number;
}

let main = '';
beforeAll(async () => {
  // As the other suites have it compiled.
  main = await simulationPath(dirname(dirname(await cliPath())));
});

async function simulate(...args: string[]): Promise<Line[]> {
  const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString('utf8');
  });
  await new Promise((resolve) => child.on('close', resolve));
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
}

const told = (lines: readonly Line[]) =>
  lines.flatMap(({ kind, seed, violations = [] }) => (kind === 'violation' ? [{ seed, violations }] : []));

describe('simulated worlds', () => {
  it('the promise holds over kills, power cuts, stops, outages, edits and runs at once (2, 3, 4, 5, 7, 11, 15, 28, 31, 37, 40, 42, 53, 54)', async () => {
    // What a long file brings about is not seen in short ones, nor as often.
    for (const [seed, most] of [
      ['1000', '60'],
      ['2000', '4000'],
    ] as const) {
      const lines = await simulate('--seed', seed, '--seconds', '8', '--most', most);
      expect(told(lines)).toEqual([]);
      const total = lines.at(-1);
      expect(total?.kind).toBe('total');
      expect(total?.scenarios).toBeGreaterThan(0);
      expect(total?.rows).toBeGreaterThan(0);
    }
  }, 180_000);

  it('the promise holds for two workers on one queue and one drop folder that die, end, lose the queue and fill their disk (7, 31, 37)', async () => {
    const lines = await simulate('--workers', '--seed', '1', '--seconds', '8');
    expect(told(lines)).toEqual([]);
    const total = lines.at(-1);
    expect(total?.kind).toBe('total');
    expect(total?.rows).toBeGreaterThan(0);
    expect(total?.kills).toBeGreaterThan(0);
  }, 180_000);

  it('the same seed does the same in another process, event by event', async () => {
    const once = ['--seed', '4711', '--only', '2', '--most', '40', '--verbose'];
    const [first, second] = await Promise.all([simulate(...once), simulate(...once)]);
    const played = (lines: readonly Line[] = []) =>
      lines.filter(({ kind }) => kind === 'scenario').map(({ kind, ...facts }) => facts);
    expect(played(first)).toHaveLength(2);
    expect(played(first)).toEqual(played(second));
  }, 180_000);

  it('what simulations found does not come back', async () => {
    const file = fileURLToPath(new URL('./regressions.json', import.meta.url));
    const lines = (await simulate('--file', file)).filter(({ kind }) => kind === 'played');
    expect(lines).toHaveLength(regressions.length);
    for (const { index = 0, violations = [] } of lines) {
      const found = regressions[index]?.found;
      expect({ found, violations }).toEqual({ found, violations: [] });
    }
  }, 180_000);
});
