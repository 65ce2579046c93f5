import type { ChartTable } from '../../files/workbook/report-book.js';
import type { ToneRow } from '../../files/workbook/tone-sheet.js';
import type { Night } from '../../model/reconcile.js';
import { forPerson, isStopped, NIGHTS } from './night.js';
import { SHEETS } from './sheet-names.js';

const COLUMNS: ChartTable['columns'] = [
  { heading: 'Ended (UTC)', kind: 'instant', width: 18 },
  { heading: 'Run as', kind: 'text', width: 14 },
  { heading: 'Status', kind: 'text', width: 14 },
  { heading: 'Rows', kind: 'count', width: 12 },
  { heading: 'Created', kind: 'count', width: 12 },
  { heading: 'Updated', kind: 'count', width: 12 },
  { heading: 'Rows that differ', kind: 'count', width: 19 },
  { heading: 'Need a person', kind: 'count', width: 18 },
  { heading: 'Orphans', kind: 'count', width: 12 },
  { heading: 'Not reached', kind: 'count', width: 16 },
  { heading: 'Requests', kind: 'count', width: 13 },
  { heading: 'Writing requests', kind: 'count', width: 20 },
  { heading: 'Seconds', kind: 'count', width: 12 },
  { heading: 'Run', kind: 'text', width: 27 },
];

const at = (heading: string) => COLUMNS.findIndex((column) => column.heading === heading);

/** Rows that the charts take, above the table. */
const CHART_ROWS = 18;

/** The last nights as a table, newest last, and two charts that are drawn from it. */
export function historySheet(nights: readonly Night[]): ChartTable {
  return {
    name: SHEETS.history,
    title: `The last ${nights.length === 1 ? 'night' : `${nights.length} nights`} of this job, the newest last. Of runs that only reported, "created" and "updated" are what would have been.`,
    columns: COLUMNS,
    rows: nights.map(nightRow),
    empty: 'No night yet.',
    charts: [
      {
        title: 'Created and updated, night by night',
        described: `Columns of the records that were created and updated in each of the last ${NIGHTS} nights.`,
        form: 'columns',
        times: 0,
        series: [
          { column: at('Created'), color: '1F8A54' },
          { column: at('Updated'), color: '2F6FC4' },
        ],
        from: [0, 1],
        to: [6, CHART_ROWS],
      },
      {
        title: 'Left for people: faulty rows and orphans',
        described: `Lines of the rows that need a person and of the orphans in each of the last ${NIGHTS} nights.`,
        form: 'lines',
        times: 0,
        series: [
          { column: at('Need a person'), color: 'D9820F' },
          { column: at('Orphans'), color: '8A63C9' },
        ],
        from: [6, 1],
        to: [12, CHART_ROWS],
      },
    ],
  };
}

function nightRow(night: Night): ToneRow {
  const { outcomes } = night;
  const text = (n: number | undefined) => String(n ?? 0);
  return {
    cells: [
      night.at,
      night.apply ? 'applied' : 'report only',
      night.status,
      text(night.rows),
      text(outcomes['created']),
      text(outcomes['updated']),
      text(night.differences),
      text(forPerson(night)),
      text(night.orphans),
      text(outcomes['not_attempted']),
      text(night.requests),
      text(night.writes),
      text(Math.round(night.seconds)),
      night.run,
    ],
    ...(isStopped(night.status) ? { marks: STOPPED } : {}),
  };
}

const STOPPED = new Map([[2, 'cleared']] as const);
