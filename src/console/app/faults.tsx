import { Component, type ReactNode } from 'react';
import { timeOfDay } from '../kit/format.js';
import { Button, ButtonLink, Notice, Skeleton } from '../kit/parts.js';
import { ApiError } from './client.js';
import { client } from './queries.js';

/** In place of data that are not there: they are on their way, or why they do not come. */
export function Pending({ error, what }: { error: unknown; what: string }) {
  return error ? <FaultNotice error={error} /> : <Skeleton what={what} />;
}

export function PagePending({ page, error }: { page: string; error: unknown }) {
  return (
    <div className="stack">
      <h1>{page}</h1>
      <Pending error={error} what={page} />
    </div>
  );
}

/** What cannot be shown: why, and what to do. */
export function FaultNotice({ error }: { error: unknown }) {
  if (!(error instanceof ApiError)) {
    const reload = <Button onClick={() => location.reload()} word="Load the page again" />;
    return <ActionError error={error} title="The page cannot be shown" more={reload} />;
  }
  const foreign = { 403: 'You may not see this', 404: 'There is no such thing here' }[error.status];
  if (foreign)
    return <ActionError error={error} title={foreign} more={<ButtonLink href="/" word="To the overview" />} />;
  const again = <Button onClick={() => void client.resetQueries({ type: 'active' })} word="Try again" />;
  return <ActionError error={error} title={error.isTransient ? 'No connection' : 'That did not work'} more={again} />;
}

/** What a button began and could not do, beside the button. */
export function ActionError({ error, title, more }: { error: unknown; title?: string; more?: ReactNode }) {
  if (error === null || error === undefined) return null;
  const message = error instanceof Error ? error.message : String(error);
  const details = error instanceof ApiError ? error.details : [];
  return (
    <Notice tone="bad" title={title ?? message}>
      {title && <p>{message}</p>}
      {details.length > 0 && (
        <ul>
          {details.map((detail) => (
            <li key={detail}>{detail}</li>
          ))}
        </ul>
      )}
      {more}
    </Notice>
  );
}

/** A run goes on while nobody looks, and where its worker died it is taken up again. */
export function ConnectionLost({ lastSeen }: { lastSeen: Date }) {
  return (
    <Notice tone="warn" icon="off" title="Connection lost">
      <p>The run does not need this page. Last seen {timeOfDay(lastSeen)}. The page tries again by itself.</p>
    </Notice>
  );
}

/** A fault in a page leaves the shell as it is. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state = { error: undefined as unknown };
  static getDerivedStateFromError(error: unknown) {
    return { error };
  }
  override render() {
    const { error } = this.state;
    return error === undefined ? this.props.children : <PagePending error={error} page="That did not work" />;
  }
}
