import { constants, createReadStream } from 'node:fs';
import { lstat, utimes } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { createRoute, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { stream } from 'hono/streaming';
import { RunError } from '../model/error.js';
import { FOUR, OUTCOMES } from '../model/outcome.js';
import { keepUnbegun } from '../runs/run/conclude.js';
import { readRunSummary } from '../runs/run/list.js';
import { checkJobData, DATA_LIMITS, DATA_SHAPES, JOB_KINDS } from '../worker/jobs/data.js';
import { endTicket, homeId } from '../worker/jobs/home.js';
import { againJobId, runJobId } from '../worker/jobs/ids.js';
import type { ApiParts } from './app.js';
import { Cursors } from './cursor.js';
import { type Api, answers, atMost, type Env, Fault, faultsIn, get, json, may, needs, send } from './operation.js';
import { RunEvents, type Standing, stateId } from './run-events.js';
import { type FoundRun, isAtWork, queuedAs, RunFinder, roleFor } from './run-find.js';
import { RunRows } from './run-rows.js';
import { type Asked, takeUp } from './run-verbs.js';
import * as shapes from './schema.js';

/** The rest of a body is job data, which `checkJobData` looks at. */
const order = z.looseObject({ kind: z.enum(JOB_KINDS), once: z.boolean().optional() });
/** The same for the description: the data of a job of the queue, of which a reconciliation takes the most. */
const described = DATA_SHAPES.reconcile
  .extend({
    kind: z.enum(JOB_KINDS),
    job: z
      .union([z.string(), z.record(z.string(), z.unknown())])
      .describe('The name of a job file, or the job itself with the keys of one.'),
    file: z.string().optional().describe('What `POST /files` answered, its id, or a path that the worker may read.'),
    rows: z.array(z.record(z.string(), z.unknown())).optional().describe('In place of `file`: heading to value.'),
    once: z.boolean().optional().describe('A run that failed is not tried again by itself.'),
  })
  .meta({ id: 'Order' });
const KEY = /^[!-~]{1,255}$/;
/** What the job data may have, and the few words around them. */
const MOST_BYTES = DATA_LIMITS.bytes + 1024;

const params = z.object({ id: z.string().describe('Of the run, or how it begins.') });
const retryBody = z.strictObject({ force: z.boolean().optional() });
const undoBody = z.strictObject({
  dry_run: z.boolean().optional(),
  retire: z.record(z.string(), z.string()).optional().describe('Values for the records that the run created.'),
  force: z.boolean().optional(),
});
const approveBody = z.strictObject({
  by: z.string().min(1).max(200).optional().describe('Who approves, where that is not whoever is signed in.'),
});

export function runRoutes(app: Api, parts: ApiParts): void {
  const { runs, settings, stops, audit, stopping, uploads } = parts;
  const { home } = settings;
  let secret: string | undefined;
  const cursors = new Cursors(() => (secret ??= homeId(home)));
  const finder = new RunFinder(parts, cursors);
  const rows = new RunRows(parts, cursors);
  const events = new RunEvents();
  stopping.addEventListener('abort', () => events.close(), { once: true });
  const given = (c: Context<Env>) => finder.given(c.req.param('id') ?? '');
  const elsewhere = () =>
    new Fault(409, 'What lies of this run is in the data folder of another worker, or it has not begun.');
  /** Rows and reports lie in the data folder of the worker that had it; of one that goes on, more may come. */
  const here = async (c: Context<Env>) => {
    const found = await given(c);
    if (found.entry || isAtWork(found)) return found;
    throw elsewhere();
  };

  // Described by itself: the body is checked by hand, as the data of a job of the queue is.
  app.openAPIRegistry.registerPath({
    method: 'post',
    path: '/runs',
    summary: 'Orders a run; it has its id at once.',
    request: {
      headers: z.object({
        'idempotency-key': z.string().optional().describe('The same key and body are the same run, for 14 days.'),
      }),
      body: { content: json(described), required: true },
    },
    responses: answers(202, json(shapes.accepted)),
  });
  const tooLong = `The order has more than ${DATA_LIMITS.bytes} bytes. Put the rows into a file.`;
  app.post('/runs', needs('operator'), atMost(MOST_BYTES, tooLong), async (c) => {
    const { data: read, error } = order.safeParse(await c.req.json().catch(() => undefined));
    if (!read) {
      throw new Fault(400, 'This is no order of a run; a JSON object with `kind` is expected.', faultsIn(error));
    }
    const key = c.req.header('idempotency-key');
    if (key !== undefined && !KEY.test(key)) {
      throw new Fault(400, 'An Idempotency-Key has 1 to 255 characters of ASCII, without blanks.');
    }
    const { kind, once = false, ...data } = read;
    const checked = checkJobData(kind, data);
    if ('faults' in checked) {
      throw new Fault(422, 'The order has faults; nothing was begun.', checked.faults);
    }
    const who = c.get('who');
    const { job, file, options } = checked.ok;
    if (options && 'force' in options && options.force && !may(who, 'approver')) {
      throw new Fault(403, '`options.force` passes the brakes of the job: that needs the role approver.');
    }
    const sent = file === undefined ? undefined : await uploads.find(file);
    const name = typeof job === 'string' ? job : 'inline';
    const id = await runs.put({
      kind,
      data: sent ? { ...data, file: sent.file } : data,
      once,
      ...(key !== undefined && { key }),
      noted: (run) => audit(who, `${kind} ordered`, { run, job: name, ...(file !== undefined && { file }) }),
    });
    return c.json({ id }, 202, { location: `/api/v1/runs/${id}` });
  });

  app.openapi(get('/runs', 'The runs, newest first.', shapes.runs, { query: shapes.runsQuery }), async (c) =>
    c.json(await finder.page(c.req.valid('query')), 200),
  );

  app.openapi(get('/runs/{id}', 'A run, as far as it is.', shapes.runDetail, { params }), async (c) =>
    c.json(await finder.detail(await given(c), c.get('who')), 200),
  );

  const eventStream = createRoute({
    method: 'get',
    path: '/runs/{id}/events',
    summary: 'How it goes on, as it goes on (server-sent events).',
    description: '`progress` with RunProgress a few times a second, `end` with RunDetail at the end.',
    request: { params, headers: z.object({ 'last-event-id': z.string().optional() }) },
    responses: {
      ...answers(200, { 'text/event-stream': { schema: z.string() } }),
      204: { description: 'It has ended, and this is known.' },
    },
  });
  app.openapi(eventStream, async (c): Promise<never> => {
    const who = c.get('who');
    const first = await given(c);
    const standing = async (found: FoundRun): Promise<Standing> =>
      isAtWork(found)
        ? { progress: finder.progressOf(found) }
        : { progress: null, end: await finder.detail(found, { ...who, role: 'viewer' }) };
    const look = async () => {
      const found = await finder.find(first.id);
      return found && standing(found);
    };
    const last = c.req.header('last-event-id');
    const now = await standing(first);
    // Whoever was told of its end comes back no more.
    if (now.end && stateId(now) === last) return c.body(null, 204) as never;
    const open = events.listen(first.id, `${who.via}:${who.name}`, last, look, c.req.raw.signal);
    if (!open) {
      const text = 'Too many connections listen to runs already. Close some, or ask again later.';
      throw new Fault(429, text, [], { 'retry-after': '10' });
    }
    return c.body(open, 200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'x-accel-buffering': 'no',
      'cache-control': 'no-store',
    }) as never;
  });

  app.openapi(
    get('/runs/{id}/rows', 'Its rows, with what became of them.', shapes.rows, { params, query: shapes.rowsQuery }),
    async (c) => {
      const asked = c.req.valid('query');
      const unknown = (asked.outcome?.split(',') ?? []).filter((word) => !OUTCOME_WORDS.includes(word));
      if (unknown.length > 0) {
        throw new Fault(400, `\`outcome\` names ${unknown.join(', ')}; it may name: ${OUTCOME_WORDS.join(', ')}.`);
      }
      return c.json(await rows.page(await here(c), asked), 200);
    },
  );

  app.openapi(
    get(
      '/runs/{id}/rows/{row}',
      'The story of a row: cells, changes, the record before, what was sent, the outcome.',
      shapes.story,
      { params: params.extend({ row: z.string().describe('The number that the spreadsheet program shows.') }) },
    ),
    async (c): Promise<never> => {
      const found = await here(c);
      const number = c.req.param('row');
      const text = /^[1-9]\d{0,8}$/.test(number) ? await rows.story(found, Number(number)) : undefined;
      if (text === undefined) throw new Fault(404, 'The run has no such row.');
      return c.body(text, 200, { 'content-type': 'application/json' }) as never;
    },
  );

  const faults = z.array(shapes.faultGroup).max(500);
  app.openapi(
    get('/runs/{id}/faults', 'Its faults, alike ones together, the most frequent first.', faults, { params }),
    async (c) => c.json(await rows.faults(await here(c)), 200),
  );

  app.openapi(
    get('/runs/{id}/plan', 'What it writes, or would: by field, old and new, and its brakes.', shapes.plan, { params }),
    async (c) => {
      const found = await given(c);
      const plan = await rows.plan(found, found.entry && (await readRunSummary(home, found.id)));
      if (plan) return c.json(plan, 200);
      throw elsewhere();
    },
  );

  const report = createRoute({
    method: 'get',
    path: '/runs/{id}/reports/{name}',
    summary: 'One of its reports, or the file of an export.',
    request: { params: params.extend({ name: z.string() }) },
    responses: answers(200, { 'application/octet-stream': { schema: z.string() } }),
  });
  app.openapi(report, async (c): Promise<never> => {
    const name = c.req.param('name');
    const found = await here(c);
    const file = (await finder.reports(found)).get(name);
    // Some lie in a drop folder, where others may write: a link leads to what is none of theirs.
    const info = file === undefined ? undefined : await lstat(file).catch(() => undefined);
    if (file === undefined || !info?.isFile()) throw new Fault(404, 'The run has no such report.');
    // What was exported is kept for a while after it was used last. Not every disk notes that by itself.
    if (found.entry?.kind === 'export') await utimes(file, new Date(), info.mtime).catch(() => undefined);
    c.header('content-length', String(info.size));
    for (const [header, value] of Object.entries(reportHeaders(name))) c.header(header, value);
    return stream(c, async (out) => {
      const reading = createReadStream(file, { flags: NO_LINK as unknown as string });
      out.onAbort(() => void reading.destroy());
      await out.pipe(Readable.toWeb(reading) as ReadableStream);
    }) as never;
  });

  const begin = async (c: Context<Env>, how: (of: string) => Asked) => {
    const found = await given(c);
    const asked = how(found.id);
    const who = c.get('who');
    if ('force' in asked && asked.force && !may(who, 'approver')) {
      throw new Fault(403, '`force` passes what would stop the run: that needs the role approver.');
    }
    const by = asked.verb === 'approve' ? { by: asked.by } : {};
    const noted = (run: string) =>
      audit(who, `${asked.verb} begun`, { run, job: found.entry?.job ?? '', of: found.id, ...by });
    const id = await takeUp(parts, finder, found, asked, noted).catch((error: unknown) => {
      // What the run is now does not allow it: another one may, and so may this one later.
      if (error instanceof RunError && error.kind === 'usage') throw new Fault(409, error.message, error.details);
      throw error;
    });
    return c.json({ id }, 202, { location: `/api/v1/runs/${id}` });
  };
  const verb = <V extends shapes.Verb, B extends z.ZodType>(name: V, body: B, summary: string) =>
    send('post', `/runs/{id}/${name}` as const, summary, {
      ...{ body, optional: true, request: { params } },
      middleware: [needs(roleFor(name)), atMost(100_000, 'This says more than 100 KB.')],
      answer: [202, shapes.accepted],
    });

  app.openapi(verb('resume', z.strictObject({}), 'Goes on with a run that was stopped or cut off.'), (c) =>
    begin(c, (of) => ({ verb: 'resume', of })),
  );
  app.openapi(verb('retry', retryBody, 'Takes up the rows that failed or were left unknown: a new run.'), (c) => {
    const { force = false } = c.req.valid('json') ?? {};
    return begin(c, (of) => ({ verb: 'retry', of, force }));
  });
  app.openapi(verb('undo', undoBody, 'Puts back what it wrote: a new run. First try it with `dry_run`.'), (c) => {
    const { dry_run: dryRun = false, force = false, retire } = c.req.valid('json') ?? {};
    return begin(c, (of) => ({ verb: 'undo', of, dryRun, force, ...(retire && { retire }) }));
  });
  app.openapi(verb('approve', approveBody, 'Carries out exactly its plan: a new run.'), (c) => {
    const who = c.get('who');
    const { by = who.name } = c.req.valid('json') ?? {};
    // Whoever has a name of their own signs with it.
    return begin(c, (of) => ({ verb: 'approve', of, by: who.via === 'user' ? who.name : by }));
  });
  app.openapi(verb('stop', z.strictObject({}), 'Ends it in order; `resume` goes on with it.'), async (c) => {
    const found = await given(c);
    if (!isAtWork(found)) throw new Fault(409, 'The run is not at work.');
    const { id, status, job } = found;
    const who = c.get('who');
    await audit(who, 'stop asked', { run: id, job: found.entry?.job ?? '' });
    // One that a worker takes at this moment is at work; what was dropped, or is due, would come again.
    const isOurs = job?.id === runJobId(id) || job?.id === againJobId(id);
    const removed =
      status === 'waiting' &&
      isOurs &&
      (await job.remove().then(
        () => true,
        () => false,
      ));
    if (!removed) await stops.ask(id);
    else {
      endTicket(home, id);
      if (!found.entry)
        await keepUnbegun(home, { run: id, ...queuedAs(job), reason: `${who.name} stopped it before it began.` });
    }
    return c.json({ id }, 202);
  });
}

const NO_LINK = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0);
const OUTCOME_WORDS: readonly string[] = [...FOUR, ...OUTCOMES];

const TYPES: Readonly<Record<string, string>> = {
  '.csv': 'text/csv; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.json': 'application/json',
  '.ndjson': 'application/x-ndjson',
  '.xlsx': 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
};

/** The page is shown, in a place where it can do nothing; all others are files to keep. */
function reportHeaders(name: string): Record<string, string> {
  const isPage = name === 'report.html';
  return {
    'content-type': TYPES[path.extname(name)] ?? 'application/octet-stream',
    'x-content-type-options': 'nosniff',
    'content-security-policy': isPage
      ? "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"
      : "sandbox; default-src 'none'",
    'content-disposition': isPage ? 'inline' : `attachment; filename*=UTF-8''${encodeURIComponent(name)}`,
  };
}
