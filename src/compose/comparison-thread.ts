import { parentPort } from 'node:worker_threads';
import type { PairedRows } from '../features/comparisons/comparison.js';
import { outcomeOf } from '../features/comparisons/outcome.js';

/* A thread that computes comparisons, one message each: resampling takes tenths of a second for each metric. */

parentPort?.on('message', (paired: PairedRows) => parentPort?.postMessage(outcomeOf(paired)));
