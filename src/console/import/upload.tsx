import { type ChangeEvent, useEffect, useState } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import type { RunDetail } from '../../api/schema.js';
import { sizeText } from '../../model/count-text.js';
import { ApiError, get, sendFile } from '../app/client.js';
import { ActionError } from '../app/faults.js';
import { useOnce, useSession, useWhyNot } from '../app/queries.js';
import { usePageTitle } from '../app/shell.js';
import { percent } from '../kit/format.js';
import { Icon } from '../kit/icons.js';
import { Card, Moment, NameLink, takeFocus } from '../kit/parts.js';
import { listDrafts } from './draft.js';
import { beginDraft, draftStorage } from './state.js';

const MOST_DRAFTS = 8;
const ENDINGS = '.csv,.tsv,.txt,.xlsx,.xlsm,.ods,.ndjson,.jsonl,.gz';

export function Upload() {
  usePageTitle('Import');
  const [, go] = useLocation();
  const [params] = useSearchParams();
  const job = params.get('job');
  const like = params.get('like');
  const { max_upload } = useSession();
  const limit = sizeText(max_upload);
  const whyNot = useWhyNot('operator');
  const [sent, setSent] = useState(0);
  const [pageLeft] = useState(() => new AbortController());
  useEffect(() => () => pageLeft.abort(), [pageLeft]);
  const upload = useOnce({
    async mutationFn(file: File) {
      if (file.size > max_upload)
        throw new ApiError(413, `${file.name} has ${sizeText(file.size)}; at most ${limit} can be sent.`);
      if (file.size === 0) throw new ApiError(422, `${file.name} is empty.`);
      const { signal } = pageLeft;
      setSent(0);
      const sentFile = await sendFile(file, signal, setSent);
      const likeRun = like === null ? undefined : await get<RunDetail>(`/runs/${encodeURIComponent(like)}`, {}, signal);
      const chosen = likeRun?.ordered?.job ?? job;
      // A saved job is chosen on the next page; one that no file holds is what was decided.
      const own = chosen !== null && typeof chosen === 'object' ? chosen : undefined;
      const at = { step: 'table', job: own ? null : String(chosen ?? '') };
      go(beginDraft(sentFile, own && likeRun?.resource, { job: own }, at));
    },
  });
  const take = ({ target }: ChangeEvent<HTMLInputElement>) => {
    const [file] = target.files ?? [];
    if (file) upload.mutate(file);
  };
  const question =
    like !== null
      ? 'Which file holds the corrected rows?'
      : job !== null
        ? `Which file shall the job ${job} be tried with?`
        : 'Which file shall go in?';
  const recentDrafts = listDrafts(draftStorage()).slice(0, MOST_DRAFTS);
  return (
    <div className="import stack">
      <h1>{question}</h1>
      <div className="drop">
        {upload.isPending ? (
          <>
            <progress aria-label="Sent" value={sent} />
            <span role="status">
              <bdi>{upload.variables?.name}</bdi> is being {sent < 1 ? 'sent' : 'read'}
            </span>
            <span className="soft" aria-hidden>
              {percent(sent)}
            </span>
          </>
        ) : whyNot !== undefined ? (
          <p>{whyNot}</p>
        ) : (
          <>
            <p>Drop a spreadsheet here</p>
            <span className="button primary" aria-hidden>
              <Icon name="import" />
              Choose a file
            </span>
            <input ref={takeFocus} type="file" aria-label="Choose a file" accept={ENDINGS} onChange={take} />
          </>
        )}
        <p className="soft small">
          CSV, Excel, OpenDocument or NDJSON, at most {limit}. Nothing is written before you have seen what.
        </p>
      </div>
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
