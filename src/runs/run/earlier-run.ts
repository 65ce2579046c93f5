import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { RunError } from '../../model/error.js';
import type { Summary } from '../../report/summary.js';
import { requireService, type Settings } from '../settings.js';
import { type RunFolder, runFolder } from './layout.js';
import { findRun, readRun, readRunSummary } from './list.js';
import type { StoredRequest } from './run.js';

/** A run that has ended, and that another run is to be about. */
export interface EarlierRun {
  readonly folder: RunFolder;
  readonly request: StoredRequest;
  /** Of its reports, which lie where it was asked to put them; undefined where a later run has put its own. */
  readonly summary: Summary | undefined;
}

/** What is to be done with the run: completes "cannot be …", and the command. */
interface Wanted {
  readonly done: 'undone' | 'retried';
  readonly command: 'undo' | 'retry';
}

/**
 * Finds a run that took rows into the service and has ended: `wanted` is its id, the beginning of it, or `last`. Throws a
 * `RunError` of kind `usage` with what to do instead where there is none, it only read or rehearsed, is still at work, was killed and
 * not resumed, or was begun against another service.
 */
export async function earlierRun(wanted: string, { done, command }: Wanted, settings: Settings): Promise<EarlierRun> {
  const { home } = settings;
  const run = await findRun(home, wanted);
  const folder = runFolder(home, run);
  const refuse = (why: string) => new RunError('usage', `The run ${run} cannot be ${done}: ${why}`);
  const request = await readRequest(folder);
  if (!request) throw refuse('it ended before its file was taken over, and nothing was sent.');
  if (request.v !== 1) throw refuse('it was begun by a newer version of rowferry. Use that version.');
  const kind: string = request.kind;
  if (kind === 'export') throw refuse('it is an export, which writes nothing to the service.');
  if (request.dryRun) {
    throw refuse(`it was ${kind === 'reconcile' ? 'report-only' : 'a dry run'}, and nothing was sent.`);
  }
  const { apiUrl } = requireService(settings);
  if (request.service !== apiUrl) {
    throw refuse(`it wrote to ${request.service}, and the settings name ${apiUrl}. Set ROWFERRY_API_URL to the first.`);
  }
  const { status } = await readRun(home, run);
  if (status === 'running') throw refuse('a process is at work on it. Wait for it to end, or end it first.');
  if (status === 'unfinished') {
    throw refuse(
      `it ended without its reports. Finish it with \`rowferry runs resume ${run}\`, then \`rowferry runs ${command} ${run}\`.`,
    );
  }
  await assertNotPruned(folder);
  return { folder, request, summary: await readRunSummary(home, run) };
}

/** What a run was asked to do; undefined where it ended before it noted that. */
export async function readRequest(folder: RunFolder): Promise<StoredRequest | undefined> {
  const text = await readFile(folder.request, 'utf8').catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as StoredRequest);
}

/** @throws RunError `usage` where of a run that has ended only the summary is left. */
export async function assertNotPruned(folder: RunFolder): Promise<void> {
  const isThere = async (path: string) => (await stat(path).catch(() => undefined)) !== undefined;
  if ((await isThere(folder.store)) || !(await isThere(join(folder.dir, 'summary.json')))) return;
  throw new RunError(
    'usage',
    `Of the run ${folder.run} only the summary is left: its rows were removed by \`rowferry runs prune\` or ROWFERRY_KEEP_DAYS. Import the file again.`,
  );
}
