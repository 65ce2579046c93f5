/** Since when, and in how many runs in a row, a record is missing from a job's file. */
export interface Absence {
  /** Calendar date (UTC, `yyyy-MM-dd`) of the first of these runs. */
  readonly since: string;
  /** 0: no run has counted yet, only such that were not certain. */
  readonly absences: number;
  /** Of the file, and the run, that was counted last. */
  readonly sha256: string;
  readonly run: string;
  /** Beginnings of the SHA-256 of files that were counted before that one, newest last. */
  readonly earlier?: readonly string[];
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
  /** Records that a row of the file means. They are there, however doubtful the rest of the reading. */
  readonly found?: Found;
}

export interface Found {
  has(id: number): boolean;
}

/** Files that an absence knows it was counted for, beside the last; and how much of their SHA-256. */
const EARLIER = 8;
const MARK = 16;

/**
 * The absences after a run. An orphan is absent once more where its file was not counted before; a record that is no orphan any
 * more is forgotten. A run that is resumed counts once. A run that is not certain counts nothing: it ends the absences of
 * what it has `found`, and notes orphans that nobody knew of, so that they are no news to the next run.
 */
export function countAbsences(absent: Absences, orphanIds: Iterable<number>, by: Counting): Absences {
  const { run, sha256, date, certain, found } = by;
  const next = new Map(certain ? [] : endAbsences(absent, found));
  for (const id of orphanIds) {
    const known = absent.get(id);
    if (!known) next.set(id, { since: date, absences: certain ? 1 : 0, sha256, run });
    else if (!certain || known.run === run || isCounted(known, sha256)) next.set(id, known);
    else next.set(id, { ...known, absences: known.absences + 1, sha256, run, ...earlierOf(known) });
  }
  return next;
}

/** The absences after a run that counts none: those of records that its file holds end. */
export function endAbsences(absent: Absences, found: Found | undefined): Absences {
  return found ? new Map([...absent].filter(([id]) => !found.has(id))) : absent;
}

function isCounted(known: Absence, sha256: string): boolean {
  if (known.absences === 0) return false;
  return known.sha256 === sha256 || (known.earlier?.includes(sha256.slice(0, MARK)) ?? false);
}

function earlierOf({ absences, sha256, earlier = [] }: Absence): { earlier?: readonly string[] } {
  return absences === 0 ? {} : { earlier: [...earlier, sha256.slice(0, MARK)].slice(-EARLIER) };
}
