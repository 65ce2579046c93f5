import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import type { Uploaded } from '../../api/schema.js';
import { ApiError, addressOf } from '../app/client.js';
import { Refused } from '../app/faults.js';
import { useSession, useWhyNot } from '../app/queries.js';
import { usePageTitle } from '../app/shell.js';
import { bytes, percent, when } from '../kit/format.js';
import { Button, Card } from '../kit/parts.js';
import { drafts, keep, newDraft } from './draft.js';

const ENDINGS = '.csv,.tsv,.txt,.xlsx,.xlsm,.ods,.ndjson,.jsonl,.gz';

/** Drop a file, or choose one; or go on with one of before. */
export function Upload() {
  usePageTitle('Import');
  const [, go] = useLocation();
  const [params] = useSearchParams();
  const job = params.get('job');
  const { max_upload } = useSession();
  const whyNot = useWhyNot('operator');
  const input = useRef<HTMLInputElement>(null);
  const [over, setOver] = useState(false);
  const [done, setDone] = useState(0);
  const upload = useMutation({
    async mutationFn(file: File) {
      if (file.size > max_upload)
        throw new ApiError(413, `${file.name} has ${bytes(file.size)}; at most ${bytes(max_upload)} can be sent.`);
      if (file.size === 0) throw new ApiError(422, `${file.name} is empty.`);
      setDone(0);
      const { id, name } = await sendFile(file, setDone);
      keep(localStorage, newDraft(id, name));
      go(`/import/${encodeURIComponent(id)}?${new URLSearchParams({ step: 'table', ...(job !== null && { job }) })}`);
    },
  });
  const take = (files: FileList | null) => {
    const file = files?.[0];
    if (file && whyNot === undefined) upload.mutate(file);
  };
  const latest = useRef(take);
  latest.current = take;
  // Wherever on the page: a file that is dropped beside the place for it would take the page's place.
  useEffect(() => {
    const [over, left, dropped] = [
      (event: DragEvent) => {
        event.preventDefault();
        setOver(true);
      },
      () => setOver(false),
      (event: DragEvent) => {
        event.preventDefault();
        setOver(false);
        latest.current(event.dataTransfer?.files ?? null);
      },
    ];
    window.addEventListener('dragover', over);
    window.addEventListener('dragleave', left);
    window.addEventListener('drop', dropped);
    return () => {
      window.removeEventListener('dragover', over);
      window.removeEventListener('dragleave', left);
      window.removeEventListener('drop', dropped);
    };
  }, []);
  const before = drafts(localStorage);
  return (
    <div className="import stack">
      <h1>{job === null ? 'Which file shall go in?' : `Which file shall the job ${job} be tried with?`}</h1>
      <section aria-label="Drop a file" className={`drop${over ? ' over' : ''}`}>
        <input ref={input} type="file" hidden accept={ENDINGS} onChange={({ target }) => take(target.files)} />
        {upload.isPending ? (
          <div className="stack tight" role="status">
            <progress max={1} value={done} aria-label="Sent" />
            <span>{done < 1 ? `${percent(done)} sent` : 'Sent; it is being looked at'}</span>
          </div>
        ) : (
          <>
            <p>Drop a spreadsheet here</p>
            <Button look="primary" icon="import" autoFocus why={whyNot} onClick={() => input.current?.click()}>
              Choose a file
            </Button>
          </>
        )}
        <p className="soft small">
          CSV, Excel, OpenDocument or NDJSON, at most {bytes(max_upload)}. Nothing is written before you have seen what.
        </p>
      </section>
      <Refused error={upload.error} />
      {before.length > 0 && (
        <Card title="Go on where you were" flush>
          <ul className="drafts">
            {before.slice(0, 8).map((draft) => {
              const run = draft.checks.at(-1)?.run;
              return (
                <li key={draft.id} className="line">
                  <Link
                    className="wrap"
                    href={`/import/${encodeURIComponent(draft.id)}?step=${run ? `check&run=${run}` : 'table'}`}
                  >
                    <bdi>{draft.name}</bdi>
                  </Link>
                  <span className="soft">{when(new Date(draft.at).toISOString())}</span>
                </li>
              );
            })}
          </ul>
        </Card>
      )}
    </div>
  );
}

/** Browsers tell how far a file was sent only here. */
function sendFile(file: File, tell: (done: number) => void): Promise<Uploaded> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', addressOf('/files', { name: file.name }));
    request.setRequestHeader('content-type', 'application/octet-stream');
    request.upload.addEventListener('progress', ({ loaded, total }) => tell(total === 0 ? 0 : loaded / total));
    request.addEventListener('error', () =>
      reject(new ApiError(0, 'The connection was cut before the file was sent. Send it again.')),
    );
    request.addEventListener('load', () => {
      const answer = JSON.parse(request.responseText || '{}') as Uploaded & { detail?: string };
      if (request.status < 300) resolve(answer);
      else reject(new ApiError(request.status, answer.detail ?? `HTTP ${request.status}`));
    });
    request.send(file);
  });
}
