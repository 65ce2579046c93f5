import { useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, useEffect, useMemo, useState } from 'react';
import type { Row, RunDetail } from '../../api/schema.js';
import { GROUP_OF_OUTCOME, OUTCOME_GROUPS, OUTCOMES, type OutcomeKind } from '../../model/outcome.js';
import { outcomeWords } from '../../report/wording.js';
import type { Query } from '../app/client.js';
import { Pending } from '../app/faults.js';
import { faultsQuery, isLive } from '../app/queries.js';
import { useUrlParams } from '../app/shell.js';
import { type Cell, Grid, type GridContent, useGrid } from '../grid/grid.js';
import { useRows } from '../grid/rows.js';
import { counted, number } from '../kit/format.js';
import { Button, Card, Chips, Empty, submitting } from '../kit/parts.js';
import { faultChips, fourWord, OutcomeBadge, sumOf } from './outcomes.js';

/** The rows of a run, as many as they are; the address holds the filter and the row that is open. */
export function Rows({ run }: { run: RunDetail }) {
  const [params] = useUrlParams();
  const { outcome = '', code = '', column = '', key = '' } = Object.fromEntries(params);
  const filter = { outcome, code, column, key };
  const { total } = useRows({ run: run.id, filter, cells: false, live: isLive(run) }, []);
  const title = total === undefined ? 'Rows' : counted(total, thingOf(run));
  return (
    <Card flush className="rows" title={title} beside={<KeySearch />}>
      <Filters run={run} />
      <List key={JSON.stringify(filter)} run={run} filter={filter} />
    </Card>
  );
}

const thingOf = ({ kind }: RunDetail) => (kind === 'undo' ? 'record' : 'row');

function KeySearch() {
  const [params, set] = useUrlParams();
  const value = params.get('key') ?? '';
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  return (
    <form {...submitting(() => set({ key: text.trim(), row: '' }, true))}>
      <input
        type="search"
        className="input key-search"
        aria-label="Search by key"
        placeholder="Key begins with"
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
    </form>
  );
}

/** Under the chosen one of the four words its outcomes, and the codes of the rows that need somebody. */
function Filters({ run }: { run: RunDetail }) {
  const [params, set] = useUrlParams();
  const { outcome = '', code = '', column = '' } = Object.fromEntries(params);
  const { outcomes: counts } = run;
  const four = OUTCOME_GROUPS.find((one) => one === outcome) ?? GROUP_OF_OUTCOME[outcome as OutcomeKind] ?? undefined;
  const kinds = OUTCOMES.filter((kind) => GROUP_OF_OUTCOME[kind] === four && (counts?.[kind] ?? 0) > 0);
  const needsFaults = four === 'to_correct' || four === 'to_look_at' || code !== '';
  const { data = [] } = useQuery({
    ...faultsQuery(run.id),
    enabled: needsFaults,
    refetchInterval: isLive(run) ? 5_000 : false,
  });
  const faults = faultChips(data, code, column);
  if (!needsFaults && outcome === '') return null;
  const chip = (word: string, to: string, count?: number) => ({ word, count, to, on: to === outcome });
  return (
    <div className="stack tight filters">
      {four && (
        <Chips
          label="In detail"
          of={[
            chip('All', ''),
            chip(fourWord(four, run), four, counts ? sumOf(counts, four) : undefined),
            ...kinds.map((kind) => chip(outcomeWords(kind, run.dry_run, run.kind).label, kind, counts?.[kind])),
          ]}
          onChoose={(next) => set({ outcome: next, code: '', column: '', row: '' })}
        />
      )}
      {needsFaults && faults.length > 0 && (
        <Chips label="By fault" of={faults} onChoose={(to) => set({ ...to, row: '' })} />
      )}
    </div>
  );
}

/** What the badge of an outcome needs beside its word. */
const BADGE_WIDTH = 56;
const LETTER_WIDTH = 7.5;
/** The key and what was found share what the others leave. */
const SHARED_WIDTHS = [0.35, 0.65, 80];
const HEAD_WIDTH = 64;
/** A list begins with its first row, and ends with its last. */
const END_KEYS: Readonly<Record<string, string>> = { Home: 'Ctrl+ArrowUp', End: 'Ctrl+ArrowDown' };

function List({ run, filter }: { run: RunDetail; filter: Query }) {
  const [params, set] = useUrlParams();
  /** The row whose story is told. */
  const open = Number(params.get('row')) || undefined;
  const live = isLive(run);
  const [total, setTotal] = useState<number>();
  const [widths, look] = useMemo(() => [widthsOf(run), contentOf(run)] as const, [run.dry_run, run.kind]);
  const grid = useGrid(total ?? 0, widths, HEAD_WIDTH);
  const rows = useRows({ run: run.id, filter, cells: false, live }, grid.viewport.places);
  const place = grid.cursor.row;
  // Rows that come while somebody looks are counted, and shown when asked for: the list is as long as it was.
  const fresh = total === undefined || rows.total === undefined ? 0 : rows.total - total;
  useEffect(() => {
    if (total === undefined || !live || total === 0) setTotal(rows.total);
  }, [rows.total, total, live]);

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

  if (total === undefined)
    return (
      <div className="grid pad">
        <Pending error={rows.error} what="the rows" />
      </div>
    );
  if (total === 0) {
    return (
      <Empty title={live ? 'No row yet' : 'No row like that'}>
        <p className="soft">
          {live ? 'Rows stand here as soon as the run has come to them.' : 'Choose another filter.'}
        </p>
      </Empty>
    );
  }
  return (
    <>
      <Grid
        of={grid}
        rows={rows}
        look={look}
        open={open}
        aria-label={counted(total, thingOf(run))}
        aria-readonly
        onKeyDown={handleKey}
        onClick={({ target, shiftKey }) => {
          const line = (target as Element).closest('[aria-rowindex]')?.ariaRowIndex;
          if (line && !shiftKey && grid.selectedCount === 1) openAt(Number(line) - 2);
        }}
      />
      {fresh > 0 && (
        <Button look="quiet" className="fresh" onClick={() => setTotal(rows.total)} word={`${number(fresh)} new`} />
      )}
    </>
  );
}

function widthsOf({ dry_run: dry, kind }: RunDetail): number[] {
  const longest = Math.max(...OUTCOMES.map((one) => outcomeWords(one, dry, kind).label.length));
  return [BADGE_WIDTH + LETTER_WIDTH * longest, ...SHARED_WIDTHS];
}

function contentOf(run: RunDetail): GridContent {
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
        : { text: changed.join(', '), className: 'soft' },
    ({ id }) => ({ text: String(id ?? ''), className: 'soft' }),
  ];
  return {
    headings: ['Outcome', 'Key', 'What was found', 'Id'],
    cellOf: (row, column) => cells[column]?.(row) ?? { text: '' },
  };
}
