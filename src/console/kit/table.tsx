import type { ReactNode } from 'react';

export interface Column<T> {
  readonly head: ReactNode;
  readonly of: (row: T) => ReactNode;
  readonly num?: boolean;
  /** There is room for it on wider screens alone. */
  readonly broad?: boolean;
  /** It names the row; else the first one does. */
  readonly names?: boolean;
}

interface TableProps<T> {
  readonly label: string;
  readonly rows: readonly T[];
  readonly columns: readonly Column<T>[];
  readonly keyOf: (row: T) => string | number;
  /** What is long scrolls, too. */
  readonly low?: boolean;
  readonly className?: string;
}

/** What is wide scrolls by itself, with the keyboard, too. */
export function Table<T>({ label, rows, columns, keyOf, low = false, className }: TableProps<T>) {
  const classOf = ({ num, broad }: Column<T>) => `${num ? 'num ' : ''}${broad ? 'broad' : ''}`;
  const names = columns.find((column) => column.names) ?? columns[0];
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be scrolled with the keyboard
    <section className={low ? 'scroll low' : 'scroll'} tabIndex={0} aria-label={label}>
      <table className={className}>
        <thead>
          <tr>
            {columns.map((column, at) => (
              <th key={at} scope="col" className={classOf(column)}>
                {column.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((column, at) => {
                const Cell = column === names ? 'th' : 'td';
                return (
                  <Cell key={at} scope={column === names ? 'row' : undefined} className={classOf(column)}>
                    {column.of(row)}
                  </Cell>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
