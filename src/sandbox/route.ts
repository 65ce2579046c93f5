import type { WritableName } from './kinds.js';
import type { ReadName } from './read.js';
import type { Switches } from './switches.js';

/** Paths and methods of the interface: table in section 4.1. */

export const PREFIX = '/api/v2';

const READABLE: ReadonlySet<string> = new Set<ReadName>([
  'contract',
  'supplier',
  'custom-form-template',
  'custom-field-template',
  'asset',
  'user',
  'license',
  'asset-owner',
  'category',
  'usage-status',
  'company',
]);
const WRITABLE: ReadonlySet<string> = new Set<WritableName>(['contract', 'supplier', 'customer', 'asset']);
/** Licenses can be listed, not read one by one. */
const LIST_ONLY: ReadonlySet<string> = new Set<ReadName>(['license']);
/** Written without a slash at the end in section 4.1, also for reads. */
const READ_WITHOUT_SLASH: ReadonlySet<string> = new Set<ReadName>(['user', 'company']);
/** Written both ways: `/custom-form-template[/{id}/]`. */
const LIST_EITHER_WAY: ReadonlySet<string> = new Set<ReadName>(['custom-form-template', 'custom-field-template']);

export type Route =
  | { readonly kind: 'read'; readonly resource: ReadName; readonly id: number | undefined }
  | { readonly kind: 'create'; readonly resource: WritableName }
  | { readonly kind: 'update' | 'patch'; readonly resource: WritableName; readonly id: number }
  | { readonly kind: 'redirect'; readonly path: string }
  | { readonly kind: 'wrong_method'; readonly allowed: readonly string[] }
  | { readonly kind: 'unknown' };

const SHAPE = /^\/api\/v2\/([a-z-]+)(?:\/(\d{1,15}))?(\/?)$/;

/** Finds what a request asks for. `path` is without the query. */
export function routeOf(method: string, path: string, switches: Readonly<Switches>): Route {
  const [, name, digits, slash] = SHAPE.exec(path) ?? [];
  if (name === undefined) return { kind: 'unknown' };
  const id = digits === undefined ? undefined : Number(digits);
  const allowed = allowedMethods(name, id, switches);
  if (allowed.length === 0) return { kind: 'unknown' };
  if (!allowed.includes(method)) return { kind: 'wrong_method', allowed };
  if (switches.slashes !== 'both' && !isDocumentedForm(method, name, id, slash === '/')) {
    if (switches.slashes === 'not_found') return { kind: 'unknown' };
    return { kind: 'redirect', path: slash === '/' ? path.slice(0, -1) : `${path}/` };
  }
  if (method === 'GET') return { kind: 'read', resource: name as ReadName, id };
  if (id === undefined) return { kind: 'create', resource: name as WritableName };
  return { kind: method === 'PUT' ? 'update' : 'patch', resource: name as WritableName, id };
}

function allowedMethods(name: string, id: number | undefined, switches: Readonly<Switches>): string[] {
  const allowed: string[] = [];
  if (READABLE.has(name) && (id === undefined || !LIST_ONLY.has(name))) allowed.push('GET');
  if (WRITABLE.has(name)) {
    if (id === undefined) allowed.push('POST');
    else allowed.push('PUT', ...(switches.patch === 'on' ? ['PATCH'] : []));
  }
  return allowed;
}

function isDocumentedForm(method: string, name: string, id: number | undefined, slash: boolean): boolean {
  if (method !== 'GET' || READ_WITHOUT_SLASH.has(name)) return !slash;
  return slash || (id === undefined && LIST_EITHER_WAY.has(name));
}

/** How a request is counted: `GET /asset/{id}/`, `GET /asset/?serial_number`, `POST /asset`. */
export function kindOf(method: string, path: string, query: URLSearchParams): string {
  const short = path.startsWith(`${PREFIX}/`) ? path.slice(PREFIX.length) : path;
  const pattern = short.replace(/\/\d+(?=\/|$)/, '/{id}');
  if (method !== 'GET') return `${method} ${pattern.replace(/\/$/, '')}`;
  const named = pattern.endsWith('/') ? pattern : `${pattern}/`;
  const filters = [...query.keys()].filter((key) => key !== 'company' && key !== 'page').sort();
  const probe = query.get('serial_number') === 'list' ? '?serial_number=list' : undefined;
  return `GET ${named}${probe ?? (filters.length > 0 ? `?${filters.join('&')}` : '')}`;
}
