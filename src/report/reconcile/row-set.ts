const PAGE = 1 << 15;

/** Row numbers at a bit each, in pages, so that gaps in the numbers cost no memory. */
export interface RowSet {
  add(row: number): void;
  has(row: number): boolean;
}

export function createRowSet(): RowSet {
  const pages = new Map<number, Uint8Array>();
  return {
    add(row) {
      const number = Math.floor(row / PAGE);
      let page = pages.get(number);
      if (!page) {
        page = new Uint8Array(PAGE / 8);
        pages.set(number, page);
      }
      const at = row % PAGE;
      page[at >> 3] = page[at >> 3]! | (1 << (at & 7));
    },
    has(row) {
      const page = pages.get(Math.floor(row / PAGE));
      const at = row % PAGE;
      return page !== undefined && (page[at >> 3]! & (1 << (at & 7))) !== 0;
    },
  };
}
