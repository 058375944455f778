import type { MetricMaker } from './maker.js';

/** Spans that clients send, by source and, where that is wanted, by project. */
export function spanMetrics({ counter }: MetricMaker) {
  return {
    spansAccepted: counter('spanhouse_spans_accepted_total', 'Spans stored and acknowledged, by source interface.', [
      'source',
    ]),
    spansRejected: counter(
      'spanhouse_spans_rejected_total',
      'Spans refused, by source interface and reason; disk_low and disk_full: insufficient disk space.',
      ['source', 'reason'],
    ),
    spanCost: counter(
      'spanhouse_spans_cost_dollars_total',
      'Costs of stored spans in US dollars, sent or calculated, by source interface. A span that is sent again ' +
        'counts again.',
      ['source'],
    ),
    projectSpans: counter(
      'spanhouse_project_spans_total',
      'Spans stored and acknowledged, by project and model; none: without a model. Only with METRICS_PROJECT_SERIES, which bounds ' +
        'the series: the rest are counted under other.',
      ['project', 'model'],
    ),
    projectErrors: counter(
      'spanhouse_project_span_errors_total',
      'Of these, spans with an error, by project and model.',
      ['project', 'model'],
    ),
    projectCost: counter(
      'spanhouse_project_spans_cost_dollars_total',
      'Costs of these spans in US dollars, sent or calculated, by project and model.',
      ['project', 'model'],
    ),
    projectTokens: counter(
      'spanhouse_project_tokens_total',
      'Tokens of these spans, by project, model and direction.',
      ['project', 'model', 'direction'],
    ),
  };
}
