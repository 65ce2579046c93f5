import { openImports } from '../measure/imports.mjs';

export default {
  name: 'import-256',
  title: 'import of new rows, 20 ms, 256 in flight',
  baseline: 'csv-parse + zod + undici script, 256 in flight',
  async open({ folder, quick }) {
    const rows = quick ? 2_000 : 30_000;
    const imports = await openImports(folder, { rows, latency: 20, inFlight: 256 });
    return {
      variants: [
        {
          what: `${rows.toLocaleString('en-US')} rows`,
          ours: imports.ours,
          baseline: imports.script,
        },
      ],
      close: imports.close,
    };
  },
};
