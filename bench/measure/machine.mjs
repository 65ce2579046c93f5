/** Where and on what a figure was taken. */
import { spawnSync } from 'node:child_process';
import { availableParallelism, cpus, loadavg, platform, release, totalmem } from 'node:os';

function git(...argv) {
  const { status, stdout } = spawnSync('git', argv, { encoding: 'utf8', cwd: new URL('../..', import.meta.url) });
  return status === 0 ? stdout.trim() : null;
}

export function machine() {
  return {
    started_at: new Date().toISOString(),
    commit: git('rev-parse', '--short', 'HEAD'),
    /** Whether the tree holds what the commit does not. */
    changed: (git('status', '--porcelain', '--', 'src', 'bench') ?? '') !== '',
    node: process.version,
    cores: availableParallelism(),
    cpu: cpus()[0]?.model ?? null,
    memory_gb: Math.round(totalmem() / 1024 ** 3),
    platform: `${platform()} ${release()}`,
    load: loadavg().map((value) => Number(value.toFixed(1))),
  };
}
