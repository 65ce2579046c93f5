import { useEffect, useState } from 'react';
import { Dialog, Facts } from '../kit/parts.js';

const SETTING_KEY = 'rowferry.single-keys';

/** What has a key of its own says so; of two with the same key the one that came last has it. */
const withKeys = () => [...document.querySelectorAll<HTMLElement>('[aria-keyshortcuts]')];

/** Where keys are typed, or chosen with, they mean what they always mean. */
function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('input, select, textarea, [contenteditable], dialog') !== null;
}

/** Keys go to what names them in `aria-keyshortcuts`: a field is gone to, a button is pressed. `?` lists them. */
export function ShortcutKeys() {
  const [listed, setListed] = useState<readonly HTMLElement[]>();
  const [on, setOn] = useState(() => localStorage.getItem(SETTING_KEY) !== 'off');
  useEffect(() => {
    const handleKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event.target)) return;
      if (event.key === '?') return setListed(withKeys());
      const found = on && withKeys().findLast(({ ariaKeyShortcuts }) => ariaKeyShortcuts === event.key);
      if (!found) return;
      event.preventDefault();
      if (found instanceof HTMLInputElement) found.focus();
      else found.click();
    };
    document.addEventListener('keydown', handleKey);
    return () => document.removeEventListener('keydown', handleKey);
  }, [on]);
  if (!listed) return null;
  return (
    <Dialog onClose={() => setListed(undefined)} title="Keys">
      <Facts
        of={listed.map((one) => [<kbd key="key">{one.ariaKeyShortcuts}</kbd>, one.ariaLabel ?? one.textContent])}
      />
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
