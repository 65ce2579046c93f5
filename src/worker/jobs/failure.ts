import { codesOf, isDiskFull, RunError } from '../../model/error.js';
import { LockHeld } from '../../runs/lock.js';

/**
 * What a fault means for the job of the queue:
 *   `later`: another process of this machine works on the run at this moment
 *   `full`: the disk is, and the run goes on once there is space
 *   `retry`: may pass by itself, and the job has attempts left
 *   `final`: nothing will be different next time
 */
export type FailureKind = 'later' | 'full' | 'retry' | 'final';

/** The run came to an end as `failed`, and the job has attempts left: the next one continues it. */
export class RunFailed extends Error {
  override readonly name = 'RunFailed';
}

/** Faults of the machine that pass. */
const PASSING = new Set(['EMFILE', 'ENFILE', 'EIO', 'EBUSY', 'EAGAIN', 'ESTALE', 'ETIMEDOUT']);

export function failureKind(error: unknown, attemptsLeft: boolean): FailureKind {
  if (error instanceof LockHeld) return 'later';
  if (isDiskFull(error)) return 'full';
  if (!attemptsLeft) return 'final';
  if (error instanceof RunError && !codesOf(error).some((code) => PASSING.has(code))) return 'final';
  return 'retry';
}

/** Message and details on lines of their own, without secrets. */
export function failureText(error: unknown, secrets: readonly string[]): string {
  if (error instanceof RunFailed) return error.message;
  const text =
    error instanceof RunError
      ? [error.message, ...error.details].join('\n')
      : error instanceof Error && 'syscall' in error
        ? `The system refused something: ${error.message}`
        : `unexpected ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}; this is a bug in rowferry`;
  // People know an uploaded file by the name they gave it.
  return withoutSecrets(text.replace(/(?<!\S)\S*[/\\]uploads[/\\][0-9a-f]{16}-/g, ''), secrets);
}

/** Shorter ones are words of everyday text. */
const SHORTEST = 8;

export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret.length >= SHORTEST)
    .reduce(
      (clean, secret) => clean.replaceAll(secret, '[secret]').replaceAll(encodeURIComponent(secret), '[secret]'),
      text,
    );
}
