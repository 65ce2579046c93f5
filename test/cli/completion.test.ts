import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { cli } from './fake-io.js';

it('bash completes commands, their commands, flags and jobs', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'rowferry-completion-'));
  try {
    await mkdir(join(cwd, 'jobs'));
    await writeFile(join(cwd, 'jobs', 'assets.yaml'), '');
    const { out } = await cli(['completion', 'bash'], { cwd });
    const completed = (line: string) => {
      const words = line.split(' ');
      const ask = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _rowferry; echo "\${COMPREPLY[*]}"`;
      return execFileSync('bash', ['-c', `${out}\n${ask}`], { cwd, encoding: 'utf8' }).trim();
    };
    expect(completed('rowferry imp')).toBe('import');
    expect(completed('rowferry runs ap')).toBe('approve');
    expect(completed('rowferry runs prune --ke')).toBe('--keep-days');
    expect(completed('rowferry console user a')).toBe('add');
    expect(completed('rowferry console key add ci --ro')).toBe('--role');
    expect(completed('rowferry import x.csv --dr')).toBe('--dry-run');
    expect(completed('rowferry import x.csv --job ')).toBe('assets');
    expect(completed('rowferry import x.c')).toBe('');
  } finally {
    await rm(cwd, { recursive: true });
  }
});

it('zsh takes that of bash, fish has its own form, and another shell is refused', async () => {
  const cwd = tmpdir();
  expect((await cli(['completion', 'zsh'], { cwd })).out).toMatch(/^autoload .*bashcompinit\n_rowferry\(\)/);
  const { out } = await cli(['completion', 'fish'], { cwd });
  expect(out).toContain("complete -c rowferry -f -n '__fish_use_subcommand' -a import\n");
  expect(out).toContain("-n '__fish_seen_subcommand_from runs; and __fish_seen_subcommand_from prune' -l keep-days\n");
  expect(await cli(['completion', 'tcsh'], { cwd })).toMatchObject({ code: 2, err: expect.stringContaining('tcsh') });
});
