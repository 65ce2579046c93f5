import { useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, useMemo, useState } from 'react';
import type { Row, RunDetail } from '../../api/schema.js';
import { GROUP_OF_OUTCOME, OUTCOME_GROUPS, OUTCOMES, type OutcomeKind } from '../../model/outcome.js';
import { outcomeWords } from '../../report/wording.js';
import type { Query } from '../app/client.js';
import { Pending } from '../app/faults.js';
import { useLabels } from '../app/fields.js';
import { faultsQuery, isLive } from '../app/queries.js';
import { useUrlParams } from '../app/shell.js';
import { type Cell, Grid, type GridContent, useGrid } from '../grid/grid.js';
import { useRows } from '../grid/rows.js';
import { counted, number } from '../kit/format.js';
import { Button, Card, Chips, Empty, SearchForm } from '../kit/parts.js';
import { faultChips, OutcomeBadge } from './outcomes.js';

/** The rows of a run, as many as they are; the address holds the filter and the row that is open. */
export function Rows({ run }: { run: RunDetail }) {
  const [params, set] = useUrlParams();
  const { outcome = '', code = '', column = '', key = '' } = Object.fromEntries(params);
  const filter = { outcome, code, column, key };
  const live = isLive(run);
  const { total, error } = useRows({ run: run.id, filter, cells: false, live }, []);
  const title = total === undefined ? 'Rows' : counted(total, thingOf(run));
  const search = (
    <SearchForm
      className="key-search"
      aria-label="Search by key"
      placeholder="Key begins with"
      value={key}
      onSearch={(text) => set({ key: text, row: '' }, true)}
    />
  );
  return (
    <Card flush className="rows" title={title} beside={search}>
      <Filters run={run} />
      {total === undefined ? (
        <div className="grid pad">
          <Pending error={error} what="the rows" />
        </div>
      ) : total === 0 ? (
        <Empty title={live ? 'No row yet' : 'No row like that'}>
          <p className="soft">
            {live ? 'Rows stand here as soon as the run has come to them.' : 'Choose another filter.'}
          </p>
        </Empty>
      ) : (
        <List key={JSON.stringify(filter)} {...{ run, filter, total }} />
      )}
    </Card>
  );
}

const thingOf = ({ kind }: RunDetail) => (kind === 'undo' ? 'record' : 'row');

/** Under the chosen one of the four words its outcomes, and the codes of the rows that need somebody. */
function Filters({ run }: { run: RunDetail }) {
  const [params, set] = useUrlParams();
  const { outcome = '', code = '', column = '' } = Object.fromEntries(params);
  const { outcomes: counts } = run;
  const four = OUTCOME_GROUPS.find((one) => one === outcome) ?? GROUP_OF_OUTCOME[outcome as OutcomeKind] ?? undefined;
  const kinds = OUTCOMES.filter((kind) => GROUP_OF_OUTCOME[kind] === four && (counts?.[kind] ?? 0) > 0);
  const needsFaults = four === 'to_correct' || four === 'to_look_at' || code !== '';
  const refetchInterval = isLive(run) && 5_000;
  const { data = [] } = useQuery({ ...faultsQuery(run.id), enabled: needsFaults, refetchInterval });
  const faults = faultChips(data, code, column);
  if (!needsFaults && outcome === '') return null;
  return (
    <div className="stack tight filters">
      {four && kinds.length > 0 && (
        <Chips
          label="In detail"
          of={kinds.map((kind) => ({
            word: outcomeWords(kind, run.dry_run, run.kind).label,
            count: counts?.[kind],
            on: kind === outcome,
            to: kind === outcome ? four : kind,
          }))}
          onChoose={(next) => set({ outcome: next, code: '', column: '', row: '' })}
        />
      )}
      {needsFaults && faults.length > 0 && (
        <Chips label="By fault" of={faults} onChoose={(to) => set({ ...to, row: '' })} />
      )}
    </div>
  );
}

/** The key and what was found share what the others leave; what would become of a row takes longer words. */
const widthsOf = ({ dry_run: dry, kind }: RunDetail) => [kind === 'import' && !dry ? 144 : 192, 0.35, 0.65, 80];
/** A list begins with its first row, and ends with its last. */
const END_KEYS: Readonly<Record<string, string>> = { Home: 'Ctrl+ArrowUp', End: 'Ctrl+ArrowDown' };

/** Rows that come while somebody looks are counted, and shown when asked for: the list is as long as it was. */
function List({ run, filter, total }: { run: RunDetail; filter: Query; total: number }) {
  const [params, set] = useUrlParams();
  /** The row whose story is told. */
  const open = Number(params.get('row')) || undefined;
  const live = isLive(run);
  const [asked, show] = useState(total);
  const visible = live ? Math.min(asked, total) : total;
  const label = useLabels(run.resource);
  const [widths, look] = useMemo(() => [widthsOf(run), contentOf(run, label)] as const, [run.dry_run, run.kind, label]);
  const grid = useGrid(visible, widths, 64);
  const rows = useRows({ run: run.id, filter, cells: false, live }, grid.viewport.places);
  const place = grid.cursor.row;

  function openAt(at: number, replace = open !== undefined): void {
    const row = rows.at(at);
    if (row) set({ row: row.row }, replace);
  }
  function handleKey(event: KeyboardEvent): void {
    const to = event.key === 'Tab' ? undefined : grid.moveByKey(event, END_KEYS[event.key]);
    // Whoever reads stories one after the other goes back to the list, not to the story before.
    if (to && open) openAt(to.row);
    else if (event.key === 'Enter' || event.key === ' ') openAt(place);
    else if (!to) return;
    event.preventDefault();
  }

  return (
    <>
      <Grid
        of={grid}
        rows={rows}
        look={look}
        open={open}
        aria-label={counted(visible, thingOf(run))}
        aria-readonly
        onKeyDown={handleKey}
        onClick={({ target, shiftKey }) => {
          const line = (target as Element).closest('[aria-rowindex]')?.ariaRowIndex;
          if (line && !shiftKey && grid.selectedCount === 1) openAt(Number(line) - 2);
        }}
      />
      {visible < total && (
        <Button look="quiet" className="fresh" onClick={() => show(total)} word={`${number(total - visible)} new`} />
      )}
    </>
  );
}

function contentOf(run: RunDetail, label: (field: string) => string): GridContent {
  const cells: readonly ((row: Row) => Cell)[] = [
    ({ outcome }) => {
      if (outcome === null) return { text: 'not yet', className: 'soft' };
      const content = <OutcomeBadge kind={outcome} run={run} />;
      return { text: outcomeWords(outcome, run.dry_run, run.kind).label, content };
    },
    ({ key }) => ({ text: key }),
    ({ issues, changed }) =>
      issues.length > 0
        ? { text: issues.map(({ message }) => message).join(' ') }
        : { text: changed.map(label).join(', '), className: 'soft' },
    ({ id }) => ({ text: String(id ?? ''), className: 'soft' }),
  ];
  return {
    headings: ['Outcome', 'Key', 'What was found', 'Id'],
    cellOf: (row, column) => cells[column]?.(row) ?? { text: '' },
  };
}
