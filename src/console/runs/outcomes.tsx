import type { ComponentProps } from 'react';
import type { FaultGroup, Run, RunState } from '../../api/schema.js';
import type { OutcomeCounts, OutcomeGroup, OutcomeKind } from '../../model/outcome.js';
import { GROUP_OF_OUTCOME, OUTCOME_GROUPS, OUTCOMES } from '../../model/outcome.js';
import { outcomeWords } from '../../report/wording.js';
import { Badge } from '../kit/parts.js';
import { faultWord } from './words.js';

type Look = Required<ComponentProps<typeof Badge>>;

/** The four words that people see of outcomes. */
export const FOUR: Readonly<Record<OutcomeGroup, Look>> = {
  in: { tone: 'good', icon: 'check', word: 'In' },
  unchanged: { tone: 'calm', icon: 'same', word: 'Unchanged' },
  to_correct: { tone: 'warn', icon: 'correct', word: 'To correct' },
  to_look_at: { tone: 'bad', icon: 'look', word: 'To look at' },
};

/** In the tense of the run. */
export function fourWord(four: OutcomeGroup, { kind, dry_run: dry }: Pick<Run, 'kind' | 'dry_run'>): string {
  if (four !== 'in') return FOUR[four].word;
  if (kind === 'undo') return dry ? 'Would be put back' : 'Put back';
  if (kind === 'reconcile') return dry ? 'Would be put right' : 'Put right';
  return dry ? 'Would go in' : FOUR.in.word;
}

/** One of the thirteen, with the sign of its word of the four. */
export function OutcomeBadge({ kind, run }: { kind: OutcomeKind; run: Pick<Run, 'kind' | 'dry_run'> }) {
  return <Badge {...FOUR[GROUP_OF_OUTCOME[kind]]} word={outcomeWords(kind, run.dry_run, run.kind).label} />;
}

export function sumOf(counts: Readonly<Partial<OutcomeCounts>> | null, four: OutcomeGroup): number {
  return OUTCOMES.reduce((n, kind) => (GROUP_OF_OUTCOME[kind] === four ? n + (counts?.[kind] ?? 0) : n), 0);
}

/** Counts as one bar; what it shows stands beside it in words. */
export function OutcomeBar({ counts, total }: { counts: Readonly<OutcomeCounts>; total?: number | null }) {
  const parts = OUTCOME_GROUPS.map((four) => ({ four, rows: sumOf(counts, four) })).filter(({ rows }) => rows > 0);
  const known = parts.reduce((n, { rows }) => n + rows, 0);
  return (
    <div className="parts" aria-hidden="true">
      {parts.map(({ four, rows }) => (
        <i key={four} className={FOUR[four].tone} style={{ flexGrow: rows }} />
      ))}
      {total && total > known ? <span style={{ flexGrow: total - known }} /> : null}
    </div>
  );
}

/** In the order in which somebody asks for them. */
export const STATES: Readonly<Record<RunState, Look>> = {
  running: { tone: 'info', icon: 'spin', word: 'Running' },
  waiting: { tone: 'calm', icon: 'clock', word: 'Waiting' },
  partial: { tone: 'warn', icon: 'correct', word: 'Some need you' },
  braked: { tone: 'bad', icon: 'stop', word: 'Stopped by a brake' },
  failed: { tone: 'bad', icon: 'bad', word: 'Failed' },
  interrupted: { tone: 'warn', icon: 'stop', word: 'Interrupted' },
  unfinished: { tone: 'warn', icon: 'warn', word: 'Not finished' },
  succeeded: { tone: 'good', icon: 'check', word: 'All well' },
};

export function StateBadge({ run: { status, verdict } }: { run: Pick<Run, 'status' | 'verdict'> }) {
  return <Badge {...STATES[verdict ? 'partial' : status]} word={verdict ?? STATES[status].word} />;
}

/** Kinds of fault, each of one column, as filters: those with the most rows first. `code` and `column`: of the one that is on. */
export function faultChips(faults: readonly FaultGroup[], code: string, column: string) {
  const counts = new Map<string, number>();
  // A filter that somebody was sent is among them, whatever it is.
  if (code !== '') counts.set(JSON.stringify([code, column]), 0);
  for (const { code: kind, column: place = '', rows } of faults) {
    const key = JSON.stringify([kind, place]);
    counts.set(key, (counts.get(key) ?? 0) + rows);
  }
  const sorted = [...counts].sort(([, one], [, other]) => other - one);
  return sorted.map(([key, count]) => {
    const [kind = '', place = ''] = JSON.parse(key) as string[];
    const on = kind === code && place === column;
    const word = (
      <span>
        {faultWord(kind)}
        {place && ': '}
        <bdi>{place}</bdi>
      </span>
    );
    return { word, count, on, to: on ? { code: '', column: '' } : { code: kind, column: place } };
  });
}
