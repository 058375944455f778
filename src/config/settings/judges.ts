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
        'Model endpoint for judges: the address before `/chat/completions`, of OpenAI or any server with a compatible ' +
        'API. Unset: judges are disabled.',
    }),
  ),
  JUDGE_LLM_API_KEY: Type.Optional(
    text({
      pattern: '^[!-~]+$',
      must: 'be printable ASCII characters without spaces',
      secret: true,
      description: 'API key of the model endpoint, if it requires one.',
    }),
  ),
  JUDGE_LLM_MODEL: Type.Optional(
    text({
      pattern: '^[^\\u0000-\\u001f]{1,512}$',
      must: 'be the name of a model',
      description: 'Default model, used if neither the judge nor the version of its prompt names one.',
    }),
  ),
  JUDGE_LLM_MODEL_NAMES: choice(['auto', 'plain', 'full'], {
    default: 'auto',
    description:
      "Form of model names sent to the model endpoint. `auto`: a provider's own endpoint gets names without that " +
      'provider (`api.openai.com` gets `gpt-4o` for `openai/gpt-4o`); other endpoints get names as written. ' +
      '`plain`: always without the provider. `full`: always with the provider, if it is known.',
  }),
  JUDGE_LLM_TIMEOUT_SECONDS: whole({
    default: 60,
    minimum: 1,
    maximum: 3600,
    description: 'Maximum duration of one call to the model endpoint.',
  }),
  JUDGE_CONCURRENCY: whole({
    default: 4,
    minimum: 1,
    maximum: 1000,
    description: 'Maximum number of concurrent calls to the model endpoint.',
  }),
  JUDGE_RATE_PER_MINUTE: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      defaultText: 'no limit',
      description: 'Maximum number of calls to the model endpoint per minute.',
    }),
  ),
  JUDGE_MAX_CHARACTERS: whole({
    default: 60_000,
    minimum: 1000,
    maximum: 10_000_000,
    description:
      "Maximum length of a span's input or output that judges are shown whole. Longer texts are shown without their " +
      'middle.',
  }),
  JUDGE_EXAMPLE_TOKENS: whole({
    default: 4000,
    minimum: 0,
    maximum: 1_000_000,
    description:
      'Maximum number of (estimated) tokens of corrections that a judge is shown as examples in one evaluation. 0: ' +
      'none are shown.',
  }),
  JOBS_AT_ONCE: whole({
    default: 8,
    minimum: 1,
    maximum: 1000,
    description:
      'Maximum number of calibration trials and prompt optimizations that run concurrently. Projects take turns.',
  }),
};
