import { useQuery } from '@tanstack/react-query';
import { type ComponentProps, type KeyboardEvent, useRef, useState } from 'react';
import type { FaultGroup, Field, Issue, Row } from '../../api/schema.js';
import { namesQuery } from '../app/queries.js';
import { type Choice, matching, useChoiceList } from '../kit/choices.js';
import { counted, number } from '../kit/format.js';
import { Icon } from '../kit/icons.js';
import { Button, Prose } from '../kit/parts.js';
import { ValueChange } from '../runs/plan.js';
import { faultWord } from '../runs/words.js';
import { type CellAt, type Edits, editedValue, isForAll, isLeftOut, setEqual, setLeftOut } from './edits.js';

/** What becomes of a cell that was typed: the key that leads to the next one, or all equal cells get the value. */
export type LeaveReason = 'stay' | 'equal' | 'ArrowDown' | 'ArrowUp' | 'Tab' | 'Shift+Tab' | 'Escape';

/** Names that the message of a fault asks about: `Did you mean "A" or "B"?` */
function suggestedNames({ message }: Pick<Issue, 'message'>): string[] {
  const asked = /Did you mean (".*")\?/.exec(message)?.[1] ?? '';
  return [...asked.matchAll(/"(.*?)"(?= or "|, "|$)/g)].map(([, name = '']) => name);
}

interface CellEditorProps {
  readonly cell: CellAt;
  readonly edits: Edits;
  /** What was typed to begin with, in place of what the cell shows. */
  readonly begun: string | undefined;
  readonly field: Field | undefined;
  readonly issues: readonly Issue[];
  readonly onLeave: (text: string, how: LeaveReason) => void;
}

/** The field of a cell while it is being edited: its text, and what the column takes. */
export function CellEditor({ cell, edits, begun, field, issues, onLeave }: CellEditorProps) {
  const hasLeft = useRef(false);
  const original = editedValue(edits, cell);
  const [text, setText] = useState(begun ?? original);
  const suggested =
    original === cell.cell ? issues.filter(({ column }) => column === cell.column).flatMap(suggestedNames) : [];
  const choices = useChoices(text, text !== original, field, suggested);
  const choiceList = useChoiceList(`What ${cell.column} can be`, choices, ({ value }) => leave(value, 'ArrowDown'));
  function leave(value: string, how: LeaveReason): void {
    hasLeft.current = true;
    onLeave(value, how);
  }
  function handleKey(event: KeyboardEvent): void {
    // The grid has keys of its own.
    event.stopPropagation();
    const { key, shiftKey } = event;
    if (event.nativeEvent.isComposing || choiceList.move(event)) return;
    const value = choiceList.active?.value ?? text;
    if (key === 'Enter') leave(value, event.ctrlKey || event.metaKey ? 'equal' : shiftKey ? 'ArrowUp' : 'ArrowDown');
    else if (key === 'Tab') leave(value, shiftKey ? 'Shift+Tab' : 'Tab');
    else if (key === 'Escape') leave(original, 'Escape');
    else return;
    event.preventDefault();
  }
  const props: ComponentProps<'input'> = {
    className: 'editor',
    'aria-label': `${cell.column}, row ${cell.row}`,
    value: text,
    autoFocus: true,
    onFocus({ currentTarget: field }) {
      // A field of several lines is higher than its row.
      field.scrollIntoView({ block: 'nearest' });
      // At its end, as spreadsheet programs do: typing without it has begun anew. A field of several lines would be at its beginning.
      field.setSelectionRange(text.length, text.length);
    },
    onChange: ({ target }) => {
      setText(target.value);
      choiceList.setActive(-1);
    },
    onBlur: () => !hasLeft.current && leave(text, 'stay'),
    onKeyDown: handleKey,
  };
  // One line of text would lose the others.
  if (/[\r\n]/.test(original)) return <textarea {...(props as ComponentProps<'textarea'>)} />;
  return (
    <>
      <input {...choiceList.field} {...props} />
      {choiceList.list}
    </>
  );
}

const MOST_LISTED = 50;
/** Of a name that the service lacks, its beginning may be right. */
const PREFIX_LENGTH = 3;

