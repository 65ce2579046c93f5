import { appendFileSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { diskError } from './segments.js';
import { writtenName } from './state.js';

/** Ids in a line; a line is one write, so that a torn one loses few. */
const IN_A_LINE = 1_000;

/** The records that were to be written after a reading, whatever became of it. A torn line holds none. */
export async function loadWritten(dir: string, reading: string): Promise<Set<number>> {
  const ids = new Set<number>();
  const text = await readFile(join(dir, writtenName(reading)), 'utf8').catch(() => '');
  for (const line of text.split('\n')) {
    if (!/^\d+(,\d+)*;$/.test(line)) continue;
    for (const id of line.slice(0, -1).split(',')) ids.add(Number(id));
  }
  return ids;
}

/** In the file when it returns, so that a process killed while it writes has left word of it. */
export function noteWritten(dir: string, reading: string, ids: Iterable<number>): void {
  const all = [...ids];
  let text = '';
  for (let from = 0; from < all.length; from += IN_A_LINE)
    text += `\n${all.slice(from, from + IN_A_LINE).join(',')};\n`;
  if (text === '') return;
  try {
    appendFileSync(join(dir, writtenName(reading)), text, { mode: 0o600 });
  } catch (error) {
    throw diskError(dir, error);
  }
}

export function forgetWritten(dir: string, reading: string): Promise<void> {
  return rm(join(dir, writtenName(reading)), { force: true }).catch(() => undefined);
}
