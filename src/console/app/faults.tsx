import { useQueryClient } from '@tanstack/react-query';
import { Component, type ReactNode } from 'react';
import { timeOfDay } from '../kit/format.js';
import { Button, ButtonLink, Empty, Notice, Skeleton } from '../kit/parts.js';
import { ApiError } from './client.js';

/** In place of a page whose data are not there: they are on their way, or why they do not come. */
export function NotThere({ page, error }: { page: string; error: unknown }) {
  return (
    <div className="stack">
      <h1>{page}</h1>
      {error ? <Fault error={error} /> : <Skeleton what={page} lines={8} />}
    </div>
  );
}

/** What cannot be shown: why, and what to do. */
export function Fault({ error }: { error: unknown }) {
  const queries = useQueryClient();
  if (!(error instanceof ApiError)) {
    return (
      <Notice tone="bad" title="The page has a fault of its own">
        <p>{messageOf(error)}</p>
        <div>
          <Button onClick={() => location.reload()}>Load the page again</Button>
        </div>
      </Notice>
    );
  }
  if (error.status === 403 || error.status === 404) {
    return (
      <Empty title={error.status === 403 ? 'You may not see this' : 'There is no such thing here'}>
        <p>{error.message}</p>
        <ButtonLink href="/">To the overview</ButtonLink>
      </Empty>
    );
  }
  return (
    <Notice tone="bad" title={error.passing ? 'No connection' : 'That did not work'}>
      <p>{error.message}</p>
      <Details error={error} />
      <div>
        <Button onClick={() => void queries.resetQueries({ type: 'active' })}>Try again</Button>
      </div>
    </Notice>
  );
}

/** What a button began and could not do, beside the button. */
export function Refused({ error }: { error: unknown }) {
  if (error === null || error === undefined) return null;
  return (
    <Notice tone="bad" title={messageOf(error)}>
      <Details error={error} />
    </Notice>
  );
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function Details({ error }: { error: unknown }) {
  if (!(error instanceof ApiError) || error.details.length === 0) return null;
  return (
    <ul>
      {error.details.map((detail) => (
        <li key={detail}>{detail}</li>
      ))}
    </ul>
  );
}

/** Runs go on whether somebody looks or not. */
export function ConnectionLost({ lastSeen }: { lastSeen: Date | null }) {
  return (
    <Notice tone="warn" icon="off" title="Connection lost">
      <p>What runs goes on. {lastSeen ? `Last seen ${timeOfDay(lastSeen)}.` : ''} The page tries again by itself.</p>
    </Notice>
  );
}

/** A fault in a page leaves the shell as it is. */
export class Guard extends Component<{ children: ReactNode }, { error: unknown }> {
  override state = { error: undefined as unknown };
  static getDerivedStateFromError(error: unknown) {
    return { error };
  }
  override render() {
    const { error } = this.state;
    return error === undefined ? this.props.children : <NotThere error={error} page="That did not work" />;
  }
}
