import { Link } from 'wouter';
import type { Night } from '../../api/schema.js';
import { Bars } from '../kit/bars.js';
import { shortDay, when } from '../kit/format.js';
import { ButtonLink, Card, StateBadge } from '../kit/parts.js';

const dayOf = ({ started_at }: Night) => shortDay(started_at);
const hrefOf = ({ run }: Night) => `?run=${run}`;
const isStopped = ({ status }: Night) => status === 'braked';
const tone = (night: Night) => (isStopped(night) ? 'bad' : 'info');

export function Chart({ nights, chosen }: { nights: readonly Night[]; chosen: Night }) {
  const at = nights.indexOf(chosen);
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
      <Bars
        label="Nights"
        all={nights}
        keyOf={({ run }) => run}
        nameOf={dayOf}
        chosen={chosen}
        hrefOf={hrefOf}
        markOf={(night) => (isStopped(night) ? '×' : '')}
        columns={[
          {
            head: 'Night',
            of: (night) => (
              <Link href={hrefOf(night)} className="cut">
                {when(night.started_at)}
              </Link>
            ),
          },
          { head: 'How it ended', of: ({ status }) => <StateBadge state={status} /> },
        ]}
        series={[
          { head: 'Rows', of: ({ rows }) => rows, tone },
          { head: 'Differences', of: ({ differences }) => differences, tone },
          { head: 'New orphans', of: ({ new_orphans }) => new_orphans, tone },
        ]}
      />
      {nights.some(isStopped) && (
        <p className="soft small" aria-hidden="true">
          <span className="toned bad">× red</span>: stopped by a brake
        </p>
      )}
    </Card>
  );
}

function Step({ to, word, icon }: { to: Night | undefined; word: string; icon: 'back' | 'next' }) {
  if (!to) return null;
  return (
    <ButtonLink look="quiet" icon={icon} href={hrefOf(to)}>
      {word}: {dayOf(to)}
    </ButtonLink>
  );
}
