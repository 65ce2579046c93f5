import type { Scenario } from '../scenario.js';
import type { Sheet } from '../stage.js';
import { ASSET_COLUMNS, ASSET_JOB, ASSET_STANDS, HEADING, richAsset } from './plain.js';

const OLD = 5;

const sheet: Sheet = {
  name: 'others',
  resource: 'asset',
  keyField: 'serial_number',
  job: ASSET_JOB,
  columns: ASSET_COLUMNS,
  stands: ASSET_STANDS,
  lines: [
    HEADING,
    ...Array.from({ length: OLD }, (_, at) => `Old ${at},OLD-${at},7.${at}0,Deployed,`),
    'Mine,NEW-0,1.00,Stock,Laptop',
  ],
};

/**
 * Somebody else is at work: fills in a key while its create is open, and changes a field that a row sets while its update
 * is open.
 */
export const others: Scenario = {
  name: 'others',
  title: 'somebody else fills in a key, or changes the same field, while a write is open (26)',
  service: () => ({ switches: { uniqueField: 'ignored' } }),
  async play(stage) {
    const { sandbox } = stage;
    const ids = sandbox.insert(
      'asset',
      Array.from({ length: OLD }, (_, at) => richAsset(at)),
    );
    const inserted: number[] = [];
    const edits: { id: number; changes: Record<string, unknown> }[] = [];
    const edit = (id: number, changes: Record<string, unknown>) => {
      sandbox.edit('asset', id, changes);
      edits.push({ id, changes });
    };
    let puts = 0;
    stage.onRequest(({ method, path }) => {
      if (method === 'POST') {
        inserted.push(
          ...sandbox.insert('asset', [{ name: 'Theirs', serial_number: 'NEW-0', lifecycle_stage: 'Lost' }]),
        );
      }
      if (method === 'PUT' && ++puts === 3) edit(Number(path.split('/')[2]), { lifecycle_stage: 'Stolen' });
    });
    sandbox.setFaults(['POST /asset nth=1 close_before', 'PUT /asset nth=3 close_before']);
    await stage.play(sheet, {
      argv: ['--concurrency', '1'],
      open: 2,
      others: () => ({ inserted, edits }),
      outcomes: [...Array.from({ length: OLD }, () => 'updated|conflict'), 'conflict'],
      also: ({ told }) => {
        const conflicts = told.filter(
          ({ id, outcome }) => edits.some((one) => String(one.id) === id) && outcome === 'conflict',
        );
        return conflicts.length === 1 && ids.length === OLD
          ? []
          : ['the row whose field somebody else changed is no conflict'];
      },
    });
  },
};
