import type { ResourceName } from '../resources/spec.js';
import type { Json, Service, WriteAnswer } from '../service/port.js';

/** A writing request, complete. Interface, section 4. */
export type WriteRequest = {
  readonly resource: ResourceName;
  readonly body: Json;
} & (
  | { readonly op: 'create'; readonly query?: Readonly<Record<string, string>> }
  | {
      readonly op: 'update';
      readonly id: number;
      readonly method: 'PUT' | 'PATCH';
      /**
       * When the record that the body was made from has to be read again, in milliseconds since 1970 by the clock of the run's
       * coordinator; absent where it cannot be read. Contract, section 7.
       */
      readonly freshUntil?: number;
      /** The record was read again for it: it goes before what is not stale yet, so that it does not become so itself. */
      readonly ahead?: boolean;
    }
);

/**
 * The one place from which an import's writing requests go out, whoever sends them. `isFresh` is asked directly before
 * each try of an update; where it says no, the answer is `unsent`, withheld as `stale`.
 */
export function sendRequest(
  request: WriteRequest,
  service: Pick<Service, 'create' | 'update'>,
  isFresh: (request: WriteRequest) => boolean,
): Promise<WriteAnswer> {
  if (request.op === 'create') return service.create(request.resource, request.body, request.query);
  const { resource, id, body, method, ahead } = request;
  const options = { isFresh: () => isFresh(request), ...(ahead === undefined ? {} : { ahead }) };
  return service.update(resource, id, body, method, options);
}

/** Whether the record behind a request need not be read again, by the coordinator's clock. */
export function isFreshAt(now: number, request: WriteRequest): boolean {
  return request.op === 'create' || request.freshUntil === undefined || now <= request.freshUntil;
}
