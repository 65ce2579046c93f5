import { isIPv6 } from 'node:net';
import { userInfo } from 'node:os';
import { expandIPv6 } from 'hono/utils/ipaddr';
import { RunError } from '../../model/error.js';
import type { Caller } from '../operation.js';
import {
  type Credentials,
  DUMMY_HASH,
  digest,
  type Key,
  openKeys,
  openUsers,
  randomSecret,
  type User,
  verifyPassword,
} from './credentials.js';
import { consumeLinkKey } from './links.js';

/** Why somebody was not let in. */
export type Refusal = 'wrong' | 'too many';

/** Somebody who was let in with a new session; `session` goes into their cookie. */
export interface NewSession {
  readonly who: Caller;
  readonly session: string;
}

export type Access = ReturnType<typeof openAccess>;

export const SESSION_MS = 12 * 3_600_000;
/** Of all people together; beyond, the oldest ends. */
const MOST_SESSIONS = 1_000;
/** Passwords that wait to be compared: each takes a tenth of a second of a thread that files need, too. */
const MOST_COMPARED = 20;

interface SessionState {
  readonly who: Caller;
  readonly until: number;
  /** Of a user: the stored form of the password that was given. */
  readonly password?: string;
}

/**
 * Who may come in over HTTP: users by password, programs by key, and whoever holds a link with a one-time key. Sessions are in
 * memory alone, by the hash of their id; they end after 12 hours, with the process, and when their user is removed or changed.
 */
export function openAccess(options: {
  readonly home: string;
  readonly usersFile: string;
  readonly notice: (level: 'info' | 'warn', text: string) => void;
  /** Milliseconds since 1970; for tests. */
  readonly now?: () => number;
}) {
  const { home, notice, now = Date.now } = options;
  const users = openUsers(options.usersFile);
  const keys = openKeys(home);
  const tries = openTries(notice, now);
  const sessions = new Map<string, SessionState>();
  let comparing: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  const warned = new Set<string>();

  /** Nobody of a list that cannot be trusted is let in; the log says why. */
  async function readEntries<T extends User | Key>(credentials: Credentials<T>): Promise<readonly T[]> {
    try {
      return await credentials.all();
    } catch (error) {
      if (!(error instanceof RunError)) throw error;
      if (!warned.has(error.message)) notice('warn', error.message);
      warned.add(error.message);
      return [];
    }
  }

  function openSession(who: Caller, password?: string): NewSession {
    const session = randomSecret();
    const [oldest] = sessions.keys();
    if (sessions.size >= MOST_SESSIONS && oldest !== undefined) sessions.delete(oldest);
    sessions.set(digest(session), { who, until: now() + SESSION_MS, ...(password !== undefined && { password }) });
    return { who, session };
  }

  function refuseGuess(from: string): Refusal {
    const end = tries.begin(from);
    end?.('wrong');
    return end ? 'wrong' : 'too many';
  }

  return {
    hasUsers: async () => (await readEntries(users)).length > 0,

    /** `from`: address of whoever asks. */
    async byPassword(name: string, password: string, from: string): Promise<NewSession | Refusal> {
      const end = waiting < MOST_COMPARED ? tries.begin(from) : undefined;
      if (!end) return 'too many';
      const found = (await readEntries(users)).find((one) => one.name === name);
      waiting++;
      const compared = comparing.then(() => verifyPassword(password, found?.password ?? DUMMY_HASH));
      comparing = compared.catch(() => undefined);
      const right = await compared.finally(() => waiting--);
      end(right && found ? 'right' : 'wrong');
      return right && found ? openSession({ name, role: found.role, via: 'user' }, found.password) : 'wrong';
    },

    byLink(key: string, from: string): NewSession | Refusal {
      if (consumeLinkKey(home, key, now()))
        return openSession({ name: userInfo().username, role: 'approver', via: 'link' });
      return refuseGuess(from);
    },

    /** A right key is known in no time, and cannot be guessed: it is taken, whatever came from its address before. */
    async byKey(secret: string, from: string): Promise<Caller | Refusal> {
      const sha256 = digest(secret);
      const found = (await readEntries(keys)).find((one) => one.sha256 === sha256);
      if (found) return { name: found.name, role: found.role, via: 'key' };
      return refuseGuess(from);
    },

    async bySession(session: string): Promise<Caller | undefined> {
      const id = digest(session);
      const state = sessions.get(id);
      if (!state) return undefined;
      const { who, until, password } = state;
      if (until > now()) {
        if (password === undefined) return who;
        const user = (await readEntries(users)).find((one) => one.name === who.name);
        if (user?.password === password) return { ...who, role: user.role };
      }
      sessions.delete(id);
      return undefined;
    },

    signOut: (session: string): boolean => sessions.delete(digest(session)),
  };
}

const MOST_WRONG = 10;
const WINDOW_MS = 60_000;
/** Addresses that are counted; the oldest is forgotten for a further one. */
const MOST_ADDRESSES = 10_000;

/** Wrong passwords and keys by address, of the present minute. A try counts from its beginning: many at once are no way around. */
function openTries(notice: (level: 'warn', text: string) => void, now: () => number) {
  let windowBegan = now();
  const byAddress = new Map<string, { tries: number; wrong: number }>();
  return {
    /** Undefined where there were too many; otherwise tell how it ended. */
    begin(from: string): ((how: 'right' | 'wrong') => void) | undefined {
      if (now() - windowBegan > WINDOW_MS) {
        windowBegan = now();
        byAddress.clear();
      }
      const address = network(from);
      const count = byAddress.get(address) ?? { tries: 0, wrong: 0 };
      if (count.tries >= MOST_WRONG) return undefined;
      const [oldest] = byAddress.keys();
      if (byAddress.size >= MOST_ADDRESSES && oldest !== undefined) byAddress.delete(oldest);
      byAddress.set(address, count);
      count.tries++;
      return (how) => {
        if (how === 'right') count.tries--;
        else if (++count.wrong === 1) notice('warn', `A wrong password or key for the console came from ${from}.`);
        else if (count.wrong === MOST_WRONG) {
          notice('warn', `${MOST_WRONG} wrong passwords or keys came from ${from}: none is looked at for a minute.`);
        }
      };
    },
  };
}

/** The address; of version 6 the network, of which one machine has all addresses. */
function network(from: string): string {
  const plain = from.replace(/^::ffff:(?=\d+\.)/i, '').toLowerCase();
  return isIPv6(plain) ? expandIPv6(plain).split(':').slice(0, 4).join(':') : plain;
}
