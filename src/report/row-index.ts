import { OUTCOMES, type OutcomeKind } from '../model/outcome.js';

/** What is known of a row: its outcome, or that only an intent stands in the journal, or that nothing does. */
export type RowState = OutcomeKind | 'open' | 'none';

/** Where the row's last line stands in the file; length 0 where no line speaks of it. */
export interface RowPlace {
  readonly row: number;
  readonly state: RowState;
  readonly offset: number;
  readonly length: number;
}

/**
 * Row number → place in a file, at 13 bytes a row, in pages so that neither growth nor gaps in the numbers cost
 * memory. Rows come out in ascending order, however they went in.
 */
export interface RowIndex {
  get(row: number): RowPlace;
  set(row: number, state: RowState, offset: number, length: number): void;
  /** Rows that are not `none`, ascending, in batches. */
  batches(size: number): Generator<readonly RowPlace[]>;
  readonly size: number;
}

const PAGE = 4096;
const OPEN = OUTCOMES.length + 1;

interface IndexPage {
  readonly states: Uint8Array;
  readonly offsets: Float64Array;
  readonly lengths: Uint32Array;
}

export function createRowIndex(): RowIndex {
  const pages = new Map<number, IndexPage>();
  let size = 0;

  const place = (row: number, page: IndexPage, at: number): RowPlace => ({
    row,
    state: stateOf(page.states[at] ?? 0),
    offset: page.offsets[at] ?? 0,
    length: page.lengths[at] ?? 0,
  });

  return {
    get(row) {
      const page = pages.get(Math.floor(row / PAGE));
      return page ? place(row, page, row % PAGE) : { row, state: 'none', offset: 0, length: 0 };
    },
    set(row, state, offset, length) {
      if (!Number.isSafeInteger(row) || row < 1) throw new RangeError(`not a row number: ${row}`);
      const number = Math.floor(row / PAGE);
      let page = pages.get(number);
      if (!page) {
        page = {
          states: new Uint8Array(PAGE),
          offsets: new Float64Array(PAGE),
          lengths: new Uint32Array(PAGE),
        };
        pages.set(number, page);
      }
      const at = row % PAGE;
      if (page.states[at] === 0) size++;
      page.states[at] = state === 'open' ? OPEN : state === 'none' ? 0 : OUTCOMES.indexOf(state) + 1;
      page.offsets[at] = offset;
      page.lengths[at] = length;
    },
    *batches(wanted) {
      let batch: RowPlace[] = [];
      for (const number of [...pages.keys()].sort((a, b) => a - b)) {
        const page = pages.get(number) as IndexPage;
        for (let at = 0; at < PAGE; at++) {
          if (page.states[at] === 0) continue;
          batch.push(place(number * PAGE + at, page, at));
          if (batch.length === wanted) {
            yield batch;
            batch = [];
          }
        }
      }
      if (batch.length) yield batch;
    },
    get size() {
      return size;
    },
  };
}

function stateOf(code: number): RowState {
  return code === 0 ? 'none' : code === OPEN ? 'open' : (OUTCOMES[code - 1] ?? 'none');
}
