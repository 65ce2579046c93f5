import { readdirSync } from 'node:fs';
import { test } from 'vitest';
import { openSource } from '../../src/files/open.js';
test('try', async () => {
  for (const f of readdirSync('/work/shared/data')) {
    if (f.endsWith('.md')) continue;
    try {
      const s = await openSource(`/work/shared/data/${f}`);
      let n = 0; let faults = 0; let first; let fr;
      for await (const b of s.rows()) { n += b.length; for (const r of b) { first ??= r; if (r.faults) { faults++; fr ??= r; } } }
      console.log(f, n, faults, JSON.stringify(s.meta, null, 1), JSON.stringify(first), JSON.stringify(fr?.faults));
    } catch (e) { console.log(f, String(e)); }
  }
});
