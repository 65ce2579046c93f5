import { Link } from 'wouter';
import type { Night } from '../../api/schema.js';
import { number, shortDay, when } from '../kit/format.js';
import { ButtonLink, Card, StateBadge, stateWord } from '../kit/parts.js';
import { Table } from '../kit/table.js';

const FIGURES: readonly { readonly head: string; readonly of: (night: Night) => number }[] = [
  { head: 'Rows', of: ({ rows }) => rows },
  { head: 'Differences', of: ({ differences }) => differences },
  { head: 'New orphans', of: ({ new_orphans }) => new_orphans },
];

const dayOf = ({ started_at }: Night) => shortDay(started_at);

/** The nights side by side, each a column of small bars to press; for the keyboard and for screen readers the same as a table. */
export function Chart({ nights, chosen }: { nights: readonly Night[]; chosen: Night }) {
  const at = nights.indexOf(chosen);
  const figures = FIGURES.map(({ head, of }) => ({ head, of, most: Math.max(1, ...nights.map(of)) }));
  return (
    <Card
      title={nights.length === 1 ? 'The one night so far' : `The last ${nights.length} nights`}
      beside={
        <nav className="line" aria-label="Nights before and after">
          <Step to={nights[at - 1]} word="Earlier" icon="back" />
          <Step to={nights[at + 1]} word="Later" icon="next" />
        </nav>
      }
    >
      <div className="chart" aria-hidden="true">
        <div className="night key">
          {figures.map(({ head, of, most }) => (
            <span key={head}>
              <strong>{number(of(chosen))}</strong>
              <span className="soft small">
                {head}
                <span className="broad">, at most {number(most)}</span>
              </span>
            </span>
          ))}
          <span className="soft small">{dayOf(nights[0] ?? chosen)}</span>
        </div>
        {nights.map((night) => (
          <Link
            key={night.run}
            href={`?run=${night.run}`}
            tabIndex={-1}
            title={[
              dayOf(night),
              stateWord(night.status),
              ...figures.map(({ head, of }) => `${head}: ${number(of(night))}`),
            ].join('\n')}
            className={`night ${night.status === 'braked' ? 'bad' : 'info'}${night === chosen ? ' chosen' : ''}`}
          >
            {figures.map(({ head, of, most }) => (
              <span key={head}>
                <i style={{ height: `${(of(night) / most) * 100}%` }} />
              </span>
            ))}
            <span className="toned">{night.status === 'braked' ? '×' : ''}</span>
          </Link>
        ))}
      </div>
      {nights.some(({ status }) => status === 'braked') && (
        <p className="soft small" aria-hidden="true">
          <span className="toned bad">× red</span>: stopped by a brake
        </p>
      )}
      <details>
        <summary>The same as a table</summary>
        <Table
          low
          label="Nights"
          rows={nights.toReversed()}
          keyOf={({ run }) => run}
          columns={[
            {
              head: 'Night',
              of: (night) => (
                <Link href={`?run=${night.run}`} className="cut">
                  {when(night.started_at)}
                </Link>
              ),
            },
            { head: 'How it ended', of: ({ status }) => <StateBadge state={status} /> },
            ...FIGURES.map(({ head, of }) => ({ head, of: (night: Night) => number(of(night)), num: true })),
          ]}
        />
      </details>
    </Card>
  );
}

function Step({ to, word, icon }: { to: Night | undefined; word: string; icon: 'back' | 'next' }) {
  if (!to) return null;
  return (
    <ButtonLink look="quiet" icon={icon} href={`?run=${to.run}`}>
      {word}: {dayOf(to)}
    </ButtonLink>
  );
}
