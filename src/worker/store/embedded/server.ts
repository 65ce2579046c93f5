import { chmod, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { isMainThread } from 'node:worker_threads';
import type { Engine } from './engine.js';
import { faultText } from './fault.js';
import { FrameReader, frame, PROTOCOL, type Reply, type Request } from './frames.js';
import { ConnectionLost, type Session } from './link.js';

/**
 * Lets other processes of this home use the owner's PGlite. It listens before PGlite is open, so that they know at once
 * that there is an owner; they are answered when it is. A client that goes, even in the middle of a transaction, is
 * cleared away by its connection's end.
 */
export class OwnerServer {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #engine: Promise<Engine>;

  private constructor(server: Server, engine: Promise<Engine>) {
    this.#server = server;
    this.#engine = engine;
    server.on('connection', (socket) => this.#welcome(socket));
  }

  /** Only the process that holds the tenure may: whatever lies at the address is of one that is gone. */
  static async listen(address: string, engine: Promise<Engine>): Promise<OwnerServer> {
    if (process.platform !== 'win32') await rm(address, { force: true });
    const server = createServer();
    const own = new OwnerServer(server, engine);
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      // Made closed to others at once, not closed afterwards: between the two anybody could connect. The socket is made
      // before `listen` returns, so that nothing else is made under this mask. Threads have no mask of their own.
      const mask = isMainThread ? process.umask(0o177) : undefined;
      try {
        server.listen(address, () => resolve());
      } finally {
        if (mask !== undefined) process.umask(mask);
      }
    });
    if (process.platform !== 'win32') await chmod(address, 0o600);
    server.on('error', () => undefined);
    // What keeps the process alive is its work, not the help it gives to others.
    server.unref();
    return own;
  }

  /** Frees the address and parts with all clients, who see a lost connection. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroySoon();
    // One that does not read its last answers is not waited for.
    const late = setTimeout(() => {
      for (const socket of this.#sockets) socket.destroy();
    }, 1_000);
    await closed;
    clearTimeout(late);
  }

  #welcome(socket: Socket): void {
    this.#sockets.add(socket);
    socket.unref();
    const send = (reply: Reply) => {
      if (!socket.writable) return;
      try {
        socket.write(frame(reply));
      } catch (error) {
        // Too long: the client waits for this one and is told so.
        if (reply.kind !== 'answer') return;
        socket.write(frame({ kind: 'fault', id: reply.id, fault: faultText(error), lost: false }));
      }
    };
    const reader = new FrameReader<Request>();
    const client = new Guest(send);
    // Requests are taken one after the other from the start, also while PGlite is being opened.
    let before: Promise<void> = Promise.resolve();
    socket.on('data', (chunk: Buffer) => {
      let requests: Request[];
      try {
        requests = reader.push(chunk);
      } catch {
        socket.destroy();
        return;
      }
      for (const request of requests) {
        before = before.then(() => this.#take(request, client, send)).catch(() => void socket.destroy());
      }
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#sockets.delete(socket);
      client.leave();
    });
  }

  async #take(request: Request, client: Guest, send: (reply: Reply) => void): Promise<void> {
    if (request.kind !== 'hello') return client.take(request);
    if (request.protocol !== PROTOCOL) {
      const message =
        'A process of another release of rowferry has the embedded queue open. End it, or use the same release.';
      return send({ kind: 'refused', message });
    }
    client.engine = await this.#engine;
    send({ kind: 'ready' });
  }
}

/** One client process, with its sessions. */
class Guest {
  engine: Engine | undefined;
  readonly #send: (reply: Reply) => void;
  readonly #sessions = new Map<number, Session>();
  #gone = false;

  constructor(send: (reply: Reply) => void) {
    this.#send = send;
  }

  take(request: Exclude<Request, { kind: 'hello' }>): void {
    const { engine } = this;
    if (!engine || this.#gone) throw new Error('no hello before');
    const number = request.session;
    switch (request.kind) {
      case 'open': {
        const session = engine.session(
          {
            notification: (notification) => this.#send({ kind: 'notification', session: number, notification }),
            ended: (error) => this.#send({ kind: 'ended', session: number, fault: faultText(error) }),
          },
          request.single,
        );
        this.#sessions.set(number, session);
        return;
      }
      case 'close':
        this.#sessions.get(number)?.close();
        this.#sessions.delete(number);
        return;
      case 'query':
        void this.#answer(number, request.id, request.text, request.params);
    }
  }

  leave(): void {
    this.#gone = true;
    for (const session of this.#sessions.values()) session.close();
    this.#sessions.clear();
  }

  async #answer(number: number, id: number, text: string, params: readonly unknown[]): Promise<void> {
    try {
      const session = this.#sessions.get(number);
      if (!session) throw new Error('This client has been released.');
      this.#send({ kind: 'answer', id, answer: await session.query(text, params) });
    } catch (error) {
      this.#send({ kind: 'fault', id, fault: faultText(error), lost: error instanceof ConnectionLost });
    }
  }
}
