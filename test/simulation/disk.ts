// Above 300 lines with its neighbours in mind: one file for every way in which the program touches a disk.
import fs from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { activeMachine } from './machine.js';

/** The disk of a simulated world: everything below one folder. */
export interface Disk {
  readonly root: string;
  /** No write below these folders succeeds any more (ENOSPC). */
  readonly full: Set<string>;
  /** Milliseconds of the next step; `sync`: of one that waits for the disk itself. */
  latency(sync: boolean): number;
  /** 0 ≤ x < 1 */
  random(): number;
}

let disk: Disk | undefined;
/** Bytes of a file that a power cut cannot take any more; a file that is not named here has none. */
const durable = new Map<string, number>();
const paths = new Map<number, string>();
/** Of whom a descriptor is. */
const owners = new Map<number, string>();
/** Connections to databases, and of whom they are. */
const connections = new Map<Connection, string>();

export function mount(given: Disk | undefined): void {
  disk = given;
  durable.clear();
  // What a simulation left open that came to no good end.
  for (const fd of [...owners.keys()]) {
    real.closeSync(fd);
    forget(fd);
  }
  for (const connection of connections.keys()) hangUp(connection);
}

const text = (path: unknown): string => {
  if (typeof path === 'string' || Buffer.isBuffer(path)) return path.toString();
  return path instanceof URL ? path.pathname : '';
};
const isOurs = (path: unknown): boolean =>
  disk !== undefined &&
  activeMachine() !== undefined &&
  [disk.root, '/proc/self/fd/'].some((at) => text(path).startsWith(at));

/** Files that a process has open. */
export function openFiles(owner: string): string[] {
  return [...owners].filter(([, of]) => of === owner).map(([fd]) => paths.get(fd) ?? '');
}

/** Descriptors of a killed process: the system closes them, and ends its locks. */
export function closeAll(owner: string): void {
  for (const [fd, of] of [...owners]) {
    if (of !== owner) continue;
    real.closeSync(fd);
    forget(fd);
  }
  for (const [connection, of] of [...connections]) if (of === owner) hangUp(connection);
}

/** As the system does for a process that is gone. A statement that was not read to its end keeps what its connection holds. */
function hangUp(connection: Connection): void {
  try {
    connection.exec('rollback');
  } catch {
    // It was in the middle of nothing.
  }
  connection.close();
}

/**
 * The power fails, and comes back: of every file below the folder the end that was not flushed is gone from a random byte
 * on, or stands there as zeros. A rename is durable by itself, as on a journaling file system.
 */
export function cutPower(folder: string): void {
  const current = disk;
  if (!current) return;
  for (const entry of real.readdirSync(folder, { recursive: true, withFileTypes: true })) {
    // SQLite flushes by itself, in one step with its commit.
    if (!entry.isFile() || /\.db(?:-wal|-shm)?$/.test(entry.name)) continue;
    const path = join(entry.parentPath, entry.name);
    const size = real.statSync(path).size;
    const safe = Math.min(size, durable.get(path) ?? 0);
    if (safe < size) {
      const kept = safe + Math.floor(current.random() * (size - safe + 1));
      real.truncateSync(path, kept);
      if (current.random() < 0.3) real.truncateSync(path, size);
    }
    durable.set(path, real.statSync(path).size);
  }
}

/** What stands below the folder is durable: it was put there before the simulation. */
export function settleAll(folder: string): void {
  for (const entry of real.readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) durable.set(path, real.statSync(path).size);
  }
}

const real = {
  ...fs,
  promises: { ...fs.promises },
};

/** One step of the disk: it happens after a while, at one moment, and only if the process still lives. */
function step<T>(sync: boolean, work: () => T): Promise<T> {
  const machine = activeMachine();
  if (!machine || !disk) throw new Error('no disk is mounted');
  const { timeline } = machine;
  const ms = disk.latency(sync);
  return new Promise((resolve, reject) => {
    timeline.after(ms, () => {
      try {
        resolve(work());
      } catch (error) {
        reject(error);
      }
    });
  });
}

function assertRoom(path: string | undefined): void {
  if (path === undefined || !disk) return;
  for (const folder of disk.full) {
    if (path.startsWith(folder)) {
      throw Object.assign(new Error(`ENOSPC: no space left on device, write '${path}'`), {
        code: 'ENOSPC',
        errno: -28,
      });
    }
  }
}

function opened(fd: number, path: string, flags: unknown): number {
  paths.set(fd, path);
  owners.set(fd, activeMachine()?.timeline.owner ?? '');
  if (typeof flags === 'string' && flags.startsWith('w')) durable.set(path, 0);
  return fd;
}

function forget(fd: number): void {
  paths.delete(fd);
  owners.delete(fd);
}

function synced(fd: number): void {
  const path = paths.get(fd);
  const stat = real.fstatSync(fd);
  if (path !== undefined && stat.isFile()) durable.set(path, stat.size);
}

