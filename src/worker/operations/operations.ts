import type { Queue } from 'bullmq';
import { type Context, Hono } from 'hono';
import { RunError } from '../../model/error.js';
import { BOARD_PATH, boardPages } from './board.js';
import { watchEventLoop } from './event-loop.js';
import { BOARD_USER, headers, isLoopback, ownHostOnly, passwordRequired, readOnly } from './guard.js';
import { type Health, liveness, readiness } from './health.js';
import { listen } from './listen.js';
import type { Metrics } from './metrics-port.js';

export type { Health } from './health.js';

export interface OperationsOptions {
  /** `Settings.worker.http`; absent: nothing is answered. */
  readonly http?: { readonly host: string; readonly port: number; readonly stated: boolean };
  /** `--board`: serves the board at `/board`. */
  readonly board: boolean;
  readonly boardPassword?: string;
  /** The board shows these, and `/metrics` counts their jobs; asked anew each time, as the store may be opened later. */
  queues(): readonly Queue[];
  /** Whether queue and drop folder can be used now. May take its time: the answer to `/readyz` is bounded. */
  ready(): Promise<Health>;
  /** Whether this worker works. The lag of the event loop is added here. */
  live(): Health;
  readonly metrics: Metrics;
  readonly notice: (level: 'info' | 'warn', text: string) => void;
}

export interface Operations {
  /** Where it is answered, e.g. `http://127.0.0.1:8720`; absent where `http` is. */
  readonly url?: string;
  /** Where the board is; absent where none was asked for. */
  readonly boardUrl?: string;
  /** Ends within 2 s, whoever is connected. */
  close(): Promise<void>;
}

/**
 * Health, readiness, metrics and the board over HTTP. Throws `RunError` (usage) for a stated port that is taken, and for a
 * board that other machines reach without a password.
 */
export async function openOperations(options: OperationsOptions): Promise<Operations> {
  const { http, board, boardPassword, queues, metrics, notice } = options;
  metrics.watchQueues(queues);
  if (http === undefined) {
    if (board) throw new RunError('usage', '--board needs an address, and --http or ROWFERRY_HTTP says off.');
    return { close: async () => undefined };
  }
  const loopback = isLoopback(http.host);
  if (board && !loopback && boardPassword === undefined) {
    throw new RunError(
      'usage',
      `--board shows the queue to everybody who reaches ${http.host}:${http.port}. Set ROWFERRY_BOARD_PASSWORD (the user is ${BOARD_USER}), or listen on 127.0.0.1 (--http or ROWFERRY_HTTP).`,
    );
  }

  const loop = watchEventLoop();
  const ready = readiness(options.ready);
  const pages = new Hono();
  pages.use(headers, readOnly);
  if (loopback) pages.use(ownHostOnly(http.host));
  pages.get('/', (c) => c.text(`rowferry worker\n\n${PATHS}${board ? `${BOARD_PATH}\n` : ''}`));
  pages.get('/healthz', (c) => answer(c, liveness(options.live, loop)));
  pages.get('/readyz', async (c) => answer(c, await ready()));
  pages.get('/metrics', async (c) => c.body(await metrics.text(), 200, { 'content-type': metrics.contentType }));
  pages.notFound((c) => c.text('There is nothing at this address.\n', 404));
  // What went wrong may tell of the inside; the log of the worker says it.
  pages.onError((error, c) => {
    notice('warn', `${c.req.path} could not be answered: ${error.message}`);
    return c.text('This could not be answered; the log of the worker says why.\n', 500);
  });
  try {
    if (board) {
      if (boardPassword !== undefined) {
        // Also matches `/board` itself.
        pages.use(
          `${BOARD_PATH}/*`,
          passwordRequired(boardPassword, (text) => notice('warn', text)),
        );
      }
      pages.route(BOARD_PATH, await boardPages(queues));
    }
    const server = await listen(pages, http);
    if (!http.stated && server.port !== http.port) {
      notice('info', `Port ${http.port} is taken; health and metrics are at ${server.url}.`);
    }
    return {
      url: server.url,
      ...(board && { boardUrl: `${server.url}${BOARD_PATH}` }),
      async close() {
        loop.close();
        await server.close();
      },
    };
  } catch (error) {
    loop.close();
    throw error;
  }
}

const PATHS = '/healthz\n/readyz\n/metrics\n';

function answer(c: Context, health: Health) {
  return c.json(health, health.ok ? 200 : 503);
}
