import { useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { useSearchParams } from 'wouter';
import type { Row, RunDetail } from '../../api/schema.js';
import { FOUR, FOUR_OF, OUTCOMES, type OutcomeCounts, type OutcomeKind } from '../../model/outcome.js';
import { outcomeWords } from '../../report/words.js';
import { Fault } from '../app/faults.js';
import { useShortcuts } from '../app/keys.js';
import { faultsQuery } from '../app/queries.js';
import { useRows } from '../app/rows.js';
import { counted, number } from '../kit/format.js';
import { Button, Card, Chip, Empty, FOUR_LOOKS, OutcomeBadge, Skeleton, sumOf } from '../kit/parts.js';
import { useWindow } from '../kit/window.js';
import { faultWord, fourWord } from './words.js';

const ROW = 32;
const TYPED_MS = 250;

/** The rows of a run, as many as they are; the address holds the filter and the row that is open. */
export function Rows({
  run,
  counts,
  total,
  live,
}: {
  run: RunDetail;
  counts: OutcomeCounts | null;
  total: number | null;
  live: boolean;
}) {
  const [params, setParams] = useSearchParams();
  const [outcome, code, column, key] = ['outcome', 'code', 'column', 'key'].map((name) => params.get(name) ?? '');
  const open = Number(params.get('row')) || undefined;
  const set = (changes: Readonly<Record<string, string | number | undefined>>, replace = false) =>
    setParams(
      (before) => {
        const next = new URLSearchParams(before);
        for (const [name, value] of Object.entries(changes)) {
          if (value === undefined || value === '') next.delete(name);
          else next.set(name, String(value));
        }
        return next;
      },
      { replace },
    );
  return (
    <Card
      flush
      className="rows"
      title={run.kind === 'undo' ? 'Records' : 'Rows'}
      beside={<KeySearch value={key ?? ''} onChange={(text) => set({ key: text, row: undefined }, true)} />}
    >
      <Filters
        run={run}
        counts={counts}
        total={total}
        outcome={outcome ?? ''}
        code={code ?? ''}
        column={column ?? ''}
        live={live}
        set={set}
      />
      <List
        key={`${outcome} ${code} ${column} ${key}`}
        run={run}
        filter={{ outcome, code, column, key }}
        live={live}
        open={open}
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

/** Four words; under the chosen one its outcomes, and the codes of the rows that need somebody. */
function Filters({
  run,
  counts,
  total,
  outcome,
  code,
  column,
  live,
  set,
}: {
  run: RunDetail;
  counts: OutcomeCounts | null;
  total: number | null;
  outcome: string;
  code: string;
  column: string;
  live: boolean;
  set: (changes: Readonly<Record<string, string | undefined>>) => void;
}) {
  const four = FOUR.find((one) => one === outcome) ?? FOUR_OF[outcome as OutcomeKind];
  const kinds = OUTCOMES.filter((kind) => FOUR_OF[kind] === four && (counts?.[kind] ?? 0) > 0);
  const needs = four === 'to_correct' || four === 'to_look_at' || code !== '';
  const faults = useQuery({ ...faultsQuery(run.id), enabled: needs, refetchInterval: live ? 5_000 : false });
  const codes = new Map<string, number>();
  for (const fault of faults.data ?? []) codes.set(fault.code, (codes.get(fault.code) ?? 0) + fault.rows);
  const choose = (next: string) => set({ outcome: next, code: undefined, column: undefined, row: undefined });
  return (
    <div className="stack tight filters">
      <div className="chips" role="group" aria-label="By outcome">
        <Chip on={outcome === ''} count={total ?? undefined} onClick={() => choose('')}>
          All
        </Chip>
        {FOUR.map((one) => (
          <Chip
            key={one}
            on={four === one}
            icon={FOUR_LOOKS[one].icon}
            count={counts ? sumOf(counts, one) : undefined}
            onClick={() => choose(one === outcome ? '' : one)}
          >
            {fourWord(one, run)}
          </Chip>
        ))}
      </div>
      {four && kinds.length > 0 && (
        <div className="chips" role="group" aria-label="In detail">
          {kinds.map((kind) => (
            <Chip
              key={kind}
              on={outcome === kind}
              count={counts?.[kind]}
              onClick={() => choose(outcome === kind ? four : kind)}
            >
              {outcomeWords(kind, run.dry_run, run.kind).label}
            </Chip>
          ))}
        </div>
      )}
      {needs && codes.size > 0 && (
        <div className="chips" role="group" aria-label="By fault">
          {[...codes].slice(0, 12).map(([one, rows]) => (
            <Chip
              key={one}
              on={code === one}
              count={rows}
              onClick={() => set({ code: code === one ? undefined : one, column: undefined, row: undefined })}
            >
              {faultWord(one)}
            </Chip>
          ))}
          {column && (
            <Chip on icon="close" onClick={() => set({ column: undefined })}>
              in {column}
            </Chip>
          )}
        </div>
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
  filter: Readonly<Record<string, string | undefined>>;
  live: boolean;
  open: number | undefined;
  onOpen: (row: number, replace: boolean) => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const id = useId();
  const [place, setPlace] = useState(0);
  const [total, setTotal] = useState<number>();
  const window = useWindow(box, total ?? 0, ROW, ROW);
  const rows = useRows({ run: run.id, filter, cells: false, live }, window.first, Math.max(window.last, 0));
  // Rows that come while somebody looks are counted, and shown when asked for: the list is as long as it was.
  const fresh = total === undefined || rows.total === undefined ? 0 : rows.total - total;
  useEffect(() => {
    if (total === undefined || !live || total === 0) setTotal(rows.total);
  }, [rows.total, total, live]);

  const go = (to: number) => {
    const next = Math.min(Math.max(to, 0), (total ?? 1) - 1);
    setPlace(next);
    window.show(next);
    const row = rows.at(next);
    // Whoever reads stories one after the other goes back to the list, not to the story before.
    if (open && row) onOpen(row.row, true);
  };
  const step = (by: number) => {
    // From there on the list has the keys: Enter opens the row.
    box.current?.focus();
    go(place + by);
  };
  useShortcuts([
    { keys: 'j', what: 'Next row; Enter opens it', run: () => step(1) },
    { keys: 'k', what: 'Row before', run: () => step(-1) },
  ]);
  function openAt(at: number): void {
    const row = rows.at(at);
    if (row) onOpen(row.row, open !== undefined);
  }
  function pressed(event: KeyboardEvent): void {
    const to = {
      ArrowDown: place + 1,
      ArrowUp: place - 1,
      PageDown: place + window.page,
      PageUp: place - window.page,
      Home: 0,
      End: Number.MAX_SAFE_INTEGER,
    }[event.key];
    if (to !== undefined) go(to);
    else if (event.key === 'Enter' || event.key === ' ') openAt(place);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  if (rows.error && total === undefined) return <Fault error={rows.error} />;
  if (total === 0) {
    return (
      <Empty title={live ? 'No row yet' : 'No row like that'}>
        <p className="soft">
          {live ? 'Rows stand here as soon as the run has come to them.' : 'Choose another filter.'}
        </p>
      </Empty>
    );
  }
  const places =
    total === undefined ? [] : Array.from({ length: window.last - window.first + 1 }, (_, at) => window.first + at);
  return (
    <>
      <div
        ref={box}
        className="list"
        role="grid"
        tabIndex={0}
        aria-label={counted(total ?? 0, run.kind === 'undo' ? 'record' : 'row')}
        aria-rowcount={(total ?? 0) + 1}
        aria-activedescendant={places.includes(place) ? `${id}-${place}` : undefined}
        onKeyDown={pressed}
      >
        <div role="row" aria-rowindex={1} className="head">
          <span role="columnheader" className="num">
            Row
          </span>
          <span role="columnheader">Key</span>
          <span role="columnheader">Outcome</span>
          <span role="columnheader">What was found</span>
          <span role="columnheader" className="num id">
            Id
          </span>
        </div>
        {total === undefined ? (
          <div className="pad">
            <Skeleton what="the rows" lines={6} />
          </div>
        ) : (
          <div className="tall" role="presentation" style={{ height: window.height }}>
            {places.map((at) => (
              <Line
                key={at}
                id={`${id}-${at}`}
                at={at}
                top={window.top(at)}
                row={rows.at(at)}
                run={run}
                active={at === place}
                open={open !== undefined && rows.at(at)?.row === open}
                onPress={() => {
                  setPlace(at);
                  openAt(at);
                }}
              />
            ))}
          </div>
        )}
      </div>
      {fresh > 0 && (
        <Button look="quiet" className="fresh" onClick={() => setTotal(rows.total)}>
          {number(fresh)} new
        </Button>
      )}
    </>
  );
}

function Line({
  id,
  at,
  top,
  row,
  run,
  active,
  open,
  onPress,
}: {
  id: string;
  at: number;
  top: number;
  row: Row | undefined;
  run: RunDetail;
  active: boolean;
  open: boolean;
  onPress: () => void;
}) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the list has the keys
    <div
      id={id}
      role="row"
      aria-rowindex={at + 2}
      aria-selected={open}
      tabIndex={-1}
      className={`one${active ? ' active' : ''}${open ? ' open' : ''}`}
      style={{ transform: `translateY(${top}px)` }}
      onClick={onPress}
    >
      {row ? (
        <>
          <span role="gridcell" className="num soft">
            {number(row.row)}
          </span>
          <span role="gridcell" className="cut">
            <bdi>{row.key}</bdi>
          </span>
          <span role="gridcell">
            {row.outcome ? (
              <OutcomeBadge kind={row.outcome} dryRun={run.dry_run} run={run.kind} />
            ) : (
              <span className="soft">not yet</span>
            )}
          </span>
          <span role="gridcell" className="cut">
            {row.issues.length > 0 ? (
              <bdi>{row.issues.map(({ message }) => message).join(' ')}</bdi>
            ) : (
              <span className="soft">{row.changed.join(', ')}</span>
            )}
          </span>
          <span role="gridcell" className="num soft id">
            {row.id ?? ''}
          </span>
        </>
      ) : (
        <span role="gridcell" className="skeleton" />
      )}
    </div>
  );
}
