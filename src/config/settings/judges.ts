import { Type } from '@sinclair/typebox';
import { choice, text, whole } from './kinds.js';

/** Models, judges and jobs. */
export const judgeSettings = {
  JUDGE_LLM_BASE_URL: Type.Optional(
    text({
      pattern: '^(?!.*/chat/completions/*$)https?://[^\\s/?#@]+(/[^\\s?#]*)?$',
      must:
        'be the address before /chat/completions: an http:// or https:// URL without user, query or fragment, such as ' +
        'https://api.openai.com/v1',
      description:
        'Model endpoint of judges: its address before `/chat/completions`, of OpenAI or of any server that speaks its ' +
        'API. Unset: judges do not run.',
    }),
  ),
  JUDGE_LLM_API_KEY: Type.Optional(
    text({
      pattern: '^[!-~]+$',
      must: 'be printable ASCII characters without spaces',
      secret: true,
      description: 'API key of the model endpoint, when it needs one.',
    }),
  ),
  JUDGE_LLM_MODEL: Type.Optional(
    text({
      pattern: '^[^\\u0000-\\u001f]{1,512}$',
      must: 'be the name of a model',
      description: 'Default model: asked when neither the judge nor the version of its prompt names one.',
    }),
  ),
  JUDGE_LLM_MODEL_NAMES: choice(['auto', 'plain', 'full'], {
    default: 'auto',
    description:
      'How the model endpoint is sent the names of models. `auto`: `openai/gpt-4o` is `gpt-4o` at `api.openai.com`, and so on at ' +
      "every provider's own endpoint; any other is sent names as they are written. `plain`: never with a provider in front. `full`: " +
      'always with it, as far as it is known.',
  }),
  JUDGE_LLM_TIMEOUT_SECONDS: whole({
    default: 60,
    minimum: 1,
    maximum: 3600,
    description: 'Longest time that one call to the model endpoint may take.',
  }),
  JUDGE_CONCURRENCY: whole({
    default: 4,
    minimum: 1,
    maximum: 1000,
    description: 'Most calls to the model endpoint at once.',
  }),
  JUDGE_RATE_PER_MINUTE: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      defaultText: 'no limit',
      description: 'Most calls to the model endpoint in a minute.',
    }),
  ),
  JUDGE_MAX_ATTEMPTS: whole({
    default: 6,
    minimum: 1,
    maximum: 100,
    description:
      'Attempts at an evaluation while the model endpoint is overloaded, fails or does not answer; then the evaluation fails.',
  }),
  JUDGE_QUEUE_MAX: whole({
    default: 20_000,
    minimum: 1,
    maximum: 1_000_000,
    description:
      'Most evaluations in the queue. While it is full, projects that have an equal share of it or more queue new spans later; none is lost.',
  }),
  JUDGE_MAX_CHARACTERS: whole({
    default: 60_000,
    minimum: 1000,
    maximum: 10_000_000,
    description:
      'Longest input or output of a span that judges are shown whole; a longer one is shown without its middle.',
  }),
  JUDGE_MAX_ANSWER_CHARACTERS: whole({
    default: 1_000_000,
    minimum: 1000,
    maximum: 8_000_000,
    description: 'Longest answer of a model that is read whole; a longer one is cut.',
  }),
  JUDGE_MAX_ANSWER_MB: whole({
    default: 8,
    minimum: 1,
    maximum: 64,
    description: 'Largest answer of the model endpoint; with a larger one, the evaluation fails.',
  }),
  JUDGE_EXAMPLE_TOKENS: whole({
    default: 4000,
    minimum: 0,
    maximum: 1_000_000,
    description:
      'Most tokens (estimated) of the corrections by people that a judge is shown as examples in one evaluation. 0: none are shown.',
  }),
  JOBS_AT_ONCE: whole({
    default: 8,
    minimum: 1,
    maximum: 1000,
    description: 'Most calibration trials and prompt optimisations running at once; projects take turns.',
  }),
  JOBS_PER_PROJECT: whole({
    default: 2,
    minimum: 1,
    maximum: 1000,
    description: 'Most of the jobs counted by `JOBS_AT_ONCE` that one project may have running.',
  }),
  JOB_MAX_ATTEMPTS: whole({
    default: 20,
    minimum: 1,
    maximum: 1000,
    description:
      'Attempts at a background job (trials, optimisations, recalculations of costs) that makes no progress because a store does not answer; then the job fails.',
  }),
};
