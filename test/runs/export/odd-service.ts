import type { ServerResponse } from 'node:http';
import { serve } from '../../service/server.js';

/** Lists by the last part of their path; a number is the status that the list is refused with. */
type Lists = Readonly<Record<string, readonly object[] | number>>;

export interface OddService {
  readonly url: string;
  /** Path and query of every request. */
  readonly asked: () => string[];
}

/** A service over HTTP whose records are whatever a test says. `pastEnd` answers pages behind the end. */
export async function oddService(
  lists: Lists,
  pastEnd: (response: ServerResponse) => void = (response) => answer(response, 404, {}),
): Promise<OddService> {
  const { url, seen } = await serve((response, { url: { pathname, searchParams } }) => {
    const [resource = ''] = pathname.replace(/^\/api\/v2\//, '').split('/');
    if (!(resource in lists)) {
      answerOther(response, pathname);
      return;
    }
    const records = lists[resource] ?? [];
    if (typeof records === 'number') {
      answer(response, records, { detail: 'not for you' });
      return;
    }
    const page = Number(searchParams.get('page') ?? 1);
    const results = records.slice((page - 1) * 25, page * 25);
    if (page > 1 && results.length === 0) pastEnd(response);
    else answer(response, 200, { count: records.length, results });
  });
  return { url, asked: () => seen.map(({ url: { pathname, search } }) => pathname + search) };
}

export function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** What every export asks beside its records: the company, and lists that are empty. */
export function answerOther(response: ServerResponse, pathname: string): void {
  const isCompany = /\/company\/\d+/.test(pathname);
  answer(response, 200, isCompany ? { id: 1, name: 'Odd', status: 'active' } : { count: 0, results: [] });
}
