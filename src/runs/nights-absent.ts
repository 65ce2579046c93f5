import { join } from 'node:path';
import { writeSafely } from '../files/safe-write.js';
import { readLog } from '../report/append-log.js';

/** Since when, and in how many runs in a row, a record is missing from a job's file. */
export interface Absence {
  /** Calendar date (UTC, `yyyy-MM-dd`) of the first of these runs. */
  readonly since: string;
  readonly absences: number;
  /** Of the file, and the run, that was counted last. */
  readonly sha256: string;
  readonly run: string;
}

/** By id of the record. */
export type Absences = ReadonlyMap<number, Absence>;

/** The run that counts. */
export interface Counting {
  readonly run: string;
  readonly sha256: string;
  /** Calendar date (UTC) of the run. */
  readonly date: string;
  /** Whether the list was read without doubt and every row's key could be read. Else nothing is counted. */
  readonly certain: boolean;
  /** A file that was counted before counts again: `--force`. */
  readonly forced?: boolean;
  /** Records that a row of the file means. They are there, however doubtful the rest of the reading. */
  readonly found?: { has(id: number): boolean };
}

/**
 * The absences after a run. An orphan is absent once more where the file is another one than when it was counted last; a
 * record that is no orphan any more is forgotten. A run that is resumed counts once. A run that is not certain counts nothing: it only
 * ends the absences of what it has `found`.
 */
export function countAbsences(absent: Absences, orphanIds: Iterable<number>, by: Counting): Absences {
  const { run, sha256, date, certain, forced = false, found } = by;
  if (!certain) return found ? new Map([...absent].filter(([id]) => !found.has(id))) : absent;
  const next = new Map<number, Absence>();
  for (const id of orphanIds) {
    const known = absent.get(id);
    if (!known) next.set(id, { since: date, absences: 1, sha256, run });
    else if (known.run === run || (known.sha256 === sha256 && !forced)) next.set(id, known);
    else next.set(id, { since: known.since, absences: known.absences + 1, sha256, run });
  }
  return next;
}

const FILE = 'absent.ndjson';

/** The first line says whose records these are; one line a record follows. */
export async function writeAbsent(dir: string, service: string, absent: Absences): Promise<void> {
  await writeSafely(join(dir, FILE), async (write) => {
    await write(`${JSON.stringify({ v: 1, service, records: absent.size })}\n`);
    for (const [id, { since, absences, sha256, run }] of absent) {
      await write(`${JSON.stringify({ id, since, absences, sha256, run })}\n`);
    }
  });
}

/** Nothing where there is no such file, it is not whole, or it is of another service: then no record was ever absent. */
export async function readAbsent(dir: string, service: string): Promise<Absences> {
  const absent = new Map<number, Absence>();
  let expected: unknown;
  for await (const lines of readLog(join(dir, FILE))) {
    for (const { bytes } of lines) {
      const line = parsed(bytes);
      if (expected === undefined) {
        if (line?.['v'] !== 1 || line['service'] !== service) return new Map();
        expected = line['records'];
      } else {
        const { id, since, absences, sha256, run } = line ?? {};
        if (typeof id !== 'number' || typeof absences !== 'number') return new Map();
        absent.set(id, { since: String(since), absences, sha256: String(sha256), run: String(run) });
      }
    }
  }
  return absent.size === expected ? absent : new Map();
}

function parsed(bytes: Buffer): Record<string, unknown> | undefined {
  try {
    return (JSON.parse(bytes.toString('utf8')) as Record<string, unknown> | null) ?? undefined;
  } catch {
    return undefined;
  }
}
