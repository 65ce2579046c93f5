import { copyPrivately } from '../files/safe-write.js';
import type { ImportRequest } from './import.js';

/**
 * Takes the private copy of a file that was found to lie where it may, its path leading through no link: refused where a
 * link has appeared on it since. For `ImportRequest.makeSource`, of whoever reads files on behalf of others.
 */
export function linklessCopy(file: string): NonNullable<ImportRequest['makeSource']> {
  return (copy) => copyPrivately(file, copy, { linkless: true });
}