function renamed(from: string, to: string): void {
  durable.set(to, durable.get(from) ?? 0);
  durable.delete(from);
  for (const [fd, path] of paths) if (path === from) paths.set(fd, to);
}

type Data = string | Uint8Array;

/** A `FileHandle` whose steps are events. Only what the program uses. */
class SimHandle {
  private closed = false;
  constructor(
    readonly fd: number,
    private readonly path: string,
  ) {}
  private later<T>(work: () => T, sync = false): Promise<T> {
    return step(sync, () => {
      if (this.closed) throw Object.assign(new Error('EBADF: bad file descriptor'), { code: 'EBADF' });
      return work();
    });
  }
  read(buffer: NodeJS.ArrayBufferView, offset = 0, length?: number | null, position: number | null = null) {
    const size = length ?? buffer.byteLength - offset;
    return this.later(() => ({ bytesRead: real.readSync(this.fd, buffer, offset, size, position), buffer }));
  }
  write(data: Data, offset = 0, length?: number | null, position: number | null = null) {
    return this.later(() => {
      assertRoom(paths.get(this.fd));
      const bytes = typeof data === 'string' ? Buffer.from(data, 'utf8') : data;
      const size = length ?? bytes.byteLength - offset;
      return { bytesWritten: real.writeSync(this.fd, bytes, offset, size, position), buffer: data };
    });
  }
  private whole(data: Data): void {
    assertRoom(paths.get(this.fd));
    const bytes = typeof data === 'string' ? Buffer.from(data, 'utf8') : data;
    for (let at = 0; at < bytes.byteLength; ) at += real.writeSync(this.fd, bytes, at, bytes.byteLength - at);
  }
  appendFile(data: Data): Promise<void> {
    return this.later(() => this.whole(data));
  }
  writeFile(data: Data): Promise<void> {
    return this.later(() => this.whole(data));
  }
  readFile(options?: BufferEncoding | { encoding?: BufferEncoding }) {
    return this.later(() => real.readFileSync(this.fd, options));
  }
  async *createReadStream() {
    const buffer = Buffer.alloc(65_536);
    for (;;) {
      const { bytesRead } = await this.read(buffer);
      if (bytesRead === 0) return;
      yield Buffer.from(buffer.subarray(0, bytesRead));
    }
  }
  stat(options?: fs.StatOptions) {
    return this.later(() => real.fstatSync(this.fd, options));
  }
  truncate(length = 0) {
    return this.later(() => {
      real.ftruncateSync(this.fd, length);
      const path = paths.get(this.fd) ?? this.path;
      durable.set(path, Math.min(length, durable.get(path) ?? 0));
    });
  }
  sync() {
    return this.later(() => synced(this.fd), true);
  }
  datasync() {
    return this.sync();
  }
  chmod(mode: number) {
    return this.later(() => real.fchmodSync(this.fd, mode));
  }
  async close(): Promise<void> {
    if (this.closed) return;
    await this.later(() => {
      this.closed = true;
      real.closeSync(this.fd);
      forget(this.fd);
    });
  }
}

/** Functions of `fs/promises` that do one thing with paths, and have a form that does it at once. */
const AT_ONCE = [
  'access',
  'chmod',
  'chown',
  'link',
  'lstat',
  'mkdir',
  'mkdtemp',
  'readdir',
  'readFile',
  'readlink',
  'realpath',
  'rmdir',
  'stat',
  'statfs',
  'symlink',
  'unlink',
  'utimes',
] as const;

type Function = (...args: unknown[]) => unknown;

