import { useState } from 'react';
import type { RunDetail, RunProgress } from '../../api/schema.js';
import { durationText, rowsForPerson, type Summary } from '../../report/summary.js';
import { counted, joinParts, number, oneDecimal, timeOfDay, toTheSecond } from '../kit/format.js';
import { Icon, type IconName } from '../kit/icons.js';
import { Card } from '../kit/parts.js';
import { STEPS, summaryOf } from './words.js';

/** One of read → checked → planned → written → reported, with what it came to. */
interface Step {
  readonly name: string;
  readonly state: keyof typeof STEP_LOOKS;
  readonly text: string;
  readonly at?: string | undefined;
}

const STEP_LOOKS = {
  done: { icon: 'check', tone: 'good', word: 'done' },
  now: { icon: 'spin', tone: 'info', word: 'at work' },
  next: { icon: 'clock', tone: 'calm', word: 'to come' },
  remaining: { icon: 'stop', tone: 'calm', word: 'not done' },
} as const satisfies Record<string, { icon: IconName; tone: string; word: string }>;

export function Timeline({ run }: { run: RunDetail }) {
  const { progress } = run;
  const summary = summaryOf(run);
  // One that ended before it began has taken no step.
  const steps = progress ? liveSteps(progress) : summary && summary.file === undefined ? endedSteps(summary) : [];
  if (steps.length === 0) return null;
  return (
    <Card title={progress ? 'How it goes' : 'How it went'}>
      <ol className="timeline stack tight">
        {steps.map(({ name, state, text, at }) => {
          const { icon, tone, word } = STEP_LOOKS[state];
          return (
            <li key={name} className={state}>
              <span className={`toned ${tone}`}>
                <Icon name={icon} className={state === 'now' ? 'spin' : 'sign'} />
              </span>
              <strong>
                {name}
                <span className="unseen">, {word}</span>
              </strong>
              {at && (
                <time className="soft small" dateTime={at}>
                  {toTheSecond(at)}
                </time>
              )}
              <span className="soft">{text}</span>
            </li>
          );
        })}
      </ol>
      <p className="soft small">
        {progress
          ? !progress.service_away && <Pace key={progress.phase} {...progress} />
          : summary && totalsText(summary)}
      </p>
      {progress?.service_away && <p className="toned warn">The service does not answer; the run waits for it.</p>}
      {progress?.paused_until && (
        <p className="toned warn">The service asked for a pause until {timeOfDay(progress.paused_until)}.</p>
      )}
    </Card>
  );
}

const retriesText = ({ requests: { retries } }: Summary) => retries > 0 && counted(retries, 'retry', 'retries');

const totalsText = (summary: Summary) =>
  joinParts(durationText(summary.seconds), counted(summary.requests.total, 'request'), retriesText(summary));

function liveSteps({ phase, done, total, phases }: RunProgress): Step[] {
  const now = STEPS.findIndex(([, names]) => phase in names);
  const rows = total ? `${number(done)} of ${counted(total, 'row')}` : counted(done, 'row');
  return STEPS.map(([name, names], at) => ({
    name,
    state: at < now ? 'done' : at === now ? 'now' : 'next',
    text: at === now ? rows : '',
    at: phases?.find((one) => one.phase in names)?.at,
  }));
}

function endedSteps(summary: Summary): Step[] {
  const { kind, rows, source, requests, started_at, finished_at, reports, status, dry_run: dry } = summary;
  const step = (name: string, text: string, isDone = true, at?: string): Step => {
    return { name, text, state: isDone ? 'done' : 'remaining', at };
  };
  if (kind === 'export') {
    const { passes = 0, records } = summary;
    const read = joinParts(counted(requests.reads, 'request'), passes > 0 && counted(passes, 'pass', 'passes'));
    return [
      step('Read', read, true, started_at),
      step('Written', counted(records ?? 0, 'record'), records !== undefined),
      step('Reported', counted(reports.length, 'file'), true, finished_at),
    ];
  }
  const isComplete = status === 'succeeded' || status === 'partial';
  const invalid = rows.invalid + rows.duplicate;
  const written = rows.created + rows.updated + (summary.reconcile?.compared?.orphans_acted ?? 0);
  const needed = rowsForPerson(rows);
  const read = joinParts(
    counted(rows.total, kind === 'undo' ? 'record' : 'row'),
    source && (source.sheet ? `sheet ${source.sheet}` : source.format.toUpperCase()),
    source?.encoding,
  );
  const meant = rows.created + rows.updated + rows.rejected + rows.failed + rows.unknown + rows.conflict;
  const orphans = summary.reconcile?.orphans.acted ?? 0;
  const plan = joinParts(
    meant > 0 && `${number(meant)} to write`,
    orphans > 0 && `${number(orphans)} not in the file`,
    rows.unchanged > 0 && `${number(rows.unchanged)} unchanged`,
  );
  const reported = joinParts(counted(reports.length, 'file'), needed > 0 && `${number(needed)} for you`);
  const wrote = joinParts(counted(written, 'record'), counted(requests.writes, 'write'), retriesText(summary));
  return [
    step('Read', read, true, started_at),
    step('Checked', invalid === 0 ? 'no fault' : `${number(invalid)} with faults`),
    step('Planned', isComplete ? plan || 'nothing to write' : '', rows.total > rows.not_attempted || isComplete),
    step('Written', dry ? 'a dry run writes nothing' : written === 0 ? 'nothing' : wrote, isComplete && !dry),
    step('Reported', reported, true, finished_at),
  ];
}

/** `42 rows a second, 3 min 05 s left`, of what was seen of this phase. */
function Pace({ done, total }: RunProgress) {
  const [first] = useState({ at: performance.now(), done });
  const seconds = (performance.now() - first.at) / 1000;
  const rate = seconds > 1 ? (done - first.done) / seconds : 0;
  if (rate === 0) return null;
  const left = total ? `, ${durationText((total - done) / rate)} left` : '';
  return `${rate < 10 ? oneDecimal(rate) : number(rate)} rows a second${left}`;
}
