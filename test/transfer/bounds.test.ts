import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { LIMITS } from '../../src/config/limits.js';
import { MAX_IMPORTED_OF_SPAN, MAX_IMPORTED_VERSIONS } from '../../src/features/judges/evaluation.js';
import { MAX_PRICES_PER_PROJECT } from '../../src/features/prices/schema.js';
import type { Part } from '../../src/features/transfer/parts.js';
import { MAX_JUDGED_TRACES, MAX_MODEL_ANSWER, RECORDS } from '../../src/features/transfer/records.js';
import type { RecordLine } from '../../scripts/transfer/format.js';
import { withDatabase } from '../feedback/feedback-api.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { sha256 } from '../prompts/prompt-api.js';
import { fillToBounds, metadataOf, MOST, named, plain } from './full-project.js';
import { bootTarget, exported, imported, inFolder, recordsOf } from './moved-project.js';

type Json = any;
type Schema = Readonly<Record<string, Json>>;

/** One more than calls take of something, as a record with it. */
const OVER: readonly (readonly [part: Part, pointer: string, change: (record: Json) => object])[] = [
  ['prompts', '/slug', () => ({ slug: plain(129) })],
  ['prompt_versions', '/content', () => contentOf(plain(MOST.content + 1))],
  ['prompt_versions', '/content', () => contentOf(`${'é'.repeat(MOST.content / 2)}x`)],
  ['prompt_versions', '/metadata', () => ({ metadata: metadataOf(MOST.metadata + 1) })],
  ['prompt_versions', '/config', () => ({ config: metadataOf(MOST.metadata + 1) })],
  ['prompt_versions', '/model_id', () => ({ model_id: plain(MOST.model + 1) })],
  ['prompt_versions', '/created_by/name', ({ created_by }) => ({ created_by: { ...created_by, name: plain(301) } })],
  ['tag_moves', '/tag', () => ({ tag: plain(65) })],
  ['prices', '/provider', () => ({ provider: plain(MOST.price + 1) })],
  ['prices', '/model', () => ({ model: plain(MOST.price + 1) })],
  ['prices', '/output_per_million', () => ({ output_per_million: MOST.rate + 1 })],
  ['saved_views', '/name', () => ({ name: plain(201) })],
  ['saved_views', '/query', () => ({ query: `names=${plain(4_000)}` })],
  ['saved_views', '/query', () => ({ query: 'limit=5' })],
  ['saved_views', '/columns/0', () => ({ columns: ['nothing'] })],
  ['saved_views', '/columns', () => ({ columns: Array.from({ length: 51 }, (_none, index) => `tags.${index}`) })],
  ['dashboards', '/window', () => ({ window: '24 hours' })],
  ['dashboards', '/charts', ({ charts }) => ({ charts: [...charts, charts[0]] })],
  ['dashboards', '/charts/0/measures', ({ charts }) => ({ charts: [{ ...charts[0], measures: ['nothing'] }] })],
  ['datasets', '/description', () => ({ description: plain(10_001) })],
  ['dataset_rows', '/row_id', () => ({ row_id: plain(201) })],
  ['dataset_rows', '/content', () => ({ content: { q: plain(1024 * 1024) } })],
  ['experiments', '/name', () => ({ name: plain(201) })],
  ['experiments', '/subject', () => ({ subject: { x: plain(16_384) } })],
  ['experiments', '/parameters', () => ({ parameters: { x: plain(MOST.metadata) } })],
  ['experiment_scorers', '/code', () => ({ code: plain(262_145) })],
  ['experiment_metrics', '/results', () => ({ results: { x: plain(65_536) } })],
  ['comparisons', '/found', () => ({ found: { because: [plain(1024 * 1024)] } })],
  ['comparisons', '/request', () => ({ request: { metrics: [], more: plain(64 * 1024) } })],
  [
    'pinned_examples',
    '/example',
    () => ({ ...{ id: randomUUID(), judge_id: randomUUID(), span_id: randomUUID() }, example: { x: plain(65_536) } }),
  ],
  ['judges', '/name', () => ({ name: plain(MOST.judgeName + 1) })],
  ['judges', '/model', () => ({ model: plain(MOST.model + 1) })],
  ['judges', '/temperature', () => ({ temperature: 2.1 })],
  ['judges', '/criteria', ({ criteria }) => ({ criteria: [...criteria, criteria[0]] })],
  ['judges', '/criteria/0/label', ({ criteria }) => ({ criteria: [{ ...criteria[0], label: plain(201) }] })],
  [
    'judges',
    '/criteria/0/description',
    ({ criteria }) => ({ criteria: [{ ...criteria[0], description: plain(4001) }] }),
  ],
  ['judges', '/filters/names', ({ filters }) => ({ filters: { ...filters, names: [...filters.names, 'x'] } })],
  ['judges', '/filters/names/0', ({ filters }) => ({ filters: { ...filters, names: [plain(MOST.filter + 1)] } })],
  ['judges', '/filters/tags', ({ filters }) => ({ filters: { ...filters, tags: { ...filters.tags, x: 'x' } } })],
  ['judges', '/filters/tags/a', ({ filters }) => ({ filters: { ...filters, tags: { a: plain(MOST.filter + 1) } } })],
  ['evaluations', '/evaluation_reason', () => ({ evaluation_reason: plain(MOST.verdict + 1) })],
  [
    'evaluations',
    '/criteria_scores',
    ({ criteria_scores: scores }) => ({ criteria_scores: { ...scores, x: { score: 1, reason: '' } } }),
  ],
  ['evaluations', '/criteria_scores', () => ({ criteria_scores: { [plain(MOST.key + 1)]: { score: 1, reason: '' } } })],
  ['evaluations', '/model_used', () => ({ model_used: plain(2 * MOST.model + 1) })],
  ['evaluations', '/judge_version', () => ({ judge_version: plain(101) })],
  [
    'evaluations',
    '/trace_ids',
    () => ({ trace_ids: Array.from({ length: MAX_JUDGED_TRACES + 1 }, () => randomUUID()) }),
  ],
  ['judges', '/context_tokens', () => ({ context_tokens: 200_001 })],
  ['judges', '/context_kinds', () => ({ context_kinds: Array.from({ length: 201 }, () => 'tool') })],
  ['feedback', '/reason', () => ({ reason: plain(MOST.reason + 1) })],
  ['feedback', '/expected_output', () => ({ expected_output: plain(MOST.output + 1) })],
  ['feedback', '/metadata', () => ({ metadata: metadataOf(MOST.metadata + 1) })],
  ['feedback', '/criteria_feedback/k/reason', () => saidOf(plain(MOST.reason + 1))],
  ['corrections', '/reason', () => ({ reason: plain(MOST.reason + 1) })],
  ['corrections', '/expected_output', () => ({ expected_output: plain(MOST.output + 1) })],
  ['corrections', '/criteria_feedback/k/reason', () => saidOf(plain(MOST.reason + 1))],
  ['comments', '/text', () => ({ text: plain(10_001) })],
  ['spans', '/session_tags', () => ({ session_tags: named(2 * MOST.tags + 1, String, 'x') })],
  ['spans', '/tags', () => ({ tags: named(MOST.tags + 1, String, 'x') })],
  ['spans', '/prompt_slug', () => ({ prompt_slug: plain(129) })],
  ['spans', '/attributes/attachments/5', () => ({ attributes: { attachments: Array.from({ length: 6 }, image) } })],
  ['attachments', '/media_type', () => ({ media_type: plain(101) })],
];

