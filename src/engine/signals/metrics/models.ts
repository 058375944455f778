import type { MetricMaker } from './maker.js';

const MODEL_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 60, 120];

/** Calls of language models. */
export function modelMetrics({ histogram, counter, watched }: MetricMaker) {
  return {
    modelCallDuration: histogram(
      'spanhouse_model_call_duration_seconds',
      'Duration of a call to the model endpoint, by status: ok, an HTTP status, timeout, connection, answer, ' +
        'aborted.',
      MODEL_SECONDS,
      ['status'],
    ),
    watchModelBreakers: watched(
      'spanhouse_model_breakers_open',
      'Models, counted per project, whose judge calls are paused after ten or more consecutive failures.',
    ),
    modelTokens: counter('spanhouse_model_tokens_total', 'Tokens of calls to the model endpoint, by direction.', [
      'direction',
    ]),
    modelCost: counter(
      'spanhouse_model_cost_dollars_total',
      "Cost of calls to the model endpoint in US dollars, if the model's price is known.",
    ),
  };
}
