import { type Logger, pino } from 'pino';
import { prettyFactory } from 'pino-pretty';
import { redactor } from './redact.js';
import type { Screen } from './screen.js';

/**
 * Logs on stderr: JSON lines, or one readable line each on a terminal. Written at once, so that nothing is lost when the
 * process ends. Every line passes the redactor. On a terminal that shows the moving progress line, lines below `warn`
 * appear only where debug or trace was asked for.
 */
export function openLog(options: {
  level: string;
  terminal: boolean;
  screen: Screen;
  /** Read for every line: secrets may be added later. */
  secrets: readonly string[];
}): Logger {
  const { level, terminal, screen, secrets } = options;
  const pretty = prettyFactory({
    colorize: false,
    translateTime: 'SYS:HH:MM:ss',
    ignore: 'pid,hostname',
    singleLine: true,
  });
  const talkative = level === 'debug' || level === 'trace';
  return pino(
    { level },
    {
      write(line: string) {
        const clean = redactor(secrets)(line);
        if (!terminal) return screen.write(clean);
        if (!talkative && screen.busy && levelOf(line) < pino.levels.values['warn']!) return;
        // Control characters reach this place as JSON escapes; as pictures they cannot steer the terminal.
        screen.write(pretty(clean.replace(ESCAPED_CONTROL, '\ufffd')));
      },
    },
  );
}

const ESCAPED_CONTROL = /\\u00(?:0[0-8bcef]|1[0-9a-f]|7f|[89][0-9a-f])/gi;

const levelOf = (line: string): number => Number(/"level":(\d+)/.exec(line)?.[1] ?? 0);
