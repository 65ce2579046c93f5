import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../measure/child.mjs';
import { NEWMAN, newmanRate, openImports } from '../measure/imports.mjs';

/** newman takes one row after the other: its rate is of a few rows, and stands for as many as ours writes. */
export default {
  name: 'import-newman',
  title: 'import of new rows',
  baseline: '`newman run -d`, one POST a row (extrapolated from fewer rows)',
  async open({ folder, quick }) {
    if (!existsSync(join(NEWMAN, 'node_modules/newman'))) {
      await run('npm', ['ci', '--prefix', NEWMAN, '--ignore-scripts', '--no-audit', '--no-fund']);
    }
    const rows = quick ? 2_000 : 20_000;
    const few = quick ? 30 : 300;
    const imports = await openImports(folder, { rows, latency: 0, inFlight: 32 });
    const variant = (latency) => ({
      what: `${latency} ms, ${rows.toLocaleString('en-US')} rows; newman: ${few} rows`,
      ours: async () => {
        await imports.lab.latency(latency);
        return imports.ours();
      },
      baseline: async () => {
        await imports.lab.latency(latency);
        return newmanRate(imports, few);
      },
    });
    return { variants: [variant(0), variant(20)], close: imports.close };
  },
};
