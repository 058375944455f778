import type { RunQueuedRead } from '../../src/features/judges/run-schema.js';
import { startProgress } from '../progress.js';
import { CiError } from './ci-error.js';
import { findBaseline, type Experiment, type Gate } from './experiments.js';
import { pauses } from './pauses.js';
import { say } from './say.js';

/** What metrics begin with that are the verdicts of a judge, whose id follows. */
const PREFIX = 'judge:';

/** A version of a judge that evaluates an experiment. */
interface Evaluating {
  readonly judge: string;
  readonly version: string;
  readonly experiment: string;
  /** Results for which the queue had no room. */
  left: number;
}

type Judged = NonNullable<Experiment['judges']>[number];

/**
 * Has the judges of the rules evaluate the candidate by the version that evaluated the baseline, and the baseline too where none
 * did. What is evaluated already stays.
 */
export async function judgeResults(gate: Gate, id: string, withBaseline: boolean): Promise<void> {
  const { remote, at, rules } = gate;
  const names = rules.comparison.metrics.map(({ name }) => name).filter((name) => name.startsWith(PREFIX));
  const judges = [...new Set(names.map((name) => name.slice(PREFIX.length).toLowerCase()))];
  if (judges.length === 0) return;
  const candidate = await remote.get<Experiment>(`${at}/experiments/${id}`);
  const baseline = withBaseline ? await findBaseline(gate, candidate.dataset.id) : null;
  const begun: Evaluating[] = [];
  for (const judge of judges) {
    const [own, others] = [judgedBy(candidate, judge), judgedBy(baseline, judge)];
    const common = own.find(({ judge_version }) => others.some((other) => other.judge_version === judge_version));
    // A version that can evaluate no more has evaluated what there is to compare.
    if (common?.available === false) continue;
    const version = common?.judge_version ?? usable(others) ?? usable(own) ?? 'current';
    const first = await begin(gate, { judge, version, experiment: id, left: 0 });
    begun.push(first);
    const isJudged = others.some(({ judge_version }) => judge_version === first.version);
    if (baseline !== null && !isJudged) begun.push(await begin(gate, { ...first, experiment: baseline.id }));
  }
  for (const each of begun) await finished(gate, each, each.experiment === id ? '' : ' of the baseline');
}

const judgedBy = (experiment: Experiment | null, judge: string): readonly Judged[] =>
  (experiment?.judges ?? []).filter(({ judge_id }) => judge_id === judge);

/** The version last run that can evaluate more. */
const usable = (judged: readonly Judged[]) => judged.find(({ available }) => available)?.judge_version;

/** Queues what is not evaluated, as much as there is room for. */
async function begin({ remote, at }: Gate, { judge, version, experiment }: Evaluating): Promise<Evaluating> {
  const body = JSON.stringify({ experiment_id: experiment, judge_version: version });
  const { judge_version = version, left = 0 } = await remote.post<RunQueuedRead>(`${at}/judges/${judge}:run`, body);
  return { judge, version: judge_version, experiment, left };
}

async function finished(gate: Gate, evaluating: Evaluating, of: string): Promise<void> {
  const { experiment, judge, version } = evaluating;
  const figures = async () => {
    const found = await gate.remote.get<Experiment>(`${gate.at}/experiments/${experiment}`);
    return judgedBy(found, judge).find(({ judge_version }) => judge_version === version);
  };
  let now = await figures();
  const { evaluated = 0, pending = 0, failed = 0, name = judge } = now ?? {};
  if (pending + evaluating.left > 0) {
    const progress = startProgress(`judge ${name}${of}`, evaluated + pending + failed + evaluating.left, 'results');
    const pause = pauses();
    try {
      while (now !== undefined && now.pending + evaluating.left > 0) {
        progress.update(now.evaluated + now.failed);
        await pause();
        if (now.pending === 0) evaluating.left = (await begin(gate, evaluating)).left;
        now = await figures();
      }
    } finally {
      progress.stop();
    }
  }
  requireSome(now, `${name}${of}`);
}

/** @throws CiError when nothing was evaluated: each row would be left out */
function requireSome(judged: Judged | undefined, name: string): void {
  if (judged === undefined || judged.failed === 0) return;
  if (judged.evaluated === 0)
    throw new CiError(`The judge ${name} could not evaluate any result (failed: ${judged.failed}).`);
  say(`The judge ${name} could not evaluate ${judged.failed} of the results: the comparison leaves out their rows.`);
}
