import type { Logger } from 'pino';
import { redactor } from '../model/secret-forms.js';
import { visible, visibleJson } from '../model/visible.js';
import type { Notice, RunListener } from '../runs/run/context.js';
import type { Settings } from '../runs/settings.js';
import { painted } from './colour.js';
import type { Cli } from './io.js';
import { openScreen, type Screen } from './screen.js';

/**
 * What a run tells while it works: log, notices, progress. On a terminal notices are plain lines above the progress line. In a pipe everything a run tells is a log line, so that
 * stderr can be read by a program.
 */
export async function openTelling(cli: Cli, settings: Settings) {
  const { stderr } = cli.io;
  const screen = await openScreen(cli.io);
  const terminal = stderr.isTTY === true;
  const log = await openLog({ level: settings.logLevel, terminal, screen, secrets: cli.secrets });
  let run: string | undefined;
  const seen = new Set<string>();
  const notice = ({ level, text }: Notice) => {
    if (!terminal) return log[level](text);
    seen.add(text);
    screen.write(painted(visible(level === 'warn' ? `warning: ${text}\n` : `${text}\n`), stderr, cli.io.env));
  };
  for (const text of settings.warnings) notice({ level: 'warn', text });
  return {
    log,
    listener: {
      notice,
      progress(progress) {
        run = progress.run;
        screen.progress(progress);
      },
    } satisfies RunListener,
    /** What a person has read on the terminal already. */
    seen,
    /** The run that reported progress last. */
    run: () => run,
    /** Takes the progress line away; text after it stands on a line of its own. */
    stop: () => screen.stop(),
  };
}

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
  const { pino } = await import('pino');
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
