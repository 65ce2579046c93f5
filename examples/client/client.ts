import type { Operations, Problem, RunDetail } from './api.ts';

export type RunProgress = NonNullable<RunDetail['progress']>;

/** A fault that the API answered with: what is wrong, and each fault by itself. */
export class ApiProblem extends Error {
  readonly problem: Problem;
  constructor(problem: Problem) {
    super([problem.detail, ...(problem.errors ?? [])].join('\n'));
    this.problem = problem;
  }
}

export interface Connection {
  /** Of the worker or the console, such as http://127.0.0.1:8720. */
  readonly url: string;
  /** `rowferry console key add NAME --role operator` prints one. */
  readonly key: string;
}

type Sent<O extends keyof Operations> = {
  /** What stands for `{id}` and the like in the address. */
  readonly at?: Readonly<Record<string, string | number>>;
  readonly query?: Operations[O]['query'];
  readonly body?: Operations[O]['body'];
  readonly headers?: Readonly<Record<string, string>>;
};

/** Calls an operation of the description: `call(connection, 'GET /runs', { query: { job: 'assets' } })`. */
export async function call<O extends keyof Operations>(
  { url, key }: Connection,
  operation: O,
  { at = {}, query = {}, body, headers = {} }: Sent<O> = {},
): Promise<Operations[O]['answer']> {
  const [method = '', path = ''] = operation.split(' ');
  const place = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(at[name] ?? '')));
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) asked.set(name, String(value));
  const isJson = body !== undefined && Object.getPrototypeOf(body) === Object.prototype;
  const answer = await fetch(`${url}/api/v1${place}?${asked}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(isJson && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: isJson ? JSON.stringify(body) : (body as string | Uint8Array<ArrayBuffer>) }),
  });
  if (!answer.ok) throw new ApiProblem((await answer.json()) as Problem);
  const type = answer.headers.get('content-type') ?? '';
  const found: unknown = type.startsWith('application/json') ? await answer.json() : answer;
  return found as Operations[O]['answer'];
}

/** How a run goes on, and how it ended; a connection that is cut is taken up again where it was. */
export async function* follow(connection: Connection, run: string): AsyncGenerator<RunEvent> {
  for (let last = ''; ; ) {
    const answer = await fetch(`${connection.url}/api/v1/runs/${run}/events`, {
      headers: { authorization: `Bearer ${connection.key}`, ...(last !== '' && { 'last-event-id': last }) },
    });
    if (!answer.ok || !answer.body) throw new ApiProblem((await answer.json()) as Problem);
    let text = '';
    const decoder = new TextDecoder();
    try {
      for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) {
        text += decoder.decode(chunk, { stream: true });
        const events = text.split('\n\n');
        text = events.pop() ?? '';
        for (const event of events) {
          const [, id, name, data] = /^id: (.*)\nevent: (.*)\ndata: (.*)$/.exec(event) ?? [];
          if (id === undefined || data === undefined) continue;
          last = id;
          if (name !== 'end') yield { progress: JSON.parse(data) as RunProgress };
          else {
            yield { end: JSON.parse(data) as RunDetail };
            return;
          }
        }
      }
    } catch {
      // The connection was cut; the run goes on.
    }
  }
}

export type RunEvent =
  | { readonly progress: RunProgress; readonly end?: undefined }
  | { readonly end: RunDetail; readonly progress?: undefined };
