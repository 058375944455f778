import { LangfuseClient } from '@langfuse/client';
import { expect } from 'chai';
import { Langfuse } from 'langfuse';
import type { TestServer } from '../harness/server.js';
import { sharedServer } from '../harness/shared-server.js';
import { promptApi } from '../prompts/prompt-api.js';

type Json = any;

describe("Langfuse's clients, unchanged, with prompts", function () {
  this.timeout(30_000);
  let server: TestServer;
  let api: ReturnType<typeof promptApi>;
  let old: Json;
  let current: Json;

  before(async () => {
    server = await sharedServer();
    api = promptApi(server);
    const keys = { publicKey: `pk-sh-${server.projectId}`, secretKey: server.key, baseUrl: server.url };
    [old, current] = [new Langfuse(keys), new LangfuseClient(keys)];
  });
  after(async () => {
    await old?.shutdownAsync();
    await server?.dispose();
  });

  /** Without what a client writes to the console of what it forgets or could not fetch. */
  async function quietly<T>(work: () => Promise<T>): Promise<T> {
    const { error, log } = console;
    console.error = console.log = () => undefined;
    return work().finally(() => Object.assign(console, { error, log }));
  }

  it('make texts with a config, get them by label and version, and fill them', async () => {
    const made = await old.createPrompt({
      name: 'shop/greeter one',
      prompt: 'Greet {{name}}.',
      config: { model: 'gpt-4o', temperature: 0 },
      labels: ['production'],
      tags: ['shop'],
      commitMessage: 'First',
    });
    expect([made.version, made.labels, made.tags]).to.deep.equal([1, ['latest', 'production'], ['shop']]);
    expect((await api.get('shop/greeter one')).json).to.deep.include({
      content: 'Greet {{name}}.',
      config: { model: 'gpt-4o', temperature: 0 },
      metadata: { tags: ['shop'], commit_message: 'First' },
    });
    for (const got of [await old.getPrompt('shop/greeter one'), await current.prompt.get('shop/greeter one')]) {
      expect(got.compile({ name: 'Ann' })).to.equal('Greet Ann.');
      expect([got.config.model, got.type ?? 'text', got.commitMessage]).to.deep.equal(['gpt-4o', 'text', 'First']);
    }
    const again = await current.prompt.create({ name: 'shop/greeter one', prompt: 'Greet {{name}}.', config: {} });
    expect([again.version, again.labels]).to.deep.equal([2, ['latest']]);
    expect((await old.getPrompt('shop/greeter one', 2)).config).to.deep.equal({});
  });

  it('make chats with placeholders, and fill them', async () => {
    const prompt = [
      { role: 'system', content: 'You help {{shop}}.' },
      { type: 'placeholder', name: 'history' },
      { role: 'user', content: '{{question}}' },
    ];
    const said = [{ role: 'user', content: 'Hi' }];
    await current.prompt.create({ name: 'chat', type: 'chat', prompt, labels: ['production'] });
    expect((await old.createPrompt({ name: 'chat', type: 'chat', prompt })).version, 'the same content').to.equal(1);
    expect((await api.get('chat')).json.messages).to.deep.equal(prompt);
    const values = { shop: 'Lampen', question: 'Why?' };
    const filled = [{ role: 'system', content: 'You help Lampen.' }, ...said, { role: 'user', content: 'Why?' }];
    const fetched = [
      await old.getPrompt('chat', undefined, { type: 'chat' }),
      await current.prompt.get('chat', { type: 'chat' }),
    ];
    for (const got of fetched) expect(got.compile(values, { history: said })).to.deep.equal(filled);
  });

  it('keep what they fetched, and fall back where there is nothing', async () => {
    await api.ensure('kept', { content: 'one' });
    await api.pin('kept', 'production', 1);
    expect((await current.prompt.get('kept')).prompt).to.equal('one');
    await api.ensure('kept', { content: 'two' });
    await current.prompt.update({ name: 'kept', version: 2, newLabels: ['production', 'staging'] });
    expect((await api.tags('kept')).json).to.deep.equal([
      { tag: 'latest', version: 2 },
      { tag: 'production', version: 2 },
      { tag: 'staging', version: 2 },
    ]);
    expect((await current.prompt.get('kept')).prompt, 'the client forgets what it has moved').to.equal('two');
    await quietly(() => old.updatePrompt({ name: 'kept', version: 1, newLabels: ['production'] }));
    expect((await current.prompt.get('kept')).prompt, 'kept').to.equal('two');
    expect((await current.prompt.get('kept', { cacheTtlSeconds: 0 })).prompt).to.equal('one');
    await quietly(async () => {
      expect((await old.getPrompt('none', undefined, { fallback: 'Hello' })).compile()).to.equal('Hello');
      expect((await current.prompt.get('none', { fallback: 'Hello' })).isFallback).to.equal(true);
      for (const [name, message] of [
        ['none', 'There is no prompt with this slug'],
        ['a|b', '{prompt_name} must have 1 to 128 characters'],
      ])
        await old.getPrompt(name).then(
          () => expect.fail(),
          (error: Error) => expect(error.message).to.include(message),
        );
    });
  });

  it('move all labels or none, and make no version without them', async () => {
    await api.ensure('full', { content: 'one' });
    const named = (from: number) => Array.from({ length: 100 }, (_none, index) => `t${from + index}`);
    const path = '/api/public/v2/prompts';
    for (let from = 0; from < 1_000; from += 100)
      expect(
        (await server.request('PATCH', `${path}/full/versions/1`, { body: { newLabels: named(from) } })).status,
      ).to.equal(200);
    const body = { name: 'full', prompt: 'two', labels: ['t0', 'one-more'] };
    expect((await server.request('POST', path, { body })).status).to.equal(409);
    expect((await api.versions('full')).json).to.have.length(1);
    await api.ensure('full', { content: 'two' });
    const moved = await server.request('PATCH', `${path}/full/versions/2`, { body: { newLabels: body.labels } });
    expect(moved.status).to.equal(409);
    expect((await api.get('full', '?tag=t0')).json.version).to.equal(1);
    expect((await server.request('POST', path, { body: { ...body, labels: ['t0'] } })).json.labels).to.deep.equal([
      'latest',
      't0',
    ]);
  });

  it('list prompts, and are told what is wrong by the names that they sent', async () => {
    for (const name of ['list/a', 'list/b', 'list/c']) await api.ensure(name, { content: name, config: { name } });
    await api.pin('list/b', 'listed', 1);
    const { data, meta } = await current.api.prompts.list({ label: 'listed' });
    expect(meta).to.deep.equal({ page: 1, limit: 50, totalItems: 1, totalPages: 1 });
    expect(data).to.deep.equal([
      {
        ...{ name: 'list/b', type: 'text', versions: [1], labels: ['latest', 'listed'], tags: [] },
        ...{ lastUpdatedAt: data[0].lastUpdatedAt, lastConfig: { name: 'list/b' } },
      },
    ]);
    const all = await current.api.prompts.list({ limit: 100 });
    const second = await current.api.prompts.list({ limit: 2, page: 2 });
    expect(second.data).to.deep.equal(all.data.slice(2, 4));
    expect((await current.api.prompts.list({ name: 'list/c' })).data).to.deep.equal(
      all.data.filter((one: Json) => one.name === 'list/c'),
    );
    const body = { name: 'wrong', type: 'chat', prompt: [{ role: 'user', content: 'x' }, { role: 7 }] };
    const refused = await server.request('POST', '/api/public/v2/prompts', { body });
    expect([refused.status, refused.json.errors[0].pointer]).to.deep.equal([422, '/prompt/1']);
    expect(refused.json.message).to.include('/prompt/1 must be a message');
    expect(
      (await server.request('POST', '/api/public/v2/prompts', { body: { ...body, type: 'text' } })).status,
    ).to.equal(422);
  });

  it('delete versions with their labels, or the whole prompt, unless something needs it', async () => {
    for (const content of ['one', 'two', 'three']) await api.ensure('gone/soon', { content });
    await api.pin('gone/soon', 'production', 1);
    await api.pin('gone/soon', 'staging', 2);
    const numbers = async () => (await api.versions('gone/soon')).json.map(({ version }: Json) => version);
    const remove = (query: string) => server.request('DELETE', `/api/public/v2/prompts/gone/soon${query}`);
    await current.api.prompts.delete('gone/soon', { label: 'staging' });
    expect(await numbers()).to.deep.equal([1, 3]);
    expect((await remove('?label=staging')).status).to.equal(404);
    expect((await remove('?version=7')).status).to.equal(404);
    expect((await remove('?version=3')).status).to.equal(204);
    expect(await numbers()).to.deep.equal([1]);
    await server.request('POST', '/feedback-links', { body: { prompt_slug: 'gone/soon' } });
    expect((await remove('')).status, 'a feedback link needs it').to.equal(409);
    expect((await api.tags('gone/soon')).json, 'all or none').to.deep.include({ tag: 'production', version: 1 });
    await api.ensure('gone/now', { content: 'one' });
    await api.ensure('gone/now', { content: 'two' });
    await api.pin('gone/now', 'production', 1);
    await current.api.prompts.delete('gone/now');
    expect((await server.request('GET', '/api/public/v2/prompts/gone/now?label=latest')).status).to.equal(404);
  });
});
