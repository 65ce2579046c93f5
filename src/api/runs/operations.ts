import { constants, createReadStream, existsSync } from 'node:fs';
import { lstat, rm, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { z } from '@hono/zod-openapi';
import { parseSentJson } from '../../model/json.js';
import { saveUnbegun } from '../../runs/run/conclude.js';
import { assertNotPruned, readRequest } from '../../runs/run/earlier-run.js';
import { runFolder } from '../../runs/run/layout.js';
import { isRunId, readRunSummary } from '../../runs/run/list.js';
import { checkJobData, DATA_LIMITS, DATA_SHAPES, JOB_KINDS, rowsOptions } from '../../worker/jobs/data.js';
import type { ApiParts } from '../app.js';
import { Cache } from '../cache.js';
import { isUpload, noFile } from '../files/uploads.js';
import { API_PATH, Fault, faultsIn, hasRole, type Operation, operation, response } from '../operation.js';
import * as shapes from '../schema.js';
import { type RunSnapshot, runEvents, stateId, streamOf } from './events.js';
import { RunFinder } from './find.js';
import { runList } from './list.js';
import { isKnownHere } from './orders.js';
import { type FoundRun, isAtWork, whyFailed } from './queued.js';
import { RunRows } from './rows.js';
import { verbOperations } from './verbs.js';

const { runParams: params } = shapes;

/** Connections that listen to runs. */
const MOST_LISTENERS = 100;
/** Who listens to a run shares what was seen of it for so long. */
const SHARED_MS = 250;

export function runOperations(parts: ApiParts): Operation[] {
  const { settings, stopping, audit } = parts;
  const finder = new RunFinder(parts);
  const rows = new RunRows(settings.home);
  const listening = new Set<AbortController>();
  const snapshots = new Cache<RunSnapshot | undefined>(MOST_LISTENERS);
  stopping.addEventListener(
    'abort',
    () => {
      for (const gone of listening) gone.abort();
      void rows.close();
    },
    { once: true },
  );
  const notHere = () =>
    new Fault(409, 'What lies of this run is in the data folder of another worker, or it has not begun.');
  /** Rows and reports lie in the data folder of the worker that had it; of one that goes on, more may come. */
  const findHere = async (id: string) => {
    const found = await finder.mustFind(id);
    if (found.entry || isAtWork(found.run)) return found;
    throw notHere();
  };
  /** The same of one whose rows are asked for: of what was removed only the summary is left. */
  const findWithRows = async (id: string) => {
    const found = await findHere(id);
    const folder = runFolder(settings.home, found.run.id);
    if (found.entry && found.entry.kind !== 'export' && readRequest(folder)) {
      try {
        assertNotPruned(folder);
      } catch (error) {
        throw new Fault(409, (error as Error).message);
      }
    }
    return found;
  };
  const snapshotOf = async (found: FoundRun): Promise<RunSnapshot> =>
    isAtWork(found.run)
      ? { progress: finder.progressOf(found) }
      : { progress: null, end: await finder.detail(found, { role: 'viewer' }) };
  return [
    order(parts),
    operation(
      'GET /runs',
      { summary: 'The runs, newest first.', query: shapes.runsQuery, answer: shapes.runs },
      ({ query }) => runList(parts, query),
    ),
    operation(
      'GET /runs/{id}',
      { summary: 'A run, as far as it is.', params, answer: shapes.runDetail },
      async ({ params: { id }, who }) => finder.detail(await finder.mustFind(id), who),
    ),
    operation(
      'GET /runs/{id}/events',
      {
        summary: 'How it goes on, as it goes on (server-sent events).',
        description:
          '`progress` with RunProgress a few times a second, `end` with RunDetail at the end, its `actions` those of a viewer.',
        params,
        headers: z.object({ 'last-event-id': z.string().optional() }),
        responses: {
          200: response(200, 'text/event-stream', z.string()),
          204: { description: 'It has ended, and this is known.' },
        },
      },
      async ({ params: { id: wanted }, headers: { 'last-event-id': last } }, c) => {
        const first = await finder.mustFind(wanted);
        const find = async () => {
          const found = await finder.find(first.run.id);
          return found && snapshotOf(found);
        };
        const now = await snapshotOf(first);
        // Whoever was told of its end comes back no more.
        if (now.end && stateId(now) === last) return c.body(null, 204);
        if (listening.size >= MOST_LISTENERS) {
          const text = 'Too many connections listen to runs already. Close some, or ask again later.';
          throw new Fault(429, text, [], { 'retry-after': '10' });
        }
        const headers = { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' };
        const gone = new AbortController();
        const leave = (): undefined => {
          listening.delete(gone);
          gone.abort();
        };
        const readSnapshot = async () =>
          (await c.env.isStillIn?.()) === false ? leave() : snapshots.get(first.run.id, find, () => SHARED_MS);
        listening.add(gone);
        c.req.raw.signal.addEventListener('abort', leave);
        return c.body(streamOf(runEvents(readSnapshot, last, gone.signal), leave), 200, headers);
      },
    ),
    operation(
      'GET /runs/{id}/rows',
      {
        summary: 'Its rows, with what became of them.',
        params,
        query: shapes.rowsQuery,
        answer: shapes.rows,
      },
      async ({ params: { id }, query }) => rows.page(await findWithRows(id), query),
    ),
    operation(
      'GET /runs/{id}/rows/{row}',
      {
        summary: 'The story of a row: cells, changes, the record before, what was sent, the outcome.',
        params: params.extend({ row: z.string().describe('The number that the spreadsheet program shows.') }),
        answer: shapes.story,
      },
      async ({ params: { id, row } }, c) => {
        const found = await findWithRows(id);
        const text = /^[1-9]\d{0,8}$/.test(row) ? await rows.story(found, Number(row)) : undefined;
        if (text === undefined) throw new Fault(404, 'The run has no such row.');
        return c.body(text, 200, { 'content-type': 'application/json' });
      },
    ),
    operation(
      'GET /runs/{id}/faults',
      {
        summary: 'Its faults, alike ones together, the most frequent first.',
        params,
        answer: z.array(shapes.faultGroup).max(500),
      },
      async ({ params: { id } }) => rows.faults(await findWithRows(id)),
    ),
    operation(
      'GET /runs/{id}/plan',
      {
        summary: 'What it writes, or would: by field, old and new, and its brakes.',
        params,
        answer: shapes.plan,
      },
      async ({ params: { id } }) => {
        const found = await findWithRows(id);
        const plan = await rows.plan(found, found.entry && (await readRunSummary(settings.home, found.run.id)));
        if (plan) return plan;
        throw found.entry?.kind === 'export' ? new Fault(409, 'An export has no plan: it writes nothing.') : notHere();
      },
    ),
    operation(
      'GET /runs/{id}/reports/{name}',
      {
        summary: 'One of its reports, or the file of an export.',
        params: params.extend({ name: z.string() }),
        responses: { 200: response(200, 'application/octet-stream', z.string()) },
      },
      async ({ params: { id, name } }, c) => {
        const found = await findHere(id);
        const file = (await finder.reports(found)).get(name);
        // Some lie in a drop folder, where others may write: a link leads to what is none of theirs.
        const info = file === undefined ? undefined : await lstat(file).catch(() => undefined);
        if (file === undefined || !info?.isFile()) throw new Fault(404, 'The run has no such report.');
        // What was exported is kept for a while after it was used last. Not every disk notes that by itself.
        if (found.entry?.kind === 'export') await utimes(file, new Date(), info.mtime).catch(() => undefined);
        const reading = createReadStream(file, { flags: NO_LINK as unknown as string });
        const headers = { 'content-length': String(info.size), ...reportHeaders(name) };
        return c.body(Readable.toWeb(reading) as ReadableStream, 200, headers);
      },
    ),
    ...verbOperations(parts, finder),
    operation(
      'PUT /runs/{id}/aside',
      {
        summary: 'Whether it is put aside: nothing more is to be done with it, and it waits for nobody.',
        role: 'operator',
        params,
        body: z.strictObject({ aside: z.boolean() }),
      },
      async ({ params: { id }, body: { aside }, who }, c) => {
        const found = await finder.mustFind(id);
        if (isAtWork(found.run))
          throw new Fault(409, 'It is at work, and may leave something to be done. Wait for its end.');
        const { entry, run, job } = found;
        if (!entry && (run.status !== 'failed' || !isRunId(run.id))) throw notHere();
        await audit(who, aside ? 'put aside' : 'taken up again', { run: run.id });
        // It failed before it began: how is kept here from now on.
        if (!entry && job)
          await saveUnbegun(settings.home, { ...run, run: run.id, status: 'failed', reason: whyFailed(job) });
        const mark = runFolder(settings.home, run.id).aside;
        if (aside) await writeFile(mark, '');
        else await rm(mark, { force: true });
        return c.body(null, 204);
      },
    ),
  ];
}

/** The rest of a body is job data, which `checkJobData` looks at. */
const orderBody = z.looseObject({ kind: z.enum(JOB_KINDS), once: z.boolean().optional() });
/** The same for the description: the data of a job of the queue, of which a reconciliation takes the most. */
const orderDescribed = DATA_SHAPES.reconcile
  .extend({
    kind: z.enum(JOB_KINDS),
    options: rowsOptions.optional(),
    job: z
      .union([z.string(), z.record(z.string(), z.unknown())])
      .describe('The name of a job file, or the job itself with the keys of one.'),
    file: z.string().optional().describe('What `POST /files` answered, its id, or a path that the worker may read.'),
    rows: z.array(z.record(z.string(), z.unknown())).optional().describe('In place of `file`: heading to value.'),
    once: z.boolean().optional().describe('A run that failed is not tried again by itself.'),
  })
  .meta({ id: 'Order' });
const orderKey = z
  .string()
  .regex(/^[!-~]{1,255}$/, 'has 1 to 255 characters of ASCII, without blanks')
  .describe('The same key and body are the same run, for 14 days.');

function order({ settings, runs, uploads, audit }: ApiParts): Operation {
  return operation(
    'POST /runs',
    {
      summary: 'Orders a run; it has its id at once.',
      role: 'operator',
      // What the job data may have, and the few words around them.
      atMost: [
        DATA_LIMITS.bytes + 1024,
        `The order has more than ${DATA_LIMITS.bytes} bytes. Put the rows into a file.`,
      ],
      headers: z.object({ 'idempotency-key': orderKey.optional() }),
      rawBody: { 'application/json': { schema: orderDescribed } },
      answer: shapes.accepted,
      status: 202,
    },
    async ({ headers: { 'idempotency-key': key }, who }, c) => {
      const { data: read, error } = orderBody.safeParse(bodyOf(await c.req.text()));
      if (!read) {
        throw new Fault(400, 'This is no order of a run; a JSON object with `kind` is expected.', faultsIn(error));
      }
      const { kind, once = false, ...data } = read;
      const checked = checkJobData(kind, data);
      if ('faults' in checked) throw new Fault(422, 'The order has faults; nothing was begun.', checked.faults);
      const { job, file, options } = checked.ok;
      if (options && 'force' in options && options.force && !hasRole(who, 'approver')) {
        throw new Fault(403, '`options.force` passes the brakes of the job: that needs the role approver.');
      }
      const planOf = options && 'plan_of' in options ? options.plan_of : undefined;
      if (planOf !== undefined && !existsSync(runFolder(settings.home, planOf).plan)) {
        throw new Fault(409, `The run ${planOf} has no plan here: it planned no file to its end, or was removed.`);
      }
      const name = typeof job === 'string' ? job : 'inline';
      const sent = file === undefined ? undefined : await uploads.find(file);
      const id = await runs.put({
        kind,
        ...(sent ? { data: { ...data, file: sent.file }, said: data } : { data }),
        once,
        ...(kind === 'export' && { here: true }),
        ...(key !== undefined && { key }),
        onAccepted: async (run) => {
          // The same order once more needs no file.
          if (!sent && isUpload(file ?? '') && !(await isKnownHere(settings.home, run))) throw noFile();
          await audit(who, `${kind} ordered`, { run, job: name, ...(file !== undefined && { file }), ...options });
        },
      });
      return c.json({ id }, 202, { location: `${API_PATH}/runs/${id}` });
    },
  );
}

/** Numbers that a double would change are no numbers, and so refused where they stand. */
function bodyOf(text: string): unknown {
  try {
    return parseSentJson(text);
  } catch (error) {
    const why = error instanceof RangeError ? 'it nests too deep' : (error as Error).message;
    throw new Fault(400, `This is no JSON that can be taken (${why}); a JSON object with \`kind\` is expected.`);
  }
}

const NO_LINK = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0);

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
