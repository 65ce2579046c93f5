import { useQuery } from '@tanstack/react-query';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { Link, useSearchParams } from 'wouter';
import type { Run, RunState } from '../../api/schema.js';
import { Fault } from '../app/faults.js';
import { jobsQuery, runsQuery } from '../app/queries.js';
import { usePageTitle } from '../app/shell.js';
import { counted, exactly, number, when } from '../kit/format.js';
import { Button, ButtonLink, Card, Chip, Empty, OutcomeBar, Skeleton, StateBadge, stateWord } from '../kit/parts.js';
import { kindWord } from './words.js';
import './runs.css';

const STATES: readonly RunState[] = [
  'running',
  'waiting',
  'partial',
  'braked',
  'failed',
  'interrupted',
  'unfinished',
  'succeeded',
];
const PER_PAGE = 50;
const LOOK_AGAIN_MS = 5_000;

/** All runs, newest first; the address holds the filter and the page. */
export default function Runs() {
  usePageTitle('Runs');
  const [params, setParams] = useSearchParams();
  const [status, job, q, after] = ['status', 'job', 'q', 'after'].map((name) => params.get(name) ?? '');
  const filter = { status, job, q, after, limit: PER_PAGE };
  const { data, error } = useQuery({ ...runsQuery(filter), refetchInterval: LOOK_AGAIN_MS });
  const filtered = Boolean(status || job || q);
  const { shown, fresh, showFresh } = useStill(data?.runs, JSON.stringify(filter));

  const set = (name: string, value: string) =>
    setParams((before) => {
      const next = new URLSearchParams(before);
      next.delete('after');
      if (value === '') next.delete(name);
      else next.set(name, value);
      return next;
    });
  if (error && !data) return <Fault error={error} page="Runs" />;
  return (
    <div className="stack">
      <h1>{shown ? firstLine(shown, filtered, Boolean(data?.next)) : 'Runs'}</h1>
      <div className="line wide filters">
        <div className="chips" role="group" aria-label="By state">
          <Chip on={!status} onClick={() => set('status', '')}>
            All
          </Chip>
          {STATES.map((state) => (
            <Chip key={state} on={status === state} onClick={() => set('status', status === state ? '' : state)}>
              {stateWord(state)}
            </Chip>
          ))}
        </div>
        <JobChoice job={job ?? ''} onChange={(name) => set('job', name)} />
        {q && (
          <Chip on icon="close" onClick={() => set('q', '')}>
            “{q}”
          </Chip>
        )}
      </div>
      <Card flush>
        {fresh > 0 && (
          <Button look="quiet" className="fresh" onClick={showFresh}>
            {number(fresh)} new
          </Button>
        )}
        {!shown ? (
          <div className="pad">
            <Skeleton what="the runs" lines={8} />
          </div>
        ) : shown.length === 0 ? (
          <Nothing filtered={filtered} onClear={() => setParams({})} />
        ) : (
          <RunTable runs={shown} />
        )}
      </Card>
      {(after || data?.next) && (
        <nav className="line" aria-label="Pages of the list">
          {after && (
            <Button icon="back" onClick={() => set('after', '')}>
              The newest
            </Button>
          )}
          {data?.next && (
            <ButtonLink href={`/runs?${withAfter(params, data.next)}`} icon="next">
              Older
            </ButtonLink>
          )}
        </nav>
      )}
    </div>
  );
}

function withAfter(params: URLSearchParams, after: string): string {
  const next = new URLSearchParams(params);
  next.set('after', after);
  return next.toString();
}

function firstLine(runs: readonly Run[], filtered: boolean, more: boolean): string {
  const n = runs.length;
  if (n === 0) return filtered ? 'No run matches.' : 'Nothing has run yet.';
  const waiting = runs.filter(({ status, needs_person }) => NEEDS.has(status) || (needs_person ?? 0) > 0).length;
  const these = filtered
    ? `${counted(n, 'run')}${more ? ' and more' : ''} ${n === 1 && !more ? 'matches' : 'match'}`
    : '';
  if (filtered)
    return `${these}; ${waiting === 0 ? 'none of them needs you' : `${number(waiting)} ${waiting === 1 ? 'needs' : 'need'} you`}.`;
  if (waiting === 0) return `Nobody is needed: the latest ${counted(n, 'run')} ended well.`;
  return `${number(waiting)} of the latest ${counted(n, 'run')} ${waiting === 1 ? 'needs' : 'need'} you.`;
}

const NEEDS: ReadonlySet<RunState> = new Set(['braked', 'failed', 'interrupted', 'unfinished']);

