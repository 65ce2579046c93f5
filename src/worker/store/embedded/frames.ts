import { deserialize, serialize } from 'node:v8';
import type { FaultText } from './fault.js';
import type { Notification, QueryAnswer } from './link.js';

/** Raised whenever the messages change: processes of one home may be of different releases. */
export const PROTOCOL = 1;

/** A part of 500 rows is some 400 KB; no message of ours comes near this. */
export const MAX_FRAME_BYTES = 64 * 1024 * 1024;

/** From a client to the owner. `session` numbers are the client's. */
export type Request =
  | { readonly kind: 'hello'; readonly protocol: number }
  | { readonly kind: 'open'; readonly session: number; readonly single: boolean }
  | {
      readonly kind: 'query';
      readonly session: number;
      readonly id: number;
      readonly text: string;
      readonly params: readonly unknown[];
    }
  | { readonly kind: 'close'; readonly session: number };

/** From the owner to a client. */
export type Reply =
  /** PGlite is open. */
  | { readonly kind: 'ready' }
  /** This owner can never serve this client. */
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: QueryAnswer }
  | { readonly kind: 'fault'; readonly id: number; readonly fault: FaultText; readonly lost: boolean }
  | { readonly kind: 'notification'; readonly session: number; readonly notification: Notification }
  | { readonly kind: 'ended'; readonly session: number; readonly fault: FaultText };

/** A message with its length before it (4 bytes, big-endian). Throws a `RangeError` where it is too long. */
export function frame(message: Request | Reply): Buffer {
  const body = serialize(message);
  if (body.length > MAX_FRAME_BYTES) {
    throw new RangeError(`a message of ${body.length} bytes; the embedded queue takes up to ${MAX_FRAME_BYTES}`);
  }
  const head = Buffer.alloc(4);
  head.writeUInt32BE(body.length);
  return Buffer.concat([head, body]);
}

/** Puts frames together from the chunks of a socket. The other side is of the same user: the socket is closed to others. */
export class FrameReader<T> {
  #chunks: Buffer[] = [];
  #bytes = 0;

  /** Complete messages so far; throws where one is too long, before it is read. */
  push(chunk: Buffer): T[] {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    const messages: T[] = [];
    while (this.#bytes >= 4) {
      const length = this.#peek(4).readUInt32BE();
      if (length > MAX_FRAME_BYTES) throw new RangeError(`a message of ${length} bytes`);
      if (this.#bytes < 4 + length) break;
      const whole = this.#peek(4 + length);
      messages.push(deserialize(whole.subarray(4, 4 + length)) as T);
      this.#bytes -= 4 + length;
      const rest = whole.subarray(4 + length);
      if (rest.length > 0) this.#chunks[0] = rest;
      else this.#chunks.shift();
    }
    return messages;
  }

  /** The first chunk, made to hold at least this many bytes; they are there. */
  #peek(bytes: number): Buffer {
    const first = this.#chunks[0] ?? Buffer.alloc(0);
    if (first.length >= bytes) return first;
    const whole = Buffer.concat(this.#chunks);
    this.#chunks = [whole];
    return whole;
  }
}
