import { expect } from 'chai';
import { ModelFailure, type ModelRequest } from '../../src/engine/models/model-client.js';
import { OpenAiModelClient } from '../../src/engine/models/openai-client.js';
import type { Signals } from '../../src/engine/signals/signals.js';
import { meteredClient } from '../../src/features/judges/metered-client.js';
import { until } from '../harness/until.js';
import { ModelEndpoint, type Script } from '../judges/model-endpoint.js';

/** Estimated as ten tokens. */
const REQUEST: ModelRequest = {
  ...{ model: 'gpt-4o-mini', temperature: null, schema: null },
  messages: [{ role: 'user', content: 'x'.repeat(40) }],
};

describe('calls of models that bring no answer', () => {
  let endpoint: ModelEndpoint;
  before(async () => (endpoint = await ModelEndpoint.start()));
  after(() => endpoint.stop());

  /** A client that counts a dollar for each token, and what it counted. */
  function metered(timeoutSeconds = 30) {
    const counted: (number | null)[] = [];
    const ignored = () => undefined;
    const observer = { modelCalled: ignored, modelCallFailed: ignored, keyRefused: ignored, keyAccepted: ignored };
    const model = new OpenAiModelClient(
      {
        ...{ baseUrl: endpoint.url, apiKey: null, model: null, modelNames: 'auto', timeoutSeconds },
        ...{ concurrency: 1, ratePerMinute: null, maxAnswerCharacters: 1_000, maxAnswerBytes: 10_000 },
      },
      observer as unknown as Signals,
    );
    const client = meteredClient(model, {
      price: (_projectId, { inputTokens, outputTokens }) => (inputTokens ?? 0) + (outputTokens ?? 0),
      record: async (_projectId, cost) => void counted.push(cost),
    });
    const ask = (signal = new AbortController().signal) =>
      client.complete('project', REQUEST, signal).then(
        () => 'answered',
        (error: unknown) => (error instanceof ModelFailure ? error.code : String(error)),
      );
    return { counted, ask };
  }

  async function counts(script: Script, timeoutSeconds?: number) {
    endpoint.reset(() => script);
    const { counted, ask } = metered(timeoutSeconds);
    return { code: await ask(), counted };
  }

  it('are counted with the tokens that the endpoint stated', async () => {
    const script: Script = { do: 'answer', content: '', with: { content: null } };
    expect(await counts(script)).to.deep.equal({ code: 'answer', counted: [1100] });
  });

  it('are counted with their input where the answer is too large, cut off or late', async () => {
    const large: Script = { do: 'answer', content: 'x'.repeat(20_000) };
    expect(await counts(large)).to.deep.equal({ code: 'connection', counted: [10] });
    expect(await counts({ do: 'cut', after: 'half' })).to.deep.equal({ code: 'connection', counted: [10] });
    expect(await counts({ do: 'hang' }, 0.2)).to.deep.equal({ code: 'timeout', counted: [10] });
  });

  it('are not counted where they were refused, or not answered with a completion', async () => {
    expect(await counts({ do: 'status', status: 500 })).to.deep.equal({ code: '500', counted: [] });
    expect(await counts({ do: 'cut' })).to.deep.equal({ code: 'connection', counted: [] });
    expect(await counts({ do: 'raw', text: '{}' })).to.deep.equal({ code: 'answer', counted: [] });
  });

  it('are counted with their input when they are aborted, unless they never left the queue', async () => {
    endpoint.reset(() => ({ do: 'hang' }));
    const { counted, ask } = metered();
    const [first, second] = [new AbortController(), new AbortController()];
    const sent = ask(first.signal);
    await until('the first is sent', () => endpoint.asked.length === 1);
    const waiting = ask(second.signal);
    second.abort();
    expect(await waiting).to.equal('aborted');
    expect(counted).to.deep.equal([]);
    first.abort();
    expect(await sent).to.equal('aborted');
    expect(counted).to.deep.equal([10]);
  });
});
