import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { TestServer } from '../harness/server.js';
import { sharedServer } from '../harness/shared-server.js';
import { JudgeApi, type Json } from '../judges/judge-api.js';

const SLUG = 'support';
const STARTED = Date.UTC(2026, 0, 1);

/** Spans as clients make them, each with the number of the version that it was answered with; null: none of the prompt's. */
const CALLS: readonly (readonly [who: string, version: number | null, attributes: (ids: readonly string[]) => Json])[] =
  [
    ['a number', 1, () => ({ prompt_slug: SLUG, prompt_version: 1 })],
    ['its digits', 2, () => ({ task: SLUG, prompt_version: '2' })],
    ['dotted names', 2, () => ({ 'zeroeval.prompt_slug': SLUG, 'zeroeval.prompt_version': 2 })],
    ['the object', 1, () => ({ zeroeval: { task: SLUG, prompt_version: '1' } })],
    ['an id', 2, (ids) => ({ prompt_version_id: ids[1] })],
    ['an id and another number', 2, (ids) => ({ prompt_slug: SLUG, prompt_version: 1, prompt_version_id: ids[1] })],
    [
      'an unknown id and a number',
      1,
      () => ({ prompt_slug: SLUG, prompt_version: 1, prompt_version_id: randomUUID() }),
    ],
    ['a version that is not there', null, () => ({ prompt_slug: SLUG, prompt_version: 9 })],
    ['a tag', null, () => ({ prompt_slug: SLUG, prompt_version: 'production' })],
    ['the slug alone', null, () => ({ prompt_slug: SLUG })],
  ];

/** Attributes as OpenTelemetry, the AI SDK and Langfuse send them. */
const EXPORTED: readonly (readonly [who: string, version: number, attributes: readonly Json[]])[] = [
  [
    'OpenTelemetry',
    2,
    [
      { key: 'gen_ai.operation.name', value: { stringValue: 'chat' } },
      { key: 'gen_ai.prompt.name', value: { stringValue: SLUG } },
      { key: 'gen_ai.prompt.version', value: { stringValue: '2' } },
    ],
  ],
  [
    'AI SDK',
    1,
    [
      { key: 'operation.name', value: { stringValue: 'ai.generateText' } },
      { key: 'ai.operationId', value: { stringValue: 'ai.generateText.doGenerate' } },
      { key: 'ai.telemetry.metadata.promptSlug', value: { stringValue: SLUG } },
      { key: 'ai.telemetry.metadata.promptVersion', value: { intValue: '1' } },
    ],
  ],
  [
    'Langfuse',
    2,
    [
      { key: 'langfuse.observation.type', value: { stringValue: 'generation' } },
      { key: 'langfuse.observation.prompt.name', value: { stringValue: SLUG } },
      { key: 'langfuse.observation.prompt.version', value: { intValue: 2 } },
    ],
  ],
];

describe('versions of prompts that spans name by number', () => {
  let server: TestServer;
  let api: JudgeApi;
  /** Ids of the spans, with the version that each was answered with. */
  const made: { readonly id: string; readonly version: number | null; readonly who: string }[] = [];

  before(async () => {
    server = await sharedServer();
    api = new JudgeApi(server);
    const ensure = (content: string) =>
      api.expect(200, 'POST', `/v1/tasks/${SLUG}/prompt/versions/ensure`, { content });
    // Stored before there is such a prompt.
    const [early] = await api.post(span(0, { prompt_slug: SLUG, prompt_version: 1 }));
    made.push({ id: early?.['id'], version: 1, who: 'before the prompt' });
    const versions = [await ensure('one'), await ensure('two')];
    const ids = versions.map(({ id }) => id as string);
    await api.expect(200, 'POST', '/v1/tasks/other/prompt/versions/ensure', { content: 'one' });
    const [elsewhere] = await api.post(span(1, { prompt_slug: 'other', prompt_version: 1, about: SLUG }));
    expect(elsewhere?.['prompt_slug']).to.equal('other');
    const posted = await api.post(...CALLS.map(([, , attributes], index) => span(2 + index, attributes(ids))));
    CALLS.forEach(([who, version], index) => made.push({ id: posted[index]?.['id'], version, who }));
    for (const [who, version, attributes] of EXPORTED) {
      const id = randomUUID().replaceAll('-', '').slice(0, 16);
      const exported = {
        traceId: randomUUID().replaceAll('-', ''),
        spanId: id,
        name: who,
        startTimeUnixNano: `${STARTED}000000`,
        endTimeUnixNano: `${STARTED + 5}000000`,
        attributes,
      };
      await api.expect(200, 'POST', '/v1/traces', { resourceSpans: [{ scopeSpans: [{ spans: [exported] }] }] });
      const dashed = `${id.slice(0, 8)}-${id.slice(8, 12)}-${id.slice(12)}-0000-000000000000`;
      made.push({ id: dashed, version, who });
    }
    for (const { id } of made)
      await api.expect(200, 'POST', `/v1/prompts/${SLUG}/completions/${id}/feedback`, { thumbs_up: true });
  });
  after(() => server.dispose());

  function span(index: number, attributes: Json): Json {
    const started_at = new Date(STARTED + index).toISOString();
    return { trace_id: randomUUID(), name: 'answer', kind: 'llm', started_at, attributes };
  }
  const of = (version: number | null) => made.filter((each) => each.version === version);
  const ids = (version: number | null) => of(version).map(({ id }) => id);

  it('are those of completions', async () => {
    const { completions } = await api.expect(200, 'GET', `prompts/${SLUG}/completions?limit=100`);
    const listed = new Map(completions.map(({ id, prompt_version }: Json) => [id, prompt_version]));
    for (const { id, version, who } of made) expect(listed.get(id), who).to.equal(version);
    expect(listed.size).to.equal(made.length);
  });

  for (const version of [1, 2]) {
    it(`count for version ${version} in statistics, lists, and feedback alike`, async () => {
      const { versions } = await api.expect(200, 'GET', `prompts/${SLUG}/versions:stats`);
      const figures = versions.find((each: Json) => each.version === version);
      expect(figures).to.deep.include({ calls: of(version).length });
      expect(figures.thumbs.up).to.equal(of(version).length);
      const found = await api.expect(200, 'GET', `prompts/${SLUG}/completions?version=${version}&limit=100`);
      expect(found.completions.map(({ id }: Json) => id)).to.have.members(ids(version));
      const spans = await api.expect(200, 'GET', `/spans?prompt_slug=${SLUG}&prompt_version=${version}`);
      expect(spans.map(({ id }: Json) => id)).to.have.members(ids(version));
      const given = await api.expect(200, 'GET', `prompts/${SLUG}/feedback?version=${version}`);
      expect(given.feedback.map(({ completion_id }: Json) => completion_id)).to.have.members(ids(version));
      for (const item of given.feedback) expect(item.prompt_version).to.equal(version);
    });
  }

  it('leave those that name none of the prompt', async () => {
    const { feedback } = await api.expect(200, 'GET', `prompts/${SLUG}/feedback?limit=100`);
    const none = feedback.filter(({ prompt_version }: Json) => prompt_version === null);
    expect(none.map(({ completion_id }: Json) => completion_id)).to.have.members(ids(null));
    const { versions } = await api.expect(200, 'GET', `prompts/${SLUG}/versions:stats`);
    expect(versions.map((each: Json) => each.version)).to.deep.equal([2, 1, null]);
  });
});
