// Every write of an import, a reconciliation and an export fails once, in each of four ways; takes minutes.
//
//   node bench/disk-full.mjs
//
// What is looked at, and what counts as wrong, is in test/crash/full-disk.ts.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');
const child = spawn(process.execPath, [vitest, 'run', 'test/crash/disk-full-every.test.ts'], {
  cwd: root,
  env: { ...process.env, DISK_FULL: 'all' },
  stdio: 'inherit',
});
child.on('exit', (code) => process.exit(code ?? 1));
