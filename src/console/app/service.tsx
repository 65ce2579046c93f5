import { useQuery } from '@tanstack/react-query';
import type { Overview } from '../../api/schema.js';
import { counted, oneDecimal, timeOfDay } from '../kit/format.js';
import { Badge } from '../kit/parts.js';
import { overviewQuery } from './queries.js';

type ServiceHealth = Overview['service'];

const POLL_MS = 5_000;

const isPaused = ({ paused_until: until }: ServiceHealth) => until !== null && new Date(until) > new Date();

export function Service({ service }: { service: ServiceHealth }) {
  const { ok, rate, waiting, paused_until: until } = service;
  const [tone, icon, text] =
    ok === null
      ? (['calm', 'clock', 'The service was not asked yet'] as const)
      : !ok
        ? (['bad', 'bad', 'The service does not answer'] as const)
        : isPaused(service)
          ? (['warn', 'clock', `The service asked for a pause until ${timeOfDay(until ?? '')}`] as const)
          : (['good', 'check', 'The service answered when last asked'] as const);
  return (
    <p className="line wide soft">
      <Badge tone={tone} icon={icon} word={text} />
      {rate !== null && <span>It bears {oneDecimal(rate)} requests a second</span>}
      {waiting > 0 && <span>{counted(waiting, 'request waits for its turn', 'requests wait for their turn')}</span>}
    </p>
  );
}

/** The same, only where it is what a run waits for. */
export function ServiceTrouble() {
  const { data } = useQuery({ ...overviewQuery, refetchInterval: POLL_MS });
  return data && (data.service.ok === false || isPaused(data.service)) ? <Service service={data.service} /> : null;
}
