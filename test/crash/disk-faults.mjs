/**
 * The n-th write below given folders fails as on a full or broken disk: in this process once `breakDisk` is called, or in
 * one that preloads this file (`NODE_OPTIONS=--import=…`), by its environment:
 *
 *   DISK_ROOTS  folders, separated by `:`
 *   DISK_FAULT  `count`; `full` the n-th and all later ones; `once` the n-th alone; `short` the n-th writes half of its bytes,
 *               later ones fail; `sync` the n-th is a flush that reports an input/output error, alone
 *   DISK_NTH    counted from 1: of writes, or of flushes for `sync`
 *   DISK_LOG    a line for each: number, what was done, path
 *
 * Whatever may need a new block counts as a write: making, writing, renaming, linking, and flushing, which is where a file
 * system with delayed allocation reports it.
 */
import fs from 'node:fs';
import fsp from 'node:fs/promises';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { resolve } from 'node:path';

const real = { ...fs };
const realPromises = { ...fsp };
const log = process.env.DISK_LOG === undefined ? undefined : real.openSync(process.env.DISK_LOG, 'a');
let plan = {
  roots: (process.env.DISK_ROOTS ?? '').split(':').filter((root) => root !== ''),
  fault: process.env.DISK_FAULT ?? 'count',
  nth: Number(process.env.DISK_NTH ?? 0),
};
let writes = 0;
let flushes = 0;
let touched = [];

/** See `disk-faults.d.mts`. */
export function breakDisk(next) {
  const before = touched;
  plan = next;
  [writes, flushes, touched] = [0, 0, []];
  return before;
}

const CODES = { ENOSPC: [-28, 'no space left on device'], EIO: [-5, 'i/o error'] };

/** As Node words it: without a path where the call took an open file. */
function failure(code, syscall, target) {
  const [errno, text] = CODES[code];
  const path = typeof target === 'number' ? undefined : String(target);
  const where = path === undefined ? '' : ` '${path}'`;
  return Object.assign(new Error(`${code}: ${text}, ${syscall}${where}`), {
    errno,
    code,
    syscall,
    ...(path === undefined ? {} : { path }),
  });
}

function pathOf(target) {
  if (typeof target === 'number') {
    try {
      return real.readlinkSync(`/proc/self/fd/${target}`);
    } catch {
      return '';
    }
  }
  return target instanceof URL ? target.pathname : resolve(String(target));
}

/** Counts; returns how it goes: undefined as usual, `half`, or an error to report. */
function weigh(what, target) {
  const { roots, fault, nth } = plan;
  if (roots.length === 0) return undefined;
  const path = pathOf(target);
  if (!roots.some((root) => path === root || path.startsWith(`${root}/`))) return undefined;
  if (fault === 'sync' && what !== 'fsync') return undefined;
  const number = fault === 'sync' ? ++flushes : ++writes;
  touched.push(`${number} ${what} ${path}`);
  if (log !== undefined) real.writeSync(log, `${number} ${what} ${path}\n`);
  if (number < nth || fault === 'count') return undefined;
  if (number === nth && fault === 'sync') return failure('EIO', what, target);
  if (number === nth && fault === 'short' && what === 'write') return 'half';
  return number === nth || fault === 'full' || fault === 'short' ? failure('ENOSPC', what, target) : undefined;
}

const creates = (flags) =>
  typeof flags === 'number' ? (flags & real.constants.O_CREAT) !== 0 : /^(?:a|w)/.test(String(flags ?? 'r'));
const makes = (path, flags) => creates(flags) && !real.existsSync(path);
const isNamed = (target) => typeof target === 'string' || target instanceof URL || Buffer.isBuffer(target);

// Promises.
const handle = await realPromises.open('/dev/null');
const prototype = Object.getPrototypeOf(handle);
await handle.close();
const { write, writev, writeFile, datasync, sync } = prototype;
const half = (data) => Math.floor(data.length / 2);

