import { readFile } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import pino from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import type { Notify } from '../../../src/model/job.js';
import type { EndedRun } from '../../../src/worker/jobs/job.js';
import {
  bodyFor,
  type Notification,
  type Notifier,
  type NotifierOptions,
  type NotifierState,
  openNotifier,
} from '../../../src/worker/operations/notifier.js';
import { type Mailbox, openMailbox } from '../../support/smtp.js';
import { until } from '../../support/until.js';
import { type Hook, openHook } from './hook.js';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

const MINUTE = 60_000;
const START = Date.UTC(2026, 10, 21, 2, 0);
const TIMING = { timeoutMs: 20_000, waitsMs: [10, 20] };

/** Faithful to the store: an update is one step. */
function memory(): NotifierState & { texts: Map<string, string> } {
  const texts = new Map<string, string>();
  return {
    texts,
    update: async (name, edit) => {
      const before = texts.get(name);
      const text = edit(before);
      if (text !== undefined) texts.set(name, text);
      return before;
    },
  };
}

function open(options: Partial<NotifierOptions>) {
  const lines: string[] = [];
  const sent: string[] = [];
  const notifier = openNotifier({
    state: memory(),
    log: pino({ level: 'debug' }, { write: (line: string) => lines.push(line) }),
    timing: TIMING,
    onNotified: (channel, ok) => sent.push(`${channel} ${ok}`),
    ...options,
  });
  cleanups.push(() => notifier.close(0));
  return { notifier, lines, sent };
}

async function hook(answer?: Parameters<typeof openHook>[0]): Promise<Hook> {
  const opened = await openHook(answer);
  cleanups.push(() => opened.close());
  return opened;
}

function runs(notifier: Notifier, ...statuses: EndedRun['status'][]) {
  statuses.forEach((status, index) => {
    notifier.ended({ ...RUN, status, run: `run-${index}`, endedAt: START + index * 30 * MINUTE });
  });
}

const RUN: EndedRun = {
  job: 'assets',
  trigger: 'schedule',
  status: 'failed',
  run: 'run-0',
  company: 3,
  counts: { created: 2, not_attempted: 8, failed: 0 },
  reason: 'The service cannot be reached.',
  reports: '/data/runs/run-0',
  endedAt: START,
};

