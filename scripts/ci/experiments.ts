import type { Static } from '@sinclair/typebox';
import type { ExperimentRead } from '../../src/features/experiments/schema.js';
import { RefusedError, type Remote } from '../transfer/remote.js';
import { CiError } from './ci-error.js';
import type { Rules } from './rules.js';

/** An experiment, as the server answers it. */
export type Experiment = Static<typeof ExperimentRead>;

/** The project on its server, and what is asked of the candidate. */
export interface Gate {
  readonly remote: Remote;
  /** Path of the project. */
  readonly at: string;
  readonly rules: Rules;
  /** File of the rules. */
  readonly file: string;
  /** A tag, or an id. */
  readonly baseline: string;
}

/** A dataset with a version that is a number, an id or a tag, as `name@version`. */
export interface NamedDataset {
  readonly dataset: string;
  readonly dataset_version?: string;
}

export function datasetOf(text: string): NamedDataset {
  const [dataset, version] = splitVersion(text);
  return { dataset, ...(version !== undefined && { dataset_version: version }) };
}

/** What is named `name@version`, of which the version may be left out. */
export function splitVersion(text: string): readonly [name: string, version?: string] {
  const place = text.lastIndexOf('@');
  return place > 0 ? [text.slice(0, place), text.slice(place + 1)] : [text];
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The baseline, as a comparison names it. @param dataset where no other experiment says it */
export function baselineIn({ baseline }: Gate, dataset?: string) {
  return UUID.test(baseline) ? baseline : { tag: baseline, ...(dataset !== undefined && { dataset }) };
}

/**
 * Whether there is a baseline, asked before anything is paid for: the server refuses to compare an experiment that runs, or one with
 * itself, but wrong rules and an unknown baseline before that.
 * @param candidate its id; null: there is none yet @throws CiError for wrong rules
 */
export async function hasBaseline(gate: Gate, candidate: string | null, dataset: string): Promise<boolean> {
  const { remote, at, rules, file } = gate;
  const baseline = baselineIn(gate, dataset);
  try {
    const body = { ...rules.comparison, candidate: candidate ?? baseline, baseline, wait_seconds: 0 };
    await remote.post(`${at}/comparisons`, JSON.stringify(body));
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    const { status } = error.problem;
    if (status === 404 && !UUID.test(gate.baseline) && (await findBaseline(gate, dataset)) === null) return false;
    if (status !== 409 && !isItself(error, candidate)) throw new CiError(`${file}: ${problemText(error)}`);
  }
  return true;
}

function isItself({ problem }: RefusedError, candidate: string | null): boolean {
  const { errors = [] } = problem;
  return candidate === null && errors.length > 0 && errors.every(({ pointer }) => pointer === '/baseline');
}

/** What is wrong with a request, by where it is. */
export function problemText({ problem, message }: RefusedError): string {
  const { errors = [] } = problem;
  return errors.length === 0 ? message : errors.map(({ pointer, detail }) => `${pointer} ${detail}`).join('; ');
}

/** The baseline; null: no experiment of the dataset has its tag, the one thing not found that the first run may lack. */
export async function findBaseline(gate: Gate, dataset: string): Promise<Experiment | null> {
  const { remote, at, baseline } = gate;
  if (UUID.test(baseline)) return remote.get<Experiment>(`${at}/experiments/${baseline}`);
  const query = new URLSearchParams({ dataset, tag: baseline, limit: '1' });
  const { experiments } = await remote.get<{ readonly experiments: readonly Experiment[] }>(
    `${at}/experiments?${query.toString()}`,
  );
  const [found] = experiments;
  return found === undefined ? null : remote.get<Experiment>(`${at}/experiments/${found.id}`);
}
