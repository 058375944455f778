import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { eventually, finished, JudgeBench, type Json } from './judge-api.js';

const TRACES = 1_000;
const SPANS = 50;
const TRACES_AT_ONCE = 20;
/** Characters, four of which are a token. */
const BUDGET = 4 * 3_000;

describe('a judge of a thousand agent traces of 50 spans', function () {
  this.timeout(900_000);
  let bench: JudgeBench;
  before(async () => {
    bench = await JudgeBench.boot({ JUDGE_CONCURRENCY: '16' });
  });
  after(() => bench.dispose());

  let texts = 0;
  const text = () => 'The parcel left the depot. '.repeat(1 + ((texts += 7_919) % 40));
  const numberOf = ({ body }: (typeof bench)['endpoint']['asked'][number]) =>
    [
      ...body.messages.map(({ content }: Json) => content),
      JSON.stringify(body.response_format.json_schema.schema),
    ].join('').length;

  function trace(at: number): Json[] {
    const [root, trace_id] = [randomUUID(), randomUUID()];
    return Array.from({ length: SPANS }, (_none, index) =>
      finished({
        ...(index === 0 ? { id: root, name: 'agent', kind: 'agent' } : { parent_span_id: root, name: `step ${index}` }),
        ...{ trace_id, kind: index % 3 === 0 ? 'agent' : index % 3 === 1 ? 'llm' : 'tool' },
        ...{ started_at: new Date(at + index).toISOString(), input_data: text(), output_data: text() },
        ...(index === 17 ? { status: 'error', error_message: 'Timed out' } : {}),
      }),
    );
  }

  it('stays within its budget, and costs what the preview said', async () => {
    const { api, endpoint } = bench;
    for (let from = 0; from < TRACES; from += TRACES_AT_ONCE) {
      const spans = Array.from({ length: TRACES_AT_ONCE }, (_none, index) =>
        trace(Date.now() - 3_600_000 + (from + index) * 100),
      );
      await api.post(...spans.flat());
    }
    const settings = {
      subject: 'trace',
      context_tokens: BUDGET / 4,
      enabled: false,
      prompt: 'Was the customer helped?',
    };
    const draft = { name: 'Whole', evaluation_type: 'binary', ...settings };
    const { estimate, matches } = await api.expect(200, 'POST', 'judges:preview', draft);
    expect(matches).to.equal(TRACES);
    const judge = await bench.make(settings);
    const began = performance.now();
    const { queued } = await api.expect(202, 'POST', `judges/${judge['id']}:run`, { backfill: TRACES });
    expect(queued).to.equal(TRACES);
    await eventually(
      () => api.expect(200, 'GET', `judges/${judge['id']}/evaluations?limit=1`),
      ({ total }) => total === TRACES,
      600_000,
    );
    console.log(`      ${Math.round(performance.now() - began)} ms for ${TRACES} evaluations`);
    const characters = endpoint.asked.map(numberOf);
    expect(characters).to.have.length(TRACES);
    const outlines = endpoint.asked.map(({ last }) => last.length);
    // The line about the trace and the tags around stand beside the outline.
    expect(Math.max(...outlines)).to.be.below(BUDGET + 500);
    expect(Math.min(...outlines)).to.be.above(BUDGET * 0.9);
    for (const { last } of endpoint.asked) {
      expect(last).to.match(/agent agent/);
      expect(last).to.contain('Timed out').and.contain('Left out: ');
    }
    const mean = characters.reduce((sum, each) => sum + each, 0) / TRACES / 4;
    expect(estimate.input_tokens_per_evaluation / mean).to.be.within(0.95, 1.05);
  });
});
