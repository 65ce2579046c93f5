import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Run } from '../../api/schema.js';
import { PagePending } from '../app/faults.js';
import { every, runsQuery } from '../app/queries.js';
import { usePageTitle, useUrlParams } from '../app/shell.js';
import { counted, number } from '../kit/format.js';
import { Button, ButtonLink, Card, Chips, Empty, Moment, NameLink } from '../kit/parts.js';
import { Table } from '../kit/table.js';
import { OutcomeBar, STATES, StateBadge } from './outcomes.js';
import { jobWord, kindWord, runName } from './words.js';
import './runs.css';

const PER_PAGE = 50;

/** All runs, newest first; the address holds the filter and the page. */
export default function Runs() {
  usePageTitle('Runs');
  const [params, set] = useUrlParams();
  const { status = '', q = '', after = '' } = Object.fromEntries(params);
  const filter = { status, q, after, limit: PER_PAGE };
  const { data, error, isPlaceholderData } = useQuery({ ...runsQuery(filter), refetchInterval: every() });
  const filtered = status + q !== '';
  if (!data) return <PagePending page="Runs" error={error} />;
  const { runs, next } = data;
  return (
    <div className="stack">
      <h1>{listHeadline(runs, filtered, next !== null)}</h1>
      <div className="line wide">
        <Chips
          label="By state"
          of={Object.entries({ '': { word: 'All' }, ...STATES }).map(([to, { word }]) => ({
            word,
            to,
            on: to === status,
          }))}
          onChoose={(state) => set({ after: '', status: state })}
        />
        {q && <Button look="quiet" icon="close" onClick={() => set({ after: '', q: '' })} word={`“${q}”`} />}
      </div>
      <Card flush>
        {runs.length > 0 ? (
          // Until another list comes the one before stands in its place.
          <StableList key={JSON.stringify([filter, isPlaceholderData])} runs={runs} />
        ) : filtered ? (
          <Empty title="No run matches">
            <p>Files and jobs are found by a part of their name, runs by how their id begins.</p>
            <ButtonLink href="/runs" word="Show all runs" />
          </Empty>
        ) : (
          <Empty title="Nothing has run yet">
            <p>Import a spreadsheet: nothing is written before you have seen what would be.</p>
            <ButtonLink look="primary" href="/import" icon="import" word="Import a file" />
          </Empty>
        )}
      </Card>
      {(after || next) && (
        <nav className="line" aria-label="Pages of the list">
          {after && <Button icon="back" onClick={() => set({ after: '' })} word="The newest" />}
          {next && <Button icon="next" onClick={() => set({ after: next })} word="Older" />}
        </nav>
      )}
    </div>
  );
}

/**
 * What a dry run of an import found is for whoever made it; a night may only report. Whether it was taken up since tells the
 * overview.
 */
const waitsForPerson = ({ status, kind, dry_run: dry }: Run) =>
  ['warn', 'bad'].includes(STATES[status].tone) && !(dry && kind !== 'reconcile');

function listHeadline(runs: readonly Run[], filtered: boolean, more: boolean): string {
  const n = runs.length;
  if (n === 0) return filtered ? 'No run matches.' : 'Nothing has run yet.';
  if (filtered) return more ? `${counted(n, 'run')} and more match.` : `${counted(n, 'run matches', 'runs match')}.`;
  const waiting = runs.filter(waitsForPerson).length;
  if (waiting === 0) return `Nobody is needed: the latest ${n === 1 ? 'run' : counted(n, 'run')} ended well.`;
  return `${n === 1 ? 'The latest run' : `${number(waiting)} of the latest ${counted(n, 'run')}`} left something for you.`;
}

/** A list that does not move: what came since waits behind a button, what is shown changes in place. */
function StableList({ runs }: { runs: readonly Run[] }) {
  const [known, setKnown] = useState(runs);
  const latest = new Map(runs.map((run) => [run.id, run]));
  const visible = known.map((run) => latest.get(run.id) ?? run);
  const fresh = runs.filter(({ id }) => known.every((one) => one.id !== id)).length;
  return (
    <>
      {fresh > 0 && (
        <Button look="quiet" className="fresh" onClick={() => setKnown(runs)} word={`${number(fresh)} new`} />
      )}
      <RunTable label="Runs" runs={visible} />
    </>
  );
}

/** Columns go where there is no room for them; the state and the name stay. */
export function RunTable({ label, runs }: { label: string; runs: readonly Run[] }) {
  return (
    <Table
      className="runs"
      label={label}
      rows={runs}
      keyOf={({ id }) => id}
      columns={[
        { head: 'State', of: (run) => <StateBadge run={run} /> },
        { head: 'File', names: true, of: (run) => <NameLink href={`/runs/${run.id}`}>{runName(run)}</NameLink> },
        {
          head: 'What',
          broad: true,
          of: (run) => (
            <span className="soft">
              {kindWord(run)} · <bdi>{jobWord(run)}</bdi>
            </span>
          ),
        },
        { head: 'Rows', broad: true, num: true, of: ({ rows }) => rows !== null && number(rows) },
        {
          head: <span className="unseen">Share by outcome</span>,
          broad: true,
          of: ({ outcomes, rows }) => outcomes && <OutcomeBar counts={outcomes} total={rows} />,
        },
        { head: 'Need you', num: true, of: ({ needs_person: n }) => (n ? number(n) : <span className="soft">–</span>) },
        { head: 'Began', num: true, of: ({ started_at }) => <Moment at={started_at} /> },
      ]}
    />
  );
}
