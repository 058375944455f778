import { expect } from 'chai';
import { bootServer, type TestServer } from '../harness/server.js';
import { event, otlpSpan, request, spanId, spanUuid, toProtobuf, type Json } from './requests.js';

const PADDING = 'x'.repeat(20_000);

describe('evaluations of OpenTelemetry', () => {
  let server: TestServer;
  before(async () => {
    server = await bootServer({ env: { INGEST_THREADS: '1' } });
  });
  after(() => server?.dispose());

  let next = 1;
  const evaluation = (about: Record<string, string | number | boolean>) =>
    event(
      'gen_ai.evaluation.result',
      Object.fromEntries(Object.entries(about).map(([key, value]) => [`gen_ai.evaluation.${key}`, value])),
    );
  /** Sends a span with events. @returns its id, and what the answer says */
  async function send(events: readonly Json[], { key = server.key, padding = '', protobuf = false } = {}) {
    next += 1;
    const attributes = [{ key: 'padding', value: { stringValue: padding } }];
    const json = request([otlpSpan({ spanId: spanId(next), attributes, events })]);
    const sent = protobuf
      ? { body: Buffer.from(toProtobuf(json)), headers: { 'content-type': 'application/x-protobuf' } }
      : { body: json };
    const answer = await server.request('POST', '/v1/traces', { ...sent, key });
    expect(answer.status, answer.text).to.equal(200);
    expect((await server.request('GET', `/spans/${spanUuid(next)}`)).status).to.equal(200);
    return { id: spanUuid(next), partial: answer.json?.partialSuccess };
  }
  const scoresOf = async (id: string) =>
    (await server.request('GET', `/scores?entity_id=${id}&sort_order=asc`)).json as any[];

  for (const [where, padding] of Object.entries({ here: '', 'in a thread': PADDING }))
    it(`become scores of their span, with their comment, read ${where}`, async () => {
      const events = [
        evaluation({ name: 'Relevance', 'score.value': 4, 'score.label': 'relevant', explanation: 'To the point.' }),
        evaluation({ name: 'verdict', 'score.label': 'pass' }),
        event('something else', { 'gen_ai.evaluation.name': 'no' }),
      ];
      for (let round = 0; round < 2; round += 1) {
        const { id, partial } = await send(events, { padding });
        expect(partial).to.equal(undefined);
        const scores = await scoresOf(id);
        expect(scores.map(({ name, kind, value, comment }) => [name, kind, value, comment])).to.deep.equal([
          ['Relevance', 'numeric', 4, 'To the point.'],
          ['verdict', 'categorical', 'pass', null],
        ]);
        expect(scores[0]).to.deep.include({ source: 'sdk', author: null, metadata: { label: 'relevant' } });
      }
    });

  it('of protobuf become scores, too, and their events stay', async () => {
    const { id } = await send([evaluation({ name: 'Relevance', 'score.value': 0.5 })], { protobuf: true });
    expect((await scoresOf(id)).map(({ value }) => value)).to.deep.equal([0.5]);
    const { attributes } = (await server.request('GET', `/spans/${id}`)).json;
    expect(attributes['otel.events'][0].name).to.equal('gen_ai.evaluation.result');
  });

  it('that fit no definition are told of, and their span is stored with what fits', async () => {
    const body = { name: 'sender', access: 'ingest' };
    const { key } = (await server.request('POST', `/projects/${server.projectId}/api-keys`, { body })).json;
    const definition = { kind: 'categorical', categories: ['secret'] };
    await server.request('PUT', `/projects/${server.projectId}/score-definitions/tone`, { body: definition });
    const { id, partial } = await send(
      [
        evaluation({ name: 'tone', 'score.label': 'loud' }),
        evaluation({ name: 'verdict', 'score.label': 'fail' }),
        evaluation({ 'score.value': 1 }),
        evaluation({ name: 'x'.repeat(129), 'score.value': 1 }),
        evaluation({ name: 'verdict', explanation: 'no value' }),
      ],
      { key },
    );
    expect(partial.rejectedSpans).to.equal('0');
    expect(partial.errorMessage).to.match(/^evaluations not stored as scores: value does not fit.*, and 2 more; /);
    expect(partial.errorMessage).to.not.include('secret');
    expect((await scoresOf(id)).map(({ value }) => value)).to.deep.equal(['fail']);
  });

  it('have long explanations shortened', async () => {
    const { id } = await send([evaluation({ name: 'Relevance', 'score.value': 1, explanation: 'y'.repeat(10_001) })]);
    expect((await scoresOf(id))[0].comment)
      .to.have.length(10_000)
      .and.match(/…$/);
  });
});
