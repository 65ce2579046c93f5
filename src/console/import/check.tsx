import { useQuery } from '@tanstack/react-query';
import { useCallback, useMemo, useState } from 'react';
import type { Correction, Field, Row, RunDetail } from '../../api/schema.js';
import type { Query } from '../app/client.js';
import { ActionError } from '../app/faults.js';
import { useResourceFields } from '../app/fields.js';
import { faultsQuery, useWhyNot } from '../app/queries.js';
import { useUrlParams } from '../app/shell.js';
import { counted, number } from '../kit/format.js';
import { Button, Chips } from '../kit/parts.js';
import { faultChips, sumOf } from '../runs/outcomes.js';
import { fieldIn, type Ordered, type OrderedJob, withEdits } from './draft.js';
import { corrections, type Edits, editsOf } from './edits.js';
import { FaultGrid } from './grid.js';
import type { Importing } from './state.js';

/** The faults of a dry run in a grid: cells are corrected in place, and checked again. The file stays as it was. */
export function CheckStep({ of, run, ordered }: { of: Importing; run: RunDetail; ordered: Ordered }) {
  const { check, go, hrefOf } = of;
  const toCorrect = sumOf(run.outcomes, 'to_correct');
  const excluded = toCorrect + sumOf(run.outcomes, 'to_look_at');
  const whyNot = useWhyNot('operator');
  const [params, set] = useUrlParams();
  const { code = '', column = '', rows = toCorrect > 0 ? 'to_correct' : 'all' } = Object.fromEntries(params);
  const filter = code === '' ? { outcome: rows === 'all' ? '' : rows } : { code, column };
  const { edits, edit, undo } = useEdits(of, run.id);
  const editCount = edits.size;
  const { data: faults = [] } = useQuery(faultsQuery(run.id));
  const fieldOf = useFieldOf(run.resource, ordered.job);
  const checkAgain = () => whyNot === undefined && check.mutate({});
  const plan = () => go(hrefOf('plan'));
  return (
    <>
      <div className="line wide">
        <h1 className="wrap grow">{checkHeadline(run)}</h1>
        <span className="line">
          {undo && <Button look="quiet" aria-keyshortcuts="Control+Z" onClick={undo} word="Undo" />}
          {editCount > 0 ? (
            <Button
              look="primary"
              aria-keyshortcuts="Control+Enter"
              change={check}
              why={whyNot}
              order={{}}
              word={`Check again with ${counted(editCount, 'correction')}`}
            />
          ) : (
            <Button
              look="primary"
              icon="next"
              autoFocus={toCorrect === 0}
              onClick={plan}
              word={excluded > 0 ? `Go on without ${counted(excluded, 'row')}` : 'See the plan'}
            />
          )}
        </span>
      </div>
      <Chips<Query>
        label="Rows to show"
        of={[...groupChips(run, code === '' ? rows : ''), ...faultChips(faults, code, column)]}
        onChoose={(to) => set({ rows: '', ...to })}
      />
      <ActionError
        error={check.error}
        more={editCount > 0 && <p>What you corrected is kept in this browser, also when you close it.</p>}
      />
      <FaultGrid
        key={JSON.stringify(filter)}
        {...{ run: run.id, filter, faults, edits, fieldOf }}
        onEdit={edit}
        onUndo={undo}
        onSubmit={editCount > 0 ? checkAgain : plan}
        // The grid has the keys at once where something is to be corrected, and else the way on.
        autoFocus={toCorrect > 0 && !undo && !params.has('rows') && !params.has('code')}
        readOnly={whyNot !== undefined}
      />
      <p className="small soft keys-line">
        <kbd>F2</kbd> or <kbd>Enter</kbd> corrects a cell · <kbd>Ctrl</kbd> <kbd>Enter</kbd> takes it for all equal
        cells, and outside a cell checks again · <kbd>F8</kbd> next fault · <kbd>Shift</kbd> <kbd>Space</kbd>{' '}
        <kbd>Delete</kbd> leaves the row out · <kbd>Ctrl</kbd> <kbd>Z</kbd> undo · <kbd>Esc</kbd> <kbd>Tab</kbd> leaves
        the grid · your file stays as it is: the corrections belong to this import
      </p>
    </>
  );
}

function useEdits({ draft, change }: Importing, run: string) {
  const stored = draft.edits[run];
  const edits = useMemo(() => editsOf(stored), [stored]);
  const [steps, setSteps] = useState<readonly Record<'before' | 'after', readonly Correction[]>[]>([]);
  const last = steps.at(-1);
  return {
    edits,
    edit(to: (now: Edits) => Edits) {
      change((now) => {
        const before = now.edits[run] ?? [];
        const after = corrections(to(editsOf(before)));
        setSteps([...steps, { before, after }]);
        return withEdits(now, run, after);
      });
    },
    // What another window has corrected since is not taken back with it.
    undo:
      last && last.after === stored
        ? () => {
            setSteps(steps.slice(0, -1));
            change((now) => withEdits(now, run, last.before));
          }
        : undefined,
  };
}

/** `226 rows are fine · 14 to correct` */
function checkHeadline({ rows, outcomes }: RunDetail): string {
  const [bad, look] = [sumOf(outcomes, 'to_correct'), sumOf(outcomes, 'to_look_at')];
  const total = rows ?? 0;
  const skipped = outcomes?.skipped ?? 0;
  const fine = total - bad - look - skipped;
  if (fine === total) return total === 1 ? 'The only row is fine' : `All ${number(total)} rows are fine`;
  const parts = [
    `${counted(fine, 'row')} ${fine === 1 ? 'is' : 'are'} fine`,
    bad > 0 && `${number(bad)} to correct`,
    look > 0 && `${number(look)} to look at`,
    skipped > 0 && `${number(skipped)} skipped`,
  ];
  return parts.filter(Boolean).join(' · ');
}

/** Rows by what is to be done with them; `chosen`: of which the rows are shown. */
function groupChips({ rows, outcomes }: RunDetail, chosen: string) {
  const groups = [
    { word: 'All', name: 'all', count: rows ?? 0 },
    { word: 'To correct', name: 'to_correct', count: sumOf(outcomes, 'to_correct') },
    { word: 'To look at', name: 'to_look_at', count: sumOf(outcomes, 'to_look_at') },
  ];
  return groups
    .filter(({ name, count }) => name === 'all' || count > 0)
    .map(({ word, name, count }) => ({ word, count, on: name === chosen, to: { rows: name, code: '', column: '' } }));
}

/** What the columns of the job take. Of a saved job only the faults say which field a column goes to. */
function useFieldOf(resource: string | undefined, job: OrderedJob): (column: string, row?: Row) => Field | undefined {
  const fields = useResourceFields(resource);
  return useCallback(
    (column, row) => {
      const named = row?.issues.find((issue) => issue.column === column && issue.field !== undefined)?.field;
      const fieldName = named ?? (typeof job === 'string' ? null : fieldIn(job, column));
      return fields.find(({ name }) => name === fieldName);
    },
    [fields, job],
  );
}
