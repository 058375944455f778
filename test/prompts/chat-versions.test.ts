import { expect } from 'chai';
import type { TestServer } from '../harness/server.js';
import { sharedServer } from '../harness/shared-server.js';
import { promptApi, sha256 } from './prompt-api.js';

type Json = any;

const MESSAGES = [
  { role: 'system', content: 'You help {{shop}}.\r\n' },
  { type: 'placeholder', name: 'history' },
  { role: 'user', content: '{{question}}' },
];
const CONFIG = { model: 'gpt-4o', tools: [{ name: 'find' }], temperature: 0 };

describe('chat versions of prompts', () => {
  let server: TestServer;
  let api: ReturnType<typeof promptApi>;
  let serial = 0;
  const newSlug = () => `chat-${(serial += 1)}`;
  const ensured = async (slug: string, body: unknown): Promise<Json> => {
    const made = await api.ensure(slug, body);
    expect(made.status, made.text).to.equal(200);
    return made.json;
  };

  before(async () => {
    server = await sharedServer();
    api = promptApi(server);
  });
  after(() => server.dispose());

  it('are answered with their messages and config, and as JSON to those who know texts alone', async () => {
    const slug = newSlug();
    const made = await ensured(slug, { messages: MESSAGES, config: CONFIG });
    expect(made).to.deep.include({ version: 1, messages: MESSAGES, config: CONFIG, content: JSON.stringify(MESSAGES) });
    for (const read of [api.get(slug), api.latest(slug), api.byHash(slug, made.content_hash)])
      expect((await read).json).to.deep.include({ id: made.id, messages: MESSAGES, config: CONFIG });
    expect((await api.versions(slug)).json).to.deep.equal([made]);
    expect((await api.bind(slug, 1, { model_id: 'gpt-4o' })).json).to.deep.include({ messages: MESSAGES });
  });

  it('are told apart by text, messages and config, and are the same whatever the order of members', async () => {
    const slug = newSlug();
    const text = JSON.stringify(MESSAGES);
    const bodies = [
      { content: text },
      { messages: MESSAGES },
      { messages: MESSAGES.slice(0, 2) },
      { content: text, config: { a: 1 } },
      { messages: MESSAGES, config: { a: 1, b: { c: 1, d: 2 } } },
      { content: text, config: { a: 2 } },
    ];
    for (const [index, body] of bodies.entries()) expect((await ensured(slug, body)).version).to.equal(index + 1);
    const again = [
      { content: text, config: {}, messages: null },
      {
        messages: MESSAGES.map((one) => Object.fromEntries(Object.entries(one).reverse())),
        config: null,
        content: null,
      },
      { messages: MESSAGES.slice(0, 2), metadata: { other: true } },
      { content: text, config: { a: 1 } },
      { messages: MESSAGES, config: { b: { d: 2, c: 1 }, a: 1 } },
    ];
    for (const [index, body] of again.entries()) expect((await ensured(slug, body)).version).to.equal(index + 1);
    const versions: Json[] = (await api.versions(slug)).json;
    expect(new Set(versions.map(({ content_hash }) => content_hash)).size).to.equal(bodies.length);
    expect(versions[0])
      .to.include({ content_hash: sha256(text) })
      .and.to.not.have.any.keys('messages', 'config');
    const { content_hash } = versions[4];
    expect((await ensured(slug, { ...bodies[4], content_hash: content_hash.toUpperCase() })).version).to.equal(5);
    const wrong = await api.ensure(slug, { ...bodies[4], content_hash: sha256(text) });
    expect([wrong.status, wrong.json.errors[0].pointer]).to.deep.equal([422, '/content_hash']);
  });

  it('are refused, each message by its place, when they are no messages', async () => {
    const slug = newSlug();
    const good = { role: 'user', content: 'x' };
    const bad: [unknown, string][] = [
      [{ messages: [] }, '/messages'],
      [{ messages: 'x' }, '/messages'],
      [{ messages: Array.from({ length: 501 }, () => good) }, '/messages'],
      [{ messages: [good], content: 'x' }, '/messages'],
      [{ messages: [good, { role: 'user' }] }, '/messages/1'],
      [{ messages: [good, { role: 'a b', content: 'x' }] }, '/messages/1'],
      [{ messages: [good, { role: 'user', content: 7 }] }, '/messages/1'],
      [{ messages: [good, { ...good, name: 'history' }] }, '/messages/1'],
      [{ messages: [{ type: 'placeholder' }] }, '/messages/0'],
      [{ messages: [{ type: 'placeholder', name: '1 2' }] }, '/messages/0'],
      [{ messages: ['x'] }, '/messages/0'],
      [{ messages: [good, { role: 'user', content: 'half \ud83d' }] }, '/messages/1/content'],
      [{ messages: [{ role: 'user', content: 'x'.repeat(4 * 1024 * 1024) }] }, '/messages'],
      [{ content: 'x', config: [] }, '/config'],
      [{ content: 'x', config: { large: 'x'.repeat(300_000) } }, '/config'],
    ];
    for (const [body, pointer] of bad) {
      const refused = await api.ensure(slug, body);
      const [{ pointer: found }] = refused.json.errors;
      expect(
        [refused.status, found.startsWith(pointer) ? pointer : found],
        JSON.stringify(body).slice(0, 80),
      ).to.deep.equal([422, pointer]);
    }
    const { errors } = (await api.ensure(slug, { messages: [{ role: 'user' }] })).json;
    expect(errors[0].detail).to.include('must be a message (`role`, `content`) or a placeholder');
    const deep = '['.repeat(300) + ']'.repeat(300);
    expect((await api.ensure(slug, `{"content":"x","config":{"a":${deep}}}`)).status).to.equal(400);
    expect((await api.get(slug)).status).to.equal(404);
  });

  it('keep a config as it was sent, also with odd names', async () => {
    const slug = newSlug();
    const config = '{"__proto__":{"a":1},"10":1,"2":2,"constructor":null,"ü\\u0000":"\\ud83d","n":1e300}';
    await ensured(slug, `{"content":"x","config":${config}}`);
    expect(JSON.stringify((await api.get(slug)).json.config)).to.equal(JSON.stringify(JSON.parse(config)));
  });

  it('can be no version to optimize', async () => {
    const slug = newSlug();
    await ensured(slug, { messages: MESSAGES });
    const path = `/projects/${server.projectId}/prompts/${slug}/optimizations`;
    const { json } = await server.request('GET', `${path}:readiness`);
    expect(json).to.include({ ready: false });
    expect(json.next).to.include('chat version');
    const refused = await server.request('POST', path, { body: {} });
    expect([refused.status, refused.json.detail]).to.deep.equal([409, json.next]);
  });

  it('are an instruction of judges as one text', async () => {
    const slug = newSlug();
    await ensured(slug, { messages: [{ role: 'system', content: 'Judge {{input}}.' }, ...MESSAGES.slice(1)] });
    const judge = { name: 'by chat', task_slug: slug, evaluation_type: 'binary' };
    const made = await server.request('POST', `/projects/${server.projectId}/judges`, { body: judge });
    expect(made.status, made.text).to.equal(201);
  });
});
