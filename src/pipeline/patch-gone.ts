import { RunError } from '../model/error.js';
import type { Readable, WriteAnswer } from '../service/port.js';
import type { WriteContext } from './writing.js';

/**
 * Stops the run where a refusal says that the service has no PATCH, whatever a probe found once: 405, or 404 for a record
 * that is there. Nothing is sent as a PUT instead: the body of a PATCH holds a part of the record only, and a PUT would
 * clear the rest (interface, section 4.1).
 */
export async function stopWithoutPatch(
  id: number,
  { status }: Extract<WriteAnswer, { kind: 'refused' }>,
  context: WriteContext,
): Promise<void> {
  if (context.job.write.method !== 'patch' || context.state.stopped) return;
  if (status === 404) {
    if (!context.spec.readPath) return;
    const record = await context.service.get(context.spec.name as Readable, id).catch(() => undefined);
    if (!record) return;
  } else if (status !== 405) return;
  context.state.stopped ??= new RunError(
    'failed',
    `The job asks for \`write.method: patch\`, and the service refused PATCH for ${context.spec.name} ${id} with status ${status}, although \`rowferry doctor --probe\` found once that it takes it. The run stops; nothing was sent as a PUT in its place.`,
    ['`rowferry doctor --probe` asks the service again. Or set `write: { method: put }`: it carries the whole record.'],
  );
}
