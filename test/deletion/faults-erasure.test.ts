import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { base64, png } from '../attachments/images.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { openStoreAt } from '../harness/trace-store.js';
import { textsInFiles } from './files.js';
import { oldPartsRemoved, removeOldPartsAtOnce } from './old-parts.js';

const SECRETS = /secret-[a-z-]+-[0-9a-f]{32}/g;
const secret = (what: string) => `secret-${what}-${randomUUID().replaceAll('-', '')}`;

describe('what is deleted or replaced', function () {
  this.timeout(480_000);
  let server: TestServer;
  before(async () => {
    server = await bootServer();
  });
  after(() => rm(server.dataDir, { recursive: true, force: true }));

  /** Those of these texts that some file still holds. */
  function inFiles(texts: readonly string[]): string[] {
    const found = textsInFiles(server.dataDir, SECRETS);
    return texts.filter((text) => found.has(text)).map((text) => `${text} in ${found.get(text) ?? ''}`);
  }

  async function call(method: string, path: string, body?: unknown): Promise<number> {
    const { status, text } = await server.request(method, path, body === undefined ? {} : { body });
    expect(status, text).to.be.within(200, 299);
    return status;
  }

  /** A trace in a session, with a text of its own wherever a text may stand. */
  function written(name: string) {
    const texts = (what: string) => secret(`${name}-${what}`);
    const ids = { trace: randomUUID(), span: randomUUID(), session: randomUUID() };
    const fields = {
      name: texts('name'),
      input_data: texts('input'),
      output_data: texts('output'),
      error_message: texts('error'),
      tags: { [texts('tag-key')]: texts('tag') },
      trace_tags: { kept: texts('trace-tag') },
      session_tags: { kept: texts('session-tag') },
      attributes: { note: texts('attribute') },
    };
    const time = { started_at: '2026-01-01T00:00:00Z' };
    const span = {
      ...time,
      id: ids.span,
      trace_id: ids.trace,
      session: { id: ids.session, name: texts('of-session') },
      ...fields,
    };
    const trace = {
      ...time,
      id: ids.trace,
      session_id: ids.session,
      name: texts('posted-trace'),
      attributes: { a: texts('trace-attribute') },
    };
    const session = {
      id: ids.session,
      project_id: server.projectId,
      name: texts('posted-session'),
      attributes: { a: texts('session-attribute') },
    };
    const all = [...JSON.stringify([span, trace, session]).matchAll(SECRETS)].map(([text]) => text);
    return { ids, span, trace, session, texts: [...new Set(all)] };
  }

  async function send({ span, trace, session }: ReturnType<typeof written>): Promise<void> {
    await call('POST', '/spans', [span]);
    await call('POST', '/traces', [trace]);
    await call('POST', '/sessions', [session]);
  }

  /** Erases without a server, and waits until old parts are removed. */
  async function erase(gone: readonly string[]): Promise<void> {
    const opened = await openStoreAt(join(server.dataDir, 'clickhouse'));
    try {
      await removeOldPartsAtOnce(opened.client);
      // Cut off at any point, it is done again.
      for (const ms of [1, 100, 300, 1_000, 2_000])
        await opened.store
          .erase(AbortSignal.timeout(ms))
          .catch((error: unknown) => expect(error).to.be.instanceOf(Error));
      await opened.store.erase();
      await oldPartsRemoved(opened.client, () => inFiles(gone).length === 0);
    } finally {
      await opened.close();
    }
  }

  it('is in no file once it is erased, and all else is as it was', async () => {
    const [deleted, replaced, alone, kept] = [
      written('deleted'),
      written('replaced'),
      written('alone'),
      written('kept'),
    ];
    for (const each of [deleted, replaced, alone, kept]) await send(each);
    const image = png(7);
    await call('POST', '/spans', [
      { ...alone.span, attributes: { attachments: [{ type: 'image', base64: base64(image), label: 'x' }] } },
    ]);
    await call('POST', '/v1/tasks/greeting/prompt/versions/ensure', { content: 'hello' });
    const feedback = secret('feedback');
    await call('POST', `/v1/prompts/greeting/completions/${deleted.ids.span}/feedback`, {
      thumbs_up: true,
      reason: feedback,
    });
    const lists = async () => {
      const answers = await Promise.all(['/spans', '/traces', '/sessions'].map((path) => server.request('GET', path)));
      return answers.map(({ json }) => json as unknown);
    };
    const gone = [...deleted.texts, ...replaced.texts, ...alone.texts, feedback];
    expect(inFiles(gone)).to.have.length(gone.length);

    await call('DELETE', `/sessions/${deleted.ids.session}`);
    await call('DELETE', `/spans/${alone.ids.span}`);
    await call('DELETE', `/traces/${alone.ids.trace}`);
    await call('DELETE', `/sessions/${alone.ids.session}`);
    const instead = written('instead');
    const { id, trace_id } = replaced.span;
    const session = { id: replaced.ids.session, name: instead.span.session.name };
    await call('POST', '/spans', [{ ...instead.span, id, trace_id, session }]);
    await call('POST', '/traces', [{ ...instead.trace, id: replaced.ids.trace, session_id: replaced.ids.session }]);
    await call('POST', '/sessions', [{ ...instead.session, id: replaced.ids.session }]);
    const shown = await lists();
    await server.stop();

    await erase(gone);
    expect(inFiles(gone)).to.deep.equal([]);
    expect(inFiles(kept.texts)).to.have.length(kept.texts.length);
    server = await bootServer({ dataDir: server.dataDir });
    expect(await lists()).to.deep.equal(shown);
    await server.stop();
  });
});
