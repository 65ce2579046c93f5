import { Link } from 'wouter';
import { number } from './format.js';
import type { Tone } from './parts.js';
import { type Column, Table } from './table.js';

export interface Series<T> {
  readonly head: string;
  readonly of: (one: T) => number;
  readonly tone: (one: T) => Tone;
}

/**
 * Days or nights side by side, each a column of bars: one upon the other (`stacked`), or each on a line of its own. For the
 * keyboard and for screen readers the same stands below as a table.
 */
export function Bars<T>({
  label,
  all,
  keyOf,
  nameOf,
  columns,
  series,
  stacked = false,
  hrefOf,
  chosen,
  markOf,
}: {
  label: string;
  all: readonly T[];
  keyOf: (one: T) => string;
  nameOf: (one: T) => string;
  /** Of the table, before the numbers. */
  columns: readonly Column<T>[];
  series: readonly Series<T>[];
  stacked?: boolean;
  /** Where a press leads. */
  hrefOf?: (one: T) => string;
  chosen?: T;
  /** Stands below. */
  markOf?: (one: T) => string;
}) {
  const lines = (stacked ? [series] : series.map((one) => [one])).map((parts) => {
    const sum = (one: T) => parts.reduce((n, { of }) => n + of(one), 0);
    return { parts, sum, head: stacked ? 'Rows' : (parts[0]?.head ?? ''), most: Math.max(1, ...all.map(sum)) };
  });
  const told = (one: T) => [nameOf(one), ...series.map(({ head, of }) => `${head}: ${number(of(one))}`)].join('\n');
  const bars = (one: T) => (
    <>
      {lines.map(({ parts, head, most }) => (
        <span key={head}>
          {parts.map(({ head: part, of, tone }) => (
            <i key={part} className={tone(one)} style={{ height: `${(of(one) / most) * 100}%` }} />
          ))}
        </span>
      ))}
      {markOf && <span className="toned bad">{markOf(one)}</span>}
    </>
  );
  const ends = new Set([...all.slice(0, 1), ...all.slice(-1)].map(nameOf));
  return (
    <>
      <div className={stacked ? 'bars stacked' : 'bars'} aria-hidden="true">
        <div className="key">
          {lines.map(({ head, sum, most }) => (
            <span key={head}>
              {chosen !== undefined && <strong>{number(sum(chosen))}</strong>}
              <span className="soft small">
                {head}
                <span className={chosen === undefined ? '' : 'broad'}>, at most {number(most)}</span>
              </span>
            </span>
          ))}
        </div>
        {all.map((one) =>
          hrefOf ? (
            <Link
              key={keyOf(one)}
              href={hrefOf(one)}
              tabIndex={-1}
              title={told(one)}
              className={one === chosen ? 'chosen' : ''}
            >
              {bars(one)}
            </Link>
          ) : (
            <div key={keyOf(one)} title={told(one)}>
              {bars(one)}
            </div>
          ),
        )}
      </div>
      <p className="small soft" aria-hidden="true">
        {[...ends].join(' – ')}
      </p>
      <details>
        <summary className="soft small">The same as a table</summary>
        <Table
          low
          label={label}
          rows={all.toReversed()}
          keyOf={keyOf}
          columns={[
            ...columns,
            ...series.map(({ head, of }) => ({ head, of: (one: T) => number(of(one)), num: true })),
          ]}
        />
      </details>
    </>
  );
}
