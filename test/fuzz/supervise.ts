import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { minimised } from './minimise.js';
import { createMutator } from './mutate.js';
import { openTrap } from './trap.js';

export interface FuzzOptions {
  readonly seed: number;
  /** Numbers of the inputs: `from` … `to` - 1. */
  readonly from: number;
  readonly to: number;
  /** The compiled `files/open.js`. */
  readonly openPath: string;
  /** Where the inputs are written, one after another; memory is best. */
  readonly folder: string;
  /** Where inputs that fail are kept. */
  readonly keep: string;
  readonly hangMs: number;
  readonly peakMb: number;
  /** Whether failing inputs are made smaller. */
  readonly minimise: boolean;
  readonly onProgress?: (report: FuzzReport) => void;
}

export interface FuzzFailure {
  readonly index: number;
  readonly source: string;
  readonly words: string;
  /** The kept input. */
  readonly path: string;
}

export interface FuzzReport {
  inputs: number;
  read: number;
  refused: number;
  readonly causes: Record<string, number>;
  slowest: { ms: number; index: number };
  /** The input that made the process grow most, and the peak of all processes. */
  largest: { mb: number; index: number };
  peakMb: number;
  connections: number;
  readonly failures: FuzzFailure[];
}

interface Progress {
  readonly at: number;
  readonly counts: { readonly read: number; readonly refused: number; readonly faults: number };
  readonly words: Readonly<Record<string, number>>;
  readonly slowest: { readonly ms: number; readonly index: number };
  readonly largest: { readonly mb: number; readonly index: number };
  readonly peakMb: number;
}

type Message =
  | { readonly ready: true }
  | { readonly done: true }
  | { readonly progress: Progress }
  | { readonly fault: { readonly index: number; readonly source: string; readonly words: string } };

/** Inputs that one process reads before a fresh one takes over: its peak of memory is then that of few. */
const PER_PROCESS = 50_000;
const KEPT_FAILURES = 40;
/** Inputs in hand at a time; after a death one by one, so that it is known which was the cause. */
const LANES = 4;
const BATCH = 100;

/** Reads inputs in a process that is watched: it may not die, hang, grow beyond bounds, or connect to anything. */
export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  await mkdir(options.folder, { recursive: true });
  await mkdir(options.keep, { recursive: true });
  const trap = await openTrap();
  const report: FuzzReport = {
    inputs: 0,
    read: 0,
    refused: 0,
    causes: {},
    slowest: { ms: 0, index: 0 },
    largest: { mb: 0, index: 0 },
    peakMb: 0,
    connections: 0,
    failures: [],
  };
  const inputOf = createMutator(options.seed, trap.port);
  const fail = async (index: number, source: string, words: string) => {
    if (report.failures.length >= KEPT_FAILURES) return;
    const path = join(options.keep, `seed-${options.seed}-input-${index}`);
    report.failures.push({ index, source, words, path });
    await writeFile(path, inputOf(index).bytes);
  };
  try {
    let at = options.from;
    let single = 0;
    while (at < options.to) {
      const lanes = at < single ? 1 : LANES;
      const to = Math.min(options.to, lanes === 1 ? single : at + PER_PROCESS);
      const reached = await runProcess(at, to, lanes, trap.port, options, report, fail);
      if (reached < to && lanes > 1) single = Math.min(options.to, reached + BATCH);
      at = reached;
    }
    if (options.minimise)
      for (const failure of report.failures.slice(0, 10)) await minimised(failure, options, trap.port);
  } finally {
    report.connections = trap.connections();
    await trap.close();
  }
  return report;
}

/** One process; returns the number of the first input that is still to be read. */
function runProcess(
  from: number,
  to: number,
  lanes: number,
  port: number,
  options: FuzzOptions,
  report: FuzzReport,
  fail: (index: number, source: string, words: string) => Promise<void>,
): Promise<number> {
  const child = startWorker(options, port);
  return new Promise((resolve, reject) => {
    let at = from;
    let heard = Date.now();
    let hung = false;
    let ready = false;
    let lastPeak = 0;
    const kept: Promise<void>[] = [];
    let heardBusy = 0;
    const watch = setInterval(() => {
      if (!ready) return;
      const waited = Date.now() - heard;
      const busy = (busyMs(child) ?? heardBusy + waited) - heardBusy;
      if (busy < options.hangMs * 2 && waited < options.hangMs * 12) return;
      hung = true;
      child.kill('SIGKILL');
    }, 250);
    child.on('message', (message: Message) => {
      heard = Date.now();
      heardBusy = busyMs(child) ?? 0;
      if ('ready' in message) {
        ready = true;
        child.send({ from, to, lanes });
      } else if ('fault' in message) {
        const { index, source, words } = message.fault;
        kept.push(fail(index, source, words));
      } else if ('progress' in message) {
        const { progress } = message;
        report.inputs += progress.at - at;
        at = progress.at;
        report.read += progress.counts.read;
        report.refused += progress.counts.refused;
        for (const [words, count] of Object.entries(progress.words))
          report.causes[words] = (report.causes[words] ?? 0) + count;
        if (progress.slowest.ms > report.slowest.ms) report.slowest = progress.slowest;
        if (progress.largest.mb > report.largest.mb) report.largest = progress.largest;
        report.peakMb = Math.max(report.peakMb, progress.peakMb);
        if (progress.slowest.ms > options.hangMs)
          kept.push(fail(progress.slowest.index, '', `took ${Math.round(progress.slowest.ms)} ms`));
        if (progress.peakMb > options.peakMb && lastPeak <= options.peakMb) {
          kept.push(fail(progress.largest.index, '', `the process grew to ${progress.peakMb} MB`));
        }
        lastPeak = progress.peakMb;
        options.onProgress?.(report);
      } else child.disconnect();
    });
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      clearInterval(watch);
      const finish = async () => {
        if (at >= to && code === 0) return to;
        if (!ready) throw new Error(`the process that reads the inputs did not start (${signal ?? code})`);
        if (lanes > 1) return at;
        const index = (await readFile(join(options.folder, 'current'))).readDoubleLE();
        report.inputs += index + 1 - at;
        await fail(
          index,
          '',
          hung ? `hung for more than ${options.hangMs} ms` : `the process died (${signal ?? code})`,
        );
        return index + 1;
      };
      Promise.all(kept).then(finish).then(resolve, reject);
    });
  });
}

/** Processor time of a process in milliseconds, where the system tells: a busy machine makes everything slow by the clock. */
function busyMs({ pid }: ChildProcess): number | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
      .replace(/^.*\) /, '')
      .split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return undefined;
  }
}

export function startWorker(options: Pick<FuzzOptions, 'openPath' | 'folder' | 'seed'>, port: number): ChildProcess {
  const worker = fileURLToPath(new URL('./worker.mjs', import.meta.url));
  return fork(worker, [options.openPath, options.folder, String(options.seed), String(port)], { execArgv: [] });
}
