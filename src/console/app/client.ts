import type { Problem, Uploaded } from '../../api/schema.js';

/** The console speaks to its own origin alone, over the API that every program has: contract, section 12. */
const API = '/api/v1';

type QueryValue = string | number | boolean | null | undefined;
export type Query = Readonly<Record<string, QueryValue | readonly QueryValue[]>>;

/** A fault as the API tells it, or a connection that failed: then `status` is 0. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  constructor(
    readonly status: number,
    detail: string,
    readonly details: readonly string[] = [],
    readonly code: Problem['code'] = 'failed',
  ) {
    super(detail);
  }

  /** Nobody answered, or somebody who could not reach the server: what was asked may be asked again. */
  get isTransient(): boolean {
    return [0, 502, 503, 504].includes(this.status);
  }
}

/** The same, with these; what is blank goes. */
export function withParams(params: URLSearchParams, query: Query): URLSearchParams {
  const next = new URLSearchParams(params);
  for (const [name, value] of Object.entries(query)) {
    next.delete(name);
    for (const one of [value].flat()) if ((one ?? '') !== '') next.append(name, String(one));
  }
  return next;
}

export function urlOf(path: string, query: Query = {}): string {
  const params = withParams(new URLSearchParams(), query);
  return `${API}${path}${params.size === 0 ? '' : `?${params}`}`;
}

export function get<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> {
  return ask<T>(urlOf(path, query), { signal: signal ?? null });
}

export const getReport = async (run: string, report: string) => (await answerOf(reportUrl(run, report))).blob();

export const reportUrl = (run: string, report: string) =>
  urlOf(`/runs/${encodeURIComponent(run)}/reports/${encodeURIComponent(report)}`);

export function send<T>(method: 'POST' | 'PUT' | 'DELETE', path: string, body: object = {}, sending: RequestInit = {}) {
  const headers = { 'content-type': 'application/json', ...sending.headers };
  return ask<T>(`${API}${path}`, { ...sending, method, headers, body: JSON.stringify(body) });
}

/** `onSent` is told how much of it is sent, 0 to 1: fetch does not tell. */
export function sendFile(file: File, signal: AbortSignal, onSent: (part: number) => void): Promise<Uploaded> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', urlOf('/files', { name: file.name }));
    request.setRequestHeader('content-type', 'application/octet-stream');
    request.upload.onprogress = ({ loaded }) => onSent(loaded / file.size);
    request.onload = () => {
      if (request.status < 300) resolve(JSON.parse(request.responseText));
      else reject(problemOf(request.status, request.responseText));
    };
    request.onerror = () => reject(new ApiError(0, NO_ANSWER));
    request.onabort = () => reject(signal.reason);
    signal.addEventListener('abort', () => request.abort());
    request.send(file);
  });
}

const NO_ANSWER = 'rowferry does not answer. The page goes on when it does; what you sent, send again.';

async function ask<T>(address: string, init: RequestInit): Promise<T> {
  const response = await answerOf(address, { ...init, headers: { accept: 'application/json', ...init.headers } });
  const text = await response.text();
  return (text === '' ? undefined : JSON.parse(text)) as T;
}

async function answerOf(address: string, init?: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(address, init);
  } catch (error) {
    if ((error as Error).name === 'AbortError') throw error;
    throw new ApiError(0, NO_ANSWER);
  }
  if (response.ok) return response;
  throw problemOf(response.status, await response.text());
}

function problemOf(status: number, text: string): ApiError {
  try {
    const { detail, errors, code } = JSON.parse(text) as Partial<Problem>;
    return new ApiError(status, detail ?? `HTTP ${status}`, errors, code);
  } catch {
    return new ApiError(status, `The answer was HTTP ${status}, without a reason.`);
  }
}
