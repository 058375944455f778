import { randomUUID } from 'node:crypto';
import { guarded, transact, type Database } from '../../../engine/metadata/database.js';
import type { Micros } from '../../../engine/timestamp.js';
import { MAX_PINS, type AskedPin, type Pin, type PinDraft, type PinnedCorrection, type PinStore } from '../pin.js';
import type { ResultVerdict } from '../pin.js';

const COLUMNS = 'p.seq, p.judge_id, p.judge_version, p.prompt_version_id, p.revision, p.lost_at';
/** Pins of a judge that no experiment was judged by, and no run waits for. */
const UNUSED = `judge_id = @judgeId AND NOT EXISTS (SELECT 1 FROM experiment_judges AS e WHERE e.pin = judge_pins.seq)
  AND NOT EXISTS (SELECT 1 FROM judge_runs AS r WHERE r.pin = judge_pins.seq)`;

interface VerdictRow {
  readonly span_id: string;
  readonly evaluation_id: string | null;
  readonly result: number | null;
  readonly score: number | null;
  readonly queued: number;
  readonly failed: number;
}

type Asked = Pick<Pin, 'judge_id' | 'judge_version' | 'seq'> & { readonly projectId: string; readonly ids: string };

type OfJudge = PinnedCorrection & { readonly judge_id: string };

function prepare(db: Database) {
  const run = (state: string) => `EXISTS (SELECT 1 FROM judge_runs AS r INDEXED BY judge_runs_by_span
      WHERE r.judge_id = @judge_id AND r.span_id = of.span_id AND r.state = '${state}' AND r.pin = @seq)`;
  return {
    find: db.prepare<[string, string], Pin>(
      `SELECT ${COLUMNS} FROM judge_pins AS p WHERE judge_id = ? AND judge_version = ?`,
    ),
    read: db.prepare<[number], Pin>(`SELECT ${COLUMNS} FROM judge_pins AS p WHERE seq = ?`),
    dropTexts: db.prepare<{ judgeId: string }>(
      `DELETE FROM judge_pin_corrections WHERE pin IN (SELECT seq FROM judge_pins WHERE ${UNUSED})`,
    ),
    drop: db.prepare<{ judgeId: string }>(`DELETE FROM judge_pins WHERE ${UNUSED}`),
    count: db.prepare<[string], number>('SELECT count(*) FROM judge_pins WHERE judge_id = ?').pluck(),
    insert: db.prepare<Omit<PinDraft, 'corrections'>>(
      `INSERT INTO judge_pins (project_id, judge_id, judge_version, prompt_version_id, revision, created_at)
       VALUES (@project_id, @judge_id, @judge_version, @prompt_version_id, @revision, @created_at)`,
    ),
    dropExamples: db.prepare<{ judgeId: string }>(
      `DELETE FROM judge_pin_examples WHERE judge_id = @judgeId
         AND NOT EXISTS (SELECT 1 FROM judge_pin_corrections AS c WHERE c.example = judge_pin_examples.seq)`,
    ),
    example: db
      .prepare<OfJudge, number>(
        'SELECT seq FROM judge_pin_examples WHERE span_id = @span_id AND judge_id = @judge_id AND example = @example',
      )
      .pluck(),
    insertExample: db
      .prepare<OfJudge & { id: string }, number>(
        `INSERT INTO judge_pin_examples (id, judge_id, span_id, example) VALUES (@id, @judge_id, @span_id, @example) RETURNING seq`,
      )
      .pluck(),
    insertCorrection: db.prepare<[number | bigint, number, number | undefined]>(
      'INSERT INTO judge_pin_corrections (pin, position, example) VALUES (?, ?, ?)',
    ),
    corrections: db.prepare<[number], PinnedCorrection>(
      `SELECT e.span_id, e.example FROM judge_pin_corrections AS c JOIN judge_pin_examples AS e ON e.seq = c.example
       WHERE c.pin = ? ORDER BY c.position`,
    ),
    askAgain: db.prepare<{ id: string; pin: number }>(
      'DELETE FROM experiment_judges WHERE experiment = (SELECT seq FROM experiments WHERE id = @id) AND pin = @pin',
    ),
    ask: db.prepare<{ id: string; pin: number; at: Micros }>(
      'INSERT INTO experiment_judges (experiment, pin, asked_at) SELECT seq, @pin, @at FROM experiments WHERE id = @id',
    ),
    ofExperiment: db.prepare<[string, string], AskedPin>(
      `SELECT ${COLUMNS}, j.name AS judge_name, j.evaluation_type FROM experiments AS x
       JOIN experiment_judges AS e ON e.experiment = x.seq JOIN judge_pins AS p ON p.seq = e.pin JOIN judges AS j ON j.id = p.judge_id
       WHERE x.project_id = ? AND x.id = ? ORDER BY e.seq DESC`,
    ),
    isQueued: db
      .prepare<[number, string], number>(
        `SELECT EXISTS (SELECT 1 FROM judge_runs WHERE pin = ? AND experiment_id = ? AND state = 'queued')`,
      )
      .pluck(),
    verdicts: db.prepare<Asked, VerdictRow>(
      `SELECT of.span_id, e.id AS evaluation_id, e.evaluation_result AS result, e.score, ${run('queued')} AS queued, ${run('failed')} AS failed
       FROM (SELECT i.key AS place, i.value AS span_id,
           (SELECT seq FROM evaluations INDEXED BY evaluations_by_span WHERE project_id = @projectId AND span_id = i.value
              AND judge_id = @judge_id AND judge_version = @judge_version ORDER BY created_at DESC, seq DESC LIMIT 1) AS newest
         FROM json_each(@ids) AS i) AS of
       LEFT JOIN evaluations AS e ON e.seq = of.newest ORDER BY of.place`,
    ),
  };
}

