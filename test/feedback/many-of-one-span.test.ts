import { expect } from 'chai';
import { JudgeFigureService } from '../../src/features/judge-figures/judge-figures.js';
import type { ItemKey } from '../../src/features/feedback/item-keys.js';
import { UnifiedFeedbackService, type FeedbackItems } from '../../src/features/feedback/unified.js';
import { SqliteFeedbackItems } from '../../src/features/feedback/store/feedback-items.js';
import { SqliteJudgeCounts } from '../../src/features/judge-figures/store/judge-counts.js';
import { JUDGE, judgeRow, JudgeFile } from '../learning/judge-file.js';

const PEOPLE = 25_000;
const EVALUATIONS = 12_000;
/** Keys, and corrections, that may be read in one turn of the event loop. */
const [KEYS, CORRECTIONS] = [10_000, 5_000];
const MANY = 'WITH RECURSIVE many (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM many WHERE n < @count) INSERT INTO';

describe('what very many people and judges say of one span', function () {
  this.timeout(60_000);
  let file: JudgeFile;
  before(() => {
    file = new JudgeFile();
    file.evaluate('span', true, 'pv1/none');
    file.database.exec(judgeRow('other', 'project'));
    const run = (count: number, sql: string) =>
      file.database.prepare<object>(`${MANY} ${sql}`).run({ count, judge: JUDGE });
    run(PEOPLE, "users (id, name, created_at) SELECT 'user ' || n, 'P', n FROM many");
    // Every other person speaks of two judges, and of the span itself.
    for (const [id, judge, where] of [
      ['said', '@judge', 'true'],
      ['other', "'other'", 'n % 2 = 0'],
      ['plain', 'NULL', 'n % 2 = 0'],
    ] as const)
      run(
        PEOPLE,
        `feedback (id, project_id, prompt_id, completion_id, user_id, judge_id, thumbs_up, metadata, created_at, updated_at)
         SELECT '${id} ' || n, 'project', 'prompt', 'span', 'user ' || n, ${judge}, n % 2, '{}', n / 3, n FROM many WHERE ${where}`,
      );
    run(
      PEOPLE,
      `corrections (feedback_id, judge_id, span_id, user_id, evaluation_seq, revision, thumbs_up, given_at)
       SELECT 'said ' || n, @judge, 'span', 'user ' || n, 1, 1 + n / 12000, n % 2, n FROM many`,
    );
    run(
      EVALUATIONS,
      `evaluations (id, project_id, judge_id, span_id, origin, evaluation_type, evaluation_result, evaluation_reason, created_at)
       SELECT 'made ' || n, 'project', 'other', 'span', 'external', 'binary', 1, '', n / 3 FROM many`,
    );
  });
  after(() => {
    file.dispose();
  });

  it('is listed by portions, each item once', async () => {
    const store = new SqliteFeedbackItems(file.database);
    let most = 0;
    const noted = <K extends readonly ItemKey[] | null>(keys: K) => {
      most = Math.max(most, keys?.length ?? 0);
      return keys;
    };
    const items: FeedbackItems = {
      keysOf: (...of) => noted(store.keysOf(...of)),
      *keysOfSpan(...of) {
        for (const keys of store.keysOfSpan(...of)) yield noted(keys);
      },
      read: (...of) => store.read(...of),
    };
    const spans = {
      below: () => {
        throw new Error('unused');
      },
      exists: () => Promise.resolve(true),
    };
    const service = new UnifiedFeedbackService(spans, items);
    const { summary, items: listed } = await service.of('project', 'span', 'span', { limit: null, offset: 0 });
    const human = 2 * PEOPLE;
    expect(summary).to.deep.equal({
      total: human + EVALUATIONS + 1,
      human_feedback_count: human,
      judge_evaluation_count: EVALUATIONS + 1,
    });
    expect(most, 'keys in one turn').to.be.within(1, KEYS);
    const ids = new Set<string>();
    for await (const page of listed)
      for (const item of page) ids.add(item.kind === 'human_feedback' ? item.feedback.id : item.evaluation.id);
    expect(ids.size).to.equal(summary.total);
  });

  it('is counted for the agreement of a judge by portions', async () => {
    const counts = new SqliteJudgeCounts(file.database);
    let most = 0;
    let total = 0;
    const figures = new JudgeFigureService({
      queues: (...of) => counts.queues(...of),
      count: (...of) => counts.count(...of),
      versions: (...of) => counts.versions(...of),
      corrections(...of) {
        const portion = counts.corrections(...of);
        const times = portion.said.reduce((sum, said) => sum + said.times, 0);
        most = Math.max(most, times);
        total += times;
        return portion;
      },
    });
    const all = await figures.of('project', 0, { limit: 10, offset: 0 });
    expect(all.get(JUDGE)).to.include({ kappa_version: 'v1' });
    expect(total).to.equal(PEOPLE);
    expect(most, 'corrections in one turn').to.be.within(1, CORRECTIONS);
  });
});
