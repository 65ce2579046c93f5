import { hash } from 'node:crypto';
import { parentNotWritten } from '../rows.js';
import { CreateRow } from './create.js';
import { type Places, places } from './places.js';
import { ReadBack } from './read-back.js';
import { UpdateRow } from './update.js';
import { type Create, type Intent, type Update, WriteRun, type WriterOptions } from './write.js';

/** Changes of a part: the unit of checkpoint, of retry and of distribution. */
export interface Part {
  readonly number: number;
  readonly changes: readonly (Create | Update)[];
}

/** Writes the rows of a run, part by part. Interface, section 4. */
export class Writer {
  readonly run: WriteRun;
  private readonly places: Places;
  private readonly readBack: ReadBack;

  constructor(options: WriterOptions) {
    this.run = new WriteRun(options);
    this.places = places(options.pace);
    this.readBack = new ReadBack(this.run);
  }

  /**
   * Carries out a part. Resolves when every change of it has its outcome; `begun` is called when each is at work.
   *
   *   read again what is stale → intents durable → requests → outcomes
   *
   * so that whatever was sent is known to the journal before it was sent.
   */
  async write({ changes }: Part, begun = (): void => undefined): Promise<void> {
    const { pace, readLate, journal } = this.run.options;
    const rows = changes.flatMap((change) => this.row(change) ?? []);
    const fresh: (CreateRow | UpdateRow)[] = [];
    await eachLimit(rows, pace.reads, async (row) => {
      if (this.run.halted) row.skip();
      else if (row instanceof CreateRow || readLate || (await this.refreshed(row))) fresh.push(row);
    });
    if (fresh.length === 0) return;
    for (const row of fresh) if (row instanceof CreateRow) row.remember();
    this.run.intended += fresh.filter((row) => row instanceof CreateRow).length;
    await journal.intend(
      fresh.map((row) => intentOf(row.change)),
      fresh.flatMap((row) => (row instanceof UpdateRow ? (row.before() ?? []) : [])),
    );
    const together = pace.shared ? fresh.length : 1;
    const atWork: Promise<void>[] = [];
    for (const [at, row] of fresh.entries()) {
      if (at % together === 0) await this.places.room(together);
      row.place = this.places.place();
      atWork.push(row.write());
    }
    begun();
    await Promise.all(atWork);
  }

  /** The row of a change, with the id of the record that it refers to; undefined where it ends because that was not written. */
  private row(change: Create | Update): CreateRow | UpdateRow | undefined {
    const { after } = change;
    const id = after && this.run.options.written.get(after.row);
    const whole = after && id !== undefined ? withParent(change, after.field, id) : change;
    const row =
      whole.kind === 'create' ? new CreateRow(whole, this.run) : new UpdateRow(whole, this.run, this.readBack);
    if (!after || id !== undefined) return row;
    row.end({ kind: 'invalid', attempts: 0, issues: [...change.issues, parentNotWritten(after)] });
    return undefined;
  }

  private async refreshed(row: UpdateRow): Promise<boolean> {
    try {
      return await row.refresh();
    } catch (error) {
      row.broken(error);
      return false;
    }
  }
}

function withParent(change: Create | Update, field: string, id: number): Create | Update {
  return change.kind === 'create'
    ? { ...change, fields: { ...change.fields, [field]: { id } } }
    : { ...change, set: { ...change.set, [field]: { id } } };
}

function intentOf(change: Create | Update): Intent {
  const sent = JSON.stringify(change.kind === 'create' ? change.fields : change.set);
  return {
    row: change.ref.row,
    op: change.kind,
    key: change.key,
    hash: hash('sha256', sent).slice(0, 16),
    ...(change.kind === 'update' ? { id: change.id } : {}),
  };
}

/** Works on the items in order, so many at a time. */
export async function eachLimit<T>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const item = items[next++];
      if (item !== undefined) await work(item);
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
}