/**
 * A list that does not move: what came since waits behind a button, what is shown changes in place. `key`: another one is
 * another list.
 */
function useStill(runs: readonly Run[] | undefined, key: string) {
  const [still, setStill] = useState<{ readonly key: string; readonly runs: readonly Run[] }>();
  useEffect(() => {
    if (!runs) return;
    setStill((before) => {
      if (before?.key !== key || before.runs.length === 0) return { key, runs };
      const latest = new Map(runs.map((run) => [run.id, run]));
      return { key, runs: before.runs.map((run) => latest.get(run.id) ?? run) };
    });
  }, [runs, key]);
  const shown = still?.key === key ? still.runs : undefined;
  const known = new Set(shown?.map(({ id }) => id));
  const fresh = shown && runs ? runs.filter(({ id }) => !known.has(id)).length : 0;
  return { shown, fresh, showFresh: () => runs && setStill({ key, runs }) };
}

const NARROW = matchMedia('(max-width: 760px)');

function useIsNarrow(): boolean {
  return useSyncExternalStore(
    (changed) => {
      NARROW.addEventListener('change', changed);
      return () => NARROW.removeEventListener('change', changed);
    },
    () => NARROW.matches,
  );
}

function JobChoice({ job, onChange }: { job: string; onChange: (name: string) => void }) {
  const { data } = useQuery(jobsQuery);
  const names = new Set(data?.jobs.map(({ name }) => name));
  if (job) names.add(job);
  return (
    <select className="input" aria-label="Job" value={job} onChange={({ target }) => onChange(target.value)}>
      <option value="">All jobs</option>
      {[...names].sort().map((name) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  );
}

function Nothing({ filtered, onClear }: { filtered: boolean; onClear: () => void }) {
  if (filtered)
    return (
      <Empty title="No run matches">
        <p>
          Files and jobs are found by a part of their name, runs by how their id begins; a key on the page of its run.
        </p>
        <Button onClick={onClear}>Show all runs</Button>
      </Empty>
    );
  return (
    <Empty title="Nothing has run yet">
      <p>Import a spreadsheet: nothing is written before you have seen what would be.</p>
      <ButtonLink look="primary" href="/import" icon="import">
        Import a file
      </ButtonLink>
    </Empty>
  );
}

/** Where there is no room for columns; also on the overview. */
export function RunLines({ runs }: { runs: readonly Run[] }) {
  return (
    <ul className="lines">
      {runs.map((run) => (
        <li key={run.id} className="run">
          <Link href={`/runs/${run.id}`} className="cut">
            <bdi>{run.file || run.job}</bdi>
          </Link>
          <time className="soft small" dateTime={run.started_at}>
            {when(run.started_at)}
          </time>
          <span className="line small">
            <StateBadge state={run.status} />
            <span className="soft grow cut">
              {kindWord(run)} · <bdi>{run.job}</bdi>
            </span>
            {run.needs_person ? <span>{counted(run.needs_person, 'row')}</span> : null}
          </span>
        </li>
      ))}
    </ul>
  );
}

function RunTable({ runs }: { runs: readonly Run[] }) {
  if (useIsNarrow()) return <RunLines runs={runs} />;
  return (
    <div className="scroll">
      <table className="runs">
        <thead>
          <tr>
            <th>State</th>
            <th>File</th>
            <th>Job</th>
            <th>What</th>
            <th className="num">Rows</th>
            <th className="late">
              <span className="unseen">Share by outcome</span>
            </th>
            <th className="num">Need you</th>
            <th className="num">Began</th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <tr key={run.id} className="pressable">
              <td>
                <StateBadge state={run.status} />
              </td>
              <td className="name">
                <Link href={`/runs/${run.id}`} className="cut whole">
                  <bdi>{run.file || run.job || run.id}</bdi>
                </Link>
              </td>
              <td className="name of">
                <span className="cut">
                  {run.job === 'inline' ? <span className="soft">no job file</span> : <bdi>{run.job}</bdi>}
                </span>
              </td>
              <td className="soft">{kindWord(run)}</td>
              <td className="num">{run.rows === null ? '' : number(run.rows)}</td>
              <td className="late bar">{run.outcomes && <OutcomeBar counts={run.outcomes} total={run.rows} />}</td>
              <td className="num">{run.needs_person ? number(run.needs_person) : <span className="soft">–</span>}</td>
              <td className="num soft">
                <time dateTime={run.started_at} title={exactly(run.started_at)}>
                  {when(run.started_at)}
                </time>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
