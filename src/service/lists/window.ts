/** The page wanted now, and up to which page (downwards or upwards) the walk means to go on from there. */
export interface Step {
  readonly page: number;
  readonly until: number;
  /** By the service's count there is nothing on this page. */
  readonly pastEnd?: boolean;
}

/** Pages that were answered and wait for an earlier one: at most so many times the requests in flight. */
const WAITING = 4;

/**
 * Pages of a walk, in the order of its steps. What lies ahead on the way is asked for in the meantime, with `most()`
 * requests in flight: one is in flight until `read` says that it was answered, or ends. What a walk that turns no longer
 * wants is thrown away, never used later. A page that failed rejects when its turn has come, and nothing further is asked
 * for.
 */
export function openWindow<Page>(
  read: (page: number, pastEnd: boolean, answered: () => void) => Promise<Page>,
  most: () => number,
): (step: Step) => Promise<Page> {
  const ahead = new Map<number, Promise<Page>>();
  let inFlight = 0;
  let failed = false;
  let way: Step = { page: 1, until: 1 };
  /** The page to be asked for next. */
  let next = 1;

  const onTheWay = (page: number): boolean =>
    page >= Math.min(way.page, way.until) && page <= Math.max(way.page, way.until);

  function ask(page: number): void {
    let waiting = true;
    inFlight++;
    const answered = (): void => {
      if (waiting) inFlight--;
      waiting = false;
    };
    const answer = read(page, way.pastEnd === true, () => {
      answered();
      askAhead();
    });
    ahead.set(page, answer);
    answer.then(
      () => {
        answered();
        askAhead();
      },
      () => {
        answered();
        failed = true;
      },
    );
  }

  function askAhead(): void {
    const limit = Math.max(1, most());
    const by = way.until < way.page ? -1 : 1;
    while (!failed && onTheWay(next) && inFlight < limit && ahead.size < limit * WAITING) {
      const page = next;
      next += by;
      ask(page);
    }
  }

  return (step) => {
    way = step;
    for (const page of ahead.keys()) if (!onTheWay(page)) ahead.delete(page);
    if (!ahead.has(step.page)) {
      ahead.clear();
      ask(step.page);
      next = step.page + (step.until < step.page ? -1 : 1);
    }
    const answer = ahead.get(step.page) as Promise<Page>;
    ahead.delete(step.page);
    askAhead();
    return answer;
  };
}
