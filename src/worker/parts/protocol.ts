import { createHash, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Logger } from 'pino';
import { z } from 'zod';
import { parseJson, stringifyBody } from '../../model/json.js';
import { IMPORTABLE } from '../../model/resource-names.js';
import { PART_SIZE } from '../../runs/rows/dispatch.js';
import type { Carried, CarriedAnswer } from '../../runs/run/context.js';
import type { Settings } from '../../runs/settings.js';
import type { Job, QueueEvents } from '../store/port.js';

/** Parts travel small: a store keeps them in memory. More characters are not taken, nor sent. */
const MOST_PACKED = 16 * 1024 * 1024;
/** A text that packs to a hundredth would be a thousand times its size as objects. */
const MOST_BYTES = 64 * 1024 * 1024;
const MOST_VALUES = 1_000_000;
const MOST_DEPTH = 100;

/** A JSON value as text for the queue; amounts keep every digit. Throws a `RangeError` where it is too large for it. */
export function pack(value: unknown): string {
  const json = Buffer.from(stringifyBody(value));
  if (json.length > MOST_BYTES) throw new RangeError(`${json.length} bytes are too many`);
  checkCounts(json);
  const packed = deflateRawSync(json, { level: 1 }).toString('base64');
  if (packed.length > MOST_PACKED) throw new RangeError(`${packed.length} packed characters are too many`);
  return packed;
}

/** Throws where the text was not packed by `pack`, before more is made of it than `pack` takes. */
export function unpack(text: string): unknown {
  if (text.length > MOST_PACKED) throw new RangeError(`${text.length} packed characters are too many`);
  const json = inflateRawSync(Buffer.from(text, 'base64'), { maxOutputLength: MOST_BYTES });
  checkCounts(json);
  return parseJson(json.toString('utf8'));
}

/** Values and depth of a JSON text, counted by its signs: what it would come to is not made to find that out. */
function checkCounts(json: Buffer): void {
  let [values, depth] = [0, 0];
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === QUOTE) {
      for (at++; at < json.length && json[at] !== QUOTE; at++) if (json[at] === BACKSLASH) at++;
    } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      values++;
      if (++depth > MOST_DEPTH) throw new RangeError(`more than ${MOST_DEPTH} levels are too many`);
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) depth--;
    else if (byte === COMMA) values++;
    if (values > MOST_VALUES) throw new RangeError(`more than ${MOST_VALUES} values are too many`);
  }
}

