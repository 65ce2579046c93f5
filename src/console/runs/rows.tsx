import { useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, memo, useEffect, useId, useRef, useState } from 'react';
import type { Row, RunDetail } from '../../api/schema.js';
import { FOUR, FOUR_OF, OUTCOMES, type OutcomeKind } from '../../model/outcome.js';
import { outcomeWords } from '../../report/words.js';
import type { Query } from '../app/client.js';
import type { RunNow } from '../app/events.js';
import { Fault } from '../app/faults.js';
import { useShortcuts } from '../app/keys.js';
import { faultsQuery } from '../app/queries.js';
import { useRows } from '../app/rows.js';
import { useAddress } from '../app/shell.js';
import { counted, number } from '../kit/format.js';
import { Button, Card, Chip, Chips, Empty, OutcomeBadge, Skeleton } from '../kit/parts.js';
import { useWindow } from '../kit/window.js';
import { keyOfKind, kindsOf } from './kinds.js';
import { faultWord, fourWord } from './words.js';

const ROW = 32;
const TYPED_MS = 250;

type Set = (changes: Query, replace?: boolean) => void;

/** The rows of a run, as many as they are; the address holds the filter and the row that is open. */
export function Rows({ run, now }: { run: RunDetail; now: RunNow }) {
  const [params, set] = useAddress();
  const { outcome = '', code = '', column = '', key = '' } = Object.fromEntries(params);
  const filter = { outcome, code, column, key };
  const { total, atLeast } = useRows({ run: run.id, filter, cells: false, live: now.live }, []);
  const thing = run.kind === 'undo' ? 'record' : 'row';
  return (
    <Card
      flush
      className="rows"
      title={total === undefined ? 'Rows' : atLeast ? `${number(total)}+ ${thing}s` : counted(total, thing)}
      beside={<KeySearch value={key} onChange={(text) => set({ key: text, row: '' }, true)} />}
    >
      <Filters run={run} now={now} filter={filter} set={set} />
      <List
        key={JSON.stringify(filter)}
        run={run}
        filter={filter}
        live={now.live}
        open={Number(params.get('row')) || undefined}
        onOpen={(row, replace) => set({ row }, replace)}
      />
    </Card>
  );
}

function KeySearch({ value, onChange }: { value: string; onChange: (text: string) => void }) {
  const [text, setText] = useState(value);
  const tell = useRef(onChange);
  tell.current = onChange;
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => tell.current(text.trim()), TYPED_MS);
    return () => clearTimeout(timer);
  }, [text, value]);
  return (
    <input
      type="search"
      className="input key-search"
      aria-label="Search by key"
      placeholder="Key begins with"
      value={text}
      onChange={({ target }) => setText(target.value)}
    />
  );
}

/** Under the chosen one of the four words its outcomes, and the codes of the rows that need somebody. */
function Filters({
  run,
  now: { counts, live },
  filter: { outcome, code, column },
  set,
}: {
  run: RunDetail;
  now: RunNow;
  filter: { readonly outcome: string; readonly code: string; readonly column: string };
  set: Set;
}) {
  const four = FOUR.find((one) => one === outcome) ?? FOUR_OF[outcome as OutcomeKind] ?? undefined;
  const kinds = OUTCOMES.filter((kind) => FOUR_OF[kind] === four && (counts?.[kind] ?? 0) > 0);
  const needs = four === 'to_correct' || four === 'to_look_at' || code !== '';
  const faults = useQuery({ ...faultsQuery(run.id), enabled: needs, refetchInterval: live ? 5_000 : false });
  const faulty = kindsOf(faults.data ?? []);
  const on = keyOfKind(code, column || undefined);
  const choose = (next: string) => set({ outcome: next, code: '', column: '', row: '' });
  if (!needs && outcome === '') return null;
  return (
    <div className="stack tight filters">
      {four && (
        <Chips
          label="In detail"
          of={kinds.map((kind) => ({
            value: kind,
            word: outcomeWords(kind, run.dry_run, run.kind).label,
            count: counts?.[kind],
          }))}
          on={outcome}
          onChoose={(kind) => choose(kind === outcome ? four : kind)}
        >
          <Chip on icon="close" onClick={() => choose('')}>
            {fourWord(four, run)}
          </Chip>
        </Chips>
      )}
      {needs && faulty.length > 0 && (
        <Chips
          label="By fault"
          of={faulty}
          on={on}
          onChoose={(one) => {
            const kind = one === on ? undefined : faulty.find(({ value }) => value === one);
            set({ code: kind?.code, column: kind?.column, row: '' });
          }}
        >
          {code && !faulty.some(({ value }) => value === on) && (
            <Chip on icon="close" onClick={() => set({ code: '', column: '' })}>
              {faultWord(code)}
            </Chip>
          )}
        </Chips>
      )}
    </div>
  );
}

