import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import { useSearchParams } from 'wouter';
import type { FaultGroup, Field, Row, RunDetail } from '../../api/schema.js';
import type { Query } from '../app/client.js';
import { Refused } from '../app/faults.js';
import { faultsQuery, resourcesQuery, useWhyNot } from '../app/queries.js';
import { counted, number } from '../kit/format.js';
import { Icon } from '../kit/icons.js';
import { Button, Chip, Prose, sumOf } from '../kit/parts.js';
import { faultWord } from '../runs/words.js';
import { type Check, targetsOf } from './draft.js';
import { meant } from './editor.js';
import {
  begin,
  corrections,
  type Edits,
  editsOf,
  record,
  redo,
  setCells,
  setEqual,
  shownValue,
  undo,
} from './edits.js';
import { type ActiveCell, Grid, type GridHandle } from './grid.js';

/** The faults of a dry run in a grid: cells are corrected in place, and checked again. The file stays as it was. */
export function CheckStep({
  title,
  run,
  check,
  onEdits,
  onCheck,
  onPlan,
}: {
  title: string;
  run: RunDetail;
  check: Check;
  onEdits: (edits: Edits) => void;
  /** A new dry run with everything that was corrected so far. */
  onCheck: (edits: Edits) => Promise<unknown>;
  onPlan: () => void;
}) {
  const counts = run.outcomes;
  const toCorrect = counts ? sumOf(counts, 'to_correct') : 0;
  const whyNot = useWhyNot('operator');
  const [trail, setTrail] = useState(() => begin(editsOf(check.edits)));
  const [active, setActive] = useState<ActiveCell>();
  const [params] = useSearchParams();
  const handle = useRef<GridHandle | null>(null);
  const { data: faults = [] } = useQuery(faultsQuery(run.id));
  const fieldOf = useFields(run.resource, check.job);
  const again = useMutation({ mutationFn: () => onCheck(trail.now) });
  const edited = corrections(trail.now).length;
  useEffect(() => onEdits(trail.now), [trail.now]);
  const [filter, chips] = useFilter(run, faults, toCorrect);
  const checkAgain = () => {
    if (edited > 0 && !again.isPending && whyNot === undefined) again.mutate();
  };
  return (
    <>
      <div className="line wide">
        <h1 className="wrap grow">{title}</h1>
        <span className="line">
          {trail.past.length > 0 && (
            <Button look="quiet" aria-keyshortcuts="Control+Z" onClick={() => setTrail(undo)}>
              Undo
            </Button>
          )}
          {trail.future.length > 0 && (
            <Button look="quiet" aria-keyshortcuts="Control+Y" onClick={() => setTrail(redo)}>
              Redo
            </Button>
          )}
          {edited > 0 ? (
            <Button
              look="primary"
              aria-keyshortcuts="Control+Enter"
              busy={again.isPending}
              why={whyNot}
              onClick={checkAgain}
            >
              Check again with {counted(edited, 'correction')}
            </Button>
          ) : (
            <Button look="primary" icon="next" autoFocus={toCorrect === 0} onClick={onPlan}>
              {toCorrect > 0 ? `Go on without ${counted(toCorrect, 'row')}` : 'See the plan'}
            </Button>
          )}
        </span>
      </div>
      {chips}
      <Refused error={again.error} />
      <Strip
        active={active}
        edits={trail.now}
        faults={faults}
        readOnly={whyNot !== undefined}
        onEdit={(next) => setTrail((now) => record(now, next))}
        onOpen={() => handle.current?.edit()}
      />
      <Grid
        key={JSON.stringify(filter)}
        run={run.id}
        filter={filter}
        edits={trail.now}
        onEdit={(next) => setTrail((now) => record(now, next))}
        onUndo={() => setTrail(undo)}
        onRedo={() => setTrail(redo)}
        onActive={setActive}
        fieldOf={fieldOf}
        handle={handle}
        // The grid has the keys at once where something is to be corrected, and else the way on.
        autoFocus={toCorrect > 0 && trail.past.length === 0 && !params.has('rows') && !params.has('code')}
        onSubmit={edited > 0 ? checkAgain : onPlan}
        readOnly={whyNot !== undefined}
      />
      <p className="small soft keys-line">
        <kbd>F2</kbd> or <kbd>Enter</kbd> corrects a cell · <kbd>Ctrl</kbd> <kbd>Enter</kbd> takes it for all equal
        cells, and outside a cell checks again · <kbd>F8</kbd> next fault · <kbd>Ctrl</kbd> <kbd>Z</kbd> undo · your
        file stays as it is: the corrections belong to this import
      </p>
    </>
  );
}

