import { type ChildProcess, spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { openEmbedded } from '../../../src/worker/store/embedded/open.js';
import type { EmbeddedPool } from '../../../src/worker/store/embedded/pool.js';
import { cliPath } from '../../support/build.js';

/** Homes of one suite. The first start takes seconds: it is made once, and every home begins as its copy. */
export class Homes {
  readonly notices: string[] = [];
  readonly #root: string;
  readonly #pools: EmbeddedPool[] = [];
  readonly #others: Other[] = [];
  #last = 0;

  private constructor(root: string) {
    this.#root = root;
  }

  static async make(): Promise<Homes> {
    const homes = new Homes(await mkdtemp(join(tmpdir(), 'rowferry-queue-')));
    const pool = await homes.open(join(homes.#root, 'first'));
    await pool.query('CREATE TABLE bullmq.counter (n integer)');
    await pool.query('INSERT INTO counter VALUES (0)');
    await pool.end();
    return homes;
  }

  /** A home with an empty queue; `below`: so much deeper. */
  async home(below = ''): Promise<string> {
    const home = join(this.#root, `home-${++this.#last}`, below);
    await mkdir(home, { recursive: true });
    await cp(join(this.#root, 'first', 'queue'), join(home, 'queue'), { recursive: true });
    return home;
  }

  async open(home: string): Promise<EmbeddedPool> {
    const pool = await openEmbedded(home, {
      notice: (_level, text) => this.notices.push(text),
      signal: new AbortController().signal,
    });
    this.#pools.push(pool);
    return pool;
  }

  /** A process of its own on this home. */
  async other(home: string): Promise<Other> {
    const module = join(dirname(await cliPath()), '..', 'worker', 'store', 'embedded', 'open.js');
    const script = fileURLToPath(new URL('./embedded-process.mjs', import.meta.url));
    const child = spawn(process.execPath, [script, module, home], { stdio: ['pipe', 'pipe', 'inherit'] });
    const other = new Other(child);
    this.#others.push(other);
    await other.said((line) => 'ready' in line);
    return other;
  }

  /** Ends what the test left open. */
  async endAll(): Promise<void> {
    for (const other of this.#others.splice(0)) await other.kill();
    await Promise.all(this.#pools.splice(0).map((pool) => pool.end()));
  }

  async remove(): Promise<void> {
    await this.endAll();
    await rm(this.#root, { recursive: true, force: true });
  }
}

type Line = Record<string, unknown>;

/** Another process, spoken to through its stdin and stdout. */
export class Other {
  readonly pid: number;
  readonly lines: Line[] = [];
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #watch = new Set<() => void>();
  #lastId = 0;

  constructor(child: ChildProcess) {
    this.#child = child;
    this.pid = child.pid ?? 0;
    this.#ended = new Promise((resolve) => child.once('close', () => resolve()));
    if (!child.stdout) throw new Error('no stdout');
    createInterface({ input: child.stdout }).on('line', (text) => {
      this.lines.push(JSON.parse(text) as Line);
      for (const look of [...this.#watch]) look();
    });
    void this.#ended.then(() => {
      for (const look of [...this.#watch]) look();
    });
  }

  /** The first line that fits, now or when it comes. Rejects when the process ends first. */
  said(fits: (line: Line) => boolean): Promise<Line> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const line = this.lines.find(fits);
        if (!line && this.#child.exitCode === null && this.#child.signalCode === null) return;
        this.#watch.delete(look);
        if (line) resolve(line);
        else reject(new Error(`process ${this.pid} ended before it said that`));
      };
      this.#watch.add(look);
      look();
    });
  }

  /** Gives a command and waits for its result; an error has the `code` of the other side. */
  async do(command: string, rest: Line = {}): Promise<unknown> {
    const id = ++this.#lastId;
    this.#child.stdin?.write(`${JSON.stringify({ id, command, ...rest })}\n`);
    const line = await this.said((line) => line['id'] === id);
    if ('error' in line) throw Object.assign(new Error(String(line['error'])), { code: line['code'] });
    return line['result'];
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }
}

/** Waits until the condition holds, at most this long. */
export async function until(holds: () => Promise<boolean> | boolean, ms = 60_000): Promise<void> {
  const end = Date.now() + ms;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error('it did not come to hold');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
