import { useEffect, useSyncExternalStore } from 'react';
import { Button } from './parts.js';

/** What was done, for as long as it takes to read. */
interface Toast {
  readonly id: number;
  readonly text: string;
}

const SHOWN_MS = 10_000;
const MOST = 3;
let toasts: readonly Toast[] = [];
let last = 0;
const listeners = new Set<() => void>();

function change(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

export function toast(text: string): void {
  last += 1;
  change([...toasts, { id: last, text }].slice(-MOST));
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function Toasts() {
  const shown = useSyncExternalStore(listen, () => toasts);
  return (
    <div className="toasts stack tight" role="status" aria-live="polite">
      {shown.map(({ id, text }) => (
        <Shown key={id} id={id} text={text} />
      ))}
    </div>
  );
}

function Shown({ id, text }: Toast) {
  const close = () => change(toasts.filter((one) => one.id !== id));
  useEffect(() => {
    const timer = setTimeout(close, SHOWN_MS);
    return () => clearTimeout(timer);
  }, [id]);
  return (
    <div className="toast">
      <span className="grow">{text}</span>
      <Button look="quiet" icon="close" aria-label="Close" onClick={close} />
    </div>
  );
}
