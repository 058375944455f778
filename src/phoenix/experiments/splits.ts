import { Type } from '@sinclair/typebox';
import { withTurns } from '../../engine/work/portions.js';
import type { Dataset, DatasetVersion } from '../../features/datasets/dataset.js';
import type { DatasetService } from '../../features/datasets/dataset-service.js';
import type { Experiment } from '../../features/experiments/experiment.js';
import { splitsOf } from '../datasets/examples.js';

/*
 * An experiment of Phoenix may be about some splits of a version alone. Which they are, and how many examples they had, is part of what is
 * tried: its subject.
 */

export const MAX_SPLITS = 50;
export const SplitName = Type.String({ minLength: 1, maxLength: 200, description: 'A split.' });

const SPLITS = 'phoenix.splits';
const EXAMPLES = 'phoenix.examples';

interface VersionOf {
  readonly projectId: string;
  readonly dataset: Pick<Dataset, 'roles'>;
  /** Null: there is none. */
  readonly version: DatasetVersion | null;
}

/** The subject of an experiment on some splits. */
export async function subjectOf(
  datasets: Pick<DatasetService, 'allRows'>,
  { projectId, dataset, version }: VersionOf,
  splits: readonly string[],
): Promise<Record<string, unknown>> {
  let examples = 0;
  if (version !== null)
    for await (const { content } of withTurns(datasets.allRows(projectId, version)))
      if (isIn(content, dataset, splits)) examples += 1;
  return { [SPLITS]: splits, [EXAMPLES]: examples };
}

/** What an experiment is about; null: all examples of its version. */
export function splitsMeant({ subject }: Pick<Experiment, 'subject'>): {
  readonly splits: readonly string[];
  readonly examples: number;
} | null {
  const { [SPLITS]: splits, [EXAMPLES]: examples } = subject;
  if (!Array.isArray(splits) || typeof examples !== 'number') return null;
  return { splits: splits.filter((split) => typeof split === 'string'), examples };
}

/** Whether a row is in one of some splits. */
export function isIn(content: string, dataset: Pick<Dataset, 'roles'>, splits: readonly string[]): boolean {
  return splitsOf(content, dataset).some((split) => splits.includes(split));
}
