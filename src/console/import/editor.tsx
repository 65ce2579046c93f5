import { useQuery } from '@tanstack/react-query';
import { useId, useLayoutEffect, useRef, useState } from 'react';
import type { Field, Issue } from '../../api/schema.js';
import { namesQuery } from '../app/queries.js';
import { type Choice, ChoiceList, matching, moveActive } from '../kit/choices.js';

/** Where the cursor goes when a cell was typed; `equal`: all equal cells get the value. */
export type Left = 'stay' | 'down' | 'up' | 'next' | 'previous' | 'equal';

/** Names that the message of a fault asks about: `Did you mean "A" or "B"?` */
export function meant({ message }: Pick<Issue, 'message'>): string[] {
  const asked = /Did you mean (".*")\?/.exec(message)?.[1] ?? '';
  return [...asked.matchAll(/"(.*?)"(?= or "|, "|$)/g)].map(([, name = '']) => name);
}

/** The field of a cell while it is being edited: its text, and what the column takes. */
export function CellEditor({
  label,
  original,
  begun,
  field,
  issues,
  onLeave,
  onCancel,
}: {
  label: string;
  /** What the cell shows. */
  original: string;
  /** What was typed to begin with, in place of it. */
  begun: string | undefined;
  field: Field | undefined;
  issues: readonly Issue[];
  onLeave: (text: string, how: Left) => void;
  onCancel: () => void;
}) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const left = useRef(false);
  const [text, setText] = useState(begun ?? original);
  const [active, setActive] = useState(-1);
  const [listed, setListed] = useState(true);
  const choices = useChoices(text, text !== original, field, issues);
  const open = listed && choices.length > 0;
  useLayoutEffect(() => {
    input.current?.focus();
    if (begun === undefined) input.current?.select();
  }, [begun]);
  function leave(value: string, how: Left): void {
    left.current = true;
    onLeave(value, how);
  }
  return (
    <>
      <input
        ref={input}
        className="editor"
        role="combobox"
        aria-label={label}
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        aria-autocomplete="list"
        aria-activedescendant={open && active >= 0 ? `${id}-${active}` : undefined}
        autoComplete="off"
        spellCheck={false}
        value={text}
        onChange={({ target }) => {
          setText(target.value);
          setActive(-1);
          setListed(true);
        }}
        onBlur={() => {
          if (!left.current) leave(text, 'stay');
        }}
        onKeyDown={(event) => {
          // The grid has keys of its own.
          event.stopPropagation();
          const { key, shiftKey } = event;
          if (open && moveActive(event, active, choices.length, setActive)) return;
          const value = choices[active]?.value ?? text;
          if (key === 'Enter') {
            event.preventDefault();
            leave(value, event.ctrlKey || event.metaKey ? 'equal' : shiftKey ? 'up' : 'down');
          } else if (key === 'Tab') {
            event.preventDefault();
            leave(value, shiftKey ? 'previous' : 'next');
          } else if (key === 'Escape') {
            event.preventDefault();
            if (open && active >= 0) setListed(false);
            left.current = true;
            onCancel();
          }
        }}
      />
      {open && (
        <ChoiceList
          id={id}
          at={input}
          label={`What ${label} can be`}
          choices={choices}
          active={active}
          onPick={({ value }) => leave(value, 'down')}
        />
      )}
    </>
  );
}

const MOST_LISTED = 50;
/** Of a name that the service lacks, its beginning may be right. */
const BEGINNING = 3;

function useChoices(text: string, typed: boolean, field: Field | undefined, issues: readonly Issue[]): Choice[] {
  const asked = typed ? text : text.slice(0, BEGINNING);
  const { data } = useQuery({ ...namesQuery(field?.of ?? '', asked), enabled: field?.of != null });
  const near = typed ? [] : issues.flatMap(meant).map((name) => ({ value: name, label: name, hint: 'meant?' }));
  const known = (field?.choices ?? []).map((choice) => ({ value: choice, label: choice }));
  const named = (data?.names ?? []).map((name) => ({ value: name, label: name }));
  const others = [...matching(known, typed ? text : ''), ...named];
  const taken = new Set(near.map(({ value }) => value));
  return [...near, ...others.filter(({ value }) => !taken.has(value) && value !== text)].slice(0, MOST_LISTED);
}
