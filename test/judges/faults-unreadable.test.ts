import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { eventually, finished, JudgeBench, type JudgeApi, type Json } from './judge-api.js';

const LONG_NAMES = Array.from({ length: 199 }, (_, index) => `${index}-${'é'.repeat(900)}`);

describe('judges of spans that cannot be read', function () {
  this.timeout(60_000);
  let bench: JudgeBench;
  let api: JudgeApi;
  /** Of another project. */
  let other: JudgeApi;
  before(async () => {
    // Longer texts than one read may bring are read as they are.
    const env = { READ_MAX_RESULT_MB: '1', JUDGE_MAX_CHARACTERS: '10000000', JUDGE_CONCURRENCY: '8' };
    bench = await JudgeBench.boot(env, { limits: { tagBytes: 64 * 1024 * 1024 } });
    ({ api } = bench);
    other = bench.project('Another');
  });
  after(() => bench.dispose());
  afterEach(() => bench.clear());

  const failedOf = (judge: Json) => api.runs(judge, 'state=failed');

  it('fail one run, with its reason, and evaluate the others', async () => {
    const judge = await bench.make();
    const others = await other.create();
    const large = finished({ output_data: 'x'.repeat(3 * 1024 * 1024) });
    const small = Array.from({ length: 40 }, () => finished());
    await api.post(...small.slice(0, 20), large, ...small.slice(20));
    const elsewhere = await other.postOne();
    await other.evaluated(others, elsewhere);
    await eventually(
      () => api.evaluations(judge),
      (found) => found.length === 40,
      40_000,
    );
    const [failed, ...more] = await eventually(
      () => failedOf(judge),
      (found) => found.length > 0,
      20_000,
    );
    expect(more).to.deep.equal([]);
    expect(failed).to.include({ span_id: large.id, attempts: 3 });
    expect(failed?.['reason']).to.equal('the span cannot be read: the query exceeded its result size limit');
    const later = await api.postOne();
    await api.evaluated(judge, later);
  });

  it('pass over a new span that cannot even be matched, and go on with the next', async () => {
    // Names of tags that are too long for one statement are matched by all tags of a span.
    const wanted = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`${index}-${'x'.repeat(900)}`, 'v']));
    const judges = await Promise.all([1, 2].map(() => bench.make({ filters: { tags: wanted } })));
    // Each tag is small enough to be asked for; together they are more than one read may bring.
    const tags = Object.fromEntries(Array.from({ length: 900 }, (_, index) => [`t${index}`, 'v'.repeat(4_000)]));
    const before = await api.postOne({ tags: wanted });
    const large = await api.postOne({ tags: { ...wanted, ...tags } });
    const after = await api.postOne({ tags: wanted });
    for (const judge of judges) {
      await api.until(judge, before, 'evaluated', 40_000);
      const [failed] = await eventually(
        () => failedOf(judge),
        (found) => found.length > 0,
        40_000,
      );
      expect(failed).to.include({ span_id: large['id'] });
      expect(failed?.['reason']).to.equal('the span cannot be read: the query exceeded its result size limit');
      await api.until(judge, after, 'evaluated', 40_000);
    }
  });

  it('evaluate a span with 30 MB of tags, without them', async () => {
    const judge = await bench.make({ filters: { tags: { env: 'prod' } }, prompt: 'Tags: {{tags}} of {{input}}' });
    const span = await api.postOne({ tags: { env: 'prod', huge: 'x'.repeat(30 * 1024 * 1024) } });
    await api.until(judge, span, 'evaluated', 40_000);
    const asked = bench.endpoint.asked.find(({ last }) => last.includes('Tags: '));
    expect(asked?.last.length).to.be.lessThan(2_000);
  });

  it('have filters of bounded size', async () => {
    const refused = await api.refused('POST', 'judges', {
      name: 'Large',
      evaluation_type: 'binary',
      prompt: 'p',
      filters: {
        names: ['n'.repeat(1_001)],
        kinds: Array.from({ length: 201 }, (_, index) => `k${index}`),
        tags: { large: 'x'.repeat(1_100_000) },
      },
    });
    expect(Object.keys(refused).sort()).to.deep.equal(['/filters/kinds', '/filters/names/0', '/filters/tags/large']);
    const many = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`t${index}`, 'v']));
    expect(
      await api.refused('POST', 'judges', {
        name: 'Many',
        evaluation_type: 'binary',
        prompt: 'p',
        filters: { tags: many },
      }),
    ).to.have.key('/filters/tags');
  });

  it('leave out no span when filters together are too long for one statement', async () => {
    const name = `wanted ${randomUUID()}`;
    const judges = await Promise.all([1, 2, 3].map(() => bench.make({ filters: { names: [...LONG_NAMES, name] } })));
    const [wanted, unwanted] = [await api.postOne({ name }), await api.postOne({ name: 'unwanted' })];
    for (const judge of judges) {
      await api.evaluated(judge, wanted);
      expect(await api.explain(judge, unwanted)).to.include({ answer: 'filtered' });
      expect(await api.evaluations(judge)).to.have.length(1);
    }
    await api.expect(202, 'POST', `judges/${judges[0]?.['id']}:run`, { backfill: 10 });
    await eventually(
      () => api.evaluations(judges[0] ?? {}),
      (found) => found.length === 2,
    );
  });
});
