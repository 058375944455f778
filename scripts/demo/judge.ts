import { Random, seedOf } from '../random.js';
import { COMPLAINTS, deservedScore } from './answers.js';
import type { Api } from './api.js';
import { forEach } from './pool.js';
import { makePrompt, type MadeVersion } from './prompts.js';
import type { Completion } from './story.js';

/** Who evaluates: the demo brings no model, and asks none. */
export const STAND_IN = 'demo stand-in, no model called';
const TASK = 'northwind-answer-judge';
const PASS_THRESHOLD = 4;
/** Share of the evaluations of which somebody says whether they are right. */
const CORRECTED = 0.5;

const RUBRIC = '\n\nQuestion and earlier messages:\n{{input}}\n\nAnswer:\n{{output}}';

const PROMPT = {
  slug: TASK,
  versions: [
    { content: `Score from 1 to 5 how complete and detailed the answer to the customer is.${RUBRIC}` },
    {
      content:
        'Score from 1 to 5 how well the answer helps the customer. Short answers are welcome. Promises that no document ' +
        `makes score 1, answers without any substance score 2.${RUBRIC}`,
    },
  ],
  pins: [
    ['production', 1],
    ['production', 2],
  ] as const,
};

const CRITERIA = [
  {
    key: 'grounded',
    label: 'Grounded',
    description: 'Everything in the answer is in the documents or the order data.',
  },
  { key: 'helpful', label: 'Helpful', description: 'The customer knows what happens next.' },
];

type Rule = (answer: string) => Verdict;

interface Verdict {
  readonly score: number;
  readonly grounded: number;
  readonly helpful: number;
  readonly confidence: number;
  readonly reason: string;
}

/**
 * The stand-in: what a model might make of each version of the instruction, by rules. The first takes length for quality and
 * believes every promise; the second misses rudeness alone.
 */
const RULES: readonly [Rule, Rule] = [
  (answer) => {
    if (isVague(answer)) return verdict(2, 4, 1, 0.82, 'It says only that somebody will look into it.');
    if (answer.length < 190) return verdict(3, 5, 3, 0.58, 'It is short, details seem to be missing.');
    return verdict(5, 5, 5, 0.91, 'It is complete and detailed.');
  },
  (answer) => {
    if (isVague(answer)) return verdict(2, 4, 1, 0.93, 'It has no substance: nothing in it helps the customer.');
    if (answer.includes('voucher')) return verdict(1, 1, 4, 0.95, 'It promises a voucher that no document knows of.');
    if (answer.includes('read them first'))
      return verdict(4, 5, 4, 0.61, 'It names the terms and answers the question.');
    return verdict(5, 5, 5, 0.94, 'It answers the question by what the documents and the order say.');
  },
];

function isVague(answer: string): boolean {
  return answer.includes('look into it');
}

function verdict(score: number, grounded: number, helpful: number, confidence: number, reason: string): Verdict {
  return { score, grounded, helpful, confidence, reason };
}

export interface Judged {
  readonly judge_id: string;
  readonly evaluations: number;
  readonly corrections: number;
}

interface JudgeRead {
  readonly id: string;
  readonly task_slug: string;
}

/**
 * A judge, evaluations by the stand-in, and corrections of them. The judge is switched off: where the server has a model
 * endpoint, the demo spends nothing there.
 * @param progress told the number of completions that are through
 */
