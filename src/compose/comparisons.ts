import { DomainError } from '../engine/errors.js';
import { ErasedComparisons } from '../features/comparisons/erased-comparisons.js';
import { ExperimentLookup } from '../features/comparisons/compared-experiments.js';
import type { PairedRows } from '../features/comparisons/comparison.js';
import { ComparisonService } from '../features/comparisons/comparison-service.js';
import { JudgedMetrics } from '../features/comparisons/judged-metrics.js';
import type { Outcome } from '../features/comparisons/outcome.js';
import type { Announce } from '../features/webhooks/event.js';
import type { Context } from './context.js';
import type { Storage } from './storage.js';
import { ThreadLostError, Threads } from './threads.js';

/** Numbers of the most rows and metrics lie outside of the heap. */
const HEAP_MB = 256;

/** Opens comparisons, whose statistics a thread computes. */
export function openComparisons(
  { closers, events }: Context,
  { metadata, traces }: Storage,
  announce: Announce,
): ComparisonService {
  const stopping = new AbortController();
  const threads = new Threads({
    what: 'comparisons computed',
    module: new URL('./comparison-thread.js', import.meta.url),
    count: 1,
    data: null,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
  });
  closers.push(() => {
    stopping.abort();
    return threads.close();
  });
  const erased = new ErasedComparisons(metadata.comparisons, events);
  closers.push(() => erased.close());
  const { comparisons, datasets, datasetRows, experiments, scoreDefinitions, judges, pins, corrections, feedback } =
    metadata;
  return new ComparisonService({
    comparisons,
    announce,
    together: (work) => metadata.together(work),
    datasets,
    rows: datasetRows,
    results: traces.results,
    judged: new JudgedMetrics({
      ...{ judges, pins, corrections, feedback, definitions: scoreDefinitions, results: traces.results },
      stopping: stopping.signal,
    }),
    experiments: new ExperimentLookup({ experiments, datasets, stopping: stopping.signal }),
    compute: (projectId, paired, signal) => compute(threads, projectId, paired, signal),
  });
}

async function compute(threads: Threads, projectId: string, paired: PairedRows, signal: AbortSignal): Promise<Outcome> {
  const ask = await threads.take(projectId, signal);
  const buffers = [
    ...paired.metrics.flatMap(({ candidate, baseline, rows }) => [candidate.buffer, baseline.buffer, rows.buffer]),
    ...paired.slicings.map(({ of }) => of.buffer),
  ] as ArrayBuffer[];
  return ask<Outcome>(paired, buffers, signal).catch((error: unknown) => {
    if (error instanceof ThreadLostError && threads.closed)
      throw new DomainError('unavailable', 'The server is shutting down. Retry.', {
        retryAfterSeconds: 1,
        cause: error,
      });
    if (error instanceof ThreadLostError && error.outOfMemory)
      throw new DomainError(
        'too_large',
        'The comparison needs more memory than one may have: ask for fewer metrics or slices',
        { cause: error },
      );
    throw error;
  });
}
