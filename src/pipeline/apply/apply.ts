import { parentNotWritten } from '../rows.js';
import { CreateRow } from './create.js';
import { ReadBack } from './read-back.js';
import { UpdateRow } from './update.js';
import {
  type Create,
  type Intent,
  type Pace,
  type Permit,
  type Update,
  WriteRun,
  type WriterOptions,
} from './write.js';

/** The unit of checkpoint, of retry and of distribution. */
type Part = readonly (Create | Update)[];

/** Writes the rows of a run, part by part. Interface, section 4. */
export class Writer {
  readonly run: WriteRun;
  private readonly semaphore: ReturnType<typeof rowSemaphore>;
  private readonly readBack: ReadBack;

  constructor(options: WriterOptions) {
    this.run = new WriteRun(options);
    this.semaphore = rowSemaphore(options.pace);
    this.readBack = new ReadBack(this.run);
  }

  /**
   * Carries out a part. Resolves when every change of it has its outcome; `onStarted` is called when each is at work.
   *
   *   read again what is stale → intents durable → requests → outcomes
   *
   * so that whatever was sent is known to the journal before it was sent.
   */
  async write(changes: Part, onStarted = (): void => undefined): Promise<void> {
    const { pace, readLate, journal } = this.run.options;
    const rows = changes.flatMap((change) => this.row(change) ?? []);
    const fresh: (CreateRow | UpdateRow)[] = [];
    await eachLimit(rows, pace.reads, (row) => {
      if (this.run.halted) row.skip();
      else if (row instanceof CreateRow || readLate) fresh.push(row);
      else return row.refresh().then((isFresh) => void (isFresh && fresh.push(row)));
      return undefined;
    });
    if (fresh.length === 0) return;
    for (const row of fresh) if (row instanceof CreateRow) row.remember();
    this.run.durableCreates += fresh.filter((row) => row instanceof CreateRow).length;
    await journal.intend(
      fresh.map((row) => intentOf(row.change)),
      fresh.flatMap((row) => (row instanceof UpdateRow ? (row.before() ?? []) : [])),
    );
    const batchSize = pace.shared ? fresh.length : 1;
    const atWork: Promise<void>[] = [];
    let failed: unknown;
    for (const [at, row] of fresh.entries()) {
      if (at % batchSize === 0) await this.semaphore.reserve(batchSize);
      row.permit = this.semaphore.acquire();
      atWork.push(
        row.write().catch((error: unknown) => {
          failed ??= error;
        }),
      );
    }
    onStarted();
    // Also where one fails: a run must not end while what others sent is open.
    await Promise.all(atWork);
    if (failed !== undefined) throw failed;
  }

  /** The row of a change, with the id of the record that it refers to; undefined where it ends because that was not written. */
  private row(change: Create | Update): CreateRow | UpdateRow | undefined {
    const { after } = change;
    const id = after && this.run.options.writtenId(after.row);
    const whole = after && id !== undefined ? withParent(change, after.field, id) : change;
    const row =
      whole.kind === 'create' ? new CreateRow(whole, this.run) : new UpdateRow(whole, this.run, this.readBack);
    if (!after || id !== undefined) return row;
    row.end({ kind: 'invalid', attempts: 0, issues: [...change.issues, parentNotWritten(after)] });
    return undefined;
  }
}

function withParent(change: Create | Update, field: string, id: number): Create | Update {
  return change.kind === 'create'
    ? { ...change, fields: { ...change.fields, [field]: { id } } }
    : { ...change, set: { ...change.set, [field]: { id } } };
}

function intentOf(change: Create | Update): Intent {
  return {
    row: change.ref.row,
    op: change.kind,
    key: change.key,
    ...(change.kind === 'update' ? { id: change.id } : {}),
  };
}

/** Works on the items in order, so many at a time; a promise of `work` only where there is something to wait for. */
export async function eachLimit<T>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<void> | undefined,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const item = items[next++];
      const working = item === undefined ? undefined : work(item);
      if (working) await working;
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
}

/** Rows of all parts of a run that are at work at once. */
export function rowSemaphore(pace: Pick<Pace, 'atWork' | 'aside'>) {
  const waiting: { readonly rows: number; readonly enter: () => void }[] = [];
  let active = 0;
  let parked = 0;

  const admit = () => {
    for (let next = waiting[0]; next && (active === 0 || active + next.rows <= pace.atWork); next = waiting[0]) {
      waiting.shift();
      active += next.rows;
      next.enter();
    }
  };

  return {
    /**
     * Resolves when there is room for so many rows together, in the order of asking; the room is theirs from then on. More
     * rows than there are places wait until nobody is at work.
     */
    reserve: (rows: number) =>
      new Promise<void>((enter) => {
        waiting.push({ rows, enter });
        admit();
      }),
    /** The place of one of the rows that there is room for. */
    acquire(): Permit {
      let state: 'held' | 'aside' | 'over' = 'held';
      return {
        park() {
          if (state !== 'held' || parked >= pace.aside) return;
          state = 'aside';
          parked++;
          active--;
          admit();
        },
        release() {
          if (state === 'held') active--;
          else if (state === 'aside') parked--;
          state = 'over';
          admit();
        },
      };
    },
  };
}
