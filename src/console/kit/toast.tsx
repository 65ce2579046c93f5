import { useEffect, useSyncExternalStore } from 'react';
import { Button } from './parts.js';

/** What was done, for as long as it takes to read, with a way to take it back. */
interface Toast {
  readonly id: number;
  readonly text: string;
  readonly action?: { readonly label: string; readonly run: () => void } | undefined;
}

const SHOWN_MS = 10_000;
let toasts: readonly Toast[] = [];
let last = 0;
const listeners = new Set<() => void>();

function change(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

export function toast(text: string, action?: Toast['action']): void {
  last += 1;
  change([...toasts, { id: last, text, action }].slice(-3));
}

export function Toasts() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => toasts,
  );
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map((one) => (
        <Shown key={one.id} toast={one} />
      ))}
    </div>
  );
}

function Shown({ toast: { id, text, action } }: { toast: Toast }) {
  const close = () => change(toasts.filter((one) => one.id !== id));
  useEffect(() => {
    const timer = setTimeout(() => change(toasts.filter((one) => one.id !== id)), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [id]);
  return (
    <div className="toast">
      <span className="grow">{text}</span>
      {action && (
        <Button
          look="quiet"
          onClick={() => {
            action.run();
            close();
          }}
        >
          {action.label}
        </Button>
      )}
      <Button look="quiet" icon="close" aria-label="Close" onClick={close} />
    </div>
  );
}
