import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Evaluation } from '../../src/features/judges/evaluation.js';
import { IdentityService } from '../../src/engine/identity/identity-service.js';
import { DATABASE_FILE, openDatabase, type Database } from '../../src/engine/metadata/database.js';
import { SqliteEvaluationStore } from '../../src/features/judges/store/evaluation-store.js';
import { SqliteIdentityStore } from '../../src/engine/identity/store/identity-store.js';
import { SqliteJudgeStore } from '../../src/features/judges/store/judge-store.js';
import { SqlitePromptStore } from '../../src/features/prompts/store/prompt-store.js';
import { PASSED, PLAIN_JUDGE } from '../judges/fixture.js';
import { send, type TestRequest, type TestServer } from '../harness/server.js';
import { promptApi } from '../prompts/prompt-api.js';

export const START = '2026-03-01T12:00:00.000000Z';

type Server = Pick<TestServer, 'url' | 'key' | 'projectId' | 'dataDir'>;

/** The feedback endpoints of one server, spelled once. */
export function feedbackApi(server: Server, key: string = server.key) {
  const request = (method: string, path: string, options: TestRequest = {}) =>
    send(server.url + path, method, { key, ...options });
  return {
    request,
    give: (slug: string, completionId: string, body: unknown) =>
      request('POST', `/v1/prompts/${encodeURIComponent(slug)}/completions/${completionId}/feedback`, { body }),
    unified: (type: string, id: string, query = '') =>
      request('GET', `/projects/${server.projectId}/feedback/${type}/${id}${query}`),
    ensure: (slug: string, content = `content of ${slug}`) => promptApi(server, key).ensure(slug, { content }),
    spans: (spans: unknown[]) => request('POST', '/spans', { body: spans, headers: { prefer: 'return=minimal' } }),
    link: (body: unknown) => request('POST', '/feedback-links', { body }),
    links: (query = '') => request('GET', `/feedback-links${query}`),
    changeLink: (id: string, body: unknown) => request('PATCH', `/feedback-links/${id}`, { body }),
    revoke: (id: string) => request('DELETE', `/feedback-links/${id}`),
  };
}

export function completion(slug: string, more: Record<string, unknown> = {}) {
  return {
    id: randomUUID(),
    trace_id: randomUUID(),
    name: 'answer',
    kind: 'llm',
    started_at: START,
    input_data: JSON.stringify([{ role: 'user', content: 'Where is my parcel?' }]),
    output_data: 'On its way.',
    attributes: { zeroeval: { prompt_slug: slug } },
    ...more,
  };
}

/** Another connection to the server's file. */
export function withDatabase<T>(server: Pick<TestServer, 'dataDir'>, work: (database: Database) => T): T {
  const database = openDatabase(join(server.dataDir, DATABASE_FILE));
  try {
    return work(database);
  } finally {
    database.close();
  }
}

export interface JudgeSpec {
  readonly task_slug: string;
  readonly name?: string;
  readonly evaluation_type?: 'binary' | 'scored';
  readonly criteria?: readonly { readonly key: string; readonly label: string; readonly description: string }[];
  readonly deleted?: boolean;
}

/** A judge as it is stored. @returns its id */
export function storeJudge(server: Server, spec: JudgeSpec): string {
  const { task_slug, name = 'Judge', evaluation_type = 'binary', criteria = [], deleted = false } = spec;
  const scored = evaluation_type === 'scored';
  const id = randomUUID();
  withDatabase(server, (database) => {
    const store = new SqliteJudgeStore(database, new SqlitePromptStore(database));
    const created_by = database.prepare<[], string>('SELECT id FROM users LIMIT 1').pluck().get() ?? '';
    const scale = scored ? { score_min: 1, score_max: 5, pass_threshold: 3 } : {};
    const settings = { ...PLAIN_JUDGE, name, task_slug, evaluation_type, criteria, enabled: false, ...scale };
    const times = { judged_since: 1, created_at: 1, created_by, updated_at: 1, deleted_at: null };
    const project_id = server.projectId;
    store.insert({ id, project_id, ...settings, ...times }, null);
    if (deleted) store.remove(project_id, id, 2);
  });
  return id;
}

/** An evaluation as it is stored. @returns its id */
export function storeEvaluation(
  server: Server,
  judgeId: string,
  spanId: string,
  more: Partial<Evaluation> = {},
): string {
  const evaluation: Evaluation = {
    id: randomUUID(),
    project_id: server.projectId,
    judge_id: judgeId,
    span_id: spanId,
    ...PASSED,
    evaluation_reason: 'It answers the question.',
    confidence_score: 0.5,
    model_used: 'some-model',
    duration_ms: 12.5,
    created_at: Date.now() * 1000,
    ...more,
  };
  return withDatabase(server, (database) => new SqliteEvaluationStore(database).insert(evaluation).id);
}

/** A further key of the same project, of another user. */
export function keyOfAnotherUser(server: Server, name: string): string {
  return withDatabase(server, (database) => {
    const identity = new IdentityService({ store: new SqliteIdentityStore(database) });
    const user = identity.createUser({ name, email: `${name.toLowerCase()}@example.com` });
    const { key } = identity.createKey({ projectId: server.projectId, userId: user.id, name });
    identity.close();
    return key;
  });
}
