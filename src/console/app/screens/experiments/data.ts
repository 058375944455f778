import type { Static } from '@sinclair/typebox';
import type { ExperimentPage } from '../../../../features/experiments/schema.js';
import type { Experiment } from '../../../model/experiments.js';
import { call, ofProject, type QueryOf } from '../../state/api.js';
import { changedAt, useQuery, type Answer } from '../../state/query.js';

type List = QueryOf<'GET /projects/:project_id/experiments'>;

/** All that is asked of experiments has a key that begins so. */
export const EXPERIMENTS = '/experiments';
/** Milliseconds after which experiments that are in progress are asked for again. */
export const AGAIN = 4_000;

export function experimentsChanged(): Promise<void> {
  return changedAt(EXPERIMENTS);
}

export function pathOfExperiment(id: string, path = ''): string {
  return ofProject(`/experiments/${id}${path}`);
}

/** Whether results, or verdicts of judges on them, are to come. */
const isUnderWay = (experiment: Experiment) =>
  isRunning(experiment) || experiment.judges?.some(({ pending }) => pending > 0) === true;
const isRunning = ({ status }: Experiment) => status === 'running';

/** Experiments, newest first. */
export function useExperiments(query: List): Answer<Static<typeof ExperimentPage>> {
  return useQuery<Static<typeof ExperimentPage>>({
    key: [EXPERIMENTS, query],
    ask: (signal) => call('GET /projects/:project_id/experiments', { query, signal }),
    every: (page) => page?.experiments.some(isRunning) === true && AGAIN,
  });
}

/** @param id empty: none is asked for */
export function useExperiment(id: string): Answer<Experiment> {
  return useQuery<Experiment>({
    key: [EXPERIMENTS, id],
    ask: (signal) =>
      call('GET /projects/:project_id/experiments/:experiment_id', { params: { experiment_id: id }, signal }),
    enabled: id !== '',
    every: (experiment) => experiment !== undefined && isUnderWay(experiment) && AGAIN,
  });
}