/** Puts the simulated disk in the place of Node's, for good; outside its folder, and while no world is active, all is as it was. */
export function installDisk(): void {
  const promises = fs.promises as unknown as Record<string, Function>;
  const plain = fs as unknown as Record<string, Function>;
  const originals = real as unknown as Record<string, Function>;
  const original = (name: string): Function => (real.promises as unknown as Record<string, Function>)[name] as Function;
  const atOnce = (name: string): Function => originals[`${name}Sync`] as Function;

  for (const name of AT_ONCE) {
    promises[name] = (path, ...args) =>
      isOurs(path) ? step(false, () => atOnce(name)(path, ...args)) : original(name)(path, ...args);
  }
  promises['rm'] = (path, ...args) => {
    if (!isOurs(path)) return original('rm')(path, ...args);
    return step(false, () => {
      durable.delete(text(path));
      return atOnce('rm')(path, ...args);
    });
  };
  promises['rename'] = (from, to) => {
    if (!isOurs(from)) return original('rename')(from, to);
    return step(false, () => {
      real.renameSync(text(from), text(to));
      renamed(text(from), text(to));
    });
  };
  promises['copyFile'] = (from, to, ...args) => {
    if (!isOurs(to)) return original('copyFile')(from, to, ...args);
    return step(false, () => {
      assertRoom(text(to));
      durable.delete(text(to));
      return atOnce('copyFile')(from, to, ...args);
    });
  };
  for (const name of ['writeFile', 'appendFile']) {
    promises[name] = async (path, ...args) => {
      if (!isOurs(path)) return original(name)(path, ...args);
      // Made or emptied first, filled then: whoever is cut off in between leaves an empty file.
      const flag = name === 'appendFile' ? 'a' : ((args[1] as { flag?: string } | undefined)?.flag ?? 'w');
      await step(false, () => {
        assertRoom(text(path));
        if (flag !== 'a') durable.delete(text(path));
        real.closeSync(real.openSync(text(path), flag));
      });
      return step(false, () => {
        assertRoom(text(path));
        const [data, options] = args;
        const form = typeof options === 'string' ? { encoding: options } : ((options ?? {}) as object);
        real.writeFileSync(text(path), data as string, { ...form, flag: 'a' });
        const now = (activeMachine()?.wall() ?? 0) / 1000;
        real.utimesSync(text(path), now, now);
      });
    };
  }
  promises['open'] = (path, flags, ...args) => {
    if (!isOurs(path)) return original('open')(path, flags, ...args);
    return step(
      false,
      () => new SimHandle(opened(atOnce('open')(path, flags, ...args) as number, text(path), flags), text(path)),
    );
  };

  // What happens at once: only what is durable, and what there is no room for, has to be known.
  plain['openSync'] = (path, flags, ...args) => {
    const fd = atOnce('open')(path, flags, ...args) as number;
    return isOurs(path) ? opened(fd, text(path), flags) : fd;
  };
  plain['closeSync'] = (fd) => {
    forget(fd as number);
    real.closeSync(fd as number);
  };
  plain['writeSync'] = (fd, ...args) => {
    assertRoom(paths.get(fd as number));
    return atOnce('write')(fd, ...args);
  };
  for (const name of ['fsyncSync', 'fdatasyncSync']) {
    plain[name] = (fd) => (paths.has(fd as number) ? synced(fd as number) : originals[name]?.(fd));
  }

  // What streams use.
  type Done = (error: unknown, ...results: unknown[]) => void;
  const streamed = (
    name: string,
    is: (first: unknown) => boolean,
    work: (args: unknown[]) => unknown[],
    sync = false,
  ): void => {
    const before = plain[name] as Function;
    plain[name] = (...args) => {
      if (!is(args[0])) return before(...args);
      const done = args.pop() as Done;
      return void step(sync, () => work(args)).then(
        (results) => done(null, ...results),
        (error: unknown) => done(error),
      );
    };
  };
  const isKnown = (fd: unknown): boolean => paths.has(fd as number);
  streamed('open', isOurs, ([path, flags, mode]) => [
    opened(atOnce('open')(path, flags, mode) as number, text(path), flags),
  ]);
  streamed('read', isKnown, ([fd, buffer, offset, length, position]) => [
    atOnce('read')(fd, buffer, offset, length, position ?? null),
    buffer,
  ]);
  streamed('write', isKnown, ([fd, buffer, offset, length, position]) => {
    assertRoom(paths.get(fd as number));
    return [atOnce('write')(fd, buffer, offset, length, position ?? null), buffer];
  });
  streamed('writev', isKnown, ([fd, buffers, position]) => {
    assertRoom(paths.get(fd as number));
    return [atOnce('writev')(fd, buffers, position ?? null), buffers];
  });
  streamed('close', isKnown, ([fd]) => {
    real.closeSync(fd as number);
    forget(fd as number);
    return [];
  });
  for (const name of ['fsync', 'fdatasync']) {
    streamed(
      name,
      isKnown,
      ([fd]) => {
        synced(fd as number);
        return [];
      },
      true,
    );
  }
  syncBuiltinESMExports();

  const Driver =
    (process.getBuiltinModule?.('node:sqlite' as 'node:fs') as unknown as { DatabaseSync?: Driver })?.DatabaseSync ??
    (createRequire(import.meta.url)('libsql') as Driver);
  const { exec, close } = Driver.prototype;
  Driver.prototype.exec = function (sql) {
    if (sql === 'commit' && disk?.full.size) {
      try {
        assertRoom(this.prepare('pragma database_list').get().file);
      } catch {
        exec.call(this, 'rollback');
        throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL', rawCode: 13, errcode: 13 });
      }
    }
    if (!connections.has(this)) connections.set(this, activeMachine()?.timeline.owner ?? '');
    return exec.call(this, sql);
  };
  Driver.prototype.close = function () {
    connections.delete(this);
    return close.call(this);
  };
}

interface Driver {
  prototype: Connection;
}

interface Connection {
  exec(sql: string): unknown;
  close(): unknown;
  prepare(sql: string): { get(): { readonly file: string } };
}
