import { type Logger, pino } from 'pino';
import { visible, visibleJson } from '../model/visible.js';
import { redactor } from './redact.js';
import type { Screen } from './screen.js';

/**
 * Logs on stderr: JSON lines, or one readable line each on a terminal. Written at once, so that nothing is lost when the
 * process ends. Every line passes the redactor. On a terminal that shows the moving progress line, lines below `warn`
 * appear only where debug or trace was asked for.
 */
export async function openLog(options: {
  level: string;
  terminal: boolean;
  screen: Screen;
  /** Looked at for every line: secrets may be added later, and none is taken away. */
  secrets: readonly string[];
}): Promise<Logger> {
  const { level, terminal, screen, secrets } = options;
  const pretty = terminal ? await readableLines() : undefined;
  const talkative = level === 'debug' || level === 'trace';
  let known = secrets.length;
  let redact = redactor(secrets);
  return pino(
    { level },
    {
      write(line: string) {
        if (secrets.length !== known) {
          known = secrets.length;
          redact = redactor(secrets);
        }
        const clean = visibleJson(redact(line));
        if (!pretty) return screen.write(clean);
        if (!talkative && screen.busy && levelOf(line) < pino.levels.values['warn']!) return;
        screen.write(visible(pretty(clean)));
      },
    },
  );
}

async function readableLines() {
  const { prettyFactory } = await import('pino-pretty');
  return prettyFactory({ colorize: false, translateTime: 'SYS:HH:MM:ss', ignore: 'pid,hostname', singleLine: true });
}

const levelOf = (line: string): number => Number(/"level":(\d+)/.exec(line)?.[1] ?? 0);
