import type { MultiBar, SingleBar } from 'cli-progress';
import { visible } from '../model/visible.js';
import type { Progress, RunListener } from '../runs/progress.js';
import type { Io } from './io.js';
import { pace, progressLine } from './progress-line.js';

/** stderr while a run works: one moving line at the bottom of a terminal, text above it; only the text in a pipe. */
export interface Screen extends Pick<RunListener, 'progress'> {
  /** Text above the moving line, as it is. */
  write(text: string): void;
  /** Whether the moving line is there. */
  readonly busy: boolean;
  /** Takes the moving line away. */
  stop(): void;
}

export async function openScreen(io: Io): Promise<Screen> {
  const { stderr } = io;
  if (!stderr.isTTY) {
    return { progress() {}, write: (text) => void stderr.write(text), busy: false, stop() {} };
  }
  const { default: cliProgress } = await import('cli-progress');
  const speed = pace();
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
      format: () => (latest ? visible(progressLine(latest, speed, (stderr.columns ?? 80) - 1)) : ''),
    });
    bar = bars.create(1, 0);
  };
  return {
    progress(progress) {
      latest = progress;
      speed.note(progress, performance.now());
      if (!bars) start();
      bar?.setTotal(progress.total ?? 0);
      bar?.update(progress.done);
    },
    write(text) {
      // A line is printed above the bar at its next redraw, so nothing is torn.
      if (bars) bars.log(text.endsWith('\n') ? text : `${text}\n`);
      else stderr.write(text);
    },
    get busy() {
      return bars !== undefined;
    },
    stop,
  };
}