const [QUOTE, BACKSLASH, COMMA, OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = Buffer.from('"\\,{}[]');

/**
 * Parts of a run travel as jobs of a queue of their own. The queue may hand a part out twice, or forget that it handed it
 * out, and others may write on it: so it carries work and decides nothing. What both ends say is signed with a secret that
 * only workers have (`openSigner`), for this part alone, and anything else is ignored. The coordinator of the run decides,
 * whose journal holds an intent for every request of the part:
 *
 *   coordinator                      queue                     executor (any worker)
 *   intents durable, part added  ──▶ waiting → active ──────▶  takes it, checks it, asks for the grant
 *   grants it, to one only       ◀── progress {ask} ─────────
 *                                ─── progress {grant} ──────▶  sends the requests, in order, while it holds lock and grant
 *   grants it further            ◀── progress {ask} ─────────  again and again
 *   takes the answers            ◀── progress {answers} ─────
 *                                ◀── completed {answers} ────  the rest
 *
 * A grant is for one lease from the asking. So an executor of which nothing was heard for a lease has stopped sending,
 * whatever the queue says became of its part: the part is lost then. Requests of a lost part whose answers did not come are
 * open, are looked up, and are repeated by the coordinator alone, if at all: what killed one executor is not given to the
 * next. A part that was never granted was never sent, and is added again; where two executors failed over it, the coordinator
 * sends it. Nobody grants the parts of a coordinator that is gone, or has lost its right to write. Whoever has the right next,
 * waits until no such part is active any more, before it looks anything up.
 *
 * An update carries until when the record it was made from need not be read again, by the coordinator's clock. The grant
 * tells what that clock shows. Clocks of two machines differ, their paces do not: the executor reckons what is left on its
 * own, from before it asked, and hands back unsent what becomes stale before its turn.
 *
 * Records that updates have to be made from anew are read in parts of the same kind. What is not read so, its coordinator reads.
 */
const executor = z.string().min(1).max(64);
const packed = z.string().max(MOST_PACKED);
const count = z.int().nonnegative();

const messages = [
  /** `at`: when it asked, by the executor's own clock; the grant repeats it. */
  z.strictObject({ ask: executor, at: z.number() }),
  /** `now`: the coordinator's clock, in milliseconds since 1970. */
  z.strictObject({ grant: executor, at: z.number(), now: z.number() }),
  z.strictObject({ deny: executor }),
  /** The coordinator stops: no further request of the part is to be begun. */
  z.strictObject({ cancel: executor }),
  z.strictObject({ from: executor, answers: packed }),
] as const;

const part = z.strictObject({
  v: z.literal(4),
  run: z.string().min(1).max(200),
  company: z.int().positive(),
  /** Kind of the records that the run writes; with the company it names the run's right to write. */
  resource: z.enum(IMPORTABLE),
  count: z.int().positive().max(PART_SIZE),
  /** The requests. */
  packed,
  /** After more refusals the rest is handed back unsent. */
  most_refused: count.optional(),
});

/** What an executor returns. */
const results = [
  /** It sent the part. `answers` holds pairs of index and answer, null for a request that was not sent. */
  z.strictObject({ from: executor, answers: packed, reads: count, writes: count, retries: count }),
  /** It asked for the part in vain, and sent nothing. */
  z.strictObject({ refused: executor }),
] as const;

export type Message = z.output<(typeof messages)[number]>;
export type PartData = z.output<typeof part>;
export type PartResult = z.output<(typeof results)[number]>;
export type Signed<T> = T & { readonly sig: string };

const sig = { sig: z.string().length(43) };
/** The forms of what is on the queue. */
const signedForms = {
  part: part.extend(sig),
  message: z.union(messages.map((one) => one.extend(sig))) as z.ZodType<Signed<Message>>,
  result: z.union(results.map((one) => one.extend(sig))) as z.ZodType<Signed<PartResult>>,
};

const body = z.record(z.string(), z.unknown());

/** Throws where a part holds anything else than requests for records of its kind in its company. */
export function requestsOf({ resource, company, count: length, packed: text }: PartData): Carried[] {
  const common = { resource: z.literal(resource), body: body.refine((one) => (one['company'] ?? company) === company) };
  const request = z.discriminatedUnion('op', [
    z.strictObject({
      op: z.literal('create'),
      ...common,
      query: z.strictObject({ unique_field: z.enum(['name', 'serial_number']) }).optional(),
    }),
    z.strictObject({
      op: z.literal('update'),
      ...common,
      id: z.int().positive(),
      method: z.enum(['PUT', 'PATCH']),
      freshUntil: z.int().optional(),
      ahead: z.boolean().optional(),
    }),
    z.strictObject({ op: z.literal('read'), resource: common.resource, id: z.int().positive() }),
  ]);
  return z.array(request).length(length).parse(unpack(text)) as Carried[];
}

const reason = z.string();
const answer = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('done'), id: z.int().positive().optional(), record: body.optional() }),
  z.strictObject({
    kind: z.literal('refused'),
    status: z.int().min(400).max(499),
    messages: z.array(z.strictObject({ field: z.string().optional(), text: z.string() })),
  }),
  z.strictObject({ kind: z.literal('unsent'), reason, withheld: z.enum(['stale', 'no_right']).optional() }),
  z.strictObject({ kind: z.literal('open'), answered: z.boolean(), pending: z.boolean().optional(), reason }),
  z.strictObject({ kind: z.literal('read'), record: body.nullable() }),
]);

/** Pairs of index and answer, null for a request that was not sent. Throws where they are none to these requests. */
export function answersOf(text: string, requests: readonly Carried[]): [number, CarriedAnswer | null][] {
  const pair = z
    .tuple([count.max(requests.length - 1), answer.nullable()])
    .refine(([at, one]) => one === null || (one.kind === 'read') === (requests[at]?.op === 'read'));
  return z.array(pair).max(requests.length).parse(unpack(text)) as [number, CarriedAnswer | null][];
}

/** Workers that serve different services on one queue do not take each other's parts. */
export function partsQueue(service: string): string {
  return `rowferry-parts-${createHash('sha256').update(service).digest('hex').slice(0, 8)}`;
}

/** Parts that one process sends at the same time: while one ends, the next begins. */
export const PARTS_AT_ONCE = 2;

/** A part over which its executor died goes back to its coordinator; one that nobody coordinates goes to nobody else. */
export const MOST_STALLS = 0;

export interface PartListener {
  message(message: Message): void;
  /** Undefined where what is said to be the result is not signed by an executor. */
  completed?(result: PartResult | undefined): void;
  failed?(reason: string): void;
}

export type Messenger = ReturnType<typeof openMessenger>;

type ContentKind = 'part' | 'message' | 'result';

export interface MessengerOptions {
  readonly signer: Signer;
  readonly log: Logger;
  /** Counts what was refused. */
  readonly refused?: ((what: ContentKind) => void) | undefined;
}

