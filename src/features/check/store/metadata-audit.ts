import type { Audit, AuditedPage, Suspect } from '../../../engine/traces/model/check/audit.js';
import type { Database } from '../../../engine/metadata/database.js';

/** The most damages that SQLite lists. */
const LISTED = 100;

/** SQLite's own checks of the file, and of the references that it knows. */
export class MetadataAudit implements Audit {
  readonly title = 'SQLite file';
  readonly unit = 'checks';
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  async total(): Promise<number> {
    return 2 + REFERENCES.length;
  }

  async *pages(): AsyncGenerator<AuditedPage> {
    const damages = this.#damages();
    yield { checked: 1, suspects: damages };
    // What cannot be read says nothing about references.
    if (damages.length > 0) return;
    yield { checked: 1, suspects: this.#foreignKeys() };
    for (const reference of REFERENCES) yield { checked: 1, ...this.#lost(reference) };
  }

  #damages(): Suspect[] {
    let said: readonly string[];
    try {
      said = (this.#db.pragma(`integrity_check(${LISTED})`) as { integrity_check: string }[]).map(
        ({ integrity_check }) => integrity_check,
      );
    } catch (error) {
      said = [error instanceof Error ? error.message : String(error)];
    }
    return said
      .filter((line) => line !== 'ok')
      .map((line) => ({ flaw: 'sqlite_damaged' as const, project: '', id: line }));
  }

  #foreignKeys(): Suspect[] {
    const rows = this.#db.pragma('foreign_key_check') as { table: string; rowid: number | null; parent: string }[];
    return rows.map(({ table, rowid, parent }) => ({
      flaw: 'sqlite_reference',
      project: '',
      id: rowid === null ? table : `${table}, rowid ${rowid}`,
      detail: `refers to a row of ${parent} that does not exist`,
    }));
  }

  #lost({ what, from, id }: Reference): Pick<AuditedPage, 'suspects' | 'unlisted'> {
    const rows = this.#db
      .prepare<[], { id: string; count: number }>(`SELECT ${id} AS id, count(*) OVER () AS count FROM ${from} LIMIT 20`)
      .all();
    return {
      suspects: rows.map((row) => ({ flaw: 'sqlite_reference', project: '', id: row.id, detail: what })),
      unlisted: Math.max(0, (rows[0]?.count ?? 0) - rows.length),
    };
  }
}

/** A reference that SQLite itself does not know of, or a count that has to agree. */
interface Reference {
  readonly what: string;
  /** Rows that are wrong. */
  readonly from: string;
  /** What names one. */
  readonly id: string;
}

/** Nothing is wrong with what is on its way out. */
const OF_NO_PROJECT = `project_id NOT IN (SELECT id FROM projects UNION SELECT project_id FROM deletions)`;
const ofNoProject = (table: string, id: string): Reference => ({
  what: `a row of ${table} of a missing project`,
  from: `${table} WHERE ${OF_NO_PROJECT}`,
  id,
});
const ofNoJudge = (table: string): Reference => ({
  what: `a row of ${table} of a missing judge`,
  from: `${table} WHERE judge_id NOT IN (SELECT id FROM judges)`,
  id: 'judge_id',
});

const REFERENCES: readonly Reference[] = [
  ofNoProject('judge_runs', 'id'),
  ofNoProject('judge_calls', 'run_id'),
  ofNoProject('judged_traces', 'run_id'),
  ofNoProject('job_traces', 'job_id'),
  ofNoProject('attachments', 'sha256'),
  ofNoProject('attachment_namings', 'sha256'),
  ofNoJudge('corrections'),
  ofNoJudge('correction_sets'),
  ofNoJudge('judge_versions'),
  {
    what: 'an evaluation that is still queued',
    from: 'judge_runs WHERE id IN (SELECT id FROM evaluations)',
    id: 'id',
  },
  {
    what: 'a trace that was shown for a missing run or evaluation',
    from: `judged_traces AS t WHERE NOT EXISTS (SELECT 1 FROM evaluations WHERE id = t.run_id)
      AND NOT EXISTS (SELECT 1 FROM judge_runs WHERE id = t.run_id) AND NOT EXISTS (SELECT 1 FROM judge_calls WHERE run_id = t.run_id)`,
    id: 'run_id',
  },
  {
    what: 'an evaluation of a trace or session of which it is unknown what was shown',
    from: `evaluations AS e INDEXED BY evaluations_of_wholes WHERE subject_id IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM judged_traces WHERE run_id = e.id)`,
    id: 'id',
  },
  {
    what: 'a judge version with a wrong evaluation count',
    from: `judge_versions AS v WHERE evaluations <> (SELECT count(*) FROM evaluations AS e
      WHERE e.judge_id = v.judge_id AND e.judge_version = v.judge_version)`,
    id: 'judge_version',
  },
  {
    what: 'an unknown image that spans refer to',
    // One that was announced is not known before it comes.
    from: `attachment_namings AS n WHERE (n.version IS NOT NULL OR n.announced_at IS NULL) AND NOT EXISTS (
      SELECT 1 FROM attachments AS a WHERE a.project_id = n.project_id AND a.sha256 = n.sha256)`,
    id: 'sha256',
  },
  {
    what: 'a prompt tag that points to a missing version',
    from: `(SELECT prompt_id, tag, version FROM (SELECT *, row_number() OVER (
        PARTITION BY prompt_id, tag ORDER BY pinned_at DESC, id DESC) AS place FROM prompt_tag_pins WHERE counts = 1)
      WHERE place = 1 AND version <> 0) AS p
      WHERE NOT EXISTS (SELECT 1 FROM prompt_versions AS v WHERE v.prompt_id = p.prompt_id AND v.version = p.version)`,
    id: "prompt_id || ' ' || tag",
  },
];
