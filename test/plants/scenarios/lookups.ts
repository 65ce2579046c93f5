import type { Scenario } from '../scenario.js';
import type { Sheet } from '../stage.js';

const named = (name: string, lines: readonly string[]): Sheet => ({
  name,
  resource: 'asset',
  keyField: 'name',
  job: 'match: { key: name }\ncolumns: { Name: name, Stage: lifecycle_stage }\n',
  columns: { Name: 'name', Stage: 'lifecycle_stage' },
  lines: ['Name,Stage', ...lines],
});

/** So many that their list is dearer than asking for three names in every form. */
const MANY = Array.from({ length: 450 }, (_, at) => ({
  name: `Pump ${at}`,
  lifecycle_stage: 'Stock',
  category: { id: 1 },
}));

/** Filters that find more than was asked for: another case, and what merely holds the text. */
export const filters: Scenario = {
  name: 'filters',
  title: 'filters that match by what they contain, or without case (27)',
  service: () => ({ switches: { filters: 'contains' } }),
  async play(stage) {
    const { sandbox } = stage;
    sandbox.insert('asset', MANY);
    await stage.play(named('contained', ['Pump 2,Deployed', 'Pump 21,Deployed', 'Pump,Deployed']), {
      outcomes: ['updated', 'updated', 'created'],
    });
    sandbox.setSwitches({ filters: 'ignore_case' });
    await stage.play(named('cased', ['PUMP 7,Deployed', 'Pump 8,Deployed', ' Pump 9 ,Deployed', 'Ｐump 8,Deployed']), {
      outcomes: ['created', 'updated', 'updated', 'duplicate'],
    });
  },
};

/** A filter that never finds anything: what it says must not be believed. */
export const silentFilter: Scenario = {
  name: 'silent filter',
  title: 'a filter that never finds anything (27)',
  async play(stage) {
    const { sandbox } = stage;
    sandbox.insert('asset', MANY);
    sandbox.setFaults([
      'GET /name=.*/ status=200 body="{\\"count\\":0,\\"next\\":null,\\"previous\\":null,\\"results\\":[]}"',
    ]);
    await stage.play(named('silent', ['Pump 3,Stock', 'Pump 211,Deployed', 'Valve,Deployed']), {
      outcomes: ['unchanged', 'updated', 'created'],
    });
  },
};

const SUPPLIERS = 60;

/** A record goes while the list is read, and another one slips into a page that was read already. */
export const drift: Scenario = {
  name: 'drift',
  title: 'a record goes while the list is read for matching',
  async play(stage) {
    const { sandbox } = stage;
    const ids = sandbox.insert(
      'supplier',
      Array.from({ length: SUPPLIERS }, (_, at) => ({ name: `Supplier ${at}`, city: 'Bern' })),
    );
    const removed: number[] = [];
    let pages = 0;
    stage.onRequest(({ method, path }) => {
      if (method === 'GET' && path === '/supplier/' && ++pages === 2) {
        removed.push(ids[0] ?? 0);
        sandbox.remove('supplier', ids[0] ?? 0);
      }
    });
    const rows = Array.from({ length: SUPPLIERS - 1 }, (_, at) => `Supplier ${at + 1},Bern`);
    await stage.play(
      {
        name: 'drift',
        resource: 'supplier',
        keyField: 'name',
        job: 'match: { key: name }\ncolumns: { Name: name, City: city }\n',
        columns: { Name: 'name', City: 'city' },
        lines: ['Name,City', ...rows],
      },
      { others: () => ({ removed }), outcomes: rows.map(() => 'unchanged') },
    );
  },
};
