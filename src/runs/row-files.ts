import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { RunError } from '../model/error.js';
import { decodeFields, encodeFields } from '../pipeline/codec.js';
import type { ResolvedRow } from '../pipeline/resolve.js';
import { lineBlocks } from '../report/line-blocks.js';

/** Writes the rows between two stages. They can be made again, so nothing is flushed. */
export interface LineWriter {
  write(line: string): void;
  /** Resolves when the disk has caught up; called now and then so that memory stays small. */
  drained(): Promise<void>;
  close(): Promise<void>;
}

export async function lineWriter(path: string): Promise<LineWriter> {
  const stream = createWriteStream(path);
  await once(stream, 'open');
  let failure: Error | undefined;
  let buffered: string[] = [];
  stream.on('error', (error) => {
    failure = error;
  });
  const flush = async () => {
    const more = stream.write(buffered.join(''));
    buffered = [];
    if (!more) await once(stream, 'drain');
    if (failure) throw diskFault(path, failure);
  };
  return {
    write: (line) => void buffered.push(line),
    drained: flush,
    async close() {
      await flush();
      stream.end();
      await finished(stream).catch((error: unknown) => {
        throw diskFault(path, error);
      });
    },
  };
}

export async function* lines(path: string): AsyncGenerator<string> {
  for await (const block of lineBlocks(path, 'The working file', 'error')) {
    for (const { bytes } of block) yield bytes.toString('utf8');
  }
}

export function encodeResolved(row: ResolvedRow): string {
  return `${JSON.stringify({ ...row, set: encodeFields(row.set) })}\n`;
}

export function decodeResolved(line: string): ResolvedRow {
  const row = JSON.parse(line) as ResolvedRow;
  return { ...row, set: decodeFields(row.set) };
}

function diskFault(path: string, error: unknown): RunError {
  const text = error instanceof Error ? error.message : String(error);
  return new RunError(
    'failed',
    `The data folder cannot be written to (${path}): ${text}. Make room or choose another ROWFERRY_HOME; nothing was lost.`,
    [],
    { cause: error },
  );
}
