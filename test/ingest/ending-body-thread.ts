import '../../src/compose/body-thread.js';
import { parentPort } from 'node:worker_threads';

/* A thread that reads bodies, but for two which end it. */

parentPort?.on('message', ({ bytes }: { readonly bytes: Uint8Array }) => {
  const body = Buffer.from(bytes);
  if (body.includes('end the thread')) process.exit(1);
  if (!body.includes('take all memory')) return;
  for (let all = {}; ;) all = { all };
});
