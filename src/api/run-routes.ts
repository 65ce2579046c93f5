import { createRoute, z } from '@hono/zod-openapi';
import { bodyLimit } from 'hono/body-limit';
import { checkJobData } from '../worker/jobs/check-data.js';
import { DATA_LIMITS, JOB_KINDS } from '../worker/jobs/data.js';
import { type Api, type ApiDeps, needs, problem, problems } from './app.js';
import { accepted } from './schema.js';

/** The rest of a body is job data, which `checkJobData` looks at. */
const order = z.looseObject({ kind: z.enum(JOB_KINDS), once: z.boolean().optional() });
const KEY = /^[\w-]{1,64}$/;
/** What the job data may have, and the few words around them. */
const MOST_BYTES = DATA_LIMITS.bytes + 1024;

export function runRoutes(app: Api, { runs }: ApiDeps): void {
  const tooLong = bodyLimit({
    maxSize: MOST_BYTES,
    onError: (c) => problem(c, 413, `The order has more than ${DATA_LIMITS.bytes} bytes. Put the rows into a file.`),
  });
  app.openapi(
    createRoute({
      method: 'post',
      path: '/runs',
      middleware: [needs('operator'), tooLong],
      responses: {
        202: { description: 'It is on the queue.', content: { 'application/json': { schema: accepted } } },
        ...problems,
      },
    }),
    async (c) => {
      const body: unknown = await c.req.json().catch(() => undefined);
      const { data: read, error } = order.safeParse(body);
      if (!read) {
        const faults = error.issues.map(({ path, message }) => [path.join('.'), message].join(' ').trim());
        return problem(c, 400, 'This is no order of a run; a JSON object with `kind` is expected.', faults);
      }
      const key = c.req.header('idempotency-key');
      if (key !== undefined && !KEY.test(key)) {
        return problem(c, 400, 'An Idempotency-Key has 1 to 64 letters, digits, - and _.');
      }
      const { kind, once = false, ...data } = read;
      const checked = checkJobData(kind, data);
      if ('faults' in checked)
        return problem(c, 422, 'This is no job for the queue; nothing was put on it.', checked.faults);
      const id = await runs.put({ kind, data, once, ...(key !== undefined && { key }) });
      return c.json({ id }, 202, { location: `/api/v1/runs/${id}` });
    },
  );
  app.get('/runs/:id', async (c) => {
    const run = await runs.look(c.req.param('id'));
    return run ? c.json(run) : problem(c, 404, 'There is no such run on the queue.');
  });
}
