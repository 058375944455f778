import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { expect } from 'chai';
import { DATABASE_FILE } from '../../src/engine/metadata/database.js';
import { images } from '../attachments/images.js';
import { untilGone } from '../deletion/tombstone-gc.js';
import { uuid } from '../harness/checked-api.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { bootTarget, exported, fill, imported, inFolder, recordsOf } from './moved-project.js';

type Json = any;

describe('a project that moves', function () {
  this.timeout(120_000);
  let source: TestServer;
  let target: TestServer;
  let ids: Awaited<ReturnType<typeof fill>>;
  before(async () => {
    [source, target] = [await bootServer(), await bootTarget()];
    ids = await fill(source);
  });
  after(async () => {
    await source.dispose();
    await target.dispose();
  });

  const get = async (server: TestServer, path: string): Promise<Json> => {
    const { status, json, text } = await server.request('GET', path.replace('$', `/projects/${server.projectId}`));
    expect(status, text).to.equal(200);
    return json;
  };
  /** What both answer, but for the project, and names that are made for each. */
  const same = async (path: string, unlike: readonly string[] = []) => {
    const plain = (value: unknown) =>
      JSON.parse(
        JSON.stringify(value, (name, member: unknown) =>
          ['project_id', 'email', ...unlike].includes(name) ? undefined : member,
        ),
      ) as unknown;
    const [before, after] = [plain(await get(source, path)), plain(await get(target, path))];
    expect(after, path).to.deep.equal(before);
    return before as Json;
  };

  it('is the same there, record for record, and again', () =>
    inFolder(async (file) => {
      const end = await exported(source, file('there.ndjson.gz'));
      for (const [part, count] of Object.entries(end.counts)) expect(count, part).to.be.greaterThan(0);
      expect(Object.keys(end.counts)).to.have.length(31);
      const { parts, figures } = await imported(target, file('there.ndjson.gz'));
      expect(parts.map(({ part, inFile }) => [part, inFile])).to.deep.equal(Object.entries(end.counts));
      expect(parts.filter(({ unchanged }) => unchanged > 0)).to.deep.equal([]);
      expect(figures?.filter((figure) => !figure.same)).to.deep.equal([]);
      const again = await imported(target, file('there.ndjson.gz'));
      expect(again.parts.filter(({ stored }) => stored > 0)).to.deep.equal([]);
      await exported(target, file('back.ndjson'));
      expect(await recordsOf(file('back.ndjson'))).to.deep.equal(await recordsOf(file('there.ndjson.gz')));
    }));

  it('is read whole by whatever windows of time, each span once', async () => {
    const read = async (limit: number, from = '') => {
      const records: Json[] = [];
      for (let after = from, more = true; more;) {
        const page = await get(source, `$/export/spans?limit=${limit}${after === '' ? '' : `&after=${after}`}`);
        records.push(...page.records);
        [after, more] = [page.next, page.more];
      }
      return records;
    };
    const whole = () => read(5000);
    // The first window is of one microsecond.
    const walk = () => read(3, '0-1');
    // The calls of a judge may still come, or be written again.
    let [records, walked, then]: Json[][] = [[], [], []];
    do [records, walked, then] = [await whole(), await walk(), await whole()];
    while (records.length <= 8 || JSON.stringify(records) !== JSON.stringify(then));
    expect(records.length).to.be.greaterThan(8);
    expect(walked).to.deep.equal(records);
    for (const after of ['1-', '-1', '1-2-3', '1-99999999999999999'])
      expect(
        (await source.request('GET', `/projects/${source.projectId}/export/spans?after=${after}`)).status,
      ).to.equal(422);
  });

  it('answers as it did, but when traces and sessions were made', async () => {
    const by = 'sort_by=name&sort_order=asc&limit=500&internal=true';
    expect(await same(`/spans?${by}`)).to.have.length(9);
    expect(await same(`/traces?${by}`, ['created_at'])).to.have.length(8);
    expect(await same(`/sessions?${by.replace('&internal=true', '')}`, ['created_at'])).to.have.length(4);
    await same(`/spans/${uuid(1)}/cost`);
    const prompts = await same('$/prompts');
    expect(prompts.map(({ latest_version }: Json) => latest_version).sort()).to.include(3);
    await same('$/prompts/answer/versions', ['updated_at']);
    await same('$/prompts/answer/tags');
    await same('$/prompts/answer/tags/production/history');
    await same('$/prompts/answer/tags/old/history');
    await same('$/model-prices');
    await same('$/score-definitions');
    expect(await same('$/saved-views', ['created_by'])).to.have.length(2);
    const [{ id: board }] = await same('$/dashboards', ['created_by']);
    expect(await same(`$/dashboards/${board}`, ['created_by'])).to.include({ window: '30d', version: 2 });
    expect(await same('/v1/datasets')).to.have.length(2);
    expect(await same('/v1/datasets/folder/set/versions', ['created_by'])).to.have.length(3);
    for (const ref of [1, 2, 3, 'ci']) await same(`/v1/datasets/folder/set/data?ref=${ref}`, ['created_by']);
    expect((await same('/v1/datasets/folder/set/diff?from=1')).rows).to.have.length(3);
    await same('/v1/datasets/folder/set/tags');
    await same('/v1/datasets/folder/set/tags/old/history');
    const { experiments } = await same('$/experiments', ['created_by']);
    expect(experiments.map(({ tags }: Json) => tags)).to.deep.equal([['baseline'], [], []]);
    for (const { id } of experiments) {
      await same(`$/experiments/${id}/results`);
      await same(`/v1/evals/${id}/summary`);
      await same(`/v1/evals/${id}/scorers`);
    }
    expect(await same(`$/experiments/${experiments[0].id}/tags/baseline/history`, ['by'])).to.have.length(2);
    const [{ id: comparison }] = await same('$/comparisons', ['created_by']);
    const one = experiments.find(({ name }: Json) => name === 'one');
    const { judges } = await same(`$/experiments/${one.id}`, ['created_by']);
    expect(judges.map(({ judge_id }: Json) => judge_id)).to.deep.equal([ids.judge, ids.judge]);
    expect((await same(`$/comparisons/${comparison}`, ['created_by'])).metrics[0].slices).to.deep.equal([]);
    expect(await same('/scores?sort_by=value', ['id'])).to.have.length(6);
    await same('$/judges', ['judged_since', 'runnable', 'not_runnable_reason']);
    expect((await same(`$/judges/${ids.judge}/evaluations`)).total).to.equal(3);
    await same(`$/judges/${ids.judge}/calibration`);
    for (const { slug } of prompts) await same(`$/prompts/${slug}/feedback`);
    await same(`$/feedback/span/${uuid(1)}`);
    expect((await same(`$/traces/${uuid(50)}/comments`, ['created_by'])).total).to.equal(2);
    const [link] = await same('/feedback-links', ['url', 'revoked_at']);
    await same(`/feedback-links/${link.id}/feedback`);
  });

  it('has its images there', async () => {
    for (const span of ids.shown) {
      const { attachments } = await get(target, `/spans/${span}/attachments`);
      expect(attachments).to.have.length.greaterThan(0);
      const bytes = await fetch(attachments[0].url).then((response) => response.arrayBuffer());
      const image = span === uuid(10) ? images.webp : images.png;
      expect(Buffer.from(bytes).equals(image)).to.equal(true);
    }
    // Kept for each span that shows it, not for the first alone.
    expect((await target.request('DELETE', `/spans/${uuid(8)}`)).status).to.equal(204);
    const { attachments } = await get(target, `/spans/${uuid(9)}/attachments`);
    expect((await fetch(attachments[0].url)).status).to.equal(200);
  });

  it('goes on there: a new version gets the next number, a new correction the next revision', async () => {
    const ensured = await target.request('POST', '/v1/tasks/answer/prompt/versions/ensure', {
      body: { content: 'new' },
    });
    expect(ensured.json.version).to.equal(5);
    expect((await get(target, '/v1/prompts/answer')).version).to.equal(5);
    expect((await get(target, '/v1/prompts/answer?tag=production')).version).to.equal(3);
  });

  it('keeps what was written there later', () =>
    inFolder(async (file) => {
      await exported(source, file('later.ndjson'));
      const span = { id: uuid(1), trace_id: uuid(50), name: 'newer', started_at: '2026-02-01T00:00:00Z' };
      expect((await target.request('POST', '/spans', { body: [span] })).status).to.equal(200);
      const { parts, figures } = await imported(target, file('later.ndjson'));
      expect(parts.find(({ part }) => part === 'spans')).to.include({ stored: 1 });
      expect((await get(target, `/spans?id=${uuid(1)}`))[0]).to.include({ name: 'newer' });
      expect(figures?.some((figure) => !figure.same)).to.equal(true);
    }));

  it('lets nobody speak for users of other projects, and takes its people with it when it goes', async () => {
    const database = new BetterSqlite3(join(target.dataDir, DATABASE_FILE));
    const users = () => database.prepare<[], string>('SELECT name FROM users ORDER BY name').pluck().all();
    try {
      expect(users()).to.deep.equal(['Ann', 'Ben', 'Owner', 'Owner']);
      database
        .prepare("INSERT INTO users (id, name, email, created_at) VALUES (?, 'Root', 'root@example.org', 1)")
        .run(uuid(900));
      const price = {
        provider: 'a',
        model: 'b',
        input_per_million: 1,
        output_per_million: 1,
        cache_read_per_million: null,
      };
      const at = { created_at: '2026-01-01T00:00:00Z', updated_at: '2026-01-01T00:00:00Z' };
      const post = (part: string, body: unknown) =>
        target.request('POST', `/projects/${target.projectId}/import/${part}`, { body });
      expect((await post('prices', [{ ...price, ...at }])).json).to.deep.equal({ stored: 1, unchanged: 0 });
      const [prompt] = await get(target, '$/prompts');
      const moved = { prompt_id: prompt.id, tag: 'staging', version: 1, pinned_at: at.created_at };
      const pinned_by = { id: uuid(900), name: 'Mallory' };
      expect((await post('tag_moves', [{ ...moved, pinned_by }])).status).to.equal(200);
      const [move] = await get(target, `$/prompts/${prompt.slug}/tags/staging/history`);
      expect(move.pinned_by).to.include({ name: 'Mallory', email: null });
      expect(move.pinned_by.id).to.not.equal(uuid(900));
      expect((await target.request('DELETE', `/projects/${target.projectId}`)).status).to.equal(202);
      await untilGone(target.dataDir, ['Mallory', 'Ann', target.projectId]);
      expect(users()).to.deep.equal(['Owner', 'Root']);
    } finally {
      database.close();
    }
  });

  it('is refused as a file that is damaged, incomplete or none, before anything is sent', () =>
    inFolder(async (file) => {
      await exported(source, file('good.ndjson'));
      const text = await readFile(file('good.ndjson'), 'utf8');
      const lines = text.split('\n');
      const bad: readonly (readonly [RegExp, string])[] = [
        [/is incomplete/, lines.slice(0, -2).join('\n')],
        [/is incomplete/, text.slice(0, -20)],
        [/damaged in line \d+: the lines are not those/, text.replace('better', 'bitter')],
        [/damaged in line \d+: the lines are not those/, [...lines.slice(0, 4), ...lines.slice(5)].join('\n')],
        [/is no JSON object/, 'hello\n'],
        [/is no export/, '{}\n'],
        [/has the format 2/, text.replace('"spanhouse_export":1', '"spanhouse_export":2')],
        [/is empty/, ''],
      ];
      for (const [message, content] of bad) {
        await writeFile(file('bad.ndjson'), content);
        const failed = await imported(source, file('bad.ndjson')).then(
          () => '',
          (error: unknown) => (error as Error).message,
        );
        expect(failed).to.match(message);
      }
    }));
});