function List({
  run,
  filter,
  live,
  open,
  onOpen,
}: {
  run: RunDetail;
  filter: Query;
  live: boolean;
  open: number | undefined;
  onOpen: (row: number, replace: boolean) => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const id = useId();
  const [place, setPlace] = useState(0);
  const [total, setTotal] = useState<number>();
  const { places, pane, height, page, show } = useWindow(box, total ?? 0, ROW, ROW);
  const rows = useRows({ run: run.id, filter, cells: false, live }, places);
  // Rows that come while somebody looks are counted, and shown when asked for: the list is as long as it was.
  const fresh = total === undefined || rows.total === undefined ? 0 : rows.total - total;
  useEffect(() => {
    if (total === undefined || !live || total === 0) setTotal(rows.total);
  }, [rows.total, total, live]);

  function openAt(at: number, replace = open !== undefined): void {
    const row = rows.at(at);
    if (row) onOpen(row.row, replace);
  }
  function go(to: number): void {
    const next = Math.min(Math.max(to, 0), (total ?? 1) - 1);
    setPlace(next);
    show(next);
    // Whoever reads stories one after the other goes back to the list, not to the story before.
    if (open) openAt(next, true);
  }
  function step(by: number): void {
    // From there on the list has the keys: Enter opens the row.
    box.current?.focus();
    go(place + by);
  }
  useShortcuts([
    { keys: 'j', what: 'Next row; Enter opens it', run: () => step(1) },
    { keys: 'k', what: 'Row before', run: () => step(-1) },
  ]);
  function pressed(event: KeyboardEvent): void {
    const to = {
      ArrowDown: place + 1,
      ArrowUp: place - 1,
      PageDown: place + page,
      PageUp: place - page,
      Home: 0,
      End: Number.MAX_SAFE_INTEGER,
    }[event.key];
    if (to !== undefined) go(to);
    else if (event.key === 'Enter' || event.key === ' ') openAt(place);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  if (total === undefined) {
    if (rows.error) return <Fault error={rows.error} />;
    return (
      <div className="list pad">
        <Skeleton what="the rows" lines={6} />
      </div>
    );
  }
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
      <div
        ref={box}
        className="list"
        role="grid"
        tabIndex={0}
        aria-label={counted(total, run.kind === 'undo' ? 'record' : 'row')}
        aria-rowcount={total + 1}
        aria-activedescendant={places.includes(place) ? `${id}-${place}` : undefined}
        onKeyDown={pressed}
        onClick={({ target }) => {
          const line = (target as Element).closest<HTMLElement>('[data-at]');
          if (!line) return;
          setPlace(Number(line.dataset['at']));
          openAt(Number(line.dataset['at']));
        }}
      >
        <div role="row" aria-rowindex={1} className="heads">
          {['Row', 'Key', 'Outcome', 'What was found', 'Id'].map((head) => (
            <span key={head} role="columnheader">
              {head}
            </span>
          ))}
        </div>
        <div className="tall" role="presentation" style={{ height }}>
          <div ref={pane} role="rowgroup">
            {places.map((at) => {
              const row = rows.at(at);
              return (
                <Line
                  // Rows that are scrolled out of sight are used again for those that come.
                  key={at % places.length}
                  id={`${id}-${at}`}
                  at={at}
                  row={row}
                  run={run}
                  active={at === place}
                  open={open !== undefined && row?.row === open}
                />
              );
            })}
          </div>
        </div>
      </div>
      {fresh > 0 && (
        <Button look="quiet" className="fresh" onClick={() => setTotal(rows.total)}>
          {number(fresh)} new
        </Button>
      )}
    </>
  );
}

interface LineProps {
  readonly id: string;
  readonly at: number;
  readonly row: Row | undefined;
  readonly run: RunDetail;
  readonly active: boolean;
  readonly open: boolean;
}

/** Drawn anew only where something of it has changed: while it is scrolled, nothing has. */
const Line = memo(function Line({ id, at, row, run, active, open }: LineProps) {
  const look = `one${active ? ' active' : ''}${open ? ' open' : ''}${row ? '' : ' waiting'}`;
  return (
    <div id={id} data-at={at} role="row" aria-rowindex={at + 2} aria-selected={open} className={look}>
      <span role="gridcell">{row && number(row.row)}</span>
      <span dir="auto" role="gridcell" className="cut">
        {row?.key}
      </span>
      <span role="gridcell">
        {row?.outcome ? (
          <OutcomeBadge kind={row.outcome} dryRun={run.dry_run} run={run.kind} />
        ) : (
          row && <span className="soft">not yet</span>
        )}
      </span>
      <span dir="auto" role="gridcell" className={`cut${row?.issues.length === 0 ? ' soft' : ''}`}>
        {row?.issues.map(({ message }) => message).join(' ') || row?.changed.join(', ')}
      </span>
      <span role="gridcell">{row?.id}</span>
    </div>
  );
});
