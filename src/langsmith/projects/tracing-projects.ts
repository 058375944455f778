import { defaultQuery } from '../../engine/traces/model/list/query.js';
import { traceList } from '../../engine/traces/model/list/definitions.js';
import type { Lists } from '../../engine/traces/model/list/lists.js';
import { tracingProjectId } from '../ids.js';
import { ProjectMemory } from '../project-memory.js';

/** The tag whose values are what LangSmith calls projects. */
export const PROJECT_TAG = 'project';

/** What LangSmith calls projects, where these are no experiments: values of a tag. Their ids are made of their names. */
export class TracingProjects {
  readonly #lists: Pick<Lists, 'traces'>;
  readonly #names = new ProjectMemory<string>();

  constructor(lists: Pick<Lists, 'traces'>) {
    this.#lists = lists;
  }

  idOf(projectId: string, name: string): string {
    const id = tracingProjectId(projectId, name);
    this.#names.note(projectId, id, name);
    return id;
  }

  /** The name of a project; null: no client has asked for it by its name, or for too many others since. */
  nameOf(projectId: string, id: string): string | null {
    return this.#names.get(projectId, id) ?? (id === tracingProjectId(projectId, 'default') ? 'default' : null);
  }

  /** Whether there is a trace of it. */
  async has(projectId: string, name: string, signal?: AbortSignal): Promise<boolean> {
    const query = { ...defaultQuery(traceList), tags: new Map([[PROJECT_TAG, [name]]]), fields: ['id'], limit: 1 };
    const { json } = await this.#lists.traces(projectId, query, signal);
    if (Buffer.isBuffer(json)) return json.length > 2;
    let bytes = 0;
    for await (const chunk of json) bytes += (chunk as Buffer).length;
    return bytes > 2;
  }
}
