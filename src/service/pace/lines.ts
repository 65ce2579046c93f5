/**
 * How somebody comes out of the wait at the gate: `true` to go, `false` where the run was stopped, `probe` to go as the one
 * who finds out whether the service is back, `away` where the service has been away for longer than the run's patience.
 */
export type Pass = boolean | 'probe' | 'away';

/** Called once. */
export type Waiter = (pass: Pass) => void;

/** Who waits at the gate: one line for each run, each with its repetitions and its fresh requests. */
export interface WaitingLines {
  /** Waiters in all lines together. */
  readonly size: number;
  open(): WaitingLine;
  /** Takes out the waiter whose turn it is. */
  next(): Waiter | undefined;
}

export interface WaitingLine {
  put(waiter: Waiter, repetition: boolean): void;
  /** Sends everybody in this line away. The line can be used again. */
  dismiss(pass: Extract<Pass, false | 'away'>): void;
}

/** So many repetitions in a row, and a fresh request goes, if one waits: a run that only fails must not hold up the others. */
const REPETITIONS_IN_A_ROW = 4;

/**
 * Repetitions go before fresh requests; among each kind the runs take turns, and within a run the first comes first. So a
 * run with thousands of waiters delays another one by one request at a time.
 */
export function waitingLines(): WaitingLines {
  let size = 0;
  let inARow = 0;
  const again = turns();
  const fresh = turns();

  return {
    get size() {
      return size;
    },
    open() {
      const places = [fresh.join(), again.join()] as const;
      return {
        put(waiter, repetition) {
          size++;
          places[repetition ? 1 : 0].put(waiter);
        },
        dismiss(pass) {
          for (const place of places) {
            for (const waiter of place.clear()) {
              size--;
              waiter(pass);
            }
          }
        },
      };
    },
    next() {
      const repetition = inARow < REPETITIONS_IN_A_ROW ? again.take() : undefined;
      const waiter = repetition ?? fresh.take() ?? again.take();
      inARow = repetition === undefined ? 0 : inARow + 1;
      if (waiter) size--;
      return waiter;
    },
  };
}

interface Place {
  readonly line: Queue<Waiter>;
  /** Stands in the round, which holds each place at most once. */
  inRound: boolean;
}

/** One kind of requests: whoever has waiters stands in the round, and goes to its end after each turn. */
function turns() {
  const round = queue<Place>();
  return {
    join() {
      const place: Place = { line: queue<Waiter>(), inRound: false };
      return {
        put(waiter: Waiter): void {
          place.line.put(waiter);
          if (!place.inRound) round.put(place);
          place.inRound = true;
        },
        clear(): Waiter[] {
          const all: Waiter[] = [];
          for (let waiter = place.line.take(); waiter; waiter = place.line.take()) all.push(waiter);
          return all;
        },
      };
    },
    take(): Waiter | undefined {
      for (let place = round.take(); place; place = round.take()) {
        const waiter = place.line.take();
        place.inRound = place.line.size > 0;
        if (place.inRound) round.put(place);
        // A line that was dismissed is still in the round.
        if (waiter) return waiter;
      }
      return undefined;
    },
  };
}

interface Queue<T> {
  readonly size: number;
  put(item: T): void;
  take(): T | undefined;
}

/** First in, first out, in constant time. */
function queue<T>(): Queue<T> {
  let items: (T | undefined)[] = [];
  let head = 0;
  return {
    get size() {
      return items.length - head;
    },
    put(item) {
      items.push(item);
    },
    take() {
      if (head === items.length) return undefined;
      const item = items[head];
      items[head++] = undefined;
      if (head > 1024 && head * 2 > items.length) {
        items = items.slice(head);
        head = 0;
      }
      return item;
    },
  };
}