const contentOf = (content: string) => ({ content, content_hash: sha256(content) });
const saidOf = (reason: string) => ({ criteria_feedback: { k: { expected_score: null, reason } } });
const image = () => ({ type: 'image', sha256: sha256('x') });

/** What is bounded by its service, or by the body alone, as it is where it is sent otherwise. */
const FREE =
  /^(spans|traces|sessions)\/|\/metadata$|^prompt_versions\/config$|^attachments\/base64$|^dataset_rows\/content$|^experiments\/(subject|parameters)$|^experiment_metrics\/results$|^comparisons\/(request|found)$|^pinned_examples\/example$/;

/** Places of a schema whose length or count has no bound. */
function unbounded(schema: Schema, at: string): string[] {
  const within = (inner: Schema, name: string) => unbounded(inner, name === '' ? at : `${at}/${name}`);
  if (Array.isArray(schema['anyOf'])) return schema['anyOf'].flatMap((branch: Schema) => within(branch, ''));
  const { type, properties, items, additionalProperties: free, patternProperties } = schema;
  if (type === 'string')
    return ['maxLength', 'pattern', 'format', 'enum', 'const'].some((name) => name in schema) ? [] : [at];
  if (type === 'array') return [...('maxItems' in schema ? [] : [at]), ...within(items, '*')];
  if (type !== 'object') return [];
  if (patternProperties !== undefined) return [at];
  if (properties === undefined) return [...('maxProperties' in schema ? [] : [at]), ...within(free, '*')];
  return Object.entries(properties as Record<string, Schema>).flatMap(([name, inner]) => within(inner, name));
}

