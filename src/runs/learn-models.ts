import { isRef } from '../model/value.js';
import type { WrittenIds } from '../pipeline/apply/write.js';
import type { Matched } from './match-rows.js';
import type { Run } from './run.js';
import { resolvedRows } from './stage-rows.js';

const MODEL = 'asset_hardware_model';

export function mayNameModels({ mapping }: Pick<Matched, 'mapping'>): boolean {
  return mapping.fields.includes(MODEL);
}

/**
 * Learns the names of hardware models that this run wrote by id: they cannot be listed, and reads show the name alone,
 * so an asset could not be compared or written again without it. One read for each model that is not known yet.
 */
export async function learnModels(run: Run, matched: Matched, written: WrittenIds): Promise<void> {
  const { known, service } = matched;
  if (!mayNameModels(matched)) return;
  const recordOf = new Map<number, number>();
  for await (const rows of resolvedRows(run)) {
    for (const { ref, set } of rows) {
      const model = set[MODEL];
      const id = written.get(ref.row);
      if (id === undefined || !isRef(model) || recordOf.has(model.id)) continue;
      if (known.nameOf('hardware-model', model.id) === undefined) recordOf.set(model.id, id);
    }
  }
  for (const [model, id] of recordOf) {
    const name = (await service.get('asset', id))?.[MODEL];
    if (typeof name === 'string' && name !== '' && known.ids('hardware-model', name).length === 0) {
      known.learn('hardware-model', model, name);
    }
  }
}
