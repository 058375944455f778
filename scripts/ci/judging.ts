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
 * Has the judges of the rules evaluate the candidate by the version that evaluated the baseline, and what the baseline lacks of it.
 * What is evaluated already stays. @throws CiError when a judge evaluated nothing of one of them
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
    const version = common?.judge_version ?? usable(others) ?? usable(own) ?? 'current';
    const first: Evaluating = { judge, version, experiment: id, left: 0 };
    // A version that can evaluate no more has evaluated what there is to compare.
    const isLost = common?.available === false;
    const candidates = isLost ? first : await begin(gate, first);
    begun.push(candidates);
    if (baseline === null) continue;
    // It may be listed although its evaluations failed.
    const before = { ...candidates, experiment: baseline.id };
    begun.push(isLost ? before : await begin(gate, before));
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
    let evaluatedBefore = -1;
    try {
      while (now !== undefined && now.pending + evaluating.left > 0) {
        progress.update(now.evaluated + now.failed);
        await pause();
        if (now.pending === 0) {
          // What fails again and again would take the place of the others forever.
          if (now.evaluated === evaluatedBefore) throw stuck(now, evaluating.left);
          evaluatedBefore = now.evaluated;
          evaluating.left = (await begin(gate, evaluating)).left;
        }
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
  const { evaluated = 0, failed = 0 } = judged ?? {};
  if (evaluated === 0 && failed === 0)
    throw new CiError(`The judge ${name} evaluated no result: it evaluates only results with an output.`);
  if (evaluated === 0) throw new CiError(`The judge ${name} could not evaluate any result (failed: ${failed}).`);
  if (failed === 0) return;
  say(`The judge ${name} could not evaluate ${failed} of the results: the comparison leaves out their rows.`);
}

const stuck = ({ name, failed }: Judged, left: number) =>
  new CiError(`The judge ${name} failed on the same results again (failed: ${failed}, not evaluated yet: ${left}).`);
