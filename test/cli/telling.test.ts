import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRateMeter, duration, openLog, openScreen, progressLine } from '../../src/cli/messages.js';
import { visible } from '../../src/model/control-characters.js';
import { noOutcomes } from '../../src/model/outcome.js';
import { redactor } from '../../src/model/secret-forms.js';
import type { Progress } from '../../src/runs/run/context.js';
import { capture } from './fake-io.js';

const ESC = String.fromCharCode(27);

async function screenOn(terminal: boolean, columns = 100) {
  const stderr = capture(terminal);
  if (terminal) Object.assign(stderr.stream, { columns });
  const io = { env: {}, cwd: '/', stdin: new PassThrough(), stdout: capture().stream, stderr: stderr.stream };
  return { screen: await openScreen(io), text: stderr.text };
}

const at = (progress: Partial<Progress>): Progress => ({
  run: 'r',
  phase: 'writing',
  done: 0,
  total: 1000,
  outcomes: noOutcomes(),
  ...progress,
});

describe('the redactor', () => {
  it('leaves nothing of a secret that contains another one', () => {
    expect(redactor(['abcdefgh', 'abcdefgh-ijkl'])('abcdefgh-ijkl abcdefgh')).toBe('[secret] [secret]');
  });

  it('never leaves a secret in any text (86)', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 8 }), fc.array(fc.string()), (secret, around) => {
        // The mark itself may be the secret.
        fc.pre(!'[secret][secret]'.includes(secret) && !secret.includes('['));
        const clean = redactor([secret])(around.join(secret));
        expect(around.join('').includes(secret) || !clean.includes(secret)).toBe(true);
      }),
    );
  });
});

describe('logs', () => {
  const SECRET = 'planted-token-4711';

  it('are JSON lines in a pipe, without secrets (86)', async () => {
    const { screen, text } = await screenOn(false);
    const log = await openLog({ level: 'info', terminal: false, screen, secrets: [SECRET] });
    log.info({ header: `Bearer ${SECRET}` }, `asked with ${SECRET}`);
    log.debug('too quiet');
    log.warn(new Error(`refused ${SECRET}`));
    const lines = text().trimEnd().split('\n');
    expect(lines).toHaveLength(2);
    expect(JSON.parse(lines[0]!)).toMatchObject({ level: 30, header: 'Bearer [secret]', msg: 'asked with [secret]' });
    expect(text()).not.toContain(SECRET);
  });

  it('leave out what a driver hangs on its error, such as the rows of a job (112)', async () => {
    const { screen, text } = await screenOn(false);
    const log = await openLog({ level: 'info', terminal: false, screen, secrets: [] });
    const refused = Object.assign(new Error('OOM'), { command: { name: 'evalsha', args: ['{"rows":["Jane Roe"]}'] } });
    log.warn({ err: refused }, 'not offered');
    log.warn(refused);
    expect(text()).toMatch(/"message":"OOM".*"stack"/);
    expect(text()).not.toContain('Jane Roe');
  });

  it('know secrets that are learned later (86)', async () => {
    const { screen, text } = await screenOn(false);
    const secrets: string[] = [];
    const log = await openLog({ level: 'info', terminal: false, screen, secrets });
    secrets.push(SECRET);
    log.info(SECRET);
    expect(text()).toContain('[secret]');
  });

  it('are readable lines on a terminal, and cannot steer it (86, 91)', async () => {
    const { screen, text } = await screenOn(true);
    const log = await openLog({ level: 'info', terminal: true, screen, secrets: [SECRET] });
    log.info({ from: `${ESC}[2Jservice` }, `hello ${SECRET} ${ESC}]0;title\u0007`);
    expect(text()).toContain('INFO');
    expect(text()).toContain('hello [secret]');
    expect(text()).not.toContain('"level"');
    expect(text()).not.toContain(ESC);
  });

  it('below warn are held back while the progress line is shown, unless debug is asked for', async () => {
    for (const [level, shown] of [
      ['info', false],
      ['debug', true],
    ] as const) {
      const { screen, text } = await screenOn(true);
      const log = await openLog({ level, terminal: true, screen, secrets: [] });
      log.info('before');
      screen.progress(at({ done: 10 }));
      log.info('meanwhile');
      log.warn('look here');
      screen.stop();
      expect(text()).toContain('before');
      expect(text().includes('meanwhile')).toBe(shown);
      expect(text()).toContain('look here');
    }
  });
});

