import { uuid } from '../harness/checked-api.js';
import type { ConsoleScene } from './harness.js';

export const HOSTILE = '<img src=x onerror=alert(1)>\u202E';

export interface MadeExperiment {
  readonly id: string;
  readonly name: string;
}

interface Run {
  readonly rows?: number;
  readonly more?: object;
  /** Whether it goes on. */
  readonly isOpen?: boolean;
}

/** Makes datasets and experiments over the API. */
export function experimentsScene({
  post,
  server,
}: Pick<ConsoleScene, 'post'> & { readonly server: () => ConsoleScene['server'] }) {
  let traces = 0;
  const path = (rest = '') => `/projects/${server().projectId}/experiments${rest}`;
  return {
    path,
    /** A dataset with rows `r1`, `r2`, … that have an input and an expected text. */
    async dataset(name: string, rows: number): Promise<void> {
      await post('/v1/datasets', { name, roles: { q: 'input', a: 'expected', language: 'metadata' } });
      const all = Array.from({ length: rows }, (_, index) => ({
        ...{ row_id: `r${index + 1}`, q: `Question ${index + 1}`, a: `Answer ${index + 1} ${HOSTILE}` },
        language: index % 2 === 0 ? 'en' : 'de',
      }));
      await post(`/v1/datasets/${name}/versions`, { rows: all });
    },
    /** An experiment with a result of each row, made in a trace that cost a cent. @param scores of a row; null: an error */
    async run(
      dataset: string,
      name: string,
      scores: (row: number) => object | null,
      { rows = 20, more = {}, isOpen = false }: Run = {},
    ): Promise<MadeExperiment> {
      const made = await post(path(), { name, dataset, ...more });
      const places = Array.from({ length: rows }, (_, index) => ({
        row: index + 1,
        trace_id: uuid(9000 + (traces += 1)),
      }));
      const started_at = new Date(Date.now() - 60_000).toISOString();
      const ended_at = new Date(Date.now() - 59_000).toISOString();
      await post(
        '/spans',
        places.map(({ trace_id }) => ({
          id: trace_id,
          trace_id,
          name: 'run',
          kind: 'llm',
          started_at,
          ended_at,
          cost: 0.01,
        })),
      );
      await post(
        path(`/${made.id}/results`),
        places.map(({ row, trace_id }) => {
          const given = scores(row);
          const said = given === null ? { error: 'timed out' } : { output_data: `${name} says ${row}`, scores: given };
          return { row_id: `r${row}`, trace_id, ...said };
        }),
      );
      if (!isOpen) await post(path(`/${made.id}:finish`), undefined);
      return made;
    },
  };
}