/** Pinned versions of judges, in the SQLite file. */
export class SqlitePinStore implements PinStore {
  readonly #db: Database;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: Database) {
    this.#db = db;
    this.#statements = prepare(db);
  }

  find(judgeId: string, judgeVersion: string): Pin | undefined {
    return guarded(() => this.#statements.find.get(judgeId, judgeVersion));
  }

  read(seq: number): Pin | undefined {
    return guarded(() => this.#statements.read.get(seq));
  }

  keep({ corrections, ...draft }: PinDraft): Pin | undefined {
    const { find, dropTexts, drop, dropExamples, count, insert, insertCorrection } = this.#statements;
    return transact(this.#db, () => {
      const known = find.get(draft.judge_id, draft.judge_version);
      if (known !== undefined) return known;
      dropTexts.run({ judgeId: draft.judge_id });
      if (drop.run({ judgeId: draft.judge_id }).changes > 0) dropExamples.run({ judgeId: draft.judge_id });
      if ((count.get(draft.judge_id) ?? 0) >= MAX_PINS) return undefined;
      const pin = insert.run(draft).lastInsertRowid;
      for (const [position, correction] of corrections.entries())
        insertCorrection.run(pin, position, this.#example({ ...correction, judge_id: draft.judge_id }));
      return find.get(draft.judge_id, draft.judge_version);
    });
  }

  /** The number of an example, which versions of a judge that show the same have in common. */
  #example(of: OfJudge): number | undefined {
    const { example, insertExample } = this.#statements;
    return example.get(of) ?? insertExample.get({ ...of, id: randomUUID() });
  }

  corrections(seq: number): PinnedCorrection[] {
    return guarded(() => this.#statements.corrections.all(seq));
  }

  ask(experimentId: string, pin: number, at: Micros): void {
    const of = { id: experimentId, pin };
    transact(this.#db, () => {
      this.#statements.askAgain.run(of);
      this.#statements.ask.run({ ...of, at });
    });
  }

  ofExperiment(projectId: string, experimentId: string): AskedPin[] {
    return guarded(() => this.#statements.ofExperiment.all(projectId, experimentId));
  }

  isQueued(seq: number, experimentId: string): boolean {
    return guarded(() => this.#statements.isQueued.get(seq, experimentId) === 1);
  }

  verdicts(projectId: string, { seq, judge_id, judge_version }: Pin, spanIds: readonly string[]): ResultVerdict[] {
    const asked = { seq, judge_id, judge_version, projectId, ids: JSON.stringify(spanIds) };
    return guarded(() => this.#statements.verdicts.all(asked)).map(({ result, queued, failed, ...verdict }) => ({
      ...{ ...verdict, passed: result === null ? null : result === 1 },
      state: result !== null ? 'evaluated' : queued === 1 ? 'queued' : failed === 1 ? 'failed' : 'missing',
    }));
  }
}
