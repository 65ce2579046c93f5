import { test } from 'vitest';
import { learnRate } from '../../src/service/rate.js';
import { wait } from '../../src/service/clock.js';
import { openPacer } from '../../src/service/pacing.js';
import { seeded, simClock } from './sim-clock.js';
test('x', async () => {
  for (const lat of [200]) {
  const clock = simClock(); const stop = new AbortController();
  const r = learnRate as unknown; void r;
  const pacer = openPacer({ maxInFlight: 128, clock, random: seeded(1), signal: stop.signal }) as any;
  const limitAt = (now: number): number => (now < 60_000 ? 50 : 5);
  let tokens = 5, filledAt = 0, ok = 0, bad = 0;
  const allows = () => { const now = clock.now(); const p = limitAt(now); tokens = Math.min(Math.max(1, p / 10), tokens + ((now - filledAt) / 1000) * p); filledAt = now; if (tokens < 1) return false; tokens--; return true; };
  const sender = async () => { for (let rep = 0; ; ) { const g = pacer.enter(rep > 0); if (g !== true && !(await g)) return; const e = clock.now(); await wait(clock, lat / 2); const a = allows(); if (a) ok++; else bad++; await wait(clock, lat / 2); pacer.leave(a ? 'fine' : 'throttled', e); if (a) rep = 0; else await wait(clock, pacer.backoff(++rep)); } };
  for (let i = 0; i < 64; i++) void sender();
  for (let t = 0; t < 170_000; t += 2_000) { await clock.run(t); console.log(lat, t, 'ok', ok, 'bad', bad, 'rate', pacer.rate?.toFixed(2), 'limit', pacer.limit); ok = bad = 0; }
  stop.abort();
  }
});
