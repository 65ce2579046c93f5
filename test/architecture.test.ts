import { execFile } from 'node:child_process';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { faultTests } from './support/fault-titles.js';

const run = promisify(execFile);
const DEPCRUISE = join('node_modules', '.bin', 'depcruise');

async function sources(): Promise<string[]> {
  const names = await readdir('src', { recursive: true });
  return names.filter((name) => name.endsWith('.ts')).map((name) => join('src', name));
}

describe('architecture', () => {
  it('has no import against its direction and no circle', async () => {
    const { stdout } = await run(DEPCRUISE, ['--config', '.dependency-cruiser.cjs', '--output-type', 'json', 'src'], {
      maxBuffer: 64 << 20,
    }).catch((error: { stdout: string }) => error);
    const { summary } = JSON.parse(stdout) as {
      summary: { violations: { rule: { name: string }; from: string; to: string }[]; totalCruised: number };
    };
    expect(summary.totalCruised).toBeGreaterThan(50);
    expect(summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`)).toEqual([]);
  });

  it('finds a forbidden import where there is one', async () => {
    const rules = await readFile('.dependency-cruiser.cjs', 'utf8');
    for (const folder of ['model', 'resources', 'files', 'report', 'service', 'pipeline', 'runs', 'cli', 'sandbox']) {
      expect(rules).toContain(`only('${folder}'`);
    }
    // The model has room for zod alone: the same rule, turned on a folder that imports more, must complain.
    const { stdout } = await run(
      DEPCRUISE,
      [
        '--no-config',
        ...['--max-depth', '1'],
        '--ts-config',
        'tsconfig.json',
        '--ts-pre-compilation-deps',
        '--output-type',
        'json',
        'src/pipeline/plan/plan.ts',
      ],
      { maxBuffer: 64 << 20 },
    );
    const { modules } = JSON.parse(stdout) as { modules: { source: string; dependencies: { resolved: string }[] }[] };
    const plan = modules.find((module) => module.source === 'src/pipeline/plan/plan.ts');
    expect(plan?.dependencies.map((one) => one.resolved)).toContain('src/pipeline/plan/merge.ts');
  });

  it('has every package of its lock by its hash, and no registry by its name', async () => {
    interface Locked {
      readonly version: string;
      readonly integrity?: string;
      readonly resolved?: string;
      readonly optional?: boolean;
      readonly os?: readonly string[];
    }
    const lock = JSON.parse(await readFile('package-lock.json', 'utf8')) as { packages: Record<string, Locked> };
    const packages = Object.entries(lock.packages).filter(([path]) => path !== '');
    expect(packages.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path)).toEqual([]);
    // Prebuilt binaries for other platforms, which a partial registry does not offer: `build/complete-lock.mjs` adds their hashes.
    const bare = packages.filter(([, { integrity = '' }]) => !/^sha512-[\w+/]{86}==$/.test(integrity));
    expect(bare.filter(([, { optional, os }]) => !optional || !os).map(([path]) => path)).toEqual([]);
    expect(bare.length).toBeLessThanOrEqual(12);
  });

  it('has a SECURITY.md below 8 KB whose tests exist, files and numbers of faults', async () => {
    const page = await readFile('SECURITY.md', 'utf8');
    expect(Buffer.byteLength(page)).toBeLessThan(8_192);
    const rows = page.split('\n').filter((line) => line.startsWith('| ') && line.split('|').length === 6);
    const shown = new Set((await faultTests('test')).flatMap(({ faults }) => faults));
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

  it('leaves the process to whoever called, but for the command line', async () => {
    // Called by the command line alone, and where the worker opens its socket.
    const allowed = [join('src', 'files', 'make-folder.ts'), join('src', 'api', 'server.ts')];
    const found: string[] = [];
    for (const file of await sources()) {
      if (file.startsWith(join('src', 'cli')) || allowed.includes(file)) continue;
      const touches = /\bprocess\.(?:exit|abort|chdir|umask|on|once|addListener)\(|process\.exitCode/;
      if (touches.test(await readFile(file, 'utf8'))) found.push(file);
    }
    expect(found).toEqual([]);
  });

  it('writes to the console from the command line only', async () => {
    const offenders: string[] = [];
    for (const file of await sources()) {
      if (file.startsWith(join('src', 'cli'))) continue;
      if (/\bconsole\.(log|error|warn|info|debug|table)\b|process\.std(out|err)\b/.test(await readFile(file, 'utf8')))
        offenders.push(file);
    }
    expect(offenders).toEqual([]);
  });

  it('sends writing requests from one place only', async () => {
    const senders: string[] = [];
    for (const file of await sources()) {
      if (/\bservice\.write\(/.test(await readFile(file, 'utf8'))) senders.push(file);
    }
    // The probe writes its own scratch records, with consent, and never a row of a file.
    expect(senders.filter((file) => !/runs\/doctor\/probe/.test(file)).sort()).toEqual([
      join('src', 'runs', 'rows', 'dispatch.ts'),
    ]);
  });
});
