import { type ReactNode, useEffect, useId, useRef } from 'react';
import { Button } from './parts.js';

interface DialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly footer?: ReactNode;
  readonly children: ReactNode;
}

/** The browser's own: it keeps the focus inside, gives it back, and closes with Escape. */
export function Dialog({ open, onClose, title, footer, children }: DialogProps) {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (open && !dialog.current?.open) dialog.current?.showModal();
    if (!open) dialog.current?.close();
  }, [open]);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      // Closed by what `open` says, not by the browser first: somebody may ask for it again before it tells.
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClose={() => {
        if (!dialog.current?.open) onClose();
      }}
    >
      {open && (
        <>
          <header className="line">
            <h2 id={id} className="grow">
              {title}
            </h2>
            <Button look="quiet" icon="close" aria-label="Close" onClick={onClose} />
          </header>
          <div className="stack">{children}</div>
          {footer && <footer className="line">{footer}</footer>}
        </>
      )}
    </dialog>
  );
}
