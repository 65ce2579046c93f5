import { useRef } from 'react';
import type { Job } from '../../api/schema.js';
import { counted } from '../kit/format.js';
import { Icon } from '../kit/icons.js';
import { Chip, Prose } from '../kit/parts.js';

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
  const worst = new Map<number, ReturnType<typeof toneOf>>();
  for (const { line, severity } of problems ?? []) {
    if (line !== null && worst.get(line) !== 'bad') worst.set(line, toneOf(severity));
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
      <div className="stack tight" role="status">
        {problems === undefined || checking ? (
          <span className="soft">Checking…</span>
        ) : problems.length === 0 ? (
          <span className="toned good line">
            <Icon name="check" /> Nothing is wrong with it
          </span>
        ) : (
          <strong>{told(problems)}</strong>
        )}
        <ul className="limits stack tight">
          {problems?.map(({ line, column, severity, message }) => (
            <li key={`${line} ${column} ${message}`}>
              {line === null ? 'The file' : <Chip on={false} onClick={() => jump(line, column)}>{`Line ${line}`}</Chip>}
              <span className="wrap">
                <strong className={`toned ${toneOf(severity)}`}>{severity === 'error' ? 'Fault' : 'Remark'}</strong>{' '}
                <Prose>{message}</Prose>
              </span>
            </li>
          ))}
        </ul>
      </div>
      <div className="code">
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

const toneOf = (severity: Problems[number]['severity']) => (severity === 'error' ? 'bad' : 'warn');

/** `2 faults, 1 remark` */
function told(problems: Problems): string {
  const faults = problems.filter(({ severity }) => severity === 'error').length;
  const parts = [
    faults > 0 && counted(faults, 'fault'),
    problems.length > faults && counted(problems.length - faults, 'remark'),
  ];
  return parts.filter(Boolean).join(', ');
}
