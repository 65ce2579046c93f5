import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { RunError } from '../../model/error.js';
import { tickets } from '../../worker/jobs/home.js';
import type { ApiParts } from '../app.js';
import { API_PATH, type Env, Fault, type Operation, operation } from '../operation.js';
import { type Uploaded, uploaded } from '../schema.js';
import { pruneExports, type Uploads } from './uploads.js';

const params = z.object({ id: z.string() });

export function fileOperations(parts: ApiParts): Operation[] {
  const { uploads, audit, queue, log, stopping } = parts;
  const home = resolve(parts.settings.home);
  const prune = () =>
    Promise.all([uploads.prune((path) => isAwaited(queue, home, path)), pruneExports(home)]).catch((error: unknown) =>
      log.warn({ err: error }, 'api.prune'),
    );
  void prune();
  const daily = setInterval(prune, 86_400_000).unref();
  stopping.addEventListener('abort', () => clearInterval(daily));
  return [
    operation(
      'POST /files',
      {
        summary: 'Sends a spreadsheet, as the body of the request.',
        role: 'operator',
        query: z.object({ name: z.string().optional().describe('Of the file.') }),
        rawBody: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } },
        answer: uploaded,
        status: 201,
      },
      async ({ query: { name }, who }, c) => {
        const about = await receive(c, name, uploads).catch((error: unknown) => {
          // What names a path is about the disk, not about what was sent.
          if (error instanceof RunError || error instanceof Fault || (error as Error & { path?: string }).path)
            throw error;
          throw new Fault(400, `The file was not received whole: ${(error as Error).message}`);
        });
        await audit(who, 'file sent', { file: about.file });
        return c.json(about, 201, { location: `${API_PATH}/files/${about.id}` });
      },
    ),
    operation(
      'GET /files/{id}',
      { summary: 'What is known of a file that was sent.', params, answer: uploaded },
      async ({ params: { id } }) => {
        const { path: _, ...about } = await uploads.mustFind(id);
        return about;
      },
    ),
  ];
}

/** Whether a run that has not ended, or was stopped before it began, was told to read a file. */
export async function isAwaited(
  queue: Pick<ApiParts['queue'], 'getJobs'>,
  home: string,
  path: string,
): Promise<boolean> {
  const open = await queue.getJobs(['active', 'waiting', 'delayed', 'prioritized']);
  const stopped = tickets(home).filter((ticket) => ticket.stopped);
  const files = [...open, ...stopped].map(({ data }) => (data as { file?: unknown } | undefined)?.file);
  // Orders name it as the answer to its upload did, below the data folder.
  return files.some((file) => typeof file === 'string' && resolve(home, file) === path);
}

/** The file of a request, which is its body. */
async function receive(c: Context<Env>, name: string | undefined, uploads: Uploads): Promise<Uploaded> {
  if (/^multipart\//i.test(c.req.header('content-type') ?? ''))
    throw new Fault(415, 'A form was sent. Send the file itself as the body, as curl does with --data-binary @FILE.');
  uploads.assertFits(Number(c.req.header('content-length')));
  const { body } = c.req.raw;
  if (!body) throw new Fault(422, 'The file is empty.');
  const source = Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0]);
  try {
    return await uploads.take(name ?? 'file', source);
  } finally {
    source.destroy();
  }
}
