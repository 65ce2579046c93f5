import { openImports } from '../measure/imports.mjs';

export default {
  name: 'import-20ms',
  title: 'import of new rows, service answers in 20 ms, 32 in flight',
  baseline: 'undici alone, the same bodies',
  async open({ folder, quick }) {
    const rows = quick ? 2_000 : 30_000;
    const imports = await openImports(folder, { rows, latency: 20, inFlight: 32 });
    return {
      variants: [
        {
          what: `${rows.toLocaleString('en-US')} rows`,
          goal: { least: 0.97 },
          ours: imports.ours,
          baseline: imports.undici,
        },
      ],
      close: imports.close,
    };
  },
};
