// biome-ignore-all lint/a11y/useSemanticElements: a table of a million rows of which forty are drawn
// biome-ignore-all lint/a11y/useFocusableInteractive: the grid has the focus, and names the cell where the cursor is
import { defaultRangeExtractor, useVirtualizer, type VirtualItem } from '@tanstack/react-virtual';
import type { ClipboardEvent, ComponentProps, CSSProperties, KeyboardEvent, PointerEvent, ReactNode } from 'react';
import { memo, type SyntheticEvent, useLayoutEffect, useRef, useState } from 'react';
import type { Row } from '../../api/schema.js';
import { number } from '../kit/format.js';
import { Icon, type IconName } from '../kit/icons.js';
import { toast } from '../kit/toast.js';
import { toTsv } from './clipboard.js';
import { type CellPosition, clampTo, keyName, moveCursor, rangeOf, type Selection, selectCell } from './cursor.js';
import type { RowsInView } from './rows.js';
import { useWindow } from './window.js';
import './grid.css';

/** Rows of a run as cells, as many as they are, with the cursor and the selection of spreadsheet programs. */

const ROW_HEIGHT = 32;
/** Signs of a cell that can be seen at the most. */
const MOST_CHARACTERS = 200;
/** As many cells are copied or changed at once; a run takes as many corrections. */
const MOST_CELLS = 10_000;
/** For the columns that share what the others leave. */
const MIN_SHARED_WIDTH = 400;

export interface Cell {
  readonly text: string;
  /** In place of the text. */
  readonly content?: ReactNode;
  readonly className?: string;
  readonly invalid?: boolean;
  readonly mark?: { readonly icon: IconName; readonly note: string } | undefined;
}

/** What a grid shows of its rows. Another one draws all of them anew, so that it is to be kept as long as it is the same. */
export interface GridContent {
  readonly headings: readonly string[];
  readonly cellOf: (row: Row, column: number) => Cell;
  /** Beside the number of the row, and the heading of it. */
  readonly beside?: (row: Row) => ReactNode;
  readonly besideHeading?: string;
}

/** True where so many cells may be taken; otherwise it is said that they are too many. */
export function isWithinLimit(cells: number): boolean {
  if (cells > MOST_CELLS) toast(`At most ${number(MOST_CELLS)} cells at once. Change more in the file.`);
  return cells <= MOST_CELLS;
}

type GridState = ReturnType<typeof useGrid>;

/** Where the cursor is, and what is in sight. `widths`: of the columns, below 1 the share of what the others leave; `head`: beside each row. */
export function useGrid(total: number, widths: readonly number[], head: number) {
  const box = useRef<HTMLDivElement>(null);
  const [selection, select] = useState<Selection>(selectCell({ row: 0, column: 0 }));
  const { width, ...viewport } = useWindow(box, total, ROW_HEIGHT, ROW_HEIGHT);
  const bounds = { rows: total, columns: widths.length, page: viewport.page };
  const cursor = clampTo(selection.head, bounds);
  const rest = Math.max(MIN_SHARED_WIDTH, width - head - widths.reduce((sum, one) => (one < 1 ? sum : sum + one), 0));
  const widthOf = (one = 0) => (one < 1 ? Math.floor(one * rest) : one);
  const columnScroll = useVirtualizer({
    horizontal: true,
    count: widths.length,
    getScrollElement: () => box.current,
    estimateSize: (column) => widthOf(widths[column]),
    overscan: 2,
    paddingStart: head,
    scrollPaddingStart: head,
    // The cell that is typed into stays, wherever somebody scrolls.
    rangeExtractor: (seen) => [...new Set([...defaultRangeExtractor(seen), cursor.column])],
  });
  useLayoutEffect(() => columnScroll.measure(), [columnScroll, widths, rest]);

  function moveTo(next: Selection): void {
    select(next);
    viewport.show(next.head.row);
    // With a whole column at the left: the end of one, without its heading, tells nothing.
    const startOf = (column: number) => columnScroll.getOffsetForIndex(column, 'start')?.[0] ?? 0;
    const needed = columnScroll.getOffsetForIndex(next.head.column, 'auto')?.[0] ?? 0;
    columnScroll.scrollToOffset([...widths.keys()].map(startOf).find((start) => start >= needed) ?? needed);
  }

  /** Goes where a key leads, and answers it; with Shift the selection goes along. `name`: the key that it stands for. */
  function moveByKey(event: KeyboardEvent, name = keyName(event)): CellPosition | undefined {
    const extend = event.shiftKey && event.key !== 'Tab';
    const to = total > 0 ? moveCursor(cursor, extend ? name.replace('Shift+', '') : name, bounds) : undefined;
    if (to) moveTo(extend ? { anchor: selection.anchor, head: to } : selectCell(to));
    return to;
  }

  const range = rangeOf(selection);
  const selectedCount = (range.bottom - range.top + 1) * (range.right - range.left + 1);
  return { box, viewport, columnScroll, head, total, bounds, cursor, range, selectedCount, select, moveTo, moveByKey };
}

interface GridProps extends ComponentProps<'div'> {
  readonly of: GridState;
  readonly rows: RowsInView;
  readonly look: GridContent;
  /** The row that is shown beside the grid. */
  readonly open?: number | undefined;
  /** Empties what is selected: it was cut. */
  readonly onClear?: () => void;
}

