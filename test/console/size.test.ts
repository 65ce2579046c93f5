import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { consolePath } from '../support/build.js';

it('the first load is small, everything is packed beforehand, and the page itself holds no script or style', async () => {
  const folder = await consolePath();
  const page = await readFile(join(folder, 'index.html'), 'utf8');
  const loaded = [...page.matchAll(/(?:src|href)="\/([^"]+\.(?:js|css))"/g)].map(([, path]) => path ?? '');
  expect(loaded.filter((path) => path.endsWith('.js'))).not.toEqual([]);
  const sizes = await Promise.all(loaded.map(async (path) => (await stat(join(folder, `${path}.gz`))).size));
  expect(sizes.reduce((all, size) => all + size, 0)).toBeLessThan(180_000);
  expect(page).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\bon\w+=|\bstyle=|https?:/);

  const files = (await readdir(folder, { recursive: true })).filter((name) => /\.\w+$/.test(name));
  for (const name of files.filter((one) => !one.endsWith('.gz'))) {
    expect(gunzipSync(await readFile(join(folder, `${name}.gz`)))).toEqual(await readFile(join(folder, name)));
  }
});
