import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Bounds for what takes as long as a request. */
export const REQUEST_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Makes the metrics of one registry. */
export type MetricMaker = ReturnType<typeof metricMaker>;

export function metricMaker(registry: Registry) {
  const registers = [registry];
  const histogram = <L extends string>(name: string, help: string, buckets: number[], labelNames: readonly L[] = []) =>
    new Histogram({ name, help, buckets, labelNames: [...labelNames], registers });
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Counter({ name, help, labelNames: [...labelNames], registers });
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Gauge({ name, help, labelNames: [...labelNames], registers });

  /** A gauge that is asked for its value when somebody reads the metrics. */
  const watched = (name: string, help: string) => {
    let read: () => number = () => 0;
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
    return (source: () => number) => (read = source);
  };
  return { registry, histogram, counter, gauge, watched };
}
