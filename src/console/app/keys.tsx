import { useEffect, useEffectEvent, useState } from 'react';
import { Dialog } from '../kit/dialog.js';
import { Facts } from '../kit/parts.js';

interface Shortcut {
  readonly key: string;
  readonly what: string;
  readonly run: () => void;
}

const SETTING_KEY = 'rowferry.single-keys';

/** All that hold now; those of the page that is on top were added last. */
const registered = new Set<Shortcut>();

/** It holds while the component is there, and stands in the list that `?` opens. */
export function useShortcut(key: string, what: string, run: () => void): void {
  const onKey = useEffectEvent(run);
  useEffect(() => {
    const shortcut = { key, what, run: () => onKey() };
    registered.add(shortcut);
    return () => void registered.delete(shortcut);
  }, [key, what]);
}

/** Where keys are typed, or chosen with, they mean what they always mean. */
function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('input, select, textarea, [contenteditable], dialog') !== null;
}

export function ShortcutKeys() {
  const [listed, setListed] = useState<readonly Shortcut[]>();
  const [on, setOn] = useState(() => localStorage.getItem(SETTING_KEY) !== 'off');
  useEffect(() => {
    const handleKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event.target)) return;
      const all = [...registered];
      if (event.key === '?') return setListed(all);
      const found = on && all.findLast(({ key }) => key === event.key);
      if (!found) return;
      event.preventDefault();
      found.run();
    };
    document.addEventListener('keydown', handleKey);
    return () => document.removeEventListener('keydown', handleKey);
  }, [on]);
  if (!listed) return null;
  return (
    <Dialog onClose={() => setListed(undefined)} title="Keys">
      <Facts of={listed.map(({ key, what }) => [<kbd key={key}>{key}</kbd>, what])} />
      <label className="line">
        <input
          type="checkbox"
          checked={on}
          onChange={({ target }) => {
            localStorage.setItem(SETTING_KEY, target.checked ? 'on' : 'off');
            setOn(target.checked);
          }}
        />
        Keys work without Ctrl
      </label>
    </Dialog>
  );
}
