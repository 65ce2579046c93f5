import { type ClipboardEvent, type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react';
import type { Field, Issue, Row } from '../../api/schema.js';
import type { Query } from '../app/client.js';
import { Pending } from '../app/faults.js';
import { fromTsv, type PlacedCell, placeBlock } from '../grid/clipboard.js';
import { type CellPosition, clampTo, keyName, moveCursor, selectCell, typedCharacter } from '../grid/cursor.js';
import { type Cell, Grid, type GridContent, isWithinLimit, OverCell, useGrid } from '../grid/grid.js';
import { useRows } from '../grid/rows.js';
import { number } from '../kit/format.js';
import { toast } from '../kit/toast.js';
import { faultWord } from '../runs/words.js';
import { CellEditor, CellStatus, type CorrectionProps, type LeaveReason } from './cell.js';
import { type CellAt, type Edits, editedValue, isLeftOut, setCells, setEqual } from './edits.js';

interface FaultGridProps extends CorrectionProps {
  readonly run: string;
  readonly filter: Query;
  /** Undefined where nothing was corrected. */
  readonly onUndo: (() => void) | undefined;
  /** Ctrl+Enter, while no cell is edited. */
  readonly onSubmit: () => void;
  /** What a column takes, as far as it is known. */
  readonly fieldOf: (column: string, row?: Row) => Field | undefined;
  /** Takes the keys at once, at the first fault. */
  readonly autoFocus: boolean;
}

/** Rows that are looked through for a fault. */
const MOST_ROWS = 5_000;
const WIDTHS = { narrowest: 88, widest: 320, letter: 8.2, padding: 48, measured: 30 };

/** The rows of a check as a grid whose cells can be corrected; while a cell is edited, its field has the keys. */
export function FaultGrid(props: FaultGridProps) {
  const { run, filter, edits, fieldOf, autoFocus, readOnly, onEdit, onUndo, onSubmit } = props;
  const afterEscape = useRef(false);
  const [editing, setEditing] = useState<{ readonly place: CellPosition; readonly begun: string | undefined }>();
  const request = { run, filter, cells: true, live: false };
  const firstRows = useRows(request, []);
  const { headings, total = 0 } = firstRows;
  // Measured by the rows that are seen first, and then left as they are.
  const widths = useMemo(() => headings.map((heading, column) => widthOf(heading, column, firstRows.at)), [headings]);
  const grid = useGrid(total, widths, window.innerWidth < 640 ? 64 : 208);
  const rows = useRows(request, grid.viewport.places);
  const { box, bounds, cursor, range } = grid;
  const look = useMemo(() => contentOf(headings, edits, fieldOf), [headings, edits, fieldOf]);
  const currentRow = rows.at(cursor.row);
  const editedRow = editing && rows.at(editing.place.row);

  function edit(begun?: string): void {
    if (readOnly || !currentRow) return;
    grid.moveTo(selectCell(cursor));
    setEditing({ place: cursor, begun });
  }

  function leaveCell(place: CellPosition, cell: CellAt, text: string, how: LeaveReason): void {
    setEditing(undefined);
    // What took the focus away keeps it.
    if (how !== 'stay') box.current?.focus();
    const isFaulty = rows.at(place.row)?.issues.some((one) => isError(one) && one.column === cell.column);
    // What is blank and may be is not filled in all rows by one key.
    if (how === 'equal' && (cell.cell !== '' || isFaulty)) {
      onEdit((now) => setEqual(now, cell, text));
      void nextFault({ from: place, quiet: true, now: setEqual(edits, cell, text) });
      return;
    }
    if (text !== editedValue(edits, cell)) onEdit((now) => setCells(now, [{ ...cell, value: text }]));
    if (how !== 'stay') grid.moveTo(selectCell(moveCursor(place, how, bounds) ?? place));
  }

  /** Each row is read that is not there. */
  async function applyValues(values: readonly PlacedCell[]): Promise<void> {
    const inside = values.filter(({ row, column }) => row < total && column < headings.length);
    const [first, last] = [inside[0]?.row, inside.at(-1)?.row];
    if (first === undefined || last === undefined) return;
    try {
      const read = await rows.read(first, last);
      const cells = inside.flatMap(({ row, column, value }) => {
        const found = read[row - first];
        return found ? [{ ...cellIn(headings, found, column), value }] : [];
      });
      onEdit((now) => setCells(now, cells));
      const beyond = values.length - inside.length;
      if (beyond > 0)
        toast(`The table ends before it: ${number(beyond)} of ${number(values.length)} cells were left out.`);
    } catch (error) {
      toast((error as Error).message);
    }
  }

  function clear(): void {
    if (!readOnly && isWithinLimit(grid.selectedCount)) void applyValues(placeBlock([['']], range));
  }

  function pasteBlock(event: ClipboardEvent): void {
    if (editing || readOnly) return;
    event.preventDefault();
    // A picture is no text, and empties nothing.
    if (!event.clipboardData.types.includes('text/plain')) return;
    const block = fromTsv(event.clipboardData.getData('text/plain'));
    const pasted = block.length * Math.max(...block.map((row) => row.length));
    if (!isWithinLimit(Math.max(grid.selectedCount, pasted))) return;
    const values = placeBlock(block, range);
    void applyValues(values);
    const { row, column } = values.at(-1) ?? cursor;
    grid.select({ anchor: { row: range.top, column: range.left }, head: clampTo({ row, column }, bounds) });
  }

  async function nextFault({ from = cursor as CellPosition, now = edits, quiet = false } = {}): Promise<void> {
    const isOpenFault = (row: Row, column: number) => {
      const cell = cellIn(headings, row, column);
      // A fault of the row as a whole is looked at where the row begins.
      const marked = row.issues.some((one) => isError(one) && (one.column ?? headings[0]) === cell.column);
      return marked && editedValue(now, cell) === cell.cell;
    };
    // Page by page, so that the next one is found without reading them all.
    for (let seen = 0; seen <= MOST_ROWS; seen++) {
      const place = from.row + seen;
      const row = rows.at(place) ?? (await rows.read(place, place))[0];
      if (place >= total || !row) break;
      if (isLeftOut(now, headings, row)) continue;
      const found = [...headings.keys()].find(
        (column) => (seen > 0 || column > from.column) && isOpenFault(row, column),
      );
      if (found !== undefined) return grid.moveTo(selectCell({ row: place, column: found }));
    }
    if (!quiet) toast('There is no open fault behind this cell.');
  }

  const ready = firstRows.total !== undefined;
  useEffect(() => {
    if (!autoFocus || !ready) return;
    box.current?.focus({ preventScroll: true });
    void nextFault({ from: { row: 0, column: -1 }, quiet: true });
  }, [ready]);

  function selectRows(first: number, last: number): void {
    grid.select({ anchor: { row: first, column: 0 }, head: { row: last, column: headings.length - 1 } });
  }

  function handleKey(event: KeyboardEvent): void {
    const { key } = event;
    if (key === 'Shift' || event.nativeEvent.isComposing) return;
    // Behind Escape, and at both ends, Tab leaves the grid as it leaves everything else.
    if (key === 'Tab' && afterEscape.current) return;
    afterEscape.current = key === 'Escape';
    const keyActions: Readonly<Record<string, () => void>> = {
      'Ctrl+Enter': onSubmit,
      Enter: () => edit(),
      F2: () => edit(),
      Delete: clear,
      Backspace: clear,
      'Ctrl+z': () => onUndo?.(),
      'Shift+ ': () => selectRows(cursor.row, cursor.row),
      'Ctrl+a': () => selectRows(0, total - 1),
      F8: () => void nextFault(),
    };
    const character = typedCharacter(event);
    if (!grid.moveByKey(event)) {
      const action = keyActions[keyName(event)] ?? (character === undefined ? undefined : () => edit(character));
      if (!action) return;
      action();
    }
    event.preventDefault();
  }

  /** Its keys go on where they were: a button that was pressed may be gone. */
  const editFromStatus: CorrectionProps['onEdit'] = (change) => {
    onEdit(change);
    box.current?.focus({ preventScroll: true });
  };
  const cell = editing && editedRow && cellIn(headings, editedRow, editing.place.column);
  return (
    <>
      <CellStatus
        of={{ ...props, onEdit: editFromStatus }}
        headings={headings}
        row={currentRow}
        at={currentRow && cellIn(headings, currentRow, cursor.column)}
        onOpen={() => edit()}
      />
      {ready ? (
        <Grid
          of={grid}
          rows={rows}
          look={look}
          aria-label="Rows of the file"
          aria-readonly={readOnly}
          onKeyDown={handleKey}
          // What is typed into comes back into sight.
          onKeyDownCapture={() => editing && grid.viewport.show(editing.place.row)}
          onClear={clear}
          onPaste={pasteBlock}
          onDoubleClick={() => !editing && edit()}
        >
          {cell && (
            <OverCell of={grid} place={editing.place}>
              <CellEditor
                cell={cell}
                edits={edits}
                begun={editing.begun}
                field={fieldOf(cell.column, editedRow)}
                issues={editedRow.issues}
                onLeave={(text, how) => leaveCell(editing.place, cell, text, how)}
              />
            </OverCell>
          )}
        </Grid>
      ) : (
        <div className="grid">
          <Pending error={firstRows.error} what="rows" />
        </div>
      )}
    </>
  );
}

function cellIn(headings: readonly string[], row: Row, column: number) {
  return { row: row.row, column: headings[column] ?? '', cell: row.cells?.[column] ?? '' };
}

const isError = ({ severity }: Issue) => severity === 'error';

/** Wide enough for what the first rows show, and for the heading. */
function widthOf(heading: string, column: number, rowAt: (place: number) => Row | undefined): number {
  const first = Array.from({ length: WIDTHS.measured }, (_, place) => rowAt(place)?.cells?.[column]?.length ?? 0);
  const longest = Math.max(heading.length, ...first);
  // On a phone, too, a cell is seen whole beside the number of its row.
  const widest = Math.min(WIDTHS.widest, window.innerWidth - 96);
  return Math.round(Math.min(widest, Math.max(WIDTHS.narrowest, longest * WIDTHS.letter + WIDTHS.padding)));
}

/** Cells as they are corrected, each marked by what is wrong with it, and beside the row the first fault in words. */
function contentOf(headings: readonly string[], edits: Edits, fieldOf: FaultGridProps['fieldOf']): GridContent {
  const isAmount = headings.map((heading) => fieldOf(heading)?.type === 'number');
  const isCorrected = (cell: CellAt) => editedValue(edits, cell) !== cell.cell;
  return {
    headings,
    besideHeading: 'What is wrong',
    beside(row) {
      if (isLeftOut(edits, headings, row)) return <span className="cut word small soft">left out</span>;
      const errors = row.issues.filter(isError);
      const [fault, ...more] = errors.filter(
        ({ column }) => column === undefined || !isCorrected(cellIn(headings, row, headings.indexOf(column))),
      );
      if (!fault) return errors.length > 0 && <span className="cut word small good toned">corrected</span>;
      const others = new Set(more.map(({ code }) => code).filter((code) => code !== fault.code)).size;
      return (
        <span className="cut word small warn toned" title={fault.message}>
          {faultWord(fault.code)}
          {others > 0 && ` +${others}`}
        </span>
      );
    },
    cellOf(row, index): Cell {
      const cell = cellIn(headings, row, index);
      const text = editedValue(edits, cell);
      const issues = row.issues.filter(({ column }) => column === cell.column);
      const amount = isAmount[index] ? ' amount' : '';
      if (text !== cell.cell) {
        const note = `corrected, was ${cell.cell || 'blank'}`;
        return { text, className: `good${amount}`, mark: { icon: 'correct', note } };
      }
      if (issues.length === 0) return { text, className: amount };
      const invalid = issues.some(isError);
      const note = issues.map(({ message }) => message).join(' ');
      return { text, invalid, className: `${invalid ? 'warn' : 'calm'}${amount}`, mark: { icon: 'warn', note } };
    },
  };
}
