import { parentPort } from 'node:worker_threads';

/* A thread that answers what it is told: the same, or nothing, as it ends. */

parentPort?.on('message', ({ end, text }: { readonly end?: boolean; readonly text?: string }) => {
  if (end === true) process.exit(3);
  parentPort?.postMessage(text);
});
