import type { Scenario } from '../scenario.js';
import type { Sheet } from '../stage.js';
import { ASSET_COLUMNS, ASSET_JOB, ASSET_STANDS, HEADING, richAsset } from './plain.js';

const NEW = 14;
const OLD = 8;

const sheet: Sheet = {
  name: 'faults',
  resource: 'asset',
  keyField: 'serial_number',
  job: ASSET_JOB.replace('serial_number }', 'serial_number, unique_field: serial_number }'),
  columns: ASSET_COLUMNS,
  stands: ASSET_STANDS,
  lines: [
    HEADING,
    ...Array.from({ length: NEW }, (_, at) => `New ${at},NEW-${at},${at + 1}.50,Stock,Laptop`),
    ...Array.from({ length: OLD }, (_, at) => `Old ${at},OLD-${at},7.${at}0,Deployed,`),
  ],
};

export const faults: Scenario = {
  name: 'faults',
  title: 'the effect of creates and updates is left open in every way (3, 5, 11, 12)',
  async play(stage) {
    const { sandbox } = stage;
    sandbox.insert(
      'asset',
      Array.from({ length: OLD }, (_, at) => richAsset(at)),
    );
    sandbox.setFaults([
      'POST /asset nth=2 status=500 execute',
      'POST /asset nth=4 status=503',
      'POST /asset nth=6 close_after',
      'POST /asset nth=8 timeout_after',
      'POST /asset nth=10 html_login',
      'POST /asset nth=12 reset_after_status',
      'POST /asset nth=14 status=422 body="{\\"name\\":[\\"not today\\"]}"',
      'PUT /asset nth=3 status=500 execute',
      // What is sent again comes after all of these: no row is befallen twice.
      'PUT /asset nth=4 timeout_before',
      'PUT /asset nth=6 close_after',
      'PUT /asset nth=8 status=502',
    ]);
    const outcomes = [
      ...Array.from({ length: NEW }, () => 'created|rejected'),
      ...Array.from({ length: OLD }, () => 'updated'),
    ];
    await stage.play(sheet, {
      argv: ['--concurrency', '1'],
      env: { ROWFERRY_TIMEOUT: '4' },
      open: 10,
      outcomes,
    });
    const there = sandbox.raw('asset').length - OLD;
    if (there !== NEW - 1)
      stage.found.push({ rule: 'outcome', text: `${there} of ${NEW} rows were created; one was refused` });
  },
};
