import type { MetricDefinition } from '../../../src/engine/signals/documentation.js';

/** How names of our metrics begin, and what Prometheus adds to those of a histogram. */
const NAME = /\b(?:spanhouse|http|rpc|process|nodejs)_[a-z0-9_]+/g;
const OF_HISTOGRAM = /_(bucket|sum|count)$/;

export type Metrics = ReadonlyMap<string, MetricDefinition>;

/** Metrics by every name that a query may call them. */
export function namedMetrics(definitions: readonly MetricDefinition[]): Metrics {
  const names = definitions.flatMap((definition) => {
    const { name, type } = definition;
    if (type !== 'histogram') return [[name, definition] as const];
    return ['_bucket', '_sum', '_count'].map((ending) => [name + ending, definition] as const);
  });
  return new Map(names);
}

/** The metrics that a query reads. @throws Error when it names one that the server does not have */
export function metricsOf(query: string, metrics: Metrics): MetricDefinition[] {
  // Labels such as reason="http_error" are no names.
  const names = query.replace(/"[^"]*"/g, '""').match(NAME) ?? [];
  return names.map((name) => {
    const metric = metrics.get(name);
    if (metric === undefined) {
      const hint = OF_HISTOGRAM.test(name) ? '' : ' (of a histogram, name _bucket, _sum or _count)';
      throw new Error(`The server has no metric ${name}${hint}, which is in: ${query}`);
    }
    return metric;
  });
}
