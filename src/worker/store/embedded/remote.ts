import { connect, type Socket } from 'node:net';
import { RunError } from '../../../model/error.js';
import { DatabaseFault } from './fault.js';
import { FrameReader, frame, PROTOCOL, type Reply, type Request } from './frames.js';
import { ConnectionLost, type Link, type QueryAnswer, type Session, type SessionEvents } from './link.js';

interface Waiting {
  readonly resolve: (answer: QueryAnswer) => void;
  readonly reject: (error: Error) => void;
}

/** The queue as another process has it open, through that process's socket. */
export class RemoteLink implements Link {
  readonly owns = false;
  readonly lost: Promise<ConnectionLost>;
  readonly #socket: Socket;
  readonly #reader = new FrameReader<Reply>();
  readonly #waiting = new Map<number, Waiting>();
  readonly #sessions = new Map<number, SessionEvents>();
  #over: ConnectionLost | undefined;
  #lastId = 0;
  #lastSession = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.lost = new Promise((resolve) => {
      socket.on('close', () => resolve(this.#end()));
    });
  }

  /**
   * Resolves once the owner has PGlite open; undefined where nobody listens, or the owner went before that. Throws a
   * `RunError` where the owner cannot serve this release.
   */
  static async open(address: string, signal: AbortSignal): Promise<RemoteLink | undefined> {
    const socket = connect(address);
    const link = new RemoteLink(socket);
    socket.on('error', () => undefined);
    const abandon = () => void socket.destroy();
    signal.addEventListener('abort', abandon, { once: true });
    try {
      return await new Promise<RemoteLink | undefined>((resolve, reject) => {
        void link.lost.then(() => resolve(undefined));
        socket.on('data', (chunk: Buffer) => {
          for (const reply of link.#read(chunk)) {
            if (reply.kind === 'ready') {
              // Only an open question keeps the process alive.
              socket.unref();
              resolve(link);
            } else if (reply.kind === 'refused') {
              reject(new RunError('failed', reply.message));
              socket.destroy();
            } else link.#take(reply);
          }
        });
        link.#send({ kind: 'hello', protocol: PROTOCOL });
      });
    } finally {
      signal.removeEventListener('abort', abandon);
    }
  }

  session(events: SessionEvents, single: boolean): Session {
    const session = ++this.#lastSession;
    this.#sessions.set(session, events);
    this.#send({ kind: 'open', session, single });
    return {
      query: (text, params) => this.#query(session, text, params),
      close: () => {
        if (this.#sessions.delete(session)) this.#send({ kind: 'close', session });
      },
    };
  }

  async close(): Promise<void> {
    this.#socket.end();
    this.#socket.destroySoon();
    await this.lost;
  }

  #query(session: number, text: string, params: readonly unknown[]): Promise<QueryAnswer> {
    return new Promise((resolve, reject) => {
      if (this.#over) return reject(this.#over);
      if (!this.#sessions.has(session)) return reject(new Error('This client has been released.'));
      const id = ++this.#lastId;
      this.#send({ kind: 'query', session, id, text, params });
      if (this.#waiting.size === 0) this.#socket.ref();
      this.#waiting.set(id, { resolve, reject });
    });
  }

  #send(request: Request): void {
    if (this.#socket.writable) this.#socket.write(frame(request));
  }

  #read(chunk: Buffer): Reply[] {
    try {
      return this.#reader.push(chunk);
    } catch {
      this.#socket.destroy();
      return [];
    }
  }

  #take(reply: Exclude<Reply, { kind: 'ready' | 'refused' }>): void {
    switch (reply.kind) {
      case 'answer':
        this.#settle(reply.id)?.resolve(reply.answer);
        break;
      case 'fault':
        this.#settle(reply.id)?.reject(
          reply.lost ? new ConnectionLost(reply.fault.message) : new DatabaseFault(reply.fault),
        );
        break;
      case 'notification':
        this.#sessions.get(reply.session)?.notification(reply.notification);
        break;
      case 'ended': {
        const events = this.#sessions.get(reply.session);
        this.#sessions.delete(reply.session);
        events?.ended(new DatabaseFault(reply.fault));
      }
    }
  }

  #settle(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (this.#waiting.size === 0) this.#socket.unref();
    return waiting;
  }

  #end(): ConnectionLost {
    this.#over ??= new ConnectionLost(
      'The process that had the embedded queue open is gone; whether the last statement took effect is not known.',
    );
    for (const waiting of this.#waiting.values()) waiting.reject(this.#over);
    this.#waiting.clear();
    return this.#over;
  }
}
