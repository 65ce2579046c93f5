import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import pino from 'pino';
import { onTestFinished, TestRunner } from 'vitest';
import type { Correction } from '../../src/model/correction.js';
import { type ExportRequest, exportRecords } from '../../src/runs/export.js';
import { approveRun, resumeRun, retryRun } from '../../src/runs/follow-up.js';
import { importFile, type RunResult } from '../../src/runs/import.js';
import { inlineJob, loadJob } from '../../src/runs/job-file.js';
import { reconcileFile } from '../../src/runs/reconcile.js';
import type { RunContext, RunListener, WorkerContext } from '../../src/runs/run/context.js';
import { resolveSettings, type Settings } from '../../src/runs/settings.js';
import { type UndoOptions, undoRun } from '../../src/runs/undo.js';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/index.js';

type Cells = readonly (readonly (string | number)[])[];

/** A place to work at: a sandbox service, a home folder, and the import as the command line calls it. */
export interface Desk {
  readonly sandbox: Sandbox;
  readonly dir: string;
  readonly home: string;
  /** The settings that its imports have. */
  settings(env?: Record<string, string>): Settings;
  /** Writes a file into the desk's folder; rows of cells as CSV. */
  file(name: string, content: string | Buffer | Cells): Promise<string>;
  import(file: string, job: object | string, options?: ImportOptions): Promise<Imported>;
  /** Compares a file with the sandbox; `apply` writes. */
  reconcile(file: string, job: object, options?: ImportOptions & { readonly apply?: boolean }): Promise<Imported>;
  /** Approves a run of the home folder. */
  approve(run: string, by: string, options?: ImportOptions): Promise<Imported>;
  /** Undoes a run of the home folder; `last`: the latest. */
  undo(run: string, options?: ImportOptions & Pick<UndoOptions, 'retire'>): Promise<Imported>;
  /** Takes up the rows of a run that failed or are unknown. */
  retry(run: string, options?: ImportOptions): Promise<Imported>;
  resume(options?: ImportOptions & { readonly run?: string }): Promise<Imported>;
  /** Continues the latest run, which is an export. */
  resumeExport(options?: Pick<ImportOptions, 'env' | 'signal'>): Promise<RunResult>;
  /** Exports into a file of the desk's folder. */
  export(resource: ExportRequest['resource'], name: string, options?: ExportOptions): Promise<Exported>;
  close(): Promise<void>;
}

export interface ImportOptions {
  readonly dryRun?: boolean;
  readonly force?: boolean;
  readonly env?: Record<string, string>;
  readonly signal?: AbortSignal;
  readonly company?: number;
  readonly reportDir?: string;
  /** Of imports. */
  readonly corrections?: readonly Correction[];
  readonly onProgress?: RunListener['progress'];
  readonly onNotice?: (text: string) => void;
  /** What a worker adds to a run. */
  readonly worker?: WorkerContext;
}

export type ExportOptions = Partial<Pick<ExportRequest, 'columns' | 'filter' | 'order' | 'editable' | 'company'>> &
  Pick<ImportOptions, 'env' | 'signal' | 'worker'>;

export interface Exported extends RunResult {
  /** The file that was written. */
  readonly file: string;
  readonly notices: readonly string[];
}

export interface Imported extends RunResult {
  readonly results: readonly Record<string, string>[];
  readonly faults: readonly Record<string, string>[];
  readonly plan: readonly Record<string, string>[];
  /** `row outcome` for each row. */
  readonly outcomes: readonly string[];
  readonly notices: readonly string[];
  /** Writing requests the sandbox carried out during this import. */
  readonly commits: number;
}

/**
 * Answers to writes are empty unless a test says otherwise: their shape is not documented. A desk that is opened in a test, or
 * before each, is closed when the test is over; one that several tests share is theirs to close, and so is that of a concurrent test.
 */
