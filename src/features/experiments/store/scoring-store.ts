import { randomUUID } from 'node:crypto';
import { guarded, transact, type Database } from '../../../engine/metadata/database.js';
import type { Scorer, ScoringStore, StatedMetric } from '../experiment.js';

type ScorerRow = Omit<Scorer, 'outputs' | 'output_formats'> & {
  readonly outputs: string;
  readonly output_formats: string;
};
type MetricRow = Omit<StatedMetric, 'results' | 'output_formats'> & {
  readonly results: string;
  readonly output_formats: string;
};

const EXPERIMENT = '(SELECT seq FROM experiments WHERE id = @experimentId)';
const SCORERS = `SELECT id, name, mode, code, description, outputs, output_formats, created_at FROM experiment_scorers
  WHERE experiment = ${EXPERIMENT}`;

interface OfExperiment {
  readonly experimentId: string;
}

function prepare(db: Database) {
  return {
    scorers: db.prepare<OfExperiment, ScorerRow>(`${SCORERS} ORDER BY name, mode`),
    scorer: db.prepare<OfExperiment & Pick<Scorer, 'name' | 'mode'>, ScorerRow>(
      `${SCORERS} AND name = @name AND mode = @mode`,
    ),
    create: db.prepare<object>(
      `INSERT INTO experiment_scorers (id, experiment, name, mode, code, description, outputs, output_formats, created_at)
       VALUES (@id, ${EXPERIMENT}, @name, @mode, @code, @description, @outputs, @output_formats, @created_at)`,
    ),
    setFormats: db.prepare<[string, string]>('UPDATE experiment_scorers SET output_formats = ? WHERE id = ?'),
    removeScorer: db.prepare<[string]>('DELETE FROM experiment_scorers WHERE id = ?'),
    removeMetrics: db.prepare<OfExperiment & Pick<Scorer, 'name' | 'mode'>>(
      `DELETE FROM experiment_metrics WHERE experiment = ${EXPERIMENT} AND scope = @mode AND name = @name`,
    ),
    metrics: db.prepare<OfExperiment, MetricRow>(
      `SELECT scope, name, repetition, results, output_formats, created_at FROM experiment_metrics
       WHERE experiment = ${EXPERIMENT} ORDER BY scope, name, repetition`,
    ),
    putMetric: db.prepare<object>(
      `INSERT INTO experiment_metrics (experiment, scope, name, repetition, results, output_formats, created_at)
       VALUES (${EXPERIMENT}, @scope, @name, @repetition, @results, @output_formats, @created_at)
       ON CONFLICT (experiment, scope, name, repetition)
       DO UPDATE SET results = excluded.results, output_formats = excluded.output_formats, created_at = excluded.created_at`,
    ),
  };
}

/** Scorers and metrics of experiments in the SQLite file. */
export class SqliteScoringStore implements ScoringStore {
  readonly #db: Database;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: Database) {
    this.#db = db;
    this.#statements = prepare(db);
  }

  scorers(experimentId: string): Scorer[] {
    return guarded(() => this.#statements.scorers.all({ experimentId }).map(toScorer));
  }

  ensureScorer(experimentId: string, draft: Omit<Scorer, 'id'>): Scorer {
    const { name, mode, outputs, output_formats } = draft;
    const known = guarded(() => this.#statements.scorer.get({ experimentId, name, mode }));
    if (known !== undefined) return toScorer(known);
    const scorer = { ...draft, id: randomUUID() };
    const json = { outputs: JSON.stringify(outputs), output_formats: JSON.stringify(output_formats) };
    guarded(() => this.#statements.create.run({ ...scorer, ...json, experimentId }));
    return scorer;
  }

  setFormats(scorerId: string, formats: Readonly<Record<string, string>>): void {
    guarded(() => this.#statements.setFormats.run(JSON.stringify(formats), scorerId));
  }

  removeScorer(experimentId: string, { id, name, mode }: Pick<Scorer, 'id' | 'name' | 'mode'>): void {
    transact(this.#db, () => {
      this.#statements.removeMetrics.run({ experimentId, name, mode });
      this.#statements.removeScorer.run(id);
    });
  }

  metrics(experimentId: string): StatedMetric[] {
    return guarded(() => this.#statements.metrics.all({ experimentId })).map((row) => ({
      ...row,
      results: JSON.parse(row.results) as StatedMetric['results'],
      output_formats: JSON.parse(row.output_formats) as StatedMetric['output_formats'],
    }));
  }

  putMetric(experimentId: string, { results, output_formats, ...metric }: StatedMetric): void {
    const json = { results: JSON.stringify(results), output_formats: JSON.stringify(output_formats) };
    guarded(() => this.#statements.putMetric.run({ ...metric, ...json, experimentId }));
  }
}

function toScorer(row: ScorerRow): Scorer {
  return {
    ...row,
    outputs: JSON.parse(row.outputs) as string[],
    output_formats: JSON.parse(row.output_formats) as Scorer['output_formats'],
  };
}
