import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  checkCron,
  checkSchedule,
  lastDue,
  nextDue,
  type Schedule,
  type Slot,
  slotOf,
  slotText,
} from '../../../src/runs/schedule/slots.js';
import { FULL } from '../../support/full.js';
import { changes, clockText } from './zones.js';

const HOUR = 3_600_000;
const berlin = (cron: string) => ({ cron, timezone: 'Europe/Berlin' });
const at = (text: string) => Date.parse(text);
const shown = (slot: Slot | undefined) => slot && [slot.key, new Date(slot.dueAt).toISOString().replace('.000', '')];

describe('slots of a schedule', () => {
  it('are local dates and times of day', () => {
    expect(shown(nextDue(berlin('0 2 * * *'), at('2026-07-01T12:00:00Z')))).toEqual([
      '2026-07-02T0200',
      '2026-07-02T00:00:00Z',
    ]);
    expect(shown(lastDue(berlin('0 2 * * *'), at('2026-01-10T00:59:59.999Z')))).toEqual([
      '2026-01-09T0200',
      '2026-01-09T01:00:00Z',
    ]);
    expect(lastDue(berlin('0 2 * * *'), at('2026-01-10T01:00:00Z'))?.key).toBe('2026-01-10T0200');
    expect(nextDue(berlin('0 2 * * *'), at('2026-01-10T01:00:00Z'))?.key).toBe('2026-01-11T0200');
  });

  it('that the clock leaves out are due right after the gap', () => {
    const [before, gap] = [at('2026-03-29T00:59:59Z'), '2026-03-29T01:00:00Z'];
    expect(shown(nextDue(berlin('30 2 * * *'), before))).toEqual(['2026-03-29T0230', gap]);
    expect(lastDue(berlin('30 2 * * *'), at(gap))?.key).toBe('2026-03-29T0230');
    expect(nextDue(berlin('30 2 * * *'), at(gap))?.key).toBe('2026-03-30T0230');
  });

  it('that come twice are due the first time only', () => {
    const first = '2026-10-25T00:30:00Z';
    expect(shown(nextDue(berlin('30 2 * * *'), at('2026-10-25T00:00:00Z')))).toEqual(['2026-10-25T0230', first]);
    expect(nextDue(berlin('30 2 * * *'), at(first))?.key).toBe('2026-10-26T0230');
    // The second 02:15: 02:30 has been.
    expect(lastDue(berlin('30 2 * * *'), at('2026-10-25T01:15:00Z'))?.key).toBe('2026-10-25T0230');
    expect(nextDue(berlin('*/30 * * * *'), at('2026-10-25T01:15:00Z'))?.key).toBe('2026-10-25T0300');
  });

  it('on a date that a zone left out are due when the next one begins', () => {
    const apia = { cron: '0 2 * * *', timezone: 'Pacific/Apia' };
    const friday = nextDue(apia, at('2011-12-30T00:00:00Z'));
    expect(shown(friday)).toEqual(['2011-12-30T0200', '2011-12-30T10:00:00Z']);
    expect(nextDue(apia, friday?.dueAt ?? 0)?.key).toBe('2011-12-31T0200');
  });

  it('can be told from their keys', () => {
    expect(slotOf('2026-03-29T0230', 'Europe/Berlin')?.dueAt).toBe(at('2026-03-29T01:00:00Z'));
    expect(slotOf('2026-07-01T023015', 'Europe/Berlin')).toBeUndefined();
    expect(slotOf('2026-07-01', 'Europe/Berlin')).toBeUndefined();
    expect(slotOf('2026-99-01T0230', 'Europe/Berlin')).toBeUndefined();
    expect(slotText('2026-03-29T0230')).toBe('2026-03-29 02:30');
  });

  it.each([
    ['0 2 * * MON-FRI', '2026-02-28', '2026-03-02T0200'],
    ['0 2 l * *', '2026-02-10', '2026-02-28T0200'],
    ['0 2 * * 5L', '2026-02-10', '2026-02-27T0200'],
    ['0 2 * * 1#1', '2026-02-10', '2026-03-02T0200'],
    ['0 2 1 jan,JUL *', '2026-02-10', '2026-07-01T0200'],
    ['0 2 13 * 5', '2026-02-14', '2026-02-20T0200'],
    ['0 2 29 2 *', '2026-02-14', '2028-02-29T0200'],
    ['0 2 29 2 *', '2096-03-01', '2104-02-29T0200'],
    ['0 2 * * 7', '2026-02-14', '2026-02-15T0200'],
  ])('of %s after %s: %s', (cron, after, key) => {
    expect(nextDue({ cron, timezone: 'UTC' }, at(`${after}T12:00:00Z`))?.key).toBe(key);
  });
});

