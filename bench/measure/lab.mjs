/** What a case that needs the service works with: a folder, the service in its own process, our command and the baselines. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { serve, timed } from './child.mjs';
import { jobText } from './sheet.mjs';

const BENCH = dirname(dirname(fileURLToPath(import.meta.url)));
/** The build that is measured: BENCH_DIST, else dist/. */
export const DIST = resolve(process.env['BENCH_DIST'] ?? join(BENCH, '../dist'));
export const BASELINES = join(BENCH, 'baselines');
const MAIN = join(DIST, 'bin/rowferry.js');

/** `latency` in ms for every answer of the service. */
export async function openLab(folder, latency = 0) {
  const service = await serve(join(BENCH, 'server.mjs'), latency);
  let homes = 0;

  async function control(path, method = 'POST') {
    const response = await fetch(`${service.url}/bench/${path}`, { method });
    if (!response.ok) throw new Error(`the service of the bench: ${path} gave ${response.status}`);
    return response.json();
  }

  return {
    folder,
    url: service.url,
    reset: () => control('reset'),
    latency: (ms) => control(`latency?ms=${ms}`),
    /** Answers of writes hold nothing. */
    bare: () => control('bare'),
    /** Fills the service with the create bodies of a file, one a line. */
    seed: (file) => control(`seed?file=${encodeURIComponent(file)}`),
    /** From now until the reset, every create body goes to the file. */
    keep: (file) => control(`keep?file=${encodeURIComponent(file)}`),
    counts: () => control('counts', 'GET'),
    job(name, kind, more, columns) {
      const path = join(folder, `${name}.yaml`);
      writeFileSync(path, jobText(kind, more, columns));
      return path;
    },
    /** Runs our command with `--json`: its summary, with seconds, peak MB and CPU seconds of the process. `home`: one to keep. */
    async ours(argv, { env = {}, codes = [0], home = `home-${++homes}` } = {}) {
      const cwd = join(folder, home);
      mkdirSync(cwd, { recursive: true });
      const done = await timed([MAIN, ...argv, '--json'], { cwd, codes, env: { ...environment(cwd), ...env } });
      return { ...done, summary: JSON.parse(done.out) };
    },
    environment,
    close: () => service.stop(),
  };

  function environment(home) {
    return {
      ROWFERRY_API_URL: service.url,
      ROWFERRY_API_TOKEN: 'bench',
      ROWFERRY_HOME: join(home, '.rowferry'),
      ROWFERRY_LOG_LEVEL: 'error',
    };
  }
}

/** Throws unless the service holds exactly the records: a figure of a run that lost some is none. */
export async function expectRecords(lab, records) {
  const counts = await lab.counts();
  if (counts.records !== records || counts.twice > 0)
    throw new Error(`the service holds ${counts.records} records, ${counts.twice} twice, instead of ${records}`);
  return counts;
}
