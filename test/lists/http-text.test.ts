import { expect } from 'chai';
import { span, uuid } from '../harness/checked-api.js';
import { sharedServer } from '../harness/shared-server.js';
import type { TestServer } from '../harness/server.js';

const TRACE = uuid(1);
const SESSION = uuid(2);
const STARTED = { started_at: '2026-01-15T10:00:00Z', trace_id: TRACE, session_id: SESSION };

describe('GET /traces/{id}/text and /sessions/{id}/text', () => {
  let server: TestServer;

  const text = async (path: string, status = 200) => {
    const { status: answered, json } = await server.request('GET', path);
    expect(answered, path).to.equal(status);
    return json;
  };

  before(async () => {
    server = await sharedServer();
    const root = { ...STARTED, name: 'answer', input_data: 'line\n- fake', output_data: 'word '.repeat(2_000) };
    const body = [
      span(10, root),
      span(11, {
        ...STARTED,
        parent_span_id: uuid(10),
        name: 'look up',
        error_code: 'Timeout',
        error_message: 'after 5 s',
      }),
    ];
    expect((await server.request('POST', '/spans', { body })).status).to.equal(200);
    const posted = await server.request('POST', '/traces', {
      body: [{ id: uuid(3), session_id: uuid(5), name: 'empty', started_at: '2026-01-15T10:00:00Z' }],
    });
    expect(posted.status, posted.text).to.equal(200);
  });
  after(() => server.dispose());

  it('show spans with their ids, and texts that cannot be taken for them', async () => {
    const { id, spans, text: shown } = await text(`/traces/${TRACE}/text`);
    expect([id, spans]).to.deep.equal([TRACE, 2]);
    expect(shown).to.include(`- generic answer ${uuid(10)}\n  input: line\n| - fake\n`);
    expect(shown).to.match(
      new RegExp(`^  - generic look up \\(error\\) ${uuid(11)}\\n    error: Timeout: after 5 s$`, 'm'),
    );
    expect(shown).to.match(/\[2 spans\. Left out: nothing\.\]$/);
    const session = await text(`/sessions/${SESSION}/text`);
    expect(session).to.include({ id: SESSION, spans: 2 });
    expect(session.text).to.include(`trace ${TRACE}`).and.include(uuid(11));
  });

  it('keep to the number of characters, and say what they leave out', async () => {
    const { text: shown } = await text(`/traces/${TRACE}/text?max_characters=1000`);
    expect(shown.length).to.be.at.most(1_000);
    expect(shown)
      .to.match(/characters left out …\]/)
      .and.include('Timeout: after 5 s');
    await text(`/traces/${TRACE}/text?max_characters=999`, 422);
  });

  it('are empty without a span, and not found without a trace', async () => {
    expect(await text(`/traces/${uuid(3)}/text`)).to.deep.equal({ id: uuid(3), spans: 0, text: '' });
    await text(`/traces/${uuid(4)}/text`, 404);
    await text(`/sessions/${uuid(4)}/text`, 404);
  });
});
