import { type ComponentProps, Fragment, type ReactNode, useEffect, useId, useRef } from 'react';
import { Link } from 'wouter';
import { exactly, number, when } from './format.js';
import { Icon, type IconName } from './icons.js';

export type Tone = 'good' | 'warn' | 'bad' | 'calm' | 'info';

const classes = (...names: (string | false | undefined)[]) => names.filter(Boolean).join(' ');

interface Look {
  readonly look?: 'primary' | 'danger' | 'quiet' | undefined;
  readonly icon?: IconName;
  readonly word?: string;
}

interface ButtonProps<V> extends ComponentProps<'button'>, Look {
  /** Why it cannot be pressed now: it stays in reach of the keyboard, and says so. */
  readonly why?: string | undefined;
  /** What it begins, with what is ordered; until it is made, the button is busy. */
  readonly change?: { readonly isPending: boolean; mutate(order: V): void };
  readonly order?: V;
  readonly busy?: boolean;
}

export function Button<V>({ look, icon, word, why, children, className, ...more }: ButtonProps<V>) {
  const { change, order, busy = change?.isPending, onClick = () => change?.mutate(order as V), ...rest } = more;
  const id = useId();
  const isDisabled = why !== undefined || busy === true;
  const button = (
    <button
      type="button"
      {...rest}
      className={classes('button', look, word === undefined && children === undefined && 'icon', className)}
      aria-disabled={isDisabled || undefined}
      aria-describedby={why === undefined ? rest['aria-describedby'] : id}
      onClick={(event) => (isDisabled ? event.preventDefault() : onClick(event))}
    >
      {busy ? <Icon name="spin" className="spin" /> : icon && <Icon name={icon} />}
      {word}
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

export function ButtonLink({ look, icon, word, ...rest }: ComponentProps<'a'> & Look & { href: string }) {
  // What is downloaded is no page.
  const Anchor = rest.download === undefined ? Link : 'a';
  return (
    <Anchor {...rest} className={classes('button', look)}>
      {icon && <Icon name={icon} />}
      {word}
    </Anchor>
  );
}

export function NameLink({ href, children }: { href: string; children: ReactNode }) {
  return (
    <Link href={href} dir="auto" className="name cut">
      {children}
    </Link>
  );
}

/** In the reader's zone; to the second where the pointer rests. */
export function Moment({ at }: { at: string }) {
  return (
    <time className="soft" dateTime={at} title={exactly(at)}>
      {when(at)}
    </time>
  );
}

/** Terms with what is so of each; what is not known goes. */
export function Facts({ of }: { of: readonly (readonly [term: ReactNode, fact: ReactNode])[] }) {
  const known = of.filter(([, fact]) => fact);
  return (
    <dl className="facts">
      {known.map(([term, fact], at) => (
        <Fragment key={at}>
          <dt>{term}</dt>
          <dd>{fact}</dd>
        </Fragment>
      ))}
    </dl>
  );
}

export function Badge({ tone, icon, word }: { tone: Tone; icon?: IconName; word: string }) {
  return (
    <span className={`badge ${tone}`}>
      {icon && <Icon name={icon} />}
      {word}
    </span>
  );
}

interface CardProps extends ComponentProps<'section'> {
  readonly beside?: ReactNode;
  readonly flush?: boolean;
}

export function Card({ title, beside, flush = false, className, children }: CardProps) {
  const id = useId();
  return (
    <section className={classes('card', flush && 'flush', className)} aria-labelledby={title && id}>
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

export const TONE_ICONS = { good: 'check', warn: 'warn', bad: 'bad', calm: 'info', info: 'info' } as const;

interface NoticeProps {
  readonly tone: Tone;
  readonly icon?: IconName;
  readonly title?: string;
  readonly children?: ReactNode;
}

export function Notice({ tone, icon = TONE_ICONS[tone], title, children }: NoticeProps) {
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
        <Prose key={line} as="p">
          {line}
        </Prose>
      ))}
    </Notice>
  );
}

interface DialogProps {
  readonly onClose: () => void;
  readonly title: string;
  readonly footer?: ReactNode;
  readonly children: ReactNode;
}

