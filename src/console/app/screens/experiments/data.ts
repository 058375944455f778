import type { Static } from '@sinclair/typebox';
import { joinValues } from '../../../../engine/traces/model/list/comma-values.js';
import type { ExperimentPage, ResultPage, ResultRead } from '../../../../features/experiments/schema.js';
import type { Experiment } from '../../../model/experiments.js';
import { call, ofProject, type QueryOf } from '../../state/api.js';
import { place } from '../../state/location.js';
import { changedAt, queries, useQuery, type Answer } from '../../state/query.js';

export type Result = Static<typeof ResultRead>;
type List = QueryOf<'GET /projects/:project_id/experiments'>;
type Results = Exclude<QueryOf<'GET /projects/:project_id/experiments/:experiment_id/results'>, URLSearchParams>;

/** All that is asked of experiments has a key that begins so. */
const EXPERIMENTS = '/experiments';
/** Milliseconds after which experiments that are under way are asked for again. */
const AGAIN = 4_000;

export function experimentsChanged(): Promise<void> {
  return changedAt(EXPERIMENTS);
}

/** Forgets what is known of an experiment that is deleted, so that nothing is asked again. */
export function forgetExperiment(id: string): void {
  queries.removeQueries({ queryKey: [place.value.project, EXPERIMENTS, id] });
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

/** The experiment of a dataset that a tag points to. @param dataset empty: none is asked for */
export function useTagged(dataset: string, tag: string): Experiment | undefined {
  const query = { dataset, tag, limit: 1 };
  return useQuery<Static<typeof ExperimentPage>>({
    key: [EXPERIMENTS, query],
    ask: (signal) => call('GET /projects/:project_id/experiments', { query, signal }),
    enabled: dataset !== '' && tag !== '',
    keep: false,
  }).data?.experiments[0];
}

/** Results with how their rows begin. @param runs whether more are to come */
export function useResults(id: string, query: Results, runs: boolean): Answer<Static<typeof ResultPage>> {
  return useQuery({
    // Asked once more when it has ended: some may have come just before.
    key: [EXPERIMENTS, id, 'results', query, runs],
    ask: (signal) =>
      call('GET /projects/:project_id/experiments/:experiment_id/results', {
        params: { experiment_id: id },
        query: { ...query, rows: true },
        signal,
      }),
    every: runs && AGAIN,
    keptMs: 60_000,
  });
}

/** One result, and the whole of the row that it was made of. */
export function useResult(id: string, row: string, repetition: number) {
  return useQuery({
    key: [EXPERIMENTS, id, 'results', 'one', row, repetition],
    async ask(signal) {
      const { results } = await call('GET /projects/:project_id/experiments/:experiment_id/results', {
        params: { experiment_id: id },
        query: { row_id: joinValues([row]), repetition, limit: 1, rows: true },
        signal,
      });
      const [result] = results;
      if (result === undefined) return null;
      const query = { id: result.id, fields: 'input_data', limit: 1 };
      const [span] = await call('GET /spans', { query, signal });
      return { result, input: span?.input_data ?? null };
    },
    keptMs: 60_000,
  });
}
