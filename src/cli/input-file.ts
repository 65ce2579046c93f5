import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { distance } from 'fastest-levenshtein';
import { RunError } from '../model/error.js';

/**
 * Absolute path of the spreadsheet that is meant.
 * @throws RunError `failed` naming similar files of the folder where there is none.
 */
export async function inputFile(file: string, cwd: string): Promise<string> {
  const path = resolve(cwd, file);
  const info = await stat(path).catch(() => undefined);
  if (info?.isDirectory()) throw new RunError('failed', `${file} is a folder; give the path of a spreadsheet.`);
  if (info) return path;
  const folder = dirname(path);
  const there = await readdir(folder).catch(() => undefined);
  if (!there) throw new RunError('failed', `There is no file ${file}: the folder ${folder} does not exist.`);
  const near = similarNames(basename(path), there);
  throw new RunError(
    'failed',
    `There is no file ${file}.${near.length > 0 ? ' Similar names in that folder:' : ` Nothing in ${folder} has a similar name.`}`,
    near.map((name) => (dirname(file) === '.' ? name : `${dirname(file)}/${name}`)),
  );
}

/** At most three names that are a few keystrokes away, or differ in the ending only, the nearest first. */
function similarNames(wanted: string, names: readonly string[]): string[] {
  const stem = (name: string) => name.toLowerCase().replace(/\.[^.]*$/, '');
  const far = Math.max(2, Math.floor(wanted.length * 0.4));
  return names
    .filter((name) => !name.startsWith('.'))
    .map((name) => ({
      name,
      steps: stem(name) === stem(wanted) ? 1 : distance(name.toLowerCase(), wanted.toLowerCase()),
    }))
    .filter(({ steps }) => steps <= far)
    .sort((a, b) => a.steps - b.steps)
    .slice(0, 3)
    .map(({ name }) => name);
}
