import { type NumberStringifier, stringify } from 'lossless-json';
import { Decimal } from '../model/decimal.js';
import { type OpenDurableLines, openDurableLines } from './durable-lines.js';
import { type Line, lineBlocks } from './line-blocks.js';

/**
 * Records kept as they were, one JSON document a line, as durable as the journal. Decimals are written as bare JSON
 * numbers with every digit, so a reader that keeps digits gets back exactly what the service sent.
 */
export interface AppendLog {
  /** Buffers the values. Throws a `RunError` once any write has failed. */
  append(values: readonly unknown[]): void;
  /** Resolves when everything appended so far is on the disk; concurrent calls share one sync. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

const EXACT: NumberStringifier[] = [{ test: (value) => value instanceof Decimal, stringify: String }];

/** Opens a log for appending and makes it if it is missing; a last line torn by a crash is cut off first. */
export async function openAppendLog(path: string, openLines: OpenDurableLines = openDurableLines): Promise<AppendLog> {
  let keep = 0;
  for await (const block of readLog(path)) {
    const last = block[block.length - 1];
    if (last) keep = last.offset + last.length + 1;
  }
  const lines = await openLines(path, keep, 'The log');
  return {
    append(values) {
      for (const value of values) {
        const json = stringify(value, undefined, undefined, EXACT);
        if (json === undefined) throw new TypeError('a log line must be a JSON value');
        lines.append(json.length * 3 + 1, (buffer, at) => {
          const size = buffer.write(json, at, 'utf8');
          buffer[at + size] = 10;
          return size + 1;
        });
      }
    },
    flush: lines.flush,
    close: lines.close,
  };
}

/** The lines of a log, some hundred at a time, in the order they were written; a missing file has none. */
export function readLog(path: string): AsyncGenerator<readonly Line[]> {
  return lineBlocks(path, 'The log', 'empty');
}
