import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { timed } from '../measure/child.mjs';
import { BASELINES, expectRecords, openLab } from '../measure/lab.mjs';
import { writeBodies, writeSheet } from '../measure/sheet.mjs';

/**
 * Nothing changed since last night. Ours compares, at a service that answers in 20 ms: as an import, and as a reconciliation
 * on the second night, which reads what changed. The script sends every row again; its rate is of fewer rows.
 */
export default {
  name: 'nightly-unchanged',
  title: 'nightly, every row unchanged, 20 ms, 32 in flight',
  baseline: 'the script re-sending everything (extrapolated from fewer rows)',
  async open({ folder, quick, full }) {
    const rows = full ? 1_000_000 : 20_000;
    const sent = quick ? 2_000 : 20_000;
    if (full) console.error('nightly-unchanged with 1,000,000 rows: some 10 minutes');
    const [sheet, part, bodies] = ['assets.csv', 'part.csv', 'bodies.ndjson'].map((name) => join(folder, name));
    await writeSheet(sheet, rows);
    await writeSheet(part, sent);
    await writeBodies(bodies, rows);
    const lab = await openLab(folder, 20);
    const [imports, reconciles] = [lab.job('assets'), lab.job('nightly', 'reconcile')];

    async function ours(argv, home) {
      // Another file each night, by its last line end alone.
      appendFileSync(sheet, '\r\n');
      const { seconds, peak, summary } = await lab.ours([...argv, '--concurrency', '32'], home ? { home } : {});
      if (summary.rows.unchanged !== rows)
        throw new Error(`${summary.rows.unchanged} rows were unchanged instead of ${rows}`);
      return { value: rows / seconds, unit: 'rows/s', seconds, peak, requests: summary.requests.total };
    }
    async function fill() {
      if ((await lab.counts()).records === rows) return;
      await lab.reset();
      await lab.seed(bodies);
    }
    const script = async () => {
      await lab.reset();
      const { seconds } = await timed([join(BASELINES, 'script.mjs'), 'post', part, lab.url, '32']);
      await expectRecords(lab, sent);
      return { value: sent / seconds, unit: 'rows/s', seconds };
    };
    const count = rows.toLocaleString('en-US');
    return {
      variants: [
        {
          what: `import of ${count} rows`,
          goal: { least: full ? 25 : 12 },
          ours: async () => {
            await fill();
            return ours(['import', sheet, '--job', imports]);
          },
          baseline: script,
        },
        {
          what: `reconcile --apply of ${count} rows, second night`,
          goal: { least: full ? 25 : 16 },
          ours: async () => {
            await fill();
            const argv = ['reconcile', sheet, '--job', reconciles, '--apply'];
            const home = `nights-${Math.random()}`;
            await ours(argv, home);
            return ours(argv, home);
          },
          baseline: script,
        },
      ],
      close: () => lab.close(),
    };
  },
};
