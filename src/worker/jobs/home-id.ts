import { randomBytes } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

const ID = /^[0-9a-f]{16}$/;

/**
 * What tells this data folder from those of other machines: a random number kept in `<home>/home-id`. The folder exists.
 * A file that was damaged is written anew: runs begun before then count as those of another home.
 */
export async function homeId(home: string): Promise<string> {
  const file = path.join(home, 'home-id');
  for (;;) {
    const kept = await readFile(file, 'utf8').catch(() => undefined);
    if (kept !== undefined && ID.test(kept.trim())) return kept.trim();
    if (kept !== undefined) await rm(file, { force: true });
    // It appears with its content, and of two workers that begin at the same time one is first.
    const own = `${file}.${randomBytes(6).toString('hex')}`;
    await writeFile(own, `${randomBytes(8).toString('hex')}\n`);
    try {
      await link(own, file);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    } finally {
      await rm(own, { force: true });
    }
  }
}
