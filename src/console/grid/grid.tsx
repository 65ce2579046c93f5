// biome-ignore-all lint/a11y/useSemanticElements: a table of a million rows of which forty are drawn
// biome-ignore-all lint/a11y/useFocusableInteractive: the grid has the focus, and names the cell where the cursor is
import { defaultRangeExtractor, useVirtualizer, type VirtualItem } from '@tanstack/react-virtual';
import {
  type ClipboardEvent,
  type ComponentProps,
  type KeyboardEvent,
  memo,
  type PointerEvent,
  type ReactNode,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import type { Row } from '../../api/schema.js';
import { number } from '../kit/format.js';
import { Icon, type IconName } from '../kit/icons.js';
import { keyName, moved, type Place, within } from './cursor.js';
import type { RowsInView } from './rows.js';
import { useWindow } from './window.js';
import './grid.css';

/** Rows of a run as cells, as many as they are, with the cursor of spreadsheet programs. */

const ROW = 32;
/** Signs of a cell that can be seen at the most. */
const MOST_SIGNS = 200;
/** For the columns that share what the others leave. */
const LEAST_REST = 400;

export interface Cell {
  readonly text: string;
  /** In place of the text. */
  readonly shown?: ReactNode;
  readonly className?: string;
  readonly invalid?: boolean;
  /** A sign, and what it means. */
  readonly mark?: { readonly icon: IconName; readonly note: string } | undefined;
}

/** What a grid shows of its rows. Another one draws all of them anew, so that it is to be kept as long as it is the same. */
export interface Look {
  readonly headings: readonly string[];
  readonly cellOf: (row: Row, column: number) => Cell;
  /** Beside the number of the row, and the heading of it. */
  readonly beside?: (row: Row) => ReactNode;
  readonly besideHeading?: string;
}

type GridState = ReturnType<typeof useGrid>;

/** Where the cursor is, and what is in sight. `widths`: of the columns, below 1 the share of what the others leave; `head`: beside each row. */
export function useGrid(total: number, widths: readonly number[], head: number) {
  const box = useRef<HTMLDivElement>(null);
  const [at, put] = useState<Place>({ row: 0, column: 0 });
  const { width, ...sight } = useWindow(box, total, ROW, ROW);
  const bounds = { rows: total, columns: widths.length, page: sight.page };
  const cursor = within(at, bounds);
  const rest = Math.max(LEAST_REST, width - head - widths.reduce((sum, one) => (one < 1 ? sum : sum + one), 0));
  const widthOf = (one = 0) => (one < 1 ? Math.floor(one * rest) : one);
  const along = useVirtualizer({
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
  useLayoutEffect(() => along.measure(), [along, widths, rest]);

  function go(next: Place): void {
    put(next);
    sight.show(next.row);
    // With a whole column at the left: the end of one, without its heading, tells nothing.
    const startOf = (column: number) => along.getOffsetForIndex(column, 'start')?.[0] ?? 0;
    const needed = along.getOffsetForIndex(next.column, 'auto')?.[0] ?? 0;
    along.scrollToOffset([...widths.keys()].map(startOf).find((start) => start >= needed) ?? needed);
  }

  /** Goes where a key leads, and answers it. `name`: the key that it stands for. */
  function follow(event: KeyboardEvent, name = keyName(event)): Place | undefined {
    const to = total > 0 ? moved(cursor, name, bounds) : undefined;
    if (to) go(to);
    return to;
  }

  return { box, sight, along, head, total, bounds, cursor, put, go, follow };
}

interface GridProps extends ComponentProps<'div'> {
  readonly of: GridState;
  readonly rows: RowsInView;
  readonly look: Look;
  /** The row that is shown beside the grid. */
  readonly open?: number | undefined;
}

/** The grid itself has the focus and names the cell where the cursor is. */
export function Grid({
  of: { box, sight, along, head, total, cursor, put },
  rows,
  look,
  open,
  children,
  ...rest
}: GridProps) {
  const wide = along.getTotalSize();
  const columns = along.getVirtualItems();

  function pointed({ target }: PointerEvent): void {
    const [, row, column] = (target as Element).closest('[role=gridcell]')?.id.split('-') ?? [];
    if (row !== undefined && column !== undefined) put({ row: Number(row), column: Number(column) });
  }

  function copied(event: ClipboardEvent): void {
    const row = rows.at(cursor.row);
    // What is typed into a cell is copied as everywhere.
    if (!row || event.currentTarget !== document.activeElement) return;
    event.preventDefault();
    event.clipboardData.setData('text/plain', look.cellOf(row, cursor.column).text);
  }

  return (
    <div
      ref={box}
      className="grid"
      role="grid"
      tabIndex={0}
      aria-rowcount={total + 1}
      aria-colcount={look.headings.length + 1}
      aria-activedescendant={sight.places.includes(cursor.row) ? cellId(cursor.row, cursor.column) : undefined}
      onCopy={copied}
      onPointerDown={(event) => event.button === 0 && pointed(event)}
      {...rest}
    >
      <div role="row" aria-rowindex={1} className="grid-row heads" style={{ width: wide }}>
        <div role="columnheader" aria-colindex={1} className="row-head" style={{ width: head }}>
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
      <div role="presentation" className="tall" style={{ height: sight.height, width: wide }}>
        <div ref={sight.pane} role="rowgroup">
          {sight.places.map((place) => {
            const row = rows.at(place);
            return (
              <GridRow
                // Rows that are scrolled out of sight are used again for those that come.
                key={place % sight.places.length}
                {...{ place, row, columns, look, wide, head }}
                isOpen={open !== undefined && row?.row === open}
                cursor={cursor.row === place ? cursor.column : -1}
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
export function OverCell({ of: { sight, along }, place, children }: OverCellProps) {
  const { start = 0, size = 0 } = along.getVirtualItems().find(({ index }) => index === place.column) ?? {};
  const below = Math.min(place.row - (sight.places[0] ?? 0), sight.places.length);
  return (
    <div role="row" aria-rowindex={place.row + 2} className="over" style={{ top: below * ROW }}>
      <div role="gridcell" aria-colindex={place.column + 2} className="cell" style={{ left: start, width: size }}>
        {children}
      </div>
    </div>
  );
}

interface OverCellProps {
  readonly of: GridState;
  readonly place: Place;
  readonly children: ReactNode;
}

const cellId = (row: number, column: number) => `cell-${row}-${column}`;

interface RowProps {
  readonly place: number;
  /** Undefined while it is on its way. */
  readonly row: Row | undefined;
  readonly columns: readonly VirtualItem[];
  readonly look: Look;
  readonly wide: number;
  readonly head: number;
  readonly isOpen: boolean;
  /** Columns; none has -1. */
  readonly cursor: number;
}

/** Drawn anew only where something of it has changed: while it is scrolled, nothing has. The grid has the pointer's events. */
const GridRow = memo(function GridRow({ place, row, columns, look, wide, head, isOpen, cursor }: RowProps) {
  return (
    <div role="row" aria-rowindex={place + 2} className={`grid-row${isOpen ? ' open' : ''}`} style={{ width: wide }}>
      <div role="rowheader" aria-colindex={1} className="row-head" style={{ width: head }}>
        <span className="num">{row ? number(row.row) : '…'}</span>
        {row && look.beside?.(row)}
      </div>
      {columns.map(({ index, start, size }) => {
        const { text, shown, className = '', invalid, mark } = row ? look.cellOf(row, index) : NOT_YET;
        return (
          <div
            key={index}
            id={cellId(place, index)}
            role="gridcell"
            aria-colindex={index + 2}
            aria-selected={cursor === index}
            aria-invalid={invalid || undefined}
            className={`cell ${className}${cursor === index ? ' cursor' : ''}`}
            style={{ left: start, width: size }}
          >
            {shown ?? (
              <bdi className="cut grow">{text.length > MOST_SIGNS ? `${text.slice(0, MOST_SIGNS)}…` : text}</bdi>
            )}
            {mark && <Icon name={mark.icon} />}
            {mark && <span className="unseen">{mark.note}</span>}
          </div>
        );
      })}
    </div>
  );
});

const NOT_YET: Cell = { text: '' };
