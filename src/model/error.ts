/** Exit codes of the command line; docs/reference/commands.md, "Exit codes". */
export const EXIT = { ok: 0, failed: 1, usage: 2, needsPerson: 3, braked: 4, sigint: 130, sigterm: 143 } as const;
/** By the status of a run; of one that was interrupted the signal decides. */
export const EXIT_BY_STATUS = {
  succeeded: EXIT.ok,
  partial: EXIT.needsPerson,
  braked: EXIT.braked,
  failed: EXIT.failed,
} as const;

/** What programs tell faults of a run apart by; docs/integrate.md, "Errors". Names are never changed, only added to. */
export const ERROR_CODES = {
  usage: 'Settings, the job or the call are wrong; `details` lists every fault.',
  file_not_found: 'There is no such file.',
  braked: 'A brake stopped the run.',
  interrupted: 'The signal stopped the run; it can be resumed.',
  busy: 'Another process works on the same run or data folder.',
  disk_full: 'There is no space left.',
  token_refused: 'The service refused the token (401).',
  token_unavailable: 'No token could be had from its file or from the token service.',
  service_rejected: 'The service refused a request that the run cannot do without; `status` is that of its answer.',
  service_unreachable: 'The service did not answer within the patience of the settings.',
  queue_unreachable: 'The queue did not answer.',
  failed: 'The run could not do its work for another reason; the message says which.',
  unexpected: 'A bug of rowferry; `cause` is where it happened.',
} as const;
export type ErrorCode = keyof typeof ERROR_CODES;

interface RunErrorOptions extends ErrorOptions {
  readonly status?: number;
  readonly code?: ErrorCode;
}

/**
 * A fault of the whole run, thrown. The message is for people: what, where, the value, the rule, what to do next.
 * Row faults are never thrown, they are values (`Issue`).
 */
export class RunError extends Error {
  override readonly name = 'RunError';
  /** What a program tells it apart by. */
  readonly code: ErrorCode;
  /** The HTTP status it rests on, where the service answered with one. */
  readonly status?: number;
  constructor(
    /** `usage`: what was asked for is wrong. `failed`: it could not be done. `braked`: a brake of the job stopped it. */
    readonly kind: 'usage' | 'failed' | 'braked',
    message: string,
    /** Further faults of the same kind, one line each: all are listed, not the first. */
    readonly details: readonly string[] = [],
    options: RunErrorOptions = {},
  ) {
    super(message, 'cause' in options ? { cause: options.cause } : {});
    if (options.status !== undefined) this.status = options.status;
    this.code = options.code ?? defaultCode(kind, options);
  }
}

/** What was asked for is wrong. */
export const usageError = (message: string, details?: readonly string[], options?: RunErrorOptions): RunError =>
  new RunError('usage', message, details, options);

/** It could not be done. */
export const runFailure = (message: string, details?: readonly string[], options?: RunErrorOptions): RunError =>
  new RunError('failed', message, details, options);

function defaultCode(kind: RunError['kind'], { status, cause }: RunErrorOptions): ErrorCode {
  if (kind !== 'failed') return kind;
  if (status !== undefined) return status === 401 ? 'token_refused' : 'service_rejected';
  return isDiskFull(cause) ? 'disk_full' : 'failed';
}

/** Whether a list of the service is there but not for this token, or is not there at all. */
export function isRefused(error: unknown): error is RunError & { readonly status: 403 | 404 } {
  return error instanceof RunError && (error.status === 403 || error.status === 404);
}

/** A run stopped because it was told to; it can be taken up again, and nothing is wrong with it. */
export class RunInterrupted extends RunError {
  constructor() {
    super('failed', 'The run was interrupted.', [], { code: 'interrupted' });
  }
}

/** Anything thrown, as people and programs are told of it: faults of the machine with advice, everything else as a bug. */
export function asRunError(error: unknown): RunError {
  if (error instanceof RunError) return error;
  if (error instanceof Error && 'syscall' in error && 'code' in error) {
    return new RunError('failed', error.message, [`${diskErrorText(error)}; put it right and run again`], {
      cause: error,
    });
  }
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const details = ['this is a bug in rowferry; ROWFERRY_LOG_LEVEL=debug shows where it happened'];
  return new RunError('failed', `unexpected ${text}`, details, { cause: error, code: 'unexpected' });
}

/** Codes of the system (ENOSPC, EACCES …), from an error down through its causes. */
export function systemCodes(error: unknown): string[] {
  const codes: string[] = [];
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    if ('code' in at && typeof at.code === 'string') codes.push(at.code);
  }
  return codes;
}

/** Whether something failed for want of space: it goes on once there is some. */
export function isDiskFull(error: unknown): boolean {
  return systemCodes(error).some((code) => code === 'ENOSPC' || code === 'EDQUOT');
}

/** What an error says; of what is none, its text. */
export const errorText = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Why the file system refused, in words. */
export function diskErrorText(error: unknown): string {
  const code = systemCodes(error).find((one) => Object.hasOwn(DISK_ERROR_TEXTS, one));
  return (code && DISK_ERROR_TEXTS[code]) || errorText(error);
}

const DISK_ERROR_TEXTS: Readonly<Record<string, string>> = {
  EACCES: 'this user has no right to do that',
  EPERM: 'this user has no right to do that',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full',
  EFBIG: 'the file would be larger than this disk or user may have (ulimit -f)',
  EIO: 'the disk reports an input/output error',
  ESTALE: 'the disk does not answer',
  EHOSTDOWN: 'the disk does not answer',
  ETIMEDOUT: 'the disk does not answer',
  EXDEV: 'the two lie on different disks, and a file cannot be moved between them in one step',
  ENOENT: 'it is not there',
  ENOTDIR: 'something on the way is no folder',
  EISDIR: 'a folder of that name is there',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'it is a symbolic link',
  EBUSY: 'another program holds it',
  ETXTBSY: 'another program holds it',
};
