import { csvEncoder } from '../files/csv/write.js';
import { writeSafely } from '../files/safe-write.js';

export type AddLines = (lines: readonly (readonly string[])[]) => Promise<void>;

/** A CSV report: UTF-8, RFC 4180, no control character but in line ends; the heading is there even where no line is. */
export function writeTable(
  path: string,
  columns: readonly string[],
  fill: (add: AddLines) => Promise<void>,
): Promise<void> {
  const encode = csvEncoder({ newline: '\r\n', visible: true });
  return writeSafely(path, async (write) => {
    await write(encode([columns]));
    await fill(async (lines) => {
      if (lines.length > 0) await write(encode(lines));
    });
  });
}
