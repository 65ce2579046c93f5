import { serveStatic } from '@hono/node-server/serve-static';
import type { Queue } from 'bullmq';
import { type Context, Hono, type Next } from 'hono';
import { within } from '../within.js';

/** Where the board lies below the address of the worker. */
export const BOARD_PATH = '/board';

/**
 * Pages that show the queues and their jobs. For reading only: a job that is edited, retried or removed here would part from
 * the run that is kept on disk; `runs resume`, `runs retry` and `enqueue` do that. Rows are shown as their number.
 */
export async function boardPages(queues: () => readonly Queue[]): Promise<Hono> {
  const [{ createBullBoard }, { BullMQAdapter }, { HonoAdapter }] = await Promise.all([
    import('@bull-board/api'),
    import('@bull-board/api/bullMQAdapter'),
    import('@bull-board/hono'),
  ]);
  const adapter = new HonoAdapter(serveStatic).setBasePath(BOARD_PATH);
  const { addQueue } = createBullBoard({
    queues: [],
    // Its own declarations may come from another release of the same interface.
    serverAdapter: adapter as unknown as Parameters<typeof createBullBoard>[0]['serverAdapter'],
    options: { uiConfig: { boardTitle: 'rowferry', hideDocsLink: true } },
  });
  const shown = new Set<Queue>();

  const pages = new Hono();
  pages.use(async (_, next) => {
    for (const queue of queues()) {
      if (shown.has(queue)) continue;
      const view = new BullMQAdapter(queue, { readOnlyMode: true });
      for (const field of ['data', 'returnValue', 'progress'] as const) view.setFormatter(field, withoutRows);
      addQueue(view);
      shown.add(queue);
    }
    await next();
  });
  pages.use(inTime);
  pages.route('/', adapter.registerPlugin());
  return pages;
}

/** BullMQ waits without end for a store that is away; a browser is told so long after its question. */
const LATEST_MS = 4_000;

async function inTime(c: Context, next: Next): Promise<Response | undefined> {
  const answered = next().then(() => true);
  if (await within(LATEST_MS, answered)) return undefined;
  return c.text('The queue does not answer now. The page works again when it does.\n', 503);
}

/** Longer texts are packed rows, or bodies of requests. */
const LONGEST = 200;

/**
 * What a job holds, without anything that may come from a row: plain values and one level of objects of plain values
 * (options, counts); lists and all below as their size.
 */
export function withoutRows(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return value.length > LONGEST ? `(${value.length} characters)` : value;
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return `(${value.length} items)`;
  const entries = Object.entries(value);
  if (depth > 1) return `(${entries.length} fields)`;
  return Object.fromEntries(entries.map(([name, part]) => [name, withoutRows(part, depth + 1)]));
}