export async function openDesk(options: SandboxOptions = {}): Promise<Desk> {
  const sandbox = await startSandbox({ responses: 'bare', seed: 'empty', token: 'test-token', ...options });
  const dir = await mkdtemp(join(tmpdir(), 'rowferry-'));
  const home = join(dir, 'home');

  const environment = (more: Record<string, string> = {}) =>
    resolveSettings(
      {
        ROWFERRY_API_URL: sandbox.url,
        ROWFERRY_API_TOKEN: 'test-token',
        ROWFERRY_HOME: home,
        ROWFERRY_SETTLE_WINDOW: '0.05,0.1,0.2',
        ROWFERRY_TIMEOUT: '2',
        ROWFERRY_PATIENCE: '0.05',
        ...more,
      },
      {},
      dir,
    );

  function told({
    env,
    signal,
    worker,
    onProgress = () => undefined,
    onNotice,
  }: Pick<ImportOptions, 'env' | 'signal' | 'worker' | 'onProgress' | 'onNotice'>) {
    const notices: string[] = [];
    const context: RunContext = {
      settings: environment(env),
      log: pino({ level: 'silent' }),
      signal: signal ?? new AbortController().signal,
      ...(worker ? { worker } : {}),
      listener: {
        progress: onProgress,
        notice: ({ text }) => {
          notices.push(text);
          onNotice?.(text);
        },
      },
    };
    return { context, notices };
  }

  async function collect(
    work: (context: Parameters<typeof importFile>[1]) => Promise<RunResult>,
    options: ImportOptions,
  ): Promise<Imported> {
    const { context, notices } = told(options);
    const before = sandbox.commits.length;
    const result = await work(context);
    const results = await table(join(result.reportDir, 'results.csv'));
    return {
      ...result,
      results,
      faults: await table(join(result.reportDir, 'faults.csv')),
      plan: await table(join(result.reportDir, 'plan.csv')),
      outcomes: results.map((row) => `${row['row']} ${row['outcome']}`),
      notices,
      commits: sandbox.commits.length - before,
    };
  }

  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= sandbox.close().then(() => rm(dir, { recursive: true, force: true }));
    return closed;
  };
  // Of several tests at a time it is not known which one this is.
  const test = TestRunner.getCurrentTest();
  if (test && !test.concurrent) onTestFinished(close);

  return {
    sandbox,
    dir,
    home,
    settings: environment,
    async file(name, content) {
      const path = join(dir, name);
      await writeFile(path, typeof content === 'string' || Buffer.isBuffer(content) ? content : csv(content));
      return path;
    },
    async import(file, job, options = {}) {
      const loaded =
        typeof job === 'string' ? await loadJob('import', job, { jobsDir: 'jobs' }) : inlineJob('import', job);
      const { dryRun = false, force = false, company, reportDir, corrections = [] } = options;
      const more = { ...(company === undefined ? {} : { company }), ...(reportDir === undefined ? {} : { reportDir }) };
      const request = { file, job: loaded, dryRun, force, corrections, ...more };
      return collect((context) => importFile(request, context), options);
    },
    async reconcile(file, job, options = {}) {
      const { apply = false, force = false, company, reportDir } = options;
      const more = { ...(company === undefined ? {} : { company }), ...(reportDir === undefined ? {} : { reportDir }) };
      const loaded = inlineJob('reconcile', { kind: 'reconcile', ...job });
      const request = { file, job: loaded, dryRun: !apply, force, ...more };
      return collect((context) => reconcileFile(request, context), options);
    },
    undo(run, options = {}) {
      const { dryRun = false, force = false, retire, reportDir } = options;
      const more = { ...(retire === undefined ? {} : { retire }), ...(reportDir === undefined ? {} : { reportDir }) };
      return collect((context) => undoRun(run, { dryRun, force, ...more }, context), options);
    },
    retry(run, options = {}) {
      const { force = false, reportDir } = options;
      const more = reportDir === undefined ? {} : { reportDir };
      return collect((context) => retryRun(run, { force, ...more }, context), options);
    },
    approve: (run, by, options = {}) => collect((context) => approveRun(run, { by }, context), options),
    async export(resource, name, options = {}) {
      const { env, signal, worker, filter = {}, editable = false, ...rest } = options;
      const file = join(dir, name);
      const request = { resource, target: file, filter, editable, job: { name: resource }, ...rest };
      const { context, notices } = told({ ...(env && { env }), ...(signal && { signal }), ...(worker && { worker }) });
      return { ...(await exportRecords(request, context)), file, notices };
    },
    resumeExport: (options = {}) => resumeRun('last', told(options).context),
    resume: (options = {}) => collect((context) => resumeRun(options.run ?? 'last', context), options),
    close,
  };
}

/** A CSV report as records; a missing file has none. */
export async function table(path: string): Promise<Record<string, string>[]> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return parse(text, { columns: true, bom: true }) as Record<string, string>[];
}

/** Rows of cells as a CSV text. */
export function csv(rows: Cells): string {
  return rows
    .map((cells) =>
      cells.map((cell) => (/[",\n]/.test(String(cell)) ? `"${String(cell).replaceAll('"', '""')}"` : cell)).join(','),
    )
    .join('\r\n');
}