describe('one run per calendar date, in every zone and at every change of its clock', () => {
  const all = changes(1985, 2037);
  /** One in so many of them, in each commit others. */
  const some = (share: number) => all.filter((_, i) => i % share === Number(process.env['TEST_SEED']) % share);

  it('knows changes of many kinds', () => {
    expect(all.length).toBeGreaterThan(500);
    const sizes = new Set(all.map(({ from, to }) => Math.abs(to - from) / HOUR));
    expect([...sizes]).toEqual(expect.arrayContaining([0.5, 1, 2, 24]));
  });

  it('for a daily schedule at 02:30, and at a time that the change leaves out or repeats', () => {
    for (const change of some(FULL ? 1 : 12)) {
      const { zone, from, to } = change;
      const middle = change.at + (from + to) / 2;
      const [hour, minute] = [new Date(middle).getUTCHours(), new Date(middle).getUTCMinutes()];
      for (const cron of ['30 2 * * *', `${minute} ${hour} * * *`]) {
        const slots = between({ cron, timezone: zone }, change.at - 60 * HOUR, change.at + 60 * HOUR);
        const dates = slots.map(({ key }) => Date.parse(key.slice(0, 10)) / 86_400_000);
        const label = `${cron} ${zone} ${new Date(change.at).toISOString()}`;
        expect(dates, label).toEqual(dates.map((_, i) => (dates[0] ?? 0) + i));
        expect(dates.length, label).toBeGreaterThanOrEqual(4);
        for (const { key, dueAt } of slots) {
          const text = `${slotText(key)}:00`;
          expect(clockText(dueAt, zone) >= text && clockText(dueAt - 1000, zone) < text, `${label} ${key}`).toBe(true);
        }
      }
    }
  });

  it('and the last slot never goes back while time goes on', () => {
    for (const change of some(FULL ? 8 : 96)) {
      const schedule = { cron: '*/20 * * * *', timezone: change.zone };
      let last = lastDue(schedule, change.at - 4 * HOUR)?.key ?? '';
      for (let now = change.at - 4 * HOUR; now <= change.at + 4 * HOUR; now += HOUR / 6) {
        const slot = lastDue(schedule, now);
        expect(slot && slot.key >= last && slot.dueAt <= now, `${change.zone} ${new Date(now).toISOString()}`).toBe(
          true,
        );
        expect(nextDue(schedule, now)?.dueAt ?? 0).toBeGreaterThan(now);
        last = slot?.key ?? '';
      }
    }
  });

  it('as a reading of the clock minute by minute finds', () => {
    const minute = fc.uniqueArray(fc.integer({ min: 0, max: 59 }), { minLength: 1, maxLength: 4 });
    const hours = fc.uniqueArray(fc.integer({ min: 0, max: 23 }), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(fc.integer({ min: 0, max: all.length - 1 }), minute, hours, (index, minutes, hoursDue) => {
        const change = all[index];
        // Offsets with seconds would need a reading by the second.
        if (!change || change.from % 60_000 !== 0 || change.to % 60_000 !== 0 || change.at % 60_000 !== 0) return;
        const [start, end] = [change.at - 6 * HOUR, change.at + 6 * HOUR];
        const due = new Map<number, string[]>();
        let highest = '';
        for (let now = start - 24 * HOUR; now <= end; now += 60_000) {
          const text = clockText(now, change.zone);
          if (text <= highest) continue;
          for (const wall of minutesBetween(highest || text, text)) {
            const date = new Date(wall);
            if (now <= start || !minutes.includes(date.getUTCMinutes()) || !hoursDue.includes(date.getUTCHours()))
              continue;
            const key = date.toISOString().slice(0, 16).replace(/:/, '');
            due.set(now, [...(due.get(now) ?? []), key]);
          }
          highest = text;
        }
        const schedule = { cron: `${minutes.join(',')} ${hoursDue.join(',')} * * *`, timezone: change.zone };
        expect(between(schedule, start, end)).toEqual([...due].map(([dueAt, [key]]) => ({ key, dueAt })));
        for (const [now, keys] of due) expect(lastDue(schedule, now)?.key).toBe(keys.at(-1));
      }),
      { numRuns: FULL ? 300 : 30 },
    );
  });
});

const unread = (cron: string) => [cron, 'write five fields: minute (0 to 59)'] as const;

describe('a schedule that cannot be used', () => {
  it.each<readonly [string, string]>([
    ...['0 2 30 2 *', '0 2 31 4,6 *'].map(unread),
    ...['0 2 * *', '30 0 2 * * *', '@daily', '0 25 * * *', '0 2 * * 1#1,3#1', 'H 2 * * *', '0 2 * jan,H *'].map(unread),
    ...['0 2 * * fri-mon', '0 2,, * * *', '*/0 2 * * *'].map(unread),
  ])('%s: %s', (cron, reason) => {
    expect(checkCron(cron)).toContain(reason);
    expect(() => nextDue({ cron, timezone: 'UTC' }, 0)).toThrow(reason);
  });

  it('names what is wrong', () => {
    expect(checkSchedule(berlin('0 2 * * *'))).toBeUndefined();
    expect(checkSchedule(berlin('x'))).toMatch(/^the cron expression "x" cannot be used: /);
    expect(checkSchedule({ cron: '0 2 * * *', timezone: 'Europe/Berln' })).toBe(
      'the time zone "Europe/Berln" is not known, did you mean `Europe/Berlin`?',
    );
    expect(() => lastDue({ cron: '0 2 * * *', timezone: 'Mars/Base' }, 0)).toThrow(
      /time zone "Mars\/Base" is not known/,
    );
  });
});

/** Slots that fall due after `start` and up to `end`; of several that are due at once, right after a gap, the first. */
function between(schedule: Schedule, start: number, end: number): Slot[] {
  const slots: Slot[] = [];
  for (let slot = nextDue(schedule, start); slot && slot.dueAt <= end; slot = nextDue(schedule, slot.dueAt)) {
    slots.push(slot);
  }
  return slots;
}

/** All whole minutes after one clock text and up to another. */
function minutesBetween(after: string, to: string): number[] {
  const [first, last] = [Date.parse(`${after.replace(' ', 'T')}Z`), Date.parse(`${to.replace(' ', 'T')}Z`)];
  const walls: number[] = [];
  for (let wall = first + 60_000; wall <= last; wall += 60_000) walls.push(wall);
  return walls;
}
