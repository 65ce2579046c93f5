import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { RunData, Scalar } from './data.js';

/** Where files lie until a run has its private copy of them: `<home>/uploads/`. */
export function uploadsDir(home: string): string {
  return path.join(home, 'uploads');
}

/** Writes the rows of a job as NDJSON, one object a line; row numbers are then positions in the list, from 1. Returns its path. */
export async function writeRows(
  home: string,
  run: string,
  rows: readonly Readonly<Record<string, Scalar>>[],
): Promise<string> {
  const lines = rows.map((row) => `${JSON.stringify(row)}\n`);
  await mkdir(uploadsDir(home), { recursive: true });
  const file = uploadOf(home, {}, run);
  await writeFile(`${file}.tmp`, lines.join(''), { mode: 0o600 });
  await rename(`${file}.tmp`, file);
  return file;
}

/** Where the file of a job lies, or would lie if it had been put into `<home>/uploads`. */
export function uploadOf(home: string, data: Pick<RunData, 'file'>, run: string): string {
  return data.file === undefined ? path.join(uploadsDir(home), `${run}.ndjson`) : path.resolve(home, data.file);
}

/** Names that rows and copies are given: of one job each, and removed after it. */
const OURS = /^[0-9a-f]{16}-.|^\d{8}T\d{9}Z-[0-9a-f]+\.ndjson$/s;

/** Removes what was put into `<home>/uploads` for one job; other files are left alone. */
export async function removeUpload(home: string, file: string): Promise<void> {
  if (path.dirname(file) === uploadsDir(home) && OURS.test(path.basename(file))) await rm(file, { force: true });
}
