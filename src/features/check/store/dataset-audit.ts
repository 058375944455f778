import type { Audit, AuditedPage, Extent, Suspect } from '../../../engine/traces/model/check/audit.js';
import type { Database } from '../../../engine/metadata/database.js';
import { contentHash } from '../../datasets/files/row-set.js';
import { DATASET_CHECKS, type DatasetCheck } from './dataset-checks.js';

/** The most of one kind that is listed. */
const LISTED = 20;
/** Contents that are read together: one may have a megabyte. */
const PAGE = 100;

interface Found {
  readonly project: string;
  readonly id: string;
  readonly state: string;
}

interface Content {
  readonly seq: number;
  readonly project: string;
  readonly dataset: string;
  readonly content: string;
  readonly hash: Buffer;
}

/** Datasets, experiments, comparisons and kept versions of judges against each other, and rows against what was sent. */
export class DatasetAudit implements Audit {
  readonly title = 'datasets and experiments';
  readonly unit = 'checks and rows';
  readonly #db: Database;
  readonly #extent: Extent;

  constructor(db: Database, extent: Extent) {
    this.#db = db;
    this.#extent = extent;
  }

  async total(): Promise<number> {
    const { sample } = this.#extent;
    const contents = this.#contents();
    return DATASET_CHECKS.length + (sample === null ? contents : Math.min(sample, contents));
  }

  async *pages(): AsyncGenerator<AuditedPage> {
    for (const check of DATASET_CHECKS) yield { checked: 1, ...this.#wrong(check) };
    for (let after = 0; ;) {
      const page = this.#page(after);
      const last = page.at(-1);
      if (last === undefined) return;
      yield { checked: page.length, suspects: page.flatMap(damageOf) };
      after = last.seq;
    }
  }

  async again(suspects: readonly Suspect[]): Promise<readonly Suspect[]> {
    const damaged = suspects.filter(({ flaw }) => flaw === 'dataset_content');
    const checks = DATASET_CHECKS.filter(({ what }) => suspects.some(({ detail }) => detail === what));
    return [...damaged, ...checks.flatMap((check) => this.#still(check, suspects))];
  }

  #wrong(check: DatasetCheck): Pick<AuditedPage, 'suspects' | 'unlisted'> {
    const rows = this.#db
      .prepare<[], Found & { count: number }>(
        `SELECT *, count(*) OVER () AS count FROM (${check.rows}) LIMIT ${LISTED}`,
      )
      .all();
    return {
      suspects: rows.map((row) => suspectOf(check, row)),
      unlisted: Math.max(0, (rows[0]?.count ?? 0) - rows.length),
    };
  }

  #still(check: DatasetCheck, suspects: readonly Suspect[]): Suspect[] {
    const ids = suspects.filter(({ detail }) => detail === check.what).map(({ id }) => id);
    return this.#db
      .prepare<[string], Found>(`SELECT * FROM (${check.rows}) WHERE id IN (SELECT value FROM json_each(?))`)
      .all(JSON.stringify(ids))
      .map((row) => suspectOf(check, row));
  }

  #contents(): number {
    return this.#db.prepare<[], number>('SELECT count(*) FROM dataset_contents').pluck().get() ?? 0;
  }

  #page(after: number): Content[] {
    const { sample, seed } = this.#extent;
    const share = sample === null ? 1 : sample / Math.max(1, this.#contents());
    const picked = share >= 1 ? '' : ' AND picked(c.seq, @seed, @share)';
    return this.#db
      .prepare<object, Content>(
        `SELECT c.seq, d.project_id AS project, d.id AS dataset, c.content, c.hash FROM dataset_contents AS c JOIN datasets AS d ON d.seq = c.dataset
         WHERE c.seq > @after${picked} ORDER BY c.seq LIMIT ${PAGE}`,
      )
      .all(picked === '' ? { after } : { after, seed, share });
  }
}

function suspectOf({ flaw, what }: DatasetCheck, { project, id, state }: Found): Suspect {
  return { flaw, project, id, detail: what, state };
}

function damageOf({ seq, project, dataset, content, hash }: Content): Suspect[] {
  if (isWhole(content, hash)) return [];
  return [{ flaw: 'dataset_content', project, id: dataset, detail: `content ${seq}` }];
}

function isWhole(content: string, hash: Buffer): boolean {
  try {
    return contentHash(JSON.parse(content) as Readonly<Record<string, unknown>>).equals(hash);
  } catch {
    return false;
  }
}
