// biome-ignore-all lint/a11y/useSemanticElements: browsers have no list that is filtered by typing
// biome-ignore-all lint/a11y/useFocusableInteractive: the focus stays in the field, which names the active choice
import { type KeyboardEvent, type RefObject, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';

/** Lists to choose from: under a field that filters them, and under a cell that is being edited. */

export interface Choice {
  readonly value: string;
  readonly label: string;
  readonly group?: string | undefined;
  readonly hint?: string | undefined;
}

/** In the layer above all, at its field; the focus stays in the field. */
export function ChoiceList({
  id,
  at,
  label,
  choices,
  active,
  onPick,
}: {
  id: string;
  at: RefObject<HTMLElement | null>;
  label: string;
  choices: readonly Choice[];
  active: number;
  onPick: (choice: Choice) => void;
}) {
  const list = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => list.current?.showPopover({ source: at.current! }), [at]);
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [active]);
  return (
    <div ref={list} id={id} role="listbox" aria-label={label} popover="manual" className="choices">
      {groupsOf(choices).map((group) => (
        <div key={group} {...(group !== undefined && { role: 'group', 'aria-label': group })}>
          {group !== undefined && (
            <div className="group small soft" aria-hidden="true">
              {group}
            </div>
          )}
          {choices.map(
            (choice, place) =>
              choice.group === group && (
                // biome-ignore lint/a11y/useKeyWithClickEvents: keys go to the field
                <div
                  key={choice.value}
                  id={`${id}-${place}`}
                  role="option"
                  aria-selected={place === active}
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
  );
}

const groupsOf = (choices: readonly Choice[]) => [...new Set(choices.map(({ group }) => group))];

/** Up and down among choices; -1: none is active. True where the key was taken. */
export function moveActive(
  event: KeyboardEvent,
  active: number,
  count: number,
  set: (active: number) => void,
): boolean {
  if ((event.key !== 'ArrowDown' && event.key !== 'ArrowUp') || count === 0) return false;
  event.preventDefault();
  const to = active + (event.key === 'ArrowDown' ? 1 : -1);
  set(to >= count ? 0 : to < 0 ? count - 1 : to);
  return true;
}

/** Those that hold the text, in their names or groups, group by group; those that begin with it first. */
export function matching(choices: readonly Choice[], text: string): Choice[] {
  const wanted = text.trim().toLocaleLowerCase();
  const holds = (...texts: readonly string[]) => texts.join(' ').toLocaleLowerCase().includes(wanted);
  const rank = ({ label, value }: Choice) => Number(!label.toLocaleLowerCase().startsWith(wanted) && value !== wanted);
  const found = choices.filter(({ label, value, group = '' }) => holds(label, value, group));
  if (wanted !== '') found.sort((a, b) => rank(a) - rank(b));
  return groupsOf(found).flatMap((group) => found.filter((one) => one.group === group));
}

/** What says to screen readers that a field has a list below it; `active`: -1 where none is. */
export function listedBy(id: string, open: boolean, active: number) {
  return {
    role: 'combobox',
    'aria-expanded': open,
    'aria-controls': open ? id : undefined,
    'aria-autocomplete': 'list',
    'aria-activedescendant': open && active >= 0 ? `${id}-${active}` : undefined,
    autoComplete: 'off',
    spellCheck: false,
  } as const;
}

/** One of a list that is searched by typing. */
export function Combo({
  label,
  value,
  choices,
  onChoose,
  empty,
}: {
  label: string;
  value: string;
  choices: readonly Choice[];
  onChoose: (value: string) => void;
  /** What stands there where nothing is chosen. */
  empty: string;
}) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState<string>();
  const [active, setActive] = useState(0);
  const shown = choices.find((choice) => choice.value === value)?.label ?? value;
  const found = matching(choices, typed ?? '');
  const open = typed !== undefined;
  function pick(choice: Choice | undefined): void {
    setTyped(undefined);
    if (choice && choice.value !== value) onChoose(choice.value);
  }
  function begin(): void {
    setTyped('');
    setActive(
      Math.max(
        0,
        matching(choices, '').findIndex((choice) => choice.value === value),
      ),
    );
  }
  return (
    <>
      <input
        ref={input}
        {...listedBy(id, open, found.length > 0 ? active : -1)}
        className="input combo"
        aria-label={label}
        placeholder={shown || empty}
        value={typed ?? shown}
        onFocus={(event) => event.currentTarget.select()}
        onClick={() => !open && begin()}
        onBlur={() => setTyped(undefined)}
        onChange={({ target }) => {
          setTyped(target.value);
          setActive(0);
        }}
        onKeyDown={(event) => {
          const { key } = event;
          if (open && moveActive(event, active, found.length, setActive)) return;
          if (open && key === 'Enter') pick(found[active]);
          else if (open && key === 'Escape') setTyped(undefined);
          else if (!open && (key === 'Enter' || key === 'ArrowDown')) begin();
          else return;
          event.preventDefault();
        }}
      />
      {open && <ChoiceList id={id} at={input} label={label} choices={found} active={active} onPick={pick} />}
    </>
  );
}
