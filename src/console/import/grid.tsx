// biome-ignore-all lint/a11y/useSemanticElements: a table of a million rows of which forty are drawn
// biome-ignore-all lint/a11y/noStaticElementInteractions: it is a grid as soon as its rows are known
// biome-ignore-all lint/a11y/useFocusableInteractive: the grid has the focus, and names the cell where the cursor is
import { defaultRangeExtractor, useVirtualizer, type VirtualItem } from '@tanstack/react-virtual';
import {
  type ClipboardEvent,
  type KeyboardEvent,
  memo,
  type PointerEvent,
  type ReactNode,
  useEffect,
  useLayoutEffect,
  useMemo,
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
import { CellEditor, type Correcting, type Left, Strip } from './cell.js';
import { fromTsv, type Laid, laid, toTsv } from './clipboard.js';
import { at, keyName, moved, type Place, rangeOf, type Selection, typed, within } from './cursor.js';
import { type Edits, setCells, setEqual, shownValue } from './edits.js';

interface GridProps extends Correcting {
  readonly run: string;
  readonly filter: Query;
  readonly onUndo: () => void;
  readonly onRedo: () => void;
  /** Ctrl+Enter, while no cell is edited. */
  readonly onSubmit: () => void;
  /** What a column takes, as far as it is known. */
  readonly fieldOf: (column: string, row?: Row) => Field | undefined;
  /** Takes the keys at once, at the first fault. */
  readonly autoFocus: boolean;
}

const ROW = 32;
/** As many corrections as a run takes. */
const MOST_CELLS = 10_000;
/** Rows that are looked through for a fault. */
const MOST_ROWS = 5_000;
const WIDTHS = { narrowest: 88, widest: 320, letter: 8.2, padding: 48, measured: 30 };

/**
 * Rows by pages, cells that can be corrected. The grid itself has the focus and names the cell where the cursor is; while a cell
 * is edited, its field has it.
 */
export function Grid(props: GridProps) {
  const { run, filter, edits, fieldOf, autoFocus, readOnly, onEdit, onUndo, onRedo, onSubmit } = props;
  const box = useRef<HTMLDivElement>(null);
  const leaving = useRef(false);
  const [selection, setSelection] = useState<Selection>(at({ row: 0, column: 0 }));
  const [editing, setEditing] = useState<{ readonly place: Place; readonly begun: string | undefined }>();
  const asked = { run, filter, cells: true, live: false };
  const known = useRows(asked, []);
  const { total = 0, headings } = known;
  const sight = useWindow(box, total, ROW, ROW);
  const rows = useRows(asked, sight.places);
  const bounds = { rows: total, columns: headings.length, page: sight.page };
  const cursor = within(selection.head, bounds);
  const range = rangeOf(selection);
  // Measured by the rows that are seen first, and then left as they are.
  const widths = useMemo(() => headings.map((heading, column) => widthOf(heading, column, rows.at)), [headings]);
  const amounts = useMemo(() => headings.map((heading) => fieldOf(heading)?.type === 'number'), [headings, fieldOf]);
  const head = window.innerWidth < 640 ? 64 : 208;
  const along = useVirtualizer({
    horizontal: true,
    count: headings.length,
    getScrollElement: () => box.current,
    estimateSize: (column) => widths[column] ?? WIDTHS.narrowest,
    overscan: 2,
    paddingStart: head,
    scrollPaddingStart: head,
    // The cell that is typed into stays, wherever somebody scrolls.
    rangeExtractor: (seen) => [...new Set([...defaultRangeExtractor(seen), cursor.column])],
  });
  useLayoutEffect(() => along.measure(), [along, widths]);
  const wide = along.getTotalSize();
  const columns = along.getVirtualItems();

  const cellIn = (row: Row, column: number) => {
    return { row: row.row, column: headings[column] ?? '', cell: row.cells?.[column] ?? '' };
  };
  const here = rows.at(cursor.row);

  function go(next: Selection): void {
    setSelection(next);
    sight.show(next.head.row);
    // With a whole column at the left: the end of one, without its heading, tells nothing.
    const startOf = (column: number) => along.getOffsetForIndex(column, 'start')?.[0] ?? 0;
    const needed = along.getOffsetForIndex(next.head.column, 'auto')?.[0] ?? 0;
    along.scrollToOffset([...headings.keys()].map(startOf).find((start) => start >= needed) ?? needed);
  }

  function edit(begun?: string): void {
    if (readOnly || !here) return;
    go(at(cursor));
    setEditing({ place: cursor, begun });
  }

  function leave(place: Place, text: string, how: Left): void {
    setEditing(undefined);
    // What took the focus away keeps it.
    if (how !== 'stay') box.current?.focus();
    const row = rows.at(place.row);
    if (!row) return;
    const cell = cellIn(row, place.column);
    if (how === 'equal') {
      onEdit((now) => setEqual(now, cell, text));
      void nextFault({ from: place, quiet: true, now: setEqual(edits, cell, text) });
      return;
    }
    if (text !== shownValue(edits, cell)) onEdit((now) => setCells(now, [{ ...cell, value: text }]));
    if (how !== 'stay') go(at(moved(place, how, bounds) ?? place));
  }

  /** True where it may be; otherwise it is said that it is too much. */
  function isFew(cells: number): boolean {
    if (cells > MOST_CELLS) toast(`At most ${number(MOST_CELLS)} cells can be changed here. Change more in the file.`);
    return cells <= MOST_CELLS;
  }
  const chosen = (range.bottom - range.top + 1) * (range.right - range.left + 1);

  /** Each row is read that is not there. */
  async function change(values: readonly Laid[]): Promise<void> {
    const inside = values.filter(({ row, column }) => row < total && column < headings.length);
    const [first, last] = [inside[0]?.row, inside.at(-1)?.row];
    if (first === undefined || last === undefined) return;
    try {
      const read = await rows.read(first, last);
      const cells = inside.flatMap(({ row, column, value }) => {
        const found = read[row - first];
        return found ? [{ ...cellIn(found, column), value }] : [];
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
    if (!readOnly && isFew(chosen)) void change(laid([['']], range));
  }

  function copied(event: ClipboardEvent): boolean {
    if (editing) return false;
    event.preventDefault();
    if (!isFew(chosen)) return false;
    const found = Array.from({ length: Math.min(range.bottom, total - 1) - range.top + 1 }, (_, down) =>
      rows.at(range.top + down),
    );
    const texts = found.flatMap((row) => {
      const cells = headings.slice(range.left, range.right + 1);
      return row ? [cells.map((_, right) => shownValue(edits, cellIn(row, range.left + right)))] : [];
    });
    if (texts.length < found.length) {
      void rows.read(range.top, range.bottom);
      toast('Not all of these rows were read yet. Copy once more.');
      return false;
    }
    event.clipboardData.setData('text/plain', toTsv(texts));
    return true;
  }

  function pasted(event: ClipboardEvent): void {
    if (editing || readOnly) return;
    event.preventDefault();
    const block = fromTsv(event.clipboardData.getData('text/plain'));
    if (!isFew(chosen) || !isFew(block.length * Math.max(...block.map((row) => row.length)))) return;
    const values = laid(block, range);
    void change(values);
    const { row, column } = values.at(-1) ?? cursor;
    setSelection({ anchor: { row: range.top, column: range.left }, head: within({ row, column }, bounds) });
  }

  async function nextFault({ from = cursor, now = edits, back = false, quiet = false } = {}): Promise<void> {
    const isOpen = (row: Row, column: number) => {
      const cell = cellIn(row, column);
      // A fault of the row as a whole is looked at where the row begins.
      const marked = row.issues.some(
        (issue) => issue.severity === 'error' && (issue.column ?? headings[0]) === cell.column,
      );
      return marked && shownValue(now, cell) === cell.cell;
    };
    const step = back ? -1 : 1;
    const [first, last] = back ? [from.row - MOST_ROWS, from.row] : [from.row, from.row + MOST_ROWS];
    // Page by page, so that the next one is found without reading them all.
    for (let place = from.row; place >= Math.max(0, first) && place <= Math.min(total - 1, last); place += step) {
      const row = rows.at(place) ?? (await rows.read(place, place))[0];
      if (!row) break;
      const open = [...headings.keys()].filter(
        (column) => (place !== from.row || (column - from.column) * step > 0) && isOpen(row, column),
      );
      const found = open.at(back ? -1 : 0);
      if (found === undefined) continue;
      go(at({ row: place, column: found }));
      return;
    }
    if (!quiet) toast(back ? 'There is no open fault before this cell.' : 'There is no open fault behind this cell.');
  }

  const ready = known.total !== undefined;
  useEffect(() => {
    if (!autoFocus || !ready) return;
    box.current?.focus({ preventScroll: true });
    void nextFault({ from: { row: 0, column: -1 }, quiet: true });
  }, [ready]);

  function pressed(event: KeyboardEvent): void {
    const { key, shiftKey } = event;
    if (key === 'Shift' || event.nativeEvent.isComposing) return;
    const name = keyName(event);
    const sign = typed(event);
    // Behind Escape, and at both ends, Tab leaves the grid as it leaves everything else.
    const extend = shiftKey && key !== 'Tab';
    const to = total > 0 ? moved(cursor, extend ? name.replace('Shift+', '') : name, bounds) : undefined;
    const stays = to?.row === cursor.row && to.column === cursor.column;
    if (key === 'Tab' && (leaving.current || stays)) return;
    leaving.current = key === 'Escape';
    const acts: Readonly<Record<string, () => void>> = {
      'Ctrl+Enter': onSubmit,
      Enter: () => edit(),
      F2: () => edit(),
      Delete: clear,
      Backspace: clear,
      'Ctrl+z': onUndo,
      'Ctrl+Shift+z': onRedo,
      'Ctrl+y': onRedo,
      'Ctrl+a': () =>
        setSelection({ anchor: { row: 0, column: 0 }, head: { row: total - 1, column: headings.length - 1 } }),
      F8: () => void nextFault(),
      'Shift+F8': () => void nextFault({ back: true }),
    };
    const act = to
      ? () => go(extend ? { anchor: selection.anchor, head: to } : at(to))
      : (acts[name] ?? (sign === undefined ? undefined : () => edit(sign)));
    if (!act) return;
    event.preventDefault();
    act();
  }

  function pointed(event: PointerEvent, extend: boolean): void {
    const [, row, column] = (event.target as Element).closest('[role=gridcell]')?.id.split('-') ?? [];
    if (row === undefined || column === undefined) return;
    const head = { row: Number(row), column: Number(column) };
    setSelection(({ anchor }) => ({ anchor: extend ? anchor : head, head }));
  }

  const drawn = sight.places.includes(cursor.row);
  // The row that is typed into stays, wherever somebody scrolls; it comes back into sight with the next key.
  const away = editing && !sight.places.includes(editing.place.row) ? [editing.place.row] : [];
  return (
    <>
      <Strip of={props} row={here} at={here && cellIn(here, cursor.column)} onOpen={() => edit()} />
      <div
        ref={box}
        className="grid"
        {...(ready && {
          role: 'grid',
          tabIndex: 0,
          'aria-label': 'Rows of the file',
          'aria-rowcount': total + 1,
          'aria-colcount': headings.length + 1,
          'aria-multiselectable': true,
          'aria-readonly': readOnly,
          'aria-activedescendant': drawn ? cellId(cursor.row, cursor.column) : undefined,
        })}
        onKeyDown={pressed}
        onKeyDownCapture={() => editing && sight.show(editing.place.row)}
        onCopy={(event) => void copied(event)}
        onCut={(event) => copied(event) && clear()}
        onPaste={pasted}
        onPointerDown={(event) => event.button === 0 && pointed(event, event.shiftKey)}
        onPointerOver={(event) =>
          event.buttons === 1 && event.pointerType === 'mouse' && !editing && pointed(event, true)
        }
        onDoubleClick={() => !editing && edit()}
      >
        {ready ? (
          <>
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
                {[...away, ...sight.places].map((place) => {
                  const row = rows.at(place);
                  const edited = editing?.place.row === place ? editing.place.column : -1;
                  const isIn = place >= range.top && place <= range.bottom;
                  return (
                    <div
                      // Rows that are scrolled out of sight are used again for those that come.
                      key={editing?.place.row === place ? 'edited' : place % sight.places.length}
                      role="row"
                      aria-rowindex={place + 2}
                      className={away.includes(place) ? 'grid-row away' : 'grid-row'}
                      style={{ width: wide }}
                    >
                      <RowHead row={row} width={head} />
                      <RowCells
                        {...{ place, row, columns, headings, edits, amounts, edited }}
                        cursor={cursor.row === place ? cursor.column : -1}
                        left={isIn ? range.left : 0}
                        right={isIn ? range.right : -1}
                        editor={
                          row &&
                          edited >= 0 && (
                            <CellEditor
                              cell={cellIn(row, edited)}
                              edits={edits}
                              begun={editing?.begun}
                              field={fieldOf(headings[edited] ?? '', row)}
                              issues={row.issues}
                              onLeave={(text, how) => leave({ row: place, column: edited }, text, how)}
                              onCancel={() => {
                                setEditing(undefined);
                                box.current?.focus();
                              }}
                            />
                          )
                        }
                      />
                    </div>
                  );
                })}
              </div>
            </div>
          </>
        ) : known.error ? (
          <Fault error={known.error} />
        ) : (
          <Skeleton what="rows" lines={8} />
        )}
      </div>
    </>
  );
}

const cellId = (row: number, column: number) => `cell-${row}-${column}`;

/** Wide enough for what the first rows show, and for the heading. */
function widthOf(heading: string, column: number, rowAt: (place: number) => Row | undefined): number {
  const first = Array.from({ length: WIDTHS.measured }, (_, place) => rowAt(place)?.cells?.[column]?.length ?? 0);
  const longest = Math.max(heading.length, ...first);
  return Math.round(Math.min(WIDTHS.widest, Math.max(WIDTHS.narrowest, longest * WIDTHS.letter + WIDTHS.padding)));
}

/** The number of the row, and what is wrong with it, in words. */
const RowHead = memo(function RowHead({ row, width }: { row: Row | undefined; width: number }) {
  const [fault, ...more] = row?.issues.filter(({ severity }) => severity === 'error') ?? [];
  const others = new Set(more.map(({ code }) => code).filter((code) => code !== fault?.code)).size;
  return (
    <div role="rowheader" aria-colindex={1} className="row-head" style={{ width }}>
      <span className="num">{row ? number(row.row) : '…'}</span>
      {fault && (
        <span className="cut word small warn toned" title={fault.message}>
          {faultWord(fault.code)}
          {others > 0 && ` +${others}`}
        </span>
      )}
    </div>
  );
});

/** Signs of a cell that can be seen at the most. */
const MOST_SIGNS = 200;

interface RowProps {
  readonly place: number;
  readonly row: Row | undefined;
  readonly columns: readonly VirtualItem[];
  readonly headings: readonly string[];
  readonly edits: Edits;
  readonly amounts: readonly boolean[];
  /** Columns; none has -1. */
  readonly cursor: number;
  readonly left: number;
  readonly right: number;
  readonly edited: number;
  readonly editor: ReactNode;
}

/** Drawn anew only where something in the row has changed; the grid has the pointer's events. */
const RowCells = memo(function RowCells(props: RowProps) {
  const { place, row, columns, headings, edits, amounts, cursor, left, right, edited, editor } = props;
  return columns.map(({ index, start, size }) => {
    const column = headings[index] ?? '';
    const cell = row?.cells?.[index] ?? '';
    const value = row ? shownValue(edits, { column, row: row.row, cell }) : '';
    const issues = row?.issues.filter((issue) => issue.column === column) ?? [];
    const isIn = index >= left && index <= right;
    const mark =
      value !== cell
        ? 'corrected'
        : issues.some(({ severity }) => severity === 'error')
          ? 'fault'
          : issues.length > 0
            ? 'warning'
            : '';
    return (
      <div
        key={index}
        id={cellId(place, index)}
        role="gridcell"
        aria-colindex={index + 2}
        aria-selected={isIn}
        aria-invalid={mark === 'fault' || undefined}
        className={`cell ${mark}${isIn ? ' in' : ''}${cursor === index ? ' cursor' : ''}${amounts[index] ? ' amount' : ''}`}
        style={{ left: start, width: size }}
      >
        {edited === index && editor ? (
          editor
        ) : (
          <>
            <bdi className="cut grow">{value.length > MOST_SIGNS ? `${value.slice(0, MOST_SIGNS)}…` : value}</bdi>
            {mark && <Icon name={mark === 'corrected' ? 'correct' : 'warn'} />}
            {mark && (
              <span className="unseen">
                {mark === 'corrected'
                  ? `corrected, was ${cell || 'blank'}`
                  : issues.map(({ message }) => message).join(' ')}
              </span>
            )}
          </>
        )}
      </div>
    );
  });
});
