import { queryOptions, useQueries, useQueryClient } from '@tanstack/react-query';
import type { Row, Rows } from '../../api/schema.js';
import { get, type Query } from './client.js';

/** The rows of a run by their place under a filter: only pages that are looked at are held. */

const PAGE_ROWS = 100;
const HELD_MS = 60_000;
/** A page that is scrolled past within it is not asked for. */
const REST_MS = 60;
const NONE: readonly string[] = [];
/** While the run is at work. */
const FRESH_MS = 1_000;

interface Page {
  readonly rows: readonly Row[];
  readonly headings: readonly string[];
  readonly total: number;
  /** Counting goes on. */
  readonly atLeast: boolean;
}

export interface RowsAsked {
  readonly run: string;
  readonly filter: Query;
  /** With the cells of the file. */
  readonly cells: boolean;
  /** The run is at work: what was read grows old. */
  readonly live: boolean;
}

function pageQuery({ run, filter, cells, live }: RowsAsked, page: number, restMs = 0) {
  return queryOptions({
    queryKey: ['runs', run, 'rows', { ...filter, cells }, page],
    async queryFn({ signal }): Promise<Page> {
      if (restMs > 0) await new Promise((resolve) => setTimeout(resolve, restMs));
      const rows: Row[] = [];
      for (;;) {
        signal.throwIfAborted();
        // A page of very long cells comes in pieces.
        const part = await get<Rows>(
          `/runs/${encodeURIComponent(run)}/rows`,
          { ...filter, cells, offset: page * PAGE_ROWS + rows.length, limit: PAGE_ROWS - rows.length },
          signal,
        );
        rows.push(...part.rows);
        if (rows.length >= PAGE_ROWS || part.rows.length === 0 || part.next === null)
          return { rows, headings: part.headings ?? [], total: part.total, atLeast: part.at_least ?? false };
      }
    },
    staleTime: ({ state }) => (live || state.data?.atLeast ? FRESH_MS : Number.POSITIVE_INFINITY),
    refetchInterval: ({ state }) => (live || state.data?.atLeast ? FRESH_MS * 2 : false),
    gcTime: HELD_MS,
  });
}

export interface RowsInView {
  /** Undefined while nothing is known. */
  readonly total: number | undefined;
  /** There may be more than `total`: they are still being counted. */
  readonly atLeast: boolean;
  readonly headings: readonly string[];
  readonly error: unknown;
  /** Undefined while it is on its way. */
  at(place: number): Row | undefined;
  /** Reads what is not there yet. */
  read(first: number, last: number): Promise<Row[]>;
}

const pageOf = (place: number) => Math.floor(place / PAGE_ROWS);

/** `places`: those in sight. */
export function useRows(asked: RowsAsked, places: readonly number[]): RowsInView {
  const queries = useQueryClient();
  // The first page says how many there are, and is there at once; others are asked for where the list comes to rest.
  const pages = [...new Set([0, ...places.map(pageOf)])];
  const results = useQueries({ queries: pages.map((page) => pageQuery(asked, page, page === 0 ? 0 : REST_MS)) });
  const held = new Map(pages.map((page, at) => [page, results[at]?.data]));
  const top = held.get(0);
  return {
    total: top?.total,
    atLeast: top?.atLeast ?? false,
    headings: top?.headings ?? NONE,
    error: results.find(({ error }) => error)?.error,
    at(place) {
      const page = pageOf(place);
      const data = held.has(page) ? held.get(page) : queries.getQueryData<Page>(pageQuery(asked, page).queryKey);
      return data?.rows[place % PAGE_ROWS];
    },
    async read(from, to) {
      const start = pageOf(from);
      const rows: Row[] = [];
      for (let page = start; page <= pageOf(to); page++)
        rows.push(...(await queries.fetchQuery(pageQuery(asked, page))).rows);
      return rows.slice(from - start * PAGE_ROWS, to - start * PAGE_ROWS + 1);
    },
  };
}