describe('the screen', () => {
  it('shows a moving line on a terminal and takes it away', async () => {
    const { screen, text } = await screenOn(true);
    screen.progress(at({ done: 250, outcomes: { ...noOutcomes(), created: 200, invalid: 50 } }));
    screen.write('a notice\n');
    screen.stop();
    expect(text()).toContain('250/1,000 rows');
    expect(text()).toContain('created 200, invalid 50');
    expect(text()).toContain('a notice\n');
    // The cursor is shown again at the end.
    expect(text().endsWith(`${ESC}[0J`)).toBe(true);
    expect(text().lastIndexOf(`${ESC}[?25h`)).toBeGreaterThan(text().lastIndexOf(`${ESC}[?25l`));
    expect(screen.hasProgressLine).toBe(false);
  });

  it('takes a terminal that does not say how wide it is for a usual one', async () => {
    const { screen, text } = await screenOn(true, 0);
    screen.progress(at({ done: 250 }));
    screen.stop();
    expect(text()).toContain('250/1,000 rows');
  });

  it('gives the cursor back however the process ends', async () => {
    const { screen, text } = await screenOn(true);
    const before = process.listeners('exit');
    screen.progress(at({ done: 1 }));
    const [added] = process.listeners('exit').filter((listener) => !before.includes(listener));
    added?.(0);
    expect(text().lastIndexOf(`${ESC}[?25h`)).toBeGreaterThan(text().lastIndexOf(`${ESC}[?25l`));
    expect(process.listeners('exit')).toEqual(before);
  });

  it('shows no progress in a pipe', async () => {
    const { screen, text } = await screenOn(false);
    screen.progress(at({ done: 250 }));
    screen.write('a notice\n');
    screen.stop();
    expect(text()).toBe('a notice\n');
  });
});

describe('the progress line', () => {
  it('states rows, rate, time left and outcomes', () => {
    const speed = createRateMeter();
    speed.addPoint(at({ done: 0 }), 0);
    speed.addPoint(at({ done: 100 }), 1000);
    const progress = at({ done: 200, outcomes: { ...noOutcomes(), created: 150, at_risk: 2 } });
    speed.addPoint(progress, 2000);
    expect(progressLine(progress, speed, 200)).toBe(
      'writing    ████░░░░░░░░░░░░░░░░ 200/1,000 rows · 100 rows/s · 0:08 left · created 150, at risk 2',
    );
  });

  it('follows the last seconds, and starts anew with each phase', () => {
    const speed = createRateMeter();
    for (let second = 0; second <= 60; second++)
      speed.addPoint(at({ done: second * 10, total: 10_000 }), second * 1000);
    for (let second = 61; second <= 75; second++) {
      speed.addPoint(at({ done: 600 + (second - 60) * 100, total: 10_000 }), second * 1000);
    }
    expect(speed.rate()).toBeCloseTo(100, 0);
    speed.addPoint(at({ phase: 'reporting', done: 0 }), 76_000);
    expect(speed.rate()).toBeUndefined();
    expect(speed.secondsLeft()).toBeUndefined();
  });

  it('follows a slow-down of the time left, smoothed', () => {
    const left = (rows: readonly number[]) => {
      const speed = createRateMeter();
      for (const [second, done] of rows.entries()) speed.addPoint(at({ done, total: 5_000 }), second * 1_000);
      return /· ([\d:]+) left/.exec(progressLine(at({ done: rows.at(-1) ?? 0, total: 5_000 }), speed, 200))?.[1];
    };
    const quick = Array.from({ length: 11 }, (_, second) => second * 100);
    const slow = Array.from({ length: 10 }, (_, second) => 1_010 + second * 10);
    expect(left(quick)).toBe('0:40');
    // One second of ten tells a little, all of them tell the new pace.
    expect(left([...quick, ...slow.slice(0, 1)])).toBe('0:44');
    expect(left([...quick, ...slow])).toBe('6:30');
    expect(left([999, 5_000])).toBeUndefined();
  });

  it('does without a total, and fits its width', () => {
    const progress: Progress = { run: 'r', phase: 'reading', done: 12_345, outcomes: noOutcomes() };
    const speed = createRateMeter();
    speed.addPoint(progress, 0);
    expect(progressLine(progress, speed, 80)).toBe('reading    12,345 rows');
    expect(progressLine(progress, speed, 16)).toHaveLength(16);
    expect(progressLine(at({ done: 500 }), createRateMeter(), 100)).toBe('writing    █████░░░░░ 500/1,000 rows');
  });

  it.each([
    [0, '0:00'],
    [8.2, '0:09'],
    [750, '12:30'],
    [11_100, '3:05:00'],
  ])('%d seconds are %s', (seconds, text) => {
    expect(duration(seconds)).toBe(text);
  });
});

it('printable text holds no control character but tab and line feed (91)', () => {
  expect(visible(`a\tb\nc${ESC}[31m\r\u0000\u009b`)).toBe('a\tb\nc␛[31m␍␀\ufffd');
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      return [...visible(text)].every((char) => {
        const code = char.codePointAt(0)!;
        return code === 9 || code === 10 || (code >= 32 && (code < 127 || code > 159));
      });
    }),
  );
});
