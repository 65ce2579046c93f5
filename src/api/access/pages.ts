import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import type { Context } from 'hono';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
};

interface Page {
  readonly body: Buffer;
  /** The same, packed when the pages were built. */
  readonly packed?: Buffer | undefined;
  readonly type: string;
  readonly etag: string;
}

export type Pages = ReturnType<typeof openPages>;

/**
 * The console as it was built: `index.html` at every address that is no file. Files are found by their names in a list that was
 * made once, so that no name leads anywhere else. They are read at the first question.
 */
export function openPages(folder: string) {
  let reading: Promise<ReadonlyMap<string, Page>> | undefined;
  const all = () => {
    reading ??= read(folder);
    return reading;
  };

  return {
    /** Whether they were built. */
    there: async (): Promise<boolean> => (await all()).has('/index.html'),
    async answer(c: Context): Promise<Response> {
      const pages = await all();
      const asked = pages.get(c.req.path);
      const page = asked ?? (ASSETS.test(c.req.path) ? undefined : pages.get('/index.html'));
      if (!page) return c.text(pages.size === 0 ? NOT_BUILT : 'There is nothing at this address.\n', 404);
      const headers = {
        'content-type': page.type,
        // Names below assets/ hold a hash of their content.
        'cache-control': asked && ASSETS.test(c.req.path) ? 'public, max-age=31536000, immutable' : 'no-cache',
        etag: page.etag,
        vary: 'accept-encoding',
      };
      if (c.req.header('if-none-match') === page.etag) return c.body(null, 304, headers);
      const packed = /\bgzip\b/.test(c.req.header('accept-encoding') ?? '') ? page.packed : undefined;
      const body = packed ?? page.body;
      return c.body(new Uint8Array(body), 200, {
        ...headers,
        ...(packed && { 'content-encoding': 'gzip' }),
        'content-length': String(body.length),
      });
    },
  };
}

const ASSETS = /^\/assets\//;
const NOT_BUILT = 'The pages of the console were not built with this rowferry. `npm run build` builds them.\n';

async function read(folder: string): Promise<ReadonlyMap<string, Page>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = new Map<string, Buffer>();
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    files.set(`/${relative(folder, path).split(sep).join('/')}`, await readFile(path));
  }
  const pages = new Map<string, Page>();
  for (const [name, body] of files) {
    const type = TYPES[extname(name)];
    if (type === undefined) continue;
    const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
    pages.set(name, { body, packed: files.get(`${name}.gz`), type, etag });
  }
  return pages;
}
