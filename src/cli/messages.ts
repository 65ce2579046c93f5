import type { MultiBar, SingleBar } from 'cli-progress';
import type { Logger } from 'pino';
import { visible, visibleJson } from '../model/control-characters.js';
import { formatNumber } from '../model/count-text.js';
import { OUTCOMES } from '../model/outcome.js';
import { redactor } from '../model/secret-forms.js';
import type { Notice, Progress, RunListener } from '../runs/run/context.js';
import type { Settings } from '../runs/settings.js';
import { type Cli, colorize, type Io } from './io.js';

/**
 * What a run tells while it works: log, notices, progress. On a terminal notices are plain lines above the progress line. In a pipe everything a run tells is a log line, so that
 * stderr can be read by a program.
 */
export async function openMessages(cli: Cli, settings: Settings) {
  const { stderr } = cli.io;
  const screen = await openScreen(cli.io);
  const terminal = stderr.isTTY === true;
  const log = await openLog({ level: settings.logLevel, terminal, screen, secrets: cli.secrets });
  let run: string | undefined;
  const seen = new Set<string>();
  const notice = ({ level, text }: Notice) => {
    if (!terminal) return log[level](text);
    seen.add(text);
    screen.write(colorize(visible(level === 'warn' ? `warning: ${text}\n` : `${text}\n`), stderr, cli.io.env));
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
  const pretty = terminal ? await prettyPrinter() : undefined;
  const isVerbose = level === 'debug' || level === 'trace';
  let secretCount = secrets.length;
  let redact = redactor(secrets);
  // Drivers hang more on their errors: that of Redis the command with all its values, which may be the rows of a job.
  const err = (error: Error) => {
    const { type, message, stack } = pino.stdSerializers.err(error);
    return { type, message, stack };
  };
  return pino(
    { level, serializers: { err } },
    {
      write(line: string) {
        if (secrets.length !== secretCount) {
          secretCount = secrets.length;
          redact = redactor(secrets);
        }
        const clean = visibleJson(redact(line));
        if (!pretty) return screen.write(clean);
        if (!isVerbose && screen.hasProgressLine && levelOf(line) < pino.levels.values['warn']!) return;
        screen.write(visible(pretty(clean)));
      },
    },
  );
}

async function prettyPrinter() {
  const { prettyFactory } = await import('pino-pretty');
  return prettyFactory({ colorize: false, translateTime: 'SYS:HH:MM:ss', ignore: 'pid,hostname', singleLine: true });
}

const levelOf = (line: string): number => Number(/"level":(\d+)/.exec(line)?.[1] ?? 0);

/** stderr while a run works: one moving line at the bottom of a terminal, text above it; only the text in a pipe. */
export interface Screen extends Pick<RunListener, 'progress'> {
  /** Text above the moving line, as it is. */
  write(text: string): void;
  /** Whether the moving line is there. */
  readonly hasProgressLine: boolean;
  /** Takes the moving line away. */
  stop(): void;
}

export async function openScreen(io: Io): Promise<Screen> {
  const { stderr } = io;
  if (!stderr.isTTY) {
    return { progress() {}, write: (text) => void stderr.write(text), hasProgressLine: false, stop() {} };
  }
  const { default: cliProgress } = await import('cli-progress');
  const meter = createRateMeter();
  let latest: Progress | undefined;
  let bars: MultiBar | undefined;
  let bar: SingleBar | undefined;
  const stop = () => {
    // Lines that wait for a redraw are printed by it.
    bars?.update();
    bars?.stop();
    bars = undefined;
    bar = undefined;
    process.off('exit', stop);
  };
  const start = () => {
    // However the process ends, the terminal gets its cursor back.
    process.once('exit', stop);
    bars = new cliProgress.MultiBar({
      stream: stderr as NodeJS.WriteStream,
      fps: 8,
      clearOnComplete: true,
      hideCursor: true,
      linewrap: false,
      // The process listens for signals itself.
      gracefulExit: false,
      // A line printed above the bar takes the bar's place: the bar is drawn again even if it is the same.
      forceRedraw: true,
      format: () => (latest ? visible(progressLine(latest, meter, (stderr.columns || 80) - 1)) : ''),
    });
    bar = bars.create(1, 0);
  };
  return {
    progress(progress) {
      latest = progress;
      meter.addPoint(progress, performance.now());
      if (!bars) start();
      bar?.setTotal(progress.total ?? 0);
      bar?.update(progress.done);
    },
    write(text) {
      // A line is printed above the bar at its next redraw, so nothing is torn.
      if (bars) bars.log(text.endsWith('\n') ? text : `${text}\n`);
      else stderr.write(text);
    },
    get hasProgressLine() {
      return bars !== undefined;
    },
    stop,
  };
}

type RateMeter = ReturnType<typeof createRateMeter>;

/** How much of the past the rate looks at: long enough to be steady, short enough to follow a slow-down. */
const WINDOW_MS = 10_000;

/** Rows a second over the last moments, and what that means for the rest. */
export function createRateMeter() {
  let phase: Progress['phase'] | undefined;
  let points: { at: number; done: number }[] = [];
  let latest: Progress | undefined;
  /** Rows a second; undefined until it can be told. */
  const rate = () => {
    const [first, last] = [points[0], points.at(-1)];
    if (!first || !last || last.at - first.at < 200) return undefined;
    return ((last.done - first.done) * 1000) / (last.at - first.at);
  };
  return {
    /** Takes note of where a run stands; `at` in milliseconds. */
    addPoint(progress: Progress, at: number): void {
      if (progress.phase !== phase) points = [];
      phase = progress.phase;
      latest = progress;
      points.push({ at, done: progress.done });
      while (points.length > 2 && at - points[0]!.at > WINDOW_MS) points.shift();
    },
    rate,
    /** Seconds left in this phase; undefined until it can be told. */
    secondsLeft(): number | undefined {
      const speed = rate();
      return !latest || !speed || latest.total === undefined
        ? undefined
        : Math.max(0, latest.total - latest.done) / speed;
    },
  };
}

/**
 * One line of at most `columns` characters:
 * `writing  ███████░░░░░ 1,204/1,219 rows · 85 rows/s · 0:12 left · created 900, invalid 4`.
 */
export function progressLine(progress: Progress, meter: RateMeter, columns: number): string {
  const doneText = formatNumber(progress.done);
  const rows = progress.total === undefined ? `${doneText} rows` : `${doneText}/${formatNumber(progress.total)} rows`;
  const bar =
    progress.total === undefined ? '' : `${progressBar(progress.done, progress.total, columns < 120 ? 10 : 20)} `;
  const rate = meter.rate();
  const secondsLeft = meter.secondsLeft();
  const parts = [
    `${progress.phase.padEnd(10)} ${bar}${rows}`,
    ...(rate === undefined
      ? []
      : [`${rate < 10 ? Math.round(rate * 10) / 10 : formatNumber(Math.round(rate))} rows/s`]),
    secondsLeft === undefined || progress.done === progress.total ? '' : `${duration(secondsLeft)} left`,
    OUTCOMES.filter((kind) => progress.outcomes[kind] > 0)
      .map((kind) => `${kind.replaceAll('_', ' ')} ${formatNumber(progress.outcomes[kind])}`)
      .join(', '),
  ];
  const line = parts.filter((part) => part !== '').join(' · ');
  return line.length > columns ? `${line.slice(0, Math.max(1, columns - 1))}…` : line;
}

function progressBar(done: number, total: number, cells: number): string {
  const full = total === 0 ? cells : Math.min(cells, Math.floor((done / total) * cells));
  return '█'.repeat(full) + '░'.repeat(cells - full);
}

/** `0:09`, `12:30`, `3:05:00`. */
export function duration(seconds: number): string {
  const whole = Math.ceil(seconds);
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (part: number) => String(part).padStart(2, '0');
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}
