import { openImports } from '../measure/imports.mjs';

/** Processor time of the whole command, its start and reports included. */
export default {
  name: 'cpu',
  title: 'processor time of an import of new rows',
  baseline: 'csv-parse + zod + undici script, 32 in flight',
  async open({ folder, quick }) {
    const variants = [];
    const closing = [];
    for (const rows of quick ? [1] : [1, 1_000, 30_000]) {
      const imports = await openImports(`${folder}/${rows}`, { rows, latency: 0, inFlight: 32 });
      closing.push(imports.close);
      const cpu = (figure) => async () => {
        const done = await figure();
        return { ...done, value: done.cpu, unit: 's' };
      };
      variants.push({
        what: `${rows.toLocaleString('en-US')} row${rows === 1 ? '' : 's'}`,
        goal: { most: 1.8 },
        ours: cpu(imports.ours),
        baseline: cpu(imports.script),
        ratio: (ours, baseline) => ours.value / baseline.value,
      });
    }
    return { variants, close: () => Promise.all(closing.map((close) => close())) };
  },
};
