import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Scenario } from '../scenario.js';
import type { Sheet } from '../stage.js';
import { ASSET_COLUMNS, ASSET_JOB, ASSET_STANDS, HEADING, richAsset } from './plain.js';

const OLD = 4;

const sheet: Sheet = {
  name: 'stale',
  resource: 'asset',
  keyField: 'serial_number',
  job: ASSET_JOB,
  columns: ASSET_COLUMNS,
  stands: ASSET_STANDS,
  lines: [HEADING, ...Array.from({ length: OLD }, (_, at) => `Old ${at},OLD-${at},7.${at}0,Deployed,`)],
};

/** Shifts the clocks of the process by two minutes once the file `late` is there: what was read before is old then. */
const CLOCK = `import { existsSync } from 'node:fs';
let ahead = 0;
const look = () => (ahead ||= existsSync('late') ? 120_000 : 0);
const [wall, steady] = [Date.now.bind(Date), performance.now.bind(performance)];
Date.now = () => wall() + look();
performance.now = () => steady() + look();
`;

/** Between reading and writing two minutes go by, in which others change what the rows do not set, and what they do. */
export const stale: Scenario = {
  name: 'stale',
  title: 'others change the records between reading and writing (31, 32)',
  apart: true,
  async play(stage) {
    const { sandbox, dir } = stage;
    const ids = sandbox.insert(
      'asset',
      Array.from({ length: OLD }, (_, at) => richAsset(at)),
    );
    const edits: { id: number; changes: Record<string, unknown> }[] = [];
    writeFileSync(join(dir, 'clock.mjs'), CLOCK);
    stage.onRequest(({ method }) => {
      if (method !== 'PUT' || edits.length > 0) return;
      writeFileSync(join(dir, 'late'), '');
      for (const [id, changes] of [
        [ids[1] ?? 0, { asset_notes: 'theirs' }],
        [ids[2] ?? 0, { lifecycle_stage: 'Stolen' }],
      ] as const) {
        sandbox.edit('asset', id, changes);
        edits.push({ id, changes });
      }
    });
    await stage.play(sheet, {
      argv: ['--concurrency', '1'],
      env: { NODE_OPTIONS: `--import ${join(dir, 'clock.mjs')}` },
      others: () => ({ edits }),
      outcomes: ['updated', 'updated', 'conflict', 'updated'],
    });
  },
};
