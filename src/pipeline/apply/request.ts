import type { RowsJob } from '../../model/job.js';
import { type Fields, isEmpty } from '../../model/value.js';
import type { ResourceName, ResourceSpec } from '../../resources/spec.js';
import type { Json, ProbedBehaviour, WriteRequest } from '../../service/port.js';

/** A record to be read again before its update. */
export interface ReadRequest {
  readonly op: 'read';
  readonly resource: ResourceName;
  readonly id: number;
}

/** What it came to; null: there is no such record any more. */
export interface ReadAnswer {
  readonly kind: 'read';
  readonly record: Json | null;
}

/** Whether the record behind a request need not be read again, by the coordinator's clock. */
export function isFreshAt(now: number, request: WriteRequest): boolean {
  return request.op === 'create' || request.freshUntil === undefined || now <= request.freshUntil;
}

type Match = Pick<RowsJob['match'], 'key' | 'unique_field'>;

/**
 * The fields whose values the service itself keeps unique, so that a create that comes late is refused there: those of
 * the resource, and the `unique_field` of the job unless a probe found that the service takes no notice of it.
 */
export function guardingFields(match: Match, spec: ResourceSpec, probed: ProbedBehaviour | undefined): string[] {
  const asked = probed?.uniqueField === 'ignored' ? undefined : match.unique_field;
  return asked === undefined ? [...spec.guarded] : [...spec.guarded, asked];
}

/** Whether the service refuses a second record with these values. */
export function isGuarded(fields: Fields, guarding: readonly string[]): boolean {
  return guarding.some((field) => !isEmpty(fields[field]));
}

/** Whether it does so for every row: no row is created without its key and the fields the resource requires. */
export function guardsEveryRow(match: Match, spec: ResourceSpec, probed: ProbedBehaviour | undefined): boolean {
  const filled = (field: string) =>
    match.key.includes(field) || spec.fields.some(({ name, required }) => name === field && required === true);
  return guardingFields(match, spec, probed).some(filled);
}
