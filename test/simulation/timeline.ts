/** Who an event belongs to: a simulated process, or the world around all of them. */
export type Owner = string;

export const WORLD: Owner = 'world';

/** Everything that waits has ended, and nothing is left that could ever wake it. */
export class Stuck extends Error {}

interface Event {
  readonly at: number;
  readonly order: number;
  readonly owner: Owner;
  readonly run: () => void;
  /** Keeps nothing waiting: a timer that was unreferenced. */
  background: boolean;
  cancelled: boolean;
}

/** An event that was put into the timeline. */
export interface Handle {
  cancel(): void;
  /** Whether it alone keeps the simulation going. */
  background(on: boolean): void;
}

/**
 * The one queue of everything that happens in a simulated world: timers, steps of the disk, requests and answers. Events run
 * one after another in the order of their moments; between two of them every promise that was settled has been followed
 * to its end. What an event causes belongs to the same process, so a process is killed by dropping its events.
 */
export interface Timeline {
  /** Milliseconds since the simulation began. */
  readonly now: number;
  /** Whose event runs at this moment. */
  readonly owner: Owner;
  /** Events so far. */
  readonly events: number;
  /** `owner`: default, the present one. */
  after(ms: number, run: () => void, owner?: Owner): Handle;
  /** The process does nothing any more, in the middle of whatever it did. */
  kill(owner: Owner): void;
  /** Called before each event; the one place where processes are killed. An event of a process killed there is not run. */
  onEvent(look: ((owner: Owner) => void) | undefined): void;
  /** Lets time pass until the condition holds. Throws `Stuck` where it never will, or not before `until`. */
  drive(done: () => boolean, until: number): Promise<void>;
}

/** No scenario of some hundred rows comes near. */
const MOST_EVENTS = 1_500_000;

/** Taken before anybody replaces it: when it calls back, no promise is left to be followed. */
const breathe = setImmediate;

export function openTimeline(): Timeline {
  const heap = eventHeap();
  /** What others do for them afterwards reaches nobody. */
  const dead = new Set<Owner>();
  let now = 0;
  let owner = WORLD;
  let events = 0;
  let order = 0;
  let foreground = 0;
  let look: ((owner: Owner) => void) | undefined;

  const forget = (event: Event): void => {
    if (event.cancelled) return;
    event.cancelled = true;
    if (!event.background) foreground--;
  };

  return {
    get now() {
      return now;
    },
    get owner() {
      return owner;
    },
    get events() {
      return events;
    },
    after(ms, run, of = owner) {
      const delay = Number.isFinite(ms) ? Math.max(0, ms) : 0;
      const event: Event = { at: now + delay, order: order++, owner: of, run, background: false, cancelled: false };
      if (dead.has(of)) event.cancelled = true;
      else {
        heap.put(event);
        foreground++;
      }
      return {
        cancel: () => forget(event),
        background(on) {
          if (event.cancelled || event.background === on) return;
          event.background = on;
          foreground += on ? -1 : 1;
        },
      };
    },
    kill(of) {
      dead.add(of);
      heap.drop((event) => event.owner === of, forget);
    },
    onEvent(given) {
      look = given;
    },
    async drive(done, until) {
      for (;;) {
        await new Promise<void>((resolve) => breathe(resolve));
        if (done()) return;
        const event = heap.take();
        if (event === undefined || (foreground === 0 && event.background)) {
          throw new Stuck(
            `everybody waits, and nothing is left to happen (after ${Math.round(now)} ms; ${process.getActiveResourcesInfo().join(', ')})`,
          );
        }
        if (event.cancelled) continue;
        if (event.at > until) throw new Stuck(`still at work after ${Math.round(now / 1000)} s`);
        now = Math.max(now, event.at);
        owner = event.owner;
        look?.(owner);
        // Whoever looks may kill its process.
        if (dead.has(event.owner)) forget(event);
        if (event.cancelled) continue;
        events++;
        if (events > MOST_EVENTS) throw new Stuck(`still at work after ${events} events`);
        forget(event);
        event.run();
      }
    },
  };
}

function eventHeap() {
  let items: Event[] = [];
  const before = (a: Event, b: Event) => a.at < b.at || (a.at === b.at && a.order < b.order);

  function sink(index: number): void {
    const item = items[index] as Event;
    for (let at = index; ; ) {
      let child = 2 * at + 1;
      const left = items[child];
      if (left === undefined) return;
      const right = items[child + 1];
      if (right !== undefined && before(right, left)) child++;
      const least = items[child] as Event;
      if (!before(least, item)) return;
      items[at] = least;
      items[child] = item;
      at = child;
    }
  }

  return {
    put(event: Event): void {
      let at = items.push(event) - 1;
      while (at > 0) {
        const above = (at - 1) >> 1;
        const parent = items[above] as Event;
        if (!before(event, parent)) return;
        items[at] = parent;
        items[above] = event;
        at = above;
      }
    },
    take(): Event | undefined {
      const first = items[0];
      const last = items.pop();
      if (first !== undefined && last !== undefined && items.length > 0) {
        items[0] = last;
        sink(0);
      }
      return first;
    },
    drop(which: (event: Event) => boolean, gone: (event: Event) => void): void {
      const kept: Event[] = [];
      for (const event of items) {
        if (which(event)) gone(event);
        else if (!event.cancelled) kept.push(event);
      }
      items = kept;
      for (let at = (items.length >> 1) - 1; at >= 0; at--) sink(at);
    },
  };
}

/** Mulberry32: 0 ≤ x < 1, the same row for the same seed. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