describe('notifications', () => {
  it('tells of an export that cannot be shown to be whole as of a failure, and of the next good one', async () => {
    const { url, bodies } = await hook();
    const { notifier } = open({ url });
    const doubt = {
      status: 'partial',
      unverified: true,
      reason: 'the list changed while it was read',
      counts: {},
    } as const;
    notifier.ended({ ...RUN, ...doubt, job: 'nightly' });
    notifier.ended({ ...RUN, status: 'succeeded', job: 'nightly', endedAt: START + 30 * MINUTE });
    await notifier.close();
    expect(bodies).toMatchObject([
      { event: 'failing', status: 'partial' },
      { event: 'recovered', status: 'succeeded' },
    ]);
    expect(bodies[0]?.text).toContain(
      'nightly wrote a file that may not be complete: the list changed while it was read',
    );
  });

  it('tells of the change to failing and of the recovery, not of what lies between', async () => {
    const { url, bodies, headers } = await hook();
    const { notifier } = open({ url });
    runs(notifier, 'succeeded', 'failed', 'braked', 'interrupted', 'refused', 'partial', 'succeeded', 'failed');
    await notifier.close();
    expect(bodies.map(({ event, run }) => `${event} ${run}`)).toEqual([
      'failing run-1',
      'recovered run-5',
      'failing run-7',
    ]);
    expect(bodies[0]).toEqual({
      id: expect.any(String),
      event: 'failing',
      job: 'assets',
      at: '2026-11-21T02:30:00.000Z',
      text: 'assets failed: The service cannot be reached. 2 created, 8 not attempted. Report: /data/runs/run-0/report.html',
      run: 'run-1',
      status: 'failed',
      trigger: 'schedule',
      company: 3,
      rows: { created: 2, not_attempted: 8 },
      reports: '/data/runs/run-0',
      reason: 'The service cannot be reached.',
    });
    expect(bodies[1]).toMatchObject({
      text: expect.stringMatching(/^assets works again\. assets finished; some rows need a person: /),
    });
    expect(headers[0]).toMatchObject({ 'content-type': 'application/json', 'user-agent': 'rowferry' });
  });

  it('leads to the page of the run, where the console has a public address', async () => {
    const { url, bodies } = await hook();
    const { notifier } = open({ url, publicUrl: 'https://rowferry.example' });
    runs(notifier, 'failed');
    await notifier.close();
    const link = 'https://rowferry.example/runs/run-0';
    expect(bodies[0]).toMatchObject({ link, text: expect.stringMatching(new RegExp(`report.html ${link}$`)) });
  });

  it('leads also to what was refused before there was a run', async () => {
    const { url, bodies } = await hook();
    const { notifier } = open({ url, publicUrl: 'https://rowferry.example' });
    notifier.ended({ ...RUN, run: undefined, page: 'run-9', status: 'refused', reason: 'No file.' });
    await notifier.close();
    expect(bodies[0]).toMatchObject({ link: 'https://rowferry.example/runs/run-9' });
    expect(bodies[0]).not.toHaveProperty('run');
  });

  it('says nothing of dry runs and of jobs that came with their data', async () => {
    const { url, bodies } = await hook();
    const { notifier } = open({ url });
    notifier.ended({ ...RUN, dryRun: true });
    notifier.ended({ ...RUN, inline: true });
    await notifier.close();
    expect(bodies).toEqual([]);
  });

  it('tells of no job that nobody knows, and of no more than 50 within an hour (95)', async () => {
    const { url, bodies } = await hook();
    const state = memory();
    let now = START;
    const { notifier } = open({ url, state, isKnownJob: (job) => !job.startsWith('forged'), now: () => now });
    for (let n = 0; n < 300; n++) notifier.ended({ ...RUN, job: `forged-${n}`, status: 'refused' });
    for (let n = 0; n < 300; n++) notifier.ended({ ...RUN, job: `known-${n}` });
    await until(() => state.texts.size === 300, { what: 'all were looked at' });
    await until(() => bodies.length === 50, { what: 'those that may go out' });
    expect(bodies.map(({ job }) => job)).toEqual(Array.from({ length: 50 }, (_, n) => `known-${n}`));
    now += 60 * MINUTE;
    notifier.ended({ ...RUN, job: 'known-299', endedAt: now });
    await notifier.close();
    expect(bodies).toHaveLength(51);
    expect(bodies.at(-1)).toMatchObject({ job: 'known-299' });
  });

  it('tells once, whichever of several workers', async () => {
    const { url, bodies } = await hook();
    const state = memory();
    const workers = Array.from({ length: 5 }, () => open({ url, state }).notifier);
    for (const worker of workers) worker.ended(RUN);
    await Promise.all(workers.map((worker) => worker.close()));
    const { notifier } = open({ url, state });
    notifier.ended({ ...RUN, status: 'succeeded', endedAt: START + MINUTE });
    await notifier.close();
    expect(bodies.map(({ event }) => event)).toEqual(['failing', 'recovered']);
  });

  it('tells later what could not be told', async () => {
    let down = true;
    const { url, bodies } = await hook((response) => response.writeHead(down ? 503 : 200).end());
    const { notifier, sent, lines } = open({ url });
    runs(notifier, 'failed');
    await until(() => sent.length === 1, { what: 'given up' });
    expect(bodies).toHaveLength(3);
    expect(new Set(bodies.map(({ id }) => id)).size).toBe(1);
    expect(lines.join()).toContain('answered 503 (3 tries)');
    down = false;
    notifier.ended({ ...RUN, run: 'run-9', endedAt: START + 30 * MINUTE });
    notifier.ended({ ...RUN, run: 'run-10', endedAt: START + 60 * MINUTE });
    await notifier.close();
    expect(bodies.slice(3)).toMatchObject([{ event: 'failing', run: 'run-9' }]);
  });

  it('tries again after a passing fault, and not after a refusal or a redirect', async () => {
    const passing = await hook((response, nth) => response.writeHead(nth < 3 ? 429 : 204).end());
    const slow = await hook(() => undefined);
    const refusing = await hook((response) => response.writeHead(403).end());
    const target = await hook();
    const redirecting = await hook((response) => response.writeHead(307, { location: target.url }).end());
    const tries: Record<string, number> = {};
    for (const [name, { url, bodies }] of Object.entries({ passing, slow, refusing, redirecting })) {
      // The one that never answers is given up soon.
      const { notifier, sent } = open({ url, ...(name === 'slow' && { timing: { ...TIMING, timeoutMs: 300 } }) });
      notifier.ended(RUN);
      await until(() => sent.length === 1, { what: name });
      tries[`${name} ${sent[0]}`] = bodies.length;
    }
    expect(tries).toEqual({
      'passing webhook true': 3,
      'slow webhook false': 3,
      'refusing webhook false': 1,
      'redirecting webhook false': 1,
    });
    expect(target.bodies).toEqual([]);
  });

  it('logs no secret of the address, and sends its password as authorisation', async () => {
    const { url, headers } = await hook((response) => response.writeHead(500).end());
    const { host } = new URL(url);
    const { notifier, lines, sent } = open({
      url: `http://bot:pass%20word@${host}/services/T0/SECRETPATH?token=SECRETQUERY`,
    });
    notifier.ended(RUN);
    await until(() => sent.length === 1, { what: 'given up' });
    expect(lines.join()).toContain(host);
    expect(lines.join()).not.toMatch(/SECRET|pass|bot/);
    expect(headers[0]?.authorization).toBe(`Basic ${Buffer.from('bot:pass word').toString('base64')}`);
    const away = open({ url: 'http://127.0.0.1:1/SECRETPATH?token=SECRETQUERY' });
    away.notifier.ended(RUN);
    await until(() => away.sent.length === 1, { what: 'given up' });
    expect(away.lines.join()).toContain('127.0.0.1:1 did not answer (ECONNREFUSED) (3 tries)');
    expect(away.lines.join()).not.toContain('SECRET');
  });

  it('sends a password in which a % begins no escape as it stands there', async () => {
    const { url, headers } = await hook();
    const { notifier } = open({ url: url.replace('//', '//bot:100%@') });
    notifier.ended(RUN);
    await notifier.close();
    expect(headers[0]?.authorization).toBe(`Basic ${Buffer.from('bot:100%').toString('base64')}`);
  });

  it('cleans and cuts reasons', async () => {
    const { url, bodies } = await hook();
    const { notifier } = open({ url, clean: (text) => text.replaceAll('hunter2hunter2', '[secret]') });
    notifier.ended({ ...RUN, reason: `token hunter2hunter2\n\u001b[31mrefused ${'x'.repeat(900)}` });
    await notifier.close();
    expect(bodies[0]?.reason).toMatch(/^token \[secret\] \[31mrefused x+…$/);
    expect(bodies[0]?.reason).toHaveLength(500);
    expect(JSON.stringify(bodies)).not.toContain('hunter2');
  });

  it('never fails a run, and ends in time, whatever the store does', async () => {
    const { url } = await hook();
    const broken = open({
      url,
      state: { update: () => Promise.reject(new Error('away')) },
    });
    broken.notifier.ended(RUN);
    await until(() => broken.lines.length === 1, { what: 'logged' });
    expect(broken.lines[0]).toContain('could not be made: away');
    const hanging = open({
      url,
      state: { update: () => new Promise(() => undefined) },
    });
    hanging.notifier.ended(RUN);
    const begun = performance.now();
    await hanging.notifier.close(200);
    expect(performance.now() - begun).toBeLessThan(2000);
  });

  it('logs each that had not gone out when the worker ended', async () => {
    const { url } = await hook(() => undefined);
    const { notifier, lines } = open({ url });
    runs(notifier, 'failed', 'succeeded', 'braked');
    await notifier.close(0);
    const told = lines.filter((line) => line.includes('could not be delivered'));
    expect(told.map((line) => JSON.parse(line).event)).toEqual(['failing', 'failing']);
  });

  it('keeps nothing where there is nobody to tell', async () => {
    const state = memory();
    const { notifier } = open({ state });
    notifier.ended(RUN);
    await notifier.close();
    expect(state.texts.size).toBe(0);
  });

  describe('to the people whom a job names', () => {
    const people = (named: Notify) => ({ people: async (job: string) => (job === 'assets' ? named : undefined) });
    const done = { ...RUN, status: 'partial', file: 'assets.xlsx', counts: { created: 105, invalid: 15 } } as const;
    const { reason: _, ...partial } = done;

    async function mailbox(refuse?: Parameters<typeof openMailbox>[0]): Promise<Mailbox> {
      const opened = await openMailbox(refuse);
      cleanups.push(() => opened.close());
      return opened;
    }

    it('posts every end of a run to its webhook, and keeps nothing', async () => {
      const { url, bodies } = await hook();
      const state = memory();
      const { notifier } = open({ state, ...people({ webhook: url }) });
      notifier.ended(partial);
      notifier.ended({ ...RUN, status: 'braked', file: 'assets.xlsx', reason: '40% of the rows are invalid' });
      notifier.ended({ ...RUN, status: 'refused', file: 'b.xlsx', reason: 'No heading.', counts: {} });
      notifier.ended({ ...partial, kind: 'export', file: undefined, status: 'succeeded', counts: {} });
      notifier.ended({ ...partial, kind: 'reconcile', reportOnly: true, counts: { updated: 2 } });
      notifier.ended({ ...partial, kind: 'reconcile', counts: { unchanged: 9 }, orphans: '1 orphan (1 acted on)' });
      notifier.ended({ ...RUN, job: 'others' });
      notifier.ended({ ...RUN, status: 'interrupted' });
      notifier.ended({ ...RUN, dryRun: true });
      notifier.ended({ ...RUN, inline: true });
      await notifier.close();
      expect(bodies.map(({ event, text }) => `${event}: ${text}`)).toEqual([
        'ended: assets.xlsx finished; some rows need a person: 105 created, 15 invalid. Report: /data/runs/run-0/report.html',
        'ended: assets.xlsx was stopped by a brake: 40% of the rows are invalid. 2 created, 8 not attempted. Report: /data/runs/run-0/report.html',
        'ended: b.xlsx was refused: No heading. Report: /data/runs/run-0/ERROR.txt',
        'ended: assets succeeded. Report: /data/runs/run-0/summary.json',
        'ended: assets.xlsx finished; some rows need a person: Nothing was written; it would be 2 updated. Report: /data/runs/run-0/report.html',
        'ended: assets.xlsx finished; some rows need a person: 9 unchanged; 1 orphan (1 acted on). Report: /data/runs/run-0/report.html',
      ]);
      expect(bodies[0]).toMatchObject({ job: 'assets', file: 'assets.xlsx', rows: { created: 105, invalid: 15 } });
      expect(bodies.map(({ report_only }) => report_only)).toEqual([...Array(4).fill(undefined), true, undefined]);
      expect(state.texts.size).toBe(0);
    });

    it('a webhook that never answers holds up no other job', async () => {
      const slow = await hook(() => undefined);
      const { url, bodies } = await hook();
      const { notifier } = open({ people: async (job) => ({ webhook: job === 'slow' ? slow.url : url }) });
      notifier.ended({ ...partial, job: 'slow' });
      await until(() => slow.bodies.length === 1, { what: 'asked' });
      notifier.ended(partial);
      await until(() => bodies.length === 1, { what: 'the other job' });
    });

    it('and is given up also after memory was tidied', async () => {
      setFlagsFromString('--expose-gc');
      const gc = runInNewContext('gc') as () => void;
      const slow = await hook(() => undefined);
      const timing = { timeoutMs: 500, waitsMs: [] };
      const { notifier, lines } = open({ people: async () => ({ webhook: slow.url }), timing });
      notifier.ended(partial);
      await until(() => slow.bodies.length === 1, { what: 'asked' });
      for (let turn = 0; turn < 3; turn++) {
        gc();
        await setImmediate();
      }
      await until(() => lines.length === 1, { what: 'given up' });
      expect(lines[0]).toContain('time-out');
    });

    it('sends a card where Teams listens', () => {
      const told = { text: 'assets.xlsx succeeded.' } as Notification;
      const card = bodyFor('prod-1.westeurope.logic.azure.com', told);
      expect(card).toMatchObject({
        type: 'message',
        attachments: [{ content: { type: 'AdaptiveCard', body: [{ type: 'TextBlock', text: told.text }] } }],
      });
      expect(bodyFor('hooks.slack.com', told)).toBe(told);
      expect(bodyFor('logic.azure.com.example.org', told)).toBe(told);
    });

    it('sends one mail to all addresses, with counts and the place of the report', async () => {
      const { url, mails } = await mailbox();
      const { notifier, sent } = open({
        mail: { url, from: 'rowferry@example.com' },
        ...people({ email: ['buyer@example.com', 'it@example.com'] }),
      });
      notifier.ended({ ...partial, file: 'a\r\nBcc: x@example.com.csv' });
      await notifier.close();
      expect(sent).toEqual(['mail true']);
      expect(mails).toMatchObject([{ from: 'rowferry@example.com', to: ['buyer@example.com', 'it@example.com'] }]);
      const text = mails[0]?.text ?? '';
      expect(text).toMatch(/^Subject: a Bcc: x@example.com.csv finished; some rows need a person\r$/m);
      expect(text).not.toMatch(/^Bcc:/m);
      expect(text).toContain('Report: /data/runs/run-0/report.html');
      // Lines of a mail are broken.
      expect(text.replace(/=?\r\n/g, '')).toContain('105 created, 15 invalid');
    });

    it('tries a mail again after a passing refusal, and not after one for good', async () => {
      let tries = 0;
      const passing = await mailbox(() => (++tries < 3 ? 451 : undefined));
      const final = await mailbox(() => 550);
      const some = await mailbox((address) => (address.startsWith('gone') ? 550 : undefined));
      const outcomes: string[] = [];
      for (const [name, { url, mails, sessions }] of Object.entries({ passing, final, some })) {
        const { notifier, sent, lines } = open({
          mail: { url },
          ...people({ email: ['buyer@example.com', 'gone@example.com'].slice(0, name === 'some' ? 2 : 1) }),
        });
        notifier.ended(partial);
        await until(() => sent.length === 1, { what: name });
        await notifier.close();
        outcomes.push(`${name} ${sent[0]}: ${sessions()} tries, ${mails.length} mails`);
        expect(lines.join()).not.toMatch(/pass.?word/);
      }
      expect(outcomes).toEqual([
        'passing mail true: 3 tries, 1 mails',
        'final mail false: 1 tries, 0 mails',
        'some mail false: 1 tries, 1 mails',
      ]);
    });

    it('says in the subject, too, that an export may not be complete', async () => {
      const { url, mails } = await mailbox();
      const { notifier } = open({ mail: { url }, ...people({ email: ['buyer@example.com'] }) });
      notifier.ended({ ...partial, kind: 'export', file: 'contracts.xlsx', unverified: true });
      await notifier.close();
      expect(mails[0]?.text).toMatch(/^Subject: contracts\.xlsx wrote a file that may not be complete\r$/m);
    });

    it('says that no mail server is set, and that one does not answer', async () => {
      const without = open(people({ email: ['buyer@example.com'] }));
      without.notifier.ended(partial);
      await without.notifier.close();
      expect(without.lines.join()).toContain('ROWFERRY_SMTP_URL is not set');
      const away = open({ mail: { url: 'smtp://127.0.0.1:1' }, ...people({ email: ['buyer@example.com'] }) });
      away.notifier.ended(partial);
      await until(() => away.sent.length === 1, { what: 'given up' });
      expect(away.lines.join()).toMatch(/127\.0\.0\.1 did not take the mail \(E[A-Z]+\) \(3 tries\)/);
    });
  });

  it('has every field in the docs, and the reverse', async () => {
    const source = await readFile('src/worker/operations/notifier.ts', 'utf8');
    const body = /export interface Notification \{([^}]+)\}/.exec(source)?.[1] ?? '';
    const fields = [...body.matchAll(/readonly (\w+)\??:/g)].map(([, name]) => name);
    const docs = await readFile('docs/operate/worker.md', 'utf8');
    const table = docs.slice(docs.indexOf('| field | of events |')).split('\n\n')[0] ?? '';
    const listed = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
    expect(fields.length).toBeGreaterThan(10);
    expect(listed.sort()).toEqual(fields.sort());
  });
});
