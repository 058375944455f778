import { expect } from 'chai';
import { each, listNames, span, uuid, type CheckedApi } from '../harness/checked-api.js';
import { SpanSender } from './span-sender.js';

describe('POST /spans, the request', () => {
  let sender: SpanSender;
  let api: CheckedApi;

  before(async () => {
    sender = await SpanSender.boot();
    ({ api } = sender);
  });
  after(() => sender.dispose());

  it('the same span twice in one request: the later wins, each element is answered', async () => {
    const number = sender.number();
    const [first, other, second] = [
      span(number, { name: 'first', cost: 1 }),
      sender.span(),
      span(number, { name: 'second', cost: 2 }),
    ];
    const posted = await api.post('spans', [first, other, second]);
    expect(posted.map(({ name }) => name)).to.deep.equal(['first', other['name'], 'second']);
    expect(await api.get('spans', [['trace_id', first['trace_id'] as string]])).to.deep.equal([posted[2]]);
    expect(await api.one('traces', first['trace_id'] as string)).to.include({ span_count: 1, cost: 2, name: 'second' });
  });

  it('a span sent again is replaced as a whole, and created anew', async () => {
    const number = sender.number();
    const before = await sender.store({
      id: uuid(number),
      trace_id: uuid(number),
      cost: 3,
      status: 'error',
      tags: { a: '1' },
      session_id: uuid(504),
    });
    const after = await sender.store({ id: uuid(number), trace_id: uuid(number), name: 'again' });
    expect(after).to.deep.include({
      name: 'again',
      cost: null,
      status: null,
      tags: {},
      session_id: null,
      has_error: false,
    });
    expect(after['created_at'] > before['created_at']).to.equal(true);
    expect(
      await api.get('spans', [
        ['id', uuid(number)],
        ['created_before', before['created_at'] as string],
      ]),
    ).to.deep.equal([]);
  });

  it('is read by every list at once', async () => {
    await each(
      Array.from({ length: 30 }, () => sender.number()),
      async (number) => {
        const ids = { spans: uuid(number), traces: uuid(1_000_000 + number), sessions: uuid(3_000_000 + number) };
        await api.post('spans', [span(number, { session_id: ids.sessions, name: `fresh ${number}` })]);
        const found = await Promise.all(listNames.map((list) => api.ids(list, [['id', ids[list]]])));
        expect(found).to.deep.equal(listNames.map((list) => [ids[list]]));
      },
    );
  });

  it('every error of a request is listed, up to a hundred, and nothing of it is stored', async () => {
    const good = Array.from({ length: 5 }, () => sender.span());
    const bad = [
      { ...sender.span(), name: '', cost: -1, tags: { a: {} } },
      { trace_id: 'x', started_at: true },
      { ...sender.span(), ended_at: 0 },
      // Rules that no schema says, beside one that a schema says.
      { ...sender.span(), name: '', ended_at: 0, session_id: uuid(1), session: { id: uuid(2) } },
      { ...sender.span(), trace_id: '0'.repeat(32), attributes: { attachments: [{ base64: 'bm90aGluZw==' }] } },
      { ...sender.span(), tags: { much: 'x'.repeat(300_000) }, session_tags: { much: 'x'.repeat(300_000) } },
      null,
    ];
    const found = await api.refused('POST', 'spans', [...good, ...bad]);
    expect(found).to.have.all.keys(
      '/5/name',
      '/5/cost',
      '/5/tags/a',
      '/6/trace_id',
      '/6/started_at',
      '/6/name',
      '/7/ended_at',
      '/8/name',
      '/8/ended_at',
      '/8/session/id',
      '/9/trace_id',
      '/9/attributes/attachments/0/base64',
      '/10/tags',
      '/10/session_tags',
      '/11',
    );
    expect(found['/8/session/id']).to.equal('must equal session_id');
    expect(found['/9/trace_id']).to.equal('must not be the nil UUID');
    for (const { id } of good) expect(await api.get('spans', [['id', id as string]])).to.deep.equal([]);
    const many = await api.refused(
      'POST',
      'spans',
      Array.from({ length: 500 }, () => ({})),
    );
    expect(Object.keys(many)).to.have.length(100);
  });

  it('an empty array is fine, anything but an array is not', async () => {
    expect(await api.post('spans', [])).to.deep.equal([]);
    for (const body of ['{}', 'null', '7', '"x"', 'true', JSON.stringify(span(1))]) {
      const response = await api.send('POST', 'spans', '', { body });
      expect(response.status, body).to.equal(422);
      expect(response.json.errors).to.deep.equal([{ pointer: '', detail: 'must be an array' }]);
    }
  });

  it('Prefer: return=minimal answers ids alone', async () => {
    const [a, b] = [sender.span(), { ...sender.span(), id: null }];
    for (const prefer of ['return=minimal', 'respond-async, return=minimal', 'RETURN=MINIMAL; x=1']) {
      const response = await api.send('POST', 'spans', '', { body: [a, b], headers: { prefer } });
      expect(response.headers.get('preference-applied')).to.equal('return=minimal');
      expect(response.json).to.have.length(2);
      for (const row of response.json) expect(Object.keys(row)).to.deep.equal(['id']);
      expect(response.json[0].id).to.equal(a['id']);
      expect(await api.get('spans', [['id', response.json[1].id]])).to.have.length(1);
    }
    const whole = await api.send('POST', 'spans', '', { body: [a], headers: { prefer: 'return=representation' } });
    expect(whole.json[0]).to.include.keys('name');
    expect(whole.headers.get('preference-applied')).to.equal(null);
  });
});
