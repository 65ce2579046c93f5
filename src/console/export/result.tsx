import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { RunDetail } from '../../api/schema.js';
import type { Summary } from '../../report/summary.js';
import { type RunNow, useRunNow } from '../app/events.js';
import { ConnectionLost, NotThere } from '../app/faults.js';
import { runQuery, runsQuery } from '../app/queries.js';
import { bytes, counted, number, when } from '../kit/format.js';
import { ButtonLink, Card, Notice, Prose, StateBadge } from '../kit/parts.js';
import { VerbButton } from '../runs/actions.js';
import { reportAddress } from '../runs/run.js';
import { firstLine, summaryOf } from '../runs/words.js';

/** The export that was begun: how far it is, and then its file. */
export function Result({ id }: { id: string }) {
  const { data: run, error } = useQuery(runQuery(id));
  const now = useRunNow(id, run);
  if (!run) return <NotThere page="Export" error={error} />;
  return (
    <>
      <h1>{now.live ? 'The export runs' : firstLine(run, null)}</h1>
      <Card>{now.live ? <AtWork run={run} now={now} /> : <Ended run={run} />}</Card>
    </>
  );
}

function AtWork({ run, now: { progress, events } }: { run: RunDetail; now: RunNow }) {
  const { phase, done, total } = progress ?? { phase: 'waiting', done: 0, total: null };
  const told =
    run.status === 'waiting'
      ? 'It waits for its turn'
      : `${phase}: ${number(done)}${total === null ? '' : ` of ${counted(total, 'record')}`}`;
  return (
    <div className="stack tight">
      <ConnectionLost events={events} />
      <span role="status">{told}</span>
      <progress aria-label="Records read" {...(total ? { value: done, max: total } : {})} />
      <div className="line">
        <VerbButton run={run} verb="stop" progress={progress} />
        <span className="soft">It goes on when you leave this page.</span>
      </div>
    </div>
  );
}

function Ended({ run }: { run: RunDetail }) {
  const summary = summaryOf(run);
  const { target, warnings = [] } = summary ?? {};
  const file = run.reports.includes(run.file) ? run.file : undefined;
  const job = run.reports.find((name) => name.endsWith('.yaml'));
  return (
    <div className="stack">
      {summary && file !== undefined && <Complete summary={summary} />}
      {warnings.length > 0 && (
        <ul className="notes">
          {warnings.map((warning) => (
            <li key={warning}>
              <Prose>{warning}</Prose>
            </li>
          ))}
        </ul>
      )}
      <div className="line wide">
        {file !== undefined && (
          <ButtonLink look="primary" icon="download" href={reportAddress(run, file)} download>
            Download
          </ButtonLink>
        )}
        {job !== undefined && (
          <ButtonLink icon="download" href={reportAddress(run, job)} download>
            Its job file
          </ButtonLink>
        )}
        {run.actions.resume?.allowed && <VerbButton run={run} verb="resume" look="primary" />}
        <Link href={`/runs/${run.id}`}>The run</Link>
        {target?.bytes !== undefined && (
          <span className="soft wrap">
            {file}, {bytes(target.bytes)}
            {target.columns !== undefined && `, ${counted(target.columns, 'column')}`}
          </span>
        )}
      </div>
      {job !== undefined && (
        <p>
          Change cells and bring it back over <Link href="/import">Import</Link>; on a command line the job file imports
          it. Grey columns are for information; a cell that you empty keeps its value in the service.
        </p>
      )}
    </div>
  );
}

/** In the words of the file's last sheet. */
function Complete({ summary: { consistency, passes = 0, resource } }: { summary: Summary }) {
  const whole = consistency === 'verified';
  const read = `The list was read ${passes} times, and `;
  return (
    <Notice tone={whole ? 'good' : 'warn'} title={whole ? 'It is complete' : 'It may not be complete'}>
      <p>
        {whole
          ? passes === 1
            ? 'Each record was asked for by its id.'
            : `${read}the last two agree: no record that was there all the time is missing.`
          : resource === 'customer'
            ? 'The service has no list of customers; these are the ones that are known.'
            : `${read}it could not be established that no record is missing.`}
      </p>
    </Notice>
  );
}

/** What was exported before, by anybody. */
export function Lately({ hrefOf }: { hrefOf: (run: string) => string }) {
  const { data } = useQuery(runsQuery({ kind: 'export', limit: 10 }));
  if (!data || data.runs.length === 0) return null;
  return (
    <Card flush title="Exported lately">
      <ul className="entries">
        {data.runs.map(({ id, file, status, started_at: at }) => (
          <li key={id}>
            <div className="line grow">
              <StateBadge state={status} />
              <Link href={hrefOf(id)} className="wrap">
                <bdi>{file || id}</bdi>
              </Link>
              <span className="soft">{when(at)}</span>
            </div>
            {(status === 'succeeded' || status === 'partial') && (
              <ButtonLink
                look="quiet"
                icon="download"
                href={reportAddress({ id }, file)}
                download
                aria-label={`Download ${file}`}
              >
                Download
              </ButtonLink>
            )}
          </li>
        ))}
      </ul>
    </Card>
  );
}
