import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { bootServer, type TestServer } from '../harness/server.js';
import { secondProject } from '../prompts/prompt-api.js';
import { scoreApi, type ScoreApi } from '../scores/score-api.js';

/** Bodies with it are read in threads. */
const PADDING = 'x'.repeat(20_000);

const spanOf = (more: object = {}) => ({
  ...{ id: randomUUID(), trace_id: randomUUID(), name: 'answer', started_at: new Date().toISOString() },
  ...more,
});

for (const [where, input_data] of Object.entries({ here: null, 'in threads': PADDING }))
  describe(`scores in spans that are read ${where}`, () => {
    let server: TestServer;
    let api: ScoreApi;
    before(async () => {
      server = await bootServer({ env: { INGEST_THREADS: '1' } });
      api = await scoreApi(server);
    });
    after(() => server?.dispose());

    const span = (more: object = {}) => spanOf({ input_data, ...more });
    async function post(...spans: object[]) {
      const answer = await api.request('POST', '/spans', spans);
      expect(answer.status, answer.text).to.equal(200);
      return answer;
    }
    const scoresOf = async (id: string) =>
      Object.fromEntries((await api.list(`?entity_id=${id}`)).map(({ name, value }) => [name, value]));

    it('are stored with their span: values as they are, texts by their type or definition', async () => {
      const one = span({ signals: { ok: true, rate: 0.5, 'a/b': { name: 'a/b', value: '3', type: 'numerical' } } });
      const two = span({ signals: { ok: { value: 'false', type: 'boolean' }, rate: '1', tone: 'calm' } });
      await post(one, two);
      const [read] = await api.list(`?entity_id=${one.id}&name=ok`);
      expect(read).to.include({ entity_type: 'span', entity_id: one.id, source: 'sdk', author: null, kind: 'boolean' });
      expect(await scoresOf(one.id)).to.deep.equal({ ok: true, rate: 0.5, 'a/b': 3 });
      expect(await scoresOf(two.id)).to.deep.equal({ ok: false, rate: 1, tone: 'calm' });
      const { json } = await server.request('GET', `/spans?scores.rate=0.6..&id=${one.id}`);
      expect(json).to.deep.equal([]);
    });

    it('replace those of before, and stay when the span is sent again without them', async () => {
      const sent = span({ signals: { ok: true, rate: 1 } });
      await post(sent);
      await post({ ...sent, signals: { ok: false } });
      await post({ ...sent, signals: null });
      expect(await scoresOf(sent.id)).to.deep.equal({ ok: false, rate: 1 });
    });

    it('say by which variants of A/B tests a span was made, for lists to find', async () => {
      const choice = { ab_choice_id: randomUUID(), choice_name: 'model', variant_key: 'b', variant_value: 'gpt-4o' };
      const chosen = span({ ab_choices: [choice] });
      const answer = await post(chosen, span({ ab_choices: [] }));
      expect(answer.headers.get('x-unknown-fields')).to.equal(null);
      for (const { attributes } of answer.json) expect(attributes).to.deep.equal({});
      const { json } = await server.request('GET', '/spans?scores.ab.model=b,c');
      expect(json.map(({ id }: { id: string }) => id)).to.deep.equal([chosen.id]);
      const [{ metadata, kind }] = await api.list(`?entity_id=${chosen.id}`);
      expect([metadata, kind]).to.deep.equal([{ variant_value: 'gpt-4o' }, 'categorical']);
    });

    it('are refused with their spans, and each issue is named', async () => {
      await post(span({ signals: { ok: true } }));
      const good = span({ signals: { ok: true, fresh: 1 } });
      const bad = [
        span({ signals: { ok: 'maybe' } }),
        span({ signals: { ok: { value: 2 } } }),
        span({ signals: { 'x/y': null } }),
        span({ ab_choices: [{ choice_name: 'model' }] }),
        span({ signals: { 'ab.n': 1 } }),
        span({ ab_choices: [{ choice_name: 'n', variant_key: 'v' }] }),
      ];
      const issues = await api.refused([good, ...bad], 'POST', '/spans');
      expect(issues).to.have.all.keys(
        ...['/1/signals/ok', '/2/signals/ok/value', '/3/signals/x~1y', '/4/ab_choices/0/variant_key'],
        '/6/ab_choices/0/variant_key',
      );
      expect(issues['/1/signals/ok']).to.match(/must be true or false: the scores named "ok" are boolean/);
      expect(await scoresOf(good.id)).to.deep.equal({});
      expect((await server.request('GET', `/spans/${good.id}`)).status).to.equal(404);
      expect((await api.definition('fresh')).status).to.equal(404);
    });

    it('are bounded in number', async () => {
      const signals = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`many ${index}`, 1]));
      const answer = await server.request('POST', '/spans', {
        body: Array.from({ length: 101 }, () => span({ signals })),
      });
      expect(answer.status, answer.text).to.equal(413);
      expect((await api.definition('many 0')).status).to.equal(404);
    });

    it('go with their span', async () => {
      const sent = span({ signals: { ok: true } });
      await post(sent);
      expect((await server.request('DELETE', `/spans/${sent.id}`)).status).to.equal(204);
      expect(await scoresOf(sent.id)).to.deep.equal({});
    });

    it('follow a definition that was set just before the request', async () => {
      for (let turn = 0; turn < 5; turn += 1) {
        const name = `turn ${turn}`;
        const kind = turn % 2 === 0 ? 'boolean' : 'numeric';
        await api.define(name, { kind });
        const sent = span({ signals: { [name]: '1' } });
        await post(sent);
        expect(await scoresOf(sent.id)).to.deep.equal({ [name]: kind === 'boolean' ? true : 1 });
      }
    });

    it('of a key that may only send tell it nothing of definitions, and of a project nothing to another', async () => {
      const body = { name: 'sender', access: 'ingest' };
      const { key } = (await server.request('POST', `/projects/${server.projectId}/api-keys`, { body })).json;
      await api.define('hidden', { kind: 'categorical', categories: ['secret'] });
      const refused = await server.request('POST', '/spans', { key, body: [span({ signals: { hidden: 'x' } })] });
      expect(refused.status).to.equal(422);
      expect(refused.text).to.not.include('secret').and.not.include('categor');
      const other = secondProject(server);
      const sent = span({ signals: { hidden: 7 } });
      const stored = await server.request('POST', '/spans', { key: other.key, body: [sent] });
      expect(stored.status, stored.text).to.equal(200);
      expect(await scoresOf(sent.id)).to.deep.equal({});
    });
  });
