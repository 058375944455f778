import type { Static } from '@sinclair/typebox';
import type { ExperimentPage } from '../../../../features/experiments/schema.js';
import type { Experiment } from '../../../model/experiments.js';
import { call } from '../../state/api.js';
import { useQuery } from '../../state/query.js';
import { EXPERIMENTS } from './data.js';

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
