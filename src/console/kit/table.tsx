import type { ReactNode } from 'react';

export interface Column<T> {
  readonly head: string;
  readonly of: (row: T) => ReactNode;
  /** Numbers stand at the right. */
  readonly num?: boolean;
  /** There is room for it on wider screens alone. */
  readonly broad?: boolean;
}

/** The first column names the row. What is wide scrolls by itself, with the keyboard, too; `low`: what is long as well. */
export function Table<T>({
  label,
  rows,
  columns,
  keyOf,
  low = false,
}: {
  label: string;
  rows: readonly T[];
  columns: readonly Column<T>[];
  keyOf: (row: T) => string | number;
  low?: boolean;
}) {
  const look = ({ num, broad }: Column<T>) => `${num ? 'num ' : ''}${broad ? 'broad' : ''}`;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be scrolled with the keyboard
    <section className={low ? 'scroll low' : 'scroll'} tabIndex={0} aria-label={label}>
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.head} scope="col" className={look(column)}>
                {column.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((column, at) =>
                at === 0 ? (
                  <th key={column.head} scope="row">
                    {column.of(row)}
                  </th>
                ) : (
                  <td key={column.head} className={look(column)}>
                    {column.of(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
