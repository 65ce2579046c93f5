import type { Scenario } from '../scenario.js';
import type { Sheet } from '../stage.js';
import { ASSET_COLUMNS, ASSET_JOB, ASSET_STANDS, HEADING, richAsset } from './plain.js';

const sheet: Sheet = {
  name: 'lag',
  resource: 'asset',
  keyField: 'serial_number',
  job: ASSET_JOB,
  columns: ASSET_COLUMNS,
  stands: ASSET_STANDS,
  lines: [HEADING, ...Array.from({ length: 4 }, (_, at) => `New ${at},NEW-${at},${at + 1}.50,Stock,Laptop`)],
};

/** Look-ups lag behind writes, and nothing guards a key: a second request would make a second record. */
export const lag: Scenario = {
  name: 'lag',
  title: 'look-ups lag behind writes, and nothing guards the key (3, 28)',
  service: () => ({ switches: { lag: 1200, uniqueField: 'ignored' } }),
  async play(stage) {
    stage.sandbox.insert('asset', [richAsset(0)]);
    stage.sandbox.setFaults([
      'POST /asset nth=1 status=500 execute',
      'POST /asset nth=2 close_after',
      'POST /asset nth=3 timeout_after',
    ]);
    await stage.play(sheet, {
      argv: ['--concurrency', '2'],
      env: { ROWFERRY_SETTLE_WINDOW: '0.05,0.4,2.5', ROWFERRY_TIMEOUT: '0.5' },
      open: 4,
      outcomes: ['created', 'created', 'created', 'created'],
    });
  },
};
