/** Rows one at a time out of batches: without a promise for each row, and with a look ahead. */
export interface RowFeed<Row = readonly string[]> {
  /** The first rows, at most `count`, which stay to be taken. */
  sample(count: number): Promise<readonly Row[]>;
  /** Whether a row can be taken at once. */
  readonly ready: boolean;
  /** Waits for the next row; false where none is left. */
  more(): Promise<boolean>;
  /** The next row; only where `ready` or `more` said that there is one. */
  take(): Row;
  /** Ends the source, wherever it stands. */
  close(): Promise<void>;
}

export function rowFeed<Row>(rows: AsyncIterable<readonly Row[]>): RowFeed<Row> {
  const source = rows[Symbol.asyncIterator]();
  let batch: readonly Row[] = [];
  let at = 0;
  let ended = false;
  const fetched = async (): Promise<readonly Row[] | undefined> => {
    while (!ended) {
      const { done, value } = await source.next();
      if (done) ended = true;
      else if (value.length > 0) return value;
    }
    return undefined;
  };
  return {
    async sample(count) {
      let first: Row[] = [];
      while (first.length < count) {
        const next = await fetched();
        if (!next) break;
        first = first.length === 0 ? [...next] : first.concat(next);
      }
      batch = first;
      at = 0;
      return first.slice(0, count);
    },
    get ready() {
      return at < batch.length;
    },
    async more() {
      if (at < batch.length) return true;
      batch = (await fetched()) ?? [];
      at = 0;
      return batch.length > 0;
    },
    take: () => batch[at++]!,
    async close() {
      if (!ended) await source.return?.();
    },
  };
}
