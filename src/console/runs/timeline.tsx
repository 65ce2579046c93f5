import { useEffect, useRef, useState } from 'react';
import type { RunDetail, RunProgress } from '../../api/schema.js';
import { duration, rowsForPerson, type Summary } from '../../report/summary.js';
import { counted, number, oneDecimal, timeOfDay, toTheSecond } from '../kit/format.js';
import { Icon, type IconName } from '../kit/icons.js';
import { Card } from '../kit/parts.js';
import { summaryOf } from './words.js';

/** read → checked → planned → written → reported, with what each came to. */
interface Step {
  readonly name: string;
  readonly state: 'done' | 'now' | 'next' | 'left';
  readonly text: string;
  readonly at?: string | undefined;
}

const PHASES: readonly (readonly [name: string, phases: readonly string[]])[] = [
  ['Read', ['reading', 'reading again', 'waiting for its turn']],
  ['Checked', ['looking up']],
  ['Planned', ['planning']],
  ['Written', ['writing']],
  ['Reported', ['reporting']],
];
const ICONS: Readonly<Record<Step['state'], IconName>> = { done: 'check', now: 'spin', next: 'clock', left: 'stop' };
const WORDS: Readonly<Record<Step['state'], string>> = {
  done: 'done',
  now: 'at work',
  next: 'to come',
  left: 'not done',
};

export function Timeline({ run, progress }: { run: RunDetail; progress: RunProgress | null }) {
  const summary = summaryOf(run);
  const pace = usePace(progress);
  const steps = progress ? live(progress) : summary ? ended(run, summary) : [];
  if (steps.length === 0) return null;
  return (
    <Card title={progress ? 'How it goes' : 'How it went'}>
      <ol className="timeline">
        {steps.map(({ name, state, text, at }) => (
          <li key={name} className={state}>
            <Icon name={ICONS[state]} className={state === 'now' ? 'spin' : 'sign'} />
            <strong>
              {name}
              <span className="unseen">, {WORDS[state]}</span>
            </strong>
            <span className="soft">{text}</span>
            {at && (
              <time className="soft small" dateTime={at}>
                {toTheSecond(at)}
              </time>
            )}
          </li>
        ))}
      </ol>
      <p className="soft small took">{progress ? pace : summary && took(summary)}</p>
      {progress?.paused_until && (
        <p className="toned warn">The service asked for a pause until {timeOfDay(progress.paused_until)}.</p>
      )}
    </Card>
  );
}

function took({ seconds, requests }: Summary): string {
  return `${duration(seconds)}, ${counted(requests.total, 'request')}${requests.retries > 0 ? `, ${counted(requests.retries, 'retry', 'retries')}` : ''}`;
}

function live({ phase, done, total, phases, requests }: RunProgress): Step[] {
  const now = PHASES.findIndex(([, names]) => names.includes(phase));
  return PHASES.map(([name, names], at) => {
    const state = at < now ? 'done' : at === now ? 'now' : 'next';
    const began = phases?.find((one) => names.includes(one.phase))?.at;
    if (state !== 'now') return { name, state, text: '', at: began };
    const rows = total ? `${number(done)} of ${counted(total, 'row')}` : counted(done, 'row');
    const asked = requests
      ? `, ${number(requests.made)} of ${requests.at_most ? 'at most ' : ''}${counted(requests.made + requests.left, 'request')}`
      : '';
    return { name, state, text: `${rows}${asked}`, at: began };
  });
}

function ended(run: RunDetail, summary: Summary): Step[] {
  const { rows, source, requests, started_at: began, finished_at: finished, reports, status, dry_run: dry } = summary;
  if (run.kind === 'export') {
    return [
      {
        name: 'Read',
        state: 'done',
        text: `${counted(requests.reads, 'request')}${summary.passes ? `, ${counted(summary.passes, 'pass', 'passes')}` : ''}`,
        at: began,
      },
      {
        name: 'Written',
        state: summary.records === undefined ? 'left' : 'done',
        text: counted(summary.records ?? 0, 'record'),
      },
      { name: 'Reported', state: 'done', text: counted(reports.length, 'file'), at: finished },
    ];
  }
  const whole = status === 'succeeded' || status === 'partial';
  const invalid = rows.invalid + rows.duplicate;
  const written = rows.created + rows.updated;
  const from = source
    ? [source.sheet ? `sheet ${source.sheet}` : source.format.toUpperCase(), source.encoding].filter(Boolean).join(', ')
    : '';
  return [
    {
      name: 'Read',
      state: 'done',
      text: `${counted(rows.total, run.kind === 'undo' ? 'record' : 'row')}${from ? `, ${from}` : ''}`,
      at: began,
    },
    { name: 'Checked', state: 'done', text: invalid === 0 ? 'no fault' : `${number(invalid)} with faults` },
    {
      name: 'Planned',
      state: rows.total > rows.not_attempted || whole ? 'done' : 'left',
      text: whole ? plannedWords(rows) : '',
    },
    dry
      ? { name: 'Written', state: 'left', text: 'a dry run writes nothing' }
      : {
          name: 'Written',
          state: whole ? 'done' : 'left',
          text:
            written === 0
              ? 'nothing'
              : `${counted(written, 'record')}, ${counted(requests.writes, 'write')}${requests.retries > 0 ? `, ${counted(requests.retries, 'retry', 'retries')}` : ''}`,
        },
    {
      name: 'Reported',
      state: 'done',
      text: `${counted(reports.length, 'file')}${rowsForPerson(rows) > 0 ? `, ${number(rowsForPerson(rows))} for you` : ''}`,
      at: finished,
    },
  ];
}

function plannedWords({ created, updated, unchanged }: Summary['rows']): string {
  const parts = [
    [created, 'to create'],
    [updated, 'to update'],
    [unchanged, 'unchanged'],
  ] as const;
  const some = parts.filter(([n]) => n > 0).map(([n, word]) => `${number(n)} ${word}`);
  return some.join(', ') || 'nothing to write';
}

const SPAN_MS = 15_000;

/** `42 rows a second, 3 min 05 s left`, of the last quarter of a minute of this phase. */
function usePace(progress: RunProgress | null): string {
  const seen = useRef<{ readonly at: number; readonly done: number; readonly phase: string }[]>([]);
  const [text, setText] = useState('');
  useEffect(() => {
    if (!progress) return;
    const { done, total, phase } = progress;
    const now = performance.now();
    const points = [...seen.current, { at: now, done, phase }].filter(
      (one) => one.phase === phase && now - one.at < SPAN_MS,
    );
    seen.current = points;
    const [first] = points;
    const seconds = first ? (now - first.at) / 1000 : 0;
    const rate = first && seconds > 1 ? (done - first.done) / seconds : 0;
    if (rate <= 0) setText('');
    else {
      const left = total ? `, ${duration((total - done) / rate)} left` : '';
      setText(`${rate < 10 ? oneDecimal(rate) : number(rate)} rows a second${left}`);
    }
  }, [progress]);
  return text;
}
