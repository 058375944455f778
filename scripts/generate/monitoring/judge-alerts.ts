import { I, type Alert } from './alert.js';

/** Alerts of judges, and of the models that they ask. */
export const JUDGE_ALERTS: readonly Alert[] = [
  {
    name: 'SpanhouseJudgeQueueOld',
    severity: 'warning',
    means: 'Evaluations wait for a quarter of an hour.',
    query: 'max by (instance) (spanhouse_judge_queue_oldest_seconds) > 900',
    for: '5m',
    summary: 'Evaluations of {{ $labels.instance }} wait for {{ $value | humanizeDuration }}',
    description:
      'Judges fall behind; no evaluation is lost. If model calls fail, act on modelCallFailed in the log. ' +
      'Otherwise, raise JUDGE_CONCURRENCY and JUDGE_RATE_PER_MINUTE as far as the endpoint allows, or lower the ' +
      'sample rate of judges.',
    test: {
      at: '30m',
      ill: { [`spanhouse_judge_queue_oldest_seconds{${I}}`]: '0+60x40' },
      well: { [`spanhouse_judge_queue_oldest_seconds{${I}}`]: '30x40' },
      value: '30m 0s',
    },
  },
  {
    name: 'SpanhouseModelEndpointFailing',
    severity: 'warning',
    means: 'Half of the model calls fail, or judge calls are paused after consecutive failures.',
    query:
      'sum by (instance) (rate(spanhouse_model_call_duration_seconds_count{status!~"ok|aborted"}[5m])) / sum by (instance) (rate(spanhouse_model_call_duration_seconds_count[5m])) > 0.5 or max by (instance) (spanhouse_model_breakers_open) > 0',
    for: '5m',
    summary: 'Model calls of {{ $labels.instance }} fail',
    description:
      'Judges, trials and optimizations need model calls. Evaluations are attempted six times, and ' +
      'judges resume automatically when a call succeeds. The log event modelCallFailed has the reason: address ' +
      '(JUDGE_LLM_BASE_URL), key (JUDGE_LLM_API_KEY), model name, or limits of the endpoint.',
    test: {
      at: '15m',
      ill: [
        {
          [`spanhouse_model_call_duration_seconds_count{${I},status="connection"}`]: '0+30x30',
          [`spanhouse_model_call_duration_seconds_count{${I},status="ok"}`]: '0+10x30',
          [`spanhouse_model_breakers_open{${I}}`]: '0x30',
        },
        // Ten calls failed, and now and then another one does.
        {
          [`spanhouse_model_call_duration_seconds_count{${I},status="connection"}`]: '10x30',
          [`spanhouse_model_breakers_open{${I}}`]: '0 1x30',
        },
        {
          [`spanhouse_model_call_duration_seconds_count{${I},status="timeout"}`]: '0+30x30',
          [`spanhouse_model_breakers_open{${I}}`]: '1x30',
        },
      ],
      well: {
        [`spanhouse_model_call_duration_seconds_count{${I},status="429"}`]: '0+10x30',
        [`spanhouse_model_call_duration_seconds_count{${I},status="ok"}`]: '0+30x30',
        [`spanhouse_model_breakers_open{${I}}`]: '0 1x4 0x30',
      },
    },
  },
];
