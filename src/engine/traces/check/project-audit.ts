import type { Audit, AuditedPage, Suspect } from '../model/check/audit.js';
import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { sql } from '../clickhouse/client/sql.js';

/** The projects of spans against those that the metadata knows. */
export class ProjectAudit implements Audit {
  readonly title = 'projects of spans';
  readonly unit = 'projects';
  readonly #client: ClickHouseClient;
  readonly #isKnown: (projectId: string) => boolean;

  /** @param isKnown whether there is such a project, or it is being deleted */
  constructor(client: ClickHouseClient, isKnown: (projectId: string) => boolean) {
    this.#client = client;
    this.#isKnown = isKnown;
  }

  async total(): Promise<number> {
    return (await this.#projects()).length;
  }

  async *pages(): AsyncGenerator<AuditedPage> {
    const projects = await this.#projects();
    yield { checked: projects.length, suspects: this.#unknown(projects) };
  }

  /** One that was looked at may have been deleted to its end meanwhile. */
  async again(): Promise<readonly Suspect[]> {
    return this.#unknown(await this.#projects());
  }

  #unknown(projects: readonly string[]): Suspect[] {
    const unknown = projects.filter((id) => !this.#isKnown(id));
    return unknown.map((id) => ({ flaw: 'project_unknown', project: id, id }));
  }

  async #projects(): Promise<string[]> {
    const rows = await this.#client.query<{ id: string }>(
      sql`SELECT toString(project_id) AS id FROM (
       SELECT DISTINCT project_id FROM spans UNION DISTINCT SELECT DISTINCT project_id FROM session_statements
       UNION DISTINCT SELECT DISTINCT project_id FROM scores
       UNION DISTINCT SELECT DISTINCT project_id FROM traces WHERE NOT gone) ORDER BY id`,
    );
    return rows.map(({ id }) => id);
  }
}
