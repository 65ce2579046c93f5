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

/** The lines that have waiters of one kind, in the order of their turns. */
type Round = Map<WaitingLine, Waiter[]>;

/**
 * Repetitions go before fresh requests; among each kind the runs take turns, and within a run the first comes first. So a
 * run with thousands of waiters delays another one by one request at a time.
 */
export function waitingLines(): WaitingLines {
  const again: Round = new Map();
  const fresh: Round = new Map();
  let size = 0;
  let inARow = 0;

  return {
    get size() {
      return size;
    },
    open() {
      const line: WaitingLine = {
        put(waiter, repetition) {
          const round = repetition ? again : fresh;
          const waiters = round.get(line);
          if (waiters) waiters.push(waiter);
          else round.set(line, [waiter]);
          size++;
        },
        dismiss(pass) {
          const waiters = [...(again.get(line) ?? []), ...(fresh.get(line) ?? [])];
          again.delete(line);
          fresh.delete(line);
          size -= waiters.length;
          for (const waiter of waiters) waiter(pass);
        },
      };
      return line;
    },
    next() {
      const repetition = inARow < REPETITIONS_IN_A_ROW ? takeTurn(again) : undefined;
      const waiter = repetition ?? takeTurn(fresh) ?? takeTurn(again);
      inARow = repetition === undefined ? 0 : inARow + 1;
      if (waiter) size--;
      return waiter;
    },
  };
}

/** The first waiter of the line whose turn it is; the line goes to the end of the round. */
function takeTurn(round: Round): Waiter | undefined {
  const [first] = round;
  if (!first) return undefined;
  const [line, waiters] = first;
  const waiter = waiters.shift();
  round.delete(line);
  if (waiters.length > 0) round.set(line, waiters);
  return waiter;
}
