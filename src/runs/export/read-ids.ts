import type { Json, Readable, Service } from '../../service/port.js';
import type { Records } from './records.js';

/** Records asked for one by one that may be held in memory. */
export const MOST_IDS = 1_000;

/** A few records by their ids: nothing else can be in the list, so nothing can be missed while it changes. */
export async function readByIds(
  service: Service,
  resource: Readable,
  ids: readonly number[],
  see: (record: Json) => void,
): Promise<Records> {
  const sorted = [...new Set(ids)].sort((a, b) => a - b);
  const answers = await Promise.all(sorted.map((id) => service.get(resource, id)));
  const records = new Map<number, Json>();
  for (const [at, id] of sorted.entries()) {
    const record = answers[at];
    if (record === undefined) continue;
    records.set(id, record);
    see(record);
  }
  return {
    consistency: 'verified',
    passes: 1,
    records: records.size,
    problems: [],
    ids: () => records.keys(),
    async *read(wanted = records.keys()) {
      const batch: Json[] = [];
      for (const id of wanted) {
        const record = records.get(id);
        if (record) batch.push(record);
      }
      if (batch.length > 0) yield batch;
    },
    close: async () => undefined,
  };
}
