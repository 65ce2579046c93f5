import { createContext, type ReactNode, useContext, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { Dialog } from '../kit/dialog.js';

/** A key, or two one after the other (`g r`), and what it does. */
export interface Shortcut {
  readonly keys: string;
  readonly what: string;
  readonly run: () => void;
}

interface Registry {
  readonly add: (shortcuts: () => readonly Shortcut[]) => () => void;
}

const Keys = createContext<Registry>({ add: () => () => undefined });
const SETTING = 'rowferry.single-keys';
const SECOND_KEY_MS = 1_000;

/** Keys that hold from when the component is first drawn, while it is there; they stand in the list that `?` opens. */
export function useShortcuts(shortcuts: readonly Shortcut[]): void {
  const { add } = useContext(Keys);
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  useLayoutEffect(() => add(() => latest.current), [add]);
}

/** Where keys are typed, or chosen with, they mean what they always mean. */
function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('input, select, textarea, [contenteditable], dialog') !== null;
}

export function ShortcutKeys({ children }: { children: ReactNode }) {
  const groups = useRef(new Set<() => readonly Shortcut[]>());
  const [listed, setListed] = useState<readonly Shortcut[]>();
  const [on, setOn] = useState(() => localStorage.getItem(SETTING) !== 'off');
  const registry = useMemo<Registry>(
    () => ({
      add(shortcuts) {
        groups.current.add(shortcuts);
        return () => void groups.current.delete(shortcuts);
      },
    }),
    [],
  );
  useLayoutEffect(() => {
    let [first, at] = ['', 0];
    const pressed = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event.target)) return;
      const all = [...groups.current].flatMap((shortcuts) => shortcuts());
      if (event.key === '?') {
        setListed(all);
        return;
      }
      if (!on) return;
      const both = event.timeStamp - at < SECOND_KEY_MS ? `${first} ${event.key}` : '';
      // The page that is on top was added last.
      const found = all.findLast(({ keys }) => keys === both) ?? all.findLast(({ keys }) => keys === event.key);
      [first, at] = [event.key, event.timeStamp];
      if (!found) return;
      event.preventDefault();
      found.run();
    };
    document.addEventListener('keydown', pressed);
    return () => document.removeEventListener('keydown', pressed);
  }, [on]);
  return (
    <Keys.Provider value={registry}>
      {children}
      <Dialog open={listed !== undefined} onClose={() => setListed(undefined)} title="Keys">
        <dl className="facts keys">
          {listed?.map(({ keys, what }) => (
            <div key={keys}>
              <dt>
                {keys.split(' ').map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
        <label className="line">
          <input
            type="checkbox"
            checked={on}
            onChange={({ target }) => {
              localStorage.setItem(SETTING, target.checked ? 'on' : 'off');
              setOn(target.checked);
            }}
          />
          Keys work without Ctrl
        </label>
      </Dialog>
    </Keys.Provider>
  );
}
