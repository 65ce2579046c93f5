import { expect, it } from 'vitest';
import { scheduleWords } from '../../src/console/jobs/schedule.js';

it.each([
  ['0 2 * * *', 'every day at 02:00'],
  ['30 6,18 * * *', 'every day at 06:30 and 18:30'],
  ['0 2 * * 1-5', 'Monday to Friday at 02:00'],
  ['0 2 * * MON,wed,7', 'Monday, Wednesday and Sunday at 02:00'],
  ['15 7 1,15 * *', 'on day 1 and 15 of each month at 07:15'],
  ['*/10 * * * *', 'every 10 minutes'],
  ['5 * * * *', 'every hour, 5 minutes past'],
  ['0 2 29 2 *', 'as 0 2 29 2 * says'],
  ['0 2 1 * 1', 'as 0 2 1 * 1 says'],
  ['0 0 2 * * *', 'as 0 0 2 * * * says'],
])('%s is %s', (cron, words) => expect(scheduleWords(cron)).toBe(words));
