import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const run = promisify(execFile);
const DEPCRUISE = join('node_modules', '.bin', 'depcruise');

async function sources(): Promise<string[]> {
  const names = await readdir('src', { recursive: true });
  return names.filter((name) => name.endsWith('.ts')).map((name) => join('src', name));
}

describe('architecture', () => {
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
