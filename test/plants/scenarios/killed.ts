import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Scenario } from '../scenario.js';
import { runsOf, type Sheet } from '../stage.js';
import { ASSET_COLUMNS, ASSET_JOB, ASSET_STANDS, HEADING, richAsset } from './plain.js';

const NEW = 16;
const OLD = 8;

const assets: Sheet = {
  name: 'killed',
  resource: 'asset',
  keyField: 'serial_number',
  job: ASSET_JOB,
  columns: ASSET_COLUMNS,
  stands: ASSET_STANDS,
  lines: [
    HEADING,
    ...Array.from({ length: NEW }, (_, at) => `New ${at},NEW-${at},${at + 1}.50,Stock,Laptop`),
    ...Array.from({ length: OLD }, (_, at) => `Old ${at},OLD-${at},7.${at}0,Deployed,`),
  ],
};

/** Killed among its creates and again among its updates, with the end of the journal torn by the power cut, and resumed. */
export const killed: Scenario = {
  name: 'killed',
  title: 'killed among creates and updates, the journal torn, and resumed (37)',
  apart: true,
  service: () => ({ switches: { uniqueField: 'ignored' } }),
  async play(stage) {
    stage.sandbox.insert(
      'asset',
      Array.from({ length: OLD }, (_, at) => richAsset(at)),
    );
    await stage.play(assets, {
      argv: ['--concurrency', '2'],
      kills: [
        ['POST', 9],
        ['PUT', 4],
      ],
      open: NEW + OLD,
      afterKill: (runs) => {
        const run = runsOf(runs).at(-1);
        if (run) appendFileSync(join(runs, run, 'run.db-wal'), 'torn'.repeat(1_500));
      },
      outcomes: [...Array.from({ length: NEW }, () => 'created'), ...Array.from({ length: OLD }, () => 'updated')],
    });
  },
};

const customers: Sheet = {
  name: 'customers',
  resource: 'customer',
  keyField: 'name',
  job: 'match: { key: name }\ncolumns: { Name: name, City: city, Phone: phone }\n',
  columns: { Name: 'name', City: 'city', Phone: 'phone' },
  lines: ['Name,City,Phone', ...Array.from({ length: 10 }, (_, at) => `Customer ${at},Bern,+41 ${at}`)],
};

const moved: Sheet = {
  ...customers,
  name: 'moved',
  job: 'match: { key: name }\ncolumns: { Name: name, City: city }\n',
  columns: { Name: 'name', City: 'city' },
  lines: ['Name,City', ...Array.from({ length: 10 }, (_, at) => `Customer ${at},Basel`)],
};

/**
 * Customers cannot be looked up: a create that is cut off, or never answered, is unknown and never sent again; and what
 * an update carries over is known from our own last write alone.
 */
export const blind: Scenario = {
  name: 'blind',
  title: 'customers, which cannot be looked up: killed, cut off, never answered (2, 37)',
  apart: true,
  async play(stage) {
    const { sandbox } = stage;
    sandbox.setFaults(['POST /customer nth=3 timeout_before', 'POST /customer nth=7 close_after']);
    await stage.play(customers, {
      argv: ['--concurrency', '1'],
      env: { ROWFERRY_TIMEOUT: '1' },
      kills: [['POST', 5]],
      open: 3,
      outcomes: Array.from({ length: 10 }, () => 'created|unknown'),
    });
    sandbox.setFaults([]);
    await stage.play(moved, { outcomes: Array.from({ length: 10 }, () => 'created|updated|at_risk|rejected') });
  },
};
