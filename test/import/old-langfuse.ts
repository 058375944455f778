import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/* A server that answers as Langfuse does: the shapes are those of its public API (the types of @langfuse/core). */

export const KEYS = { publicKey: 'pk-lf-1', secretKey: 'sk-lf-1' };

type Thing = Readonly<Record<string, unknown>>;

/** What a project of Langfuse holds. */
export interface LangfuseProject {
  readonly traces: readonly Thing[];
  readonly observations: readonly Thing[];
  readonly scores: readonly Thing[];
  readonly prompts: readonly Thing[];
  readonly datasets: readonly Thing[];
  readonly items: readonly Thing[];
}

export class OldLangfuse {
  readonly #server: Server;
  readonly #project: LangfuseProject;
  /** Requests that were answered. */
  requests = 0;
  /** Every so many requests, one is refused at first. */
  limitEvery = 0;
  /** Whether it has the newer call for observations alone. */
  newer = false;
  readonly #limited = new Set<string>();
  /** Lists of a time, which are asked for page by page. */
  readonly #lists = new Map<string, readonly Thing[]>();

  private constructor(project: LangfuseProject) {
    this.#project = project;
    this.#server = createServer((request, response) => {
      const { status, body } = this.#answer(request);
      response.writeHead(status, { 'content-type': 'application/json', ...(status === 429 && { 'retry-after': '0' }) });
      response.end(JSON.stringify(body));
    });
  }

  static async start(project: LangfuseProject): Promise<OldLangfuse> {
    const old = new OldLangfuse(project);
    old.#server.listen(0, '127.0.0.1');
    await once(old.#server, 'listening');
    return old;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #answer({ url = '', headers }: IncomingMessage): { readonly status: number; readonly body: object } {
    const expected = `Basic ${Buffer.from(`${KEYS.publicKey}:${KEYS.secretKey}`).toString('base64')}`;
    if (headers.authorization !== expected) return { status: 401, body: { message: 'Invalid credentials' } };
    this.requests += 1;
    if (this.limitEvery > 0 && this.requests % this.limitEvery === 0 && !this.#limited.has(url)) {
      this.#limited.add(url);
      return { status: 429, body: { message: 'Rate limit exceeded' } };
    }
    const { pathname, searchParams } = new URL(url, 'http://old');
    const body = this.#body(pathname, searchParams);
    return body === null ? { status: 404, body: { message: 'Not found' } } : { status: 200, body };
  }

  #body(path: string, query: URLSearchParams): object | null {
    const { traces, observations, scores, prompts, datasets, items } = this.#project;
    switch (path) {
      case '/api/public/projects':
        return { data: [{ id: 'p1', name: 'Old', organization: { id: 'o', name: 'O' }, metadata: {} }] };
      case '/api/public/traces':
        return page(this.#between(traces, 'timestamp', query, 'Timestamp'), query);
      case '/api/public/observations':
        return this.newer ? null : page(this.#between(observations, 'startTime', query, 'StartTime'), query);
      case '/api/public/v2/observations':
        return cursorPage(this.#between(observations, 'startTime', query, 'StartTime'), query);
      case '/api/public/v2/scores':
        return page(this.#between(scores, 'timestamp', query, 'Timestamp'), query);
      case '/api/public/v2/prompts':
        return page(metaOf(prompts), query);
      case '/api/public/v2/datasets':
        return page(datasets, query);
      case '/api/public/dataset-items':
        return page(
          items.filter(({ datasetName }) => datasetName === query.get('datasetName')),
          query,
        );
    }
    const [, name] = /^\/api\/public\/v2\/prompts\/(.+)$/.exec(path) ?? [];
    if (name === undefined) return null;
    const version = Number(query.get('version'));
    return (
      prompts.find((prompt) => prompt['name'] === decodeURIComponent(name) && prompt['version'] === version) ?? null
    );
  }

  #between(things: readonly Thing[], field: string, query: URLSearchParams, name: string): readonly Thing[] {
    const [from, to] = [query.get(`from${name}`), query.get(`to${name}`)];
    const key = JSON.stringify([things[0]?.['id'], field, from, to]);
    const known = this.#lists.get(key);
    if (known !== undefined) return known;
    const at = (value: unknown) => Date.parse(String(value));
    const found = things.filter(
      (thing) => (from === null || at(thing[field]) >= at(from)) && (to === null || at(thing[field]) < at(to)),
    );
    this.#lists.set(key, found);
    return found;
  }
}

function page(things: readonly Thing[], query: URLSearchParams): object {
  const [number, limit] = [Number(query.get('page') ?? 1), Number(query.get('limit') ?? 50)];
  const meta = { page: number, limit, totalItems: things.length, totalPages: Math.ceil(things.length / limit) };
  return { data: things.slice((number - 1) * limit, number * limit), meta };
}

function cursorPage(things: readonly Thing[], query: URLSearchParams): object {
  const [from, limit] = [Number(query.get('cursor') ?? 0), Number(query.get('limit') ?? 50)];
  const more = from + limit < things.length;
  return { data: things.slice(from, from + limit), meta: more ? { cursor: String(from + limit) } : {} };
}

function metaOf(prompts: readonly Thing[]): Thing[] {
  const names = [...new Set(prompts.map(({ name }) => name))];
  return names.map((name) => {
    const versions = prompts.filter((prompt) => prompt['name'] === name);
    const labels = versions.flatMap(({ labels }) => labels as string[]);
    return {
      name,
      type: versions[0]?.['type'],
      versions: versions.map(({ version }) => version),
      labels,
      tags: [],
      lastUpdatedAt: '',
    };
  });
}

const second = (of: number) => new Date(Date.UTC(2026, 2, 1) + of * 1000).toISOString();

/** A project with traces of three observations each: an agent, a generation with a cost, and one that is not UUID. */
export function madeProject(traces: number): LangfuseProject {
  const ids = Array.from({ length: traces }, (_, index) => index);
  const traceId = (index: number) =>
    index % 2 === 0 ? `trace-${index}` : (0x100000 + index).toString(16).padStart(32, 'a');
  const nothing = { version: null, statusMessage: null, promptId: null, promptName: null, promptVersion: null };
  const common = (index: number, type: string, id: string) => ({
    ...{
      ...nothing,
      id,
      traceId: traceId(index),
      type,
      level: 'DEFAULT',
      environment: 'production',
      metadata: { step: index },
    },
    ...{ startTime: second(index * 10), endTime: second(index * 10 + 3), completionStartTime: null, model: null },
    ...{ usage: { input: 0, output: 0, total: 0, unit: 'TOKENS' }, usageDetails: {}, costDetails: {} },
    ...{ parentObservationId: null, input: null, output: null },
  });
  return {
    traces: ids.map((index) => ({
      ...{
        id: traceId(index),
        timestamp: second(index * 10),
        name: 'answer',
        input: { question: index },
        output: 'fine',
      },
      ...{
        sessionId: `session-${index % 3}`,
        userId: 'ada',
        release: null,
        version: null,
        public: false,
        htmlPath: '/x',
      },
      ...{ tags: ['beta'], metadata: { plan: 'pro' }, environment: 'production', observations: [], scores: [] },
    })),
    observations: ids.flatMap((index) => [
      { ...common(index, 'AGENT', `agent-${index}`), name: 'agent' },
      {
        ...common(index, 'GENERATION', `call-${index}`),
        ...{
          name: 'call',
          model: 'gpt-4o',
          modelParameters: { temperature: 0 },
          parentObservationId: `agent-${index}`,
        },
        ...{
          usageDetails: { input: 100, output: 10, total: 110 },
          costDetails: { input: 0.01, output: 0.0025, total: 0.0125 },
        },
        ...{ calculatedTotalCost: 0.0125, input: [{ role: 'user', content: 'Hi' }], output: 'Hello' },
      },
      {
        ...common(index, 'EVENT', `event-${index}`),
        name: 'event',
        endTime: null,
        level: 'ERROR',
        statusMessage: 'late',
      },
    ]),
    scores: ids.flatMap((index) => [
      score(index, { name: 'quality', value: index / 10, dataType: 'NUMERIC' }, traceId(index)),
      score(
        index,
        { name: 'kind', value: 0, stringValue: 'good', dataType: 'CATEGORICAL', observationId: `call-${index}` },
        traceId(index),
      ),
      score(
        index,
        { name: 'helpful', value: 1, stringValue: 'True', dataType: 'BOOLEAN', source: 'ANNOTATION' },
        traceId(index),
      ),
    ]),
    prompts: [
      {
        name: 'support/answer',
        version: 1,
        type: 'text',
        prompt: 'Answer {{question}}',
        config: {},
        labels: [],
        tags: [],
      },
      {
        name: 'support/answer',
        version: 2,
        type: 'text',
        prompt: 'Please answer {{question}}',
        config: { t: 1 },
        labels: ['production', 'latest'],
        tags: ['x'],
      },
      {
        name: 'chat',
        version: 2,
        type: 'chat',
        prompt: [{ type: 'chatmessage', role: 'system', content: 'Be kind' }],
        config: {},
        labels: ['production', 'latest'],
        tags: [],
      },
    ],
    datasets: [
      {
        id: 'd1',
        name: 'golden',
        description: 'Questions',
        metadata: null,
        projectId: 'p1',
        createdAt: second(0),
        updatedAt: second(0),
      },
    ],
    items: ['a', 'b', 'c'].map((id, index) => ({
      ...{ id: `item-${id}`, datasetId: 'd1', datasetName: 'golden', status: index === 2 ? 'ARCHIVED' : 'ACTIVE' },
      ...{
        input: { question: id },
        expectedOutput: id,
        metadata: null,
        sourceTraceId: null,
        sourceObservationId: null,
      },
    })),
  };
}

function score(index: number, of: object, traceId: string): Thing {
  return {
    ...{
      id: `score-${index}`,
      traceId,
      sessionId: null,
      observationId: null,
      source: 'API',
      comment: null,
      metadata: {},
    },
    ...{
      timestamp: second(index),
      createdAt: second(index),
      updatedAt: second(index),
      authorUserId: null,
      configId: null,
    },
    ...of,
  };
}