/** The browser's own, for as long as it is drawn: it keeps the focus inside, gives it back, and closes with Escape. */
export function Dialog({ onClose, title, footer, children }: DialogProps) {
  const id = useId();
  return (
    <dialog ref={showModal} aria-labelledby={id} onClose={onClose}>
      <header className="line">
        <h2 id={id} className="grow">
          {title}
        </h2>
        <Button look="quiet" icon="close" aria-label="Close" onClick={onClose} />
      </header>
      <div className="stack">{children}</div>
      {footer && <footer className="line">{footer}</footer>}
    </dialog>
  );
}

function showModal(dialog: HTMLDialogElement) {
  dialog.showModal();
  return () => dialog.close();
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

export function Skeleton({ what }: { what: string }) {
  return <div role="status" aria-label={`Loading ${what}`} className="skeleton" />;
}

interface Labelled {
  readonly label: string;
  readonly hint?: string | undefined;
}

/** Of what is typed or chosen: its id, and that of its hint. */
type Described = { id: string; 'aria-describedby'?: string };

export function Field({ label, hint, children }: Labelled & { children: (props: Described) => ReactNode }) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children(hint === undefined ? { id } : { id, 'aria-describedby': `${id}-about` })}
      {hint !== undefined && (
        <span id={`${id}-about`} className="small soft">
          {hint}
        </span>
      )}
    </div>
  );
}

/** As `ref` of what has the keys when it comes. */
export const takeFocus = (element: HTMLElement | null) => element?.focus();

/** A form that the browser does not send. */
export const submitting = (onSubmit: (form: HTMLFormElement) => void): Pick<ComponentProps<'form'>, 'onSubmit'> => ({
  onSubmit(event) {
    event.preventDefault();
    onSubmit(event.currentTarget);
  },
});

export function TextField({ label, hint, ...rest }: ComponentProps<'input'> & Labelled) {
  return <Field {...{ label, hint }}>{(props) => <input {...rest} {...props} className="input" />}</Field>;
}

interface SearchFormProps extends ComponentProps<'input'> {
  /** What is looked for now. */
  readonly value: string;
  readonly onSearch: (text: string) => void;
}

export function SearchForm({ value, onSearch, className, ...rest }: SearchFormProps) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    input.current!.value = value;
  }, [value]);
  return (
    <form {...submitting(() => onSearch(input.current!.value.trim()))}>
      <input
        {...rest}
        ref={input}
        type="search"
        className={classes('input', className)}
        defaultValue={value}
        onKeyDown={({ key, currentTarget }) => key === 'Escape' && currentTarget.blur()}
      />
    </form>
  );
}

interface ChooseProps extends ComponentProps<'select'>, Labelled {
  /** What stands beside it names it. */
  readonly bare?: boolean;
  readonly options: readonly (readonly [value: string, word: string])[];
  readonly onChoose: (value: string) => void;
}

export function Choose({ label, hint, bare = false, options, onChoose, ...rest }: ChooseProps) {
  const select = (props: ComponentProps<'select'>) => (
    <select className="input" {...rest} {...props} onChange={({ target }) => onChoose(target.value)}>
      {options.map(([name, word]) => (
        <option key={name} value={name}>
          {word}
        </option>
      ))}
    </select>
  );
  if (bare) return select({ 'aria-label': label });
  return <Field {...{ label, hint }}>{select}</Field>;
}

interface ChipsProps<T> {
  readonly label: string;
  /** `to`: what choosing it leads to. */
  readonly of: readonly { word: ReactNode; count?: number | undefined; on: boolean; to: T }[];
  readonly onChoose: (to: T) => void;
}

/** Filters of which at most one is on. */
export function Chips<T>({ label, of, onChoose }: ChipsProps<T>) {
  return (
    <div className="chips" role="group" aria-label={label}>
      {of.map(({ word, count, on, to }) => (
        <Button key={JSON.stringify(to)} className="chip" aria-pressed={on} onClick={() => onChoose(to)}>
          {word}
          {count !== undefined && <span className={on ? '' : 'soft'}>{number(count)}</span>}
        </Button>
      ))}
    </div>
  );
}

/** Sentences, with what stands between backticks as something to type. */
export function Prose({ children, as: Tag = 'bdi' }: { children: string; as?: 'bdi' | 'p' | 'li' }) {
  const parts = children.split('`');
  return (
    <Tag dir="auto" className="prose">
      {parts.length % 2 === 0
        ? children
        : parts.map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part))}
    </Tag>
  );
}
