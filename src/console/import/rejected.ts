import type { Accepted, RunDetail } from '../../api/schema.js';
import { ApiError, reportUrl, send, sendFile } from '../app/client.js';
import { newDraft, saveDraft, withDecided } from './draft.js';
import { importHref, tableKey } from './state.js';

/** Begins an import of the rows that a run handed back, with the job of that run. Answers the address of its check. */
export async function openRejectedRows({ id, file: source, resource, ordered }: RunDetail, report: string) {
  const job = ordered?.job;
  const name = `${source.replace(/( rejected)?\.[^.]*$/, '')} ${report}`;
  const response = await fetch(reportUrl(id, report));
  if (!response.ok) throw new ApiError(response.status, `${report} is not there any more.`);
  const rows = new File([await response.blob()], name);
  const upload = await sendFile(rows, new AbortController().signal, () => undefined);
  const order = { kind: 'import', job, file: upload.id, options: { dry_run: true }, once: true };
  const check = await send<Accepted>('POST', '/runs', order);
  const table = { resource: typeof job === 'object' ? resource : undefined };
  const last = importHref(upload.id, { step: 'check', run: check.id, ...table });
  const decided = { job, run: check.id };
  saveDraft(localStorage, { ...withDecided(newDraft(upload.id, upload.name), tableKey(table), decided), last });
  return last;
}
