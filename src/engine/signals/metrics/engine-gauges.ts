import { Gauge, type Registry } from 'prom-client';

/** What ClickHouse says of itself, as far as it does. */
export interface EngineFigures {
  readonly memoryBytes: number;
  /** Active parts of all tables. */
  readonly parts: number;
  /** Active parts of the partition that has most of them. */
  readonly partitionParts: number;
}

/** Asks ClickHouse; null when it does not answer. */
export type ReadEngineFigures = () => Promise<Partial<EngineFigures> | null>;

/** However often the metrics are read, ClickHouse is asked once in this time. */
const ASK_EVERY_MS = 1_000;

/** Gauges of ClickHouse, which is asked when someone reads the metrics. @returns what says how it is asked */
export function engineGauges(registry: Registry): (read: ReadEngineFigures) => void {
  let ask: ReadEngineFigures = async () => null;
  const gauge = (name: string, help: string, value: (figures: Partial<EngineFigures> | null) => number | undefined) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const figure = value(await ask());
        // One that is not known is left out: 0 would be a figure.
        if (figure === undefined) this.remove();
        else this.set(figure);
      },
    });
  gauge('spanhouse_engine_up', '1 while ClickHouse responds, else 0.', (figures) => (figures === null ? 0 : 1));
  gauge(
    'spanhouse_engine_memory_bytes',
    'Memory that ClickHouse uses, by its own count.',
    (figures) => figures?.memoryBytes,
  );
  gauge(
    'spanhouse_engine_parts',
    'Active parts of all tables in ClickHouse; merges keep their number low.',
    (figures) => figures?.parts,
  );
  gauge(
    'spanhouse_engine_partition_parts',
    'Active parts of the partition with the most; ClickHouse slows down writes from 1,000 on.',
    (figures) => figures?.partitionParts,
  );
  return (read) => (ask = onceIn(ASK_EVERY_MS, read));
}

/** What `read` answers, asked once in a time for all who ask in it. */
function onceIn<T>(milliseconds: number, read: () => Promise<T>): () => Promise<T> {
  let asked = Number.NEGATIVE_INFINITY;
  let answer: Promise<T> | undefined;
  return () => {
    const now = performance.now();
    if (answer === undefined || now - asked > milliseconds) {
      asked = now;
      answer = read();
    }
    return answer;
  };
}
