// biome-ignore-all lint/a11y/useSemanticElements: browsers have no list that is filtered by typing
// biome-ignore-all lint/a11y/useFocusableInteractive: the focus stays in the field, which names the active choice
import { type KeyboardEvent, useId, useState } from 'react';

/** Lists to choose from: under a field that filters them, and under a cell that is being edited. */

export interface Choice {
  readonly value: string;
  readonly label: string;
  readonly group?: string | undefined;
  readonly hint?: string | undefined;
}

/** What a field and the list behind it share; the focus stays in the field. `list`: undefined while it is closed. */
export function useChoiceList(label: string, choices: readonly Choice[] | undefined, onPick: (choice: Choice) => void) {
  const id = useId();
  /** -1: none is active. */
  const [active, setActive] = useState(-1);
  const isOpen = choices !== undefined;
  return {
    setActive,
    active: choices?.[active],
    /** Up and down among the choices. True where the key was taken. */
    move(event: KeyboardEvent): boolean {
      const count = choices?.length ?? 0;
      if ((event.key !== 'ArrowDown' && event.key !== 'ArrowUp') || count === 0) return false;
      event.preventDefault();
      const to = active + (event.key === 'ArrowDown' ? 1 : -1);
      setActive(to >= count ? 0 : to < 0 ? count - 1 : to);
      return true;
    },
    /** What says to screen readers that the field has a list below it. */
    field: {
      role: 'combobox',
      'aria-expanded': isOpen,
      'aria-controls': isOpen ? id : undefined,
      'aria-autocomplete': 'list',
      'aria-activedescendant': choices?.[active] ? `${id}-${active}` : undefined,
      autoComplete: 'off',
      spellCheck: false,
    } as const,
    list: choices && (
      <div ref={showAtField} id={id} role="listbox" aria-label={label} popover="manual" className="choices">
        {groupsOf(choices).map((group) => (
          <div key={group} role="group" aria-label={group}>
            {choices.map(
              (choice, place) =>
                choice.group === group && (
                  // biome-ignore lint/a11y/useKeyWithClickEvents: keys go to the field
                  <div
                    key={choice.value}
                    id={`${id}-${place}`}
                    role="option"
                    aria-selected={place === active}
                    ref={place === active ? scrollIntoSight : undefined}
                    onPointerDown={(event) => event.preventDefault()}
                    onClick={() => onPick(choice)}
                  >
                    <bdi className="wrap">{choice.label}</bdi>
                    {choice.hint && <span className="soft small">{choice.hint}</span>}
                  </div>
                ),
            )}
          </div>
        ))}
        {choices.length === 0 && (
          <div role="option" aria-selected="false" aria-disabled="true" className="soft">
            Nothing like it
          </div>
        )}
      </div>
    ),
  };
}

const scrollIntoSight = (choice: Element | null | undefined) => choice?.scrollIntoView({ block: 'nearest' });

function showAtField(list: HTMLElement | null): void {
  list?.showPopover({ source: list.previousElementSibling as HTMLElement });
  scrollIntoSight(list?.querySelector('[aria-selected="true"]'));
}

const groupsOf = (choices: readonly Choice[]) => [...new Set(choices.map(({ group }) => group))];

/** Those that hold the text, in their names or groups, group by group; those that begin with it first. */
export function matching(choices: readonly Choice[], text: string): Choice[] {
  const wanted = text.trim().toLocaleLowerCase();
  const textOf = ({ label, value, group = '' }: Choice) => `${label} ${value} ${group}`.toLocaleLowerCase();
  const rank = ({ label, value }: Choice) => Number(!label.toLocaleLowerCase().startsWith(wanted) && value !== wanted);
  const found = choices.filter((one) => textOf(one).includes(wanted)).sort((a, b) => rank(a) - rank(b));
  return groupsOf(found).flatMap((group) => found.filter((one) => one.group === group));
}

interface ComboProps {
  readonly label: string;
  readonly value: string;
  readonly choices: readonly Choice[];
  readonly onChoose: (value: string) => void;
  /** What stands there where nothing is chosen. */
  readonly empty: string;
}

export function Combo({ label, value, choices, onChoose, empty }: ComboProps) {
  const [typed, setTyped] = useState<string>();
  const isOpen = typed !== undefined;
  const displayText = choices.find((choice) => choice.value === value)?.label ?? value;
  const visible = isOpen ? matching(choices, typed) : undefined;
  const { field, list, active, setActive, move } = useChoiceList(label, visible, pick);
  function pick(choice: Choice | undefined): void {
    setTyped(undefined);
    if (choice && choice.value !== value) onChoose(choice.value);
  }
  function begin(): void {
    setTyped('');
    const chosen = matching(choices, '').findIndex((choice) => choice.value === value);
    setActive(Math.max(0, chosen));
  }
  return (
    <>
      <input
        {...field}
        className="input combo"
        aria-label={label}
        placeholder={displayText || empty}
        value={typed ?? displayText}
        onFocus={(event) => event.currentTarget.select()}
        onClick={() => !isOpen && begin()}
        onBlur={() => setTyped(undefined)}
        onChange={({ target }) => {
          setTyped(target.value);
          setActive(0);
        }}
        onKeyDown={(event) => {
          const { key } = event;
          if (move(event)) return;
          if (isOpen && key === 'Enter') pick(active);
          else if (isOpen && key === 'Escape') setTyped(undefined);
          else if (!isOpen && (key === 'Enter' || key === 'ArrowDown')) begin();
          else return;
          event.preventDefault();
        }}
      />
      {list}
    </>
  );
}
