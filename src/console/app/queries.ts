import {
  keepPreviousData,
  MutationCache,
  QueryCache,
  QueryClient,
  queryOptions,
  type UseMutationOptions,
  useMutation,
  useQuery,
} from '@tanstack/react-query';
import { useRef } from 'react';
import type {
  FaultGroup,
  Job,
  JobFile,
  Names,
  Night,
  Overview,
  Plan,
  Queue,
  Resource,
  Role,
  RunDetail,
  Runs,
  Session,
  Story,
} from '../../api/schema.js';
import { ApiError, get, type Query } from './client.js';

/** Everything that is read. Its key is its path: what belongs to a run begins with `['runs', id]`. */

/** A session ends with its worker, too: then whoever is there signs in again, and finds the page as it was. */
function onError(error: Error): void {
  if (!(error instanceof ApiError) || error.status !== 401) return;
  const session = client.getQueryState(sessionQuery.queryKey);
  if (session?.status === 'success') void client.invalidateQueries({ queryKey: sessionQuery.queryKey });
}

export const client: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // What is wrong stays wrong; what cannot be reached comes back.
      retry: (failures, error) => error instanceof ApiError && error.passing && failures < 3,
      refetchOnWindowFocus: true,
    },
    mutations: { retry: false },
  },
});

const read = <T>(path: string, query: Query = {}, more: { readonly staleTime?: number } = {}) =>
  queryOptions({
    queryKey: [...path.slice(1).split('/'), query],
    queryFn: ({ signal }) => get<T>(path, query, signal),
    ...more,
  });
const runPath = (id: string, more = '') => `/runs/${encodeURIComponent(id)}${more}`;

export const sessionQuery = read<Session>('/session', {}, { staleTime: 60_000 });
export const runsQuery = (filter: Query) => ({ ...read<Runs>('/runs', filter), placeholderData: keepPreviousData });
export const runQuery = (id: string) => read<RunDetail>(runPath(id));
export const storyQuery = (id: string, row: number) => read<Story>(runPath(id, `/rows/${row}`));
export const faultsQuery = (id: string) => read<FaultGroup[]>(runPath(id, '/faults'));
export const planQuery = (id: string) => read<Plan>(runPath(id, '/plan'));
export const resourcesQuery = read<{ resources: Resource[] }>('/resources', {}, { staleTime: 300_000 });
export const namesQuery = (of: string, q: string, limit?: number) => ({
  ...read<Names>('/names', { of, q, limit }),
  placeholderData: keepPreviousData,
});
export const jobsQuery = read<{ jobs: Job[] }>('/jobs');
export const jobQuery = (name: string) => read<JobFile>(`/jobs/${encodeURIComponent(name)}`);
export const nightsQuery = (job: string) =>
  read<{ nights: Night[] }>(`/nights/${encodeURIComponent(job)}`, { limit: 90 });
export const queueQuery = read<Queue>('/queue');
export const overviewQuery = read<Overview>('/overview', {
  timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
});

/** A change that is made once, however often its button or its key is pressed before the answer; else as `useMutation`. */
export function useOnce<T, V = void>(change: UseMutationOptions<T, Error, V>) {
  const begun = useRef<Promise<T>>(undefined);
  const made = useMutation(change);
  const mutateAsync = (what: V): Promise<T> => {
    begun.current ??= made.mutateAsync(what).finally(() => {
      begun.current = undefined;
    });
    return begun.current;
  };
  return { ...made, mutateAsync, mutate: (what: V) => void mutateAsync(what).catch(() => undefined) };
}

/** Each may do what those before it may. */
const ROLES: readonly Role[] = ['viewer', 'operator', 'approver'];

/** Who is signed in; the shell shows no page before it is known. */
export function useSession(): Session {
  const { data } = useQuery(sessionQuery);
  if (!data) throw new Error('a page was shown before the session was known');
  return data;
}

/** Undefined where one may; otherwise why not, for the button. */
export function useWhyNot(role: Role): string | undefined {
  const { role: mine } = useSession();
  if (ROLES.indexOf(mine) >= ROLES.indexOf(role)) return undefined;
  return `You are signed in as ${mine}; this needs the role ${role}.`;
}
