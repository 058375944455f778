import type { PromptStore } from '../prompts/prompt-store.js';
import { judgeVersion, type Verdict } from './evaluation.js';
import type { ExampleSource, Examples } from './examples.js';
import { randomCode } from './delimited.js';
import { instructionOf, type Instruction } from './instruction.js';
import type { Judge } from './judge.js';
import { askModel, type ModelCall } from './model-call.js';
import { ModelFailure, type ModelClient } from '../../engine/models/model-client.js';
import { judgeRequest } from './request.js';
import type { JudgedSpan } from '../../engine/traces/model/judged/span-reader.js';
import { showsRow, type JudgedRows } from './judged-row.js';
import { readVerdict } from './verdict.js';

/** Result of an evaluation: a verdict, or why there is none; and every call of the model. */
export interface Judgement {
  readonly verdict: Verdict | null;
  /** Why there is no verdict: code `answer` after two answers of the wrong form, `setup` when nothing can be asked. */
  readonly failure: ModelFailure | null;
  readonly model_used: string | null;
  /** Time that the calls took together, in milliseconds. */
  readonly duration_ms: number;
  readonly prompt_version_id: string | null;
  readonly judge_version: string | null;
  /** The row that the span is a result of; null: none. */
  readonly row_key: string | null;
  /** Spans that the judge was shown as examples. */
  readonly shown: readonly string[];
  readonly calls: readonly ModelCall[];
}

export interface JudgeCallerOptions {
  readonly client: ModelClient;
  readonly prompts: Pick<PromptStore, 'findVersion'>;
  readonly examples: ExampleSource;
  /** Rows of results, for instructions that show them. */
  readonly rows?: JudgedRows;
  /** Makes the code of a request, see {@link judgeRequest}; default: 128 random bits. */
  readonly newCode?: () => string;
}

/** Instruction and examples to use instead of the judge's own. */
export interface JudgeOverrides {
  readonly instruction?: Instruction;
  readonly examples?: Examples;
}

/** Has a model evaluate a span for a judge. Stores nothing, and asks again only after an answer of the wrong form. */
export class JudgeCaller {
  readonly #options: JudgeCallerOptions;

  constructor(options: JudgeCallerOptions) {
    this.#options = options;
  }

  /** The model that would be asked now; null: none is named. @throws DomainError of the store of prompts */
  modelOf(judge: Judge, instruction: Instruction | undefined = instructionOf(this.#options.prompts, judge)) {
    return judge.model ?? instruction?.model_id ?? this.#options.client.defaultModel;
  }

  /** @throws DomainError of the store of prompts or of the source of examples; everything else is in the judgement */
  async evaluate(
    judge: Judge,
    span: JudgedSpan,
    signal: AbortSignal,
    overrides: JudgeOverrides = {},
  ): Promise<Judgement> {
    const { client, prompts, rows, newCode = randomCode } = this.#options;
    const instruction = overrides.instruction ?? instructionOf(prompts, judge);
    if (instruction === undefined) return unasked(`there is no prompt ${judge.task_slug}`);
    const model = this.modelOf(judge, instruction);
    if (model === null) return unasked('no model is set for the judge, its prompt version or the server');
    const examples = overrides.examples ?? (await this.#options.examples.examplesFor(judge, span));
    const { content } = instruction;
    const row = showsRow(content) ? (rows?.rowOf(judge.project_id, span) ?? null) : null;
    const request = judgeRequest({ judge, instruction: content, span, examples, model, code: newCode(), row });
    const read = (text: string) => readVerdict(judge, text);
    const { outcome, failure, calls } = await askModel({ client, projectId: judge.project_id }, request, read, signal);
    return {
      verdict: outcome,
      failure,
      model_used: calls.at(-1)?.answer?.model ?? model,
      duration_ms: calls.reduce((sum, call) => sum + (call.ended_at - call.started_at) / 1000, 0),
      prompt_version_id: instruction.prompt_version_id,
      judge_version: judgeVersion(instruction.prompt_version_id, examples.id),
      row_key: rows?.keyOf(judge.project_id, span) ?? null,
      shown: examples.span_ids,
      calls,
    };
  }
}

function unasked(reason: string): Judgement {
  const failure = new ModelFailure('setup', reason, { retryable: false });
  return {
    verdict: null,
    failure,
    model_used: null,
    duration_ms: 0,
    prompt_version_id: null,
    judge_version: null,
    row_key: null,
    shown: [],
    calls: [],
  };
}
