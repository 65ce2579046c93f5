import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ApiDeps } from '../app.js';

/** The longest name of a file or job that a line holds. */
const LONGEST_VALUE = 300;

/**
 * The audit log of a data folder, `audit.ndjson`: a line for whatever was changed through the API, before it is answered.
 * Who, when, what, which run; never a cell or a secret.
 */
export function openAudit(home: string): ApiDeps['audit'] {
  const path = join(home, 'audit.ndjson');
  return async ({ name, role, via }, what, about = {}) => {
    const details = Object.entries(about).flatMap(([key, value]) =>
      value ? [[key, typeof value === 'string' ? value.slice(0, LONGEST_VALUE) : value]] : [],
    );
    const line = { at: new Date().toISOString(), who: name, role, via, what, ...Object.fromEntries(details) };
    // One write at the end of the file: lines of several processes do not mix.
    await appendFile(path, `${JSON.stringify(line)}\n`, { mode: 0o600 });
  };
}
