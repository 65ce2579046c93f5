import { it } from 'vitest';
import { mkdtempSync, readFileSync, readdirSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { parse } from 'csv-parse/sync';
import { startSandbox } from '../../src/sandbox/index.js';
import { importFile } from '../../src/runs/import.js';
import { loadJob } from '../../src/runs/job-file.js';
import { resolveSettings } from '../../src/runs/settings.js';
const only = process.env['ONLY'];
for (const file of readdirSync('fixtures').filter((f) => f.endsWith('.expected.json') && (!only || f.startsWith(only)))) it(file, async () => {
  const want = JSON.parse(readFileSync('fixtures/' + file, 'utf8'));
  const s = await startSandbox({ seed: 'demo' });
  const home = mkdtempSync(join(tmpdir(), 'h6-'));
  const settings = resolveSettings({ ROWFERRY_API_URL: s.url, ROWFERRY_API_TOKEN: s.token, ROWFERRY_HOME: home }, {}, process.cwd());
  for (const pass of [1, 2]) {
  const r = await importFile({ file: 'fixtures/' + want.file, job: await loadJob(want.job, { jobsDir: 'jobs' }), dryRun: false, force: want.force ?? false }, { settings, listener: { progress() {}, notice(n) { console.log('NOTICE', n.text); } }, log: pino({ level: 'silent' }), signal: new AbortController().signal });
  console.log(file, pass, r.exitCode, JSON.stringify(r.summary.rows), JSON.stringify(r.summary.warnings), JSON.stringify(r.summary.requests), (r.summary as any).messages, existsSync(join(r.reportDir, 'results.csv')));
  const rows = parse(readFileSync(join(r.reportDir, 'results.csv')), { columns: true }) as Record<string, string>[];
  if (pass === 1) for (const w of want.rows) {
    const g = rows.find((x) => x['row'] === String(w.row));
    const codes = [...new Set((g?.['codes'] ?? '').split('; ').filter(Boolean))].sort();
    if (g?.['outcome'] !== w.outcome || JSON.stringify(codes) !== JSON.stringify(w.codes)) console.log('DIFF', JSON.stringify(w), g?.['outcome'], codes.join(), g?.['message']);
  }
  }
  await s.close();
}, 60000);
