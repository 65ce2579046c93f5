import { keepPreviousData, QueryClient, queryOptions, useMutation, useQuery } from '@tanstack/react-query';
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

/** Everything that is read, by its key; what belongs to a run begins with `['run', id]`. */

export const client = new QueryClient({
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

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }) => get<Session>('/session', {}, signal),
  staleTime: 60_000,
});

export const runsQuery = (filter: Query) =>
  queryOptions({
    queryKey: ['runs', filter],
    queryFn: ({ signal }) => get<Runs>('/runs', filter, signal),
    placeholderData: keepPreviousData,
  });

export const runQuery = (id: string) =>
  queryOptions({
    queryKey: ['run', id],
    queryFn: ({ signal }) => get<RunDetail>(`/runs/${encodeURIComponent(id)}`, {}, signal),
  });

export const storyQuery = (id: string, row: number) =>
  queryOptions({
    queryKey: ['run', id, 'story', row],
    queryFn: ({ signal }) => get<Story>(`/runs/${encodeURIComponent(id)}/rows/${row}`, {}, signal),
  });

export const faultsQuery = (id: string) =>
  queryOptions({
    queryKey: ['run', id, 'faults'],
    queryFn: ({ signal }) => get<FaultGroup[]>(`/runs/${encodeURIComponent(id)}/faults`, {}, signal),
  });

export const planQuery = (id: string) =>
  queryOptions({
    queryKey: ['run', id, 'plan'],
    queryFn: ({ signal }) => get<Plan>(`/runs/${encodeURIComponent(id)}/plan`, {}, signal),
  });

export const resourcesQuery = queryOptions({
  queryKey: ['resources'],
  queryFn: ({ signal }) => get<{ resources: Resource[] }>('/resources', {}, signal),
  staleTime: 300_000,
});

export const namesQuery = (of: string, q: string) =>
  queryOptions({
    queryKey: ['names', of, q],
    queryFn: ({ signal }) => get<Names>('/names', { of, q }, signal),
    placeholderData: keepPreviousData,
  });

export const jobsQuery = queryOptions({
  queryKey: ['jobs'],
  queryFn: ({ signal }) => get<{ jobs: Job[] }>('/jobs', {}, signal),
});

export const jobQuery = (name: string) =>
  queryOptions({
    queryKey: ['job', name],
    queryFn: ({ signal }) => get<JobFile>(`/jobs/${encodeURIComponent(name)}`, {}, signal),
  });

export const nightsQuery = (job: string) =>
  queryOptions({
    queryKey: ['nights', job],
    queryFn: ({ signal }) => get<{ nights: Night[] }>(`/nights/${encodeURIComponent(job)}`, { limit: 90 }, signal),
  });

export const queueQuery = queryOptions({
  queryKey: ['queue'],
  queryFn: ({ signal }) => get<Queue>('/queue', {}, signal),
});

export const overviewQuery = queryOptions({
  queryKey: ['overview'],
  queryFn: ({ signal }) =>
    get<Overview>('/overview', { timezone: Intl.DateTimeFormat().resolvedOptions().timeZone }, signal),
});

/** A change that is made once, however often the button is pressed before the page knows. */
export function useOnce<T>(change: { readonly mutationFn: () => Promise<T>; readonly onSuccess?: (made: T) => void }) {
  const begun = useRef(false);
  const made = useMutation({
    ...change,
    onSettled: () => {
      begun.current = false;
    },
  });
  return {
    ...made,
    mutate: () => {
      if (begun.current) return;
      begun.current = true;
      made.mutate();
    },
  };
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
