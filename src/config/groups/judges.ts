import type { Limits } from '../limits.js';
import type { Settings } from '../settings.js';

/** Judges, and the model endpoint that they ask. */
export function judgeGroup(settings: Settings, limits: Limits) {
  return {
    judges: {
      /** Null: judges do not run. */
      llm:
        settings.JUDGE_LLM_BASE_URL === undefined
          ? null
          : {
              baseUrl: settings.JUDGE_LLM_BASE_URL.replace(/\/+$/, ''),
              apiKey: settings.JUDGE_LLM_API_KEY ?? null,
              model: settings.JUDGE_LLM_MODEL ?? null,
              modelNames: settings.JUDGE_LLM_MODEL_NAMES,
              timeoutSeconds: settings.JUDGE_LLM_TIMEOUT_SECONDS,
            },
      concurrency: settings.JUDGE_CONCURRENCY,
      /** Null: no limit. */
      ratePerMinute: settings.JUDGE_RATE_PER_MINUTE ?? null,
      maxAttempts: limits.judgeAttempts,
      queueMax: limits.judgeQueue,
      maxCharacters: settings.JUDGE_MAX_CHARACTERS,
      maxAnswerCharacters: limits.modelAnswerCharacters,
      maxAnswerBytes: limits.modelAnswerBytes,
      exampleTokens: settings.JUDGE_EXAMPLE_TOKENS,
    },
  };
}
