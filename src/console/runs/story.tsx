import { useQuery } from '@tanstack/react-query';
import type { RunDetail, Story } from '../../api/schema.js';
import { outcomeWords } from '../../report/wording.js';
import { Pending } from '../app/faults.js';
import { useLabels } from '../app/fields.js';
import { storyQuery } from '../app/queries.js';
import { useUrlParams } from '../app/shell.js';
import { exactly, joinParts, number } from '../kit/format.js';
import { Button, Facts, Prose } from '../kit/parts.js';
import { OutcomeBadge } from './outcomes.js';
import { ValueChange } from './plan.js';

/** What happened to one row: cells → what was found → the decision → what was sent → outcome. */
export function StoryPanel({ run, row }: { run: RunDetail; row: number }) {
  const [, set] = useUrlParams();
  const close = () => set({ row: '' });
  const { data: story, error } = useQuery(storyQuery(run.id, row));
  return (
    // Another row begins at its top.
    <aside key={row} className="card story" aria-label={`Row ${row}`}>
      <header>
        <h2 className="grow wrap">
          Row {number(row)}
          {story?.key && ' · '}
          <bdi>{story?.key}</bdi>
        </h2>
        <Button look="quiet" icon="close" aria-label="Close the row" aria-keyshortcuts="Escape" onClick={close} />
      </header>
      {story ? <StoryDetails run={run} story={story} /> : <Pending error={error} what="the row" />}
    </aside>
  );
}

function StoryDetails({ run, story }: { run: RunDetail; story: Story }) {
  const { outcome, issues, changes, sent, found } = story;
  const words = outcome ? outcomeWords(outcome, run.dry_run, run.kind) : undefined;
  const label = useLabels(run.resource);
  return (
    <ol className="told stack">
      <li>
        <h3>{run.kind === 'undo' ? 'The record' : 'The cells'}</h3>
        <Cells story={story} />
      </li>
      <li>
        <h3>What was found</h3>
        {issues.length === 0 ? (
          <p className="soft">No fault.</p>
        ) : (
          <ul className="found stack">
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
                {value !== undefined && value !== '' && <bdi className="value warn">{value}</bdi>}
                <p className="soft small">
                  <code>{code}</code>
                  {origin === 'service' && ', said by the service'}
                </p>
              </li>
            ))}
          </ul>
        )}
      </li>
      <li>
        <h3>The decision</h3>
        {changes.length === 0 && <p className="soft">No record is changed.</p>}
        {outcome === 'created' && <p className="soft">No record has this key: a new one.</p>}
        {changes.length > 0 && (
          <ul className="pairs stack tight">
            {changes.map(({ field, old, new: now, kind }) => (
              <li key={field}>
                <bdi className="soft">{label(field)}</bdi>
                <ValueChange old={old} to={now} kind={kind} />
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
            {joinParts(
              sent.operation === 'create' ? 'A new record' : 'An update of the record',
              sent.times > 1 && `${number(sent.times)} times`,
              sent.at && exactly(sent.at),
            )}
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
              <OutcomeBadge kind={outcome} run={run} />
              {story.id !== null && <span className="soft"> Id {story.id}</span>}
            </p>
            <p>{words.meaning}</p>
            {words.next && <Prose as="p">{words.next}</Prose>}
          </>
        ) : (
          <p className="soft">The run has not come to it yet.</p>
        )}
      </li>
    </ol>
  );
}

/** Blank ones only where that is what was found. */
function Cells({ story: { cells, headings, corrected, issues } }: { story: Story }) {
  if (cells.length === 0) return <p className="soft">None are kept.</p>;
  const facts = headings.map((heading, at) => {
    const text = cells[at] ?? '';
    const isFaulty = issues.some(({ column }) => column === heading);
    const isCorrected = corrected.includes(at);
    const fact = (text !== '' || isFaulty || isCorrected) && (
      <>
        {text === '' && <span className={isFaulty ? 'toned warn' : 'soft'}>blank</span>}
        <bdi className={isFaulty && text !== '' ? 'value warn' : ''}>{text}</bdi>
        {isCorrected && <span className="soft small"> corrected</span>}
      </>
    );
    return [<bdi key="heading">{heading}</bdi>, fact] as const;
  });
  return <Facts of={facts} />;
}
