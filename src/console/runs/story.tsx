import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { useSearchParams } from 'wouter';
import type { RunDetail, Story } from '../../api/schema.js';
import type { IssueCode } from '../../model/issue.js';
import { advice, outcomeWords } from '../../report/words.js';
import { Fault } from '../app/faults.js';
import { useShortcuts } from '../app/keys.js';
import { storyQuery } from '../app/queries.js';
import { exactly, number } from '../kit/format.js';
import { Button, OutcomeBadge, Prose, Skeleton } from '../kit/parts.js';
import { OldNew } from '../kit/plan.js';

/** What happened to one row: cells → what was found → the decision → what was sent → outcome. */
export function StoryPanel({ run, row }: { run: RunDetail; row: number }) {
  const [, setParams] = useSearchParams();
  const onClose = () =>
    setParams((before) => {
      const next = new URLSearchParams(before);
      next.delete('row');
      return next;
    });
  const { data: story, error } = useQuery(storyQuery(run.id, row));
  const panel = useRef<HTMLElement>(null);
  useShortcuts([{ keys: 'Escape', what: 'Close the row', run: onClose }]);
  // Another row begins at its top.
  useEffect(() => {
    panel.current?.scrollTo({ top: 0 });
  }, [row]);
  return (
    <aside ref={panel} className="card story" aria-label={`Row ${row}`}>
      <header>
        <h2 className="grow wrap">
          Row {number(row)}
          {story?.key && (
            <>
              {' · '}
              <bdi>{story.key}</bdi>
            </>
          )}
        </h2>
        <Button look="quiet" icon="close" aria-label="Close the row" onClick={onClose} />
      </header>
      {error ? (
        <Fault error={error} />
      ) : story ? (
        <Told run={run} story={story} />
      ) : (
        <Skeleton what="the row" lines={8} />
      )}
    </aside>
  );
}

function Told({ run, story }: { run: RunDetail; story: Story }) {
  const { outcome, issues, changes, sent, found } = story;
  const words = outcome ? outcomeWords(outcome, run.dry_run, run.kind) : undefined;
  return (
    <ol className="told">
      <li>
        <h3>{run.kind === 'undo' ? 'The record' : 'The cells'}</h3>
        <Cells story={story} />
      </li>
      <li>
        <h3>What was found</h3>
        {issues.length === 0 ? (
          <p className="soft">No fault.</p>
        ) : (
          <ul className="found">
            {issues.map(({ code, severity, message, column, value, origin }) => (
              <li key={`${code} ${column} ${message}`} className={severity === 'error' ? 'warn' : 'calm'}>
                <p>
                  {column && (
                    <strong>
                      <bdi>{column}</bdi>:{' '}
                    </strong>
                  )}
                  <Prose>{message}</Prose>
                </p>
                {value !== undefined && value !== '' && <bdi className="value fault">{value}</bdi>}
                <p className="soft small">
                  {advice(code as IssueCode)} <code>{code}</code>
                  {origin === 'service' && ', said by the service'}
                </p>
              </li>
            ))}
          </ul>
        )}
      </li>
      <li>
        <h3>The decision</h3>
        {changes.length === 0 ? (
          <p className="soft">{decided(story)}</p>
        ) : (
          <ul className="changes">
            {changes.map(({ field, old, new: now, kind }) => (
              <li key={field}>
                <bdi className="soft">{field}</bdi>
                <OldNew old={old} to={now} kind={kind} />
              </li>
            ))}
          </ul>
        )}
        {found && (
          <details>
            <summary className="small">The record {found.id} as it was before</summary>
            <pre className="mono">{JSON.stringify(found.record, null, 2)}</pre>
          </details>
        )}
      </li>
      <li>
        <h3>What was sent</h3>
        {sent ? (
          <p>
            {sent.operation === 'create' ? 'A new record' : 'An update of the record'}
            {sent.times > 1 ? `, ${number(sent.times)} times` : ''}
            {sent.at && (
              <>
                , <time dateTime={sent.at}>{exactly(sent.at)}</time>
              </>
            )}
            .
          </p>
        ) : (
          <p className="soft">Nothing{run.dry_run ? ': this is a dry run' : ''}.</p>
        )}
      </li>
      <li>
        <h3>The outcome</h3>
        {outcome && words ? (
          <>
            <p>
              <OutcomeBadge kind={outcome} dryRun={run.dry_run} run={run.kind} />
              {story.id !== null && <span className="soft"> Id {story.id}</span>}
            </p>
            <p>{words.meaning}</p>
            {words.next && (
              <p>
                <Prose>{words.next}</Prose>
              </p>
            )}
          </>
        ) : (
          <p className="soft">The run has not come to it yet.</p>
        )}
      </li>
    </ol>
  );
}

function decided({ outcome }: Story): string {
  if (outcome === 'created') return 'No record has this key: a new one.';
  if (outcome === 'unchanged') return 'The record has these values already.';
  if (outcome === null) return 'None yet.';
  return 'No record is changed.';
}

/** Those that are blank, and should be, are only counted. */
function Cells({ story: { cells, headings, corrected, issues } }: { story: Story }) {
  const faulty = new Set(issues.map(({ column }) => column));
  if (cells.length === 0) return <p className="soft">None are kept.</p>;
  const all = headings.map((heading, at) => ({ heading, at, text: cells[at] ?? '', fault: faulty.has(heading) }));
  const shown = all.filter(({ text, fault, at }) => text !== '' || fault || corrected.includes(at));
  return (
    <>
      <dl className="facts cells">
        {shown.map(({ heading, at, text, fault }) => (
          <Cell key={at} heading={heading} fault={fault} corrected={corrected.includes(at)}>
            {text}
          </Cell>
        ))}
      </dl>
      {shown.length < all.length && (
        <p className="soft small">
          {shown.length === 0 ? 'All' : `${number(all.length - shown.length)} more`} are blank.
        </p>
      )}
    </>
  );
}

function Cell({
  heading,
  fault,
  corrected,
  children,
}: {
  heading: string;
  fault: boolean;
  corrected: boolean;
  children: string;
}) {
  return (
    <>
      <dt>
        <bdi>{heading}</bdi>
      </dt>
      <dd>
        {children === '' ? (
          <span className={fault ? 'toned warn' : 'soft'}>blank</span>
        ) : (
          <bdi className={fault ? 'value fault' : ''}>{children}</bdi>
        )}
        {corrected && <span className="soft small"> corrected</span>}
      </dd>
    </>
  );
}
