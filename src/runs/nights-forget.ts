import { type NightsOf, nightsDir } from './nights.js';
import { readAbsent, writeAbsent } from './nights-absent.js';
import { alone } from './nights-file.js';

/**
 * Forgets since when these records are missing from the job's file: the next run that does not find one of them counts its
 * absence as the first. Nothing is written where none of them is known to be absent.
 */
export async function forgetAbsences(of: NightsOf, ids: ReadonlySet<number>): Promise<void> {
  const dir = nightsDir(of);
  const isKnown = [...(await readAbsent(dir, of.service)).keys()].some((id) => ids.has(id));
  if (!isKnown) return;
  await alone(dir, async () => {
    const absent = await readAbsent(dir, of.service);
    const left = new Map([...absent].filter(([id]) => !ids.has(id)));
    if (left.size < absent.size) await writeAbsent(dir, of.service, left);
  });
}
