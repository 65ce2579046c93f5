import { once } from 'node:events';
import { createServer } from 'node:net';

/** A server on loopback to which nothing may connect, whatever the protocol. */
export interface Trap {
  readonly port: number;
  connections(): number;
  close(): Promise<void>;
}

export async function openTrap(): Promise<Trap> {
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the trap has no port');
  return {
    port: address.port,
    connections: () => connections,
    async close() {
      server.close();
      await once(server, 'close');
    },
  };
}