/** The grid itself has the focus and names the cell where the cursor is. */
export function Grid({ of, rows, look, open, onClear, children, ...rest }: GridProps) {
  const { box, viewport, columnScroll, head, total, cursor, range, selectedCount, select } = of;
  const columns = columnScroll.getVirtualItems();
  const widths = { '--wide': `${columnScroll.getTotalSize()}px`, '--head': `${head}px` } as CSSProperties;

  function selectByPointer(event: PointerEvent, extend: boolean): void {
    const [, row, column] = (event.target as Element).closest('[role=gridcell]')?.id.split('-') ?? [];
    if (row === undefined || column === undefined) return;
    const to = { row: Number(row), column: Number(column) };
    select(({ anchor }) => ({ anchor: extend ? anchor : to, head: to }));
  }

  /** Nothing is typed into a cell. */
  const hasFocus = ({ currentTarget }: SyntheticEvent) => currentTarget === document.activeElement;

  function copySelection(event: ClipboardEvent): boolean {
    if (!hasFocus(event)) return false;
    event.preventDefault();
    if (!isWithinLimit(selectedCount)) return false;
    const { top, left, right } = range;
    const bottom = Math.min(range.bottom, total - 1);
    const selected = Array.from({ length: bottom - top + 1 }, (_, down) => rows.at(top + down));
    if (!selected.every((row) => row !== undefined)) {
      void rows.read(top, bottom);
      toast('Not all of these rows were read yet. Copy once more.');
      return false;
    }
    const columns = [...look.headings.keys()].slice(left, right + 1);
    const texts = selected.map((row) => columns.map((column) => look.cellOf(row, column).text));
    event.clipboardData.setData('text/plain', toTsv(texts));
    return true;
  }

  return (
    <div
      ref={box}
      className="grid"
      style={widths}
      role="grid"
      tabIndex={0}
      aria-rowcount={total + 1}
      aria-colcount={look.headings.length + 1}
      aria-multiselectable
      aria-activedescendant={viewport.places.includes(cursor.row) ? cellId(cursor.row, cursor.column) : undefined}
      onCopy={(event) => void copySelection(event)}
      onCut={(event) => copySelection(event) && onClear?.()}
      onPointerDown={(event) => event.button === 0 && selectByPointer(event, event.shiftKey)}
      onPointerOver={(event) => event.buttons === 1 && hasFocus(event) && selectByPointer(event, true)}
      {...rest}
    >
      <div role="row" aria-rowindex={1} className="grid-row heads">
        <div role="columnheader" aria-colindex={1} className="row-head">
          <span className="num">Row</span>
          <span className="word">{look.besideHeading}</span>
        </div>
        {columns.map(({ index, start, size }) => (
          <div
            key={index}
            role="columnheader"
            aria-colindex={index + 2}
            className="cell cut"
            style={{ left: start, width: size }}
            title={look.headings[index]}
          >
            <bdi>{look.headings[index]}</bdi>
          </div>
        ))}
      </div>
      <div role="presentation" className="tall" style={{ height: viewport.height }}>
        <div ref={viewport.pane} role="rowgroup">
          {viewport.places.map((place) => {
            const row = rows.at(place);
            const isSelected = place >= range.top && place <= range.bottom;
            return (
              <GridRow
                // Rows that are scrolled out of sight are used again for those that come.
                key={place % viewport.places.length}
                {...{ place, row, columns, look }}
                isOpen={open !== undefined && row?.row === open}
                cursor={cursor.row === place ? cursor.column : -1}
                left={isSelected ? range.left : 0}
                right={isSelected ? range.right : -1}
              />
            );
          })}
          {children}
        </div>
      </div>
    </div>
  );
}

/** Over a cell, wherever it is scrolled to: what is typed into it. */
export function OverCell({ of, place, children }: { of: GridState; place: CellPosition; children: ReactNode }) {
  const { viewport, columnScroll } = of;
  const { start = 0, size = 0 } = columnScroll.getVirtualItems().find(({ index }) => index === place.column) ?? {};
  const below = Math.min(place.row - (viewport.places[0] ?? 0), viewport.places.length);
  return (
    <div role="row" aria-rowindex={place.row + 2} className="over" style={{ top: below * ROW_HEIGHT }}>
      <div role="gridcell" aria-colindex={place.column + 2} className="cell" style={{ left: start, width: size }}>
        {children}
      </div>
    </div>
  );
}

const cellId = (row: number, column: number) => `cell-${row}-${column}`;

interface RowProps {
  readonly place: number;
  /** Undefined while it is on its way. */
  readonly row: Row | undefined;
  readonly columns: readonly VirtualItem[];
  readonly look: GridContent;
  readonly isOpen: boolean;
  /** Columns; none has -1. */
  readonly cursor: number;
  readonly left: number;
  readonly right: number;
}

/** Drawn anew only where something of it has changed: while it is scrolled, nothing has. The grid has the pointer's events. */
const GridRow = memo(function GridRow({ place, row, columns, look, isOpen, cursor, left, right }: RowProps) {
  return (
    <div role="row" aria-rowindex={place + 2} className={`grid-row${isOpen ? ' open' : ''}`}>
      <div role="rowheader" aria-colindex={1} className="row-head">
        <span className="num">{row ? number(row.row) : '…'}</span>
        {row && look.beside?.(row)}
      </div>
      {columns.map(({ index, start, size }) => {
        const { text, content, className = '', invalid, mark } = row ? look.cellOf(row, index) : LOADING_CELL;
        const isSelected = index >= left && index <= right;
        return (
          <div
            key={index}
            id={cellId(place, index)}
            role="gridcell"
            aria-colindex={index + 2}
            aria-selected={isSelected}
            aria-invalid={invalid || undefined}
            className={`cell ${className}${isSelected ? ' in' : ''}${cursor === index ? ' cursor' : ''}`}
            style={{ left: start, width: size }}
          >
            {content ?? (
              <bdi className="cut grow">
                {text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text}
              </bdi>
            )}
            {mark && <Icon name={mark.icon} />}
            {mark && <span className="unseen">{mark.note}</span>}
          </div>
        );
      })}
    </div>
  );
});

const LOADING_CELL: Cell = { text: '' };
