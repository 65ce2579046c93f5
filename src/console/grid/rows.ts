import { queryOptions, useQueries } from '@tanstack/react-query';
import type { Row, Rows } from '../../api/schema.js';
import { get, type Query } from '../app/client.js';
import { client, pause } from '../app/queries.js';

/** The rows of a run by their place under a filter: only pages that are looked at are held. */

const PAGE_ROWS = 100;
const CACHE_MS = 60_000;
/** A page that is scrolled past within it is not asked for. */
const SETTLE_MS = 60;
const NO_HEADINGS: readonly string[] = [];
/** While the run is at work. */
const FRESH_MS = 1_000;

interface RowsRequest {
  readonly run: string;
  readonly filter: Query;
  readonly cells: boolean;
  /** The run is at work: what was read grows old. */
  readonly live: boolean;
}

function pageQuery({ run, filter, cells, live }: RowsRequest, page: number, restMs = 0) {
  return queryOptions({
    queryKey: ['runs', run, 'rows', { ...filter, cells }, page],
    async queryFn({ signal }): Promise<Rows> {
      if (restMs > 0) await pause(restMs);
      const asked = { ...filter, cells, offset: page * PAGE_ROWS, limit: PAGE_ROWS };
      return get<Rows>(`/runs/${encodeURIComponent(run)}/rows`, asked, signal);
    },
    staleTime: live ? FRESH_MS : Number.POSITIVE_INFINITY,
    refetchInterval: live && FRESH_MS * 2,
    gcTime: CACHE_MS,
  });
}

export type RowsInView = ReturnType<typeof useRows>;

const pageOf = (place: number) => Math.floor(place / PAGE_ROWS);

/** `places`: those in sight. */
export function useRows(asked: RowsRequest, places: readonly number[]) {
  // The first page says how many there are, and is there at once; others are asked for where the list comes to rest.
  const pages = [...new Set([0, ...places.map(pageOf)])];
  const results = useQueries({ queries: pages.map((page) => pageQuery(asked, page, page === 0 ? 0 : SETTLE_MS)) });
  const cached = new Map(pages.map((page, at) => [page, results[at]?.data]));
  const firstPage = cached.get(0);
  return {
    /** Undefined while nothing is known. */
    total: firstPage?.total,
    headings: firstPage?.headings ?? NO_HEADINGS,
    error: results.find(({ error }) => error)?.error,
    /** Undefined while it is on its way. */
    at(place: number): Row | undefined {
      const page = pageOf(place);
      const data = cached.get(page) ?? client.getQueryData<Rows>(pageQuery(asked, page).queryKey);
      return data?.rows[place % PAGE_ROWS];
    },
    /** Reads what is not there yet. */
    async read(from: number, to: number): Promise<Row[]> {
      const start = pageOf(from);
      const rows: Row[] = [];
      for (let page = start; page <= pageOf(to); page++) {
        const { rows: read } = await client.fetchQuery(pageQuery(asked, page));
        rows.push(...read);
      }
      return rows.slice(from - start * PAGE_ROWS, to - start * PAGE_ROWS + 1);
    },
  };
}
