import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { redisServer } from '../../support/binaries.js';
import { privateRedis } from '../../support/servers.js';
import { openMailbox } from '../../support/smtp.js';
import { until } from '../../support/until.js';
import { ASSETS, type Crew, openCrew } from '../../support/worker.js';
import { openHook } from '../operations/hook.js';
import { open } from '../store/opened.js';

let crew: Crew;
afterEach(() => crew?.close());

it.skipIf('missing' in (await redisServer()))(
  'a job file names who is told how each file ended, a job of the queue does not',
  async () => {
    const redis = await privateRedis();
    const [hook, mailbox] = await Promise.all([openHook(), openMailbox()]);
    const notify = { email: ['buyer@example.com'], webhook: hook.url };
    crew = await openCrew({
      server: { url: redis.url, home: '', stop: () => redis.stop() },
      jobs: { assets: JSON.stringify({ ...JSON.parse(ASSETS), notify, brakes: { max_invalid: 2 } }) },
      env: { ROWFERRY_SMTP_URL: mailbox.url, ROWFERRY_MAIL_FROM: 'rowferry@example.com' },
    });
    try {
      const worker = await crew.worker('one');
      await crew.drop('march.csv', `Name,Serial\nA,S1\n${'x'.repeat(300)},S2\n`);
      await crew.drop('no sheet.csv', 'Nothing,Fits\n1,2\n');
      await crew.drop('no table.xlsx', 'PK\u0003\u0004junk');
      const store = await open(crew.server);
      const queue = store.queue('rowferry');
      const forged = { job: { ...JSON.parse(ASSETS), notify }, rows: [{ Name: 'B', Serial: 'S3' }] };
      await queue.add('import', forged, { jobId: 'forged' });
      await until(async () => (await queue.getJobState('forged')) === 'failed', { what: 'the refusal' });
      expect((await queue.getJob('forged'))?.failedReason).toContain('`job.notify` stands in a job file only');
      await until(() => hook.bodies.length === 3 && mailbox.mails.length === 3, { what: 'what people are told' });
      await store.close();
      const told = hook.bodies.map(({ event, file, status }) => [event, file, status]);
      expect(told.sort()).toEqual([
        ['ended', 'march.csv', 'partial'],
        ['ended', 'no sheet.csv', 'refused'],
        ['ended', 'no table.xlsx', 'refused'],
      ]);
      const march = hook.bodies.find(({ file }) => file === 'march.csv');
      expect(march).toMatchObject({ job: 'assets', trigger: 'drop', rows: { created: 1, invalid: 1 } });
      expect(await readFile(join(crew.inbox, String(march?.reports), 'report.html'), 'utf8')).toContain('march.csv');
      expect(hook.bodies.find(({ file }) => file === 'no table.xlsx')?.reason).toMatch(/^no table.xlsx: /);
      // Counts and a place, never a value of a row.
      expect(JSON.stringify([hook.bodies, mailbox.mails])).not.toMatch(/xxx|S1|S2/);
      expect(mailbox.mails.map(({ to }) => to)).toEqual(Array(3).fill(['buyer@example.com']));
      expect(worker.err()).not.toMatch(/pass.?word/);
      expect(await readFile(join(crew.inbox, 'assets', 'march.csv.result.txt'), 'utf8')).toContain(
        'march.csv: 1 to correct',
      );
    } finally {
      await Promise.all([hook.close(), mailbox.close()]);
    }
  },
  90_000,
);
