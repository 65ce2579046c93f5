import crypto from 'node:crypto';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { Transform } from 'node:stream';
import zlib from 'node:zlib';
import type { Handle, Timeline } from './timeline.js';

/** Time and chance of a simulated world, as every module of the program sees them. */
export interface Machine {
  readonly timeline: Timeline;
  /** Milliseconds since 1970, by the clock of whoever asks. */
  readonly wall: () => number;
  readonly random: () => number;
}

let active: Machine | undefined;

/** The world that is being simulated now; none: everything is real. */
export function activeMachine(): Machine | undefined {
  return active;
}

export function activate(machine: Machine | undefined): void {
  active = machine;
}

/** A timer as Node's functions return it. */
class SimTimer {
  private handle: Handle | undefined;
  private unreferenced = false;
  constructor(private readonly start: (timer: SimTimer) => Handle) {
    this.handle = start(this);
  }
  cancel(): void {
    this.handle?.cancel();
    this.handle = undefined;
  }
  refresh(): this {
    this.cancel();
    this.again();
    return this;
  }
  again(): void {
    this.handle = this.start(this);
    if (this.unreferenced) this.handle.background(true);
  }
  ref(): this {
    this.handle?.background(false);
    return this;
  }
  unref(): this {
    this.unreferenced = true;
    this.handle?.background(true);
    return this;
  }
  hasRef(): boolean {
    return !this.unreferenced;
  }
  close(): this {
    this.cancel();
    return this;
  }
}

/**
 * Puts simulated time and chance in the place of Node's, for good: while no world is active they hand on to the real ones.
 * Must be called before the program is loaded, which takes some of them by name.
 */
export function installMachine(): void {
  const real = {
    setTimeout: globalThis.setTimeout,
    clearTimeout: globalThis.clearTimeout,
    setInterval: globalThis.setInterval,
    clearInterval: globalThis.clearInterval,
    setImmediate: globalThis.setImmediate,
    clearImmediate: globalThis.clearImmediate,
    random: Math.random,
    Date: globalThis.Date,
    now: performance.now.bind(performance),
    randomBytes: crypto.randomBytes,
    randomUUID: crypto.randomUUID,
  };
  type Callback = (...args: unknown[]) => void;
  const put = (target: object, name: string, value: unknown): void => {
    Object.defineProperty(target, name, { value, writable: true, configurable: true, enumerable: true });
  };

  put(globalThis, 'setTimeout', (run: Callback, ms = 0, ...args: unknown[]) => {
    const machine = active;
    if (!machine) return real.setTimeout(run, ms, ...args);
    return new SimTimer(() => machine.timeline.after(ms, () => run(...args)));
  });
  put(globalThis, 'setInterval', (run: Callback, ms = 0, ...args: unknown[]) => {
    const machine = active;
    if (!machine) return real.setInterval(run, ms, ...args);
    return new SimTimer((timer) =>
      machine.timeline.after(Math.max(1, ms), () => {
        timer.again();
        run(...args);
      }),
    );
  });
  put(globalThis, 'setImmediate', (run: Callback, ...args: unknown[]) => {
    const machine = active;
    if (!machine) return real.setImmediate(run, ...args);
    return new SimTimer(() => machine.timeline.after(0, () => run(...args)));
  });
  for (const name of ['clearTimeout', 'clearInterval', 'clearImmediate'] as const) {
    put(globalThis, name, (timer: unknown) => {
      if (timer instanceof SimTimer) timer.cancel();
      else (real[name] as (timer: unknown) => void)(timer);
    });
  }

  put(
    globalThis,
    'Date',
    new Proxy(real.Date, {
      construct: (target, args) =>
        active && args.length === 0 ? new target(active.wall()) : Reflect.construct(target, args),
      get: (target, name) =>
        name === 'now' ? () => (active ? Math.floor(active.wall()) : target.now()) : Reflect.get(target, name),
    }),
  );
  put(performance, 'now', () => (active ? active.timeline.now : real.now()));
  put(Math, 'random', () => (active ? active.random() : real.random()));

  const bytes = (machine: Machine, size: number) =>
    Buffer.from(Array.from({ length: size }, () => machine.random() * 256));
  put(crypto, 'randomBytes', (size: number) => (active ? bytes(active, size) : real.randomBytes(size)));
  put(crypto, 'randomUUID', () => {
    if (!active) return real.randomUUID();
    return bytes(active, 16)
      .toString('hex')
      .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  });
  const promised = createRequire(import.meta.url)('node:timers/promises') as Record<string, unknown>;
  const realPause = promised['setTimeout'] as (ms: number, value: unknown, options: unknown) => Promise<unknown>;
  put(promised, 'setTimeout', (ms = 1, value?: unknown, options: { signal?: AbortSignal } = {}) => {
    const machine = active;
    if (!machine) return realPause(ms, value, options);
    return new Promise((resolve, reject) => {
      const stop = () => {
        handle.cancel();
        reject(options.signal?.reason);
      };
      const handle = machine.timeline.after(ms, () => {
        options.signal?.removeEventListener('abort', stop);
        resolve(value);
      });
      if (options.signal?.aborted) stop();
      else options.signal?.addEventListener('abort', stop, { once: true });
    });
  });
  const realImmediate = promised['setImmediate'] as (value: unknown) => Promise<unknown>;
  put(promised, 'setImmediate', (value?: unknown) => {
    const machine = active;
    if (!machine) return realImmediate(value);
    return new Promise((resolve) => machine.timeline.after(0, () => resolve(value)));
  });
  // Packing is done by threads of Node's own: here at once.
  const realDeflate = zlib.createDeflateRaw;
  put(zlib, 'createDeflateRaw', (options?: zlib.ZlibOptions) => {
    if (!active) return realDeflate(options);
    const chunks: Buffer[] = [];
    return new Transform({
      transform(chunk: Buffer, _encoding, done) {
        chunks.push(chunk);
        done();
      },
      flush(done) {
        this.push(zlib.deflateRawSync(Buffer.concat(chunks), options));
        done();
      },
    });
  });
  syncBuiltinESMExports();
}
