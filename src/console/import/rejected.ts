import type { Accepted, RunDetail } from '../../api/schema.js';
import { getReport, send, sendFile } from '../app/client.js';
import { beginDraft, checkOrder } from './state.js';

/** Begins an import of the rows that a run handed back, with the job of that run. Answers the address of its check. */
export async function openRejectedRows({ id, file: source, resource, ordered }: RunDetail, report: string) {
  const job = ordered?.job;
  const name = `${source.replace(/( rejected)?\.[^.]*$/, '')} ${report}`;
  const rows = new File([await getReport(id, report)], name);
  const upload = await sendFile(rows, new AbortController().signal, () => undefined);
  const { id: run } = await send<Accepted>('POST', '/runs', checkOrder(upload.id, job));
  return beginDraft(upload, typeof job === 'object' ? resource : undefined, { job, run }, { step: 'check', run });
}
