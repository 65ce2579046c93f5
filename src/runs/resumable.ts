import { RunError } from '../model/error.js';

/** Throws where a run cannot be continued with this version, or with these settings. */
export function assertResumable(
  stored: { readonly v: number; readonly service: string },
  run: string,
  apiUrl: string,
): void {
  if (stored.v !== 1) {
    throw new RunError(
      'failed',
      `The run ${run} was begun by a newer version of rowferry; continue it with that version.`,
    );
  }
  if (stored.service !== apiUrl) {
    throw new RunError(
      'usage',
      `The run ${run} was begun against ${stored.service}; the settings name ${apiUrl}. Set ROWFERRY_API_URL to the first to continue it.`,
    );
  }
}
