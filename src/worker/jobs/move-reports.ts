import { randomBytes } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { runFolder, shareLikeFolder } from '../../runs/layout.js';
import { readSummary } from '../../runs/list.js';
import type { Summary } from '../../runs/present.js';
import { reached } from '../../trace/milestones.js';

/**
 * After the reports of a run and its file were moved together to another folder: `run.json` and `summary.json` name their
 * new places. Can be called again. Returns the summary; undefined where the folder holds none.
 */
export async function moveReports(home: string, run: string, to: string): Promise<Summary | undefined> {
  await change(runFolder(home, run).request, (request) => ({
    ...request,
    reportDir: to,
    ...(typeof request['file'] === 'string' && { file: path.join(to, path.basename(request['file'])) }),
  }));
  await change(path.join(to, 'summary.json'), (summary) => {
    const source = summary['source'];
    if (typeof source !== 'object' || source === null || !('path' in source)) return summary;
    return { ...summary, source: { ...source, path: path.join(to, path.basename(String(source.path))) } };
  });
  reached('reports-moved');
  return readSummary(to);
}

/** Rewrites a JSON file in one step; one that is not there is left so. */
async function change(
  file: string,
  edit: (value: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>,
): Promise<void> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) return;
  const temporary = path.join(path.dirname(file), `.${path.basename(file)}.${randomBytes(6).toString('hex')}.tmp`);
  try {
    await writeFile(temporary, `${JSON.stringify(edit(JSON.parse(text)), null, 2)}\n`, { flush: true });
    await shareLikeFolder(temporary);
    await rename(temporary, file);
  } finally {
    await rm(temporary, { force: true });
  }
}
