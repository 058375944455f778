import { expect } from 'chai';
import type { TestServer } from '../harness/server.js';
import type { DeletionJobRead, DeletionPlanRead } from '../../src/features/deletion/schema.js';
interface Answering {
  readonly projectId: string;
  request(method: string, path: string, body?: unknown): Promise<{ readonly status: number; readonly json: unknown }>;
}

/** Calls of a server of a test as those of a program. */
export const calls = ({ projectId, request }: TestServer): Answering => ({
  projectId,
  request: (method, path, body) => request(method, path, { body }),
});

/** Calls that delete what filters find. */
export class SelectedApi {
  readonly path: string;
  readonly #server: Answering;

  constructor(server: Answering) {
    this.#server = server;
    this.path = `/projects/${server.projectId}/deletions`;
  }

  plan(list: string, query: string): Promise<DeletionPlanRead> {
    return this.#post(200, { dry_run: true, list, query }) as Promise<DeletionPlanRead>;
  }

  start(confirm: string): Promise<DeletionJobRead> {
    return this.#post(202, { confirm }) as Promise<DeletionJobRead>;
  }

  async run(confirm: string): Promise<DeletionJobRead> {
    return this.ended((await this.start(confirm)).id);
  }

  async get(id: string): Promise<DeletionJobRead> {
    return (await this.#server.request('GET', `${this.path}/${id}`)).json as DeletionJobRead;
  }

  async ended(id: string): Promise<DeletionJobRead> {
    for (;;) {
      const job = await this.get(id);
      if (job.finished_at !== null) return job;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async #post(expected: number, body: unknown): Promise<unknown> {
    const { status, json } = await this.#server.request('POST', this.path, body);
    expect(status, JSON.stringify(json)).to.equal(expected);
    return json;
  }
}
