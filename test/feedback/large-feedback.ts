import { randomUUID } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { expect } from 'chai';
import { each } from '../harness/checked-api.js';
import { unhurried } from '../harness/program.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { completion, feedbackApi, storeEvaluation, storeJudge, withDatabase } from './feedback-api.js';

interface Much {
  readonly itemsOfSpan: number;
  /** Of the session, with ten spans each. */
  readonly traces: number;
  readonly given: number;
}

/** Feedback of much: so many items on each of 250 spans of a trace, and so many on spans of a session of so many traces. */
export function largeFeedback({ itemsOfSpan, traces, given: count }: Much): void {
  describe('unified feedback of large traces and sessions', () => {
    let server: TestServer;
    let api: ReturnType<typeof feedbackApi>;

    before(async () => {
      server = await bootServer();
      api = feedbackApi(server);
      await api.ensure('answers');
      await api.ensure('judge-task');
    });
    after(() => server.dispose());

    const give = async (spanId: string): Promise<string> =>
      (await api.give('answers', spanId, { thumbs_up: true })).json.id;
    const idsOf = async (session: string): Promise<string[]> => {
      const { json } = await api.unified('session', session);
      return json.items.map(({ id }: { id: string }) => id);
    };

    it(`has all of ${250 * itemsOfSpan} items in order, and answers others meanwhile`, async function () {
      this.timeout(120_000);
      const trace_id = randomUUID();
      const spans = Array.from({ length: 250 }, () => completion('answers', { trace_id }));
      await api.spans(spans);
      const judge = storeJudge(server, { task_slug: 'judge-task', name: 'Many' });
      const [first] = spans;
      const template = storeEvaluation(server, judge, first!.id, { created_at: 1 });
      const made: Record<string, string> = {
        id: "printf('many-%s-%d', s.value, n.value)",
        span_id: 's.value',
        created_at: '(s.key * 7919 + n.value * 104729) % 1000003',
        origin: "'external'",
      };
      // In portions, as the server is in this process.
      for (let from = 0; from < spans.length; from += 10) {
        withDatabase(server, (db) => {
          const columns = db
            .prepare<[], string>(`SELECT name FROM pragma_table_info('evaluations') WHERE name <> 'seq'`)
            .pluck()
            .all();
          db.prepare(
            `INSERT INTO evaluations (${columns.join(', ')})
           WITH RECURSIVE n(value) AS (SELECT 0 UNION ALL SELECT value + 1 FROM n WHERE value < ${itemsOfSpan - 1})
           SELECT ${columns.map((name) => made[name] ?? `e.${name}`).join(', ')}
           FROM evaluations AS e, json_each(?) AS s, n WHERE e.id = ?`,
          ).run(JSON.stringify(spans.slice(from, from + 10).map(({ id }) => id)), template);
        });
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      const human = await give(first!.id);
      // With the one that they are copies of.
      const all = spans.length * itemsOfSpan + 1;
      const offset = Math.floor(all * 0.6);
      const delay = monitorEventLoopDelay({ resolution: 5 });
      delay.enable();
      const page = await api.unified('trace', trace_id, `?limit=10000&offset=${offset}`);
      delay.disable();
      expect(page.json.summary).to.deep.equal({
        total: all + 1,
        human_feedback_count: 1,
        judge_evaluation_count: all,
      });
      const expected = withDatabase(server, (db) =>
        db
          .prepare<[string], string>(
            `SELECT id FROM evaluations WHERE span_id IN (SELECT value FROM json_each(?))
           ORDER BY created_at DESC, seq DESC LIMIT 10000 OFFSET ${offset - 1}`,
          )
          .pluck()
          .all(JSON.stringify(spans.map(({ id }) => id))),
      );
      expect(page.json.items.map(({ id }: any) => id)).to.deep.equal(expected);
      expect((await api.unified('trace', trace_id, '?limit=1')).json.items[0].id).to.equal(human);
      // Measured: 56 ms on two busy cores.
      expect(delay.max / 1e6, 'ms that others waited').to.be.lessThan(unhurried(250));
    });

    it(`finds ${count} items on ${10 * traces} spans of a session, and answers others meanwhile @slow`, async function () {
      this.timeout(120_000);
      const session_id = randomUUID();
      const ids: string[] = [];
      for (let batch = 0; batch < traces / 500; batch += 1) {
        const spans = Array.from({ length: 5000 }, (_, index) =>
          completion('answers', {
            session_id,
            trace_id: `00000000-0000-4000-8000-${String(batch * 500 + Math.floor(index / 10)).padStart(12, '0')}`,
          }),
        );
        expect((await api.spans(spans)).status).to.equal(200);
        ids.push(...spans.map(({ id }) => id));
      }
      const some = Array.from({ length: count }, (_, index) => ids[Math.floor((index * ids.length) / count)] ?? '');
      const given = await each(some, give, 50);
      expect(await idsOf(session_id)).to.have.members(given);
      const started = performance.now();
      let slowest = 0;
      let done = false;
      const others = (async () => {
        while (!done) {
          const asked = performance.now();
          await api.request('GET', '/healthz', { key: null });
          slowest = Math.max(slowest, performance.now() - asked);
        }
      })();
      const found = await idsOf(session_id);
      const took = performance.now() - started;
      done = true;
      await others;
      expect(found).to.have.length(count);
      // Measured: 0.25 s and 20 ms on two busy cores.
      expect(took, 'ms').to.be.lessThan(unhurried(3_000));
      expect(slowest, 'ms that others waited').to.be.lessThan(unhurried(500));
    });
  });
}
