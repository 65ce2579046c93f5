import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import type { Context } from 'hono';
import { getMimeType } from 'hono/utils/mime';

export type Pages = ReturnType<typeof openPages>;

const INDEX = '/index.html';
/** Names below hold a hash of their content. */
const ASSETS = /^\/assets\//;
const NOT_BUILT = 'The pages of the console were not built with this rowferry. `npm run build` builds them.\n';

/**
 * The console as it was built: `index.html` at every address that is no file. Files are found by their names in a list that was
 * made once, so that no name leads anywhere else. They are read at the first question.
 */
export function openPages(folder: string) {
  let reading: Promise<ReadonlyMap<string, Buffer>> | undefined;
  const loadFiles = () => {
    reading ??= readFiles(folder);
    return reading;
  };

  return {
    /** Whether they were built. */
    areBuilt: async (): Promise<boolean> => (await loadFiles()).has(INDEX),
    async answer(c: Context): Promise<Response> {
      const files = await loadFiles();
      const { path } = c.req;
      const isAsset = ASSETS.test(path);
      const name = isAsset || files.has(path) ? path : INDEX;
      const body = files.get(name);
      if (!body) return c.text(files.size === 0 ? NOT_BUILT : 'There is nothing at this address.\n', 404);
      const gzipped = /\bgzip\b/.test(c.req.header('accept-encoding') ?? '') ? files.get(`${name}.gz`) : undefined;
      return c.body(new Uint8Array(gzipped ?? body), 200, {
        'content-type': getMimeType(name) ?? 'application/octet-stream',
        'cache-control': isAsset ? 'public, max-age=31536000, immutable' : 'no-cache',
        vary: 'accept-encoding',
        ...(gzipped && { 'content-encoding': 'gzip' }),
      });
    },
  };
}

async function readFiles(folder: string): Promise<ReadonlyMap<string, Buffer>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return new Map(
    await Promise.all(
      files.map(async (path) => [`/${relative(folder, path).split(sep).join('/')}`, await readFile(path)] as const),
    ),
  );
}
