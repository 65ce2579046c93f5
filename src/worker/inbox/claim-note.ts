import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { codeOf, createText, placeText } from './disk.js';

/**
 * Lies in a claim's folder once its file is known to be complete. Whoever makes it offers the claim; a claim without it is
 * still being looked at, or the process that did so is gone.
 */
const claimNote = z.object({
  v: z.literal(1),
  /** As dropped. */
  name: z.string(),
  /** The data file's name in the folder. */
  file: z.string(),
  /** File in `.ledger/<job>/` in which the content of this claim is entered. */
  ledger: z.string().optional(),
});
export type ClaimNote = z.output<typeof claimNote>;

export const CLAIM_NOTE = '.claim.json';

/** Undefined where there is none; `torn` where one is there that cannot be read. */
export async function readClaimNote(dir: string): Promise<ClaimNote | 'torn' | undefined> {
  try {
    return claimNote.parse(JSON.parse(await readFile(join(dir, CLAIM_NOTE), 'utf8')));
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined;
    if (codeOf(error) !== '') throw error;
    return 'torn';
  }
}

/** False where the claim has one already. */
export function createClaimNote(dir: string, note: ClaimNote): Promise<boolean> {
  return createText(join(dir, CLAIM_NOTE), JSON.stringify(note));
}

export function replaceClaimNote(dir: string, note: ClaimNote): Promise<void> {
  return placeText(join(dir, CLAIM_NOTE), JSON.stringify(note));
}