/** `suggested`: names that may be meant. Undefined where there are none. */
function useChoices(text: string, typed: boolean, field: Field | undefined, suggested: readonly string[]) {
  const asked = typed ? text : text.slice(0, PREFIX_LENGTH);
  const { data } = useQuery({ ...namesQuery(field?.of ?? '', asked), enabled: field?.of != null });
  const first = typed ? [] : suggested;
  const fixed = matching((field?.choices ?? []).map(asChoice), typed ? text : '');
  const others = [...fixed, ...(data?.names ?? []).map(asChoice)];
  const choices: Choice[] = [
    ...first.map((value) => ({ ...asChoice(value), hint: 'meant?' })),
    ...others.filter(({ value }) => !first.includes(value) && value !== text),
  ];
  return choices.length > 0 ? choices.slice(0, MOST_LISTED) : undefined;
}

const asChoice = (value: string): Choice => ({ value, label: value });

/** What is corrected, and by whom. */
export interface CorrectionProps {
  readonly faults: readonly FaultGroup[];
  readonly edits: Edits;
  readonly onEdit: (change: (now: Edits) => Edits) => void;
  /** Nobody who may only look changes a cell. */
  readonly readOnly: boolean;
}

interface CellStatusProps {
  readonly of: CorrectionProps;
  readonly headings: readonly string[];
  readonly row: Row | undefined;
  readonly at: CellAt | undefined;
  readonly onOpen: () => void;
}

/** What is wrong with the cell where the cursor is, and what to do; it stands at its place, whatever cell that is. */
export function CellStatus({ of: { edits, faults, readOnly, onEdit }, headings, row, at, onOpen }: CellStatusProps) {
  if (!row || !at) return <div className="strip" />;
  const { column, cell } = at;
  const value = editedValue(edits, at);
  const corrected = value !== cell;
  const cellIssues = row.issues.filter((issue) => issue.column === column);
  // What was wrong with the cell says nothing of what stands in it now.
  const issues =
    cellIssues.length > 0 ? (corrected ? [] : cellIssues) : row.issues.filter((issue) => issue.column === undefined);
  const equal = faults.find((one) => one.column === column && one.value === cell.trim())?.rows ?? 0;
  const isOut = isLeftOut(edits, headings, row);
  /** Of a cell that was corrected for itself what it is now, else names that may be meant. */
  const offers = !corrected
    ? cellIssues.flatMap(suggestedNames).slice(0, 2)
    : equal > 1 && !isOut && !isForAll(edits, at, value)
      ? [value]
      : [];
  return (
    <div className="strip stack tight">
      <div className="line">
        <strong>
          Row {number(row.row)} · <bdi>{column}</bdi>
        </strong>
        {corrected && (
          <span className="grow">
            <ValueChange old={cell} to={value} kind="set" />
          </span>
        )}
        {!readOnly && (
          <span className="line end">
            {offers.map((text) => (
              <Button key={text} onClick={() => onEdit((now) => setEqual(now, at, text))}>
                <span>
                  Take <bdi>{text}</bdi>
                  {equal > 1 && ` for ${counted(equal, 'row')}`}
                </span>
              </Button>
            ))}
            <Button
              look="quiet"
              onClick={() => onEdit((now) => setLeftOut(now, headings, row, !isOut))}
              word={isOut ? 'Take the row in' : 'Leave the row out'}
            />
            <Button look="quiet" icon="correct" onClick={onOpen} word="Correct" />
          </span>
        )}
      </div>
      <div role="status">
        {isOut && <p>All its cells are emptied: the row is left out.</p>}
        {(isOut ? [] : issues).map(({ code, message, severity }) => (
          <p key={code + message} className="wrap">
            <span className={`toned ${severity === 'error' ? 'warn' : 'calm'}`}>
              <Icon name={severity === 'error' ? 'warn' : 'info'} /> {faultWord(code)}.
            </span>{' '}
            <Prose>{message}</Prose>
          </p>
        ))}
        {issues.length === 0 && !isOut && (
          <p className="soft">{corrected ? 'The next check looks at it.' : 'Nothing is wrong with this cell.'}</p>
        )}
      </div>
    </div>
  );
}
