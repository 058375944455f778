import type { Audit, AuditedPage, Extent, Suspect } from '../../../engine/traces/model/check/audit.js';
import type { FlawName } from '../../../engine/traces/model/check/flaws.js';
import type { Database } from '../../../engine/metadata/database.js';

/** Which of some spans are stored. */
export type FindStored = (projectId: string, spanIds: readonly string[]) => Promise<ReadonlySet<string>>;

/** Records that are of a span, which must be there: the server made them when it was, and they go with it. */
interface RecordsOfSpans {
  readonly flaw: FlawName;
  /** Rows with `project_id`, `span_id` and `id`. */
  readonly rows: string;
}

/** Not feedback, comments and evaluations of clients: these may come before their span, and without one. */
const RECORDS: readonly RecordsOfSpans[] = [
  {
    flaw: 'evaluation_without_span',
    rows: "SELECT project_id, span_id, id FROM evaluations WHERE origin <> 'external'",
  },
  // The run of a trace or session waits on, whatever became of the span that had it queued.
  { flaw: 'run_without_span', rows: 'SELECT project_id, span_id, id FROM judge_runs WHERE subject_id IS NULL' },
  {
    flaw: 'job_without_span',
    rows: `SELECT project_id, span_id, id FROM job_spans JOIN jobs ON jobs.id = job_id WHERE finished_at IS NULL`,
  },
];

/** Spans that are asked for at once. */
const PAGE = 5_000;

interface Row {
  readonly project_id: string;
  readonly span_id: string;
  readonly id: string;
}

/** Evaluations, their queue and jobs against the spans that they are of. */
export class RecordAudit implements Audit {
  readonly title = 'evaluations, queue and jobs';
  readonly unit = 'spans';
  readonly #db: Database;
  readonly #extent: Extent;
  readonly #stored: FindStored;

  constructor(db: Database, extent: Extent, stored: FindStored) {
    this.#db = db;
    this.#extent = extent;
    this.#stored = stored;
  }

  async total(): Promise<number> {
    const { sample } = this.#extent;
    const all = RECORDS.reduce((sum, { rows }) => sum + this.#count(rows), 0);
    return sample === null ? all : Math.min(all, sample * RECORDS.length);
  }

  async *pages(): AsyncGenerator<AuditedPage> {
    for (const { flaw, rows } of RECORDS) {
      let after: Row = { project_id: '', span_id: '', id: '' };
      for (;;) {
        const page = this.#page(rows, after);
        const last = page.at(-1);
        if (last === undefined) break;
        yield { checked: page.length, suspects: await this.#examine(flaw, page) };
        after = last;
      }
    }
  }

  async again(suspects: readonly Suspect[]): Promise<readonly Suspect[]> {
    const found: Suspect[] = [];
    for (const { flaw, rows } of RECORDS) {
      const ids = suspects.filter((suspect) => suspect.flaw === flaw).map(({ id }) => id);
      const still = this.#db
        .prepare<[string], Row>(`SELECT * FROM (${rows}) WHERE id IN (SELECT value FROM json_each(?)) LIMIT ${PAGE}`)
        .all(JSON.stringify(ids));
      found.push(...(await this.#examine(flaw, still)));
    }
    return found;
  }

  #count(rows: string): number {
    return this.#db.prepare<[], number>(`SELECT count(*) FROM (${rows})`).pluck().get() ?? 0;
  }

  #page(rows: string, after: Row): Row[] {
    const { sample, seed } = this.#extent;
    const share = sample === null ? 1 : sample / Math.max(1, this.#count(rows));
    const picked = share >= 1 ? '' : ' AND picked(span_id, @seed, @share)';
    return this.#db
      .prepare<object, Row>(
        `SELECT * FROM (${rows}) WHERE (project_id, span_id, id) > (@project_id, @span_id, @id)${picked}
         ORDER BY project_id, span_id, id LIMIT ${PAGE}`,
      )
      .all(picked === '' ? after : { ...after, seed, share });
  }

  async #examine(flaw: FlawName, rows: readonly Row[]): Promise<Suspect[]> {
    const found: Suspect[] = [];
    for (const project of new Set(rows.map(({ project_id }) => project_id))) {
      const own = rows.filter(({ project_id }) => project_id === project);
      const stored = await this.#stored(project, [...new Set(own.map(({ span_id }) => span_id))]);
      const lost = own.filter(({ span_id }) => !stored.has(span_id));
      found.push(...lost.map(({ span_id, id }) => ({ flaw, project, id, detail: `span ${span_id}` })));
    }
    return found;
  }
}
