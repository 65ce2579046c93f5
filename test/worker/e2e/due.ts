import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Store } from '../../../src/worker/store/port.js';
import { until } from '../../support/until.js';
import type { Crew } from '../../support/worker.js';

export interface DueJob {
  readonly name: string;
  readonly timezone: string;
  /** The rest of the job file. */
  readonly content: object;
  readonly file?: string;
  /** How long ago its slot was due. */
  readonly minutesAgo: number;
  /** A slot before it whose job is on the queue. */
  readonly queued?: string;
  /** No worker runs that could notice it now. */
  readonly unattended?: true;
}

/**
 * Makes a slot of a job due now: its schedule is given that time of day, and workers remember that of yesterday as the last
 * one that ran. They notice the change of the job file. Returns the slot's key once the slot is done with: before, a worker
 * would write over what another slot makes them remember.
 */
export async function fallDue(crew: Crew, store: Pick<Store, 'read' | 'update'>, due: DueJob): Promise<string> {
  const { name, timezone, content, file, minutesAgo, queued, unattended } = due;
  const key = slotAt(Date.now() - minutesAgo * 60_000, timezone);
  const yesterday = slotAt(Date.now() - (minutesAgo + 24 * 60) * 60_000, timezone);
  const [hour = '', minute = ''] = key.slice(11).match(/../g) ?? [];
  const schedule = { cron: `${Number(minute)} ${Number(hour)} * * *`, timezone, ...(file !== undefined && { file }) };
  const remembered = async () => JSON.parse((await store.read('schedules')) || '[]') as { job: string; key: string }[];
  const others = (await remembered()).filter(({ job }) => job !== name);
  const own = { job: name, cron: schedule.cron, timezone, key: yesterday, ...(queued !== undefined && { queued }) };
  await store.update('schedules', () => JSON.stringify([...others, own]));
  const path = join(crew.dir, 'jobs', `${name}.yaml`);
  await writeFile(`${path}.tmp`, JSON.stringify({ ...content, schedule }));
  await rename(`${path}.tmp`, path);
  const isDone = async () => (await remembered()).some((one) => one.job === name && one.key === key);
  if (!unattended) await until(isDone, { what: `${name} of ${key}` });
  return key;
}

/** `2026-03-29T0230`, as the clock of a zone shows it. */
function slotAt(instant: number, timeZone: string): string {
  const text = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' }).format(instant);
  return text.replace(' ', 'T').replace(':', '');
}
