import { type ComponentProps, type ReactNode, useId } from 'react';
import { Link } from 'wouter';
import type { Run, RunState } from '../../api/schema.js';
import { FOUR, FOUR_OF, type Four, type OutcomeCounts, type OutcomeKind } from '../../model/outcome.js';
import { outcomeWords } from '../../report/words.js';
import { number } from './format.js';
import { Icon, type IconName } from './icons.js';

/** What all pages are made of. */

export type Tone = 'good' | 'warn' | 'bad' | 'calm' | 'info';

function classes(...names: (string | false | undefined)[]): string {
  return names.filter(Boolean).join(' ');
}

// Buttons

interface ButtonProps extends ComponentProps<'button'> {
  readonly look?: 'primary' | 'danger' | 'quiet' | undefined;
  readonly icon?: IconName;
  /** Why it cannot be pressed now: it stays in reach of the keyboard, and says so. */
  readonly why?: string | undefined;
  /** What it began is not done yet. */
  readonly busy?: boolean;
}

export function Button({ look, icon, why, busy = false, children, onClick, className, ...rest }: ButtonProps) {
  const id = useId();
  const off = why !== undefined || busy;
  const button = (
    <button
      type="button"
      {...rest}
      className={classes('button', look, children === undefined && 'icon', className)}
      aria-disabled={off || undefined}
      aria-describedby={why === undefined ? rest['aria-describedby'] : id}
      onClick={(event) => (off ? event.preventDefault() : onClick?.(event))}
    >
      {busy ? <Icon name="spin" className="spin" /> : icon && <Icon name={icon} />}
      {children}
    </button>
  );
  if (why === undefined) return button;
  return (
    <span className="reasoned">
      {button}
      <span className="reason small" id={id} role="note">
        {why}
      </span>
    </span>
  );
}

export function ButtonLink({ look, icon, children, className, ...rest }: LinkProps) {
  const props = { ...rest, className: classes('button', look, className) };
  const content = (
    <>
      {icon && <Icon name={icon} />}
      {children}
    </>
  );
  // What is downloaded is no page.
  return rest.download === undefined ? <Link {...props}>{content}</Link> : <a {...props}>{content}</a>;
}

interface LinkProps extends Omit<ComponentProps<'a'>, 'href'> {
  readonly href: string;
  readonly look?: 'primary' | 'danger' | 'quiet' | undefined;
  readonly icon?: IconName;
}

// Signs with words

export function Badge({ tone, icon, children }: { tone: Tone; icon?: IconName | undefined; children: ReactNode }) {
  return (
    <span className={`badge ${tone}`}>
      {icon && <Icon name={icon} />}
      {children}
    </span>
  );
}

export const FOUR_LOOKS: Readonly<Record<Four, { readonly tone: Tone; readonly icon: IconName }>> = {
  in: { tone: 'good', icon: 'check' },
  unchanged: { tone: 'calm', icon: 'same' },
  to_correct: { tone: 'warn', icon: 'correct' },
  to_look_at: { tone: 'bad', icon: 'look' },
};

/** One of the thirteen, with the sign of its word of the four. */
export function OutcomeBadge({ kind, dryRun, run }: { kind: OutcomeKind; dryRun: boolean; run: Run['kind'] }) {
  return <Badge {...FOUR_LOOKS[FOUR_OF[kind]]}>{outcomeWords(kind, dryRun, run).label}</Badge>;
}

const STATES: Readonly<Record<RunState, { readonly tone: Tone; readonly icon: IconName; readonly word: string }>> = {
  waiting: { tone: 'calm', icon: 'clock', word: 'Waiting' },
  running: { tone: 'info', icon: 'spin', word: 'Running' },
  succeeded: { tone: 'good', icon: 'check', word: 'All well' },
  partial: { tone: 'warn', icon: 'correct', word: 'Some need you' },
  braked: { tone: 'bad', icon: 'stop', word: 'Stopped by a brake' },
  failed: { tone: 'bad', icon: 'bad', word: 'Failed' },
  interrupted: { tone: 'warn', icon: 'stop', word: 'Interrupted' },
  unfinished: { tone: 'warn', icon: 'warn', word: 'Not finished' },
};

export function stateWord(state: RunState): string {
  return STATES[state].word;
}

export function StateBadge({ state }: { state: RunState }) {
  return <Badge {...STATES[state]}>{STATES[state].word}</Badge>;
}

export function sumOf(counts: Readonly<Partial<OutcomeCounts>>, four: Four): number {
  return Object.entries(counts).reduce((n, [kind, rows]) => (FOUR_OF[kind as OutcomeKind] === four ? n + rows : n), 0);
}

/** Counts as one bar; what it shows stands beside it in words. */
export function OutcomeBar({ counts, total }: { counts: Readonly<OutcomeCounts>; total?: number | null }) {
  const parts = FOUR.map((four) => ({ four, rows: sumOf(counts, four) })).filter(({ rows }) => rows > 0);
  const known = parts.reduce((n, { rows }) => n + rows, 0);
  return (
    <div className="parts" aria-hidden="true">
      {parts.map(({ four, rows }) => (
        <i key={four} className={FOUR_LOOKS[four].tone} style={{ flexGrow: rows }} />
      ))}
      {total && total > known ? <span style={{ flexGrow: total - known }} /> : null}
    </div>
  );
}

// Blocks

