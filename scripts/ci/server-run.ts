import type { RunEstimate } from '../../src/features/experiment-runs/schema.js';
import { startProgress } from '../progress.js';
import { RefusedError } from '../transfer/remote.js';
import { CiError } from './ci-error.js';
import { datasetOf, problemText, splitVersion, type Experiment, type Gate } from './experiments.js';
import { pauses } from './pauses.js';
import { say } from './say.js';

/** What the server is to run. */
export interface ServerRun {
  /** `name`, or `name@version`: a number, an id or a tag. */
  readonly dataset: string;
  /** `slug`, or `slug@version`: a number or a tag. */
  readonly prompt: string;
  readonly name?: string | undefined;
  readonly repetitions?: number | undefined;
}

/** Says what the run would cost; nothing is called yet. @throws CiError, TransferError when it cannot run */
export async function estimate({ remote, at, rules, file }: Gate, run: ServerRun): Promise<void> {
  const body = JSON.stringify({ ...rules.run, ...bodyOf(run), dry_run: true });
  const found = await remote.post<RunEstimate>(`${at}/experiments:run`, body).catch((error: unknown) => {
    if (!(error instanceof RefusedError) || error.problem.status !== 422) throw error;
    throw new CiError(`The run that options and ${file} describe is refused: ${problemText(error)}`);
  });
  const { calls, model, rows, prompt_version, dataset_version, cost, cost_unknown_reason } = found;
  const price = cost === null ? `cost unknown: ${cost_unknown_reason ?? ''}` : `about $${Number(cost.toPrecision(2))}`;
  const what = `version ${prompt_version} of ${splitVersion(run.prompt)[0]} on ${rows} rows of version ${dataset_version}`;
  say(`The server runs ${what}: ${calls} calls of ${model}, ${price}.`);
}

export function startRun({ remote, at, rules }: Gate, run: ServerRun): Promise<Experiment> {
  return remote.post<Experiment>(`${at}/experiments:run`, JSON.stringify({ ...rules.run, ...bodyOf(run) }));
}

function bodyOf({ dataset, prompt, name, repetitions }: ServerRun) {
  const [prompt_slug, version] = splitVersion(prompt);
  const byVersion =
    version === undefined ? {} : /^\d+$/.test(version) ? { prompt_version: Number(version) } : { prompt_tag: version };
  return { ...datasetOf(dataset), prompt_slug, ...byVersion, name, repetitions };
}

/** Waits until all results are there. @throws CiError when the run stopped before that */
export async function runFinished({ remote, at }: Gate, experiment: Experiment): Promise<void> {
  let now = experiment;
  const rows = Math.min(now.rows, Number(now.parameters['rows'] ?? now.rows));
  const progress = startProgress('experiment', now.run?.total ?? rows * now.repetitions, 'results');
  const pause = pauses();
  try {
    while (now.status === 'running' && now.run !== null) {
      progress.update(now.run.done);
      await pause();
      now = await remote.get<Experiment>(`${at}/experiments/${experiment.id}`);
    }
    progress.update(now.figures.results);
  } finally {
    progress.stop();
  }
  if (now.status === 'finished') return;
  const reason = now.run?.error ?? null;
  if (now.status === 'canceled')
    throw new CiError(`The experiment was canceled${reason === null ? '' : `: ${reason}`}. Start another run.`);
  throw new CiError(`The experiment is ${now.status}, and the server does not run it: finish it first.`);
}
