import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { Link } from 'wouter';
import type { Job, JobFile } from '../../api/schema.js';
import { send } from '../app/client.js';
import { ActionError, PagePending } from '../app/faults.js';
import { client, jobQuery, jobsQuery, pause, useOnce, useWhyNot } from '../app/queries.js';
import { counted, joinParts, when } from '../kit/format.js';
import { Icon } from '../kit/icons.js';
import { Button, ButtonLink, Card, Facts, Prose } from '../kit/parts.js';
import { toast } from '../kit/toast.js';
import { StateBadge } from '../runs/outcomes.js';

type Problems = Job['problems'];

const PAUSE_MS = 350;

export function JobPage({ name }: { name: string }) {
  const { data, error } = useQuery(jobQuery(name));
  return data ? <JobText file={data} /> : <PagePending page={name} error={error} />;
}

function JobText({ file }: { file: JobFile }) {
  const { name, etag } = file;
  const [draft, setDraft] = useDraft(name);
  const text = draft?.text ?? file.text;
  const whyNot = useWhyNot('operator');
  const checked = useCheck(text, file, whyNot === undefined);
  const changed = text !== file.text;
  const save = useOnce({
    mutationFn: (replacedEtag: string) =>
      send<JobFile>('PUT', `/jobs/${encodeURIComponent(name)}`, { text }, { headers: { 'if-match': replacedEtag } }),
    onSuccess(saved) {
      client.setQueryData(jobQuery(name).queryKey, saved);
      void client.invalidateQueries({ queryKey: jobsQuery.queryKey });
      setDraft(null);
      toast(`${name} is saved.`);
    },
    // What the file holds now is what the text is thrown away for.
    onError: () => client.invalidateQueries(jobQuery(name)),
  });
  const throwAway = () => {
    setDraft(null);
    save.reset();
  };
  const faulty = checked.problems.some(({ severity }) => severity === 'error');
  const faultsFirst = faulty ? 'Correct the faults first: a job with faults cannot run.' : undefined;
  const why = whyNot ?? (changed ? faultsFirst : 'Nothing was changed.');
  return (
    <div className="stack job">
      <header className="line">
        <h1 className="grow wrap">
          {name}
          <span className="soft">
            {file.kind === null ? ', which cannot be read' : `: ${file.kind}, ${file.resource}`}
          </span>
        </h1>
        {changed && <Button look="quiet" onClick={throwAway} word="Throw my changes away" />}
        <Button look="primary" why={why} change={save} order={draft?.etag ?? etag} word="Save" />
        {file.kind === 'import' && (
          <ButtonLink href={`/import?job=${encodeURIComponent(name)}`} word="Try it with a file" />
        )}
      </header>
      <ActionError error={save.error} />
      <div className="beside">
        <Editor
          label={`Text of the job ${name}`}
          text={text}
          {...checked}
          readOnly={whyNot !== undefined}
          onChange={(next) => setDraft(next === file.text ? null : { text: next, etag: draft?.etag ?? etag })}
        />
        <About file={file} />
      </div>
    </div>
  );
}

/** What somebody typed, and on which state of the file; kept in the tab, for whoever leaves the page or has to sign in again. */
function useDraft(name: string) {
  const key = `rowferry.job ${name}`;
  const [draft, set] = useState<Pick<JobFile, 'text' | 'etag'> | null>(() =>
    JSON.parse(sessionStorage.getItem(key) ?? 'null'),
  );
  const setDraft = (next: typeof draft) => {
    set(next);
    sessionStorage.setItem(key, JSON.stringify(next));
  };
  return [draft, setDraft] as const;
}

/** What the API says of a text once nobody types for a moment. */
function useCheck(text: string, file: JobFile, enabled: boolean) {
  const { data, error, isFetching } = useQuery({
    queryKey: ['check', text],
    enabled,
    async queryFn({ signal }) {
      await pause(PAUSE_MS);
      return send<{ problems: Problems }>('POST', '/jobs/check', { text }, { signal });
    },
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
  });
  return { problems: data?.problems ?? file.problems, isChecking: isFetching, unchecked: error };
}

interface EditorProps extends ReturnType<typeof useCheck> {
  readonly text: string;
  readonly readOnly: boolean;
  readonly label: string;
  readonly onChange: (text: string) => void;
}

/** A plain field with the lines numbered, faults marked at theirs, and a list of them that goes there. */
function Editor({ text, problems, isChecking, unchecked, readOnly, label, onChange }: EditorProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  const lines = text.split('\n');
  // Of a line with both its fault counts.
  const remarksFirst = problems.toSorted((a, b) => Number(a.severity === 'error') - Number(b.severity === 'error'));
  const worst = new Map(remarksFirst.map(({ line, severity }) => [line, toneOf(severity)]));
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
        {isChecking ? (
          <span className="soft">Checking…</span>
        ) : unchecked ? (
          <ActionError error={unchecked} title="This text is not checked yet" />
        ) : problems.length === 0 ? (
          <span className="toned good line">
            <Icon name="check" /> Nothing is wrong with it
          </span>
        ) : (
          <strong>{countsText(problems)}</strong>
        )}
        <ul className="limits stack tight">
          {problems.map(({ line, column, severity, message }) => (
            <li key={`${line} ${column} ${message}`}>
              {line === null ? 'The file' : <Button onClick={() => jump(line, column)} word={`Line ${line}`} />}
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
function countsText(problems: Problems): string {
  const faults = problems.filter(({ severity }) => severity === 'error').length;
  const remarks = problems.length - faults;
  return joinParts(faults > 0 && counted(faults, 'fault'), remarks > 0 && counted(remarks, 'remark'));
}

function About({ file: { name, kind, schedule, inbox, last } }: { file: JobFile }) {
  return (
    <Card title="This job">
      <Facts
        of={[
          ['Runs', schedule ? <code key="cron">{schedule.cron}</code> : 'when somebody starts it'],
          ['Time zone', schedule?.timezone],
          ['Next', schedule?.next && when(schedule.next)],
          ['File', schedule?.file && <code>{schedule.file}</code>],
          ['Drop folder', inbox && <code>{inbox.folder}</code>],
          ['Waiting', inbox && counted(inbox.waiting, 'file')],
          ['Last run', last ? <StateBadge run={last} /> : 'none yet'],
          ['Began', last && <Link href={`/runs/${last.id}`}>{when(last.started_at)}</Link>],
          ['Nights', kind === 'reconcile' && <Link href={`/nights/${encodeURIComponent(name)}`}>side by side</Link>],
        ]}
      />
    </Card>
  );
}
