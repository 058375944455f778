import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { SqlitePromptStore } from '../../src/features/prompts/store/prompt-store.js';
import { completion, feedbackApi, withDatabase } from '../feedback/feedback-api.js';
import type { TestServer } from '../harness/server.js';
import { sharedServer } from '../harness/shared-server.js';
import { promptApi, secondProject } from './prompt-api.js';

// Answers are looked into; a wrong guess at their shape fails an assertion.
type Json = any;

describe('deletion of a prompt version', () => {
  let server: TestServer;
  let api: ReturnType<typeof promptApi>;
  let serial = 0;

  before(async () => {
    server = await sharedServer();
    api = promptApi(server);
  });
  after(() => server.dispose());

  async function promptOf(...contents: string[]): Promise<string> {
    const slug = `deleted ${(serial += 1)}`;
    for (const content of contents) await api.ensure(slug, { content });
    return slug;
  }
  const remove = (slug: string, version: number | string) => api.remove(slug, version);
  const refusal = async (slug: string, version: number) => {
    const { status, json } = await remove(slug, version);
    expect(status).to.equal(409);
    return json.detail as string;
  };
  const numbers = async (slug: string) => (await api.versions(slug)).json.map(({ version }: Json) => version);

  it('takes it from every answer at once, and its number is never given again', async () => {
    const slug = await promptOf('one', 'two', 'three');
    const two = (await api.get(slug, '?version=2')).json;
    expect((await remove(slug, 2)).status).to.equal(204);
    const gone = [
      await api.get(slug, '?version=2'),
      await api.byHash(slug, two.content_hash),
      await api.model(two.id),
      await api.pin(slug, 'production', 2),
      await api.bind(slug, 2, { model_id: 'm' }),
      await remove(slug, 2),
    ];
    for (const { status, text } of gone) expect(status, text).to.equal(404);
    expect(gone[5]!.json.detail).to.equal('The prompt has no version 2');
    expect(await numbers(slug)).to.deep.equal([1, 3]);
    const [summary] = (await api.list()).json.filter((prompt: Json) => prompt.slug === slug);
    expect(summary).to.include({ version_count: 2, latest_version: 3 });
    // The same content is a new version.
    const again = (await api.ensure(slug, { content: 'two' })).json;
    expect(again).to.include({ version: 4, is_latest: true }).and.not.include({ id: two.id });
  });

  it('of the newest makes the one before the latest', async () => {
    const slug = await promptOf('one', 'two');
    expect((await api.get(slug)).json).to.include({ version: 2 });
    expect((await remove(slug, 2)).status).to.equal(204);
    expect((await api.get(slug)).json).to.include({ version: 1, tag: 'latest', is_latest: true });
    expect((await api.latest(slug)).json).to.include({ version: 1 });
    expect((await api.tags(slug)).json).to.deep.equal([{ tag: 'latest', version: 1 }]);
    expect((await api.ensure(slug, { content: 'three' })).json).to.include({ version: 3 });
  });

  it('is refused while a tag points at it; its history keeps naming it', async () => {
    const slug = await promptOf('one', 'two');
    await api.pin(slug, 'production', 1);
    await api.pin(slug, 'staging', 1);
    expect(await refusal(slug, 1)).to.equal(
      'Version 1 cannot be deleted: tags point to it, pin them to another version or remove them first: production, staging',
    );
    await api.pin(slug, 'production', 2);
    await api.pin(slug, 'staging', 2);
    expect((await remove(slug, 1)).status).to.equal(204);
    const history = (await api.history(slug, 'production')).json;
    expect(history.map(({ version }: Json) => version)).to.deep.equal([2, 1]);
    expect((await api.get(slug, '?tag=production')).json).to.include({ version: 2 });
  });

  it('is refused while a judge runs with it', async () => {
    const judge = await server.request('POST', `/projects/${server.projectId}/judges`, {
      body: { name: 'Strict', evaluation_type: 'binary', prompt: 'one', sample_rate: 0 },
    });
    const { task_slug, id } = judge.json;
    expect(await refusal(task_slug, 1)).to.equal('Version 1 cannot be deleted: judges use it: Strict');
    await api.ensure(task_slug, { content: 'two' });
    await api.pin(task_slug, 'production', 1);
    expect((await remove(task_slug, 2)).status, 'it runs with another').to.equal(204);
    await api.ensure(task_slug, { content: 'three' });
    await api.pin(task_slug, 'production', 3);
    expect(await refusal(task_slug, 3))
      .to.include('production')
      .and.include('judges use it: Strict');
    expect((await remove(task_slug, 1)).status).to.equal(204);
    // Without the tag it runs with the newest.
    await api.ensure(task_slug, { content: 'newest' });
    await api.removeTag(task_slug, 'production');
    expect(await refusal(task_slug, 4)).to.equal('Version 4 cannot be deleted: judges use it: Strict');
    expect((await remove(task_slug, 3)).status).to.equal(204);
    // A deleted judge runs with nothing.
    await server.request('DELETE', `/projects/${server.projectId}/judges/${id}`);
    await api.ensure(task_slug, { content: 'five' });
    expect((await remove(task_slug, 5)).status).to.equal(204);
  });

  it('of the only one deletes the prompt, unless something needs that', async () => {
    const slug = await promptOf('one');
    const feedback = feedbackApi(server);
    await feedback.give(slug, randomUUID(), { thumbs_up: true });
    await feedback.link({ prompt_slug: slug });
    expect(await refusal(slug, 1)).to.equal(
      'Version 1 cannot be deleted: it is the only version, and its prompt has feedback; ' +
        'it is the only version, and its prompt has feedback links',
    );
    const filtered = await promptOf('one');
    await server.request('POST', `/projects/${server.projectId}/judges`, {
      body: { name: 'F', evaluation_type: 'binary', prompt: 'f', sample_rate: 0, filters: { prompt_slug: filtered } },
    });
    expect(await refusal(filtered, 1)).to.include('judges filter by its prompt: F');

    const free = await promptOf('one');
    const { prompt_id } = (await api.get(free)).json;
    expect((await remove(free, 1)).status).to.equal(204);
    for (const { status, json } of [await api.get(free), await api.versions(free), await remove(free, 1)])
      expect([status, json.detail]).to.deep.equal([404, 'There is no prompt with this slug']);
    expect((await api.list()).json.map((prompt: Json) => prompt.slug)).to.not.include(free);
    expect((await api.ensure(free, { content: 'one' })).json)
      .to.include({ version: 1 })
      .and.not.include({ prompt_id });
  });

  it('leaves its completions, which are no longer known by its id alone', async () => {
    const slug = await promptOf('one', 'two');
    const feedback = feedbackApi(server);
    const { id } = (await api.get(slug, '?version=1')).json;
    const span = completion(slug, { attributes: { prompt_version_id: id, task: slug } });
    await feedback.spans([span]);
    await feedback.give(slug, span.id, { thumbs_up: true });
    const listed = async () =>
      (await feedback.request('GET', `/projects/${server.projectId}/prompts/${encodeURIComponent(slug)}/feedback`)).json
        .feedback[0];
    expect(await listed()).to.include({ completion_id: span.id, prompt_version: 1 });
    expect((await remove(slug, 1)).status).to.equal(204);
    expect(await listed()).to.include({ completion_id: span.id, prompt_version: null });
    expect((await feedback.request('GET', `/spans?id=${span.id}`)).json).to.have.length(1);
  });

  it('by another process counts from the next call on', async () => {
    const slug = await promptOf('one', 'two');
    expect((await api.get(slug)).json).to.include({ version: 2 });
    withDatabase(server, (db) => new SqlitePromptStore(db).removeVersion(server.projectId, slug, 2, () => undefined));
    expect((await api.get(slug)).json).to.include({ version: 1 });
  });

  it('is one of the project alone, and of a number that can be', async () => {
    const slug = await promptOf('one', 'two');
    const other = secondProject(server);
    const foreign = promptApi({ ...server, projectId: other.projectId }, other.key);
    expect((await foreign.remove(slug, 1)).status).to.equal(404);
    expect((await promptApi(server, other.key).remove(slug, 1)).status).to.equal(403);
    for (const version of ['0', 'x', '1.5', '-1']) expect((await remove(slug, version)).status, version).to.equal(422);
    const answers = await Promise.all(Array.from({ length: 10 }, () => remove(slug, 1)));
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([204, ...Array<number>(9).fill(404)]);
  });
});
