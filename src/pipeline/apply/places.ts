/** Rows of all parts of a run that are at work at once. */
export interface Places {
  /**
   * Resolves when there is room for so many rows together, in the order of asking; the room is theirs from then on. More
   * rows than there are places wait until nobody is at work.
   */
  room(rows: number): Promise<void>;
  /** The place of one of the rows that there is room for. */
  place(): Place;
}

export interface Place {
  /** The row waits for what became of its request: another one may go meanwhile, unless many wait in this way. */
  stepAside(): void;
  /** The row has ended. */
  giveBack(): void;
}

/** `atWork` rows have a place, and `aside` more may stand aside: both as they are at that moment. */
export function places(pace: { readonly atWork: number; readonly aside: number }): Places {
  const waiting: { readonly rows: number; readonly enter: () => void }[] = [];
  let taken = 0;
  let aside = 0;

  const admit = () => {
    for (let next = waiting[0]; next && (taken === 0 || taken + next.rows <= pace.atWork); next = waiting[0]) {
      waiting.shift();
      taken += next.rows;
      next.enter();
    }
  };

  return {
    room: (rows) =>
      new Promise((enter) => {
        waiting.push({ rows, enter });
        admit();
      }),
    place() {
      let state: 'held' | 'aside' | 'over' = 'held';
      return {
        stepAside() {
          if (state !== 'held' || aside >= pace.aside) return;
          state = 'aside';
          aside++;
          taken--;
          admit();
        },
        giveBack() {
          if (state === 'held') taken--;
          else if (state === 'aside') aside--;
          state = 'over';
          admit();
        },
      };
    },
  };
}
