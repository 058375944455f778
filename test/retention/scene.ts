import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { DATABASE_FILE, openDatabase } from '../../src/engine/metadata/database.js';
import { ApiDocument } from '../harness/api-document.js';
import type { MadeProject } from '../harness/projects.js';
import type { TestServer } from '../harness/server.js';

export const DAY_MS = 86_400_000;

/** When something was so many days ago, and some seconds later. */
export function daysAgo(days: number, seconds = 0): string {
  return new Date(Date.now() - days * DAY_MS + seconds * 1000).toISOString();
}

/** A project as its own key sees it; every answer is checked against the document of the API. */
export class ProjectApi {
  readonly projectId: string;
  readonly key: string;
  readonly #server: TestServer;
  readonly #document: ApiDocument;

  private constructor(server: TestServer, document: ApiDocument, { projectId, key }: MadeProject) {
    this.#server = server;
    this.#document = document;
    this.key = key;
    this.projectId = projectId;
  }

  static async of(server: TestServer, project: MadeProject): Promise<ProjectApi> {
    return new ProjectApi(server, await ApiDocument.of(server), project);
  }

  /** @param path below the project where it does not begin with a slash */
  async ask(method: string, path: string, body?: unknown, status = 200): Promise<any> {
    const whole = path.startsWith('/') ? path : `/projects/${this.projectId}${path === '' ? '' : `/${path}`}`;
    const response = await this.#server.request(method, whole, { key: this.key, ...(body !== undefined && { body }) });
    this.#document.check(method, whole, response);
    expect(response.status, `${method} ${whole}: ${response.text.slice(0, 500)}`).to.equal(status);
    return response.json;
  }

  async keepFor(days: number | null): Promise<void> {
    expect(await this.ask('PATCH', '', { retention_days: days })).to.include({ retention_days: days });
  }

  /** Everything that the lists show, but for when it was taken in. */
  async lists(): Promise<Record<'spans' | 'traces' | 'sessions', Map<string, object>>> {
    const rows = async (list: string) => {
      const found = (await this.ask(
        'GET',
        `/${list}?${list === 'sessions' ? '' : 'internal=true&'}limit=500`,
      )) as Record<string, unknown>[];
      expect(found.length, `${list}: more than a page`).to.be.lessThan(500);
      return new Map(
        found.map(({ created_at: _at, project_id: _project, ...row }) => [
          `${String(row['trace_id'])}/${String(row['id'])}`,
          row,
        ]),
      );
    };
    return { spans: await rows('spans'), traces: await rows('traces'), sessions: await rows('sessions') };
  }

  /** Waits until nothing is left that retention removes. */
  async untilDone(withinMs = 120_000): Promise<void> {
    const until = performance.now() + withinMs;
    for (;;) {
      const left = (await this.ask('GET', 'retention')).going.traces as number;
      if (left === 0) return;
      if (performance.now() > until) throw new Error(`${left} traces are not gone within ${withinMs} ms`);
      await sleep(150);
    }
  }
}

/**
 * Gives the feedback that a project has on one more span: the first that retention has noted, before it has noted the rest.
 * @returns the span
 */
export async function givenBetweenParts(dataDir: string, projectId: string): Promise<string> {
  const database = openDatabase(join(dataDir, DATABASE_FILE));
  try {
    const noted = database
      .prepare<[string], string>(
        `SELECT i.id FROM deletions AS d JOIN deletion_items AS i ON i.deletion = d.seq
         WHERE d.project_id = ? AND d.ordered = 0 AND i.kind = 'span' ORDER BY i.seq LIMIT 1`,
      )
      .pluck();
    let spanId: string | undefined;
    while ((spanId = noted.get(projectId)) === undefined) await nextTurn();
    database
      .prepare(
        `INSERT INTO feedback (id, project_id, prompt_id, completion_id, user_id, thumbs_up, metadata, created_at, updated_at)
         SELECT ?, project_id, prompt_id, ?, user_id, 1, '{}', created_at, updated_at FROM feedback WHERE project_id = ?`,
      )
      .run(randomUUID(), spanId, projectId);
    return spanId;
  } finally {
    database.close();
  }
}

/** Has a project lose the feedback that came last, and get some, again and again. @param pauseMs in between @returns what ends it */
export function comingAndGoing(dataDir: string, projectId: string, pauseMs = 2): () => Promise<void> {
  const database = openDatabase(join(dataDir, DATABASE_FILE));
  const copy = database.prepare<[string, string, string]>(
    `INSERT INTO feedback (id, project_id, prompt_id, completion_id, user_id, thumbs_up, metadata, created_at, updated_at)
     SELECT ?, project_id, prompt_id, ?, user_id, 1, '{}', created_at, updated_at FROM feedback WHERE project_id = ? LIMIT 1`,
  );
  const remove = database.prepare<[string]>('DELETE FROM feedback WHERE id = ?');
  let stopped = false;
  const work = (async () => {
    let last = '';
    while (!stopped) {
      remove.run(last);
      last = randomUUID();
      copy.run(last, randomUUID(), projectId);
      await sleep(pauseMs);
    }
    database.close();
  })();
  return () => {
    stopped = true;
    return work;
  };
}
