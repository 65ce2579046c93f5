import { join } from 'node:path';
import { timed } from '../measure/child.mjs';
import { BASELINES, DIST } from '../measure/lab.mjs';

/** Rows in memory: ours takes the cells of a row to checked values, zod a record of its texts to its output. */
export default {
  name: 'validation',
  title: 'validation of 25 fields',
  baseline: 'zod 4 safeParse with the same rules',
  async open({ quick }) {
    const rows = quick ? 20_000 : 400_000;
    const figure = async (who, bad) => {
      const { out, peak } = await timed([join(BASELINES, 'validate.mjs'), who, bad, String(rows), DIST]);
      return { value: JSON.parse(out).rate, unit: 'rows/s', peak };
    };
    const variant = (what, bad, least) => ({
      what,
      goal: { least },
      ours: () => figure('ours', bad),
      baseline: () => figure('zod', bad),
    });
    return { variants: [variant('valid rows', '0', 2.6), variant('rows with 3 faults', '1', 7.2)] };
  },
};
