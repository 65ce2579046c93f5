import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import type { RunDetail } from '../../api/schema.js';
import { ApiError, get, sendFile } from '../app/client.js';
import { ActionError } from '../app/faults.js';
import { useOnce, useSession, useWhyNot } from '../app/queries.js';
import { usePageTitle } from '../app/shell.js';
import { bytes, percent } from '../kit/format.js';
import { Button, Card, Moment, NameLink } from '../kit/parts.js';
import { toast } from '../kit/toast.js';
import { listDrafts, newDraft, saveDraft, withDecided } from './draft.js';
import { importHref, tableKey } from './state.js';

const ENDINGS = '.csv,.tsv,.txt,.xlsx,.xlsm,.ods,.ndjson,.jsonl,.gz';
const MOST_DRAFTS = 8;

export function Upload() {
  usePageTitle('Import');
  const [, go] = useLocation();
  const [params] = useSearchParams();
  const job = params.get('job');
  const like = params.get('like');
  const { max_upload } = useSession();
  const whyNot = useWhyNot('operator');
  const input = useRef<HTMLInputElement>(null);
  const [sent, setSent] = useState(0);
  const pageLeft = useRef(new AbortController());
  useEffect(() => {
    pageLeft.current = new AbortController();
    return () => pageLeft.current.abort();
  }, []);
  const upload = useOnce({
    async mutationFn(file: File) {
      if (file.size > max_upload)
        throw new ApiError(413, `${file.name} has ${bytes(file.size)}; at most ${bytes(max_upload)} can be sent.`);
      if (file.size === 0) throw new ApiError(422, `${file.name} is empty.`);
      const { signal } = pageLeft.current;
      setSent(0);
      const { id, name } = await sendFile(file, signal, setSent);
      const likeRun = like === null ? undefined : await get<RunDetail>(`/runs/${encodeURIComponent(like)}`, {}, signal);
      const chosen = likeRun?.ordered?.job ?? job;
      // A saved job is chosen on the next page; one that no file holds is what was decided.
      const own = chosen !== null && typeof chosen === 'object' ? chosen : undefined;
      const table = { resource: own && likeRun?.resource };
      const last = importHref(id, { step: 'table', ...table, job: own ? null : String(chosen ?? '') });
      saveDraft(localStorage, { ...withDecided(newDraft(id, name), tableKey(table), { job: own }), last });
      go(last);
    },
  });
  const take = (files: FileList | null | undefined) => {
    const [file, ...more] = files ?? [];
    if (!file || whyNot !== undefined) return;
    if (upload.isPending) toast('One file at a time: the one before is still being sent.');
    else if (more.length > 0) toast(`One file at a time: ${file.name} is sent, the others are not.`);
    upload.mutate(file);
  };
  const isOver = useDrop(take);
  const question =
    like !== null
      ? 'Which file holds the corrected rows?'
      : job !== null
        ? `Which file shall the job ${job} be tried with?`
        : 'Which file shall go in?';
  const recentDrafts = listDrafts(localStorage).slice(0, MOST_DRAFTS);
  return (
    <div className="import stack">
      <h1>{question}</h1>
      <section aria-label="Drop a file" className={`drop${isOver ? ' over' : ''}`}>
        <input ref={input} type="file" hidden accept={ENDINGS} onChange={({ target }) => take(target.files)} />
        {upload.isPending ? (
          <div className="stack tight">
            <progress aria-label="Sent" value={sent} />
            <span role="status">
              <bdi>{upload.variables?.name}</bdi> is being {sent < 1 ? 'sent' : 'read'}
            </span>
            <span className="soft" aria-hidden>
              {percent(sent)}
            </span>
          </div>
        ) : (
          <>
            <p>Drop a spreadsheet here</p>
            <Button
              look="primary"
              icon="import"
              autoFocus
              why={whyNot}
              onClick={() => input.current?.click()}
              word="Choose a file"
            />
          </>
        )}
        <p className="soft small">
          CSV, Excel, OpenDocument or NDJSON, at most {bytes(max_upload)}. Nothing is written before you have seen what.
        </p>
      </section>
      <ActionError error={upload.error} />
      {recentDrafts.length > 0 && (
        <Card title="Go on where you were" flush>
          <ul className="entries">
            {recentDrafts.map(({ id, name, at, last }) => (
              <li key={id}>
                <NameLink href={last ?? `/import/${encodeURIComponent(id)}?step=table`}>{name}</NameLink>
                <Moment at={new Date(at).toISOString()} />
              </li>
            ))}
          </ul>
        </Card>
      )}
    </div>
  );
}

/** Wherever on the page: a file that is dropped beside the place for it would take the page's place. True while one is over it. */
function useDrop(take: (files: FileList | undefined) => void): boolean {
  const [isOver, setOver] = useState(false);
  const onDrop = useEffectEvent(take);
  useEffect(() => {
    const onDrag = (event: DragEvent) => {
      if (event.type !== 'dragleave') event.preventDefault();
      setOver(event.type === 'dragover');
      if (event.type === 'drop') onDrop(event.dataTransfer?.files);
    };
    const types = ['dragover', 'dragleave', 'drop'] as const;
    for (const type of types) window.addEventListener(type, onDrag);
    return () => {
      for (const type of types) window.removeEventListener(type, onDrag);
    };
  }, []);
  return isOver;
}
