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
import { useId } from 'react';
import type * as api from '../../api/schema.js';
import { ApiError, get, type Query } from './client.js';

/** Everything that is read. Its key is its path: what belongs to a run begins with `['runs', id]`. */

/** A session ends with its worker, too: then whoever is there signs in again, and finds the page as it was. */
function onError(error: Error): void {
  if (!(error instanceof ApiError) || error.status !== 401) return;
  const session = client.getQueryState(sessionQuery.queryKey);
  if (session?.status === 'success') void client.invalidateQueries({ queryKey: sessionQuery.queryKey });
}

const AGAIN_MS = 5_000;
type Asked = { readonly state: { readonly data: unknown; readonly error: Error | null } };

/**
 * When something is asked for again: each `ms` once it is shown, and what cannot be reached until it can. What is wrong stays as
 * it is, for the page would blink.
 */
export const every =
  (ms: number | false = AGAIN_MS) =>
  ({ state: { data, error } }: Asked) =>
    (data !== undefined && ms) || (error instanceof ApiError && error.isTransient && AGAIN_MS);

export const client: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // The worker may be on this very machine, whatever the browser thinks of the network.
      networkMode: 'always',
      // What is wrong stays wrong; what cannot be reached comes back.
      retry: (failures, error) => error instanceof ApiError && error.isTransient && failures < 3,
      refetchOnWindowFocus: true,
      refetchInterval: every(false),
    },
    mutations: { retry: false, networkMode: 'always' },
  },
});

type MoreOptions = { readonly staleTime?: number; readonly placeholderData?: typeof keepPreviousData };
const readQuery = <T>(path: string, query: Query = {}, more: MoreOptions = {}) =>
  queryOptions({
    queryKey: [...path.slice(1).split('/'), query],
    queryFn: ({ signal }) => get<T>(path, query, signal),
    ...more,
  });
const KEEP_PREVIOUS = { placeholderData: keepPreviousData };
const runPath = (id: string, more = '') => `/runs/${encodeURIComponent(id)}${more}`;

export const sessionQuery = readQuery<api.Session>('/session');
export const runsQuery = (filter: Query) => readQuery<api.Runs>('/runs', filter, KEEP_PREVIOUS);
export const runQuery = (id: string) => readQuery<api.RunDetail>(runPath(id));
export const storyQuery = (id: string, row: number) => readQuery<api.Story>(runPath(id, `/rows/${row}`));
export const faultsQuery = (id: string) => readQuery<api.FaultGroup[]>(runPath(id, '/faults'));
export const planQuery = (id: string) => readQuery<api.Plan>(runPath(id, '/plan'));
export const resourcesQuery = readQuery<{ resources: api.Resource[] }>('/resources', {}, { staleTime: 300_000 });
export const namesQuery = (of: string, q: string) => readQuery<api.Names>('/names', { of, q }, KEEP_PREVIOUS);
export const customFieldsQuery = (resource: string) =>
  readQuery<api.Names>('/names', { of: `${resource}-field`, limit: 200 });
export const jobsQuery = readQuery<{ jobs: api.Job[] }>('/jobs');
export const jobQuery = (name: string) => readQuery<api.JobFile>(`/jobs/${encodeURIComponent(name)}`);
export const nightsQuery = (job: string) =>
  readQuery<{ nights: api.Night[] }>(`/nights/${encodeURIComponent(job)}`, { limit: 90 });
export const queueQuery = readQuery<api.Queue>('/queue');
export const overviewQuery = readQuery<api.Overview>('/overview', {
  timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
});

/** Waits before something is asked for: what is out of date by then is aborted before it is sent. */
export const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** How often a run at work is looked at, and one that may be taken up again. */
const LIVE_POLL_MS = 1_000;
const IDLE_POLL_MS = 5_000;

/** It ended as it should; others may go on. */
export const isComplete = ({ status }: Pick<api.Run, 'status'>) => status === 'succeeded' || status === 'partial';

export const isLive = ({ status }: Pick<api.Run, 'status'>) => status === 'running' || status === 'waiting';

/**
 * A run as it is now. Until another one was read, the one before is shown. `lost`: when it was seen last, where nothing is heard
 * of it any more; the run itself goes on, and is asked for again.
 */
export function useLiveRun(id: string) {
  const { data, error, dataUpdatedAt } = useQuery({
    ...runQuery(id),
    placeholderData: keepPreviousData,
    // It is asked for again soon: that nobody answers is said at once.
    retry: false,
    refetchInterval(query) {
      const { data: now } = query.state;
      return every(now !== undefined && (isLive(now) ? LIVE_POLL_MS : !isComplete(now) && IDLE_POLL_MS))(query);
    },
  });
  const run = data && {
    ...data,
    outcomes: data.progress?.outcomes ?? data.outcomes,
    rows: data.progress?.total ?? data.rows,
  };
  return { run, error, lost: error && run ? new Date(dataUpdatedAt) : undefined };
}

/** A change that is made once, however often its button or its key is pressed before the answer; else as `useMutation`. */
export function useOnce<T, V = void>(change: UseMutationOptions<T, Error, V>) {
  const mutationKey = [useId()];
  const mutation = useMutation({ ...change, mutationKey });
  const mutate = (variables: V) => {
    if (client.isMutating({ mutationKey }) === 0) mutation.mutate(variables);
  };
  return { ...mutation, mutate };
}

/** Each may do what those before it may. */
const ROLES: readonly api.Role[] = ['viewer', 'operator', 'approver'];

/** Who is signed in; the shell shows no page before it is known. */
export function useSession(): api.Session {
  const { data } = useQuery(sessionQuery);
  if (!data) throw new Error('a page was shown before the session was known');
  return data;
}

/** Undefined where one may; otherwise why not, for the button. */
export function useWhyNot(role: api.Role): string | undefined {
  const { role: mine } = useSession();
  if (ROLES.indexOf(mine) >= ROLES.indexOf(role)) return undefined;
  return `You are signed in as ${mine}; this needs the role ${role}.`;
}
