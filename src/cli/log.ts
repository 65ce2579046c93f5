import { type Logger, pino } from 'pino';
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
        const clean = redact(line).replace(RAW_CONTROL, escaped);
        if (!pretty) return screen.write(clean);
        if (!talkative && screen.busy && levelOf(line) < pino.levels.values['warn']!) return;
        // Control characters reach this place as JSON escapes; as pictures they cannot steer the terminal.
        screen.write(pretty(clean.replace(ESCAPED_CONTROL, '\ufffd')));
      },
    },
  );
}

async function readableLines() {
  const { prettyFactory } = await import('pino-pretty');
  return prettyFactory({ colorize: false, translateTime: 'SYS:HH:MM:ss', ignore: 'pid,hostname', singleLine: true });
}

/** What JSON leaves as it is, and a terminal obeys: DEL, C1, and what turns the direction of the text round. */
const RAW_CONTROL = /[\u007f-\u009f\u061c\u2028-\u202e\u2066-\u2069]/g;
const escaped = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
const ESCAPED_CONTROL = /\\u(?:00(?:0[0-8bcef]|1[0-9a-f]|7f|[89][0-9a-f])|061c|202[89a-e]|206[6-9])/gi;

const levelOf = (line: string): number => Number(/"level":(\d+)/.exec(line)?.[1] ?? 0);
