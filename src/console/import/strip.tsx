import type { FaultGroup, Row } from '../../api/schema.js';
import { counted, number } from '../kit/format.js';
import { Icon } from '../kit/icons.js';
import { Button, Prose } from '../kit/parts.js';
import { faultWord } from '../runs/words.js';
import { meant } from './editor.js';
import { type CellAt, type Edits, isForAll, setCells, setEqual, shownValue } from './edits.js';

/** What is wrong with the cell where the cursor is, and what to do; it stands at its place, whatever cell that is. */
export function Strip({
  row,
  cell: at,
  edits,
  faults,
  readOnly,
  onEdit,
  onOpen,
}: {
  row: Row | undefined;
  cell: CellAt | undefined;
  edits: Edits;
  faults: readonly FaultGroup[];
  readOnly: boolean;
  onEdit: (change: (now: Edits) => Edits) => void;
  onOpen: () => void;
}) {
  if (!row || !at) return <div className="strip" />;
  const { column, cell } = at;
  const value = shownValue(edits, at);
  const corrected = value !== cell;
  const here = row.issues.filter((issue) => issue.column === column);
  const issues = here.length > 0 ? here : row.issues.filter((issue) => issue.column === undefined);
  const equal = faults.find((one) => one.column === column && one.value === cell)?.rows ?? 0;
  const names = corrected ? [] : here.flatMap(meant).slice(0, 2);
  const takeForAll = (text: string) => onEdit((now) => setEqual(now, at, text));
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
            {names.map((name) => (
              <Button key={name} onClick={() => takeForAll(name)}>
                <span>
                  Take <bdi>{name}</bdi>
                  {equal > 1 && ` for ${counted(equal, 'row')}`}
                </span>
              </Button>
            ))}
            {corrected && !isForAll(edits, at, value) && equal > 1 && (
              <Button onClick={() => takeForAll(value)}>Take for {counted(equal, 'row')}</Button>
            )}
            {corrected && (
              <Button look="quiet" onClick={() => onEdit((now) => setCells(now, [{ ...at, value: cell }]))}>
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
