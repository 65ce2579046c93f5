import { type ReactNode, useId } from 'react';
import { Button } from './parts.js';

interface DialogProps {
  readonly onClose: () => void;
  readonly title: string;
  readonly footer?: ReactNode;
  readonly children: ReactNode;
}

/** The browser's own, for as long as it is drawn: it keeps the focus inside, gives it back, and closes with Escape. */
export function Dialog({ onClose, title, footer, children }: DialogProps) {
  const id = useId();
  return (
    <dialog
      ref={showModal}
      aria-labelledby={id}
      onCancel={(event) => {
        // Closed by who draws it, not by the browser first.
        event.preventDefault();
        onClose();
      }}
      onClose={onClose}
    >
      <header className="line">
        <h2 id={id} className="grow">
          {title}
        </h2>
        <Button look="quiet" icon="close" aria-label="Close" onClick={onClose} />
      </header>
      <div className="stack">{children}</div>
      {footer && <footer className="line">{footer}</footer>}
    </dialog>
  );
}

function showModal(dialog: HTMLDialogElement) {
  dialog.showModal();
  return () => dialog.close();
}
