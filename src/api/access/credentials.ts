import { createHash, randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { createAtomically } from '../../files/atomic-write.js';
import { runFailure, systemCodes, usageError } from '../../model/error.js';
import { takeLock } from '../../runs/run/lock.js';
import { parseAs } from '../../worker/store/shared.js';
import { ROLES, type Role } from '../schema.js';

/**
 * Who may sign in from beyond this machine's user: people with passwords (the users file) and programs with keys
 * (`keys.json` in the data folder). Both are lists in files that commands write and the worker reads again when they change.
 */

const NAME = /^[\p{L}\p{N}][\p{L}\p{N} .@_-]{0,63}$/u;
const name = z.string().regex(NAME);
const user = z.strictObject({ name, role: z.enum(ROLES), password: z.string() });
const key = z.strictObject({ name, role: z.enum(ROLES), sha256: z.string(), made_at: z.string() });
export type User = z.output<typeof user>;
export type Key = z.output<typeof key>;

/** A list in a file, by name. */
export interface Credentials<T extends { readonly name: string; readonly role: Role }> {
  /** Read again when the file changed. Throws `RunError` where it cannot be trusted or read; a missing one holds nobody. */
  all(): Promise<readonly T[]>;
  add(entry: T): Promise<void>;
  /** False where there is none of the name. */
  remove(name: string): Promise<boolean>;
}

export const openUsers = (path: string): Credentials<User> =>
  // As others on the machine may know who there is; not who decides it. Secrets of orchestrators are mounted so.
  openCredentials(path, user, { what: 'users file', one: 'user', mostRights: 0o755 });

export const openKeys = (home: string): Credentials<Key> =>
  openCredentials(join(home, 'keys.json'), key, { what: 'list of keys', one: 'key', mostRights: 0o700 });

function openCredentials<T extends { readonly name: string; readonly role: Role }>(
  path: string,
  shape: z.ZodType<T>,
  { what, one, mostRights }: { readonly what: string; readonly one: string; readonly mostRights: number },
): Credentials<T> {
  const listSchema = z.array(shape);
  let cached: { readonly state: string; readonly all: readonly T[] } | undefined;

  async function all(): Promise<readonly T[]> {
    const info = await stat(path, { bigint: true }).catch((error: unknown) => {
      if (systemCodes(error)[0] === 'ENOENT') return undefined;
      throw runFailure(`The ${what} ${path} cannot be read (${systemCodes(error)[0] ?? 'unknown'}).`);
    });
    if (!info) return [];
    const rights = Number(info.mode & 0o777n);
    const own = process.getuid?.();
    if (process.platform !== 'win32' && (rights & ~mostRights || (info.uid !== 0n && Number(info.uid) !== own))) {
      throw runFailure(
        `The ${what} ${path} may be changed or read by other users of this machine (mode ${rights.toString(8).padStart(4, '0')}): nobody on it is let in. ` +
          'Make it yours, and run: chmod 600',
      );
    }
    const state = [info.ino, info.size, info.mtimeNs, info.ctimeNs].join(' ');
    if (cached?.state === state) return cached.all;
    const found = parseAs(listSchema, await readFile(path, 'utf8'));
    if (!found) throw runFailure(`The ${what} ${path} is damaged. Restore it, or remove it and begin anew.`);
    cached = { state, all: found };
    return found;
  }

  async function change<R>(edit: (all: readonly T[]) => readonly [all: readonly T[], result: R]): Promise<R> {
    const release = await takeLock(`${path}.lock`, `The ${what}`);
    try {
      const [next, result] = edit(await all());
      const text = `${JSON.stringify(next, undefined, 2)}\n`;
      await createAtomically(path, (temporary) => writeFile(temporary, text, { mode: 0o600, flag: 'wx' }), {
        keepMode: true,
      });
      return result;
    } finally {
      await release();
    }
  }

  return {
    all,
    add(entry) {
      if (!NAME.test(entry.name)) {
        throw usageError(
          `"${entry.name}" is no name for a ${one}: 1 to 64 letters, digits, blanks and . @ _ - are, the first a letter or digit.`,
        );
      }
      return change((before) => {
        if (!before.some((other) => other.name === entry.name)) return [[...before, entry], undefined];
        throw usageError(`There is a ${one} ${entry.name} already. Remove it first, or choose another name.`);
      });
    },
    remove: (gone) =>
      change((before) => {
        const remaining = before.filter((other) => other.name !== gone);
        return [remaining, remaining.length < before.length];
      }),
  };
}

export const digest = (secret: string): string => createHash('sha256').update(secret).digest('hex');
/** One that nobody guesses: 256 bits. */
export const randomSecret = (): string => randomBytes(32).toString('base64url');

/** What keys begin with, so that scanners for leaked secrets know them. */
const KEY_PREFIX = 'rowferry_';

/** Makes a key for a program; it is told here, and nowhere again. */
export async function addKey(keys: Credentials<Key>, name: string, role: Role): Promise<string> {
  const secret = KEY_PREFIX + randomSecret();
  await keys.add({ name, role, sha256: digest(secret), made_at: new Date().toISOString() });
  return secret;
}

export const MIN_PASSWORD_LENGTH = 10;

/** 32 MB and a tenth of a second each, so that a stolen file is of little use. */
const COST = { N: 2 ** 15, r: 8, p: 1 };

export async function hashPassword(password: string, cost = COST): Promise<string> {
  const salt = randomBytes(16);
  const hash = await deriveHash(password, salt, cost);
  return ['scrypt', cost.N, cost.r, cost.p, salt.toString('base64url'), hash.toString('base64url')].join('$');
}

/** In the same time for every password of one cost. */
export async function verifyPassword(password: string, stored: string): Promise<boolean> {
  const [kind, N, r, p, salt = '', hash = ''] = stored.split('$');
  if (kind !== 'scrypt') return false;
  const expected = Buffer.from(hash, 'base64url');
  const cost = { N: Number(N), r: Number(r), p: Number(p) };
  const found = await deriveHash(password, Buffer.from(salt, 'base64url'), cost).catch(() => undefined);
  return found !== undefined && found.length === expected.length && timingSafeEqual(found, expected);
}

/** What is compared where there is no such user, in the time that it takes where there is one. */
export const DUMMY_HASH = ['scrypt', COST.N, COST.r, COST.p, 'AAAAAAAAAAAAAAAAAAAAAA', 'A'.repeat(43)].join('$');

function deriveHash(password: string, salt: Buffer, cost: ScryptOptions): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // As people type it: the same letters have several forms.
    scrypt(password.normalize('NFKC'), salt, 32, { ...cost, maxmem: 128 * 1024 * 1024 }, (error, hash) =>
      error ? reject(error) : resolve(hash),
    );
  });
}
