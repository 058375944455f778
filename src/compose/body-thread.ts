import { parentPort, workerData, type Transferable } from 'node:worker_threads';
import { openBodyReader, type BodyReaderOptions, type BodyTask } from './body-reader.js';
import { movable } from './threads.js';

/* A thread that reads bodies of spans, one message each. */

const read = openBodyReader(workerData as BodyReaderOptions);

parentPort?.on('message', (task: BodyTask) => {
  void read(task).then((outcome) => {
    const moved: Transferable[] = [];
    const message = withMoved(outcome, (bytes) => {
      const whole = movable(bytes);
      moved.push(whole.buffer);
      return whole;
    });
    parentPort?.postMessage(message, moved);
  });
});

type Outcome = Awaited<ReturnType<typeof read>>;

/** The outcome with its large buffers as `move` has them: they are not copied then. */
function withMoved(outcome: Outcome, move: (bytes: Uint8Array) => Buffer): Outcome {
  if (outcome.outcome === 'not here') return { ...outcome, bytes: move(outcome.bytes) };
  if (outcome.outcome === 'refused') return outcome;
  const { writes, answer } = outcome;
  return {
    ...outcome,
    writes: writes && { ...writes, tables: writes.tables.map((table) => ({ ...table, bytes: move(table.bytes) })) },
    answer: answer !== null && 'bytes' in answer ? { ...answer, bytes: move(answer.bytes) } : answer,
  };
}
