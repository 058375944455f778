import { JobFailure, type WithoutSpans } from '../../engine/work/job.js';
import type { JobWork } from '../../engine/work/job-work.js';
import { NO_EXAMPLES } from '../judges/examples.js';
import type { Instruction } from '../judges/instruction.js';
import type { Judge } from '../judges/judge.js';
import type { JudgedFinder } from '../judges/judged-finder.js';
import { together } from '../judges/whole-settings.js';
import { CALIBRATION_TAG } from '../../engine/schema/own-calls.js';
import type { JudgedSpan } from '../../engine/traces/model/judged/span-reader.js';
import { isHeldOutWithRow } from '../trials/held-out.js';
import type { ModelTrials } from '../trials/model-trials.js';
import type { CorrectionExamples } from './correction-examples.js';
import { trialResultOf, type SpanTrial, type TrialResult } from './trial-result.js';
import type { SpanTruth } from './truths.js';

/** Kind of the jobs that try a judge's corrections. */
export const CALIBRATION_TRIAL = 'calibration';

/** Input of a trial, as of when it was asked for. */
export interface TrialInput {
  readonly judge: Judge;
  readonly instruction: Instruction;
  readonly held_out: readonly SpanTruth[];
}

export interface CalibrationTrialParts {
  readonly judged: Pick<JudgedFinder, 'find'>;
  readonly examples: Pick<CorrectionExamples, 'examplesAmong'>;
  readonly trials: ModelTrials;
}

const SPANS_AT_ONCE = 50;

/** Evaluates held-out spans without and with examples of the others, which shows what the corrections are worth. */
export function calibrationTrial({ judged, examples, trials }: CalibrationTrialParts): JobWork {
  return async ({ job, signal, enter, step, each, willShow }) => {
    const { judge, instruction, held_out } = job.input as TrialInput;
    const ask = trials.of(job, CALIBRATION_TAG, signal);
    enter('evaluating', 2 * held_out.length);

    const both = async (truth: SpanTruth, span: JudgedSpan): Promise<SpanTrial> => ({
      truth,
      before: await step(`before/${span.id}`, () =>
        ask.judge(`before/${span.id}`, { judge, instruction, span, examples: NO_EXAMPLES }),
      ),
      after: await step(`after/${span.id}`, async () => {
        const shown = await examples.examplesAmong(judge, span, (correction) => !isHeldOutWithRow(correction));
        return ask.judge(`after/${span.id}`, { judge, instruction, span, examples: shown });
      }),
    });

    const found: SpanTrial[] = [];
    const atOnce = together(judge, SPANS_AT_ONCE);
    for (let from = 0; from < held_out.length; from += atOnce) {
      const part = held_out.slice(from, from + atOnce);
      const stored = await judged.find(
        job.project_id,
        judge,
        part.map(({ span_id }) => span_id),
        willShow,
      );
      const present = part.flatMap((truth) => withSpan(truth, stored));
      found.push(...(await each(present, ([truth, span]) => both(truth, span))));
    }
    const result = trialResultOf(found, held_out.length - found.length);
    if (result.compared === 0)
      throw new JobFailure(found[0]?.before.failure ?? found[0]?.after.failure ?? 'None of the spans is still stored');
    return result;
  };
}

/** Input and result of a trial without deleted spans. Figures stay, as they say nothing of single spans. */
export const trialWithoutSpans: WithoutSpans = (job, gone) => {
  const input = job.input as TrialInput;
  const result = job.result as TrialResult | null;
  const isLeft = ({ span_id }: { readonly span_id: string }) => !gone.has(span_id);
  return {
    input: { ...input, held_out: input.held_out.filter(isLeft) },
    result: result && { ...result, spans: result.spans.filter(isLeft) },
  };
};

function withSpan(truth: SpanTruth, stored: ReadonlyMap<string, JudgedSpan>): [SpanTruth, JudgedSpan][] {
  const span = stored.get(truth.span_id);
  return span === undefined ? [] : [[truth, span]];
}