describe('bounds of records that are imported', function () {
  this.timeout(120_000);
  let source: TestServer;
  let target: TestServer;
  const records = new Map<Part, Json>();
  before(async () => {
    [source, target] = [await bootServer(), await bootTarget()];
    await fillToBounds(source);
  });
  after(async () => {
    await source.dispose();
    await target.dispose();
  });

  const send = (part: Part, body: unknown) =>
    target.request('POST', `/projects/${target.projectId}/import/${part}`, { body });
  const stored = async (part: Part, body: unknown) => {
    const { status, json, text } = await send(part, body);
    expect(status, text.slice(0, 300)).to.equal(200);
    return json.stored as number;
  };

  it('leave room for whatever other calls take', () =>
    inFolder(async (file) => {
      await exported(source, file('there.ndjson'));
      const { parts, figures } = await imported(target, file('there.ndjson'));
      for (const { part, inFile, stored: count } of parts) expect(count, part).to.equal(inFile);
      expect(figures?.filter((figure) => !figure.same)).to.deep.equal([]);
      await exported(target, file('back.ndjson'));
      expect(await recordsOf(file('back.ndjson'))).to.deep.equal(await recordsOf(file('there.ndjson')));
      const lines = (await readFile(file('there.ndjson'), 'utf8')).trimEnd().split('\n').slice(1, -1);
      for (const { part, record } of lines.map((line) => JSON.parse(line) as RecordLine)) records.set(part, record);
    }));

  it('are those of other calls', async () => {
    for (const [part, pointer, change] of OVER) {
      const { status, json, text } = await send(part, [{ ...records.get(part), ...change(records.get(part)) }]);
      expect(status, `${part}${pointer}: ${text.slice(0, 300)}`).to.equal(422);
      const pointers = json.errors.map((error: { pointer: string }) => error.pointer);
      expect(pointers, `${part}: ${text.slice(0, 300)}`).to.include(`/0${pointer}`);
    }
  });

  it('are there for every text, list and object', () => {
    const free = Object.entries(RECORDS).flatMap(([part, schema]) => unbounded(schema as Schema, part));
    expect(free.filter((at) => !FREE.test(at))).to.deep.equal([]);
    expect(LIMITS.modelAnswerCharacters).to.be.at.most(MAX_MODEL_ANSWER);
  });

  it('are, of prices, as many as a project may have, counted where they are stored', async () => {
    const at = '2026-01-01T00:00:00Z';
    const price = (name: number) => ({
      ...{ provider: 'made', model: `up ${name}`, input_per_million: 1, output_per_million: 1 },
      ...{ cache_read_per_million: null, created_at: at, updated_at: at },
    });
    const path = `/projects/${target.projectId}/model-prices`;
    const held = async () => (await target.request('GET', path)).json.length as number;
    const room = MAX_PRICES_PER_PROJECT - (await held()) - 1;
    for (let from = 0; from < room; from += 1000)
      await stored(
        'prices',
        Array.from({ length: Math.min(1000, room - from) }, (_, index) => price(from + index)),
      );
    const { status, json } = await send('prices', [price(room), price(room + 1)]);
    expect(status).to.equal(409);
    expect(json.detail).to.match(/at most 10000 prices, and these would make 10001; none .* Delete prices/);
    expect(await held()).to.equal(MAX_PRICES_PER_PROJECT - 1);
    expect(await stored('prices', [price(room), price(0)])).to.equal(1);
    expect((await send('prices', [price(room + 1)])).status).to.equal(409);
    const rates = { input_per_million: 1, output_per_million: 1 };
    expect((await target.request('PUT', `${path}/made/more`, { body: rates })).status).to.equal(409);
    expect(await stored('prices', [price(1), price(2)])).to.equal(0);
    expect((await target.request('DELETE', `${path}/made/up%200`)).status).to.equal(204);
    expect(await stored('prices', [price(room + 1)])).to.equal(1);
  });

  it('are, of rows of a version of a dataset, as many as it says', async () => {
    const dataset_id = randomUUID();
    await stored('datasets', [{ ...records.get('datasets'), id: dataset_id, name: 'counted' }]);
    const version = (number: number, row_count: number, added: number, removed: number) => ({
      ...{ ...records.get('dataset_versions'), id: randomUUID(), dataset_id },
      ...{ number, row_count, added, changed: 0, removed },
    });
    const row = (row_id: string, from_version: number, to_version: number | null = null) => ({
      ...{ ...records.get('dataset_rows'), dataset_id, row_id },
      ...{ from_version, to_version, content: { q: row_id }, trace_id: null, span_id: null },
    });
    const wrong = await send('dataset_versions', [version(1, 3, 2, 0)]);
    expect([wrong.status, wrong.json.errors[0].pointer]).to.deep.equal([422, '/0/row_count']);
    await stored('dataset_versions', [version(1, 2, 2, 0), version(2, 2, 1, 1)]);
    const refused = async (...rows: unknown[]) => {
      const { status, json, text } = await send('dataset_rows', rows);
      expect(status, text).to.equal(409);
      return json.detail as string;
    };
    expect(await refused(row('a', 1), row('b', 1), row('c', 1))).to.match(
      /^Version 1 .* row_count 2, .* make 3 rows; none/,
    );
    expect(await stored('dataset_rows', [row('a', 1, 2), row('b', 1)])).to.equal(2);
    expect(await refused(row('d', 1, 2))).to.match(/^Version 1 /);
    expect(await refused(row('c', 2), row('d', 2))).to.match(/^Version 2 /);
    expect(await stored('dataset_rows', [row('b', 1), row('c', 2)])).to.equal(1);
    // A later export: what ended since comes before what began.
    await stored('dataset_versions', [version(3, 2, 1, 1)]);
    expect(await refused(row('e', 3)), 'b has not ended').to.match(/^Version 3 /);
    expect(await stored('dataset_rows', [row('a', 1, 2), row('b', 1, 3)])).to.equal(1);
    expect(await stored('dataset_rows', [row('c', 2), row('e', 3)])).to.equal(1);
    const held = await target.request('GET', '/v1/datasets/counted/data');
    expect([held.json.total_rows, held.json.rows.length]).to.deep.equal([2, 2]);
  });

  it('are, of tags of one prompt, as many as it may have', async () => {
    const move = (tag: string) => ({ ...records.get('tag_moves'), tag, pinned_at: '2026-01-01T00:00:00Z' });
    const refused = await send('tag_moves', [move('another'), move('one-more')]);
    expect(refused.status, refused.text).to.equal(409);
    expect(refused.json.detail).to.include(
      `would have more than ${MOST.promptTags} tags, including removed ones; none`,
    );
    // Moves of those that it has are no further tags.
    expect(await stored('tag_moves', [move(records.get('tag_moves').tag)])).to.equal(1);
  });

  it('are, of evaluations of one span, so many that all of them can be read', async () => {
    const { judge_id, ...evaluation } = records.get('evaluations');
    const span_id = randomUUID();
    const one = () => ({
      ...evaluation,
      judge_id,
      span_id,
      id: randomUUID(),
      criteria_scores: null,
      evaluation_reason: '',
    });
    withDatabase(target, (database) =>
      database
        .prepare(
          `WITH RECURSIVE numbers (number) AS (SELECT 2 UNION ALL SELECT number + 1 FROM numbers WHERE number < ?)
           INSERT INTO evaluations (id, span_id, evaluation_result, created_at, project_id, judge_id, origin,
             evaluation_type, evaluation_reason)
           SELECT 'made up ' || number, ?, 1, number, ?, ?, 'requested', 'binary', '' FROM numbers`,
        )
        .run(MAX_IMPORTED_OF_SPAN, span_id, target.projectId, judge_id),
    );
    const refused = await send('evaluations', [one(), one()]);
    expect(refused.status).to.equal(409);
    expect(refused.json.detail).to.include(`The span ${span_id} would exceed the limit of 10000 evaluations`);
    const last = one();
    expect(await stored('evaluations', [last])).to.equal(1);
    expect((await send('evaluations', [one()])).status).to.equal(409);
    expect(await stored('evaluations', [{ ...one(), span_id: randomUUID() }])).to.equal(1);
  });

  it('are, of versions of one judge, so many that all of them can be read', async () => {
    const judge = { ...records.get('judges'), id: randomUUID() };
    expect(await stored('judges', [judge])).to.equal(1);
    const made = (judge_version: string | null) => ({
      ...records.get('evaluations'),
      ...{ id: randomUUID(), span_id: randomUUID(), judge_id: judge.id, judge_version },
      ...{ criteria_scores: null, evaluation_reason: '' },
    });
    withDatabase(target, (database) =>
      database
        .prepare(
          `WITH RECURSIVE numbers (number) AS (SELECT 2 UNION ALL SELECT number + 1 FROM numbers WHERE number < ?)
           INSERT INTO judge_versions (judge_id, judge_version, first_seq, began_at, evaluations)
           SELECT ?, 'made up ' || number, number, number, 1 FROM numbers`,
        )
        .run(MAX_IMPORTED_VERSIONS, judge.id),
    );
    const refused = await send('evaluations', [made('last'), made('one more')]);
    expect(refused.status, refused.text).to.equal(409);
    expect(refused.json.detail).to.include(`The judge ${judge.id} would have evaluations by more than 10000 versions`);
    expect(await stored('evaluations', [made('last'), made('last'), made(null)])).to.equal(3);
    expect((await send('evaluations', [made('one more')])).status).to.equal(409);
    expect(await stored('evaluations', [made('last')])).to.equal(1);
  });
});