/** Rows that are shown: kept at the address, in the words of the API. */
function useFilter(run: RunDetail, faults: readonly FaultGroup[], toCorrect: number): [Query, React.ReactNode] {
  const [params, setParams] = useSearchParams();
  const toLookAt = run.outcomes ? sumOf(run.outcomes, 'to_look_at') : 0;
  const code = params.get('code') ?? undefined;
  const column = params.get('column') ?? undefined;
  const outcome = params.get('rows') ?? (code === undefined && toCorrect > 0 ? 'to_correct' : 'all');
  const kinds = useMemo(() => kindsOf(faults), [faults]);
  const filter = useMemo<Query>(
    () => (code === undefined ? (outcome === 'all' ? {} : { outcome }) : { code, column }),
    [code, column, outcome],
  );
  function show(next: Readonly<Record<string, string | null>>): void {
    setParams((now) => {
      const changed = new URLSearchParams(now);
      for (const [name, value] of Object.entries({ rows: null, code: null, column: null, ...next })) {
        if (value === null) changed.delete(name);
        else changed.set(name, value);
      }
      return changed;
    });
  }
  const chip = (value: string, word: string, count: number) => (
    <Chip on={code === undefined && outcome === value} count={count} onClick={() => show({ rows: value })}>
      {word}
    </Chip>
  );
  return [
    filter,
    <div key="chips" className="chips" role="group" aria-label="Rows to show">
      {chip('all', 'All', run.rows ?? 0)}
      {toCorrect > 0 && chip('to_correct', 'To correct', toCorrect)}
      {toLookAt > 0 && chip('to_look_at', 'To look at', toLookAt)}
      {kinds.map((kind) => (
        <Chip
          key={`${kind.code} ${kind.column}`}
          icon="warn"
          on={code === kind.code && (column ?? null) === kind.column}
          count={kind.rows}
          onClick={() => show({ code: kind.code, column: kind.column })}
        >
          {faultWord(kind.code)}
          {kind.column !== null && (
            <>
              {': '}
              <bdi>{kind.column}</bdi>
            </>
          )}
        </Chip>
      ))}
    </div>,
  ];
}

const MOST_CHIPS = 12;

/** One kind of fault of one column; those with the most rows first. */
function kindsOf(faults: readonly FaultGroup[]): { code: string; column: string | null; rows: number }[] {
  const kinds = new Map<string, { code: string; column: string | null; rows: number }>();
  for (const { code, column, rows } of faults) {
    const key = JSON.stringify([code, column]);
    kinds.set(key, { code, column, rows: (kinds.get(key)?.rows ?? 0) + rows });
  }
  return [...kinds.values()].sort((a, b) => b.rows - a.rows).slice(0, MOST_CHIPS);
}

/** What is wrong with the cell where the cursor is, and what to do; it stands at its place, whatever cell that is. */
function Strip({
  active,
  edits,
  faults,
  readOnly,
  onEdit,
  onOpen,
}: {
  active: ActiveCell | undefined;
  edits: Edits;
  faults: readonly FaultGroup[];
  readOnly: boolean;
  onEdit: (edits: Edits) => void;
  onOpen: () => void;
}) {
  if (!active) return <div className="strip" />;
  const { row, column, cell } = active;
  const at = { row: row.row, column, cell };
  const value = shownValue(edits, at);
  const corrected = value !== cell;
  const forAll = edits.get(column)?.equal.get(cell) === value;
  const here = row.issues.filter((issue) => issue.column === column);
  // Of the row as a whole.
  const others = row.issues.filter((issue) => issue.column === undefined);
  const issues = here.length > 0 ? here : others;
  const equal = faults.find((one) => one.column === column && one.value === cell)?.rows ?? 0;
  const names = corrected ? [] : here.flatMap(meant);
  return (
    <div className="strip stack tight">
      <div className="line">
        <strong>
          Row {number(row.row)} · <bdi>{column}</bdi>
        </strong>
        {corrected && (
          <span className="wrap grow">
            <bdi className="value">{cell || 'blank'}</bdi> → <bdi className="value new">{value || 'blank'}</bdi>
          </span>
        )}
        {!readOnly && (
          <span className="line end">
            {names.slice(0, 2).map((name) => (
              <Button key={name} onClick={() => onEdit(setEqual(edits, at, name))}>
                <span>
                  Take <bdi>{name}</bdi>
                  {equal > 1 && ` for ${counted(equal, 'row')}`}
                </span>
              </Button>
            ))}
            {corrected && !forAll && equal > 1 && (
              <Button onClick={() => onEdit(setEqual(edits, at, value))}>Take for {counted(equal, 'row')}</Button>
            )}
            {corrected && (
              <Button look="quiet" onClick={() => onEdit(setCells(edits, [{ ...at, value: cell }]))}>
                Leave as it was
              </Button>
            )}
            <Button look="quiet" icon="correct" onClick={onOpen}>
              Correct
            </Button>
          </span>
        )}
      </div>
      <div role="status" className={corrected ? 'soft' : ''}>
        {issues.map(({ code, message, severity }) => (
          <p key={code + message} className="wrap">
            <span className={`toned ${severity === 'error' ? 'warn' : 'calm'}`}>
              <Icon name={severity === 'error' ? 'warn' : 'info'} /> {faultWord(code)}.
            </span>{' '}
            <Prose>{message}</Prose>
          </p>
        ))}
        {issues.length === 0 && !corrected && <p className="soft">Nothing is wrong with this cell.</p>}
      </div>
    </div>
  );
}

/** What the columns of the job take. Of a saved job only the faults say which field a column goes to. */
function useFields(resource: string | undefined, job: Check['job']): (column: string, row?: Row) => Field | undefined {
  const { data } = useQuery(resourcesQuery);
  return useMemo(() => {
    const fields = new Map(
      data?.resources.find(({ name }) => name === resource)?.fields.map((field) => [field.name, field]),
    );
    const targets = targetsOf(job);
    return (column, row) => {
      const named = row?.issues.find((issue) => issue.column === column && issue.field !== undefined)?.field;
      return fields.get(named ?? targets.get(column) ?? '');
    };
  }, [data, resource, job]);
}
