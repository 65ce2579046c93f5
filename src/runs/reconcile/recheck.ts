import { keyText } from '../../pipeline/match/key.js';
import { keepRecord, lookAgain, recordKey } from '../../pipeline/match/match.js';
import type { Json, Mirror, Snapshot } from '../../service/port.js';
import type { Matched } from '../match-rows.js';
import type { Planned } from '../planned.js';
import type { Compared } from './compare-records.js';

/** So few updates cost next to nothing to read again in any case. */
export const FEW = 25;

/**
 * What is written is held against the records as they are at that moment, not as they were when the list was read. Where the
 * service tells in a request or two what has changed since, the rest counts as read just now, or, where that is likely rather
 * than certain, is read again once it is old; else every record is read again before its update. Contract, sections 5
 * (`conflict`) and 7.
 */
export async function recheck({ matched, controls }: Compared, mirror: Mirror, planned: Planned): Promise<Matched> {
  const seen = await mirror.recheck();
  const { snapshot, keys, match } = matched;
  for (const { record, readAt } of seen?.records ?? []) {
    const id = record['id'];
    if (typeof id !== 'number') continue;
    const key = recordKey(record, match);
    if (!keys.has(key) && !snapshot.holds(id)) continue;
    await keepRecord({ id, record, key, readAt }, match);
  }
  if (!seen) await lookForCreated(matched, controls, mirror, planned);
  const few = [...planned.values()].filter(({ op }) => op === 'update').length <= FEW;
  const now = matched.match.now();
  const fresh: Snapshot = {
    ...snapshot,
    get size() {
      return snapshot.size;
    },
    async get(id) {
      const found = await snapshot.get(id);
      return found && { record: found.record, readAt: !seen || few ? 0 : seen.certain ? now : found.readAt };
    },
  };
  return {
    ...matched,
    snapshot: fresh,
    readLate: true,
    match: { ...match, snapshot: fresh },
    options: { ...matched.options, snapshot: fresh },
  };
}

/** Keys that are to be created and that somebody may have created meanwhile. */
async function lookForCreated(
  { keys, match }: Matched,
  controls: readonly Json[],
  mirror: Mirror,
  planned: Planned,
): Promise<void> {
  const created = new Set([...planned.values()].flatMap(({ op, key }) => (op === 'create' ? [key] : [])));
  if (created.size === 0) return;
  const wanted = new Map<string, readonly string[]>();
  for (const [key, spellings] of keys) if (created.has(keyText(key))) wanted.set(key, spellings);
  await lookAgain(wanted, { count: mirror.count, results: controls }, match, Number.POSITIVE_INFINITY);
}
