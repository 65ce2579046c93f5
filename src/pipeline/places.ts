/** Rows of all parts of a run that are at work at once. */
export interface Places {
  /** Resolves when there is room, in the order of asking. */
  take(): Promise<Place>;
}

export interface Place {
  /** The row waits for what became of its request: another one may go meanwhile, unless many wait in this way. */
  stepAside(): void;
  /** The row has ended. */
  giveBack(): void;
}

/** Rows that stand aside for each place: where every request fails, not all of the file is sent into that. */
const ASIDE = 4;

export function places(count: () => number): Places {
  const waiting: (() => void)[] = [];
  let taken = 0;
  let aside = 0;

  const admit = () => {
    while (taken < count()) {
      const next = waiting.shift();
      if (!next) return;
      taken++;
      next();
    }
  };

  function place(): Place {
    let state: 'held' | 'aside' | 'over' = 'held';
    return {
      stepAside() {
        if (state !== 'held' || aside >= ASIDE * count()) return;
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
  }

  return {
    take: () =>
      new Promise((resolve) => {
        waiting.push(() => resolve(place()));
        admit();
      }),
  };
}
