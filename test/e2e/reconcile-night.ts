import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { stringify } from 'yaml';
import type { SandboxOptions } from '../../src/sandbox/index.js';
import type { ReceivedRequest } from '../../src/sandbox/server.js';
import type { Commit } from '../../src/sandbox/service.js';
import { cli } from '../cli/fake-io.js';
import { type Bench, openBench } from '../crash/bench.js';

/** A line of a CSV report by column. */
export type Line = Readonly<Record<string, string>>;

/** What a reconciliation left behind, read back from its files, and what the service saw of it. */
export interface Night {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly summary: NightSummary;
  /** The folder with its reports. */
  readonly dir: string;
  report(name: string): readonly Line[];
  /** Requests as the service counted them. */
  readonly requests: number;
  readonly writes: number;
  /** Writes that took effect. */
  readonly commits: readonly Commit[];
}

/** The parts of summary.json that are looked at here, as contract and design have them. */
export interface NightSummary {
  readonly run: string;
  readonly kind: string;
  readonly dry_run: boolean;
  readonly status: string;
  readonly reason?: string;
  readonly of_run?: string;
  readonly rows: Readonly<Record<string, number>>;
  readonly requests: { readonly total: number; readonly reads: number; readonly writes: number };
  readonly warnings: readonly string[];
  readonly top_faults?: readonly object[];
  readonly reports: readonly string[];
  readonly reconcile: {
    readonly apply: boolean;
    readonly read: { readonly how: string; readonly certified: boolean; readonly records: number };
    readonly scope: { readonly records: number; readonly without_key: number; readonly outside: number };
    readonly differences: {
      readonly rows: number;
      readonly fields: number;
      readonly file_stands: number;
      readonly service_stands: number;
      readonly cleared: number;
      readonly by_field: readonly Readonly<Record<'field' | 'file' | 'service' | 'cleared', string | number>>[];
    };
    readonly orphans: Readonly<Record<string, number | string>>;
  };
}

export interface NightOptions {
  readonly apply?: boolean;
  readonly force?: boolean;
  /** Another home folder than the desk's. */
  readonly home?: string;
  readonly args?: readonly string[];
}

/** A sandbox, a folder, and reconciliations by the command line, inside this process: those that are killed are elsewhere. */
export interface Desk extends Bench {
  readonly home: string;
  file(name: string, text: string | Buffer): Promise<string>;
  /** Writes the job as `<name>.yaml`. */
  job(name: string, job: object): Promise<string>;
  night(file: string, job: string, options?: NightOptions): Promise<Night>;
  /** Any command that ends with the summary of a run. */
  command(argv: readonly string[], home?: string): Promise<Night>;
  /** Called with each request before it takes effect, until it is set anew. */
  onRequest: ((request: ReceivedRequest) => void | Promise<void>) | undefined;
}

export async function openNights(options: SandboxOptions = {}, env: Record<string, string> = {}): Promise<Desk> {
  const bench = await openBench({ ...options, onRequest: (request) => desk.onRequest?.(request) }, env);
  const { sandbox, dir } = bench;

  async function command(argv: readonly string[], home = join(dir, 'home')): Promise<Night> {
    const [requests, writes, commits] = [sandbox.requests.total, sandbox.requests.writes, sandbox.commits.length];
    bench.env['ROWFERRY_HOME'] = home;
    const { code, out, err } = await cli(argv, { cwd: dir, env: bench.env });
    bench.env['ROWFERRY_HOME'] = join(dir, 'home');
    const summary = (out.trim() === '' ? {} : JSON.parse(out)) as NightSummary;
    const reports = summary.run === undefined ? '' : join(home, 'runs', summary.run);
    return {
      code,
      out,
      err,
      summary,
      dir: reports,
      report: (name) => linesOf(join(reports, name)),
      requests: sandbox.requests.total - requests,
      writes: sandbox.requests.writes - writes,
      commits: sandbox.commits.slice(commits),
    };
  }

  const desk: Desk = {
    ...bench,
    home: join(dir, 'home'),
    command,
    onRequest: undefined,
    async file(name, text) {
      const path = join(dir, name);
      await writeFile(path, text);
      return path;
    },
    async job(name, job) {
      const path = join(dir, `${name}.yaml`);
      await writeFile(path, stringify(job));
      return path;
    },
    night(file, job, { apply = false, force = false, home, args = [] } = {}) {
      const flags = [...(apply ? ['--apply'] : []), ...(force ? ['--force'] : [])];
      return command(['reconcile', file, '--job', job, '--json', ...flags, ...args], home);
    },
  };
  return desk;
}

/** A CSV report as lines; a missing one has none. */
function linesOf(path: string): Line[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return [];
  }
  return parse(text, { columns: true, bom: true }) as Line[];
}

/** Cells as CSV text, the heading first. */
export function csvText(rows: readonly (readonly string[])[]): string {
  const cell = (text: string) => (/[",\r\n;]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return rows.map((cells) => `${cells.map(cell).join(',')}\r\n`).join('');
}

/** All that the service stores of a kind, as text: equal before and after where nothing was written. */
export function worldText(desk: Desk, resource: 'asset' | 'contract' = 'asset'): string {
  return JSON.stringify(desk.sandbox.raw(resource).sort((a, b) => Number(a['id']) - Number(b['id'])));
}

/** `outcome` of each row, by row number. */
export function outcomes(night: Night): Record<string, string> {
  return Object.fromEntries(night.report('results.csv').map((line) => [line['row'] ?? '', line['outcome'] ?? '']));
}
