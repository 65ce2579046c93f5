import { useQuery } from '@tanstack/react-query';
import {
  type ComponentProps,
  type KeyboardEvent,
  type RefObject,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import type { Field, Issue } from '../../api/schema.js';
import { namesQuery } from '../app/queries.js';
import { type Choice, ChoiceList, matching, moveActive } from '../kit/choices.js';
import { type CellAt, type Edits, shownValue } from './edits.js';

/** What becomes of a cell that was typed: the key that leads to the next one, or all equal cells get the value. */
export type Left = 'stay' | 'equal' | 'ArrowDown' | 'ArrowUp' | 'Tab' | 'Shift+Tab';

/** Names that the message of a fault asks about: `Did you mean "A" or "B"?` */
export function meant({ message }: Pick<Issue, 'message'>): string[] {
  const asked = /Did you mean (".*")\?/.exec(message)?.[1] ?? '';
  return [...asked.matchAll(/"(.*?)"(?= or "|, "|$)/g)].map(([, name = '']) => name);
}

/** The field of a cell while it is being edited: its text, and what the column takes. */
export function CellEditor({
  cell,
  edits,
  begun,
  field,
  issues,
  onLeave,
  onCancel,
}: {
  cell: CellAt;
  edits: Edits;
  /** What was typed to begin with, in place of what the cell shows. */
  begun: string | undefined;
  field: Field | undefined;
  /** Of the row. */
  issues: readonly Issue[];
  onLeave: (text: string, how: Left) => void;
  onCancel: () => void;
}) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const left = useRef(false);
  const original = shownValue(edits, cell);
  const [text, setText] = useState(begun ?? original);
  const [active, setActive] = useState(-1);
  const near = original === cell.cell ? issues.filter(({ column }) => column === cell.column).flatMap(meant) : [];
  const choices = useChoices(text, text !== original, field, near);
  const open = choices.length > 0;
  useLayoutEffect(() => {
    input.current?.focus();
    if (begun === undefined) input.current?.select();
  }, [begun]);
  function leave(value: string, how: Left): void {
    left.current = true;
    onLeave(value, how);
  }
  function pressed(event: KeyboardEvent): void {
    // The grid has keys of its own.
    event.stopPropagation();
    const { key, shiftKey } = event;
    if (event.nativeEvent.isComposing || moveActive(event, active, choices.length, setActive)) return;
    const value = choices[active]?.value ?? text;
    if (key === 'Enter') leave(value, event.ctrlKey || event.metaKey ? 'equal' : shiftKey ? 'ArrowUp' : 'ArrowDown');
    else if (key === 'Tab') leave(value, shiftKey ? 'Shift+Tab' : 'Tab');
    else if (key === 'Escape') {
      left.current = true;
      onCancel();
    } else return;
    event.preventDefault();
  }
  const props: ComponentProps<'input'> = {
    className: 'editor',
    'aria-label': `${cell.column}, row ${cell.row}`,
    autoComplete: 'off',
    spellCheck: false,
    value: text,
    onChange: ({ target }) => {
      setText(target.value);
      setActive(-1);
    },
    onBlur: () => {
      if (!left.current) leave(text, 'stay');
    },
    onKeyDown: pressed,
  };
  // One line of text would lose the others.
  if (/[\r\n]/.test(original)) {
    return (
      <textarea {...(props as ComponentProps<'textarea'>)} ref={input as unknown as RefObject<HTMLTextAreaElement>} />
    );
  }
  return (
    <>
      <input
        {...props}
        ref={input}
        role="combobox"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        aria-autocomplete="list"
        aria-activedescendant={open && active >= 0 ? `${id}-${active}` : undefined}
      />
      {open && (
        <ChoiceList
          id={id}
          at={input}
          label={`What ${cell.column} can be`}
          choices={choices}
          active={active}
          onPick={({ value }) => leave(value, 'ArrowDown')}
        />
      )}
    </>
  );
}

const MOST_LISTED = 50;
/** Of a name that the service lacks, its beginning may be right. */
const BEGINNING = 3;

/** `near`: names that may be meant. */
function useChoices(text: string, typed: boolean, field: Field | undefined, near: readonly string[]): Choice[] {
  const asked = typed ? text : text.slice(0, BEGINNING);
  const { data } = useQuery({ ...namesQuery(field?.of ?? '', asked), enabled: field?.of != null });
  const first = typed ? [] : near;
  const known = matching(
    (field?.choices ?? []).map((choice) => ({ value: choice, label: choice })),
    typed ? text : '',
  );
  const others = [...known.map(({ value }) => value), ...(data?.names ?? [])];
  return [
    ...first.map((value) => ({ value, label: value, hint: 'meant?' })),
    ...others.filter((value) => !first.includes(value) && value !== text).map((value) => ({ value, label: value })),
  ].slice(0, MOST_LISTED);
}
