import type { ProbedBehaviour, Service } from '../../service/port.js';

/** One thing that was found out, in words. */
export interface Finding {
  readonly about: string;
  readonly text: string;
}

/** What one scratch record taught. */
export interface PartialProbe {
  readonly findings: readonly Finding[];
  readonly putAccepts: readonly string[];
  readonly filters: NonNullable<ProbedBehaviour['filters']>;
  readonly omitted?: 'nulled' | 'kept';
  readonly patch?: boolean;
  readonly uniqueField?: 'rejects' | 'upserts' | 'ignored';
  /** The scratch records, as a person finds them. */
  readonly leftBehind: readonly string[];
}

export interface ProbeContext {
  readonly service: Service;
  readonly company: number;
  /** Part of every scratch name, so that nothing else is found by it. */
  readonly tag: string;
  /** How long to wait until a write shows in lists, milliseconds. */
  readonly lagMs: number;
}
