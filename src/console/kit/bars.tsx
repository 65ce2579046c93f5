import { Link } from 'wouter';
import { number } from './format.js';
import type { Tone } from './parts.js';
import { type Column, Table } from './table.js';

interface BarsProps<T> {
  readonly label: string;
  readonly all: readonly T[];
  readonly keyOf: (one: T) => string;
  readonly nameOf: (one: T) => string;
  /** Of the table, before the numbers. */
  readonly columns: readonly Column<T>[];
  readonly series: readonly { head: string; of: (one: T) => number; tone: (one: T) => Tone }[];
  /** One upon the other; else each on a line of its own. */
  readonly stacked?: boolean;
  readonly hrefOf?: (one: T) => string;
  readonly chosen?: T;
  /** Stands below. */
  readonly markOf?: (one: T) => string;
}

/** Days or nights side by side, each a column of bars. For the keyboard and for screen readers the same stands below as a table. */
export function Bars<T>(props: BarsProps<T>) {
  const { label, all, keyOf, nameOf, columns, series, stacked = false, hrefOf, chosen, markOf } = props;
  const lines = (stacked ? [series] : series.map((one) => [one])).map((parts) => {
    const sum = (one: T) => parts.reduce((n, { of }) => n + of(one), 0);
    return { parts, sum, head: stacked ? 'Rows' : (parts[0]?.head ?? ''), most: Math.max(0, ...all.map(sum)) };
  });
  const tooltipOf = (one: T) =>
    [nameOf(one), ...series.map(({ head, of }) => `${head}: ${number(of(one))}`)].join('\n');
  const bars = (one: T) => (
    <>
      {lines.map(({ parts, head, most }) => (
        <span key={head}>
          {parts.map(({ head: part, of, tone }) => (
            <i key={part} className={tone(one)} style={{ height: `${(of(one) / (most || 1)) * 100}%` }} />
          ))}
        </span>
      ))}
      {markOf && <span className="toned bad">{markOf(one)}</span>}
    </>
  );
  const ends = new Set([...all.slice(0, 1), ...all.slice(-1)].map(nameOf));
  const numbers = series.map(({ head, of }) => ({ head, of: (one: T) => number(of(one)), num: true }));
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
        {all.map((one) => {
          const look = { title: tooltipOf(one), className: one === chosen ? 'chosen' : '', children: bars(one) };
          if (!hrefOf) return <div key={keyOf(one)} {...look} />;
          return <Link key={keyOf(one)} href={hrefOf(one)} tabIndex={-1} {...look} />;
        })}
      </div>
      <p className="small soft" aria-hidden="true">
        {[...ends].join(' – ')}
      </p>
      <details>
        <summary className="soft small">The same as a table</summary>
        <Table low label={label} rows={all.toReversed()} keyOf={keyOf} columns={[...columns, ...numbers]} />
      </details>
    </>
  );
}
