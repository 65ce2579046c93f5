import { openImports } from '../measure/imports.mjs';

export default {
  name: 'import-0ms',
  title: 'import of new rows, service answers in 0 ms',
  baseline: 'undici alone, the same bodies, 32 in flight',
  async open({ folder, quick }) {
    const rows = quick ? 2_000 : 30_000;
    const imports = await openImports(folder, { rows, latency: 0, inFlight: 32 });
    return {
      variants: [
        {
          what: `${rows.toLocaleString('en-US')} rows`,
          ours: imports.ours,
          baseline: imports.undici,
        },
      ],
      close: imports.close,
    };
  },
};
