/**
 * Mutated files: bits, bytes, cuts, splices, doubled blocks, huge numbers, zip headers, pieces of XML, packed again with the
 * right checksums. Each is opened and read to its end in a process that is watched. A file must be read, or refused in words,
 * before its first row: no crash, no other error, nothing over 10 s, no process over 500 MB, and no connection to the server
 * whose address stands in the files.
 *
 *   npm run build && node bench/fuzz.mjs [--inputs 20000] [--seed 1] [--from 0] [--keep FOLDER]
 *
 * Prints what became of them as JSON; inputs that fail are kept, made smaller, and named with their number: the same seed and
 * number give the same input (--from NUMBER --inputs 1). BENCH_DIST names another build.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runnerImport } from 'vite';

const { values } = parseArgs({
  options: {
    inputs: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    from: { type: 'string', default: '0' },
    keep: { type: 'string' },
  },
});
const dist = resolve(process.env['BENCH_DIST'] ?? fileURLToPath(new URL('../dist', import.meta.url)));
const { module: fuzzing } = await runnerImport(fileURLToPath(new URL('../test/fuzz/supervise.ts', import.meta.url)));

// Files in memory where there is such a folder: a million of them would wear a disk for nothing.
const memory = statSync('/dev/shm', { throwIfNoEntry: false })?.isDirectory() ? '/dev/shm' : tmpdir();
const folder = mkdtempSync(join(memory, 'rowferry-fuzz-'));
const keep = values.keep ?? mkdtempSync(join(tmpdir(), 'rowferry-fuzz-failed-'));
const from = Number(values.from);
const started = performance.now();
let told = started;
try {
  const report = await fuzzing.fuzz({
    seed: Number(values.seed),
    from,
    to: from + Number(values.inputs),
    openPath: join(dist, 'files', 'open.js'),
    folder,
    keep,
    hangMs: 10_000,
    peakMb: 500,
    minimise: true,
    onProgress({ inputs, read, refused, failures, peakMb, slowest }) {
      if (performance.now() - told < 30_000) return;
      told = performance.now();
      const rate = Math.round((inputs / (told - started)) * 1_000);
      console.error(
        `${inputs} inputs, ${rate}/s: ${read} read, ${refused} refused, ${failures.length} failed, peak ${peakMb} MB, slowest ${Math.round(slowest.ms)} ms`,
      );
    },
  });
  const seconds = Math.round((performance.now() - started) / 1_000);
  const causes = Object.entries(report.causes).sort((a, b) => b[1] - a[1]);
  console.log(
    JSON.stringify(
      {
        seed: Number(values.seed),
        ...report,
        kinds: causes.length,
        causes: Object.fromEntries(causes.slice(0, 60)),
        seconds,
      },
      null,
      2,
    ),
  );
  process.exitCode = report.failures.length === 0 && report.connections === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