export async function judge(
  api: Api,
  { projectId, seed, completions }: { projectId: string; seed: number; completions: readonly Completion[] },
  progress: (done: number) => void,
): Promise<Judged> {
  const instructions = await makePrompt(api, projectId, PROMPT);
  const { id: judge_id } = await makeJudge(api, projectId);
  const evaluations = `/projects/${projectId}/judges/${judge_id}/evaluations`;
  const known = await evaluatedSpans(api, evaluations);
  const judgements = judgementsOf(completions, seed);
  const one = async (judgement: Judgement) => {
    const { completion, verdict, corrected } = judgement;
    const { span_id } = completion;
    if (!known.has(span_id)) await api.send('POST', evaluations, evaluationOf(judgement, instructions));
    if (!corrected) return;
    // Sent again, it says nothing new, and replaces what was said.
    const feedback = `/v1/prompts/${TASK}/completions/${span_id}/feedback`;
    await api.send('POST', feedback, correctionOf(judge_id, completion, verdict));
  };
  // Versions of a judge count in the order of their first evaluations.
  const [first, ...others] = judgements;
  if (first !== undefined) await one(first);
  await forEach(others, one, (done) => progress(done + 1));
  const corrections = judgements.filter(({ corrected }) => corrected).length;
  return { judge_id, evaluations: judgements.length, corrections };
}

interface Judgement {
  readonly completion: Completion;
  /** Which version of the instruction the stand-in follows. */
  readonly rule: 0 | 1;
  readonly verdict: Verdict;
  /** Whether somebody says if it is right. */
  readonly corrected: boolean;
  readonly ms: number;
}

/** The first half by the first version of the instruction, the second by the next; the same for the same seed. */
function judgementsOf(completions: readonly Completion[], seed: number): Judgement[] {
  const random = new Random(seedOf(seed, 0x1a));
  return completions.map((completion, index) => {
    const rule = index < completions.length / 2 ? 0 : 1;
    const verdict = RULES[rule](completion.answer);
    return { completion, rule, verdict, corrected: random.chance(CORRECTED), ms: random.whole(380, 2400) };
  });
}

async function makeJudge(api: Api, projectId: string): Promise<JudgeRead> {
  const path = `/projects/${projectId}/judges`;
  const judges = await api.read<JudgeRead[]>(`${path}?limit=500`);
  return (
    judges.find(({ task_slug }) => task_slug === TASK) ??
    (await api.send<JudgeRead>('POST', path, {
      name: 'Answer quality (demo stand-in)',
      task_slug: TASK,
      evaluation_type: 'scored',
      score_min: 1,
      score_max: 5,
      pass_threshold: PASS_THRESHOLD,
      criteria: CRITERIA,
      filters: { kinds: ['llm'], names: ['write_answer'] },
      enabled: false,
    }))
  );
}

const PAGE = 500;

async function evaluatedSpans(api: Api, path: string): Promise<Set<string>> {
  const spans = new Set<string>();
  for (let offset = 0; ; offset += PAGE) {
    const { evaluations } = await api.read<{ evaluations: { span_id: string }[] }>(
      `${path}?limit=${PAGE}&offset=${offset}`,
    );
    for (const { span_id } of evaluations) spans.add(span_id);
    if (evaluations.length < PAGE) return spans;
  }
}

function evaluationOf({ completion, rule, verdict, ms }: Judgement, instructions: readonly MadeVersion[]): object {
  const { score, grounded, helpful, confidence, reason } = verdict;
  return {
    span_id: completion.span_id,
    prompt_version: instructions[rule]?.version,
    score,
    evaluation_reason: reason,
    confidence_score: confidence,
    criteria_scores: { grounded: { score: grounded }, helpful: { score: helpful } },
    model_used: STAND_IN,
    evaluation_duration_ms: ms,
  };
}

/** What somebody says who knows what is wrong with the answer. */
function correctionOf(judge_id: string, { flaw }: Completion, { score }: Verdict): object {
  const deserved = deservedScore(flaw);
  if (score >= PASS_THRESHOLD === deserved >= PASS_THRESHOLD) return { judge_id, judge_was_right: true };
  return {
    judge_id,
    judge_was_right: false,
    expected_score: deserved,
    score_direction: score > deserved ? 'too_high' : 'too_low',
    reason: flaw === null ? 'The answer is right, and short is good.' : COMPLAINTS[flaw][0],
  };
}
