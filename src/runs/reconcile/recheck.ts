import { recordKey } from '../../pipeline/match.js';
import type { Mirror } from '../../service/mirror-port.js';
import type { Snapshot } from '../../service/port.js';
import type { Matched } from '../match-rows.js';

/**
 * What is written is held against the records as they are at that moment, not as they were when the list was read. Where the
 * service tells in a request or two what has changed since, the rest counts as read just now, or, where that is likely rather
 * than certain, is read again once it is old; else every record is read again before its update. Contract, sections 5
 * (`conflict`) and 7.
 */
export async function recheck(matched: Matched, mirror: Mirror): Promise<Matched> {
  const seen = await mirror.recheck();
  const { snapshot, keys, match } = matched;
  for (const { record, readAt } of seen?.records ?? []) {
    const id = record['id'];
    if (typeof id !== 'number') continue;
    const key = recordKey(record, match);
    if (!keys.has(key) && !(await snapshot.get(id))) continue;
    match.onRecord?.(record);
    await snapshot.add(id, record, key, readAt);
  }
  const now = Date.now();
  const fresh: Snapshot = {
    ...snapshot,
    get size() {
      return snapshot.size;
    },
    async get(id) {
      const found = await snapshot.get(id);
      return found && { record: found.record, readAt: !seen ? 0 : seen.certain ? now : found.readAt };
    },
  };
  return {
    ...matched,
    snapshot: fresh,
    match: { ...match, snapshot: fresh },
    options: { ...matched.options, snapshot: fresh },
  };
}
