import { once } from 'node:events';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Busboy, type BusboyFileStream } from '@fastify/busboy';
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
        summary: 'Sends a spreadsheet, as it is or as the file of a form.',
        role: 'operator',
        query: z.object({ name: z.string().optional().describe('Of the file; one of a form has its own.') }),
        rawBody: {
          'application/octet-stream': { schema: { type: 'string', format: 'binary' } },
          'multipart/form-data': {
            schema: { type: 'object', properties: { file: { type: 'string', format: 'binary' } } },
          },
        },
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

/** More than a form holds beside its file. */
const FORM_BYTES = 1024 * 1024;

/** The file of a request: its body, or that of a form. */
async function receive(c: Context<Env>, name: string | undefined, uploads: Uploads): Promise<Uploaded> {
  const type = c.req.header('content-type') ?? '';
  const isForm = /^multipart\/form-data\b/i.test(type);
  uploads.assertFits(Number(c.req.header('content-length')) - (isForm ? FORM_BYTES : 0));
  const { body } = c.req.raw;
  if (!body) throw new Fault(422, 'The file is empty.');
  const source = Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0]);
  if (!isForm) {
    try {
      return await uploads.take(name ?? 'file', source);
    } finally {
      source.destroy();
    }
  }
  let form: InstanceType<typeof Busboy>;
  try {
    form = new Busboy({
      headers: { 'content-type': type },
      limits: { files: 1, fields: 20, parts: 21, fieldSize: 10_000, headerSize: 16_384 },
    });
  } catch (error) {
    throw new Fault(400, `The form cannot be read: ${(error as Error).message}`);
  }
  const cut = new AbortController();
  // Faults that come once nobody listens any more would end the process.
  form.on('error', () => undefined);
  let taken: Promise<Uploaded> | undefined;
  let part: BusboyFileStream | undefined;
  let several = false;
  form.on('filesLimit', () => {
    several = true;
    cut.abort();
  });
  form.on('file', (_field, stream, filename) => {
    part = stream.on('error', () => undefined);
    taken = uploads.take(name ?? filename ?? 'file', stream);
    // A file that is refused ends the form.
    taken.catch(() => cut.abort());
  });
  const read = pipeline(source, form, { signal: cut.signal });
  await Promise.race([read, once(cut.signal, 'abort')]).catch((error: unknown) => {
    if (!taken) throw new Fault(400, `The form cannot be read: ${(error as Error).message}`);
    // A form that was cut off does not end its file by itself.
    part?.destroy(error as Error);
  });
  if (!taken) throw new Fault(422, 'The form holds no file.');
  const about = await taken;
  if (!several) return about;
  await uploads.remove(about.id);
  throw new Fault(422, 'The form holds several files. Send one with each request.');
}
