import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { DeletionStep } from '../../src/features/deletion/deletion-work.js';
import { storedFiles } from '../attachments/attachment-api.js';
import { images } from '../attachments/images.js';
import { idsOf, LearningApi } from '../learning/learning-api.js';
import { ScriptedModel } from '../learning/scripted-model.js';
import { codeIn, ConsoleBrowser } from '../identity/console-browser.js';
import { makeProject } from '../harness/projects.js';
import { send, type TestServer } from '../harness/server.js';
import { eventually } from '../judges/judge-api.js';
import { rowsHolding, untilGone } from './tombstone-gc.js';
import { scripted } from './scene.js';
import { programFile } from '../harness/program-files.js';

const run = promisify(execFile);
const admin = programFile('admin');
const MARK = 'everythingsecret';

describe('deleting a project', function () {
  this.timeout(120_000);
  let model: ScriptedModel;
  let own: LearningApi;
  /** What a test does at each step of a deletion, until the next start. */
  let atStep: (step: DeletionStep) => void = () => undefined;
  const onDeletionStep = (step: DeletionStep) => atStep(step);

  before(async () => {
    model = await ScriptedModel.start(scripted);
    own = await LearningApi.boot(model, { onDeletionStep });
  });
  beforeEach(() => (atStep = () => undefined));
  after(async () => {
    await own.server.dispose();
    await model.stop();
  });

  async function restart(step: typeof atStep = () => undefined): Promise<void> {
    const { dataDir } = own.server;
    await own.server.stop();
    atStep = step;
    own = await LearningApi.boot(model, { onDeletionStep, dataDir });
  }

  async function command(...words: string[]): Promise<any> {
    const env = { ...process.env, DATA_DIR: own.server.dataDir };
    return JSON.parse((await run(process.execPath, [admin, '--json', ...words], { env })).stdout);
  }

  /** The API of a project of its own. */
  function another(id?: string): LearningApi {
    const made = makeProject(own.server.dataDir, { name: `${MARK} project`, ...(id !== undefined && { id }) });
    const { key } = made;
    const server: Pick<TestServer, 'projectId' | 'key' | 'dataDir' | 'url' | 'request'> = {
      ...made,
      dataDir: own.server.dataDir,
      url: own.server.url,
      request: (method, path, request = {}) => send(own.server.url + path, method, { key, ...request }),
    };
    return new LearningApi(server as TestServer);
  }

  /** Something of every kind that belongs to a project. @returns URLs that need no key */
  async function fill(api: LearningApi): Promise<string[]> {
    const [first = '', ...ids] = idsOf(950_000, 6, 6);
    await api.expect(200, 'POST', `/v1/tasks/${MARK}/prompt/versions/ensure`, { content: MARK });
    await api.expect(200, 'POST', `/v1/tasks/${MARK}/prompt/versions/ensure`, { content: `${MARK} two` });
    await api.expect(200, 'POST', `${api.project}/prompts/${MARK}/tags/live:pin`, { version: 1 });
    const image = { base64: images.png.toString('base64') };
    const session = {
      session_id: first,
      session_name: MARK,
      session_tags: { [MARK]: 'x' },
      trace_tags: { [MARK]: 'y' },
    };
    const attributes = { task: MARK };
    await api.spans([
      {
        id: first,
        input_data: MARK,
        output_data: MARK,
        attributes: { ...attributes, attachments: [image] },
        ...session,
      },
      ...ids.map((id) => ({ id, input_data: `${MARK} ${id}`, output_data: MARK, attributes })),
    ]);
    await api.expect(200, 'POST', '/traces', [
      { id: first, session_id: first, name: MARK, started_at: '2026-01-31T10:00:00Z' },
    ]);
    await api.expect(200, 'POST', '/sessions', [
      { id: first, project_id: api.server.projectId, name: MARK, attributes: { of: MARK } },
    ]);
    const judge = await api.judge({ name: MARK });
    await api.evaluate(judge, [first, ...ids]);
    for (const id of [first, ...ids]) {
      const feedback = { thumbs_up: false, reason: MARK, expected_output: MARK };
      await api.review(judge, id, feedback);
      await api.expect(200, 'POST', `/v1/prompts/${MARK}/completions/${id}/feedback`, feedback);
    }
    const prices = `${api.project}/model-prices`;
    await api.send('PUT', `${prices}/${MARK}/${MARK}`, { input_per_million: 1, output_per_million: 1 });
    await api.expect(202, 'POST', `${prices}:reprice`, {});
    const { id: job } = await api.expect(202, 'POST', `${api.project}/prompts/${MARK}/optimizations`, {
      candidates: 1,
    });
    const { result } = await api.finished(`${api.project}/prompts/${MARK}/optimizations/${job}`);
    await api.expect(200, 'POST', `${api.project}/prompts/${MARK}/optimizations/${job}:promote`, {
      candidate_id: result.candidates[0].id,
    });
    const link = await api.expect(200, 'POST', '/feedback-links', {
      prompt_slug: MARK,
      link_type: 'prompt_completion',
    });
    const review = { completion_id: first, thumbs_up: true, reviewer_name: `${MARK} guest` };
    const { status } = await send(`${link.url}/feedback`, 'POST', { body: review, key: null });
    expect(status).to.be.within(200, 303);
    const [attachment] = (await api.get(`/spans/${first}/attachments`)).attachments;
    return [link.url, attachment.url];
  }

  async function contentOf(api: LearningApi): Promise<unknown> {
    const prompts = await api.get(`${api.project}/prompts`);
    return [
      prompts,
      await api.get('/spans?limit=500&sort_order=asc'),
      await api.get('/traces?limit=500'),
      await api.get('/sessions?limit=500'),
      await api.get(`${api.project}/judges`),
      await api.get(`${api.project}/model-prices`),
      await api.get('/feedback-links'),
    ];
  }

  async function expectGone(api: LearningApi): Promise<void> {
    const { projectId, dataDir } = api.server;
    await untilGone(dataDir, [projectId]);
    expect((await storedFiles(dataDir)).filter((name) => name.startsWith(projectId))).to.deep.equal([]);
    // The same id made again is an empty project.
    const again = another(projectId);
    for (const list of (await contentOf(again)) as unknown[][]) expect(list).to.deep.equal([]);
    expect(await again.get('/spans?limit=1&count=true')).to.deep.equal([]);
    await again.spans([{ id: '0199a1b2-0000-7000-8000-0000000000f1', input_data: 'new' }]);
    expect(await again.get('/traces')).to.have.length(1);
  }

  it('removes everything of it at once, and nothing of another one, also after a restart', async () => {
    await fill(own);
    const doomed = another();
    const urls = await fill(doomed);
    const before = await contentOf(own);
    const guests = () => rowsHolding(own.server.dataDir, [`${MARK} guest`]).filter((row) => row.startsWith('users'));
    expect(guests()).to.have.length(2);
    expect(rowsHolding(own.server.dataDir, [doomed.server.projectId])).to.have.length.greaterThan(40);

    const { status, json } = await doomed.send('DELETE', doomed.project);
    expect([status, json]).to.deep.equal([202, { id: doomed.server.projectId, status: 'deleting' }]);
    expect((await doomed.send('GET', '/spans')).status).to.equal(401);
    expect((await doomed.send('DELETE', doomed.project)).status).to.equal(401);
    expect((await fetch(urls[0] ?? '')).status).to.equal(404);
    await eventually(
      () => fetch(urls[1] ?? ''),
      (answer) => answer.status === 404,
    );
    await expectGone(doomed);
    expect(guests()).to.have.length(1);
    expect(await contentOf(own)).to.deep.equal(before);
    await restart();
    expect(await contentOf(own)).to.deep.equal(before);
  });

  it('takes a key of that very project with full access', async () => {
    const doomed = another();
    expect((await own.send('DELETE', doomed.project)).status).to.equal(403);
    for (const access of ['read', 'ingest']) {
      const body = { name: access, access };
      const { key } = await doomed.expect(201, 'POST', `${doomed.project}/api-keys`, body);
      expect((await own.server.request('DELETE', doomed.project, { key })).status).to.equal(403);
    }
    expect(await doomed.get('/spans')).to.deep.equal([]);
  });

  it('lets nobody in by a key, a sign-in or an invitation, also after a start that completes nothing', async () => {
    const cutOff = () => {
      throw new Error('cut off by the test');
    };
    atStep = cutOff;
    const doomed = another();
    const { key, projectId } = doomed.server;
    const open = () => new ConsoleBrowser({ url: own.server.url, projectId });
    const { cookie } = await ConsoleBrowser.signedIn({ url: own.server.url, projectId }, { key });
    const asBefore = () => Object.assign(open(), { cookie });
    const { url } = await doomed.expect(201, 'POST', `${doomed.project}/invites`, { name: 'Ann' });
    expect(await asBefore().status('GET', '/spans')).to.equal(200);
    expect((await doomed.send('DELETE', doomed.project)).status).to.equal(202);
    const expectRefused = async () => {
      for (const path of ['/spans', '/whoami', '/v1/traces']) {
        const method = path === '/v1/traces' ? 'POST' : 'GET';
        expect((await send(own.server.url + path, method, { key })).status, path).to.equal(401);
      }
      expect(await asBefore().status('GET', '/spans'), 'the sign-in').to.equal(401);
      for (const credentials of [{ key }, { code: codeIn(url) }])
        expect((await open().signIn(credentials)).status, Object.keys(credentials)[0]).to.equal(401);
    };
    await expectRefused();
    await restart(cutOff);
    await expectRefused();
    await restart();
    await expectRefused();
    await expectGone(doomed);
  });

  for (const step of ['images', 'spans', 'records', 'end'] satisfies DeletionStep[])
    it(`is completed by the next start when it was cut off before the step ${step}`, async () => {
      atStep = (at) => {
        if (at === step) throw new Error('cut off by the test');
      };
      const doomed = another();
      await doomed.expect(200, 'POST', `/v1/tasks/${MARK}/prompt/versions/ensure`, { content: MARK });
      await doomed.spans([{ id: '0199a1b2-0000-7000-8000-0000000000f2', input_data: MARK }]);
      expect((await doomed.send('DELETE', doomed.project)).status).to.equal(202);
      expect((await doomed.send('GET', '/spans')).status).to.equal(401);
      await restart();
      await expectGone(doomed);
    });

  it('works by the admin program while the server runs', async () => {
    const doomed = another();
    await fill(doomed);
    const ordered = await command('delete-project', doomed.server.projectId.toUpperCase());
    expect(ordered).to.include({ id: doomed.server.projectId, deletion: 'ordered' });
    expect(ordered.note).to.include('running server').and.to.include('next start');
    expect((await doomed.send('GET', '/spans')).status).to.equal(401);
    await expectGone(doomed);
  });

  it('works by the admin program while no server runs', async () => {
    const doomed = another();
    await fill(doomed);
    await own.server.stop();
    await command('delete-project', doomed.server.projectId);
    // The start waits for no project to be removed; nobody can get at it meanwhile.
    await restart();
    expect((await doomed.send('GET', '/spans')).status).to.equal(401);
    await expectGone(doomed);
  });

  it('is refused by the admin program for a project that is not there', async () => {
    const failure = await command('delete-project', '0199a1b2-0000-7000-8000-0000000000ff').catch((e: unknown) => e);
    expect(failure).to.include({ code: 1 });
    expect((failure as { stderr: string }).stderr).to.include('There is no project with this id');
  });

  it('lets nothing in that was on its way', async () => {
    const doomed = another();
    const { projectId, key } = doomed.server;
    const slow = (path: string, body: string) => {
      const bytes = new TextEncoder().encode(body);
      let go: () => void = () => undefined;
      const gate = new Promise<void>((resolve) => (go = resolve));
      const stream = new ReadableStream({
        async start(controller) {
          controller.enqueue(bytes.slice(0, 1));
          await gate;
          controller.enqueue(bytes.slice(1));
          controller.close();
        },
      });
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const init: RequestInit & { duplex: 'half' } = { method: 'POST', headers, body: stream, duplex: 'half' };
      return { answer: fetch(own.server.url + path, init), go };
    };
    const span = { trace_id: '0199a1b2-0000-7000-8000-0000000000f3', name: 'late', started_at: '2026-01-15T10:00:00Z' };
    const late = [
      slow('/spans', JSON.stringify([span])),
      slow(`/v1/tasks/${MARK}/prompt/versions/ensure`, JSON.stringify({ content: MARK })),
    ];
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect((await doomed.send('DELETE', doomed.project)).status).to.equal(202);
    await untilGone(own.server.dataDir, [projectId]);
    for (const { go } of late) go();
    for (const { answer } of late) expect((await answer).status).to.equal(401);
    await expectGone(doomed);
  });
});