prototype.write = async function (data, ...rest) {
  const verdict = weigh('write', this.fd);
  if (verdict === 'half') {
    const [offset = 0, length = data.length - offset] =
      typeof rest[0] === 'object' && rest[0] !== null ? [rest[0].offset, rest[0].length] : rest;
    return write.call(this, data, offset, Math.floor(length / 2));
  }
  if (verdict) throw verdict;
  return write.call(this, data, ...rest);
};
prototype.writev = async function (...given) {
  const verdict = weigh('write', this.fd);
  if (verdict) throw verdict === 'half' ? failure('ENOSPC', 'write', 0) : verdict;
  return writev.apply(this, given);
};
prototype.writeFile = prototype.appendFile = async function (data, ...rest) {
  const verdict = weigh('write', this.fd);
  if (verdict === 'half') await write.call(this, Buffer.from(data).subarray(0, half(data)));
  if (verdict) throw verdict === 'half' ? failure('ENOSPC', 'write', 0) : verdict;
  return writeFile.call(this, data, ...rest);
};
for (const [name, flush] of Object.entries({ datasync, sync })) {
  prototype[name] = async function () {
    const verdict = weigh('fsync', this.fd);
    if (verdict && verdict !== 'half') throw verdict;
    return flush.call(this);
  };
}
fsp.open = async (path, flags, mode) => {
  const verdict = makes(path, flags) ? weigh('open', path) : undefined;
  if (verdict && verdict !== 'half') throw verdict;
  return realPromises.open(path, flags, mode);
};
for (const [name, flag] of [
  ['writeFile', 'w'],
  ['appendFile', 'a'],
]) {
  fsp[name] = async (target, data, options) => {
    if (!isNamed(target)) return realPromises[name](target, data, options);
    const made = makes(target, flag) ? weigh('open', target) : undefined;
    if (made && made !== 'half') throw made;
    const verdict = weigh('write', target);
    if (!verdict) return realPromises[name](target, data, options);
    // As in life: the file is there, its content is not, or not all of it.
    const bytes = Buffer.from(data);
    await realPromises[name](target, verdict === 'half' ? bytes.subarray(0, half(bytes)) : '', options);
    throw failure('ENOSPC', 'write', 0);
  };
}
for (const [name, place] of [
  ['mkdir', 0],
  ['rename', 1],
  ['link', 1],
  ['symlink', 1],
  ['copyFile', 1],
  ['cp', 1],
  ['mkdtemp', 0],
]) {
  fsp[name] = async (...given) => {
    const there = name === 'mkdir' && real.existsSync(given[0]);
    const verdict = there ? undefined : weigh(name, given[place]);
    if (verdict && verdict !== 'half') throw verdict;
    return realPromises[name](...given);
  };
  const synchronous = `${name}Sync`;
  fs[synchronous] = (...given) => {
    const there = name === 'mkdir' && real.existsSync(given[0]);
    const verdict = there ? undefined : weigh(name, given[place]);
    if (verdict && verdict !== 'half') throw verdict;
    return real[synchronous](...given);
  };
}

// Callbacks, which streams use, and the synchronous ones.
fs.write = (fd, data, ...rest) => {
  const verdict = weigh('write', fd);
  if (!verdict) return real.write(fd, data, ...rest);
  const done = rest.at(-1);
  if (verdict === 'half')
    return real.write(fd, data, rest[0] ?? 0, Math.floor((rest[1] ?? data.length) / 2), rest[2], done);
  process.nextTick(done, verdict);
};
fs.writev = (fd, data, ...rest) => {
  const verdict = weigh('write', fd);
  if (!verdict) return real.writev(fd, data, ...rest);
  process.nextTick(rest.at(-1), verdict === 'half' ? failure('ENOSPC', 'write', 0) : verdict);
};
fs.open = (path, ...rest) => {
  const verdict = makes(path, typeof rest[0] === 'function' ? 'r' : rest[0]) ? weigh('open', path) : undefined;
  if (!verdict || verdict === 'half') return real.open(path, ...rest);
  process.nextTick(rest.at(-1), verdict);
};
for (const name of ['fsync', 'fdatasync']) {
  fs[name] = (fd, done) => {
    const verdict = weigh('fsync', fd);
    if (!verdict || verdict === 'half') return real[name](fd, done);
    process.nextTick(done, verdict);
  };
  fs[`${name}Sync`] = (fd) => {
    const verdict = weigh('fsync', fd);
    if (verdict && verdict !== 'half') throw verdict;
    return real[`${name}Sync`](fd);
  };
}
fs.writeSync = (fd, ...rest) => {
  const verdict = weigh('write', fd);
  // As the system does: fewer bytes are written, and the number is all that tells.
  if (verdict === 'half') {
    if (typeof rest[0] === 'string') return real.writeSync(fd, Buffer.from(rest[0]), 0, half(rest[0]));
    const [bytes, offset = 0, length = bytes.length - offset, position] = rest;
    return real.writeSync(fd, bytes, offset, Math.floor(length / 2), position);
  }
  if (verdict) throw verdict;
  return real.writeSync(fd, ...rest);
};
for (const name of ['writeFileSync', 'appendFileSync']) {
  fs[name] = (target, ...rest) => {
    const verdict = weigh('write', target);
    if (verdict) throw verdict === 'half' ? failure('ENOSPC', 'write', 0) : verdict;
    return real[name](target, ...rest);
  };
}
fs.openSync = (path, flags, mode) => {
  const verdict = makes(path, flags) ? weigh('open', path) : undefined;
  if (verdict && verdict !== 'half') throw verdict;
  return real.openSync(path, flags, mode);
};
syncBuiltinESMExports();

// SQLite writes by itself: a commit is a write and a flush of its file, and one that fails is undone.
const Driver = process.getBuiltinModule?.('node:sqlite')?.DatabaseSync ?? createRequire(import.meta.url)('libsql');
const { exec } = Driver.prototype;
const RESULTS = {
  ENOSPC: [13, 'SQLITE_FULL', 'database or disk is full'],
  EIO: [1034, 'SQLITE_IOERR', 'disk I/O error'],
};
Driver.prototype.exec = function (sql) {
  if (sql === 'commit') {
    const { file } = this.prepare('pragma database_list').get();
    const verdict = weigh('write', file) ?? weigh('fsync', file);
    if (verdict) {
      exec.call(this, 'rollback');
      const [number, code, text] = RESULTS[verdict === 'half' ? 'ENOSPC' : verdict.code];
      throw Object.assign(new Error(text), { code, rawCode: number, errcode: number });
    }
  }
  return exec.call(this, sql);
};
