import { openImports } from '../measure/imports.mjs';

/** Processor time, user and system, of the whole command: its start, its reports and its children included. */
export default {
  name: 'cpu',
  title: 'processor time of an import of new rows, 10 columns',
  baseline: 'csv-parse + undici script, 32 in flight, no journal, no look-ups',
  async open({ folder, quick }) {
    const variants = [];
    const closing = [];
    const most = quick ? 500 : 20_000;
    const sizes = [
      { rows: 1, latency: 0, goal: 1.8 },
      { rows: most, latency: 0, goal: 1.4 },
      { rows: most, latency: 20, goal: 1.4 },
      { rows: most, latency: 0, goal: 1.4, bare: false },
    ];
    for (const { rows, latency, goal, bare = true } of sizes) {
      const options = { rows, latency, inFlight: 32, columns: 10, bare };
      const imports = await openImports(`${folder}/${rows}-${latency}-${bare}`, options);
      closing.push(imports.close);
      const of = (what) => (figure) => async () => {
        const done = await figure();
        return { ...done, value: done[what], unit: 's' };
      };
      const variant = (what, title, most) => ({
        what: `${rows.toLocaleString('en-US')} row${rows === 1 ? '' : 's'}, ${latency} ms, ${bare ? 'empty' : 'full'} answers${title}`,
        goal: { most },
        ours: of(what)(imports.ours),
        baseline: of(what)(imports.plain),
        ratio: (ours, baseline) => ours.value / baseline.value,
      });
      variants.push(variant('cpu', '', goal));
      if (rows === 1) variants.push(variant('seconds', ', from start to end', 2));
    }
    return { variants, close: () => Promise.all(closing.map((close) => close())) };
  },
};
