// biome-ignore-all lint/a11y/useSemanticElements: a table of a million rows of which forty are drawn
// biome-ignore-all lint/a11y/useFocusableInteractive: the grid has the focus, and names the cell where the cursor is
import { useVirtualizer } from '@tanstack/react-virtual';
import {
  type ClipboardEvent,
  type KeyboardEvent,
  type PointerEvent,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import type { Field, Row } from '../../api/schema.js';
import type { Query } from '../app/client.js';
import { Fault } from '../app/faults.js';
import { useRows } from '../app/rows.js';
import { number } from '../kit/format.js';
import { Icon } from '../kit/icons.js';
import { Skeleton } from '../kit/parts.js';
import { toast } from '../kit/toast.js';
import { useWindow } from '../kit/window.js';
import { faultWord } from '../runs/words.js';
import { fromTsv, laid, toTsv } from './clipboard.js';
import { CellEditor, type Left } from './editor.js';
import { type Edits, setCells, setEqual, shownValue } from './edits.js';
import {
  at,
  commandOf,
  isIn,
  move,
  type Place,
  type Range,
  rangeOf,
  type Selection,
  type Step,
  within,
} from './selection.js';

/** The cell where the cursor is, for what stands beside the grid. */
export interface ActiveCell {
  readonly row: Row;
  readonly column: string;
  readonly cell: string;
}

export interface GridHandle {
  /** Opens the cell where the cursor is. */
  edit(): void;
  /** To the next cell with a fault that was not corrected. */
  nextFault(): Promise<void>;
  focus(): void;
}

interface GridProps {
  readonly run: string;
  readonly filter: Query;
  readonly edits: Edits;
  readonly onEdit: (edits: Edits) => void;
  readonly onUndo: () => void;
  readonly onRedo: () => void;
  readonly onActive: (cell: ActiveCell | undefined) => void;
  /** What a column takes, as far as it is known. */
  readonly fieldOf: (column: string, row?: Row) => Field | undefined;
  readonly handle: { current: GridHandle | null };
  /** Takes the keys at once, at the first fault. */
  readonly autoFocus: boolean;
  /** Ctrl+Enter, while no cell is edited. */
  readonly onSubmit: () => void;
  /** Nobody who may only look changes a cell. */
  readonly readOnly: boolean;
}

const ROW = 32;
/** Rows that are read for one copy, paste or search. */
const MOST_ROWS = 5_000;
const WIDTHS = { narrowest: 88, widest: 320, letter: 8.2, padding: 48 };

/**
 * Rows by pages, cells that can be corrected. The grid itself has the focus and names the cell where the cursor is; while a cell
 * is edited, its field has it.
 */
export function Grid(props: GridProps) {
  const { total, error } = useRows({ run: props.run, filter: props.filter, cells: true, live: false }, []);
  if (error) return <Fault error={error} />;
  if (total === undefined) return <Skeleton what="rows" lines={8} />;
  return <Cells {...props} total={total} />;
}

function Cells({
  run,
  filter,
  edits,
  onEdit,
  onUndo,
  onRedo,
  onActive,
  fieldOf,
  handle,
  onSubmit,
  autoFocus,
  readOnly,
  total,
}: GridProps & { readonly total: number }) {
  const box = useRef<HTMLDivElement>(null);
  const [selection, setSelection] = useState<Selection>(at({ row: 0, column: 0 }));
  const [editing, setEditing] = useState<{ readonly place: Place; readonly begun: string | undefined }>();
  const sight = useWindow(box, total, ROW, ROW);
  const rows = useRows({ run, filter, cells: true, live: false }, sight.places);
  const { headings } = rows;
  // Measured by the rows that are seen first, and then left as they are.
  const widths = useWidths(
    run,
    headings,
    [...Array(30).keys()].map((place) => rows.at(place)),
  );
  const head = window.innerWidth < 640 ? 64 : 208;
  const along = useVirtualizer({
    horizontal: true,
    count: headings.length,
    getScrollElement: () => box.current,
    estimateSize: (column) => widths[column] ?? WIDTHS.narrowest,
    overscan: 2,
    paddingStart: head,
    scrollPaddingStart: head,
  });
  useLayoutEffect(() => along.measure(), [along, widths]);
  const wide = along.getTotalSize();

  const bounds = { rows: total, columns: headings.length, page: sight.page };
  const cursor = within(selection.head, bounds);
  const range = rangeOf(selection);
  const cellAt = ({ row, column }: Place) => {
    const found = rows.at(row);
    const heading = headings[column];
    return found && heading !== undefined
      ? { row: found.row, column: heading, cell: found.cells?.[column] ?? '' }
      : undefined;
  };

  const here = rows.at(cursor.row);
  const column = headings[cursor.column];
  useEffect(() => {
    onActive(here && column !== undefined ? { row: here, column, cell: here.cells?.[cursor.column] ?? '' } : undefined);
  }, [here, column]);

  function go(next: Selection): void {
    setSelection(next);
    sight.show(next.head.row);
    along.scrollToIndex(next.head.column);
  }

  function step(by: Step, extend = false): void {
    go(move({ anchor: selection.anchor, head: cursor }, by, extend, bounds));
  }

  function edit(begun?: string): void {
    if (readOnly || !cellAt(cursor)) return;
    go(at(cursor));
    setEditing({ place: cursor, begun });
  }

  function leave(place: Place, text: string, how: Left): void {
    const cell = cellAt(place);
    setEditing(undefined);
    // What took the focus away keeps it.
    if (how !== 'stay') box.current?.focus();
    if (!cell) return;
    const changed = how === 'equal' ? setEqual(edits, cell, text) : setCells(edits, [{ ...cell, value: text }]);
    if (how === 'equal' || text !== shownValue(edits, cell)) onEdit(changed);
    if (how === 'equal') void nextFault(changed, place, { quiet: true });
    else if (how !== 'stay') go(move(at(place), how, false, bounds));
  }

  /** The same for every cell of a range; each row is read that is not there. */
  async function change(over: Range, values: readonly { row: number; column: number; value: string }[]): Promise<void> {
    if (readOnly || total === 0) return;
    if (over.bottom - over.top >= MOST_ROWS) {
      toast(`At most ${number(MOST_ROWS)} rows can be changed at once.`);
      return;
    }
    const read = await rows.read(over.top, Math.min(over.bottom, total - 1));
    const cells = values.flatMap(({ row, column, value }) => {
      const found = read[row - over.top];
      const heading = headings[column];
      if (!found || heading === undefined) return [];
      return [{ row: found.row, column: heading, cell: found.cells?.[column] ?? '', value }];
    });
    onEdit(setCells(edits, cells));
  }

  function clear(): void {
    const blank = laid([['']], { ...range, bottom: Math.min(range.bottom, range.top + MOST_ROWS) });
    void change(range, blank);
  }

  function copied(event: ClipboardEvent): boolean {
    if (editing) return false;
    event.preventDefault();
    const places = Array.from(
      { length: Math.min(range.bottom, total - 1) - range.top + 1 },
      (_, down) => range.top + down,
    );
    if (places.length > MOST_ROWS || places.some((place) => !rows.at(place))) {
      toast('These are more rows than can be copied at once. Select fewer, in sight.');
      return false;
    }
    const texts = places.map((row) =>
      headings.slice(range.left, range.right + 1).map((_, along) => {
        const cell = cellAt({ row, column: range.left + along });
        return cell ? shownValue(edits, cell) : '';
      }),
    );
    event.clipboardData.setData('text/plain', toTsv(texts));
    return true;
  }

  function pasted(event: ClipboardEvent): void {
    if (editing || readOnly) return;
    event.preventDefault();
    const values = laid(fromTsv(event.clipboardData.getData('text/plain')), range).filter(({ row }) => row < total);
    const bottom = values.at(-1)?.row ?? range.top;
    const right = Math.min(Math.max(...values.map(({ column }) => column)), headings.length - 1);
    void change({ ...range, bottom }, values);
    setSelection({ anchor: { row: range.top, column: range.left }, head: { row: bottom, column: right } });
  }

  async function nextFault(now = edits, from = cursor, { back = false, quiet = false } = {}): Promise<void> {
    const isOpen = (row: Row, column: number) => {
      const heading = headings[column] ?? '';
      const cell = row.cells?.[column] ?? '';
      // A fault of the row as a whole is looked at where the row begins.
      const marked = row.issues.some(
        (issue) => issue.severity === 'error' && (issue.column ?? headings[0]) === heading,
      );
      return marked && shownValue(now, { row: row.row, column: heading, cell }) === cell;
    };
    const columns = [...headings.keys()];
    const first = Math.max(0, from.row - (back ? MOST_ROWS : 0));
    const last = Math.min(total - 1, from.row + (back ? 0 : MOST_ROWS));
    // Page by page, so that the next one is found without reading them all.
    for (let place = from.row; place >= first && place <= last; place += back ? -1 : 1) {
      const row = rows.at(place) ?? (await rows.read(place, place))[0];
      if (!row) break;
      const beside = columns.filter(
        (column) => place !== from.row || (back ? column < from.column : column > from.column),
      );
      const found = (back ? beside.reverse() : beside).find((column) => isOpen(row, column));
      if (found === undefined) continue;
      go(at({ row: place, column: found }));
      return;
    }
    if (!quiet) toast(back ? 'There is no open fault before this cell.' : 'There is no open fault behind this cell.');
  }

  handle.current = { edit, nextFault: () => nextFault(), focus: () => box.current?.focus() };

  useEffect(() => {
    if (!autoFocus) return;
    box.current?.focus({ preventScroll: true });
    void nextFault(edits, { row: 0, column: -1 }, { quiet: true });
  }, []);

  function pressed(event: KeyboardEvent): void {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      onSubmit();
      return;
    }
    const command = commandOf(event);
    if (!command || total === 0 || event.nativeEvent.isComposing) return;
    // Out of the grid, where no cell is next.
    const [atStart, atEnd] = [
      cursor.row + cursor.column === 0,
      cursor.row === total - 1 && cursor.column === headings.length - 1,
    ];
    if (event.key === 'Tab' && (event.shiftKey ? atStart : atEnd)) return;
    event.preventDefault();
    const back = command.do === 'previous-fault';
    if (command.do === 'move') step(command.step, command.extend);
    else if (command.do === 'edit') edit(command.text);
    else if (command.do === 'clear') clear();
    else if (command.do === 'undo') onUndo();
    else if (command.do === 'redo') onRedo();
    else if (command.do === 'all')
      setSelection({ anchor: { row: 0, column: 0 }, head: { row: total - 1, column: headings.length - 1 } });
    else void nextFault(edits, cursor, { back });
  }

  function pointed(event: PointerEvent<HTMLElement>, place: Place): void {
    if (event.button !== 0 || editing) return;
    setSelection(event.shiftKey ? { anchor: selection.anchor, head: place } : at(place));
  }

  const columns = along.getVirtualItems();
  const amounts = headings.map((heading) => fieldOf(heading)?.type === 'number');
  return (
    <div
      ref={box}
      role="grid"
      className="grid"
      tabIndex={0}
      aria-label="Rows of the file"
      aria-rowcount={total + 1}
      aria-colcount={headings.length + 1}
      aria-multiselectable="true"
      aria-readonly={readOnly}
      aria-activedescendant={cellId(cursor)}
      onKeyDown={pressed}
      onCopy={(event) => void copied(event)}
      onCut={(event) => copied(event) && clear()}
      onPaste={pasted}
    >
      <div role="row" aria-rowindex={1} className="grid-row heads" style={{ width: wide }}>
        <div role="columnheader" aria-colindex={1} className="row-head" style={{ width: head }}>
          <span className="num">Row</span>
          <span className="word">What is wrong</span>
        </div>
        {columns.map(({ index, start, size }) => (
          <div
            key={index}
            role="columnheader"
            aria-colindex={index + 2}
            className="cell cut"
            style={{ left: start, width: size }}
            title={headings[index]}
          >
            <bdi>{headings[index]}</bdi>
          </div>
        ))}
      </div>
      <div role="presentation" className="rows" style={{ height: sight.height, width: wide }}>
        <div ref={sight.pane} role="rowgroup">
          {sight.places.map((place) => {
            const row = rows.at(place);
            return (
              <div key={place} role="row" aria-rowindex={place + 2} className="grid-row" style={{ width: wide }}>
                <RowHead row={row} width={head} />
                {columns.map(({ index, start: left, size }) => {
                  const here = { row: place, column: index };
                  const cell = cellAt(here);
                  const heading = headings[index] ?? '';
                  const issues = row?.issues.filter((issue) => issue.column === heading) ?? [];
                  const value = cell ? shownValue(edits, cell) : '';
                  const isCorrected = cell !== undefined && value !== cell.cell;
                  const isCursor = cursor.row === place && cursor.column === index;
                  const isEdited = editing?.place.row === place && editing.place.column === index;
                  const mark = isCorrected
                    ? 'corrected'
                    : issues.some(({ severity }) => severity === 'error')
                      ? 'fault'
                      : issues.length > 0
                        ? 'warning'
                        : '';
                  return (
                    <div
                      key={index}
                      id={cellId(here)}
                      role="gridcell"
                      aria-colindex={index + 2}
                      aria-selected={isIn(range, here)}
                      aria-invalid={mark === 'fault' || undefined}
                      className={`cell ${mark}${isIn(range, here) ? ' in' : ''}${isCursor ? ' cursor' : ''}${amounts[index] ? ' amount' : ''}`}
                      style={{ left, width: size }}
                      onPointerDown={(event) => pointed(event, here)}
                      onPointerEnter={(event) => {
                        if (event.buttons === 1 && event.pointerType === 'mouse' && !editing)
                          setSelection({ anchor: selection.anchor, head: here });
                      }}
                      onDoubleClick={() => edit()}
                    >
                      {isEdited && cell ? (
                        <CellEditor
                          label={`${heading}, row ${cell.row}`}
                          original={value}
                          begun={editing.begun}
                          field={row && fieldOf(heading, row)}
                          issues={isCorrected ? [] : issues}
                          onLeave={(text, how) => leave(here, text, how)}
                          onCancel={() => {
                            setEditing(undefined);
                            box.current?.focus();
                          }}
                        />
                      ) : (
                        <>
                          <bdi className="cut grow">{value}</bdi>
                          {mark && <Icon name={mark === 'corrected' ? 'correct' : 'warn'} />}
                          {mark && (
                            <span className="unseen">
                              {mark === 'corrected'
                                ? `corrected, was ${cell?.cell || 'blank'}`
                                : issues.map(({ message }) => message).join(' ')}
                            </span>
                          )}
                        </>
                      )}
                    </div>
                  );
                })}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

const cellId = ({ row, column }: Place) => `cell-${row}-${column}`;

/** The number of the row, and what is wrong with it, in words. */
function RowHead({ row, width }: { row: Row | undefined; width: number }) {
  const fault = row?.issues.find(({ severity }) => severity === 'error');
  const more = row
    ? new Set(row.issues.filter(({ severity }) => severity === 'error').map(({ code }) => code)).size - 1
    : 0;
  return (
    <div role="rowheader" aria-colindex={1} className="row-head" style={{ width }}>
      <span className="num">{row ? number(row.row) : '…'}</span>
      {fault && (
        <span className="cut word small warn toned" title={fault.message}>
          {faultWord(fault.code)}
          {more > 0 && ` +${more}`}
        </span>
      )}
    </div>
  );
}

/** Wide enough for what the first rows show, and for the heading. */
function useWidths(run: string, headings: readonly string[], first: readonly (Row | undefined)[]): readonly number[] {
  const kept = useRef<{ readonly run: string; readonly widths: readonly number[] }>({ run: '', widths: [] });
  if (headings.length > 0 && (kept.current.run !== run || kept.current.widths.length !== headings.length)) {
    const widths = headings.map((heading, column) => {
      const longest = Math.max(heading.length, ...first.map((row) => row?.cells?.[column]?.length ?? 0));
      return Math.round(Math.min(WIDTHS.widest, Math.max(WIDTHS.narrowest, longest * WIDTHS.letter + WIDTHS.padding)));
    });
    kept.current = { run, widths };
  }
  return kept.current.widths;
}
