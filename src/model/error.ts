/** Exit codes of the command line; docs/reference/commands.md, "Exit codes". */
export const EXIT = { ok: 0, failed: 1, usage: 2, needsPerson: 3, braked: 4, sigint: 130, sigterm: 143 } as const;

/**
 * A fault of the whole run, thrown. The message is for people: what, where, the value, the rule, what to do next.
 * Row faults are never thrown, they are values (`Issue`).
 */
export class RunError extends Error {
  override readonly name = 'RunError';
  /** The HTTP status it rests on, where the service answered with one. */
  readonly status?: number;
  constructor(
    readonly kind: 'usage' | 'failed' | 'braked',
    message: string,
    /** Further faults of the same kind, one line each: all are listed, not the first. */
    readonly details: readonly string[] = [],
    options?: ErrorOptions & { readonly status?: number },
  ) {
    super(message, options);
    if (options?.status !== undefined) this.status = options.status;
  }
}

/** A run stopped because it was told to; it can be taken up again, and nothing is wrong with it. */
export class RunInterrupted extends RunError {
  constructor() {
    super('failed', 'The run was interrupted.');
  }
}

/** Codes of the system (ENOSPC, EACCES …), from an error down through its causes. */
export function codesOf(error: unknown): string[] {
  const codes: string[] = [];
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    if ('code' in at && typeof at.code === 'string') codes.push(at.code);
  }
  return codes;
}

/** Whether something failed for want of space: it goes on once there is some. */
export function isDiskFull(error: unknown): boolean {
  return codesOf(error).some((code) => code === 'ENOSPC' || code === 'EDQUOT');
}

/** Why something could not be written, in words. */
export function diskWords(error: unknown): string {
  if (isDiskFull(error)) return 'the disk is full';
  if (codesOf(error).includes('EIO')) return 'the disk reports an input/output error';
  if (codesOf(error).includes('EFBIG')) return 'the file would be larger than this disk or user may have (ulimit -f)';
  return error instanceof Error ? error.message : String(error);
}
