import type { ResourceName } from '../resources/spec.js';
import type { Json, Service, WriteAnswer } from '../service/port.js';

/** A writing request, complete. Interface, section 4. */
export type WriteRequest = {
  readonly resource: ResourceName;
  readonly body: Json;
} & (
  | { readonly op: 'create'; readonly query?: Readonly<Record<string, string>> }
  | { readonly op: 'update'; readonly id: number; readonly method: 'PUT' | 'PATCH' }
);

/** The one place from which an import's writing requests go out, whoever sends them. */
export function sendRequest(request: WriteRequest, service: Pick<Service, 'create' | 'update'>): Promise<WriteAnswer> {
  return request.op === 'create'
    ? service.create(request.resource, request.body, request.query)
    : service.update(request.resource, request.id, request.body, request.method);
}
