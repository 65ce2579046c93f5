import { useRef } from 'react';
import type { Job } from '../../api/schema.js';
import { counted } from '../kit/format.js';
import { Icon } from '../kit/icons.js';

export type Problems = Job['problems'];

/** A plain field with the lines numbered, faults marked at theirs, and a list of them that goes there. */
export function Editor({
  text,
  problems,
  checking,
  readOnly,
  label,
  onChange,
}: {
  text: string;
  /** Undefined before the first answer. */
  problems: Problems | undefined;
  checking: boolean;
  readOnly: boolean;
  label: string;
  onChange: (text: string) => void;
}) {
  const field = useRef<HTMLTextAreaElement>(null);
  const lines = text.split('\n');
  const worst = new Map<number, 'bad' | 'warn'>();
  for (const { line, severity } of problems ?? []) {
    if (line !== null && worst.get(line) !== 'bad') worst.set(line, severity === 'error' ? 'bad' : 'warn');
  }
  const jump = (line: number, column: number | null) => {
    const start = lines.slice(0, line - 1).reduce((at, one) => at + one.length + 1, 0);
    const at = start + Math.max(0, (column ?? 1) - 1);
    field.current?.focus({ preventScroll: true });
    field.current?.setSelectionRange(at, start + (lines[line - 1]?.length ?? 0));
    document.getElementById(`line-${line}`)?.scrollIntoView({ block: 'center' });
  };
  return (
    <div className="stack tight">
      <div className="faults-list" role="status">
        {problems === undefined || checking ? (
          <span className="soft">Checking…</span>
        ) : problems.length === 0 ? (
          <span className="toned good line">
            <Icon name="check" /> Nothing is wrong with it
          </span>
        ) : (
          <strong>{told(problems)}</strong>
        )}
        {problems && problems.length > 0 && (
          <ul>
            {problems.map(({ line, column, severity, message }) => (
              <li key={`${line} ${column} ${message}`}>
                <span className={`toned ${severity === 'error' ? 'bad' : 'warn'}`}>
                  <Icon name={severity === 'error' ? 'bad' : 'warn'} />
                  <span className="unseen">{severity === 'error' ? 'Fault' : 'Remark'}</span>
                </span>
                {line === null ? (
                  <span>The file</span>
                ) : (
                  <button type="button" className="to-line" onClick={() => jump(line, column)}>
                    Line {line}
                  </button>
                )}
                <bdi className="wrap">{message}</bdi>
              </li>
            ))}
          </ul>
        )}
      </div>
      <div className="editor">
        <ol aria-hidden="true">
          {lines.map((_, at) => (
            <li key={at} id={`line-${at + 1}`} className={worst.get(at + 1)}>
              {worst.has(at + 1) && <Icon name={worst.get(at + 1) === 'bad' ? 'bad' : 'warn'} />}
              {at + 1}
            </li>
          ))}
        </ol>
        <textarea
          ref={field}
          aria-label={label}
          aria-invalid={[...worst.values()].includes('bad') || undefined}
          value={text}
          readOnly={readOnly}
          rows={lines.length + 1}
          wrap="off"
          spellCheck={false}
          autoCapitalize="off"
          autoComplete="off"
          onChange={({ target }) => onChange(target.value)}
        />
      </div>
    </div>
  );
}

/** `2 faults, 1 remark` */
function told(problems: Problems): string {
  const faults = problems.filter(({ severity }) => severity === 'error').length;
  const parts = [
    faults > 0 && counted(faults, 'fault'),
    problems.length > faults && counted(problems.length - faults, 'remark'),
  ];
  return parts.filter(Boolean).join(', ');
}
