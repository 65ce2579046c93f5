import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** A server of one suite, ended by its own process id. */
export interface ServerProcess {
  readonly pid: number | undefined;
  end(signal: NodeJS.Signals): Promise<void>;
}

const START_MS = 30_000;

/** Resolves once `ready` does; rejects with what the server said where it ends before. */
export async function startServer(
  command: string,
  args: readonly string[],
  ready: () => Promise<unknown>,
  options: SpawnOptions = {},
): Promise<ServerProcess> {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  const listen = (chunk: Buffer) => {
    said = (said + chunk.toString('utf8')).slice(-4_000);
  };
  child.stdout?.on('data', listen);
  child.stderr?.on('data', listen);
  const ended = once(child, 'exit').finally(() => running.delete(child));
  ended.catch(() => undefined);
  running.add(child);
  const server: ServerProcess = {
    pid: child.pid,
    async end(signal) {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      await ended;
    },
  };
  const until = Date.now() + START_MS;
  for (;;) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`${command} ended: ${said}`);
    try {
      await ready();
      return server;
    } catch (error) {
      if (Date.now() > until) {
        await server.end('SIGKILL');
        throw new Error(`${command} does not answer: ${said}`, { cause: error });
      }
      await pause(20);
    }
  }
}

/** A port that nobody listens on now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  return address.port;
}
