import type { Clock } from '../../src/service/clock.js';

/** Time that moves only when everything due has run. */
export function simClock(): Clock & { run(untilMs: number): Promise<void>; readonly waiting: number } {
  let now = 0;
  let serial = 0;
  const due: { at: number; serial: number; run: () => void }[] = [];
  return {
    now: () => now,
    /** Timers that have not run. */
    get waiting() {
      return due.length;
    },
    wall: () => Date.parse('2024-05-01T00:00:00Z') + now,
    after(ms, run) {
      const entry = { at: now + ms, serial: serial++, run };
      due.push(entry);
      return () => {
        const at = due.indexOf(entry);
        if (at >= 0) due.splice(at, 1);
      };
    },
    async run(untilMs) {
      for (;;) {
        // Promises settle between two moments.
        for (let i = 0; i < 12; i++) await Promise.resolve();
        due.sort((a, b) => a.at - b.at || a.serial - b.serial);
        const next = due[0];
        if (!next || next.at > untilMs) break;
        due.shift();
        now = Math.max(now, next.at);
        next.run();
      }
      now = untilMs;
    },
  };
}
