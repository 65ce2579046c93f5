import { queryOptions, useQueries, useQueryClient } from '@tanstack/react-query';
import type { Row, Rows } from '../../api/schema.js';
import { get, type Query } from './client.js';

/** The rows of a run by their place under a filter: only pages that are looked at are held. */

const PAGE_ROWS = 100;
const HELD_MS = 60_000;
/** While the run is at work. */
const FRESH_MS = 1_000;

/** Always the same, as those that are known are. */
const NO_HEADINGS: readonly string[] = [];

interface Page {
  readonly rows: readonly Row[];
  readonly headings: readonly string[];
  readonly total: number;
}

export interface RowsAsked {
  readonly run: string;
  readonly filter: Query;
  /** With the cells of the file. */
  readonly cells: boolean;
  /** The run is at work: what was read grows old. */
  readonly live: boolean;
}

function pageQuery({ run, filter, cells, live }: RowsAsked, page: number) {
  return queryOptions({
    queryKey: ['runs', run, 'rows', { ...filter, cells }, page],
    async queryFn({ signal }): Promise<Page> {
      const rows: Row[] = [];
      for (;;) {
        // A page of very long cells comes in pieces.
        const part = await get<Rows>(
          `/runs/${encodeURIComponent(run)}/rows`,
          { ...filter, cells, offset: page * PAGE_ROWS + rows.length, limit: PAGE_ROWS - rows.length },
          signal,
        );
        rows.push(...part.rows);
        if (rows.length >= PAGE_ROWS || part.rows.length === 0 || part.next === null)
          return { rows, headings: part.headings ?? [], total: part.total };
      }
    },
    staleTime: live ? FRESH_MS : Number.POSITIVE_INFINITY,
    refetchInterval: live ? FRESH_MS * 2 : false,
    gcTime: HELD_MS,
  });
}

export interface RowsInView {
  /** Undefined while nothing is known. */
  readonly total: number | undefined;
  readonly headings: readonly string[];
  readonly error: unknown;
  /** Undefined while it is on its way. */
  at(place: number): Row | undefined;
  /** Reads what is not there yet. */
  read(first: number, last: number): Promise<Row[]>;
}

/** `first` and `last`: places in sight. */
export function useRows(asked: RowsAsked, first: number, last: number): RowsInView {
  const queries = useQueryClient();
  const pages = new Set([0]);
  for (let page = Math.floor(first / PAGE_ROWS); page <= Math.floor(last / PAGE_ROWS); page++) pages.add(page);
  const results = useQueries({ queries: [...pages].map((page) => pageQuery(asked, page)) });
  const top = results[0]?.data;
  return {
    total: top?.total,
    headings: top?.headings ?? NO_HEADINGS,
    error: results.find(({ error }) => error)?.error,
    at(place) {
      const { queryKey } = pageQuery(asked, Math.floor(place / PAGE_ROWS));
      return queries.getQueryData<Page>(queryKey)?.rows[place % PAGE_ROWS];
    },
    async read(from, to) {
      const start = Math.floor(from / PAGE_ROWS);
      const rows: Row[] = [];
      for (let page = start; page <= Math.floor(to / PAGE_ROWS); page++)
        rows.push(...(await queries.fetchQuery(pageQuery(asked, page))).rows);
      return rows.slice(from - start * PAGE_ROWS, to - start * PAGE_ROWS + 1);
    },
  };
}