/**
 * Hands the events of the parts queue to whoever deals with the part, and sees to it that both ends hear each other and nobody
 * else. One for a process. Signatures name the queue and the part: its id is given once, by one coordinator.
 */
export function openMessenger(events: QueueEvents, { signer, log, refused }: MessengerOptions) {
  // Both ends of a part may be in this process.
  const listeners = new Map<string, Set<PartListener>>();
  const warned = new Set<ContentKind>();

  function signed<T extends object>(what: ContentKind, id: string, content: T): Signed<T> {
    return { ...content, sig: signer.sign(signedText(what, id, content)) };
  }

  function verified<T extends object>(
    what: ContentKind,
    id: string,
    form: z.ZodType<Signed<T>>,
    value: unknown,
  ): T | undefined {
    const { data } = form.safeParse(value);
    if (data) {
      const { sig, ...content } = data;
      if (signer.verify(signedText(what, id, content), sig)) return content as unknown as T;
    }
    refused?.(what);
    if (!warned.has(what)) {
      log.warn(
        { part: id, what },
        'What came from the queue is not signed by a worker of this service and was ignored; further ones are only counted (rowferry_queue_refused_total). Either others write to this queue, or its workers do not have the same credentials: then give all of them the same ROWFERRY_QUEUE_SECRET.',
      );
      warned.add(what);
    }
    return undefined;
  }

  function signedText(what: ContentKind, id: string, content: object): string {
    const members = Object.entries(content).filter(([, value]) => value !== undefined);
    return JSON.stringify([events.name, id, what, members.sort(([a], [b]) => (a < b ? -1 : 1))]);
  }

  const result = (id: string, value: unknown) =>
    verified<PartResult>('result', id, signedForms.result, parseIfText(value));
  events.on('progress', ({ jobId, data }) => {
    if (!listeners.has(jobId)) return;
    const message = verified<Message>('message', jobId, signedForms.message, data);
    if (message) for (const listener of listeners.get(jobId) ?? []) listener.message(message);
  });
  events.on('completed', ({ jobId, returnvalue }) => {
    if (![...(listeners.get(jobId) ?? [])].some(({ completed }) => completed)) return;
    const found = result(jobId, returnvalue);
    for (const listener of listeners.get(jobId) ?? []) listener.completed?.(found);
  });
  events.on('failed', ({ jobId, failedReason }) => {
    for (const listener of listeners.get(jobId) ?? []) listener.failed?.(failedReason);
  });
  return {
    listen(id: string, listener: PartListener): void {
      const current = listeners.get(id) ?? new Set();
      listeners.set(id, current.add(listener));
    },
    forget(id: string, listener: PartListener): void {
      const current = listeners.get(id);
      current?.delete(listener);
      if (current?.size === 0) listeners.delete(id);
    },
    send: (job: Job, message: Message): Promise<void> => job.updateProgress(signed('message', job.id ?? '', message)),
    signedPart: (id: string, part: PartData) => signed('part', id, part),
    signedResult: (id: string, value: PartResult) => signed('result', id, value),
    /** Undefined where it was not signed by a worker that has the secret, or has not the form of a part. */
    part: (id: string, data: unknown) => verified<PartData>('part', id, signedForms.part, data),
    /** Some stores hand the value on as it is, others as JSON. */
    result,
  };
}

function parseIfText(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}

export type Signer = Awaited<ReturnType<typeof openSigner>>;

type Secrets = Partial<Pick<Settings, 'auth' | 'queueSecret'>>;

/**
 * Signs what workers say to one another through the queue, on which others may write as well: HMAC-SHA256 with a key that
 * is derived (HKDF) from the secret that all workers share.
 *
 * That is the secret of the queue, or else the credentials of the service, of these what stays the same while they are renewed: client
 * id and secret rather than the tokens they are exchanged for. A token file counts as it was at the start.
 */
export async function openSigner(secrets: Secrets) {
  // A token file may be away in this moment. Then nobody else's signature fits, and no part leaves this process.
  const key = deriveKey((await readSecret(secrets)) ?? randomBytes(32));
  const macOf = (text: string) => createHmac('sha256', key).update(text).digest();
  return {
    /** 43 characters. */
    sign: (text: string): string => macOf(text).toString('base64url'),
    verify(text: string, signature: string): boolean {
      const received = Buffer.from(signature, 'base64url');
      return received.length === 32 && timingSafeEqual(macOf(text), received);
    },
  };
}

function deriveKey(secret: string | Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, 'rowferry', 'signatures on the queue, 1', 32));
}

/** Undefined where the file of the token cannot be read. */
async function readSecret({ queueSecret, auth }: Secrets): Promise<string | undefined> {
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
