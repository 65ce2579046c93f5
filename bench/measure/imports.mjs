/** What the cases of new rows share: the sheet, the bodies that ours sends for it, and one figure of each contestant. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { timed } from './child.mjs';
import { BASELINES, expectRecords, openLab } from './lab.mjs';
import { writeSheet } from './sheet.mjs';

/**
 * `rows` of new assets against a service that answers in `latency` ms. Every figure is `{ value, unit, seconds, peak, cpu }`:
 * rows a second from the start of the process to its end, reports and all. Ours runs once unmeasured: that gives
 * the bodies, so that undici alone posts exactly the same. `columns`: the first so many; `bare`: answers of writes hold nothing.
 */
export async function openImports(folder, { rows, latency, inFlight, columns, bare = false }) {
  mkdirSync(folder, { recursive: true });
  const sheet = join(folder, 'assets.csv');
  const bodies = join(folder, 'bodies.ndjson');
  await writeSheet(sheet, rows, undefined, columns);
  const lab = await openLab(folder, 0);
  if (bare) await lab.bare();
  const job = lab.job('assets', 'import', {}, columns);
  const argv = ['import', sheet, '--job', job, '--concurrency', String(inFlight)];
  await lab.keep(bodies);
  await lab.ours(argv);
  await lab.reset();
  await lab.latency(latency);

  async function figure(run, count = rows) {
    await lab.reset();
    const { seconds, peak, cpu } = await run();
    await expectRecords(lab, count);
    return { value: count / seconds, unit: 'rows/s', seconds, peak, cpu };
  }

  return {
    lab,
    folder,
    ours: () => figure(() => lab.ours(argv)),
    undici: () => figure(() => timed([join(BASELINES, 'undici.mjs'), bodies, lab.url, String(inFlight)])),
    script: () => figure(() => timed([join(BASELINES, 'script.mjs'), 'post', sheet, lab.url, String(inFlight)])),
    /** The same without its rules: every row is posted as it stands. */
    plain: () => figure(() => timed([join(BASELINES, 'script.mjs'), 'plain', sheet, lab.url, String(inFlight)])),
    figure,
    close: () => lab.close(),
  };
}

export const NEWMAN = join(BASELINES, 'newman');

/** newman on so few rows that it ends; from its first request to its last one, so that its start does not count against it. */
export async function newmanRate({ lab, folder, figure }, rows) {
  const sheet = join(folder, `newman-${rows}.csv`);
  await writeSheet(sheet, rows);
  const { peak } = await figure(() => timed([join(NEWMAN, 'run.mjs'), sheet, lab.url]), rows);
  const { first, last } = await lab.counts();
  const seconds = (last - first) / 1000;
  return { value: (rows - 1) / seconds, unit: 'rows/s', seconds, peak };
}
