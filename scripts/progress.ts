import { SingleBar } from 'cli-progress';

/** Shows how far a long run is. */
export interface Progress {
  /** Sets how much is done, in the unit given at the start. */
  update(done: number): void;
  /** Must be called, also after a failure; a bar left open hides the cursor. */
  stop(): void;
}

const LINE_EVERY_MS = 10_000;

/**
 * A bar on a terminal; elsewhere (CI, a file) one line every 10 seconds, so that a log stays readable and nobody
 * takes a long run for a hanging one. Written to standard error.
 * @param total how much there is to do, in `unit`s
 */
export function startProgress(label: string, total: number, unit: string): Progress {
  return process.stderr.isTTY ? bar(label, total, unit) : lines(label, total, unit);
}

function bar(label: string, total: number, unit: string): Progress {
  const format = `${label} {bar} {percentage}% | {value}/{total} ${unit} | {eta_formatted} left`;
  const shown = new SingleBar({ format, stream: process.stderr, hideCursor: true, etaBuffer: 50 });
  shown.start(total, 0);
  const stop = () => shown.stop();
  // Also where the process ends amid the work: the cursor must be seen again.
  process.once('exit', stop);
  return {
    update: (done) => {
      shown.update(Math.min(done, total));
    },
    stop: () => {
      process.off('exit', stop);
      stop();
    },
  };
}

function lines(label: string, total: number, unit: string): Progress {
  const started = Date.now();
  let last = started;
  let current = 0;
  const write = () => {
    const seconds = Math.max(0.001, (Date.now() - started) / 1000);
    const rate = Math.round(current / seconds);
    process.stderr.write(`${label}: ${current}/${total} ${unit}, ${Math.round(seconds)} s, ${rate} ${unit}/s\n`);
  };
  return {
    update: (done) => {
      current = done;
      if (Date.now() - last < LINE_EVERY_MS) return;
      last = Date.now();
      write();
    },
    stop: write,
  };
}
