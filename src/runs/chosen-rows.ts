import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeSafely } from '../files/safe-write.js';
import type { OpenSource } from '../model/source.js';
import { parseJson, stringifyBody } from '../service/json.js';
import type { RunFolder } from './layout.js';
import type { OpenIntent } from './past.js';

/** The rows of an earlier run's file that a run takes up again, and what of them may have taken effect then. */
export interface ChosenRows {
  readonly rows: ReadonlySet<number>;
  readonly open: ReadonlyMap<number, OpenIntent>;
}

const pathIn = (folder: RunFolder) => join(folder.dir, 'work', 'rows.json');

export async function writeChosen(folder: RunFolder, { rows, open }: ChosenRows): Promise<void> {
  // Records among them: no digit of theirs is lost.
  const text = stringifyBody({ rows: [...rows], open: [...open] });
  await writeSafely(pathIn(folder), (write) => write(`${text}\n`));
}

export async function readChosen(folder: RunFolder): Promise<ChosenRows> {
  const { rows, open } = parseJson(await readFile(pathIn(folder), 'utf8')) as {
    rows: number[];
    open: [number, OpenIntent][];
  };
  return { rows: new Set(rows), open: new Map(open) };
}

/** The source with these rows alone; they keep their numbers. */
export function onlyRows(source: OpenSource, rows: ReadonlySet<number>): OpenSource {
  async function* chosen() {
    let left = rows.size;
    for await (const batch of source.rows()) {
      const kept = batch.filter(({ row }) => rows.has(row));
      if (kept.length > 0) yield kept;
      left -= kept.length;
      if (left === 0) return;
    }
  }
  return { meta: source.meta, rows: chosen };
}
