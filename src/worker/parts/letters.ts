import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Job, QueueEvents } from 'bullmq';
import type { Logger } from 'pino';
import type { z } from 'zod';
import type { Settings } from '../../runs/settings.js';
import { type Message, type PartData, type PartResult, type Signed, signedForms } from './protocol.js';

export interface PartListener {
  message(message: Message): void;
  /** Undefined where what is said to be the result is not signed by an executor. */
  completed?(result: PartResult | undefined): void;
  failed?(reason: string): void;
}

export type Letters = ReturnType<typeof openLetters>;

type What = 'part' | 'message' | 'result';

export interface LettersOptions {
  readonly signer: Signer;
  readonly log: Logger;
  /** Counts what was refused. */
  readonly refused?: ((what: What) => void) | undefined;
}

/**
 * Hands the events of the parts queue to whoever deals with the part, and sees to it that both ends hear each other and nobody
 * else. One for a process. Signatures name the queue and the part: its id is given once, by one coordinator.
 */
export function openLetters(events: QueueEvents, { signer, log, refused }: LettersOptions) {
  // Both ends of a part may be in this process.
  const listeners = new Map<string, Set<PartListener>>();
  const told = new Set<What>();

  function signed<T extends object>(what: What, id: string, content: T): Signed<T> {
    return { ...content, sig: signer.sign(textOf(what, id, content)) };
  }

  async function opened<T extends object>(
    what: What,
    id: string,
    form: z.ZodType<Signed<T>>,
    value: unknown,
  ): Promise<T | undefined> {
    const { data } = form.safeParse(value);
    if (data) {
      const { sig, ...content } = data;
      if (await signer.verify(textOf(what, id, content), sig)) return content as unknown as T;
    }
    refused?.(what);
    if (!told.has(what)) {
      log.warn(
        { part: id, what },
        'What came from the queue is not signed by a worker of this service and was ignored; further ones are only counted (rowferry_queue_refused_total). Either others write to this queue, or its workers do not have the same credentials: then give all of them the same ROWFERRY_QUEUE_SECRET.',
      );
      told.add(what);
    }
    return undefined;
  }

  function textOf(what: What, id: string, content: object): string {
    const members = Object.entries(content).filter(([, value]) => value !== undefined);
    return JSON.stringify([events.name, id, what, members.sort(([a], [b]) => (a < b ? -1 : 1))]);
  }

  const result = (id: string, value: unknown) => opened<PartResult>('result', id, signedForms.result, asJson(value));
  events.on('progress', async ({ jobId, data }) => {
    if (!listeners.has(jobId)) return;
    const message = await opened<Message>('message', jobId, signedForms.message, data);
    if (message) for (const listener of listeners.get(jobId) ?? []) listener.message(message);
  });
  events.on('completed', async ({ jobId, returnvalue }) => {
    if (![...(listeners.get(jobId) ?? [])].some(({ completed }) => completed)) return;
    const found = await result(jobId, returnvalue);
    for (const listener of listeners.get(jobId) ?? []) listener.completed?.(found);
  });
  events.on('failed', ({ jobId, failedReason }) => {
    for (const listener of listeners.get(jobId) ?? []) listener.failed?.(failedReason);
  });
  return {
    listen(id: string, listener: PartListener): void {
      const known = listeners.get(id) ?? new Set();
      listeners.set(id, known.add(listener));
    },
    forget(id: string, listener: PartListener): void {
      const known = listeners.get(id);
      known?.delete(listener);
      if (known?.size === 0) listeners.delete(id);
    },
    send: (job: Job, message: Message): Promise<void> => job.updateProgress(signed('message', job.id ?? '', message)),
    signedPart: (id: string, part: PartData) => signed('part', id, part),
    signedResult: (id: string, value: PartResult) => signed('result', id, value),
    /** Undefined where it was not signed by a worker that has the secret, or has not the form of a part. */
    part: (id: string, data: unknown) => opened<PartData>('part', id, signedForms.part, data),
    /** Some stores hand the value on as it is, others as JSON. */
    result,
  };
}

function asJson(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}

export type Signer = Awaited<ReturnType<typeof openSigner>>;

type Secrets = Partial<Pick<Settings, 'auth' | 'queueSecret'>>;

interface Key {
  readonly bytes: Buffer;
  /** Milliseconds of this process. What was signed before a rotation is on its way for a while. */
  until: number;
}

const REREAD_MS = 1_000;
const ROTATED_MS = 600_000;

/**
 * Signs what workers say to one another through the queue, on which others may write as well: HMAC-SHA256 with a key that
 * is derived (HKDF) from the secret that all workers share.
 *
 * That is the secret of the queue, or else the credentials of the service, of these what stays the same while they are renewed: client
 * id and secret rather than the tokens they are exchanged for. A token file has nothing of the kind, and is followed.
 */
export async function openSigner(secrets: Secrets) {
  // A token file may come later than the worker. Until then nobody else's signature fits, and no part leaves this process.
  let keys: Key[] = [{ bytes: keyOf((await secretOf(secrets)) ?? randomBytes(32)), until: Number.POSITIVE_INFINITY }];
  let readAt = performance.now();
  let reading: Promise<void> | undefined;
  const fromFile = secrets.queueSecret === undefined && secrets.auth?.kind === 'file';

  async function readAgain(): Promise<void> {
    const secret = await secretOf(secrets);
    readAt = performance.now();
    const bytes = secret === undefined ? undefined : keyOf(secret);
    if (!bytes || keys[0]?.bytes.equals(bytes)) return;
    for (const key of keys) key.until = Math.min(key.until, readAt + ROTATED_MS);
    keys = [{ bytes, until: Number.POSITIVE_INFINITY }, ...keys.filter(({ until }) => until > readAt).slice(0, 1)];
  }

  const macOf = (key: Key, text: string) => createHmac('sha256', key.bytes).update(text).digest();
  function fits(text: string, signature: string): boolean {
    const given = Buffer.from(signature, 'base64url');
    const now = performance.now();
    return keys.some((key) => key.until > now && given.length === 32 && timingSafeEqual(macOf(key, text), given));
  }

  return {
    /** 43 characters. */
    sign: (text: string): string => macOf(keys[0] as Key, text).toString('base64url'),
    /** Where no signature fits, a token that lies in a file is read again: it may have been rotated. */
    async verify(text: string, signature: string): Promise<boolean> {
      if (fits(text, signature)) return true;
      if (!fromFile || (!reading && performance.now() - readAt < REREAD_MS)) return false;
      reading ??= readAgain().finally(() => {
        reading = undefined;
      });
      await reading;
      return fits(text, signature);
    },
  };
}

function keyOf(secret: string | Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, 'rowferry', 'signatures on the queue, 1', 32));
}

/** Undefined where the file of the token cannot be read. */
async function secretOf({ queueSecret, auth }: Secrets): Promise<string | undefined> {
  if (queueSecret !== undefined) return queueSecret;
  switch (auth?.kind) {
    case 'token':
      return auth.token;
    case 'oauth':
      return JSON.stringify([auth.clientId, auth.clientSecret]);
    case 'file': {
      const text = await readFile(auth.path, 'utf8').catch(() => '');
      return text.trim().replace(/^bearer\s+/i, '') || undefined;
    }
    default:
      return undefined;
  }
}
