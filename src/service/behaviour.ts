import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { ProbedBehaviour } from './port.js';

const schema = z.object({
  probedAt: z.string(),
  putAccepts: z.array(z.string()),
  omitted: z.enum(['nulled', 'kept']).optional(),
  patch: z.boolean().optional(),
  filters: z.record(z.string(), z.enum(['exact', 'ignores_case', 'contains', 'ignored'])).optional(),
  uniqueField: z.enum(['rejects', 'upserts', 'ignored']).optional(),
});

const FILE = 'behaviour.json';

/** What a probe found out, from the folder of `serviceDir`; undefined where there was none, or the file is unreadable: unknown is the safe side. */
export async function loadBehaviour(dir: string): Promise<ProbedBehaviour | undefined> {
  let text: string;
  try {
    text = await readFile(join(dir, FILE), 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const { omitted, patch, filters, uniqueField, ...rest } = schema.parse(JSON.parse(text));
    return {
      ...rest,
      ...(omitted === undefined ? {} : { omitted }),
      ...(patch === undefined ? {} : { patch }),
      ...(filters === undefined ? {} : { filters }),
      ...(uniqueField === undefined ? {} : { uniqueField }),
    };
  } catch {
    return undefined;
  }
}

/** Replaces the whole file, or leaves the old one untouched. */
export async function saveBehaviour(dir: string, behaviour: ProbedBehaviour): Promise<void> {
  await mkdir(dir, { recursive: true });
  const temporary = join(dir, `${FILE}.${randomBytes(6).toString('hex')}.tmp`);
  try {
    const file = await open(temporary, 'w');
    try {
      await file.writeFile(`${JSON.stringify(behaviour, undefined, 2)}\n`);
      await file.datasync();
    } finally {
      await file.close();
    }
    await rename(temporary, join(dir, FILE));
  } finally {
    await rm(temporary, { force: true });
  }
}