export function Card({
  title,
  beside,
  flush = false,
  children,
  ...rest
}: Omit<ComponentProps<'section'>, 'title'> & { title?: ReactNode; beside?: ReactNode; flush?: boolean }) {
  const id = useId();
  return (
    <section
      {...rest}
      className={classes('card', flush && 'flush', rest.className)}
      aria-labelledby={title ? id : undefined}
    >
      {title && (
        <header>
          <h2 id={id} className="grow">
            {title}
          </h2>
          {beside}
        </header>
      )}
      {children}
    </section>
  );
}

const NOTICE_ICONS: Readonly<Record<Tone, IconName>> = {
  good: 'check',
  warn: 'warn',
  bad: 'bad',
  calm: 'info',
  info: 'info',
};

export function Notice({
  tone,
  icon = NOTICE_ICONS[tone],
  title,
  children,
}: {
  tone: Tone;
  icon?: IconName;
  title?: ReactNode;
  children?: ReactNode;
}) {
  return (
    <div className={`notice ${tone}`} role={tone === 'bad' ? 'alert' : 'status'}>
      <Icon name={icon} />
      <div className="stack tight grow">
        {title && <strong>{title}</strong>}
        {children}
      </div>
    </div>
  );
}

/** What stops nothing, and somebody should know. */
export function Warnings({ of = [] }: { of?: readonly string[] | undefined }) {
  if (of.length === 0) return null;
  return (
    <Notice tone="warn">
      {of.map((line) => (
        <p key={line} className="wrap">
          <Prose>{line}</Prose>
        </p>
      ))}
    </Notice>
  );
}

/** Nothing is there: why, and what to do. `page`: it is all that the page has to say. */
export function Empty({ title, page = false, children }: { title: string; page?: boolean; children?: ReactNode }) {
  return (
    <div className="empty stack tight">
      {page ? <h1>{title}</h1> : <h2>{title}</h2>}
      {children}
    </div>
  );
}

/** Lines in place of what is on its way. */
export function Skeleton({ lines = 3, what }: { lines?: number; what: string }) {
  return (
    <div role="status" aria-label={`Loading ${what}`}>
      {Array.from({ length: lines }, (_, at) => (
        <span key={at} className="skeleton" style={{ width: `${90 - ((at * 23) % 50)}%` }} />
      ))}
    </div>
  );
}

export function Field({
  label,
  hint,
  fault,
  children,
}: {
  label: ReactNode;
  hint?: ReactNode;
  fault?: string | undefined;
  /** Takes the id, and what describes it. */
  children: (props: { id: string; 'aria-describedby'?: string; 'aria-invalid'?: boolean }) => ReactNode;
}) {
  const id = useId();
  const about = `${id}-about`;
  const described = hint !== undefined || fault !== undefined;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        ...(described && { 'aria-describedby': about }),
        ...(fault !== undefined && { 'aria-invalid': true }),
      })}
      {described && (
        <span id={about} className={classes('small', fault === undefined ? 'soft' : 'fault')}>
          {fault ?? hint}
        </span>
      )}
    </div>
  );
}

/** A line of text to type. */
export function TextField({
  label,
  hint,
  ...rest
}: Omit<ComponentProps<'input'>, 'id'> & { label: ReactNode; hint?: ReactNode }) {
  return (
    <Field label={label} hint={hint}>
      {(props) => <input {...rest} {...props} className="input" />}
    </Field>
  );
}

/** One of a few. `bare`: what stands beside it names it. */
export function Choose({
  label,
  hint,
  bare = false,
  value,
  options,
  onChoose,
  ...rest
}: Omit<ComponentProps<'select'>, 'value'> & {
  label: string;
  hint?: string;
  bare?: boolean;
  value: string;
  options: readonly (readonly [value: string, word: string])[];
  onChoose: (value: string) => void;
}) {
  const select = (props: ComponentProps<'select'>) => (
    <select className="input" {...rest} {...props} value={value} onChange={({ target }) => onChoose(target.value)}>
      {options.map(([name, word]) => (
        <option key={name} value={name}>
          {word}
        </option>
      ))}
    </select>
  );
  if (bare) return select({ 'aria-label': label });
  return (
    <Field label={label} hint={hint}>
      {select}
    </Field>
  );
}

/** A filter that is on or off. */
export function Chip({
  on,
  count,
  icon,
  onClick,
  children,
}: {
  on: boolean;
  count?: number | undefined;
  icon?: IconName | undefined;
  onClick: () => void;
  children: ReactNode;
}) {
  return (
    <button type="button" className="chip" aria-pressed={on} onClick={onClick}>
      {icon && <Icon name={icon} />}
      {children}
      {count !== undefined && <span className={on ? '' : 'soft'}>{number(count)}</span>}
    </button>
  );
}

interface Filter<T> {
  readonly value: T;
  readonly word: ReactNode;
  readonly count?: number | undefined;
  readonly icon?: IconName;
}

/** Filters of which at most one is on; `children` are those that stand beside them. */
export function Chips<T extends string>({
  label,
  of,
  on,
  onChoose,
  children,
}: {
  label: string;
  of: readonly Filter<T>[];
  on: string | undefined;
  onChoose: (value: T) => void;
  children?: ReactNode;
}) {
  return (
    <div className="chips" role="group" aria-label={label}>
      {of.map(({ value, word, count, icon }) => (
        <Chip key={value} on={value === on} count={count} icon={icon} onClick={() => onChoose(value)}>
          {word}
        </Chip>
      ))}
      {children}
    </div>
  );
}

/** Sentences, with what stands between backticks as something to type. */
export function Prose({ children }: { children: string }) {
  const parts = children.split('`');
  if (parts.length % 2 === 0) return <bdi>{children}</bdi>;
  return <bdi>{parts.map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part))}</bdi>;
}
