import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { packZip, unpackZip } from '../corpus/zip-bytes.js';
import { type FuzzFailure, type FuzzOptions, startWorker } from './supervise.js';

const BUDGET_MS = 30_000;

/**
 * Makes a failing input smaller by leaving out halves, quarters … as long as it fails in the same way; in a workbook,
 * of each part. The result stands beside the input as `….small`.
 */
export async function minimised(failure: FuzzFailure, options: FuzzOptions, port: number): Promise<string> {
  const bytes = await readFile(failure.path);
  const end = Date.now() + BUDGET_MS;
  const judge = judgeOf(options, port);
  const kind = await judge.kindOf(bytes);
  let small: Buffer = bytes;
  try {
    const parts = unpackZip(bytes);
    const whole = parts && (await judge.kindOf(packZip(parts))) === kind ? parts : undefined;
    if (whole) {
      for (let i = 0; i < whole.length; i++) {
        const fails = async (data: Buffer) =>
          (await judge.kindOf(packZip(whole.map((part, k) => (k === i ? { ...part, data } : part))))) === kind;
        whole[i] = { ...whole[i]!, data: await halved(whole[i]!.data, fails, end) };
      }
      small = packZip(whole);
    } else small = await halved(bytes, async (data) => (await judge.kindOf(data)) === kind, end);
  } finally {
    judge.close();
  }
  await writeFile(`${failure.path}.small`, small);
  return `${failure.path}.small`;
}

async function halved(bytes: Buffer, fails: (bytes: Buffer) => Promise<boolean>, end: number): Promise<Buffer> {
  let small = bytes;
  for (let size = Math.ceil(small.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < small.length && Date.now() < end; ) {
      const without = Buffer.concat([small.subarray(0, at), small.subarray(at + size)]);
      if (await fails(without)) small = without;
      else at += size;
    }
  }
  return small;
}

/** Says how an input fails: the first words of the fault, `hangs`, `dies`, or nothing where it does not. */
function judgeOf(options: FuzzOptions, port: number) {
  const folder = options.folder;
  let child = startWorker(options, port);
  let ready = once(child, 'message');
  const restart = () => {
    child.kill('SIGKILL');
    child = startWorker(options, port);
    ready = once(child, 'message');
  };
  return {
    async kindOf(bytes: Buffer): Promise<string> {
      await ready;
      const file = join(folder, 'smaller');
      await writeFile(file, bytes);
      child.send({ file });
      const answer = await answerOf(child, options.hangMs);
      if (typeof answer === 'string') {
        restart();
        return answer;
      }
      return answer.verdict?.outcome === 'fault' ? answer.verdict.words.replace(/\d+/g, '0').slice(0, 40) : '';
    },
    close: () => child.kill('SIGKILL'),
  };
}

interface Answer {
  readonly verdict?: { readonly outcome: string; readonly words: string };
}

/** The next message of a process, or what it does instead. */
function answerOf(child: ChildProcess, hangMs: number): Promise<Answer | 'dies' | 'hangs'> {
  return new Promise((resolve) => {
    const end = (answer: Answer | 'dies' | 'hangs') => {
      clearTimeout(timer);
      child.off('message', end);
      child.off('exit', died);
      resolve(answer);
    };
    const died = () => end('dies');
    const timer = setTimeout(end, hangMs, 'hangs');
    child.on('message', end);
    child.on('exit', died);
  });
}
