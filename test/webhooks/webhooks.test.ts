import { createHmac, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { openMetadataStore } from '../../src/compose/metadata-store.js';
import { span, uuid, type Row } from '../harness/checked-api.js';
import { untilGone } from '../deletion/tombstone-gc.js';
import { makeProject } from '../harness/projects.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { webhook } from './destination.js';
import { Receiver } from './receiver.js';

/** Told of tests alone: the newest delivery is one, whatever else happens meanwhile. */
const TESTS = { events: ['comparison.failed'] };

describe('webhooks', function () {
  this.timeout(60_000);
  let server: TestServer;
  let receiver: Receiver;
  let path: string;

  before(async () => {
    receiver = await Receiver.start();
    server = await bootServer({ env: { WEBHOOK_ALLOWED_ADDRESSES: '127.0.0.1' } });
    path = `/projects/${server.projectId}/webhooks`;
  });
  after(async () => {
    await server.dispose();
    await receiver.stop();
  });

  const make = async (body: Row): Promise<Row> => {
    const { status, json, text } = await server.request('POST', path, {
      body: { name: 'mine', kind: 'webhook', ...body },
    });
    expect(status, text).to.equal(201);
    return json as Row;
  };
  const test = async ({ id }: Row) => expect((await server.request('POST', `${path}/${id}:test`)).status).to.equal(200);
  /** Waits until a delivery of a destination is as described. */
  const delivery = async ({ id }: Row, holds: (newest: Row) => boolean): Promise<Row> => {
    for (;;) {
      const [newest] = (await server.request('GET', `${path}/${id}/deliveries`)).json as Row[];
      if (newest !== undefined && holds(newest)) return newest;
      await sleep(10);
    }
  };
  const failed = ({ attempts, state }: Row) => attempts === 1 && state === 'waiting';
  const pin = async (slug: string, tag: string) => {
    await server.request('POST', `/v1/tasks/${slug}/prompt/versions/ensure`, { body: { content: 'Say it.' } });
    const pinned = await server.request('POST', `/projects/${server.projectId}/prompts/${slug}/tags/${tag}:pin`, {
      body: { version: 1 },
    });
    expect(pinned.status, pinned.text).to.equal(200);
  };

  it('are signed by a secret that is shown once, and rotated', async () => {
    const hook = await make({ target: receiver.url('/signed?token=hidden') });
    expect(hook['secret']).to.match(/^whsec_/);
    const shown = await server.request('GET', `${path}/${hook['id']}`);
    expect(shown.text).to.not.include('whsec_').and.not.include('hidden').and.not.include('signed');
    expect(shown.json.target).to.equal(`http://127.0.0.1:${receiver.port}/…`);
    await test(hook);
    const isSigned = async (secret: string, count: number, type = 'prompt.tag_moved') => {
      const { headers, text } = (await receiver.came('/signed?token=hidden', count)).at(
        -1,
      ) as (typeof receiver.received)[0];
      const [, seconds = '', hash = ''] =
        /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['spanhouse-signature'])) ?? [];
      expect(Math.abs(Number(seconds) - Date.now() / 1000)).to.be.below(60);
      const body = JSON.parse(text) as Row;
      expect(body).to.include({ type, project_id: server.projectId });
      expect(headers).to.include({ 'spanhouse-event': type, 'spanhouse-event-id': body['id'] });
      return hash === createHmac('sha256', secret).update(`${seconds}.${text}`).digest('hex');
    };
    expect(await isSigned(hook['secret'], 1, 'test')).to.equal(true);
    expect(receiver.at('/signed?token=hidden')[0]?.text).to.not.include('mine');
    const again = await server.request('POST', `${path}/${hook['id']}:test`);
    expect(again.status, 'twice in a minute').to.equal(429);
    expect(Number(again.headers.get('retry-after'))).to.be.within(1, 60);
    const { json } = await server.request('POST', `${path}/${hook['id']}:rotate`);
    expect(json.secret).to.not.equal(hook['secret']);
    await pin('signed', 'production');
    expect(await isSigned(json.secret, 2)).to.equal(true);
    expect(await isSigned(hook['secret'], 2)).to.equal(false);
    const newest = await delivery(hook, ({ state }) => state === 'delivered');
    expect(newest).to.include({
      event: 'prompt.tag_moved',
      attempts: 1,
      status: 204,
      error: null,
      response: null,
      next_at: null,
    });
  });

  it('are told of the events that they want, in the words of their kind', async () => {
    await make({ target: receiver.url('/all') });
    await make({ target: receiver.url('/slack'), kind: 'slack', events: ['prompt.tag_moved'] });
    await make({ target: receiver.url('/none'), events: ['comparison.failed'] });
    await pin('greeting', 'production');
    const [moved] = await receiver.came('/all');
    const at = (place: string) => `${server.url}/console/p/${server.projectId}/${place}`;
    expect(JSON.parse(moved?.text ?? '')).to.deep.include({
      type: 'prompt.tag_moved',
      url: at('prompts/greeting?tab=tags'),
    });
    expect(JSON.parse(moved?.text ?? '').data).to.include({ prompt_slug: 'greeting', tag: 'production', version: 1 });
    const [slack] = await receiver.came('/slack');
    expect(JSON.parse(slack?.text ?? '')).to.deep.equal({
      text: `*prompt.tag_moved* The tag production of the prompt greeting points to version 1 <${at('prompts/greeting?tab=tags')}|Open in Spanhouse>`,
    });
    const judge = { name: 'j', evaluation_type: 'binary', prompt: 'Is it good?', enabled: false };
    const judges = `/projects/${server.projectId}/judges`;
    const judge_id = (await server.request('POST', judges, { body: judge })).json.id as string;
    await server.request('POST', '/spans', { body: [span(1)] });
    const correction = { judge_id, judge_was_right: false, reason: 'no' };
    const said = await server.request('POST', `/projects/${server.projectId}/spans/${uuid(1)}/feedback`, {
      body: correction,
    });
    expect(said.status, said.text).to.be.within(200, 201);
    const corrected = (await receiver.came('/all', 2)).map(({ text }) => JSON.parse(text) as Row).at(-1);
    expect(corrected).to.include({ type: 'judge.corrected', url: at(`judges/${judge_id}`) });
    const monitor = { name: 'Calls <!channel>', measure: 'count', window_minutes: 5, operator: 'below', threshold: 1 };
    const made = await server.request('POST', `/projects/${server.projectId}/monitors`, { body: monitor });
    const fired = (await receiver.came('/all', 3)).map(({ text }) => JSON.parse(text) as Row).at(-1);
    expect(fired).to.include({ type: 'monitor.fired', url: at(`monitors/${made.json.id}`) });
    expect(fired?.['data']).to.include({ monitor_id: made.json.id, state: 'firing', value: 0, threshold: 1 });
    expect(receiver.at('/none')).to.deep.equal([]);
    expect(receiver.at('/slack')).to.have.length(1);
  });

  it('are retried, whatever is wrong, and hold up no other', async () => {
    receiver.ways.set('/broken', 500);
    receiver.ways.set('/elsewhere', { status: 302, location: receiver.url('/secret') });
    receiver.ways.set('/silent', 'never');
    receiver.ways.set('/endless', { endless: 200 });
    receiver.ways.set('/switch', 'switch');
    const [broken, elsewhere, silent, endless, switching] = [
      await make({ target: receiver.url('/broken'), ...TESTS }),
      await make({ target: receiver.url('/elsewhere'), ...TESTS }),
      await make({ target: receiver.url('/silent'), ...TESTS }),
      await make({ target: receiver.url('/endless'), ...TESTS }),
      await make({ target: receiver.url('/switch'), ...TESTS }),
    ];
    for (const hook of [silent, broken, elsewhere, endless, switching]) await test(hook);
    const answered = await delivery(broken, failed);
    expect(answered).to.include({ status: 500, error: 'The destination answered 500' });
    expect(answered['response']).to.equal('x'.repeat(200));
    const redirected = await delivery(elsewhere, failed);
    expect(redirected).to.include({ status: 302 });
    expect(redirected['error']).to.match(/redirects/);
    expect(receiver.at('/secret')).to.deep.equal([]);
    expect(await delivery(endless, ({ state }) => state === 'delivered')).to.include({ response: 'y'.repeat(200) });
    expect(await delivery(switching, failed)).to.include({ status: null, error: 'The destination answered 101' });
    // The silent one is still waited for.
    await receiver.came('/silent');
    const quick = await make({ target: receiver.url('/quick') });
    await test(quick);
    await delivery(quick, ({ state }) => state === 'delivered');
    // What is changed is tried at once, with what waits.
    receiver.ways.set('/broken', 204);
    await server.request('PATCH', `${path}/${broken['id']}`, { body: { name: 'repaired' } });
    expect(await delivery(broken, ({ state }) => state === 'delivered')).to.include({ attempts: 2, status: 204 });
    await server.request('PATCH', `${path}/${elsewhere['id']}`, { body: { enabled: false } });
    expect(await delivery(elsewhere, ({ state }) => state === 'given_up')).to.include({ attempts: 1 });
    expect((await server.request('POST', `${path}/${elsewhere['id']}:test`)).status).to.equal(409);
    for (const { id } of [broken, elsewhere, silent, endless, switching, quick])
      expect((await server.request('DELETE', `${path}/${id}`)).status).to.equal(204);
  });

  it('reach no private address that the operator did not allow', async () => {
    const port = receiver.port;
    const targets = [
      `http://127.0.0.2:${port}/x`,
      `http://[::1]:${port}/x`,
      'http://169.254.169.254/latest',
      'http://0.0.0.0/x',
    ];
    const mapped = ['[::ffff:127.0.0.1]', '[::127.0.0.1]'].map((host) => `http://${host}:${port}/x`);
    for (const target of [...targets, ...mapped]) {
      const hook = await make({ target, ...TESTS });
      await test(hook);
      const { status, error } = await delivery(hook, failed);
      expect([status, error], target).to.deep.equal([
        null,
        'The destination has a private address, which this server does not call',
      ]);
      await server.request('DELETE', `${path}/${hook['id']}`);
    }
    expect(receiver.at('/x')).to.deep.equal([]);
    for (const target of ['ftp://example.com', 'http://user:secret@example.com', 'nothing', 'file:///etc/passwd'])
      expect((await server.request('POST', path, { body: { name: 'x', kind: 'webhook', target } })).status).to.equal(
        422,
      );
    const mail = { name: 'x', kind: 'email', target: 'a@example.com' };
    expect((await server.request('POST', path, { body: mail })).status, 'no mail server').to.equal(409);
    const metadata = openMetadataStore(server.dataDir);
    const id = randomUUID();
    // As the operator had one before.
    const { projectId: project_id } = server;
    const created_by = (await server.request('GET', '/whoami')).json.user.id as string;
    metadata.webhooks.insert(webhook({ id, project_id, kind: 'email', target: mail.target, created_by }), 20);
    metadata.close();
    const change = async (body: Row) => (await server.request('PATCH', `${path}/${id}`, { body })).status;
    expect(await change({ target: 'b@example.com' })).to.equal(409);
    expect(await change({ enabled: false })).to.equal(200);
    expect((await server.request('DELETE', `${path}/${id}`)).status).to.equal(204);
  });

  it('are of one project, bounded, and go with it', async () => {
    const { projectId, key } = makeProject(server.dataDir);
    const other = `/projects/${projectId}/webhooks`;
    const body = { name: 'x', kind: 'webhook', target: receiver.url('/other') };
    for (let n = 0; n < 20; n += 1) expect((await server.request('POST', other, { body, key })).status).to.equal(201);
    expect((await server.request('POST', other, { body, key })).status).to.equal(409);
    const [mine] = (await server.request('GET', path)).json as Row[];
    expect((await server.request('GET', `${other}/${mine?.['id']}`, { key })).status).to.equal(404);
    const monitor = { name: 'x', measure: 'count', window_minutes: 5, operator: 'below', threshold: 1 };
    const made = await server.request('POST', `/projects/${projectId}/monitors`, { body: monitor, key });
    expect(made.status, made.text).to.equal(201);
    // Each is told that it fires.
    await receiver.came('/other', 20);
    expect((await server.request('DELETE', `/projects/${projectId}`, { key })).status).to.equal(202);
    await untilGone(server.dataDir, [projectId]);
  });
});
